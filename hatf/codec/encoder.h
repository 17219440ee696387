/* SPDX-License-Identifier: MIT */
/*
 * encoder.h - records into the bytes of one block
 *
 * Turns records into HATF 1.0 bytes in a buffer of the caller's: data records,
 * the metadata that a planner (place.h) asks for between them, and the comments
 * that frame a block.  It is what the recorder and hatf_writer share.
 *
 * Records are held back in a window until there are as many as the planner
 * wants to see, or somebody wants the bytes: 'used' lags behind encoder_put(),
 * and is right after encoder_flush() and encoder_end().
 *
 * It runs inside traced programs, in a thread that has no libc state of its
 * own: nothing in here or below it (layout, place, text, attr) allocates,
 * locks, uses stdio or locale, makes a system call or touches errno.
 *
 * Invariant: [buf, buf + used) is a legal HATF stream that needs no earlier
 * byte, except that the "bytes=" of its block comment is filled in by
 * encoder_end(); and what is in the window has room behind it.
 */
#ifndef HATF_ENCODER_H
#define HATF_ENCODER_H

#include "hatf/codec/bytes.h"
#include "hatf/codec/comment_text.h"
#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/hatf.h"

/*
 * The most that one record can take with the metadata before it: two set
 * interpretations (20 + 4) and a set fieldSize (4) for each of six fields, the
 * record itself (1 + 6 * 8 bytes), and 2 + 65535 bytes of attributes.
 */
#define ENCODER_RECORD_MAX_NBYTES (ENCODER_RECORD_NBYTES + 65535)
#define ENCODER_RECORD_NBYTES	  (6 * 28 + 49 + 2)

struct encoder {
	uint8_t *buf; /* the caller's; one block */
	size_t cap, used;
	/* In 'buf': the block, and its "bytes="; 0: there is no block. */
	size_t block_off, length_off;
	struct layout layout; /* after 'used' */
	struct place_planner planner;
	struct place place; /* of the planner that is there without asking */
	bool restart;	    /* the block has no metadata yet */
	bool in_haste;	    /* see encoder_hasten() */
	/* Set by the caller: each block ends with its sum (FORMAT "Sums"). */
	bool has_sums;
	/* In 'buf': the digits of the sum; 0: there is none yet. */
	size_t sum_off;
	/* The window: in the caller's memory, like what it needs. */
	struct hatf_record *window;
	struct place_change *changes;
	uint8_t *texts; /* the attributes and comments of the window */
	size_t pending, pending_max, texts_used;
	size_t at_once_max; /* of 'used', when a record need not wait there */
	uint64_t stream_nbytes; /* that encoder_reset() took from the buffer */
	uint64_t block_count;	/* that have been begun */
	uint64_t record_count[HATF_TAG_COUNT]; /* by tag, metadata too */
	uint64_t count_before[HATF_TAG_COUNT]; /* without this block */
};

/*
 * What the caller gives for a planner's window (NULL: place_window()): memory
 * beside the buffer, and room in it beyond what a block should have when it is
 * ended, for the records that were not in 'used' yet, and one.
 */
size_t encoder_memory_nbytes(const struct place_planner *planner);
size_t encoder_room_nbytes(const struct place_planner *planner);

/*
 * Start with an empty buffer.  It stays the caller's, and so does 'memory':
 * encoder_memory_nbytes(planner), aligned as malloc() does.  '*planner' is copied.  The
 * encoder must not be moved after that.
 */
void encoder_init(struct encoder *e, uint8_t *buf, size_t cap,
		  const struct place_planner *planner, void *memory);

/*
 * Append a comment before a block has begun or inside one: the header, a note.
 * 'nbytes' is at most 65535.  Returns false and writes nothing if it does not
 * fit.
 */
bool encoder_comment(struct encoder *e, const char *text, size_t nbytes);

/*
 * Append the trailer.  'text' has its lines, and room for the line of the sum,
 * which is added if there are sums.  The window must be empty, and the next
 * call must be encoder_end().
 */
bool encoder_trailer(struct encoder *e, struct text *text);

/*
 * Begin a block: its comment (FORMAT "Trace blocks"; 'event' is the number of
 * the first logical event in it, 'time' the start time) and metadata for every
 * field.  The buffer must be empty or hold comments only, and have room for a
 * record.
 */
void encoder_begin(struct encoder *e, uint64_t event, uint64_t time);

/* The metadata alone, for a stream that is to have no block comments. */
void encoder_place(struct encoder *e);

/*
 * Append a record with the metadata that it needs; its attributes are copied.
 * Returns false and writes nothing if there is no room for it, or if HATF
 * cannot express the record (tag above 10, attributes over 65535 bytes).
 */
bool encoder_put(struct encoder *e, const struct hatf_record *rec);

/*
 * Like encoder_put(), but for an alloc or free of heap 0 without attributes, and
 * without a record: copying one that has only just been stored takes longer than all of
 * this.
 */
bool encoder_put_late(struct encoder *e, uint8_t tag, uint64_t size,
		      uint64_t address, uint64_t thread, uint64_t time);

static inline bool
encoder_put_plain(struct encoder *e, uint8_t tag, uint64_t size,
		  uint64_t address, uint64_t thread, uint64_t time)
{
	struct hatf_record *const r = &e->window[e->pending];

	if (__builtin_expect(e->in_haste || e->pending >= e->pending_max, 0))
		return encoder_put_late(e, tag, size, address, thread, time);
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
 * In haste: several such records of one thread and time, with what they have in common
 * looked up once.  Between encoder_begin_run() and encoder_end_run() nothing else may
 * be done with the encoder.
 */
struct encoder_run {
	uint8_t *next, *end; /* in the buffer; no record begins behind 'end' */
	struct layout_field size, address;
	uint8_t tail[8]; /* what each record has behind its address */
	size_t tail_nbytes;
	uint64_t count[2]; /* by tag */
};

/* False: there is no haste, or a record cannot be written at once as things are. */
bool encoder_begin_run(struct encoder *e, uint64_t thread, uint64_t time,
		       struct encoder_run *run_ret);

/* False and nothing is written if the record does not fit, or there is no room. */
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

void encoder_end_run(struct encoder *e, const struct encoder_run *run);

/* How many records can be put before the window is full? */
static inline size_t
encoder_window_left(const struct encoder *e)
{
	return e->pending < e->pending_max ? e->pending_max - e->pending : 0;
}

/*
 * From here on, or no longer, spare time rather than bytes: what fits the layout is
 * written at once, and place_wide() makes layouts that nearly everything fits.  Only
 * for an encoder without a planner of the caller's.
 */
void encoder_hasten(struct encoder *e, bool in_haste);

/* Should the block end, if it is to have about 'block_nbytes'? */
bool encoder_is_full(const struct encoder *e, size_t block_nbytes);

/* Empty the window. */
void encoder_flush(struct encoder *e);

/*
 * End the block: empty the window, append the comment with the sum if there are
 * sums and no trailer has it, and fill in "bytes=".  The bytes are e->buf[0,
 * e->used).  encoder_reset() then empties the buffer for the next block.
 * Returns how many records were appended: 0 or 1.
 */
unsigned encoder_end(struct encoder *e);
void encoder_reset(struct encoder *e);

/*
 * Instead: forget the block that was begun last, ended or not, as if it had not been.
 * It may be the first one only if there is to be none.
 */
void encoder_cancel(struct encoder *e);

/* Data records so far (tags 0 to 10), with those in the window. */
uint64_t encoder_data_records(const struct encoder *e);

#endif /* HATF_ENCODER_H */
