/* The one clock of the guest side: CLOCK_MONOTONIC, in nanoseconds. */
#ifndef KTRIAL_CLOCK_H
#define KTRIAL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* What one reading costs, on average: tens of nanoseconds where user space
 * reads the counter itself (vDSO), a system call and more where it can't. */
static inline uint64_t clock_cost_ns(void)
{
	enum { READINGS = 1000 };
	uint64_t begin = now_ns(), end = begin;

	for (int i = 0; i < READINGS; i++)
		end = now_ns();
	return (end - begin) / READINGS;
}

#endif
