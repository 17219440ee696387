/* SPDX-License-Identifier: MIT */
/*
 * replay_words.h - the file of a compiled trace, which drives an allocator
 *
 * The file contains streams of words.  Each thread of the replay runs one
 * stream.  When a thread has ended, a new thread may go on with the same
 * stream.  Each thread that runs a stream is a life of this stream.
 *
 * The file consists of chunks.  A stream lies in chunks of its own; the last
 * word of a full chunk is WORD_NEXT.  After the streams come the index (a
 * 'struct replay_stream' for each stream), and a list of the numbers of all
 * streams' chunks.  The first chunk has the header:
 *
 *	| header | chunk of stream 0 | chunk of stream 1 | ... | index | list |
 *
 * A pair is a word with two calls, each a free or a malloc of 1 to 2047 bytes.
 * As long as all slot numbers fit in 17 bits, most words are pairs:
 *
 *	bits 0-1	WORD_FREES: bit 0 if the first call is a free, bit 1 if
 *			the second one is
 *	bits 4-5	WORD_HANDS, WORD_HANDS_SECOND
 *	bit 6		0
 *	bit 7		WORD_SLOW: WORD_HANDS or WORD_HANDS_SECOND is set
 *	bits 8-29	two sizes of 11 bits each; 0 for a free
 *	bits 30-63	two slots of 17 bits each
 *
 * Every other word is WORD_LONE, with one call or none:
 *
 *	bits 0-3	kind
 *	bit 4		WORD_HANDS: the slot's next call is in another stream
 *	bit 5		WORD_WAITS: the slot's previous call is in another
 *			stream
 *	bit 6		WORD_LONE
 *	bit 7		WORD_SLOW: clear for a free, and for a malloc of 1 byte
 *			to a page, without WORD_HANDS and WORD_WAITS; otherwise
 *			set
 *	bits 8-31	size in bytes; WORD_BIG_SIZE: the next word is the size
 *	bits 32-59	slot of the block; for WORD_CREATE, number of the new
 *			thread's stream; for WORD_BEGIN, number of streams
 *	bit 60		WORD_OLD: a realloc; the old size is a page or more
 *	bits 8-63	of WORD_PAUSE: the time
 *
 * Words may follow a lone word, in this order: the size; the alignment of
 * WORD_MEMALIGN, the life of WORD_CREATE, or the ID of WORD_THREAD; the old
 * size of WORD_OLD; and the turn that WORD_WAITS waits for.  All these words
 * are in one chunk.
 *
 * Pairs exist because the driver reads a call in a pair in half the time of a
 * lone word, and reading is a good part of the driver's own cost.  The two
 * calls of a pair are at fixed bits, so the driver can read the second call
 * without a branch that depends on the first one.
 *
 * Slots: a block's address is in a slot while the block lives.  There are about
 * as many slots as live blocks at the peak (see slots.h).  A slot has a turn,
 * which is the number of times that its calls changed from one stream to
 * another.  At each change, the thread that makes the last call before the
 * change increments the turn after this call.  The thread that makes the first
 * call after the change first waits for the new turn.
 *
 * No deadlock is possible, because each call waits only for calls that come
 * before it in the trace: the earlier calls in its stream, and the previous
 * call of its slot.  WORD_CREATE waits for the end of the stream's previous
 * life, which also comes before it in the trace.  Of all calls that are not
 * done yet, the first one in the trace waits for no other call.  WORD_BEGIN
 * occurs once in each stream that exists when the window of --from and --to
 * begins.  No word before WORD_BEGIN waits for another thread, so all of these
 * streams reach WORD_BEGIN.
 */
#ifndef REPLAY_WORDS_H
#define REPLAY_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define REPLAY_CHUNK_NBYTES ((uint64_t)65536)
#define REPLAY_CHUNK_WORDS  (REPLAY_CHUNK_NBYTES / sizeof(uint64_t))

/* Upper bound of the number of words of one call. */
#define WORDS_MAX 5

enum word_kind {
	/*
	 * These kinds are not calls; their words have all bits of WORD_CONTROL.
	 */
	WORD_END, /* the stream ends; its thread outlives the trace */
	WORD_NEXT,
	WORD_CREATE, /* start the next life of a stream */
	WORD_EXIT,   /* the thread ends */
	/* wait until the time in the word, in ns since the measures began */
	WORD_PAUSE,
	/*
	 * the window of --from begins; wait until as many streams as the word
	 * states have reached WORD_BEGIN
	 */
	WORD_BEGIN,
	WORD_THREAD, /* a life begins; the next word is the thread's ID */
	WORD_MALLOC = 8,
	WORD_CALLOC,
	WORD_MEMALIGN,
	WORD_REALLOC,
	WORD_REALLOC_NULL, /* realloc(NULL, size) */
	WORD_FREE,
};

