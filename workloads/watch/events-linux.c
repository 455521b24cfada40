/* poll's ppoll. */
#define _GNU_SOURCE

#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <time.h>

#include "../common/perf-linux.h"

enum {
	MAX_BUFFERS = 1024,
	DATA_BYTES = 512 << 10,		/* a power of two of pages */
	WAKE_BYTES = DATA_BYTES / 4,
};
/* A period that no timer of the kernel shares, so that no sample hits the same moment of each. */
#define CLOCK_PERIOD_NS 250717
#define TRACING "/sys/kernel/tracing"

struct buffer {
	enum event event;
	int fd;
	struct perf_event_mmap_page *page;
};

static struct buffer buffers[MAX_BUFFERS];
static size_t buffer_count;
static uint64_t lost;
/* Where the fields of lock:contention_begin stand in its record. */
static size_t lock_at, flags_at;

/* A whole small file. Returns 0 where it can't be read. */
static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return 1;
}

/* `field:void * lock_addr;	offset:8;` */
static int field_offset(const char *format, const char *field, size_t *at)
{
	const char *found = strstr(format, field);

	found = found ? strstr(found, "offset:") : NULL;
	if (!found)
		return 0;
	*at = strtoul(found + strlen("offset:"), NULL, 10);
	return 1;
}

static const char *tracepoint(const char *name, uint64_t *id)
{
	char path[128], text[4096];

	mount("tracefs", TRACING, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	snprintf(path, sizeof(path), TRACING "/events/lock/%s/id", name);
	if (!read_text(path, text, sizeof(text)))
		return "the kernel has no tracepoints of locks (Linux 5.19 or newer with"
		       " CONFIG_ENABLE_DEFAULT_TRACERS or another tracer)";
	*id = strtoull(text, NULL, 10);
	snprintf(path, sizeof(path), TRACING "/events/lock/%s/format", name);
	if (!read_text(path, text, sizeof(text)) || !field_offset(text, " lock_addr;", &lock_at))
		return "the tracepoints of locks name no lock";
	if (strcmp(name, "contention_begin") == 0 && !field_offset(text, " flags;", &flags_at))
		return "the tracepoints of locks have no flags";
	return NULL;
}

static const char *describe(enum event event, struct perf_event_attr *attr)
{
	const char *why = NULL;

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->flags = PERF_DISABLED | PERF_EXCLUDE_IDLE | PERF_WATERMARK |
		      PERF_EXCLUDE_CALLCHAIN_USER | PERF_USE_CLOCKID;
	attr->wakeup_watermark = WAKE_BYTES;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (event == EVENT_CLOCK) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		attr->sample_period = CLOCK_PERIOD_NS;
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		return NULL;
	}
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_RAW;
	/* Also a processor that is idle takes interrupts, and locks in them. */
	attr->flags &= ~(uint64_t)PERF_EXCLUDE_IDLE;
	if (event == EVENT_CONTENTION_BEGIN) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		why = tracepoint("contention_begin", &attr->config);
	} else {
		why = tracepoint("contention_end", &attr->config);
	}
	return why;
}

const char *events_open(enum event event)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	size_t length = (size_t)sysconf(_SC_PAGESIZE) + DATA_BYTES, opened = 0;
	struct perf_event_attr attr;
	const char *why = describe(event, &attr);

	for (int processor = 0; !why && processor < processors; processor++) {
		struct buffer *b = &buffers[buffer_count];
		void *memory;

		if (buffer_count == MAX_BUFFERS)
			return "there are too many processors";
		*b = (struct buffer){ .event = event, .fd = perf_event_open(&attr, processor, 0) };
		if (b->fd < 0 && errno == ENODEV)
			continue;	/* it is off */
		if (b->fd < 0)
			return strerror(errno);
		memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
		if (memory == MAP_FAILED)
			return strerror(errno);
		b->page = memory;
		fcntl(b->fd, F_SETFL, O_NONBLOCK);
		buffer_count++;
		opened++;
	}
	return why ? why : opened ? NULL : "no processor is there";
}

const char *events_descriptors(void)
{
	static char text[MAX_BUFFERS * 8];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < buffer_count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d",
					   i ? " " : "", buffers[i].fd);
	return text;
}

/* Reads the fields of a record one after the other; past its end they are 0. */
struct reader {
	const unsigned char *at, *end;
};

