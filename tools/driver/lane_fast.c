/* SPDX-License-Identifier: MIT */
/* lane_fast.c - see lane_fast.h */
#include "tools/driver/lane_fast.h"

#define always_inline inline __attribute__((always_inline))
#define unlikely(x)   __builtin_expect(!!(x), 0)

/*
 * What make_call() needs.  Functions take this struct by value, because a local
 * copy stays in registers.  With a pointer, the compiler would have to read the
 * members again after each call of the allocator.
 */
struct fast {
	struct lane *lane;
	struct lane_place *place;
	const struct driver_calls *calls;
	void **blocks; /* indexed by slot */
};

/*
 * Number of calls in a group.  One jump selects the code for all calls of a
 * group.
 */
#define GROUP_CALLS 6

/*
 * The code for a lone word (replay_words.h) prefetches the slot of the word
 * that comes AHEAD words later.
 */
#define AHEAD (LANE_FAST_AHEAD - GROUP_CALLS)

/* -------------------------------------------------------------------- calls */

/*
 * Return the slot of call 'idx' in 'words'.  If 'pairs' is true, all of these
 * words are pairs; otherwise, all are lone words (replay_words.h).
 */
static always_inline uint32_t
slot_of(const uint64_t *words, bool pairs, unsigned idx)
{
	return pairs ? pair_slot(words[idx / 2], idx % 2)
		     : word_slot(words[idx]);
}

static always_inline uint32_t
size_of(const uint64_t *words, bool pairs, unsigned idx)
{
	return pairs ? pair_size(words[idx / 2], idx % 2)
		     : word_size(words[idx]);
}

/*
 * Make call 'idx' of the words.  The call is a free, or a malloc of at least 1
 * byte and at most a page.
 */
static always_inline void
make_call(const struct fast f, const uint64_t *words, bool pairs, bool touches,
	  unsigned idx, bool is_free)
{
	void *block;

	if (!pairs) {
		/*
		 * Prefetch only for lone words.  The slots of pairs take at
		 * most 1 MiB, so they fit in the second-level cache of many
		 * processors.
		 */
		__builtin_prefetch(&f.blocks[word_slot(words[idx + AHEAD])], 1);
		lane_place_next(f.place, words + idx);
	}
	if (pairs && idx % 2 == 0)
		lane_place_next(f.place, words + idx / 2);
	if (pairs && idx % 2 != 0)
		lane_place_second(f.place, words + idx / 2);
	if (is_free) {
		f.calls->free(f.blocks[slot_of(words, pairs, idx)]);
		return;
	}
	block = f.calls->malloc(size_of(words, pairs, idx));
	/*
	 * Extract the slot only now, because an earlier copy would occupy a
	 * register during the call.
	 */
	f.blocks[slot_of(words, pairs, idx)] = block;
	if (unlikely(block == NULL))
		f.lane->failed++;
	else if (touches)
		*(volatile char *)block = 1;
}

/* ------------------------------------------------------------------- groups */

/*
 * A group is 6 calls in words without WORD_SLOW: in three pairs if 'pairs' is
 * true, otherwise in six lone words.  If the words at 'w' form a group, return
 * which of its calls are frees, as bits 0 to 5 of the result.  Otherwise return
 * a number from 64 to 255.
 */
static always_inline unsigned
frees_of(const uint64_t *w, bool pairs)
{
	uint64_t all = w[0] & w[1] & w[2], any = w[0] | w[1] | w[2];

	if (pairs)
		return (unsigned)((w[0] & WORD_FREES) |
				  (w[1] & WORD_FREES) << 2 |
				  (w[2] & WORD_FREES) << 4 |
				  (any & (WORD_LONE | WORD_SLOW)));
	all &= w[3] & w[4] & w[5];
	any |= w[3] | w[4] | w[5];
	return (unsigned)((w[0] & 1) | (w[1] & 1) << 1 | (w[2] & 1) << 2 |
			  (w[3] & 1) << 3 | (w[4] & 1) << 4 | (w[5] & 1) << 5 |
			  (~all & WORD_LONE) | (any & WORD_SLOW));
}

