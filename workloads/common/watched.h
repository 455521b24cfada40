/*
 * Somebody who watches a workload from within the guest (watch/) sees only its
 * iterations: it passes its perf events on, open and disabled, and names their
 * descriptors in the environment, separated by blanks.
 */
#ifndef KTRIAL_WATCHED_H
#define KTRIAL_WATCHED_H

#define WATCHED_VARIABLE "KTRIAL_WATCH"

/* Nothing where nobody watches. */
void watched_begin(void);
void watched_end(void);

#endif
