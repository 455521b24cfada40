/*
 * fd-churn: close(random descriptor), touch some user memory, socket(), in a
 * process that holds a great many descriptors. After opensock by Eric Dumazet.
 *
 * The threads share one table of descriptors. Each fills its own part with dups
 * of one socket, so that the table is dense, then closes and opens at random.
 */
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/counts.h"
#include "../common/marks.h"
#include "../common/options.h"
#include "../common/samples.h"
#include "histogram.h"

#define USAGE \
	"fd-churn [-n descriptors] [-t threads] [-m bytes touched an operation]\n" \
	"       [-c processors] [-d ms an iteration] [-i iterations] [-s seed]\n" \
	"       [-f] ask for any free descriptor, not the lowest (SOCK_FD_FASTALLOC)\n" \
	"       [-g] let the table grow while it is filled, and time that\n" \
	"       [-L] no latencies: one clock reading an operation in place of four"
#define MAX_FDS UINT64_C(15000000)
#define MAX_THREADS 4096
#define MAX_TOUCH (UINT64_C(1) << 30)

#ifndef SOCK_FD_FASTALLOC
#define SOCK_FD_FASTALLOC 0x40000000
#endif

struct options {
	struct run_options run;
	uint64_t fds, threads, touch;
	int fastalloc, grow, latency;
};

struct worker {
	alignas(128) pthread_t thread;
	const struct options *options;
	uint64_t number;
	pthread_barrier_t *barrier;
	uint64_t random;	/* state of splitmix64 */
	int *fds;
	uint64_t count;		/* of fds */
	char *touched;
	uint64_t grow_max_ns;	/* of the filling */
	uint64_t operations;	/* of the last iteration, and so below */
	uint64_t elapsed_ns;
	struct histogram latency;
};

/* Through a pointer that the compiler must load: the memory is never read, so
 * it could drop a plain memset as dead. */
static void *(*volatile touch_memory)(void *, int, size_t) = memset;

/* Sebastiano Vigna's splitmix64: any state is a good one, so threads can be
 * seeded from it and step it themselves. */
static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t random_below(uint64_t *state, uint64_t bound)
{
	return ((splitmix64(state) >> 32) * bound) >> 32;
}

static struct options parse(int argc, char **argv)
{
	struct options o = { .run = { 1000, 1, 0 }, .fds = 500000, .threads = 1,
			     .touch = 400000, .latency = 1 };
	int c;

	while ((c = getopt(argc, argv, "n:t:m:c:d:i:s:fgL")) != -1) {
		if (run_option(&o.run, c, optarg, USAGE))
			continue;
		switch (c) {
		case 'n': o.fds = number_option(c, optarg, 1, MAX_FDS, USAGE); break;
		case 't': o.threads = number_option(c, optarg, 1, MAX_THREADS, USAGE); break;
		case 'm': o.touch = number_option(c, optarg, 0, MAX_TOUCH, USAGE); break;
		case 'f': o.fastalloc = 1; break;
		case 'g': o.grow = 1; break;
		case 'L': o.latency = 0; break;
		default: usage_error(USAGE);
		}
	}
	if (optind != argc)
		usage_error(USAGE);
	if (o.threads > o.fds) {
		fprintf(stderr, "-t %llu: more threads than descriptors\n",
			(unsigned long long)o.threads);
		usage_error(USAGE);
	}
	return o;
}

/* Says which limit is in the way. dup2 past RLIMIT_NOFILE is EBADF. */
static _Noreturn void no_descriptor(const char *call, int error)
{
	const char *raise = error == EMFILE || error == EBADF ?
		": raise RLIMIT_NOFILE (ulimit -n; on Linux also fs.nr_open)" :
		error == ENFILE ? ": raise the system's limit (Linux fs.file-max, BSD kern.maxfiles)" :
		error == ENOMEM || error == ENOBUFS ? ": give the machine more memory, or take fewer" : "";

	fail("fd-churn: %s: %s%s", call, strerror(error), raise);
}

static int open_socket(const struct options *o)
{
	return socket(AF_INET, SOCK_STREAM | (o->fastalloc ? SOCK_FD_FASTALLOC : 0), 0);
}

/* A kernel that does not know the flag refuses the call; one where sockets fail
 * anyway says nothing about the flag, so a plain one is opened first. */
