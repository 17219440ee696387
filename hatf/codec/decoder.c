/* SPDX-License-Identifier: MIT */
/*
 * decoder.c - see decoder.h
 *
 * A record is
 *
 *	tag  numbers  [length]  variable part
 *	`------- fixed -------´ `-- extra --´
 *
 * The length of the fixed part depends on the tag and the layout only, so it is
 * kept in a table that each metadata record updates.  A number is fetched as 8
 * bytes and shifted, whatever its width: in our own traces the widths change so
 * often that the processor would mispredict a branch on the width.
 *
 * Nearly all of a trace is runs of heap records (tags 0 to 5) between metadata.
 * decode_run() and decode_plain_run() decode them without a branch that depends
 * on their contents, as long as no record can reach the end of the bytes.
 * decode_record() decodes all other records.  There, measure() does the bounds
 * check and the code after it reads unchecked; if fewer than FETCH_NBYTES are
 * left, the numbers of the record are first copied to a larger buffer.
 */
#include "hatf/codec/decoder.h"

#include "hatf/codec/hatf_record.h"

#include <assert.h>

/* Codes in 'extra_nbytes', not lengths: the position of the length. */
#define LENGTH_V1 0x10000u /* in the last byte of the fixed part */
#define LENGTH_V2 0x10001u /* in its last two bytes */

/* Tag, six numbers of 8 bytes, and 7 bytes that a fetch may read beyond. */
#define FETCH_NBYTES (1 + 6 * 8 + 7)

/* The longest record that decode_run() takes: with attributes of 'v1'. */
#define RUN_RECORD_NBYTES (1 + 6 * 8 + 1 + 255)
_Static_assert(RUN_RECORD_NBYTES >= FETCH_NBYTES,
	       "the bytes for fetching the last number are there");

/* The most records of a run; bounds the stack use of 'struct announcers'. */
#define RUN_MAX 1024

