/* SPDX-License-Identifier: MIT */
/* lane_fast.c - see lane_fast.h */
#include "tools/driver/lane_fast.h"

#define always_inline inline __attribute__((always_inline))
#define unlikely(x)   __builtin_expect(!!(x), 0)

/*
 * What the calls need.  A local copy stays in registers, while a read through
 * pointers would be repeated after each call.
 */
struct fast {
	struct lane *lane;
	struct lane_place *place;
	const struct driver_calls *calls;
	void **blocks; /* by slot */
	bool touches;
};

static always_inline void
call_free(const struct fast f, uint32_t slot)
{
	f.calls->free(f.blocks[slot]);
}

/* Allocate a block of 1 byte to a page, and write to it as --touch says. */
static always_inline void
call_malloc(const struct fast f, const uint64_t *word, uint32_t size,
	    uint32_t (*slot_of)(uint64_t word, unsigned idx), unsigned idx)
{
	void *const block = f.calls->malloc(size);

	/* Only now, or the slot would occupy a register during the call. */
	f.blocks[slot_of(*word, idx)] = block;
	if (unlikely(block == NULL))
		f.lane->failed++;
	else if (f.touches)
		*(volatile char *)block = 1;
}

/* -------------------------------------------------------------------- pairs */

static always_inline void
call_half(const struct fast f, const uint64_t *word, bool is_free, unsigned idx)
{
	if (is_free)
		call_free(f, pair_slot(*word, idx));
	else
		call_malloc(f, word, pair_size(*word, idx), pair_slot, idx);
}

/* Make the calls of a pair, of which 'frees' are frees. */
static always_inline void
call_pair(const struct fast f, const uint64_t *word, unsigned frees)
{
	lane_place_next(f.place, word);
	call_half(f, word, (frees & 1) != 0, 0);
	lane_place_second(f.place, word);
	call_half(f, word, (frees & 2) != 0, 1);
}

/* Expand a macro for each combination of calls in one, two or three pairs. */
#define EACH_1(m, n) m((n)) m((n) + 1) m((n) + 2) m((n) + 3)
#define EACH_2(m, n) \
	EACH_1(m, n) EACH_1(m, n + 4) EACH_1(m, n + 8) EACH_1(m, n + 12)
#define EACH_3(m) EACH_2(m, 0) EACH_2(m, 16) EACH_2(m, 32) EACH_2(m, 48)

static always_inline unsigned
pair_frees(uint64_t word)
{
	return word & WORD_FREES;
}

/* Return the combination of calls in three pairs; 64 or more: there is none. */
static always_inline unsigned
frees_of_three(const uint64_t *w)
{
	const unsigned flags = (w[0] | w[1] | w[2]) & (WORD_LONE | WORD_SLOW);

	return pair_frees(w[0]) | pair_frees(w[1]) << 2 |
	       pair_frees(w[2]) << 4 | flags;
}

/* Run groups of three pairs. */
static always_inline const uint64_t *
run_pairs(const struct fast f, const uint64_t *next)
{
	unsigned frees = frees_of_three(next);

	for (;;) {
		const uint64_t *const words = next;
		const unsigned now = frees;

		/*
		 * Before the calls: a processor that mispredicts the next jump
		 * then finds out the earlier.
		 */
		frees = frees_of_three(words + 3);
		next += 3;
		switch (now) {
#define CASE(frees)                                        \
	case frees:                                        \
		call_pair(f, words, (frees)&3);            \
		call_pair(f, words + 1, (frees) >> 2 & 3); \
		call_pair(f, words + 2, (frees) >> 4);     \
		break;
			EACH_3(CASE)
#undef CASE
		default:
			return words;
		}
	}
}

/* Run one pair. */
static always_inline void
run_pair(const struct fast f, const uint64_t *next)
{
	switch (pair_frees(*next)) {
#define CASE(frees)                        \
	case frees:                        \
		call_pair(f, next, frees); \
		break;
		EACH_1(CASE, 0)
#undef CASE
	}
}

/* --------------------------------------------------------------- lone words */

static always_inline uint32_t
lone_slot(uint64_t word, unsigned idx)
{
	(void)idx;
	return word_slot(word);
}

static always_inline void
call_lone(const struct fast f, const uint64_t *word, bool is_free)
{
	lane_place_next(f.place, word);
	if (is_free)
		call_free(f, word_slot(*word));
	else
		call_malloc(f, word, word_size(*word), lone_slot, 0);
}

/* Run groups of four lone words. */
static always_inline const uint64_t *
run_lones(const struct fast f, const uint64_t *next)
{
	for (;; next += 4) {
		if ((next[0] & next[1] & next[2] & next[3] & WORD_LONE) == 0 ||
		    ((next[0] | next[1] | next[2] | next[3]) & WORD_SLOW) != 0)
			return next;
		switch ((next[0] & 1) | (next[1] & 1) << 1 |
			(next[2] & 1) << 2 | (next[3] & 1) << 3) {
#define CASE(frees)                                       \
	case frees:                                       \
		call_lone(f, next, (frees)&1);            \
		call_lone(f, next + 1, (frees) >> 1 & 1); \
		call_lone(f, next + 2, (frees) >> 2 & 1); \
		call_lone(f, next + 3, (frees) >> 3);     \
		break;
			EACH_2(CASE, 0)
#undef CASE
		}
	}
}

const uint64_t *
lane_fast_run(struct lane *lane, const uint64_t *next)
{
	const struct lanes *const all = lane->all;
	const struct fast f = { lane, lane->place, &all->calls, all->blocks,
				all->touch_nbytes != 0 };

	for (;; next++) {
		next = run_pairs(f, next);
		next = run_lones(f, next);
		if ((*next & WORD_SLOW) != 0)
			return next;
		if ((*next & WORD_LONE) == 0)
			run_pair(f, next);
		else
			call_lone(f, next, (*next & 1) != 0);
	}
}
