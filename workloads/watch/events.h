/* Perf events on every processor, and what they wrote. */
#ifndef KTRIAL_EVENTS_H
#define KTRIAL_EVENTS_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_DEPTH = 127 };	/* as the kernel's kernel.perf_event_max_stack */

enum event { EVENT_CLOCK, EVENT_CONTENTION_BEGIN, EVENT_CONTENTION_END };

/* One sample. */
struct sample {
	enum event event;
	uint32_t process, thread;
	uint64_t time;			/* CLOCK_MONOTONIC_RAW, ns */
	int in_user;			/* then there is no chain */
	size_t depth;
	uint64_t chain[MAX_DEPTH];	/* addresses in the kernel, the innermost first */
	uint64_t lock;			/* of a contention */
	uint32_t lock_flags;
};

/* Opens the event on all processors, disabled. Returns NULL, or why that can't
 * be; what is already open stays so. */
const char *events_open(enum event event);

/* Descriptors separated by blanks, for the environment of who is watched. */
const char *events_descriptors(void);

/* Hands on what has been written so far, of each processor in its order. */
void events_drain(void (*take)(const struct sample *));

/* Waits until there is something to drain, or a signal comes. */
void events_wait(void);

/* How many samples the kernel had no room for. */
uint64_t events_lost(void);

#endif
