/* SPDX-License-Identifier: MIT */
/*
 * encoder.h - encode records as the bytes of one block
 *
 * An encoder writes HATF 1.0 into the caller's buffer: data records, the
 * metadata that a planner (place.h) puts between them, and the comments that
 * frame a block.  The recorder and hatf_writer use this encoder.
 *
 * The encoder keeps records in its span, an array of records not yet written,
 * until the span has no room for the next record, or until encoder_flush(),
 * encoder_end_column() or encoder_end() writes them.  In fast mode, the encoder
 * writes most records at once, without the span (see put_at_once()).  'used'
 * does not include the records of the span.
 *
 * The encoder runs inside traced programs, in a thread without libc state of
 * its own.  So neither this file nor any other file of its folder allocates,
 * locks, uses stdio or locale, makes a system call or touches errno.  An
 * encoder has one owner, who serializes all calls.
 *
 * Invariants: [buf, buf + used) is a legal HATF stream.  If the caller begins a
 * block after each encoder_reset(), this stream can be decoded without the
 * earlier blocks.  The buffer always has room for the records of the span.
 * Three parts of a block are missing until encoder_end(): the comment with the
 * column of stacks, the number after "bytes=" in the block comment, and the
 * checksum.
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
 * Maximum length of one record with the metadata before it.  For each of six
 * fields, two metadata records may set the interpretation (20 + 4 bytes), and a
 * third one the fieldSize (4 bytes).  The record itself has 1 + 6 * 8 bytes for
 * its tag and numbers, and 2 + 65535 bytes for its attributes.
 */
#define ENCODER_RECORD_MAX_NBYTES (ENCODER_RECORD_NBYTES + 65535)
#define ENCODER_RECORD_NBYTES	  (6 * 28 + 49 + 2)

/*
 * Maximum length of the comment that contains a column of stacks: tag, length
 * and text.
 */
#define ENCODER_COLUMN_NBYTES (3 + STACK_COLUMN_MAX)

struct encoder {
	uint8_t *buf; /* the caller's memory for one block */
	size_t cap, used;
	/*
	 * Offsets in 'buf' of the block, and of the digits after "bytes=" in
	 * the block's comment; 'length_off' is 0 if there is no block comment.
	 */
	size_t block_off, length_off;
	struct layout layout; /* in effect for the next record */
	struct place_planner planner;
	/* the 'context' argument of the default planner */
	struct place place;
	/* the block is new: no metadata has been written in it */
	bool restart;
	bool is_fast; /* fast mode is on, see encoder_set_fast() */
	/*
	 * Set by the caller.  If true, each block that encoder_begin() begins
	 * has a checksum at its end (FORMAT "Sums").
	 */
	bool has_sums;
	/*
	 * Offset in 'buf' of the digits of the checksum; 0: the block has no
	 * line for a checksum yet.
	 */
	size_t sum_off;
	/*
	 * The span (records not yet written) and two arrays for it, in the
	 * caller's memory.
	 */
	struct hatf_record *span;
	struct place_change *changes;
	uint8_t *texts; /* the attributes and comments of the span */
	/* number of records in the span, and the capacity of the span */
	size_t pending, pending_max;
	size_t texts_used;
	/*
	 * In fast mode, a record may be written at once only while 'used' is
	 * less than this number.
	 */
	size_t at_once_max;
	struct stack_column *column; /* owned by the caller; NULL: none */
	/* offset in 'buf' where the comment with the column will be inserted */
	size_t column_off;
	/*
	 * encoder_put_plain() must take its slow path even if the span has room
	 */
	bool is_plain_slow;
	/*
	 * number of bytes of all earlier blocks, which are no longer in the
	 * buffer
	 */
	uint64_t stream_nbytes;
	/*
	 * number of blocks that encoder_begin() began, without the discarded
	 * ones
	 */
	uint64_t block_count;
	/*
	 * number of records by tag, including metadata and the records of the
	 * span
	 */
	uint64_t record_count[HATF_TAG_COUNT];
	/* 'record_count' at the start of this block. */
	uint64_t count_before[HATF_TAG_COUNT];
};

