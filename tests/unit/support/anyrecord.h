/* SPDX-License-Identifier: MIT */
/*
 * anyrecord.h - random records of every tag, with every kind of value
 *
 * The bytes that they point to are in one array; each call fills it anew.
 */
#ifndef TESTS_ANYRECORD_H
#define TESTS_ANYRECORD_H

#include "hatf/hatf.h"
#include "tests/unit/support/mini.h"

#define ANYRECORD_ARENA (1 << 20)

struct anyrecord {
	uint64_t seed;
	size_t used;
	uint8_t arena[ANYRECORD_ARENA];
};

/* Return a number of any magnitude, including both ends of the range. */
static inline uint64_t
anyrecord_number(struct anyrecord *a)
{
	const uint64_t n = mini_random(&a->seed);

	switch (n >> 61) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - (n & 1);
	case 2:
		return ((uint64_t)1 << 53) + (n & 3) - 1;
	default:
		return mini_random(&a->seed) >> (n >> 32 & 63);
	}
}

/* Put up to 'max' bytes; ASCII text, UTF-8, or anything. */
static inline void
anyrecord_bytes(struct anyrecord *a, struct hatf_record *r, size_t max)
{
	static const char *const pieces[] = {
		"a",
		"Z",
		" ",
		"\"",
		"\\",
		"\\x41",
		",",
		"\n",
		"\r",
		"\t",
		"\x7f",
		"\xc3\xa9",
		"\xe2\x82\xac",
		"\xf0\x9f\x98\x80",
		"\\n",
		"{",
		"}",
		"'",
		"#",
		":",
	};
	const unsigned kind = (unsigned)(mini_random(&a->seed) >> 62);
	const size_t want = (mini_random(&a->seed) >> 32) % (max + 1);
	uint8_t *const start = a->arena + a->used;
	size_t n = 0;

	mini_check(a->used + max <= ANYRECORD_ARENA);
	while (n < want) {
		const uint64_t random = mini_random(&a->seed) >> 32;
		const char *const piece = pieces[random % 20];

		if (kind == 0) {
			start[n++] = (uint8_t)random;
		} else if (n + strlen(piece) <= want) {
			memcpy(start + n, piece, strlen(piece));
			n += strlen(piece);
		} else {
			start[n++] = kind == 1 ? 0 : '.';
		}
	}
	r->attributes = start;
	r->attributes_nbytes = (uint32_t)n;
	a->used += n;
}

/* Fill 'records' with 'n' records. */
static inline void
anyrecord_fill(struct anyrecord *a, struct hatf_record *records, size_t n)
{
	a->used = 0;
	for (size_t i = 0; i < n; i++) {
		struct hatf_record *const r = &records[i];
		const uint64_t random = mini_random(&a->seed) >> 32;
		const unsigned tag = (unsigned)(random % 11);

		memset(r, 0, sizeof(*r));
		r->tag = (uint8_t)tag;
		if (tag == HATF_COMMENT) {
			anyrecord_bytes(a, r, 300);
			continue;
		}
		if (tag <= HATF_REALLOC_FREE && tag != HATF_FREE)
			r->size = anyrecord_number(a);
		if (tag <= HATF_REALLOC_FREE)
			r->address = anyrecord_number(a);
		if (tag >= HATF_REALLOC_NO_ALLOC && tag <= HATF_REALLOC_FREE)
			r->old_address = anyrecord_number(a);
		if (tag <= HATF_DESTROY_HEAP)
			r->heap = anyrecord_number(a);
		r->thread = anyrecord_number(a);
		r->time = anyrecord_number(a);
		if (random >> 16 & 1)
			anyrecord_bytes(a, r, 40);
	}
}

/* Return whether two records have the same contents. */
static inline bool
anyrecord_same(const struct hatf_record *a, const struct hatf_record *b)
{
	return a->tag == b->tag && a->size == b->size &&
	       a->address == b->address && a->old_address == b->old_address &&
	       a->time == b->time && a->thread == b->thread &&
	       a->heap == b->heap &&
	       a->attributes_nbytes == b->attributes_nbytes &&
	       (a->attributes_nbytes == 0 ||
		memcmp(a->attributes, b->attributes, a->attributes_nbytes) ==
			0);
}

#endif /* TESTS_ANYRECORD_H */
