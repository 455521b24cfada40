/* Linux: getrusage, /proc/vmstat, /proc/stat, /proc/schedstat, /proc/interrupts. */
#include "counts.h"
#include "host-marks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perf-events.h"
#include "watched.h"

enum source { RUSAGE, VMSTAT, STAT, SCHEDSTAT, IRQ, SOURCES };

static const char *const source_names[SOURCES] = { "rusage", "vmstat", "stat", "schedstat", "irq" };
static const char *const source_files[SOURCES] = {
	NULL, "/proc/vmstat", "/proc/stat", "/proc/schedstat", "/proc/interrupts",
};

/* Which numbers of a line are summed up, as bits; and of which unit they are. */
#define ALL UINT64_MAX
#define BIT(n) (UINT64_C(1) << (n))
enum unit { ONE, CLOCK_TICKS };

/* The word begins a line in the source's file. An `N` at its end is a number: such
 * lines are summed up. */
static const struct count {
	enum source source;
	const char *name, *word;
	uint64_t numbers;
	enum unit unit;
} counts[] = {
	{ RUSAGE, "cpu", NULL, 0, ONE },
	{ RUSAGE, "faults", NULL, 0, ONE },
	{ RUSAGE, "switches", NULL, 0, ONE },
	{ VMSTAT, "pgfault", "pgfault", ALL, ONE },
	{ VMSTAT, "pgmajfault", "pgmajfault", ALL, ONE },
	{ VMSTAT, "pgfree", "pgfree", ALL, ONE },
	/* user, nice; system, irq, softirq */
	{ STAT, "user", "cpu", BIT(0) | BIT(1), CLOCK_TICKS },
	{ STAT, "system", "cpu", BIT(2) | BIT(5) | BIT(6), CLOCK_TICKS },
	{ STAT, "ctxt", "ctxt", ALL, ONE },
	{ STAT, "forks", "processes", ALL, ONE },
	/* The last three of a processor: running, waiting, how often; in ns (sched-stats.rst). */
	{ SCHEDSTAT, "wait", "cpuN", BIT(7), ONE },
	{ SCHEDSTAT, "slices", "cpuN", BIT(8), ONE },
	/* A number for each processor. */
	{ IRQ, "tlb", "TLB:", ALL, ONE },
	{ IRQ, "resched", "RES:", ALL, ONE },
	{ IRQ, "call", "CAL:", ALL, ONE },
	{ IRQ, "timer", "LOC:", ALL, ONE },
};

enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

/* Processors that have gone or come in between are no matter: sums are kept. */
struct snapshot {
	uint64_t values[COUNTS];
	int known[COUNTS];
};

static struct snapshot begun;
/* Why a source gives nothing. */
static const char *missing[SOURCES];

static uint64_t nanoseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * UINT64_C(1000000000) + (uint64_t)t->tv_usec * 1000;
}

static uint64_t nanoseconds_a_tick(void)
{
	long hertz = sysconf(_SC_CLK_TCK);

	return hertz > 0 ? UINT64_C(1000000000) / (uint64_t)hertz : 0;
}

/* This process with its threads, and all children that were waited for. */
static void read_rusage(struct snapshot *s)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };

	for (size_t i = 0; i < 2; i++) {
		struct rusage usage;

		if (getrusage(whose[i], &usage) < 0) {
			missing[RUSAGE] = strerror(errno);
			return;
		}
		s->values[0] += nanoseconds(&usage.ru_utime) + nanoseconds(&usage.ru_stime);
		s->values[1] += (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
		s->values[2] += (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	}
	for (size_t i = 0; i < 3; i++)
		s->known[i] = 1;
}

/* The sum of those numbers at the beginning of `text` whose bits are set. */
static uint64_t sum_of_numbers(const char *text, uint64_t wanted)
{
	uint64_t sum = 0;
	char *end;

	for (int i = 0;; i++) {
		unsigned long long number = strtoull(text, &end, 10);

		if (end == text)
			return sum;
		if (wanted == ALL || (i < 64 && wanted & BIT(i)))
			sum += number;
		text = end;
	}
}

/* What follows the word at the beginning of the line, or NULL. */
static const char *after_word(const char *line, const char *word)
{
	for (; *word && *word != 'N'; word++, line++)
		if (*line != *word)
			return NULL;
	if (*word == 'N')
		line += strspn(line, "0123456789");
	return *line == ' ' ? line : NULL;
}

static void read_line(struct snapshot *s, enum source source, const char *line)
{
	line += strspn(line, " ");
	for (size_t i = 0; i < COUNTS; i++) {
		const struct count *c = &counts[i];
		const char *rest = c->source == source ? after_word(line, c->word) : NULL;
		uint64_t scale = c->unit == CLOCK_TICKS ? nanoseconds_a_tick() : 1;

		if (!rest)
			continue;
		s->values[i] += scale * sum_of_numbers(rest, c->numbers);
		s->known[i] = 1;
	}
}

/* A whole file of /proc, which must be read at once to be of one moment. */
static char *read_file(const char *path)
{
	static char text[1 << 18];
	size_t length = 0;
	ssize_t n = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	while (n > 0 && length < sizeof(text) - 1) {
		n = read(fd, text + length, sizeof(text) - 1 - length);
		length += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	text[length] = '\0';
	return n < 0 ? NULL : text;
}

static void take(struct snapshot *s)
{
	memset(s, 0, sizeof(*s));
	read_rusage(s);
	for (int source = VMSTAT; source < SOURCES; source++) {
		char *text = read_file(source_files[source]), *rest = NULL;

		if (!text) {
			missing[source] = strerror(errno);
			continue;
		}
		for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			read_line(s, source, line);
	}
}

void counts_begin(void)
{
	take(&begun);
	perf_events_begin();
	watched_begin();
	host_mark('b');
}

void counts_end(uint64_t iteration)
{
	struct snapshot ended;
	const char *silence;

	host_mark('e');
	watched_end();
	perf_events_end(iteration);
	take(&ended);
	for (size_t i = 0; i < COUNTS; i++)
		if (begun.known[i] && ended.known[i])
			printf("count %" PRIu64 " %s.%s %" PRIu64 "\n", iteration,
			       source_names[counts[i].source], counts[i].name,
			       ended.values[i] - begun.values[i]);
	for (int source = 0; source < SOURCES && iteration == 0; source++)
		if (missing[source])
			printf("uncounted %s %s\n", source_names[source], missing[source]);
	silence = host_silence();
	if (silence)
		printf("uncounted host %s\n", silence);
}