/*
 * encoder_memory_nbytes() returns how many bytes of memory an encoder with this
 * planner needs in addition to the buffer.  A caller ends a block as soon as it
 * has a certain length (encoder_is_full()).  The buffer must have
 * encoder_room_nbytes() bytes more than this length, for the records of the
 * span and one more record.  If 'planner' is NULL, both functions assume the
 * default, place_span().
 */
size_t encoder_memory_nbytes(const struct place_planner *planner);
size_t encoder_room_nbytes(const struct place_planner *planner);

/*
 * Start with an empty buffer.  The caller still owns 'buf' (of 'cap' bytes) and
 * 'memory', which has encoder_memory_nbytes(planner) bytes and the alignment of
 * malloc().  Copy '*planner'.  The encoder must not be moved afterwards.
 */
void encoder_init(struct encoder *e, uint8_t *buf, size_t cap,
		  const struct place_planner *planner, void *memory);

/*
 * From now on put the stacks of the records into 'column' where possible, and
 * not into the attributes.  The caller owns 'column', and must zero it first.
 * The buffer needs ENCODER_COLUMN_NBYTES bytes in addition to
 * encoder_room_nbytes(); without these bytes, stacks stay in the attributes.
 * Use this only for a stream with block comments.
 */
void encoder_use_column(struct encoder *e, struct stack_column *column);

/*
 * Append a comment of 'nbytes' bytes, before a block has begun (the header) or
 * inside a block.  Return false and do not append the comment if it does not
 * fit, or if 'nbytes' is above 65535.
 */
bool encoder_comment(struct encoder *e, const char *text, size_t nbytes);

/*
 * Append the trailer.  'text' contains the lines of the trailer, and must have
 * room for the line of the checksum; if 'has_sums' is set, the encoder adds
 * this line.  The span must be empty, and the next call must be encoder_end().
 * Return false if the trailer does not fit.
 */
bool encoder_trailer(struct encoder *e, struct text *text);

/*
 * Begin a block with its comment (FORMAT "Trace blocks") and metadata that sets
 * every field.  'event' is the number of the first logical event in the block,
 * 'time' the start time of the block in the trace's unit.  The buffer must be
 * empty or contain only comments, and must have room for a record.
 */
void encoder_begin(struct encoder *e, uint64_t event, uint64_t time);

/* Begin a block without a comment, for a stream without block comments. */
void encoder_begin_bare(struct encoder *e);

/*
 * Append a record with the metadata that it needs; copy its attributes.  Return
 * false and do not append the record if there is no room, if its tag is above
 * 10, or if it has more than 65535 bytes of attributes.
 */
bool encoder_put(struct encoder *e, const struct hatf_record *rec);

/*
 * encoder_put_plain() is like encoder_put(), but for an alloc or free of heap 0
 * without attributes.  It takes the fields as arguments, not in a record,
 * because loading a record directly after storing it would take longer than the
 * rest of the call.  Its slow path is encoder_put_plain_slow().
 */
bool encoder_put_plain_slow(struct encoder *e, uint8_t tag, uint64_t size,
			    uint64_t address, uint64_t thread, uint64_t time);

/*
 * Append a plain record (see encoder_put_plain()) to the span, which must have
 * room.
 */
static inline void
encoder_append_plain(struct encoder *e, uint8_t tag, uint64_t size,
		     uint64_t address, uint64_t thread, uint64_t time)
{
	struct hatf_record *const r = &e->span[e->pending];

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
}

static inline bool
encoder_put_plain(struct encoder *e, uint8_t tag, uint64_t size,
		  uint64_t address, uint64_t thread, uint64_t time)
{
	if (__builtin_expect(e->is_plain_slow || e->pending >= e->pending_max,
			     0))
		return encoder_put_plain_slow(e, tag, size, address, thread,
					      time);
	encoder_append_plain(e, tag, size, address, thread, time);
	return true;
}

/*
 * encoder_put_taken() is like encoder_put_plain(), but if a column is active,
 * the caller must already have added the stack of the record to the column.
 * Its slow path is encoder_put_taken_slow().
 */
bool encoder_put_taken_slow(struct encoder *e, uint8_t tag, uint64_t size,
			    uint64_t address, uint64_t thread, uint64_t time);

