/* Tests of frames, lists of jobs and histograms, on the host: run by ../test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fd-churn/histogram.h"
#include "frames.h"
#include "joblist.h"

#define SEED "00ff102030405060708090a0b0c0d0e0F0112233445566778899aabbccddeeff"
#define HEAD "ktrial-jobs 1\nseed " SEED "\n"

static int failures, checks;

#define CHECK(condition) check((condition), #condition, __LINE__)

static void check(int holds, const char *what, int line)
{
	checks++;
	if (holds)
		return;
	failures++;
	fprintf(stderr, "unit-test.c:%d: %s\n", line, what);
}

/* Published check value of CRC-32 (ISO-HDLC), and zlib's of other inputs. */
static void test_crc(void)
{
	CHECK(crc32_of("123456789", 9) == 0xcbf43926);
	CHECK(crc32_of("", 0) == 0);
	CHECK(crc32_of("The quick brown fox jumps over the lazy dog", 43) == 0x414fa339);
}

static void test_escapes(void)
{
	char to[64];

	CHECK(escape_text(to, "a b", 3) == 3 && strcmp(to, "a b") == 0);
	CHECK(escape_word(to, "a b", 3) == 6 && strcmp(to, "a\\x20b") == 0);
	CHECK(escape_text(to, "\\", 1) == 2 && strcmp(to, "\\\\") == 0);
	CHECK(escape_text(to, "\n\t\r\0\x1b\x7f\xff~", 8) == 29 &&
	      strcmp(to, "\\x0a\\x09\\x0d\\x00\\x1b\\x7f\\xff~") == 0);
}

