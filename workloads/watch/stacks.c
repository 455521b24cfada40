#include "stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/samples.h"

enum {
	SLOTS = 1 << 16,
	MAX_STACKS = SLOTS / 2,
	MAX_LINES = 10000,	/* an agent forwards 20,000 of a job */
};

struct stack {
	uint64_t hash, weight, times, lock;
	uint32_t lock_flags;
	int in_user;
	size_t depth;
	uint64_t chain[];
};

static struct stack *slots[SLOTS];
static size_t count;
/* Of stacks for which there was no slot. */
static uint64_t other_weight, other_times;

/* FNV-1a (Fowler, Noll, Vo), a word at a time. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x100000001b3);
}

static int is_same(const struct stack *a, const struct stack *b, const uint64_t *chain)
{
	return a->hash == b->hash && a->lock == b->lock && a->lock_flags == b->lock_flags &&
	       a->in_user == b->in_user && a->depth == b->depth &&
	       memcmp(a->chain, chain, b->depth * sizeof(*chain)) == 0;
}

/* The slot where the stack is, or is to be. */
static struct stack **find(const struct stack *key, const uint64_t *chain)
{
	size_t at = (size_t)(key->hash ^ key->hash >> 32) % SLOTS;

	while (slots[at] && !is_same(slots[at], key, chain))
		at = (at + 1) % SLOTS;
	return &slots[at];
}

void stacks_add(const uint64_t *chain, size_t depth, int in_user, uint64_t lock,
		uint32_t lock_flags, uint64_t weight)
{
	struct stack key = {
		.hash = mix(mix(mix(UINT64_C(0xcbf29ce484222325), (uint64_t)in_user), lock), lock_flags),
		.lock = lock, .lock_flags = lock_flags, .in_user = in_user, .depth = depth,
	};
	struct stack **slot;

	for (size_t i = 0; i < depth; i++)
		key.hash = mix(key.hash, chain[i]);
	slot = find(&key, chain);
	if (!*slot) {
		struct stack *stack = NULL;

		if (count < MAX_STACKS)
			stack = malloc(sizeof(*stack) + depth * sizeof(*chain));
		if (!stack) {
			other_weight += weight;
			other_times++;
			return;
		}
		*stack = key;
		memcpy(stack->chain, chain, depth * sizeof(*chain));
		*slot = stack;
		count++;
	}
	(*slot)->weight += weight;
	(*slot)->times++;
}

static int by_weight(const void *a, const void *b)
{
	const struct stack *left = *(struct stack *const *)a, *right = *(struct stack *const *)b;

	if (left->weight != right->weight)
		return left->weight < right->weight ? 1 : -1;
	return left->hash < right->hash ? -1 : left->hash > right->hash;
}

static void print(const struct stack *stack)
{
	const char *comma = "";

	printf("stack %" PRIu64 " %" PRIu64 " ", stack->weight, stack->times);
	for (size_t i = stack->depth; i > 0; i--, comma = ",")
		printf("%s%" PRIx64, comma, stack->chain[i - 1]);
	if (stack->in_user)
		printf("%suser", comma);
	if (stack->lock)
		printf("%slock:%" PRIx32 ":%" PRIx64, comma, stack->lock_flags, stack->lock);
	printf("\n");
}

void stacks_print(void)
{
	struct stack **all = calloc(count + 1, sizeof(struct stack *));
	size_t found = 0;

	if (!all)
		fail("watch: no memory for %zu stacks", count);
	for (size_t i = 0; i < SLOTS; i++)
		if (slots[i])
			all[found++] = slots[i];
	qsort(all, found, sizeof(struct stack *), by_weight);
	for (size_t i = 0; i < found; i++) {
		if (i < MAX_LINES) {
			print(all[i]);
			continue;
		}
		other_weight += all[i]->weight;
		other_times += all[i]->times;
	}
	if (other_times > 0)
		printf("stack %" PRIu64 " %" PRIu64 " other\n", other_weight, other_times);
	free(all);
}