/* By tag: fixed bytes of a record per byte of the field's width. */
static const decoder_lengths width_uses[HATF_FIELD_COUNT] = {
	[HATF_FIELD_SIZE] = { 1, 0, 1, 1, 1, 1 },
	[HATF_FIELD_ADDRESS] = { 1, 1, 2, 2, 2, 2 },
	[HATF_FIELD_TIME] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	[HATF_FIELD_THREAD] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	[HATF_FIELD_HEAP] = { 1, 1, 1, 1, 1, 1, 1, 1 },
	/* The width of the length field of v1 and v2. */
	[HATF_FIELD_ATTRIBUTES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
};

/* Return the bytes that one use of a field adds to the fixed part. */
static unsigned
fixed_width(const struct layout *layout, unsigned field)
{
	const struct layout_field *const f = &layout->field[field];

	if (field != HATF_FIELD_ATTRIBUTES)
		return f->nbytes;
	return f->width == HATF_WIDTH_V1   ? 1
	       : f->width == HATF_WIDTH_V2 ? 2
					   : 0;
}

/* Is the field in a state that decode_plain_run() does not handle? */
static unsigned
is_unusual(const struct layout_field *f, unsigned field)
{
	switch (field) {
	case HATF_FIELD_SIZE:
		return f->follows && (f->nbytes != 0 || f->step != 0);
	case HATF_FIELD_ADDRESS:
	case HATF_FIELD_ATTRIBUTES:
		return false;
	default:
		return f->nbytes != 0 || (f->follows && f->step != 0);
	}
}

/*
 * Update the tables after a change of 'field'; 'before' is its old
 * fixed_width().
 */
static void
update_tables(struct decoder *d, unsigned field, unsigned before)
{
	const struct layout_field *const f = &d->layout.field[field];
	/* Modulo 256, like the sum: every fixed part is shorter. */
	const uint8_t more = (uint8_t)(fixed_width(&d->layout, field) - before);

	d->fixed_nbytes += width_uses[field] * more;
	d->unusual &= ~(1u << field);
	d->unusual |= is_unusual(f, field) << field;
	d->blank.time = d->layout.field[HATF_FIELD_TIME].origin;
	d->blank.thread = d->layout.field[HATF_FIELD_THREAD].origin;
	d->blank.heap = d->layout.field[HATF_FIELD_HEAP].origin;
	if (field == HATF_FIELD_ATTRIBUTES)
		d->extra_nbytes = f->width == HATF_WIDTH_V1   ? LENGTH_V1
				  : f->width == HATF_WIDTH_V2 ? LENGTH_V2
							      : f->nbytes;
}

void
decoder_init(struct decoder *d, bool want_metadata)
{
	*d = (struct decoder){ .want_metadata = want_metadata };
	layout_init(&d->layout);
	for (unsigned tag = 0; tag < HATF_COMMENT; tag++)
		d->fixed_nbytes[tag] = 1;
	d->fixed_nbytes[HATF_COMMENT] = 1 + 2;
	for (unsigned field = 0; field < HATF_FIELD_COUNT; field++)
		update_tables(d, field, 0);
}

/*
 * Return the length of the record at 'p', which is not metadata, or 0 if it is
 * longer than the 'left' bytes (at least 1).  '*extra_ret' is the length of its
 * variable part.  Compare lengths with the bytes left; never add them to a
 * position, since that could wrap.
 */
static inline size_t
measure(const struct decoder *d, const uint8_t *p, size_t left,
	size_t *extra_ret)
{
	const size_t fixed = d->fixed_nbytes[p[0]];
	size_t extra = p[0] == HATF_COMMENT ? LENGTH_V2 : d->extra_nbytes;

	if (fixed > left)
		return 0;
	if (extra == LENGTH_V1)
		extra = p[fixed - 1];
	else if (extra == LENGTH_V2)
		extra = get_be16(p + fixed - 2);
	if (extra > left - fixed)
		return 0;
	*extra_ret = extra;
	return fixed + extra;
}

/* Return the number at '*p', which is stored as 'f' says; move '*p' past it. */
static inline uint64_t
number(struct layout_field *f, const uint8_t **p)
{
	const unsigned nbytes = f->nbytes;
	/* For 0 bytes the shift is 0, and the mask clears the result. */
	const uint64_t raw = get_be64(*p) >> (-8u * nbytes & 63) & f->mask;
	const uint64_t value = layout_value(f, raw);

	*p += nbytes;
	layout_use(f, value);
	return value;
}

/* Decode the numbers after the tag at 'p'; FETCH_NBYTES must be readable. */
static inline __attribute__((always_inline)) void
decode_numbers(struct layout_field *f, const uint8_t *p,
	       struct hatf_record *rec)
{
	struct layout_field *const address = &f[HATF_FIELD_ADDRESS];
	const uint8_t *next = p + 1;

	switch (rec->tag) {
	case HATF_ALLOC:
		rec->size = number(&f[HATF_FIELD_SIZE], &next);
		rec->address = number(address, &next);
		break;
	case HATF_FREE:
		rec->address = number(address, &next);
		break;
	case HATF_REALLOC_NO_ALLOC:
	case HATF_REALLOC_ALLOC_FREE:
	case HATF_REALLOC_ALLOC:
	case HATF_REALLOC_FREE:
		rec->size = number(&f[HATF_FIELD_SIZE], &next);
		rec->old_address = number(address, &next);
		rec->address = number(address, &next);
		break;
	case HATF_CREATE_HEAP:
	case HATF_DESTROY_HEAP:
		rec->heap = number(&f[HATF_FIELD_HEAP], &next);
		break;
	default:
		break;
	}
	/* The diagrams put the heap of createHeap before the thread. */
	rec->thread = number(&f[HATF_FIELD_THREAD], &next);
	if (rec->tag <= HATF_REALLOC_FREE)
		rec->heap = number(&f[HATF_FIELD_HEAP], &next);
	rec->time = number(&f[HATF_FIELD_TIME], &next);
}

/* Like decode_numbers(), but read only 'left' bytes. */
static void
decode_last_numbers(struct layout_field *f, const uint8_t *p, size_t left,
		    struct hatf_record *rec)
{
	uint8_t copy[FETCH_NBYTES] = { 0 };

	memcpy(copy, p, left < sizeof(copy) ? left : sizeof(copy));
	decode_numbers(f, copy, rec);
}

/* Count the logical event of a record, unless a realloc has announced it. */
static inline void
count_event(struct decoder *d, const struct hatf_record *rec)
{
	const struct pairing *const pair = &d->pairing;

	if (d->event_count == 0 && hatf_record_is_carried(rec))
		return;
	if (rec->tag <= HATF_FREE && !pair->alloc_expected &&
	    !pair->free_expected)
		d->event_count++;
	else
		d->event_count +=
			pairing_role(&d->pairing, rec) == PAIRING_EVENT;
}

static bool
fail(struct decoder *d, enum hatf_status status, const char *field)
{
	d->stop = DECODER_BAD;
	d->status = status;
	d->field = field;
	return false;
}

static inline void
clear_metadata(struct hatf_record *rec)
{
	memset(&rec->metadata, 0, sizeof(rec->metadata));
}

/* Stop: the next record is not complete. */
static bool
want_more(struct decoder *d)
{
	d->stop = DECODER_MORE;
	return false;
}

/*
 * Apply the metadata record at '*next' and move '*next' past it.  If the user
 * of the decoder wants metadata, store it in 'rec'.  Return false as
 * decode_record() does.
 */
static bool
decode_metadata(struct decoder *d, const uint8_t **next, const uint8_t *end,
		struct hatf_record *rec)
{
	const uint8_t *const p = *next;
	const size_t left = (size_t)(end - p);
	struct hatf_metadata m;

	if (left < LAYOUT_METADATA_MIN_NBYTES)
		return want_more(d);

	const size_t nbytes = layout_metadata_nbytes(p);

	if (left < nbytes)
		return want_more(d);
	layout_get_metadata(p, &m);

	const unsigned before = m.field < HATF_FIELD_COUNT
					? fixed_width(&d->layout, m.field)
					: 0;
	const char *const illegal = layout_apply(&d->layout, &m);

	if (illegal != NULL)
		return fail(d, HATF_BAD_METADATA, illegal);
	update_tables(d, m.field, before);
	if (d->want_metadata) {
		hatf_record_clear(rec);
		rec->tag = HATF_METADATA;
		rec->offset = d->offset;
		rec->metadata = m;
	}
	d->tag_count[HATF_METADATA]++;
	d->offset += nbytes;
	*next = p + nbytes;
	return true;
}

/*
 * Decode the record at '*next', which is not metadata, into 'rec' and move
 * '*next' past it.  Set 'stop' and return false if it is truncated or bad.
 */
static bool
decode_record(struct decoder *d, const uint8_t **next, const uint8_t *end,
	      struct hatf_record *rec)
{
	const uint8_t *const p = *next;
	const size_t left = (size_t)(end - p);
	size_t extra;

	if (p[0] >= HATF_TAG_COUNT)
		return fail(d, HATF_BAD_TAG, "tag");

	const size_t nbytes = measure(d, p, left, &extra);

	if (nbytes == 0)
		return want_more(d);
	hatf_record_clear(rec);
	rec->tag = p[0];
	rec->offset = d->offset;
	if (extra != 0) {
		rec->attributes = p + (nbytes - extra);
		rec->attributes_nbytes = (uint32_t)extra;
	}
	if (p[0] == HATF_COMMENT)
		d->stop = DECODER_COMMENT;
	else if (left >= FETCH_NBYTES)
		decode_numbers(d->layout.field, p, rec);
	else
		decode_last_numbers(d->layout.field, p, left, rec);
	d->record_count++;
	d->tag_count[p[0]]++;
	count_event(d, rec);
	d->offset += nbytes;
	*next = p + nbytes;
	return true;
}

/* ---------------------------------------------------------------- runs */

/*
 * The state of a field during a run, in the form that needs the fewest
 * operations: a value is 'bias' + (raw ^ sign); a field that follows then adds
 * (raw ^ sign) + 'step' to 'bias'.
 */
struct lane {
	uint64_t bias; /* origin - sign */
	uint64_t sign;
	uint64_t mask;
	uint64_t step;	  /* the field's, less 'sign' */
	uint64_t follows; /* all ones or 0 */
	unsigned shift;
	unsigned nbytes;
};

static inline struct lane
lane_open(const struct layout_field *f)
{
	return (struct lane){
		.bias = f->origin - f->sign,
		.sign = f->sign,
		.mask = f->mask,
		.step = f->step - f->sign,
		.follows = 0 - (uint64_t)f->follows,
		.shift = -8u * f->nbytes & 63,
		.nbytes = f->nbytes,
	};
}

static inline void
lane_close(const struct lane *l, struct layout_field *f)
{
	f->origin = l->bias + l->sign;
}

/* Return the number at 'p' of a field that does not follow. */
static inline uint64_t
lane_value(const struct lane *l, const uint8_t *p)
{
	return l->bias + ((get_be64(p) >> l->shift & l->mask) ^ l->sign);
}

/* If 'there' is all ones, take the number at 'p'; if it is 0, return 0. */
static inline uint64_t
lane_take(struct lane *l, const uint8_t *p, uint64_t there)
{
	const uint64_t raw = (get_be64(p) >> l->shift & l->mask) ^ l->sign;
	const uint64_t value = l->bias + raw;

	l->bias += (raw + l->step) & l->follows & there;
	return value & there;
}

/*
 * The indices of the records of a run that announce others, in order.  Without
 * them, each record would be one event.
 */
struct announcers {
	size_t count;
	uint16_t idx[RUN_MAX];
};

/* Count record 'n' of a run, a realloc; store 'n' if it announces others. */
static inline void
note_realloc(struct decoder *d, unsigned tag, size_t n, struct announcers *a)
{
	a->idx[a->count] = (uint16_t)n;
	a->count += tag > HATF_REALLOC_NO_ALLOC;
	d->tag_count[tag]++;
}

/* The state of a run, as a local so that the compiler can use registers. */
struct run {
	struct lane size, address, thread, heap, time;
	size_t sized_count;   /* records with a size: all tags but 1 */
	size_t realloc_count; /* tags 2 to 5 */
};

static inline __attribute__((always_inline)) struct run
run_open(const struct layout_field *f)
{
	return (struct run){
		.size = lane_open(&f[HATF_FIELD_SIZE]),
		.address = lane_open(&f[HATF_FIELD_ADDRESS]),
		.thread = lane_open(&f[HATF_FIELD_THREAD]),
		.heap = lane_open(&f[HATF_FIELD_HEAP]),
		.time = lane_open(&f[HATF_FIELD_TIME]),
	};
}

/* Write the state after 'n' records, 'nbytes' in total, back to 'd'. */
static inline __attribute__((always_inline)) void
run_close(const struct run *run, struct decoder *d, size_t n, size_t nbytes)
{
	struct layout_field *const f = d->layout.field;

	lane_close(&run->size, &f[HATF_FIELD_SIZE]);
	lane_close(&run->address, &f[HATF_FIELD_ADDRESS]);
	lane_close(&run->thread, &f[HATF_FIELD_THREAD]);
	lane_close(&run->heap, &f[HATF_FIELD_HEAP]);
	lane_close(&run->time, &f[HATF_FIELD_TIME]);
	d->tag_count[HATF_ALLOC] += run->sized_count - run->realloc_count;
	d->tag_count[HATF_FREE] += n - run->sized_count;
	d->record_count += n;
	d->offset += nbytes;
}

/* Take the thread, heap and time at 'p'. */
static inline __attribute__((always_inline)) void
run_take_tail(struct run *run, const uint8_t *p, struct hatf_record *rec)
{
	rec->thread = lane_take(&run->thread, p, UINT64_MAX);
	p += run->thread.nbytes;
	rec->heap = lane_take(&run->heap, p, UINT64_MAX);
	p += run->heap.nbytes;
	rec->time = lane_take(&run->time, p, UINT64_MAX);
}

/* Return the length of the attributes at 'p', which is before 'p' under v1. */
static inline size_t
run_extra_nbytes(const struct decoder *d, const uint8_t *p)
{
	return d->extra_nbytes == LENGTH_V1 ? p[-1] : d->extra_nbytes;
}

/*
 * Decode heap records from '*next' on, at most 'max', until another tag follows
 * or fewer than RUN_RECORD_NBYTES are left.  Return the number of records.
 */
static size_t
decode_run(struct decoder *d, const uint8_t **next, const uint8_t *end,
	   struct hatf_record *records, size_t max,
	   struct announcers *announcers)
{
	struct run run = run_open(d->layout.field);
	const size_t free_nbytes = d->fixed_nbytes[HATF_FREE];
	const uint64_t offset = d->offset;
	const uint8_t *const start = *next;
	const uint8_t *const last = end - RUN_RECORD_NBYTES;
	const uint8_t *p = start;
	size_t n = 0;

	for (; n < max && p <= last && p[0] <= HATF_REALLOC_FREE; n++) {
		struct hatf_record *const rec = &records[n];
		const unsigned tag = p[0];
		/* All ones if the tag has a size, else 0. */
		const uint64_t has_size = 0 - (uint64_t)(tag != HATF_FREE);
		const size_t size_nbytes = has_size & run.size.nbytes;
		const uint8_t *q = p + 1 + size_nbytes;

		clear_metadata(rec);
		rec->tag = (uint8_t)tag;
		rec->offset = offset + (uint64_t)(p - start);
		rec->size = lane_take(&run.size, p + 1, has_size);
		rec->old_address = 0;
		p += free_nbytes + size_nbytes;
		if (tag > HATF_FREE) {
			rec->old_address =
				lane_take(&run.address, q, UINT64_MAX);
			q += run.address.nbytes;
			p += run.address.nbytes;
			note_realloc(d, tag, n, announcers);
			run.realloc_count++;
		}
		run.sized_count -= has_size;
		rec->address = lane_take(&run.address, q, UINT64_MAX);
		run_take_tail(&run, q + run.address.nbytes, rec);

		const size_t extra = run_extra_nbytes(d, p);

		rec->attributes = extra != 0 ? p : NULL;
		rec->attributes_nbytes = (uint32_t)extra;
		p += extra;
	}
	run_close(&run, d, n, (size_t)(p - start));
	*next = p;
	return n;
}

/*
 * Like decode_run(), but only for layouts in which d->unusual has at most the
 * time, as in nearly all of a trace of one thread.  The records then differ in
 * the tag, the size (which does not follow), the address, and also in the time
 * and the attributes if 'has_time' and 'has_attributes' are set.  These two are
 * constants in each inlined copy.
 */
static inline __attribute__((always_inline)) size_t
decode_plain_run(struct decoder *d, const uint8_t **next, const uint8_t *end,
		 struct hatf_record *records, size_t max,
		 struct announcers *announcers, const bool has_time,
		 const bool has_attributes)
{
	struct layout_field *const f = d->layout.field;
	struct lane size = lane_open(&f[HATF_FIELD_SIZE]);
	struct lane address = lane_open(&f[HATF_FIELD_ADDRESS]);
	struct lane time = lane_open(&f[HATF_FIELD_TIME]);
	const uint64_t offset = d->offset - (uintptr_t)*next;
	const uint8_t *const last = end - RUN_RECORD_NBYTES;
	const size_t length_nbytes = d->extra_nbytes == LENGTH_V1;
	const uint8_t *p = *next;
	size_t n = 0, free_count = 0, realloc_count = 0;

	for (; n < max && p <= last; n++) {
		struct hatf_record *const rec = &records[n];
		const uint64_t tag = p[0];
		uint64_t is_alloc = tag - 1; /* all ones, or 0 */
		const uint8_t *q;

		if (tag > HATF_FREE) {
			if (tag > HATF_REALLOC_FREE)
				break;
			is_alloc = UINT64_MAX;
		}
		*rec = d->blank;
		rec->tag = (uint8_t)tag;
		rec->offset = offset + (uintptr_t)p;
		rec->size = lane_value(&size, p + 1) & is_alloc;
		q = p + 1 + (is_alloc & size.nbytes);
		if (tag > HATF_FREE) {
			rec->old_address = lane_take(&address, q, UINT64_MAX);
			q += address.nbytes;
			note_realloc(d, (unsigned)tag, n, announcers);
			realloc_count++;
		}
		free_count += is_alloc + 1;
		rec->address = lane_take(&address, q, UINT64_MAX);
		p = q + address.nbytes;
		if (has_time) {
			rec->time = lane_take(&time, p, UINT64_MAX);
			p += time.nbytes;
		}
		if (has_attributes) {
			p += length_nbytes;

			const size_t extra = run_extra_nbytes(d, p);

			rec->attributes = extra != 0 ? p : NULL;
			rec->attributes_nbytes = (uint32_t)extra;
			p += extra;
		}
	}
	if (has_time)
		lane_close(&time, &f[HATF_FIELD_TIME]);
	lane_close(&address, &f[HATF_FIELD_ADDRESS]);
	d->tag_count[HATF_ALLOC] += n - free_count - realloc_count;
	d->tag_count[HATF_FREE] += free_count;
	d->record_count += n;
	d->offset += (uint64_t)(p - *next);
	*next = p;
	return n;
}

/* Can a run begin with the record at 'p'? */
static inline bool
begins_run(const struct decoder *d, const uint8_t *p, const uint8_t *end)
{
	return end - p >= RUN_RECORD_NBYTES && p[0] <= HATF_REALLOC_FREE &&
	       d->extra_nbytes != LENGTH_V2;
}

/*
 * Skip the records from 'rec' on while a realloc expects others, and uncount
 * those that belong to it.  Return the first record that is not skipped.
 */
static const struct hatf_record *
count_parts(struct decoder *d, const struct hatf_record *rec,
	    const struct hatf_record *end)
{
	struct pairing *const pair = &d->pairing;

	for (; rec != end && (pair->alloc_expected || pair->free_expected);
	     rec++)
		d->event_count -= pairing_role(pair, rec) == PAIRING_PART;
	return rec;
}

/* Is 'rec' a realloc that the two records that it announces follow? */
static inline bool
is_whole_realloc(const struct hatf_record *rec, const struct hatf_record *end)
{
	return end - rec > 2 && rec[0].tag == HATF_REALLOC_ALLOC_FREE &&
	       rec[1].tag == HATF_ALLOC && rec[1].address == rec[0].address &&
	       rec[1].thread == rec[0].thread && rec[2].tag == HATF_FREE &&
	       rec[2].address == rec[0].old_address &&
	       rec[2].thread == rec[0].thread;
}

/* Return the number of carried blocks at the start of a trace: not events. */
static inline size_t
count_carried(const struct decoder *d, const struct hatf_record *records,
	      size_t n)
{
	size_t count = 0;

	if (d->event_count == 0)
		while (count < n && hatf_record_is_carried(&records[count]))
			count++;
	return count;
}

/* Count the logical events of a run: all records that were not announced. */
static inline void
count_run(struct decoder *d, const struct hatf_record *records, size_t n,
	  const struct announcers *announcers)
{
	const struct hatf_record *const end = records + n;
	const struct hatf_record *next = count_parts(d, records, end);

	d->event_count += n - count_carried(d, records, n);
	for (size_t k = 0; k < announcers->count; k++) {
		const struct hatf_record *const rec =
			&records[announcers->idx[k]];

		/* count_parts() has already processed this realloc. */
		if (rec < next)
			continue;
		if (is_whole_realloc(rec, end)) {
			d->event_count -= 2;
			continue;
		}
		pairing_role(&d->pairing, rec);
		next = count_parts(d, rec + 1, end);
	}
}

/* Decode a run with the fastest loop that suits the layout. */
static size_t
decode_any_run(struct decoder *d, const uint8_t **next, const uint8_t *end,
	       struct hatf_record *records, size_t max)
{
	struct announcers announcers;
	size_t n;

	announcers.count = 0;
	if (max > RUN_MAX)
		max = RUN_MAX;
	if (d->unusual == 0 && d->extra_nbytes == 0)
		n = decode_plain_run(d, next, end, records, max, &announcers,
				     false, false);
	else if (d->unusual == 0)
		n = decode_plain_run(d, next, end, records, max, &announcers,
				     false, true);
	else if (d->unusual == 1u << HATF_FIELD_TIME)
		n = decode_plain_run(d, next, end, records, max, &announcers,
				     true, true);
	else
		n = decode_run(d, next, end, records, max, &announcers);
	count_run(d, records, n, &announcers);
	return n;
}

size_t
decoder_decode(struct decoder *d, const uint8_t **next, const uint8_t *end,
	       struct hatf_record *records, size_t max)
{
	size_t n = 0;

	d->stop = DECODER_FULL;
	while (n < max && d->stop == DECODER_FULL) {
		if (*next == end)
			want_more(d);
		else if (begins_run(d, *next, end))
			n += decode_any_run(d, next, end, records + n, max - n);
		else if ((*next)[0] == HATF_METADATA)
			n += decode_metadata(d, next, end, &records[n]) &&
			     d->want_metadata;
		else
			n += decode_record(d, next, end, &records[n]);
	}
	return n;
}

/* Find the first incomplete field, in the order of decode_numbers(). */
static const char *
cut_number(const struct decoder *d, const uint8_t *p, size_t left)
{
	static const struct {
		const char *name;
		uint8_t field;
		uint16_t tags; /* bits '1 << tag' */
	} part[] = {
		{ "size", HATF_FIELD_SIZE, 0x03d },
		{ "address", HATF_FIELD_ADDRESS, 0x003 },
		{ "old address", HATF_FIELD_ADDRESS, 0x03c },
		{ "new address", HATF_FIELD_ADDRESS, 0x03c },
		{ "heap", HATF_FIELD_HEAP, 0x0c0 },
		{ "thread", HATF_FIELD_THREAD, 0x3ff },
		{ "heap", HATF_FIELD_HEAP, 0x03f },
		{ "time", HATF_FIELD_TIME, 0x3ff },
	};
	size_t nbytes = 1;

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		if (part[i].tags >> p[0] & 1)
			nbytes += d->layout.field[part[i].field].nbytes;
		if (nbytes > left)
			return part[i].name;
	}
	return "attributes";
}

const char *
decoder_cut_field(const struct decoder *d, const uint8_t *p, size_t left)
{
	assert(left > 0 && p[0] < HATF_TAG_COUNT);
	if (p[0] == HATF_COMMENT)
		return left < d->fixed_nbytes[HATF_COMMENT] ? "length"
							    : "string";
	if (p[0] == HATF_METADATA)
		return "metadata";
	return cut_number(d, p, left);
}
