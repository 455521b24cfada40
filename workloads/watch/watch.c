/*
 * watch: runs a workload, and looks where its iterations spend their time
 * (`profile`) or wait for locks (`locks`). What it does disturbs what it sees: it
 * says where, never how fast. Prints lines of its own behind the workload's.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/options.h"
#include "../common/samples.h"
#include "../common/watched.h"
#include "events.h"
#include "stacks.h"
#include "waits.h"

#define USAGE "watch profile|locks program [arguments]"

static const char *open_all(int locks)
{
	const char *why;

	if (!locks)
		return events_open(EVENT_CLOCK);
	why = events_open(EVENT_CONTENTION_BEGIN);
	return why ? why : events_open(EVENT_CONTENTION_END);
}

static void take(const struct sample *sample)
{
	if (sample->process == (uint32_t)getpid())
		return;		/* ourselves, as we write down the others */
	if (sample->event == EVENT_CLOCK)
		stacks_add(sample->chain, sample->depth, sample->in_user, 0, 0, 1);
	else
		waits_take(sample);
}

/* A signal is only to end the wait. */
static void on_child(int signal_number)
{
	(void)signal_number;
}

static pid_t start(char **words)
{
	struct sigaction action;
	sigset_t blocked;
	pid_t pid;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_child;
	sigaction(SIGCHLD, &action, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	if (setenv(WATCHED_VARIABLE, events_descriptors(), 1) < 0)
		fail("watch: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("watch: cannot start a process: %s", strerror(errno));
	if (pid > 0)
		return pid;
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	execv(words[0], words);
	fail("watch: cannot run %s: %s", words[0], strerror(errno));
}

static int follow(pid_t pid)
{
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		events_wait();
		events_drain(take);
	}
	events_drain(take);
	return ended < 0 ? -1 : status;
}

int main(int argc, char **argv)
{
	int locks, status;
	uint64_t lost;
	const char *why;

	if (argc < 3 || (strcmp(argv[1], "profile") != 0 && strcmp(argv[1], "locks") != 0))
		usage_error(USAGE);
	locks = strcmp(argv[1], "locks") == 0;
	why = open_all(locks);
	if (why) {
		unsupported(argv[1], why);
		return samples_end();
	}
	status = follow(start(argv + 2));
	if (WIFSIGNALED(status))
		fail("watch: %s was killed by signal %d", argv[2], WTERMSIG(status));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	samples_begin();
	lost = locks ? waits_pair() : 0;
	printf("watched %s %s %" PRIu64 "\n", locks ? "lock:contention_begin" : "cpu-clock",
	       locks ? "ns" : "samples", lost + events_lost());
	stacks_print();
	return samples_end();
}
