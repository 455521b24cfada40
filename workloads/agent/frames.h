/* The result channel: checked lines, numbered without gaps. See PROTOCOL.md. */
#ifndef KTRIAL_FRAMES_H
#define KTRIAL_FRAMES_H

#include <stddef.h>
#include <stdint.h>

enum {
	TEXT_BYTES = 4096,			/* of one line of a job; the rest is cut */
	FRAME_BYTES = 4 * TEXT_BYTES + 512,	/* an escaped byte takes four */
	CHANNEL_BYTES = 4 * FRAME_BYTES,
};

struct channel {
	int fd;
	int error;	/* errno of the first write that failed; nothing is written after it */
	uint64_t next;	/* sequence number */
	size_t used;
	char buffer[CHANNEL_BYTES];
};

void channel_init(struct channel *channel, int fd);

/* Writes what is waiting. Frames wait until this is called or the buffer fills,
 * so that a burst of lines costs one trip to the host. */
void channel_flush(struct channel *channel);

/* A frame whose fields are printed by `format` and need no escape. */
__attribute__((format(printf, 3, 4)))
void frame(struct channel *channel, const char *kind, const char *format, ...);

/* A line of a job: `kind` is out or err. At most TEXT_BYTES of text; `cut` says
 * that there was more. */
void frame_text(struct channel *channel, const char *kind, const char *job, const char *text,
		size_t length, int cut);

/* Writes the escaped text and a 0; `to` has room for 4 * length + 1 bytes. Words
 * escape blanks too. Returns the number of bytes without the 0. */
size_t escape_text(char *to, const char *from, size_t length);
size_t escape_word(char *to, const char *from, size_t length);

/* CRC-32 as in zlib (IEEE 802.3). */
uint32_t crc32_of(const void *bytes, size_t length);

#endif
