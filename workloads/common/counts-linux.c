/* Linux: getrusage, /proc/vmstat, /proc/stat, /proc/interrupts. */
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

enum source { RUSAGE, VMSTAT, STAT, IRQ, SOURCES };

static const char *const source_names[SOURCES] = { "rusage", "vmstat", "stat", "irq" };
static const char *const source_files[SOURCES] = {
	NULL, "/proc/vmstat", "/proc/stat", "/proc/interrupts",
};

/* The word that begins the line in the source's file; lines of irq have a number
 * for each processor, and all of them are summed up. */
static const struct count {
	enum source source;
	const char *name, *word;
} counts[] = {
	{ RUSAGE, "user", NULL },
	{ RUSAGE, "system", NULL },
	{ RUSAGE, "faults", NULL },
	{ RUSAGE, "switches", NULL },
	{ VMSTAT, "pgfault", "pgfault" },
	{ VMSTAT, "pgmajfault", "pgmajfault" },
	{ VMSTAT, "pgfree", "pgfree" },
	{ STAT, "ctxt", "ctxt" },
	{ STAT, "forks", "processes" },
	{ IRQ, "tlb", "TLB:" },
	{ IRQ, "resched", "RES:" },
	{ IRQ, "call", "CAL:" },
	{ IRQ, "timer", "LOC:" },
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
		s->values[0] += nanoseconds(&usage.ru_utime);
		s->values[1] += nanoseconds(&usage.ru_stime);
		s->values[2] += (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
		s->values[3] += (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	}
	for (size_t i = 0; i < 4; i++)
		s->known[i] = 1;
}

/* The sum of the numbers at the beginning of `text`. */
static uint64_t sum_of_numbers(const char *text)
{
	uint64_t sum = 0;
	char *end;

	for (;;) {
		unsigned long long number = strtoull(text, &end, 10);

		if (end == text)
			return sum;
		sum += number;
		text = end;
	}
}

static void read_line(struct snapshot *s, enum source source, const char *line)
{
	line += strspn(line, " ");
	for (size_t i = 0; i < COUNTS; i++) {
		size_t length = counts[i].word ? strlen(counts[i].word) : 0;

		if (counts[i].source != source || length == 0)
			continue;
		if (strncmp(line, counts[i].word, length) == 0 && line[length] == ' ') {
			s->values[i] = sum_of_numbers(line + length);
			s->known[i] = 1;
		}
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