static void read_bytes(struct reader *r, void *into, size_t count)
{
	memset(into, 0, count);
	if ((size_t)(r->end - r->at) < count) {
		r->at = r->end;
		return;
	}
	memcpy(into, r->at, count);
	r->at += count;
}

static uint64_t read_word(struct reader *r)
{
	uint64_t word;

	read_bytes(r, &word, sizeof(word));
	return word;
}

/* Marks in a chain say whose addresses follow: with no user's there, the kernel's. */
static void read_chain(struct reader *r, struct sample *sample)
{
	for (uint64_t left = read_word(r); left > 0 && r->at < r->end; left--) {
		uint64_t address = read_word(r);

		if (address < PERF_CONTEXT_MAX && sample->depth < MAX_DEPTH)
			sample->chain[sample->depth++] = address;
	}
}

static void read_lock(struct reader *r, struct sample *sample)
{
	unsigned char raw[64] = { 0 };
	uint32_t size;

	read_bytes(r, &size, sizeof(size));
	read_bytes(r, raw, size < sizeof(raw) ? size : sizeof(raw));
	if (lock_at + sizeof(sample->lock) <= sizeof(raw))
		memcpy(&sample->lock, raw + lock_at, sizeof(sample->lock));
	if (sample->event == EVENT_CONTENTION_BEGIN &&
	    flags_at + sizeof(sample->lock_flags) <= sizeof(raw))
		memcpy(&sample->lock_flags, raw + flags_at, sizeof(sample->lock_flags));
}

static void read_sample(struct reader r, struct perf_event_header header, enum event event,
			void (*take)(const struct sample *))
{
	static struct sample sample;
	uint64_t address = read_word(&r);

	sample.event = event;
	sample.depth = 0;
	sample.lock = 0;
	sample.lock_flags = 0;
	sample.in_user = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	read_bytes(&r, &sample.process, sizeof(sample.process));
	read_bytes(&r, &sample.thread, sizeof(sample.thread));
	sample.time = read_word(&r);
	if (event != EVENT_CONTENTION_END)
		read_chain(&r, &sample);
	if (event != EVENT_CLOCK)
		read_lock(&r, &sample);
	/* A kernel without frame pointers may give no more than where it was. */
	if (event == EVENT_CLOCK && !sample.in_user && sample.depth == 0)
		sample.chain[sample.depth++] = address;
	take(&sample);
}

static void read_record(const unsigned char *bytes, enum event event,
			void (*take)(const struct sample *))
{
	struct perf_event_header header;
	struct reader r = { bytes + sizeof(header), NULL };

	memcpy(&header, bytes, sizeof(header));
	r.end = bytes + header.size;
	if (header.type == PERF_RECORD_SAMPLE) {
		read_sample(r, header, event, take);
	} else if (header.type == PERF_RECORD_LOST) {
		read_word(&r);	/* its id */
		lost += read_word(&r);
	}
}

/* A record may go round the end of the memory: it is copied into one piece. */
static void drain_buffer(struct buffer *b, void (*take)(const struct sample *))
{
	static unsigned char record[1 << 16];
	const unsigned char *data = (const unsigned char *)b->page + b->page->data_offset;
	uint64_t size = b->page->data_size, tail = b->page->data_tail;
	uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);

	while (tail < head) {
		struct perf_event_header header;

		for (size_t i = 0; i < sizeof(header); i++)
			record[i] = data[(tail + i) % size];
		memcpy(&header, record, sizeof(header));
		if (header.size < sizeof(header))
			break;	/* no kernel writes that */
		for (size_t i = sizeof(header); i < header.size; i++)
			record[i] = data[(tail + i) % size];
		read_record(record, b->event, take);
		tail += header.size;
	}
	__atomic_store_n(&b->page->data_tail, head, __ATOMIC_RELEASE);
}

void events_drain(void (*take)(const struct sample *))
{
	for (size_t i = 0; i < buffer_count; i++)
		drain_buffer(&buffers[i], take);
}

void events_wait(void)
{
	static struct pollfd fds[MAX_BUFFERS];
	sigset_t none;

	for (size_t i = 0; i < buffer_count; i++)
		fds[i] = (struct pollfd){ .fd = buffers[i].fd, .events = POLLIN };
	sigemptyset(&none);
	ppoll(fds, buffer_count, NULL, &none);
}

uint64_t events_lost(void)
{
	return lost;
}
