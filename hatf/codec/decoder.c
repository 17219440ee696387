/* SPDX-License-Identifier: MIT */
/*
 * decoder.c - see decoder.h
 *
 * A record is
 *
 *	tag  numbers  [length]  variable part
 *	`------- fixed -------´ `-- extra --´
 *
 * and the lengths of the first three depend on the tag and the layout only, so
 * they are kept in a table that changes with each metadata record.  A number is
 * fetched as 8 bytes and shifted, whatever its width: the widths change too often
 * in our own traces for a branch on each to be foretold.
 *
 * Nearly all of a trace is runs of heap records (tags 0 to 5) between metadata.
 * decode_run() takes those, as long as none can reach the end of the bytes, with
 * no branch that depends on what they hold.  decode_record() takes all others:
 * there measure() compares with the end of the bytes, and what follows it reads
 * without asking; where fewer than FETCH_NBYTES are left, the record's numbers are
 * copied to where that is safe.
 */
#include "hatf/codec/decoder.h"

#include "hatf/codec/hatf_record.h"

#include <assert.h>

/* Values of 'extra_nbytes' that are no length: where the length stands. */
#define LENGTH_V1 0x10000u /* in the last byte of the fixed part */
#define LENGTH_V2 0x10001u /* in its last two bytes */

/* tag, six numbers of 8 bytes, and 7 bytes that a fetch may run over. */
#define FETCH_NBYTES (1 + 6 * 8 + 7)

/* The longest record that decode_run() takes: with attributes of 'v1'. */
#define RUN_RECORD_NBYTES (1 + 6 * 8 + 1 + 255)
_Static_assert(RUN_RECORD_NBYTES >= FETCH_NBYTES,
	       "what the last number is fetched with must be there");

/* The most records of a run; bounds what is on the stack. */
#define RUN_MAX 1024