static int fastalloc_supported(const struct options *o)
{
	int plain = socket(AF_INET, SOCK_STREAM, 0), flagged;

	if (plain < 0)
		no_descriptor("socket", errno);
	flagged = open_socket(o);
	if (flagged < 0) {
		int error = errno;

		if (error != EINVAL && error != EPROTONOSUPPORT && error != EPROTOTYPE &&
		    error != ESOCKTNOSUPPORT && error != EOPNOTSUPP)
			no_descriptor("socket with SOCK_FD_FASTALLOC", error);
		unsupported("fastalloc", strerror(error));
	} else {
		close(flagged);
	}
	close(plain);
	return flagged >= 0;
}

/* The kernel may give any free descriptor when asked for fast ones, and needs
 * some room to find one: a tenth, as in the original. */
static uint64_t table_size(const struct options *o)
{
	return STDERR_FILENO + 1 + o->fds + (o->fastalloc ? o->fds / 10 : 0);
}

static void raise_limit(uint64_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		fail("fd-churn: getrlimit: %s", strerror(errno));
	if (limit.rlim_cur >= needed)
		return;
	limit.rlim_cur = needed;
	if (limit.rlim_max < needed)
		limit.rlim_max = needed;	/* root may; else the limit stays and EMFILE comes */
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		fail("fd-churn: %llu descriptors needed: %s: raise RLIMIT_NOFILE (ulimit -n; on Linux"
		     " also fs.nr_open)", (unsigned long long)needed, strerror(errno));
}

/* One dup2 to the highest number that will be used sizes the kernel's table at
 * once; else it doubles again and again while it is filled. */
static void size_table(uint64_t size)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), high;

	if (fd < 0)
		no_descriptor("socket", errno);
	high = dup2(fd, (int)size - 1);
	if (high < 0)
		no_descriptor("dup2", errno);
	close(high);
	close(fd);
}

static void fill(struct worker *w)
{
	w->fds[0] = open_socket(w->options);
	if (w->fds[0] < 0)
		no_descriptor("socket", errno);
	for (uint64_t i = 1; i < w->count; i++) {
		uint64_t begin = w->options->grow ? now_ns() : 0, took;

		w->fds[i] = dup(w->fds[0]);
		if (w->fds[i] < 0)
			no_descriptor("dup", errno);
		took = w->options->grow ? now_ns() - begin : 0;
		if (took > w->grow_max_ns)
			w->grow_max_ns = took;
	}
}

static void close_one(int fd)
{
	if (close(fd) < 0)
		fail("fd-churn: close: %s", strerror(errno));
}

static void reopen(struct worker *w, uint64_t slot)
{
	w->fds[slot] = open_socket(w->options);
	if (w->fds[slot] < 0)
		no_descriptor("socket", errno);
}

/* One operation; the memory stands for what a program does between two calls. */
static uint64_t operate(struct worker *w)
{
	uint64_t slot = random_below(&w->random, w->count);

	close_one(w->fds[slot]);
	if (w->options->touch)
		touch_memory(w->touched, (int)slot, w->options->touch);
	reopen(w, slot);
	return now_ns();
}

/*
 * The same, timed: close and socket each between two readings, and added, so
 * that the memory is not in it; about one reading is in each of the two. On
 * x86-64 a reading takes some 70 instructions where the vDSO does it, and some
 * 370 where it is a system call (info clock_read_ns has the time). Three more of
 * them an operation lower the rate: compare runs with -L to runs with -L only.
 */
static uint64_t operate_timed(struct worker *w)
{
	uint64_t slot = random_below(&w->random, w->count);
	uint64_t close_begin = now_ns(), close_end, open_begin, open_end;

	close_one(w->fds[slot]);
	close_end = now_ns();
	if (w->options->touch)
		touch_memory(w->touched, (int)slot, w->options->touch);
	open_begin = now_ns();
	reopen(w, slot);
	open_end = now_ns();
	histogram_add(&w->latency, (close_end - close_begin) + (open_end - open_begin));
	return open_end;
}

static void churn(struct worker *w)
{
	uint64_t begin, now, deadline, operations = 0;

	pthread_barrier_wait(w->barrier);
	histogram_clear(&w->latency);	/* not before: main reads the last iteration's until here */
	begin = now_ns();
	deadline = begin + w->options->run.duration_ms * NS_PER_MS;
	do {
		now = w->options->latency ? operate_timed(w) : operate(w);
		operations++;
	} while (now < deadline);
	w->operations = operations;
	w->elapsed_ns = now - begin;
	pthread_barrier_wait(w->barrier);
}

