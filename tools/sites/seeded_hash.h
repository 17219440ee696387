/* SPDX-License-Identifier: MIT */
/*
 * seeded_hash.h - hash functions for which no trace can provoke collisions
 *
 * Each table selects its own hash function by random numbers.
 */
#ifndef SEEDED_HASH_H
#define SEEDED_HASH_H

#include <stdint.h>

/* Random numbers that select one hash function. */
struct seeded_hash {
	uint64_t numbers[3];
};

/* Choose a function by random numbers. */
void seeded_hash_init(struct seeded_hash *hash);

/* Return the hash of a number.  All 64 bits are usable. */
static inline uint64_t
seeded_hash_u64(const struct seeded_hash *hash, uint64_t key)
{
	__extension__ typedef unsigned __int128 wide;
	const uint64_t *const n = hash->numbers;
	const wide a = (wide)(key ^ n[0]) * n[1];
	const wide b = (wide)((uint64_t)a ^ (uint64_t)(a >> 64)) * n[2];

	return (uint64_t)b ^ (uint64_t)(b >> 64);
}

/* Return the hash of a string. */
uint64_t seeded_hash_text(const struct seeded_hash *hash, const char *text);

#endif /* SEEDED_HASH_H */