/* Fixed bytes of a record, by tag, that come with each byte of a field's width. */
static const decoder_lengths width_uses[HATF_FIELD_COUNT] = {
	[HATF_FIELD_SIZE] = { 1, 0, 1, 1, 1, 1 },
	[HATF_FIELD_ADDRESS] = { 1, 1, 2, 2, 2, 2 },
	[HATF_FIELD_TIME] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	[HATF_FIELD_THREAD] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	[HATF_FIELD_HEAP] = { 1, 1, 1, 1, 1, 1, 1, 1 },
	/* Of the attributes, the length that v1 and v2 begin with. */
	[HATF_FIELD_ATTRIBUTES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
};

/* What a field takes of the fixed part. */
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

/* Is there more to the field than decode_plain_run() knows? */
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

/* Let the tables follow a change of 'field', which took 'before' until now. */
static void
settle(struct decoder *d, unsigned field, unsigned before)
{
	const struct layout_field *const f = &d->layout.field[field];
	/* Modulo 256, as the sum is: no fixed part is that long. */
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
		settle(d, field, 0);
}

/*
 * The length of the record at 'p' that is no metadata and of which 'left' bytes
 * (at least 1) are there, or 0 if that is not all of it.  '*extra_ret' is the
 * length of its variable part.  Lengths are compared with what is left, never
 * added to a position.
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

/* The number at '*p', which is stored as 'f' says; steps over it. */
static inline uint64_t
number(struct layout_field *f, const uint8_t **p)
{
	const unsigned nbytes = f->nbytes;
	/* The shift is 0 for no bytes, too, and the mask then leaves 0. */
	const uint64_t raw = get_be64(*p) >> (-8u * nbytes & 63) & f->mask;
	const uint64_t value = layout_value(f, raw);

	*p += nbytes;
	layout_use(f, value);
	return value;
}

/* Decode the numbers that follow the tag in 'p' of FETCH_NBYTES. */
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

/* Like decode_numbers(), where only 'left' bytes may be touched. */
static void
decode_last_numbers(struct layout_field *f, const uint8_t *p, size_t left,
		    struct hatf_record *rec)
{
	uint8_t copy[FETCH_NBYTES] = { 0 };

	memcpy(copy, p, left < sizeof(copy) ? left : sizeof(copy));
	decode_numbers(f, copy, rec);
}

/* Count a record's logical event; only a realloc makes the next one unsure. */
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

/* There is no whole record. */
static bool
want_more(struct decoder *d)
{
	d->stop = DECODER_MORE;
	return false;
}

/*
 * Apply the metadata record at '*next' and step over it.  'rec' gets it if the
 * caller of decoder_decode() wants metadata.  False as for decode_record().
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
	settle(d, m.field, before);
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
 * Decode the record at '*next', which is no metadata, into 'rec' and step over
 * it.  False, with 'stop' set, if there is none or it is bad.
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
 * A field during a run, in the form that takes the fewest steps: a value is
 * 'bias' + (raw ^ sign), and a field that follows adds that and 'step' to 'bias'.
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

/* The number at 'p' of a field that does not follow. */
static inline uint64_t
lane_value(const struct lane *l, const uint8_t *p)
{
	return l->bias + ((get_be64(p) >> l->shift & l->mask) ^ l->sign);
}

/* The number at 'p' if 'there' is all ones, or 0 if that is 0. */
static inline uint64_t
lane_take(struct lane *l, const uint8_t *p, uint64_t there)
{
	const uint64_t raw = (get_be64(p) >> l->shift & l->mask) ^ l->sign;
	const uint64_t value = l->bias + raw;

	l->bias += (raw + l->step) & l->follows & there;
	return value & there;
}

/*
 * The records of a run that announce others, in order: only they make it unsure
 * which records begin an event.
 */
struct announcers {
	size_t count;
	uint16_t idx[RUN_MAX];
};

/* Count the realloc that is record 'n' of a run. */
static inline void
note_realloc(struct decoder *d, unsigned tag, size_t n, struct announcers *a)
{
	a->idx[a->count] = (uint16_t)n;
	a->count += tag > HATF_REALLOC_NO_ALLOC;
	d->tag_count[tag]++;
}

/* The state of a run, in registers as far as they go. */
struct run {
	struct lane size, address, thread, heap, time;
	size_t sized_count, realloc_count; /* tags but 1; tags 2 to 5 */
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

/* Put the state after 'n' records of 'nbytes' back into 'd'. */
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

/* The thread, heap and time at 'p'. */
static inline __attribute__((always_inline)) void
run_take_tail(struct run *run, const uint8_t *p, struct hatf_record *rec)
{
	rec->thread = lane_take(&run->thread, p, UINT64_MAX);
	p += run->thread.nbytes;
	rec->heap = lane_take(&run->heap, p, UINT64_MAX);
	p += run->heap.nbytes;
	rec->time = lane_take(&run->time, p, UINT64_MAX);
}

/* The length of the attributes at 'p', behind the one that v1 has. */
static inline size_t
run_extra_nbytes(const struct decoder *d, const uint8_t *p)
{
	return d->extra_nbytes == LENGTH_V1 ? p[-1] : d->extra_nbytes;
}

/*
 * Decode heap records from '*next' on, at most 'max', until there is another tag
 * or fewer than RUN_RECORD_NBYTES are left.  Returns how many there were.
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
		/* All ones where the tag has a size. */
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
 * Like decode_run(), while d->unusual has at most the time, as in nearly all of a
 * trace by one thread: what differs from record to record is the tag, the size,
 * which does not follow, the address, and the time and
 * attributes if it 'has_time' and 'has_attributes', constants for each copy.
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

/* Can the record at 'p' begin a run? */
static inline bool
begins_run(const struct decoder *d, const uint8_t *p, const uint8_t *end)
{
	return end - p >= RUN_RECORD_NBYTES && p[0] <= HATF_REALLOC_FREE &&
	       d->extra_nbytes != LENGTH_V2;
}

/*
 * Go through the records that may belong to the realloc at '*rec', or to one
 * before it, and return the first that cannot.
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

/* A realloc and the two records that it announces, as they usually are. */
static inline bool
is_whole_realloc(const struct hatf_record *rec, const struct hatf_record *end)
{
	return end - rec > 2 && rec[0].tag == HATF_REALLOC_ALLOC_FREE &&
	       rec[1].tag == HATF_ALLOC && rec[1].address == rec[0].address &&
	       rec[1].thread == rec[0].thread && rec[2].tag == HATF_FREE &&
	       rec[2].address == rec[0].old_address &&
	       rec[2].thread == rec[0].thread;
}

/* The carried blocks that a trace begins with are no events. */
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

/* Count a run's logical events: all records but those that were announced. */
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

		/* It came where another's parts were expected. */
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

/* The way to decode a run that suits the layout. */
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

/* Its order is that of decode_numbers(). */
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