static inline bool
encoder_put_taken(struct encoder *e, uint8_t tag, uint64_t size,
		  uint64_t address, uint64_t thread, uint64_t time)
{
	if (__builtin_expect(e->is_fast || e->pending >= e->pending_max, 0))
		return encoder_put_taken_slow(e, tag, size, address, thread,
					      time);
	encoder_append_plain(e, tag, size, address, thread, time);
	return true;
}

/*
 * A run, which is possible only in fast mode, is several plain records with the
 * same thread and time.  The encoder computes only once what is the same in all
 * records of the run.  Between encoder_begin_run() and encoder_end_run() the
 * caller may call no other function of the encoder but encoder_run_put().
 */
struct encoder_run {
	/*
	 * The next record begins at 'next'.  There is room for it if 'next' is
	 * before 'end'.
	 */
	uint8_t *next, *end;
	struct layout_field size, address;
	/* The bytes of each record after its address, in memory order. */
	uint64_t tail;
	size_t tail_nbytes;
	/* number of records and number of frees in the run */
	uint64_t count, free_count;
};

/*
 * Begin a run of plain records with this thread and time.  A run can begin only
 * in fast mode, while the span is empty, after the first metadata of the block,
 * and if there is room.  The layout must suit the run, too: for example, the
 * thread and the time must fit the layout, and the layout must not store
 * addresses as differences.  Otherwise return false.  If a column is active,
 * the caller adds the stacks of the records to the column.
 */
bool encoder_begin_run(struct encoder *e, uint64_t thread, uint64_t time,
		       struct encoder_run *run_ret);

/*
 * Append a plain record.  Return false and write nothing if the record does not
 * fit the layout, or if there is no room.
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
	memcpy(p, &run->tail, sizeof(run->tail));
	run->next = p + run->tail_nbytes;
	run->count++;
	run->free_count += tag;
	return true;
}

/* End the run and count its records. */
void encoder_end_run(struct encoder *e, const struct encoder_run *run);

/* Return for how many records without attributes the span has room. */
static inline size_t
encoder_span_left(const struct encoder *e)
{
	return e->pending < e->pending_max ? e->pending_max - e->pending : 0;
}

/*
 * Turn fast mode on or off.  Fast mode saves time at the cost of bytes: most
 * records are written at once, either because they fit the layout or as rare
 * exceptions (place_exception()).  If exceptions become frequent, place_fast()
 * plans a layout that nearly all records fit.  Only for an encoder with the
 * default planner.
 */
void encoder_set_fast(struct encoder *e, bool is_fast);

/*
 * Should the caller end the block now?  Yes if 'used' is at least
 * 'block_nbytes', or if the column of stacks is nearly full.  If
 * 'is_span_block' of the planner is set, the answer is also yes if the span is
 * full, or if more than half of 'texts' is in use.
 */
bool encoder_is_full(const struct encoder *e, size_t block_nbytes);

/*
 * Write the records of the span to the buffer.  If the block is new, write its
 * metadata, even if the span is empty.
 */
void encoder_flush(struct encoder *e);

/*
 * Write the records of the span.  If a column of stacks is active, end the
 * column, and insert the comment with the column before the records whose
 * stacks are in the column.  Return the number of comments added: 0 or 1.  Call
 * this function before composing a trailer, because the trailer states how many
 * records and bytes precede it.
 */
unsigned encoder_end_column(struct encoder *e);

/*
 * End the block.  First do what encoder_end_column() does.  If blocks have
 * checksums, and no trailer contains the checksum of this block, append a
 * comment with the checksum.  Then fill in "bytes=" and the checksum.  The
 * block is e->buf[0, e->used).  Return how many comments were added: 0 to 2.
 * After that, encoder_reset() empties the buffer for the next block.
 */
unsigned encoder_end(struct encoder *e);
void encoder_reset(struct encoder *e);

/*
 * Discard the block that was begun last, whether it has ended or not: empty the
 * buffer, and set the record counts back to their values before that block.
 * The buffer of the first block also contains the header of the stream.  So the
 * caller may discard the first block only if it writes no other block
 * afterwards.
 */
void encoder_cancel(struct encoder *e);

/*
 * Return the number of data records (tags 0 to 10) so far, including those of
 * the span.
 */
uint64_t encoder_data_records(const struct encoder *e);

#endif /* HATF_ENCODER_H */
