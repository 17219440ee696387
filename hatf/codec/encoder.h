/* SPDX-License-Identifier: MIT */
/*
 * encoder.h - encode records as the bytes of one block
 *
 * An encoder writes HATF 1.0 into the caller's buffer: data records, the
 * metadata that a planner (place.h) puts between them, and the comments that
 * frame a block.  The recorder and hatf_writer share it.
 *
 * Records wait in the span until it is full, or until encoder_flush() or
 * encoder_end() empties it.  Until then 'used' does not include them.
 *
 * The encoder runs inside traced programs, in a thread without libc state of
 * its own.  So neither this file nor the files that it calls (layout, place,
 * comment_text, attr) allocate, lock, use stdio or locale, make a system call
 * or touch errno.  An encoder has one owner, who serialises all calls.
 *
 * Invariant: [buf, buf + used) is a legal HATF stream that depends on no
 * earlier byte, except that encoder_end() fills in the "bytes=" of the block
 * comment; and the buffer has room for the records of the span.
 */
#ifndef HATF_ENCODER_H
#define HATF_ENCODER_H

#include "hatf/codec/bytes.h"
#include "hatf/codec/comment_text.h"
#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/codec/stack_column.h"
#include "hatf/hatf.h"

/*
 * The most bytes of one record with the metadata before it: two records that
 * set the interpretation (20 + 4) and one that sets the fieldSize (4) for each
 * of six fields, the record itself (1 + 6 * 8), and 2 + 65535 bytes of
 * attributes.
 */
#define ENCODER_RECORD_MAX_NBYTES (ENCODER_RECORD_NBYTES + 65535)
#define ENCODER_RECORD_NBYTES	  (6 * 28 + 49 + 2)

/* The most bytes of the comment of a column of stacks: tag, length, text. */
#define ENCODER_COLUMN_NBYTES (3 + STACK_COLUMN_MAX)

struct encoder {
	uint8_t *buf; /* the caller's; one block */
	size_t cap, used;
	/* Offsets in 'buf' of the block and of the digits of its "bytes=";
	 * 'length_off' is 0 if there is no block. */
	size_t block_off, length_off;
	struct layout layout; /* as of 'used' */
	struct place_planner planner;
	struct place place; /* context of the default planner */
	bool restart;	    /* the block has no metadata yet */
	bool is_fast;	    /* see encoder_set_fast() */
	/* Set by the caller: each block ends with its sum (FORMAT "Sums"). */
	bool has_sums;
	/* Offset in 'buf' of the digits of the sum; 0: no sum yet. */
	size_t sum_off;
	/* The span and its arrays, in the caller's memory. */
	struct hatf_record *span;
	struct place_change *changes;
	uint8_t *texts; /* the attributes and comments of the span */
	size_t pending, pending_max; /* records in the span; its capacity */
	size_t texts_used;
	size_t at_once_max; /* fast mode: write at once while 'used' is less */
	struct stack_column *column; /* the caller's; NULL: none */
	size_t column_off;	     /* in 'buf': where its comment will be */
	bool is_plain_slow;	/* fast mode, or the column takes the records */
	uint64_t stream_nbytes; /* bytes of all blocks before this buffer */
	uint64_t block_count;	/* blocks begun */
	uint64_t record_count[HATF_TAG_COUNT]; /* by tag, metadata too */
	uint64_t count_before[HATF_TAG_COUNT]; /* the same before this block */
};

/*
 * Return the bytes of memory that the span of a planner (NULL: the default,
 * place_span()) needs beside the buffer, and the bytes of the buffer that it
 * needs beyond the length at which the caller ends a block: room for the
 * records of the span, and one more.
 */
size_t encoder_memory_nbytes(const struct place_planner *planner);
size_t encoder_room_nbytes(const struct place_planner *planner);

/*
 * Start with an empty buffer.  'buf' (of 'cap' bytes) and 'memory' stay the
 * caller's; 'memory' has encoder_memory_nbytes(planner) bytes and the alignment
 * of malloc().  Copy '*planner'.  The encoder must not be moved afterwards.
 */
void encoder_init(struct encoder *e, uint8_t *buf, size_t cap,
		  const struct place_planner *planner, void *memory);

/*
 * Put the stacks of the records into 'column' as far as possible, not into the
 * attributes.  It stays the caller's, and is all 0.  The buffer needs
 * ENCODER_COLUMN_NBYTES more; without room, stacks stay in the attributes.
 * Only for a stream with block comments.
 */
void encoder_use_column(struct encoder *e, struct stack_column *column);

/*
 * Append a comment of 'nbytes' bytes, before a block has begun (the header) or
 * inside one.  Return false and write nothing if it does not fit, or if
 * 'nbytes' is above 65535.
 */
bool encoder_comment(struct encoder *e, const char *text, size_t nbytes);

/*
 * Append the trailer.  'text' has its lines, and room for the line of the sum,
 * which is added if there are sums.  The span must be empty, and the next
 * call must be encoder_end().  Return false if the trailer does not fit.
 */
bool encoder_trailer(struct encoder *e, struct text *text);

/*
 * Begin a block with its comment (FORMAT "Trace blocks") and metadata for every
 * field.  'event' is the number of the first logical event in it, 'time' its
 * start time in the trace's unit.  The buffer must be empty or have comments
 * only, and have room for a record.
 */
