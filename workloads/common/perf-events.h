/* Perf events that are counted on all processors over one iteration; counts.toml
 * says what each is. */
#ifndef KTRIAL_PERF_EVENTS_H
#define KTRIAL_PERF_EVENTS_H

#include <stdint.h>

void perf_events_begin(void);

/* Prints a line for each that is counted, and once why a source counts nothing. */
void perf_events_end(uint64_t iteration);

#endif
