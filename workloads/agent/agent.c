/*
 * The guest agent. As PID 1 it makes the system ready, runs the jobs of
 * /ktrial/jobs one after the other, and powers off. With arguments it runs a
 * list on the system that is there:
 *
 *     agent <job list> <results>
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fatal.h"
#include "frames.h"
#include "joblist.h"
#include "run.h"
#include "system.h"

#define JOB_LIST "/ktrial/jobs"

static void read_jobs(struct job_list *list, const char *path)
{
	static char text[JOB_LIST_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n = fd < 0 ? -1 : 1;
	unsigned line;
	const char *error;

	while (n > 0 && length < JOB_LIST_BYTES) {
		n = read(fd, text + length, JOB_LIST_BYTES - length);
		length += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		fatal("%s: %s", path, strerror(errno));
	if (length == JOB_LIST_BYTES)
		fatal("%s: longer than %d bytes", path, JOB_LIST_BYTES - 1);
	close(fd);
	error = job_list_parse(list, text, length, &line);
	if (error)
		fatal("%s: line %u: %s", path, line, error);
}

static void say_hello(struct channel *channel)
{
	struct utsname name;
	char words[3][4 * sizeof(name.release) + 1];

	if (uname(&name) < 0)
		fatal("uname: %s", strerror(errno));
	escape_word(words[0], name.sysname, strlen(name.sysname));
	escape_word(words[1], name.release, strlen(name.release));
	escape_word(words[2], name.machine, strlen(name.machine));
	frame(channel, "hello", "%s %s %s %ld", words[0], words[1], words[2],
	      sysconf(_SC_NPROCESSORS_ONLN));
}

static void run_all(const struct job_list *list, int results, const char *marks)
{
	static struct channel channel;

	channel_init(&channel, results);
	run_prepare(marks);
	say_hello(&channel);
	system_say_topology(&channel);
	for (size_t i = 0; i < list->count && !channel.error; i++)
		run_job(&channel, &list->jobs[i]);
	frame(&channel, "bye", "%zu", list->count);
	channel_flush(&channel);
	if (channel.error)
		fatal("cannot write results: %s", strerror(channel.error));
}

/* However PID 1 ends, the guest goes down with it. A child that exits is no end. */
static void at_exit(void)
{
	if (getpid() == 1)
		system_power_off();
}

static _Noreturn void boot(void)
{
	struct job_list list;
	int results;

	atexit(at_exit);
	system_mount();
	read_jobs(&list, JOB_LIST);
	system_seed(list.seed);
	system_raise_limits();
	results = system_open_results();
	run_all(&list, results, system_marks_port());
	system_power_off();
}

int main(int argc, char **argv)
{
	struct job_list list;
	int results;

	if (getpid() == 1)
		boot();
	if (argc != 3) {
		fprintf(stderr, "usage: agent <job list> <results>\n");
		return 2;
	}
	read_jobs(&list, argv[1]);
	results = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (results < 0)
		fatal("%s: %s", argv[2], strerror(errno));
	run_all(&list, results, getenv("KTRIAL_MARKS"));
	free(list.jobs);
	return 0;
}
