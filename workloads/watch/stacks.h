/* Stacks that are equal are one, with a weight. */
#ifndef KTRIAL_STACKS_H
#define KTRIAL_STACKS_H

#include <stddef.h>
#include <stdint.h>

/* Takes a stack once more. `lock` is 0 where it is not about one. */
void stacks_add(const uint64_t *chain, size_t depth, int in_user, uint64_t lock,
		uint32_t lock_flags, uint64_t weight);

/* Prints a line for each (PROTOCOL.md), the heaviest first; those that are too
 * many are one. */
void stacks_print(void);

#endif
