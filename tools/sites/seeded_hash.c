/* SPDX-License-Identifier: MIT */
/* seeded_hash.c - see seeded_hash.h */
#include "tools/sites/seeded_hash.h"

#include <string.h>
#include <sys/random.h>

void
seeded_hash_init(struct seeded_hash *hash)
{
	uint64_t *const n = hash->numbers;

	if (getrandom(n, sizeof(hash->numbers), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(hash->numbers)) {
		/*
		 * Soon after boot the kernel may have no random numbers, so use
		 * addresses instead.
		 */
		n[0] = (uintptr_t)hash;
		n[1] = (uintptr_t)&n * UINT64_C(0x9e3779b97f4a7c15);
		n[2] = UINT64_C(0xbf58476d1ce4e5b9);
	}
	n[1] |= 1;
	n[2] |= 1;
}

uint64_t
seeded_hash_text(const struct seeded_hash *hash, const char *text)
{
	size_t left = strlen(text);
	uint64_t sum = left;

	while (left != 0) {
		const size_t nbytes = left < 8 ? left : 8;
		uint64_t word = 0;

		memcpy(&word, text, nbytes);
		sum = seeded_hash_u64(hash, sum ^ word);
		text += nbytes;
		left -= nbytes;
	}
	return sum;
}
