/* SPDX-License-Identifier: MIT */
/*
 * replay_words.h - the file of a compiled trace, which drives an allocator
 *
 * A file of chunks.  Each thread has a stream of words, which lies in chunks of
 * its own; the last word of a full chunk is WORD_NEXT.  After the streams come
 * the index (a 'struct replay_stream' for each) and the numbers of all streams'
 * chunks.  The first chunk has the header:
 *
 *	| header | chunk of 0 | chunk of 1 | ... | index | numbers |
 *
 * A word is a call:
 *
 *	bits 0-3	kind
 *	bit 4		WORD_HANDS: the slot's next call is another thread's
 *	bit 5		WORD_WAITS: the slot's last call was another thread's
 *	bit 6		WORD_OLD: a realloc of a block of a page or more
 *	bit 7		WORD_SLOW: all but malloc and free of one word without
 *			the bits above, which most words are
 *	bits 8-35	slot of the block, or number of the thread's stream
 *	bits 36-63	size in bytes; WORD_BIG_SIZE: it is in the next word
 *
 * Words may follow it, in this order: its size; the alignment of WORD_MEMALIGN,
 * the life of WORD_CREATE, or the ID of WORD_THREAD; the old size of WORD_OLD;
 * and the turn that WORD_WAITS waits for.  All these words are in one chunk.
 *
 * Words have a fixed width, because the reader then has no branch that depends
 * on the width: variable widths would save a third of the bytes, but the file
 * is read from start to end, at far less than a nanosecond a word.
 *
 * Slots: a block's address is in a slot while the block lives.  The number of
 * slots is that of the live blocks at the peak, and a constant for each thread.
 * A slot has a turn, which is the number of times that its calls changed from
 * one thread to another.  The first thread increments the turn after its call;
 * the other one waits for that turn before its own call.
 *
 * No deadlock: each call waits only for calls that come before it in the trace:
 * the earlier ones in its stream, the last one of its slot, and for WORD_CREATE
 * the end of the stream's last life.  Of all calls that are not done yet, the
 * first in the trace waits for none.  WORD_BEGIN occurs once in each stream
 * that exists then, and no word before it waits for another thread.
 */
#ifndef REPLAY_WORDS_H
#define REPLAY_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define REPLAY_CHUNK_NBYTES ((uint64_t)65536)
#define REPLAY_CHUNK_WORDS  (REPLAY_CHUNK_NBYTES / sizeof(uint64_t))

/* Maximum number of words of one call. */
#define WORDS_MAX 5

enum word_kind {
	/* These kinds are not calls; their words have WORD_SLOW, too. */
	WORD_END, /* the stream ends, the thread does not */
	WORD_NEXT,
	WORD_CREATE, /* start the next life of a stream */
	WORD_EXIT,   /* the thread ends */
	WORD_PAUSE,  /* wait until this time, in ns from the start (<< 8) */
	WORD_BEGIN,  /* the window begins: wait for this number of streams */
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
#define WORD_OLD	64u
#define WORD_SLOW	128u
#define WORD_SLOT_SHIFT 8
#define WORD_SLOT_MAX	(((uint64_t)1 << 28) - 1)
#define WORD_SIZE_SHIFT 36
#define WORD_BIG_SIZE	(((uint64_t)1 << 28) - 1)

static inline bool
word_is_call(uint64_t word)
{
	return (word & WORD_MALLOC) != 0;
}

/* Page size for a replay's writes, independent of the system's page size. */
#define REPLAY_PAGE_NBYTES 4096u

/* Threads that may live at the same time. */
#define REPLAY_THREADS_MAX 4096

struct replay_header {
	uint64_t slot_count, stream_count;
	uint64_t index_chunk;  /* number of the chunk where the index begins */
	uint64_t number_count; /* number of chunk numbers, for all streams */
	uint64_t parked_count; /* threads that live when the trace ends */
};

struct replay_stream {
	/* Range in the list of chunk numbers. */
	uint32_t chunk_first, chunk_count;
	uint32_t lives;	  /* threads that ran it, one after another */
	uint32_t is_live; /* its last thread lives when the trace ends */
};

#endif /* REPLAY_WORDS_H */