static void *worker_main(void *argument)
{
	struct worker *w = argument;

	place_worker(w->number);
	/* Allocated here, so that the memory is near the processor that uses it. */
	w->fds = malloc(w->count * sizeof(*w->fds));
	w->touched = w->options->touch ? malloc(w->options->touch) : NULL;
	if (!w->fds || (w->options->touch && !w->touched))
		fail("fd-churn: no memory: give the machine more, or take less (-n, -m)");
	if (w->touched)
		touch_memory(w->touched, 1, w->options->touch);
	fill(w);
	pthread_barrier_wait(w->barrier);
	for (uint64_t i = 0; i < w->options->run.iterations; i++)
		churn(w);
	for (uint64_t i = 0; i < w->count; i++)
		close_one(w->fds[i]);
	free(w->fds);
	free(w->touched);
	return NULL;
}

/*
 * Operations of each thread over the time that very thread took (it ends its
 * last one after the deadline), summed over threads.
 */
static void report(uint64_t iteration, const struct worker *workers, const struct options *o)
{
	static struct histogram all;
	double rate = 0;
	uint64_t count = 0;

	histogram_clear(&all);
	for (uint64_t i = 0; i < o->threads; i++) {
		rate += (double)workers[i].operations * (double)NS_PER_S /
			(double)workers[i].elapsed_ns;
		count += workers[i].operations;
		if (o->latency)
			histogram_merge(&all, &workers[i].latency);
	}
	sample_real(iteration, "rate", rate);
	operations(iteration, count);
	if (!o->latency)
		return;
	sample_ns(iteration, "latency_p50", histogram_quantile(&all, 500));
	sample_ns(iteration, "latency_p90", histogram_quantile(&all, 900));
	sample_ns(iteration, "latency_p99", histogram_quantile(&all, 990));
	sample_ns(iteration, "latency_p999", histogram_quantile(&all, 999));
	sample_ns(iteration, "latency_max", all.max);
}

static struct worker *start_workers(const struct options *o, pthread_barrier_t *barrier)
{
	uint64_t seeds = o->run.seed;
	void *memory = NULL;
	struct worker *workers;

	if (posix_memalign(&memory, alignof(struct worker), o->threads * sizeof(*workers)))
		fail("fd-churn: no memory for %llu threads", (unsigned long long)o->threads);
	workers = memset(memory, 0, o->threads * sizeof(*workers));
	for (uint64_t i = 0; i < o->threads; i++) {
		struct worker *w = &workers[i];
		int error;

		w->number = i;
		w->options = o;
		w->barrier = barrier;
		w->random = splitmix64(&seeds);
		w->count = o->fds / o->threads + (i < o->fds % o->threads);
		error = pthread_create(&w->thread, NULL, worker_main, w);
		if (error)
			fail("fd-churn: thread %llu: %s", (unsigned long long)i, strerror(error));
	}
	return workers;
}

static void report_growth(const struct worker *workers, const struct options *o)
{
	uint64_t longest = 0;

	for (uint64_t i = 0; i < o->threads; i++)
		if (workers[i].grow_max_ns > longest)
			longest = workers[i].grow_max_ns;
	sample_ns(0, "grow_max", longest);
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	pthread_barrier_t barrier;
	struct worker *workers;

	samples_begin();
	if (o.fastalloc && !fastalloc_supported(&o))
		return samples_end();
	raise_limit(table_size(&o));
	if (!o.grow)
		size_table(table_size(&o));
	if (pthread_barrier_init(&barrier, NULL, (unsigned)o.threads + 1))
		fail("fd-churn: no barrier for %llu threads", (unsigned long long)o.threads);
	info_number("clock_read_ns", clock_cost_ns());
	workers = start_workers(&o, &barrier);
	pthread_barrier_wait(&barrier);	/* all filled */
	if (o.grow)
		report_growth(workers, &o);
	for (uint64_t i = 0; i < o.run.iterations; i++) {
		counts_begin();
		mark_begin();
		pthread_barrier_wait(&barrier);	/* all begin */
		pthread_barrier_wait(&barrier);	/* all have ended */
		mark_end();
		counts_end(i);
		report(i, workers, &o);
	}
	for (uint64_t i = 0; i < o.threads; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	return samples_end();
}