/*
 * Expand the macro 'm' for each of the 64 results of frees_of() for a group.
 * The argument of 'm' is the two octal digits of the result.
 */
#define EACH_8(m, n) \
	m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define EACH_32(m, a, b, c, d) \
	EACH_8(m, a) EACH_8(m, b) EACH_8(m, c) EACH_8(m, d)
#define EACH_64(m) EACH_32(m, 0, 1, 2, 3) EACH_32(m, 4, 5, 6, 7)

/*
 * Do not warn about labels as values and ranges of indices, which are
 * extensions of gcc and clang.
 */
#pragma GCC diagnostic ignored "-Wpedantic"

#define LABEL(n) [0##n] = &&calls_##n,

/*
 * Make the calls of a group.  Load the address of the next group's code before
 * the calls, because a mispredicted jump then costs less: the processor knows
 * the right address as soon as it reaches the jump.  The assembler line keeps
 * the compiler from moving the load past the calls.
 */
#define CALLS(n)                                                 \
	calls_##n : code = codes[frees_of(words + step, pairs)]; \
	__asm__("" : "+r"(code));                                \
	make_call(f, words, pairs, touches, 0, 0##n & 1);        \
	make_call(f, words, pairs, touches, 1, 0##n & 2);        \
	make_call(f, words, pairs, touches, 2, 0##n & 4);        \
	make_call(f, words, pairs, touches, 3, 0##n & 010);      \
	make_call(f, words, pairs, touches, 4, 0##n & 020);      \
	make_call(f, words, pairs, touches, 5, 0##n & 040);      \
	words += step;                                           \
	goto *code;

/*
 * Define a function that makes the calls of consecutive groups, and returns the
 * address of the first word after them.
 */
#define DEFINE_RUN(name, is_pairs, is_touching)                      \
	static __attribute__((noinline)) const uint64_t *name(       \
		const struct fast f, const uint64_t *words)          \
	{                                                            \
		static const void *const codes[256] = {              \
			EACH_64(LABEL)[64 ... 255] = &&end           \
		};                                                   \
		enum {                                               \
			pairs = is_pairs,                            \
			touches = is_touching                        \
		};                                                   \
		enum {                                               \
			step = pairs ? GROUP_CALLS / 2 : GROUP_CALLS \
		};                                                   \
		const void *code = codes[frees_of(words, pairs)];    \
                                                                     \
		goto *code;                                          \
		EACH_64(CALLS)                                       \
	end:                                                         \
		return words;                                        \
	}

DEFINE_RUN(run_pairs, true, false)
DEFINE_RUN(run_lones, false, false)
DEFINE_RUN(touch_pairs, true, true)
DEFINE_RUN(touch_lones, false, true)

/* Make the calls of one word without WORD_SLOW. */
static always_inline void
run_word(const struct fast f, const uint64_t *word, bool touches)
{
	const bool is_pair = (*word & WORD_LONE) == 0;

	make_call(f, word, is_pair, touches, 0, *word & 1);
	if (is_pair)
		make_call(f, word, true, touches, 1, *word & 2);
}

static always_inline const uint64_t *
run(const struct fast f, const uint64_t *next, bool touches)
{
	for (;; next++) {
		if (frees_of(next, true) < 64)
			next = touches ? touch_pairs(f, next)
				       : run_pairs(f, next);
		if (frees_of(next, false) < 64)
			next = touches ? touch_lones(f, next)
				       : run_lones(f, next);
		if ((*next & WORD_SLOW) != 0)
			return next;
		run_word(f, next, touches);
	}
}

const uint64_t *
lane_fast_run(struct lane *lane, const uint64_t *next)
{
	const struct lanes *const all = lane->all;
	const struct fast f = { lane, lane->place, &all->calls, all->blocks };

	return all->touch_nbytes != 0 ? run(f, next, true)
				      : run(f, next, false);
}
