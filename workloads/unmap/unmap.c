/*
 * unmap: threads of one process map memory, touch it, and unmap it again. What
 * one of them unmaps, the processors of the others must forget, so the kernel
 * interrupts them: TLB shootdowns.
 */
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/counts.h"
#include "../common/marks.h"
#include "../common/options.h"
#include "../common/samples.h"

#define USAGE \
	"unmap [-t threads] [-p pages an operation] [-c processors] [-d ms an iteration] [-i iterations] [-s seed]"
#define MAX_THREADS 4096
#define MAX_PAGES UINT64_C(262144)

struct options {
	struct run_options run;	/* the seed is taken and not used: unmap makes no random choice */
	uint64_t threads, pages;
};

/* Two lines each (adjacent-line prefetch), so that counting costs no sharing. */
struct worker {
	alignas(128) pthread_t thread;
	const struct options *options;
	uint64_t number;
	pthread_barrier_t *barrier;
	uint64_t operations;	/* of the last iteration, and so below */
	uint64_t elapsed_ns;
};

static struct options parse(int argc, char **argv)
{
	struct options o = { .run = { 1000, 1, 0 }, .threads = 2, .pages = 16 };
	int c;

	while ((c = getopt(argc, argv, "t:p:c:d:i:s:")) != -1) {
		if (run_option(&o.run, c, optarg, USAGE))
			continue;
		if (c == 't')
			o.threads = number_option(c, optarg, 1, MAX_THREADS, USAGE);
		else if (c == 'p')
			o.pages = number_option(c, optarg, 1, MAX_PAGES, USAGE);
		else
			usage_error(USAGE);
	}
	if (optind != argc)
		usage_error(USAGE);
	return o;
}

/* One operation. */
static void map_and_unmap(size_t page, uint64_t pages)
{
	size_t length = page * pages;
	char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_ANON | MAP_PRIVATE, -1, 0);

	if (memory == MAP_FAILED)
		fail("unmap: mmap: %s", strerror(errno));
	for (size_t at = 0; at < length; at += page)
		((volatile char *)memory)[at] = 1;
	if (munmap(memory, length) < 0)
		fail("unmap: munmap: %s", strerror(errno));
}

static void iterate(struct worker *w, size_t page)
{
	uint64_t begin, now, deadline, operations = 0;

	pthread_barrier_wait(w->barrier);
	begin = now_ns();
	deadline = begin + w->options->run.duration_ms * NS_PER_MS;
	do {
		map_and_unmap(page, w->options->pages);
		operations++;
		now = now_ns();
	} while (now < deadline);
	w->operations = operations;
	w->elapsed_ns = now - begin;
	pthread_barrier_wait(w->barrier);
}

static void *worker_main(void *argument)
{
	struct worker *w = argument;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	place_worker(w->number);
	for (uint64_t i = 0; i < w->options->run.iterations; i++)
		iterate(w, page);
	return NULL;
}

/* Operations of each thread over the time that very thread took, summed over threads. */
static void report(uint64_t iteration, const struct worker *workers, uint64_t threads)
{
	double rate = 0;
	uint64_t count = 0;

	for (uint64_t i = 0; i < threads; i++) {
		rate += (double)workers[i].operations * (double)NS_PER_S /
			(double)workers[i].elapsed_ns;
		count += workers[i].operations;
	}
	sample_real(iteration, "rate", rate);
	operations(iteration, count);
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	pthread_barrier_t barrier;
	struct worker *workers;
	void *memory = NULL;

	samples_begin();
	if (posix_memalign(&memory, alignof(struct worker), o.threads * sizeof(*workers)))
		fail("unmap: no memory for %llu threads", (unsigned long long)o.threads);
	workers = memset(memory, 0, o.threads * sizeof(*workers));
	if (pthread_barrier_init(&barrier, NULL, (unsigned)o.threads + 1))
		fail("unmap: no barrier for %llu threads", (unsigned long long)o.threads);
	for (uint64_t i = 0; i < o.threads; i++) {
		int error;

		workers[i].number = i;
		workers[i].options = &o;
		workers[i].barrier = &barrier;
		error = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
		if (error)
			fail("unmap: thread %llu: %s", (unsigned long long)i, strerror(error));
	}
	for (uint64_t i = 0; i < o.run.iterations; i++) {
		counts_begin();
		mark_begin();
		pthread_barrier_wait(&barrier);	/* all begin */
		pthread_barrier_wait(&barrier);	/* all have ended */
		mark_end();
		counts_end(i);
		report(i, workers, o.threads);
	}
	for (uint64_t i = 0; i < o.threads; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	return samples_end();
}
