/* SPDX-License-Identifier: MIT */
/* stack_key.h - hashes of call stacks */
#ifndef STACK_KEY_H
#define STACK_KEY_H

#include <stdint.h>

/*
 * Add a word to a hash.  The order of the words matters.  To compute the hash
 * of a stack, begin with the hash of the caller's stack, and add the return
 * address of the innermost frame.
 */
static inline uint64_t
stack_key_add(uint64_t key, uintptr_t word)
{
	const uint64_t next = (key ^ word) * 0x9e3779b97f4a7c15ull;

	return next ^ next >> 32;
}

#endif /* STACK_KEY_H */
