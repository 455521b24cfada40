/* ppoll and pipe2: Linux, FreeBSD and DragonFly have both. */
#define _GNU_SOURCE

#include "run.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/marks.h"

enum {
	MAX_LINES = 20000,		/* forwarded of one job */
	MAX_BYTES = 4 << 20,
	DRAIN_BYTES = 1 << 20,		/* read after the job's end: a full pipe, and some */
};
#define KILL_GRACE_NS (5 * NS_PER_S)	/* a process that SIGKILL does not end is the kernel's fault */

/* One of the job's two outputs, and the line that is not complete yet. */
struct stream {
	int fd;		/* -1 at its end */
	const char *kind;
	size_t length;
	int cut;
	char line[TEXT_BYTES];
};

struct output {
	struct channel *channel;
	const char *job;
	uint64_t lines, bytes, dropped;
	struct stream streams[2];
};

/* Signals are blocked but inside ppoll, so none is missed between a look and a
 * wait; the handler is there to end the wait. */
static void on_child(int signal_number)
{
	(void)signal_number;
}

/* Where jobs mark their iterations; NULL for nowhere. */
static const char *marks_port;

void run_prepare(const char *marks)
{
	struct sigaction action;
	sigset_t blocked;

	marks_port = marks;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_child;
	sigaction(SIGCHLD, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
}

/* Once a line is dropped all that follow are, so that what is forwarded is a
 * beginning and not a selection. */
static void forward_line(struct output *o, struct stream *s)
{
	if (o->dropped || o->lines == MAX_LINES || o->bytes + s->length > MAX_BYTES) {
		o->dropped++;
	} else {
		o->lines++;
		o->bytes += s->length;
		frame_text(o->channel, s->kind, o->job, s->line, s->length, s->cut);
	}
	s->length = 0;
	s->cut = 0;
}

static void take(struct output *o, struct stream *s, const char *bytes, size_t count)
{
	while (count > 0) {
		const char *newline = memchr(bytes, '\n', count);
		size_t part = newline ? (size_t)(newline - bytes) : count;
		size_t room = TEXT_BYTES - s->length;
		size_t kept = part < room ? part : room;

		memcpy(s->line + s->length, bytes, kept);
		s->length += kept;
		s->cut |= kept < part;
		if (!newline)
			return;
		forward_line(o, s);
		bytes = newline + 1;
		count -= part + 1;
	}
}

static void close_stream(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Reads once, without waiting. Returns the number of bytes; 0 when there is
 * nothing now, or nothing more (the stream is then closed). */
static size_t read_stream(struct output *o, struct stream *s)
{
	static char bytes[65536];
	ssize_t n;

	if (s->fd < 0)
		return 0;
	n = read(s->fd, bytes, sizeof(bytes));
	if (n > 0)
		take(o, s, bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_stream(s);
	return n > 0 ? (size_t)n : 0;
}

/* Sleeps until a child ends, an output has something, or the time is there. */
static void wait_until(struct output *o, uint64_t when)
{
	struct pollfd fds[2];
	struct timespec left;
	sigset_t none;
	uint64_t now = now_ns(), ns = when > now ? when - now : 0;

	for (int i = 0; i < 2; i++) {
		fds[i].fd = o ? o->streams[i].fd : -1;
		fds[i].events = POLLIN;
		fds[i].revents = 0;
	}
	left.tv_sec = (time_t)(ns / NS_PER_S);
	left.tv_nsec = (long)(ns % NS_PER_S);
	sigemptyset(&none);
	ppoll(fds, 2, &left, &none);
}

/* Reaps what has ended, orphans too. Returns -1 when no child is left, 1 when
 * the job has ended (then its status is set), else 0. */
static int reap(pid_t job, int *status)
{
	int job_ended = 0, this_status;
	pid_t pid;

	while ((pid = waitpid(-1, &this_status, WNOHANG)) > 0) {
		if (pid == job) {
			*status = this_status;
			job_ended = 1;
		}
	}
	return job_ended ? 1 : pid < 0 && errno == ECHILD ? -1 : 0;
}

/* As PID 1, everything but ourselves goes, whatever group it fled to. */
static void kill_all(pid_t job)
{
	kill(-job, SIGKILL);
	if (getpid() == 1)
		kill(-1, SIGKILL);
}

static void end_leftovers(pid_t job)
{
	uint64_t limit = now_ns() + KILL_GRACE_NS;
	int status;

	kill_all(job);
	while (reap(job, &status) >= 0 && now_ns() < limit)
		wait_until(NULL, limit);
}

struct ending {
	const char *how;
	uint64_t number;
};

static struct ending supervise(struct output *o, const struct job *job, pid_t pid, uint64_t begin)
{
	struct ending late = { "deadline", job->deadline_ms };
	uint64_t limit = begin + job->deadline_ms * NS_PER_MS;
	int status = 0, killed = 0;

	while (reap(pid, &status) == 0) {
		if (now_ns() >= limit) {
			if (killed)
				return late;
			killed = 1;
			limit += KILL_GRACE_NS;
			kill_all(pid);
		}
		channel_flush(o->channel);
		wait_until(o, limit);
		read_stream(o, &o->streams[0]);
		read_stream(o, &o->streams[1]);
	}
	if (killed)
		return late;
	if (WIFSIGNALED(status))
		return (struct ending){ "signal", (uint64_t)WTERMSIG(status) };
	return (struct ending){ "exit", (uint64_t)WEXITSTATUS(status) };
}

/* What still stands in the pipes, and the last lines without a newline. */
static void drain(struct output *o)
{
	for (int i = 0; i < 2; i++) {
		struct stream *s = &o->streams[i];
		size_t total = 0, n;

		while (total < DRAIN_BYTES && (n = read_stream(o, s)) > 0)
			total += n;
		close_stream(s);
		if (s->length > 0)
			forward_line(o, s);
	}
	if (o->dropped)
		frame(o->channel, "drop", "%s %" PRIu64, o->job, o->dropped);
}

/* By this a later ktrial knows what an earlier one has left on its own machine. */
#define OWNER "KTRIAL_CHILD_OF"

/* In the child. Its outputs are 1 and 2 before the program is looked for, so
 * that the reason why it can't run is a line of the job. */
static _Noreturn void become(const struct job *job, int out, int err)
{
	static char path[] = "PATH=/bin", home[] = "HOME=/";
	static char marks[PATH_MAX + sizeof("KTRIAL_MARKS=")], id[256];
	static char owner[PATH_MAX + sizeof(OWNER "=") + 16];
	char *environment[] = { path, home, NULL, NULL, NULL, NULL };
	size_t used = 2;
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	if (marks_port) {
		snprintf(marks, sizeof(marks), "KTRIAL_MARKS=%s", marks_port);
		snprintf(id, sizeof(id), "KTRIAL_JOB=%s", job->id);
		environment[used++] = marks;
		environment[used++] = id;
	}
	if (getenv(OWNER)) {
		snprintf(owner, sizeof(owner), OWNER "=%s", getenv(OWNER));
		environment[used++] = owner;
	}
	setpgid(0, 0);
	system_die_with_parent();
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(job->words[0], job->words, environment);
	dprintf(STDERR_FILENO, "ktrial-agent: cannot run %s: %s\n", job->words[0], strerror(errno));
	_exit(127);
}

static pid_t start(struct output *o, const struct job *job)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 };
	pid_t pid = -1;

	if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0)
		become(job, out[1], err[1]);
	if (pid > 0)
		setpgid(pid, pid);	/* here too: a kill may come before the child's own call */
	close(out[1]);
	close(err[1]);
	o->streams[0] = (struct stream){ .fd = out[0], .kind = "out" };
	o->streams[1] = (struct stream){ .fd = err[0], .kind = "err" };
	for (int i = 0; i < 2; i++)
		if (o->streams[i].fd >= 0)
			fcntl(o->streams[i].fd, F_SETFL, O_NONBLOCK);
	return pid;
}

void run_job(struct channel *channel, const struct job *job)
{
	static struct output output;
	struct ending ending = { "exit", 127 };
	uint64_t begin = now_ns();
	pid_t pid;

	output.channel = channel;
	output.job = job->id;
	output.lines = output.bytes = output.dropped = 0;
	frame(channel, "begin", "%s %" PRIu64, job->id, begin);
	channel_flush(channel);
	mark_job();
	pid = start(&output, job);
	if (pid > 0) {
		ending = supervise(&output, job, pid, begin);
		end_leftovers(pid);
	} else {
		static const char text[] = "ktrial-agent: cannot start a process";

		frame_text(channel, "err", job->id, text, sizeof(text) - 1, 0);
	}
	drain(&output);
	frame(channel, "end", "%s %s %" PRIu64 " %" PRIu64, job->id, ending.how, ending.number,
	      now_ns());
	channel_flush(channel);
}