/* What the channel writes, read back from a file. */
static size_t written(struct channel *channel, char *text, size_t size)
{
	ssize_t n;

	channel_flush(channel);
	n = pread(channel->fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void test_frames(void)
{
	static struct channel channel;
	static char text[2 * FRAME_BYTES], line[TEXT_BYTES + 10];
	FILE *file = tmpfile();
	size_t length;

	channel_init(&channel, fileno(file));
	frame(&channel, "begin", "%s %d", "a/1", 5);
	frame_text(&channel, "out", "a/1", "", 0, 0);
	frame_text(&channel, "err", "a/1", "x \n", 3, 1);
	written(&channel, text, sizeof(text));
	/* Checksums by Python's zlib.crc32. */
	CHECK(strcmp(text, "K1 0 begin a/1 5 9106a929\n"
			   "K1 1 out a/1  f2b16d1a\n"
			   "K1 2 err a/1 x \\x0a\\+ fdc65d35\n") == 0);
	CHECK(channel.next == 3 && channel.error == 0);

	if (ftruncate(channel.fd, 0) < 0 || lseek(channel.fd, 0, SEEK_SET) < 0)
		CHECK(0);
	memset(line, 0xff, sizeof(line));	/* longest frame: all escaped, and cut */
	frame_text(&channel, "out", "a", line, sizeof(line), 1);
	length = written(&channel, text, sizeof(text));
	CHECK(length == strlen("K1 3 out a ") + 4 * TEXT_BYTES + strlen("\\+ 01234567\n"));
	CHECK(length <= FRAME_BYTES && text[length - 1] == '\n');
	fclose(file);
}

static void test_failed_channel(void)
{
	static struct channel channel;

	channel_init(&channel, -1);
	frame(&channel, "bye", "%d", 0);
	channel_flush(&channel);
	CHECK(channel.error != 0);
}

static const char *parse(struct job_list *list, const char *list_text, unsigned *line)
{
	static char text[JOB_LIST_BYTES];

	strcpy(text, list_text);
	return job_list_parse(list, text, strlen(list_text), line);
}

static void test_good_list(void)
{
	struct job_list list;
	unsigned line;

	CHECK(parse(&list, HEAD "job a/1:x 86400000 /bin/a -n  5\njob b 1 b\nend\n", &line) == NULL);
	CHECK(list.count == 2 && list.seed[0] == 0 && list.seed[1] == 0xff && list.seed[16] == 0xf0);
	CHECK(strcmp(list.jobs[0].id, "a/1:x") == 0 && list.jobs[0].deadline_ms == 86400000);
	CHECK(strcmp(list.jobs[0].words[0], "/bin/a") == 0 && strcmp(list.jobs[0].words[2], "5") == 0);
	CHECK(list.jobs[0].words[3] == NULL && list.jobs[1].words[1] == NULL);
	free(list.jobs);
	CHECK(parse(&list, HEAD "end\n", &line) == NULL && list.count == 0);
	free(list.jobs);
}

static void refuse(const char *text, const char *with, unsigned at)
{
	struct job_list list;
	unsigned line;
	const char *error = parse(&list, text, &line);

	free(list.jobs);
	checks++;
	if (error && strstr(error, with) && line == at)
		return;
	failures++;
	fprintf(stderr, "%s\nabove: line %u: %s; expected line %u: %s\n", text, line,
		error ? error : "accepted", at, with);
}

static void test_bad_lists(void)
{
	refuse("", "version 1", 1);
	refuse("ktrial-jobs 2\n", "version 1", 1);
	refuse("ktrial-jobs 1\nend\n", "no seed", 2);
	refuse(HEAD, "truncated", 3);
	refuse(HEAD "job a 1 /bin/a\n", "truncated", 4);
	refuse(HEAD "job a 1 /bin/a\nend", "truncated", 4);
	refuse(HEAD "end\nx\n", "behind the end", 3);
	refuse(HEAD "seed " SEED "\nend\n", "second seed", 3);
	refuse("ktrial-jobs 1\nseed 12\nend\n", "64 hexadecimal", 2);
	refuse("ktrial-jobs 1\nseed " SEED " 1\nend\n", "64 hexadecimal", 2);
	refuse("ktrial-jobs 1\njob a 1 b\nend\n", "before the seed", 2);
	refuse(HEAD "job a 0 b\nend\n", "deadline", 3);
	refuse(HEAD "job a 86400001 b\nend\n", "deadline", 3);
	refuse(HEAD "job a 1x b\nend\n", "deadline", 3);
	refuse(HEAD "job a -1 b\nend\n", "deadline", 3);
	refuse(HEAD "job a 99999999999999999999999 b\nend\n", "deadline", 3);
	refuse(HEAD "job a 1\nend\n", "program", 3);
	refuse(HEAD "job a$ 1 b\nend\n", "id", 3);
	refuse(HEAD "job  \nend\n", "id", 3);
	refuse(HEAD "job a 1 b\njob a 1 b\nend\n", "same id", 4);
	refuse(HEAD "jobs\nend\n", "neither", 3);
	refuse(HEAD "job a 1 b\tc\nend\n", "printable", 1);
}

/* Every value falls into a bucket that holds it and is at most 1/256 wide. */
static void test_buckets(void)
{
	for (unsigned bit = 0; bit < VALUE_BITS; bit++) {
		for (int64_t near = -1; near <= 1; near++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)near;
			unsigned bucket = histogram_bucket(value);
			uint64_t low = histogram_low(bucket), high = histogram_low(bucket + 1);

			CHECK(bucket < BUCKETS || value >> VALUE_BITS);
			CHECK(low <= value && (value < high || value >> VALUE_BITS));
			CHECK((high - low) * SUB_BUCKETS <= low || high - low == 1);
		}
	}
	CHECK(histogram_bucket(UINT64_MAX) == BUCKETS - 1);
}

/* 1 to 10,000: the q-quantile by nearest rank is 10,000 q. */
static void test_quantiles(void)
{
	static struct histogram h, other;

	CHECK(histogram_quantile(&h, 500) == 0);
	for (uint64_t i = 1; i <= 10000; i++)
		histogram_add(i % 2 ? &h : &other, i);
	histogram_merge(&h, &other);
	CHECK(h.count == 10000 && h.max == 10000);
	CHECK(llabs((long long)histogram_quantile(&h, 500) - 5000) <= 5000 / 256);
	CHECK(llabs((long long)histogram_quantile(&h, 990) - 9900) <= 9900 / 256);
	CHECK(histogram_quantile(&h, 1000) == 10000);
	histogram_clear(&h);
	histogram_add(&h, 7);
	CHECK(histogram_quantile(&h, 500) == 7 && histogram_quantile(&h, 999) == 7);
}

int main(void)
{
	test_crc();
	test_escapes();
	test_frames();
	test_failed_channel();
	test_good_list();
	test_bad_lists();
	test_buckets();
	test_quantiles();
	printf("%d checks, %d failed\n", checks, failures);
	return failures != 0;
}
