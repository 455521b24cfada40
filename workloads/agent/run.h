/* Runs one job: starts it, forwards what it prints, ends it and what it left. */
#ifndef KTRIAL_RUN_H
#define KTRIAL_RUN_H

#include "frames.h"
#include "joblist.h"

/* Once, before the first job. Jobs mark their iterations at the port `marks`; NULL
 * for none. */
void run_prepare(const char *marks);

/* Whatever the job does, this returns: at the latest some seconds after the
 * job's deadline. */
void run_job(struct channel *channel, const struct job *job);

#endif
