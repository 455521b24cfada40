/*
 * Tells ktrial, outside of the guest, where an iteration begins and ends, and
 * waits until it has read its counters: PROTOCOL.md, "Marks: workloads to the
 * harness". Nothing happens where the environment names no port.
 */
#ifndef KTRIAL_HOST_MARKS_H
#define KTRIAL_HOST_MARKS_H

/* 'b' before an iteration and 'e' after it, outside what is timed. */
void host_mark(char letter);

/* Why nobody answers any more, once; else NULL. */
const char *host_silence(void);

#endif
