/* Strict numbers for the command line: the whole word, in range, or usage. */
#ifndef KTRIAL_OPTIONS_H
#define KTRIAL_OPTIONS_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "place.h"

/* The options that every workload takes: see PROTOCOL.md. */
struct run_options {
	uint64_t duration_ms;	/* -d, of one iteration */
	uint64_t iterations;	/* -i */
	uint64_t seed;		/* -s */
};

#define MAX_DURATION_MS UINT64_C(86400000)
#define MAX_ITERATIONS UINT64_C(100000)

static inline _Noreturn void usage_error(const char *usage)
{
	fprintf(stderr, "usage: %s\n", usage);
	exit(2);
}

/* Decimal, or hexadecimal after 0x. strtoull alone takes blanks, signs ("-1" is
 * then huge), octal, and an empty word. */
static inline uint64_t number_option(int option, const char *text, uint64_t min,
				     uint64_t max, const char *usage)
{
	int hexadecimal = text[0] == '0' && text[1] == 'x';
	const char *digits = hexadecimal ? text + 2 : text;
	unsigned char first = (unsigned char)digits[0];
	int begins_well = (first >= '0' && first <= '9') ||
			  (hexadecimal && ((first >= 'a' && first <= 'f') ||
					   (first >= 'A' && first <= 'F')));
	char *end = NULL;
	unsigned long long value = 0;

	if (hexadecimal && (digits[0] == '0') && (digits[1] == 'x' || digits[1] == 'X'))
		begins_well = 0;	/* 0x0x1: strtoull would take the second prefix */
	errno = 0;
	if (begins_well)
		value = strtoull(digits, &end, hexadecimal ? 16 : 10);
	if (!begins_well || *end != '\0' || errno != 0 || value < min || value > max) {
		fprintf(stderr, "-%c %s: not a number from %llu to %llu\n", option, text,
			(unsigned long long)min, (unsigned long long)max);
		usage_error(usage);
	}
	return value;
}

/* Takes -c, -d, -i and -s; returns 0 for any other option. */
static inline int run_option(struct run_options *run, int option, const char *text,
			     const char *usage)
{
	switch (option) {
	case 'c':
		if (!place_parse(text)) {
			fprintf(stderr, "-c %s: not a list of processors such as 0+4+8\n", text);
			usage_error(usage);
		}
		return 1;
	case 'd':
		run->duration_ms = number_option(option, text, 1, MAX_DURATION_MS, usage);
		return 1;
	case 'i':
		run->iterations = number_option(option, text, 1, MAX_ITERATIONS, usage);
		return 1;
	case 's':
		run->seed = number_option(option, text, 0, UINT64_MAX, usage);
		return 1;
	default:
		return 0;
	}
}

#endif
