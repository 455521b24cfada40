#include "joblist.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The next word of the line, or NULL at its end. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " ");
	size_t length = strcspn(word, " ");

	if (length == 0)
		return NULL;
	*rest = word + length;
	if (**rest == ' ')
		*(*rest)++ = '\0';
	return word;
}

static const char *parse_seed(struct job_list *list, char *rest)
{
	const char *word = next_word(&rest);

	if (!word || strlen(word) != 2 * SEED_BYTES || next_word(&rest))
		return "seed wants 64 hexadecimal digits";
	for (size_t i = 0; i < SEED_BYTES; i++) {
		int high = hex_digit(word[2 * i]), low = hex_digit(word[2 * i + 1]);

		if (high < 0 || low < 0)
			return "seed wants 64 hexadecimal digits";
		list->seed[i] = (unsigned char)(high << 4 | low);
	}
	return NULL;
}

static int valid_id(const char *word)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._:/-";
	size_t length = word ? strlen(word) : 0;

	return length > 0 && length <= MAX_JOB_ID && strspn(word, allowed) == length;
}

/* 0 when the word is no number from 1 to MAX_DEADLINE_MS. */
static uint64_t parse_deadline(const char *word)
{
	uint64_t value = 0;

	if (!word || *word == '\0')
		return 0;
	for (; *word; word++) {
		if (*word < '0' || *word > '9')
			return 0;
		value = value * 10 + (uint64_t)(*word - '0');
		if (value > MAX_DEADLINE_MS)
			return 0;
	}
	return value;
}

static const char *parse_job(struct job_list *list, char *rest)
{
	struct job *job = &list->jobs[list->count];
	size_t words = 0;
	char *word;

	if (list->count == MAX_JOBS)
		return "too many jobs";
	job->id = next_word(&rest);
	if (!valid_id(job->id))
		return "a job's id is up to 100 letters, digits and ._:/-";
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->jobs[i].id, job->id) == 0)
			return "two jobs have the same id";
	job->deadline_ms = parse_deadline(next_word(&rest));
	if (job->deadline_ms == 0)
		return "a job's deadline is from 1 to 86400000 ms";
	while ((word = next_word(&rest)) != NULL) {
		if (words == MAX_JOB_WORDS)
			return "a job has too many arguments";
		job->words[words++] = word;
	}
	if (words == 0)
		return "a job wants a program";
	job->words[words] = NULL;
	list->count++;
	return NULL;
}

/* The next line without its newline, or NULL when none is left. A last line that
 * was cut in the middle has no newline, and is none. */
static char *next_line(char **text, const char *end)
{
	char *line = *text;
	char *newline = memchr(line, '\n', (size_t)(end - line));

	if (!newline)
		return NULL;
	*newline = '\0';
	*text = newline + 1;
	return line;
}

static const char *parse_line(struct job_list *list, char *line, int *seeded)
{
	if (strncmp(line, "seed ", 5) == 0) {
		if ((*seeded)++)
			return "a second seed";
		return parse_seed(list, line + 5);
	}
	if (strncmp(line, "job ", 4) == 0)
		return *seeded ? parse_job(list, line + 4) : "a job before the seed";
	return "neither seed nor job nor end";
}

const char *job_list_parse(struct job_list *list, char *text, size_t length, unsigned *line_number)
{
	const char *end = text + length, *error = NULL;
	char *line;
	int seeded = 0;

	*line_number = 1;
	list->count = 0;
	list->jobs = calloc(MAX_JOBS, sizeof(*list->jobs));
	if (!list->jobs)
		return "no memory";
	for (size_t i = 0; i < length; i++)
		if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
			return "a byte that is not printable ASCII";
	line = next_line(&text, end);
	if (!line || strcmp(line, "ktrial-jobs 1") != 0)
		return "not a list of jobs of version 1";
	while (!error) {
		++*line_number;
		line = next_line(&text, end);
		if (!line)
			return "the list is truncated: it has no end";
		if (strcmp(line, "end") == 0)
			break;
		error = parse_line(list, line, &seeded);
	}
	if (!error && !seeded)
		error = "no seed";
	if (!error && text != end)
		error = "text behind the end";
	return error;
}
