/* On which processors the workers of a workload run: by -c, else wherever the
 * system puts them. One file a system: place-linux.c. */
#ifndef KTRIAL_PLACE_H
#define KTRIAL_PLACE_H

/* Takes `0+4+8`: worker i runs on the i-th, and from the first again. Returns 0
 * when that is no such list. */
int place_parse(const char *text);

/* Binds the calling thread, or single-threaded process, if -c was given; ends the
 * program when it can't. */
void place_worker(unsigned long long worker);

#endif
