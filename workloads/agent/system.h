/* What an operating system does its own way when the agent is PID 1. One file
 * each: linux.c, and topology-linux.c. All of them end the boot by fatal() when they can't. */
#ifndef KTRIAL_SYSTEM_H
#define KTRIAL_SYSTEM_H

#include "frames.h"
#include "joblist.h"

/* /dev, /proc, /sys, /tmp, and a console on the standard descriptors. */
void system_mount(void);

/* A descriptor of the result channel; waits a bounded time until it appears. */
int system_open_results(void);

/* The path of the port where workloads mark their iterations; NULL where there is
 * none. To be asked once the results are open. */
const char *system_marks_port(void);

/* Makes the kernel's random numbers, and with them the address space of every
 * program from now on, follow from the seed. */
void system_seed(const unsigned char seed[SEED_BYTES]);

/* Room for ten million descriptors and more, in the system and in a process. */
void system_raise_limits(void);

/* A frame for each processor online and for each NUMA node: how they lie. What the
 * system does not tell is left out. */
void system_say_topology(struct channel *channel);

/* The calling process is killed when the one that made it ends. */
void system_die_with_parent(void);

_Noreturn void system_power_off(void);

#endif