#define WORD_KIND_MASK	15u
#define WORD_HANDS	16u
#define WORD_WAITS	32u
#define WORD_LONE	64u
#define WORD_SLOW	128u
#define WORD_TIME_SHIFT 8
#define WORD_SIZE_SHIFT 8
#define WORD_BIG_SIZE	(((uint64_t)1 << 24) - 1)
#define WORD_SLOT_SHIFT 32
#define WORD_SLOT_MAX	(((uint64_t)1 << 28) - 1)
#define WORD_OLD	((uint64_t)1 << 60)

/* The flags of words that are not calls. */
#define WORD_CONTROL (WORD_LONE | WORD_SLOW)

/* Flags and limits of pairs. */
#define WORD_FREES	  3u
#define WORD_HANDS_SECOND 32u
#define PAIR_SIZE_MAX	  2047u
#define PAIR_SLOT_MAX	  ((1u << 17) - 1)

/*
 * Return the slot of a lone word; for WORD_CREATE, the number of the stream;
 * for WORD_BEGIN, the number of streams.
 */
static inline uint32_t
word_slot(uint64_t word)
{
	return (uint32_t)(word >> WORD_SLOT_SHIFT & WORD_SLOT_MAX);
}

/* Return the size of a lone word, which may be WORD_BIG_SIZE. */
static inline uint32_t
word_size(uint64_t word)
{
	return (uint32_t)word >> WORD_SIZE_SHIFT;
}

/* Is a lone word a call? */
static inline bool
word_is_call(uint64_t word)
{
	return (word & WORD_MALLOC) != 0;
}

/* Is the first call of a pair (idx 0), or the second one (idx 1), a free? */
static inline bool
pair_is_free(uint64_t word, unsigned idx)
{
	return (word >> idx & 1) != 0;
}

static inline uint32_t
pair_slot(uint64_t word, unsigned idx)
{
	return (uint32_t)(word >> (30 + 17 * idx)) & PAIR_SLOT_MAX;
}

static inline uint32_t
pair_size(uint64_t word, unsigned idx)
{
	return ((uint32_t)word >> (8 + 11 * idx)) & PAIR_SIZE_MAX;
}

/* Can the call of a lone word be in a pair? */
static inline bool
word_fits_pair(uint64_t word)
{
	return (word & WORD_SLOW) == 0 && word_size(word) <= PAIR_SIZE_MAX &&
	       word_slot(word) <= PAIR_SLOT_MAX;
}

/* Return the pair of two calls for which word_fits_pair() is true. */
static inline uint64_t
word_pair(uint64_t first, uint64_t second)
{
	return (first & 1) | (second & 1) << 1 |
	       (uint64_t)word_size(first) << 8 |
	       (uint64_t)word_size(second) << 19 |
	       (uint64_t)word_slot(first) << 30 |
	       (uint64_t)word_slot(second) << 47;
}

/* Return a call of a pair as a lone word. */
static inline uint64_t
word_of_pair(uint64_t word, unsigned idx)
{
	const unsigned kind = pair_is_free(word, idx) ? WORD_FREE : WORD_MALLOC;

	return kind | (word >> idx & WORD_HANDS) | WORD_CONTROL |
	       (uint64_t)pair_size(word, idx) << WORD_SIZE_SHIFT |
	       (uint64_t)pair_slot(word, idx) << WORD_SLOT_SHIFT;
}

_Static_assert((WORD_FREE & 1) != 0 && (WORD_MALLOC & 1) == 0,
	       "bit 0 must distinguish frees from mallocs");

/* Page size for a replay's writes, independent of the system's page size. */
#define REPLAY_PAGE_NBYTES 4096u

/* Maximum number of threads that live at the same time. */
#define REPLAY_THREADS_MAX 4096

/*
 * Maximum number of threads that a replay starts in all, unless the user allows
 * more.  Starting a thread takes some 10 us, so a million threads would take
 * 10 s in each run.
 */
#define REPLAY_STARTS_MAX 100000

struct replay_header {
	uint64_t slot_count, stream_count;
	uint64_t index_chunk; /* number of the chunk where the index begins */
	/* length of the list of chunk numbers of all streams */
	uint64_t number_count;
	/*
	 * number of threads that live when the trace ends, except the initial
	 * thread
	 */
	uint64_t parked_count;
};

struct replay_stream {
	/* The stream's chunks, as a range in the list of chunk numbers. */
	uint32_t chunk_first, chunk_count;
	/*
	 * number of threads that are created to run the stream; 0 for stream 0
	 */
	uint32_t lives;
	uint32_t is_live; /* the stream's last thread outlives the trace */
};

#endif /* REPLAY_WORDS_H */
