#define _GNU_SOURCE

#include "place.h"
#include "samples.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLACES 4096
/* musl calls the bytes of a set CPU_SETSIZE, glibc its bits. */
#define MOST_CPUS (8 * (long)sizeof(cpu_set_t))

static int places[MAX_PLACES];
static unsigned count;

int place_parse(const char *text)
{
	count = 0;
	do {
		char *end;
		long cpu;

		if (count == MAX_PLACES || !isdigit((unsigned char)*text))
			return 0;
		errno = 0;
		cpu = strtol(text, &end, 10);
		if (errno || cpu >= MOST_CPUS || (*end != '+' && *end != '\0'))
			return 0;
		places[count++] = (int)cpu;
		text = end + (*end == '+');
		if (*end == '\0')
			return 1;
	} while (1);
}

void place_worker(unsigned long long worker)
{
	cpu_set_t set;
	int cpu;

	if (!count)
		return;
	cpu = places[worker % count];
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		fail("worker %llu can't run on processor %d: %s", worker, cpu, strerror(errno));
}
