#include "frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint32_t crc32_of(const void *bytes, size_t length)
{
	const unsigned char *byte = bytes;
	uint32_t crc = UINT32_MAX;

	while (length--) {
		crc ^= *byte++;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

static size_t escape(char *to, const char *from, size_t length, char first_plain)
{
	static const char digits[] = "0123456789abcdef";
	char *start = to;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)from[i];

		if (c == '\\') {
			*to++ = '\\';
			*to++ = '\\';
		} else if (c >= first_plain && c <= '~') {
			*to++ = (char)c;
		} else {
			*to++ = '\\';
			*to++ = 'x';
			*to++ = digits[c >> 4];
			*to++ = digits[c & 15];
		}
	}
	*to = '\0';
	return (size_t)(to - start);
}

size_t escape_text(char *to, const char *from, size_t length)
{
	return escape(to, from, length, ' ');
}

size_t escape_word(char *to, const char *from, size_t length)
{
	return escape(to, from, length, '!');
}

void channel_init(struct channel *channel, int fd)
{
	channel->fd = fd;
	channel->error = 0;
	channel->next = 0;
	channel->used = 0;
}

void channel_flush(struct channel *channel)
{
	size_t done = 0;

	while (done < channel->used && !channel->error) {
		ssize_t n = write(channel->fd, channel->buffer + done, channel->used - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			channel->error = n == 0 ? EIO : errno;
	}
	channel->used = 0;
}

/* Where the next frame begins, its head written: "K1 <seq> <kind> ". */
static char *frame_begin(struct channel *channel, const char *kind, size_t *length)
{
	char *start;

	if (channel->used + FRAME_BYTES > CHANNEL_BYTES)
		channel_flush(channel);
	start = channel->buffer + channel->used;
	*length = (size_t)snprintf(start, FRAME_BYTES, "K1 %" PRIu64 " %s ", channel->next++, kind);
	return start;
}

static void frame_end(struct channel *channel, char *start, size_t length)
{
	enum { TAIL = sizeof(" 01234567\n") };

	if (length > FRAME_BYTES - TAIL)
		length = FRAME_BYTES - TAIL;
	length += (size_t)snprintf(start + length, TAIL, " %08" PRIx32 "\n",
				   crc32_of(start, length));
	channel->used += length;
}

void frame(struct channel *channel, const char *kind, const char *format, ...)
{
	size_t length;
	char *start = frame_begin(channel, kind, &length);
	va_list fields;

	va_start(fields, format);
	length += (size_t)vsnprintf(start + length, FRAME_BYTES - length, format, fields);
	va_end(fields);
	frame_end(channel, start, length);
}

void frame_text(struct channel *channel, const char *kind, const char *job, const char *text,
		size_t length, int cut)
{
	size_t used;
	char *start = frame_begin(channel, kind, &used);

	if (length > TEXT_BYTES)
		length = TEXT_BYTES;
	used += (size_t)snprintf(start + used, FRAME_BYTES - used, "%s ", job);
	used += escape_text(start + used, text, length);
	if (cut)
		used += (size_t)snprintf(start + used, FRAME_BYTES - used, "\\+");
	frame_end(channel, start, used);
}
