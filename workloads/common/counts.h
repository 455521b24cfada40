/*
 * What the kernel itself counts, over one iteration: its own time, faults,
 * switches, interrupts between processors. counts.toml says what each is.
 */
#ifndef KTRIAL_COUNTS_H
#define KTRIAL_COUNTS_H

#include <stdint.h>

/* Before an iteration, outside what is timed. */
void counts_begin(void);

/* After it: prints a line for each count, or says once which source is not there. */
void counts_end(uint64_t iteration);

#endif