void encoder_begin(struct encoder *e, uint64_t event, uint64_t time);

/* Begin a block without a comment, for a stream without block comments. */
void encoder_begin_bare(struct encoder *e);

/*
 * Append a record with the metadata that it needs; copy its attributes.  Return
 * false and write nothing if there is no room for it, or if HATF cannot express
 * the record (tag above 10, attributes of more than 65535 bytes).
 */
bool encoder_put(struct encoder *e, const struct hatf_record *rec);

/*
 * encoder_put_plain() is like encoder_put(), but for an alloc or free of heap 0
 * without attributes.  It takes the fields as arguments, not in a record:
 * loading a record directly after storing it would take longer than all the
 * rest. encoder_put_plain_slow() is its slow path.
 */
bool encoder_put_plain_slow(struct encoder *e, uint8_t tag, uint64_t size,
			    uint64_t address, uint64_t thread, uint64_t time);

static inline bool
encoder_put_plain(struct encoder *e, uint8_t tag, uint64_t size,
		  uint64_t address, uint64_t thread, uint64_t time)
{
	struct hatf_record *const r = &e->span[e->pending];

	if (__builtin_expect(e->is_plain_slow || e->pending >= e->pending_max,
			     0))
		return encoder_put_plain_slow(e, tag, size, address, thread,
					      time);
	r->tag = tag;
	r->attributes_nbytes = 0;
	r->attributes = e->texts;
	r->size = size;
	r->address = address;
	r->old_address = 0;
	r->time = time;
	r->thread = thread;
	r->heap = 0;
	e->pending++;
	e->record_count[tag]++;
	return true;
}

/*
 * A run is several plain records of one thread and time in fast mode; what they
 * have in common is computed once.  Between encoder_begin_run() and
 * encoder_end_run() the caller may only call encoder_run_put().
 */
struct encoder_run {
	uint8_t *next, *end; /* in the buffer; all records begin before 'end' */
	struct layout_field size, address;
	uint8_t tail[8]; /* the bytes of each record after its address */
	size_t tail_nbytes;
	uint64_t count[2]; /* by tag */
};

/*
 * Begin a run.  Return false if the encoder is not in fast mode, the span is
 * not empty, or the layout does not fit the thread and time.
 */
bool encoder_begin_run(struct encoder *e, uint64_t thread, uint64_t time,
		       struct encoder_run *run_ret);

/*
 * Append a plain record.  Return false and write nothing if it does not fit the
 * layout, or if there is no room.
 */
static inline bool
encoder_run_put(struct encoder_run *run, unsigned tag, uint64_t size,
		uint64_t address)
{
	const unsigned size_nbytes = run->size.nbytes & (tag - 1u);
	uint8_t *p = run->next;

	if (p >= run->end || !layout_fits(&run->address, address) ||
	    (tag == HATF_ALLOC && !layout_fits(&run->size, size)))
		return false;
	*p++ = (uint8_t)tag;
	put_be64(p, layout_raw(&run->size, size)
			    << ((0u - 8 * run->size.nbytes) & 63));
	p += size_nbytes;
	put_be64(p, layout_raw(&run->address, address)
			    << ((0u - 8 * run->address.nbytes) & 63));
	p += run->address.nbytes;
	memcpy(p, run->tail, sizeof(run->tail));
	run->next = p + run->tail_nbytes;
	run->count[tag]++;
	return true;
}

/* End the run and count its records. */
void encoder_end_run(struct encoder *e, const struct encoder_run *run);

/* Return the number of records that can be put before the span is full. */
static inline size_t
encoder_span_left(const struct encoder *e)
{
	return e->pending < e->pending_max ? e->pending_max - e->pending : 0;
}

/*
 * Turn fast mode on or off.  Fast mode saves time at the cost of bytes: a
 * record that fits the layout is written at once, and place_fast() plans
 * layouts that nearly all records fit.  Only for an encoder with the default
 * planner.
 */
void encoder_set_fast(struct encoder *e, bool is_fast);

/*
 * Should the caller end the block, if blocks have about 'block_nbytes' bytes?
 */
bool encoder_is_full(const struct encoder *e, size_t block_nbytes);

/* Write the records of the span. */
void encoder_flush(struct encoder *e);

/*
 * Empty the span, and put the comment of the column of stacks in front of the
 * records that it is about.  Return how many comments that is: 0 or 1.  The
 * caller needs this only to know the length of the block before its trailer.
 */
unsigned encoder_end_column(struct encoder *e);

/*
 * End the block: do as encoder_end_column(), append the comment with the sum if
 * there are sums and no trailer has it, and fill in "bytes=".  The block is
 * e->buf[0, e->used).  Return how many comments were added: 0 to 2.
 * encoder_reset() then empties the buffer for the next block.
 */
unsigned encoder_end(struct encoder *e);
void encoder_reset(struct encoder *e);

/*
 * Discard the block that was begun last, ended or not, and restore the counts
 * before it.  Only discard the first block if no other block will follow.
 */
void encoder_cancel(struct encoder *e);

/* Return the number of data records (tags 0 to 10), including the span. */
uint64_t encoder_data_records(const struct encoder *e);

#endif /* HATF_ENCODER_H */
