/* Linux: perf_event_open(2), by the kernel (`sw`) or by the processor (`pmu`). */
#include "perf-events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf-linux.h"

static const struct event {
	const char *source, *name;
	enum perf_type type;
	uint64_t config;
} events[] = {
	{ "sw", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "pmu", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "pmu", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "pmu", "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "pmu", "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "pmu", "dtlb-misses", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB_MISSES },
	{ "pmu", "itlb-misses", PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB_MISSES },
};

enum { EVENTS = sizeof(events) / sizeof(events[0]) };

/* What read(2) gives. */
struct reading {
	uint64_t value, enabled, running;
};

/* By event and processor; -1 where it is off. */
static int *descriptors[EVENTS];
static struct reading *begun[EVENTS];
static const char *missing[EVENTS];
static long processors;

static const char *reason(int error)
{
	switch (error) {
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return "this processor or its hypervisor has no such event";
	case ENOSYS:
		return "the kernel has no perf events";
	default:
		return strerror(error);
	}
}

static void open_event(size_t i)
{
	struct perf_event_attr attr = {
		.type = events[i].type, .size = sizeof(attr), .config = events[i].config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int opened = 0, error = ENODEV;

	descriptors[i] = calloc((size_t)processors, sizeof(*descriptors[i]));
	begun[i] = calloc((size_t)processors, sizeof(*begun[i]));
	if (!descriptors[i] || !begun[i]) {
		missing[i] = strerror(ENOMEM);
		return;
	}
	for (int processor = 0; processor < processors; processor++) {
		int fd = perf_event_open(&attr, processor, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			error = errno;
		descriptors[i][processor] = fd;
		opened += fd >= 0;
	}
	if (opened == 0)
		missing[i] = reason(error);
}

static void open_all(void)
{
	processors = sysconf(_SC_NPROCESSORS_CONF);
	for (size_t i = 0; i < EVENTS; i++) {
		if (processors == 1 && events[i].config == PERF_COUNT_SW_CPU_MIGRATIONS &&
		    events[i].type == PERF_TYPE_SOFTWARE)
			missing[i] = "there is one processor";	/* and looking costs a little */
		else
			open_event(i);
	}
}

static void read_event(size_t i, int processor, struct reading *into)
{
	int fd = descriptors[i][processor];

	memset(into, 0, sizeof(*into));
	if (fd >= 0 && read(fd, into, sizeof(*into)) != (ssize_t)sizeof(*into))
		missing[i] = "a count could not be read";
}

void perf_events_begin(void)
{
	if (processors == 0)
		open_all();
	for (size_t i = 0; i < EVENTS; i++)
		for (int processor = 0; !missing[i] && processor < processors; processor++)
			read_event(i, processor, &begun[i][processor]);
}

/* Where events take turns, what was counted is scaled to the whole time. */
static uint64_t scaled(struct reading from, struct reading to)
{
	uint64_t enabled = to.enabled - from.enabled, running = to.running - from.running;
	uint64_t value = to.value - from.value;

	if (running == enabled || running == 0)
		return value;
	return (uint64_t)((double)value * (double)enabled / (double)running);
}

/* What was never counted while it was on is unknown, and not 0: then `missing`
 * says so from here on. */
static uint64_t count(size_t i, uint64_t iteration)
{
	uint64_t sum = 0, enabled = 0, running = 0;

	for (int processor = 0; processor < processors; processor++) {
		struct reading from = begun[i][processor], ended;

		read_event(i, processor, &ended);
		if (ended.enabled > from.enabled && ended.running == from.running)
			missing[i] = "the processor's counters were taken by others";
		sum += scaled(from, ended);
		enabled += ended.enabled - from.enabled;
		running += ended.running - from.running;
	}
	if (running < enabled)
		printf("info %s.%s_share_%" PRIu64 " %.3f\n", events[i].source, events[i].name,
		       iteration, (double)running / (double)enabled);
	return sum;
}

void perf_events_end(uint64_t iteration)
{
	for (size_t i = 0; i < EVENTS; i++) {
		int was_there = !missing[i];
		uint64_t sum = was_there ? count(i, iteration) : 0;

		if (!missing[i])
			printf("count %" PRIu64 " %s.%s %" PRIu64 "\n", iteration,
			       events[i].source, events[i].name, sum);
		else if (iteration == 0 || was_there)
			printf("uncounted %s.%s %s\n", events[i].source, events[i].name,
			       missing[i]);
	}
}
