/* The list of jobs that a boot starts with. See PROTOCOL.md. */
#ifndef KTRIAL_JOBLIST_H
#define KTRIAL_JOBLIST_H

#include <stddef.h>
#include <stdint.h>

enum {
	SEED_BYTES = 32,
	JOB_LIST_BYTES = 1 << 20,
	MAX_JOBS = 4096,
	MAX_JOB_WORDS = 64,	/* program and arguments */
	MAX_JOB_ID = 100,
};
#define MAX_DEADLINE_MS UINT64_C(86400000)

struct job {
	const char *id;
	uint64_t deadline_ms;
	char *words[MAX_JOB_WORDS + 1];	/* argv, ends with NULL */
};

struct job_list {
	unsigned char seed[SEED_BYTES];
	size_t count;
	struct job *jobs;
};

/* Parses `text` (length bytes and a 0 behind them) in place: the jobs point into
 * it. Returns NULL, or what is wrong; *line is then the line at fault. */
const char *job_list_parse(struct job_list *list, char *text, size_t length, unsigned *line);

#endif
