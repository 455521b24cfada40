#include "waits.h"

#include <stdlib.h>
#include <string.h>

#include "stacks.h"

enum { MAX_ENDS = 1 << 20, MAX_OPEN = 1 << 12 };

struct end {
	uint64_t time, lock;
	uint32_t thread, flags;
	int begins;
	size_t depth;
	uint64_t *chain;	/* of a beginning */
};

static struct end *ends;
static size_t count, room;
static uint64_t without_room;

void waits_take(const struct sample *sample)
{
	struct end *e;

	if (count == room && room < MAX_ENDS) {
		size_t more = room ? 2 * room : 1024;
		struct end *moved = realloc(ends, more * sizeof(*ends));

		if (moved) {
			ends = moved;
			room = more;
		}
	}
	if (count == room) {
		without_room++;
		return;
	}
	e = &ends[count++];
	*e = (struct end){
		.time = sample->time, .lock = sample->lock, .thread = sample->thread,
		.flags = sample->lock_flags, .begins = sample->event == EVENT_CONTENTION_BEGIN,
	};
	if (!e->begins)
		return;
	e->chain = malloc(sample->depth * sizeof(*e->chain));
	if (!e->chain)
		return;
	e->depth = sample->depth;
	memcpy(e->chain, sample->chain, sample->depth * sizeof(*e->chain));
}

static int by_time(const void *a, const void *b)
{
	const struct end *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	/* A wait of no time begins before it ends. */
	return right->begins - left->begins;
}

/* The place of the wait that goes on, or `open` where there is none. The newest
 * first: an interrupt waits within a wait. */
static size_t find(const struct end *const *waiting, size_t open, const struct end *e)
{
	for (size_t i = open; i > 0; i--)
		if (waiting[i - 1]->thread == e->thread && waiting[i - 1]->lock == e->lock)
			return i - 1;
	return open;
}

uint64_t waits_pair(void)
{
	static const struct end *waiting[MAX_OPEN];
	uint64_t alone = without_room;
	size_t open = 0;

	qsort(ends, count, sizeof(*ends), by_time);
	for (size_t i = 0; i < count; i++) {
		const struct end *e = &ends[i];
		size_t at = find(waiting, open, e);

		if (e->begins) {
			/* Of one that the kernel forgot to end, the newest beginning counts. */
			if (at < open) {
				waiting[at] = e;
				alone++;
			} else if (open < MAX_OPEN) {
				waiting[open++] = e;
			} else {
				alone++;
			}
		} else if (at < open) {
			const struct end *begun = waiting[at];

			stacks_add(begun->chain, begun->depth, 0, begun->lock, begun->flags,
				   e->time - begun->time);
			memmove(&waiting[at], &waiting[at + 1], (--open - at) * sizeof(*waiting));
		} else {
			alone++;
		}
	}
	return alone + open;
}
