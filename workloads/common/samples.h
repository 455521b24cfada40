/* What a workload says on its standard output: see PROTOCOL.md. */
#ifndef KTRIAL_SAMPLES_H
#define KTRIAL_SAMPLES_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Lines are kept until the program ends (or 64 KiB are full): a line written
 * between two iterations would wake its reader in the middle of the second. */
static inline void samples_begin(void)
{
	static char buffer[65536];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

static inline void sample_real(uint64_t iteration, const char *metric, double value)
{
	printf("sample %" PRIu64 " %s %.9g\n", iteration, metric, value);
}

static inline void sample_ns(uint64_t iteration, const char *metric, uint64_t ns)
{
	printf("sample %" PRIu64 " %s %" PRIu64 "\n", iteration, metric, ns);
}

/* By which what others count in the iteration is divided. */
static inline void operations(uint64_t iteration, uint64_t count)
{
	printf("operations %" PRIu64 " %" PRIu64 "\n", iteration, count);
}

static inline void unsupported(const char *what, const char *reason)
{
	printf("unsupported %s %s\n", what, reason);
}

static inline void info_number(const char *key, uint64_t value)
{
	printf("info %s %" PRIu64 "\n", key, value);
}

/* 0 when every line was written, else 1: the exit status of main. */
static inline int samples_end(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("standard output");
	return 1;
}

/* The run is void: says why and ends at once. Samples still in the buffer are
 * dropped on purpose, since a run that failed has none. */
__attribute__((format(printf, 1, 2)))
static inline _Noreturn void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	fflush(stderr);
	_exit(1);
}

#endif
