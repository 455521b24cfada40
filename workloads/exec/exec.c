/*
 * exec: how many times a second can this kernel start a small static binary?
 *
 * N worker processes in parallel, each of which repeats vfork, execve and
 * waitpid for a timed period. After test/sysperf/exec1 of DragonFly BSD.
 */
#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/counts.h"
#include "../common/marks.h"
#include "../common/options.h"
#include "../common/samples.h"

#define USAGE \
	"exec [-n processes] [-c processors] [-d ms an iteration] [-i iterations] [-s seed] [-p child program]"
#define MAX_PROCESSES 4096

struct options {
	struct run_options run;	/* the seed is taken and not used: exec makes no random choice */
	uint64_t processes;
	const char *child;
};

/* Two lines each (adjacent-line prefetch), so that counting costs no sharing. */
struct worker {
	alignas(128) uint64_t operations;
	uint64_t elapsed_ns;
};

/* The child program stands beside this one unless -p says otherwise. */
static const char *sibling(const char *self)
{
	static char path[4096];
	const char *slash = strrchr(self, '/');

	if (!slash)
		return "/bin/exec-child";
	if (snprintf(path, sizeof(path), "%.*s/exec-child", (int)(slash - self), self) >=
	    (int)sizeof(path))
		fail("exec: the path to exec-child is too long: name it by -p");
	return path;
}

static struct options parse(int argc, char **argv)
{
	struct options o = { .run = { 1000, 1, 0 }, .processes = 1 };
	int c;

	while ((c = getopt(argc, argv, "n:c:d:i:s:p:")) != -1) {
		if (run_option(&o.run, c, optarg, USAGE))
			continue;
		if (c == 'n')
			o.processes = number_option(c, optarg, 1, MAX_PROCESSES, USAGE);
		else if (c == 'p')
			o.child = optarg;
		else
			usage_error(USAGE);
	}
	if (optind != argc)
		usage_error(USAGE);
	if (!o.child)
		o.child = sibling(argv[0]);
	return o;
}

/* One operation. An exec that fails must never be counted: it is much faster. */
static void start_child(const char *path)
{
	char *const arguments[] = { (char *)path, NULL };
	char *const environment[] = { NULL };
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		execve(path, arguments, environment);
		_exit(127);
	}
	if (pid < 0)
		fail("exec: vfork: %s", strerror(errno));
	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			fail("exec: waitpid: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		fail("exec: cannot execute %s", path);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail("exec: %s ended with wait status 0x%x, not with exit 0", path, (unsigned)status);
}

/* The clock is read once an operation. That is under a thousandth of one where
 * the vDSO reads it, and a few thousandths where it is a system call. */
static void work(struct worker *self, const struct options *o)
{
	uint64_t begin = now_ns(), now;
	uint64_t deadline = begin + o->run.duration_ms * NS_PER_MS;
	uint64_t operations = 0;

	do {
		start_child(o->child);
		operations++;
		now = now_ns();
	} while (now < deadline);
	self->operations = operations;
	self->elapsed_ns = now - begin;
}

/* In the worker: say that it is there, then wait until the parent closes the
 * other end of `start`, which wakes all workers at once. */
static _Noreturn void worker_main(struct worker *self, uint64_t number, const struct options *o,
				  int ready[2], int start[2])
{
	char byte = 0;

	place_worker(number);
	close(ready[0]);
	close(start[1]);
	if (write(ready[1], &byte, 1) != 1)
		fail("exec: worker: %s", strerror(errno));
	close(ready[1]);
	while (read(start[0], &byte, 1) < 0)
		if (errno != EINTR)
			fail("exec: worker: %s", strerror(errno));
	close(start[0]);
	work(self, o);
	_exit(0);
}

/* Does not return while a worker runs, so that none outlives a failed run. */
static void wait_for(const pid_t *pids, uint64_t count)
{
	int failed = 0;

	for (uint64_t i = 0; i < count; i++) {
		int status;

		while (waitpid(pids[i], &status, 0) < 0)
			if (errno != EINTR)
				fail("exec: waitpid: %s", strerror(errno));
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			failed = 1;
	}
	if (failed)
		fail("exec: a worker failed, so there is no rate");
}

static void launch(struct worker *workers, pid_t *pids, const struct options *o)
{
	int ready[2], start[2];
	char byte;

	if (pipe(ready) < 0 || pipe(start) < 0)
		fail("exec: pipe: %s", strerror(errno));
	for (uint64_t i = 0; i < o->processes; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			worker_main(&workers[i], i, o, ready, start);
		if (pids[i] < 0) {
			int error = errno;

			while (i-- > 0)
				kill(pids[i], SIGKILL);
			fail("exec: fork: %s (raise the limit on processes)", strerror(error));
		}
	}
	close(ready[1]);
	close(start[0]);
	for (uint64_t i = 0; i < o->processes; i++)
		while (read(ready[0], &byte, 1) < 0)
			if (errno != EINTR)
				fail("exec: pipe: %s", strerror(errno));
	close(ready[0]);
	mark_begin();
	close(start[1]);	/* all begin */
}

/*
 * Each worker ends its last operation after the deadline, by a time of its own,
 * so operations are divided by the time that very worker took. The rate is the
 * sum over workers; all operations over one common period would be biased, the
 * more the fewer operations a period holds.
 */
static void iterate(uint64_t iteration, struct worker *workers, pid_t *pids,
		    const struct options *o)
{
	double rate = 0;
	uint64_t all = 0;

	counts_begin();
	launch(workers, pids, o);
	wait_for(pids, o->processes);
	mark_end();
	counts_end(iteration);
	for (uint64_t i = 0; i < o->processes; i++) {
		rate += (double)workers[i].operations * (double)NS_PER_S /
			(double)workers[i].elapsed_ns;
		all += workers[i].operations;
	}
	sample_real(iteration, "rate", rate);
	operations(iteration, all);
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct worker *workers = mmap(NULL, o.processes * sizeof(*workers), PROT_READ | PROT_WRITE,
				      MAP_ANON | MAP_SHARED, -1, 0);
	pid_t *pids = calloc(o.processes, sizeof(*pids));

	if (workers == MAP_FAILED || !pids)
		fail("exec: no memory");
	samples_begin();
	start_child(o.child);	/* outside the timed period: a wrong path fails here, once */
	info_number("clock_read_ns", clock_cost_ns());
	for (uint64_t i = 0; i < o.run.iterations; i++)
		iterate(i, workers, pids, &o);
	free(pids);
	return samples_end();
}
