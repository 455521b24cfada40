/* Waits for locks: a beginning and an end, by one thread at one lock. */
#ifndef KTRIAL_WAITS_H
#define KTRIAL_WAITS_H

#include "events.h"

/* Keeps one end of a wait. They come in the order of each processor only. */
void waits_take(const struct sample *sample);

/* Pairs them all; hands each wait on to stacks.h, weighed in ns. Returns how many
 * ends had no other. */
uint64_t waits_pair(void);

#endif
