/* SPDX-License-Identifier: MIT */
/*
 * decoder.c - see decoder.h
 *
 * A record is
 *
 * 	tag  numbers  [length]  variable part
 * 	`------- fixed -------´ `-- extra --´
 *
 * The length of the fixed part depends on the tag and the layout only, so it is
 * kept in a table that each metadata record updates.  A number is fetched as 8
 * bytes and shifted, whatever its width.  A branch on the width would often be
 * mispredicted, since the widths change often in our own traces.
 *
 * decoder_runs.c decodes nearly all of a trace: runs of heap records (tags 0 to
 * 5) between metadata.  decode_record() here decodes all other data records.
 * In decode_record(), measure() checks the bounds, and the code after measure()
 * reads without checks.  A fetch may read beyond the record, so if fewer than
 * DECODER_FETCH_NBYTES bytes are left, decode_last_numbers() first copies them
 * to a larger buffer.
 */
#include "hatf/decoder/decoder_runs.h"

#include "hatf/codec/hatf_record.h"

#include <assert.h>

/* For each field, how often a record of each tag contains the field. */
static const decoder_lengths width_uses[HATF_FIELD_COUNT] = {
	[HATF_FIELD_SIZE] = { 1, 0, 1, 1, 1, 1 },
	[HATF_FIELD_ADDRESS] = { 1, 1, 2, 2, 2, 2 },
	[HATF_FIELD_TIME] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	[HATF_FIELD_THREAD] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	[HATF_FIELD_HEAP] = { 1, 1, 1, 1, 1, 1, 1, 1 },
	/* with the widths v1 and v2, a length precedes the attributes */
	[HATF_FIELD_ATTRIBUTES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
};

/*
 * Return how many bytes one occurrence of a field adds to the fixed part of a
 * record (see the top of this file).
 */
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

/*
 * Return 1 if the field, in its present state, belongs to d->unusual, else 0.
 */
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
 * Update the tables after a change of 'field'.  'before' is what fixed_width()
 * returned for the field before the change.
 */
static void
update_tables(struct decoder *d, unsigned field, unsigned before)
{
	const struct layout_field *const f = &d->layout.field[field];
	/*
	 * The width may shrink, and 'more' is the change modulo 256: 252 stands
	 * for 4 bytes fewer.  The sums below are right nevertheless, because
	 * every fixed part is shorter than 256 bytes.
	 */
	const uint8_t more = (uint8_t)(fixed_width(&d->layout, field) - before);

	d->fixed_nbytes += width_uses[field] * more;
	d->unusual &= ~(1u << field);
	d->unusual |= is_unusual(f, field) << field;
	d->blank.time = d->layout.field[HATF_FIELD_TIME].origin;
	d->blank.thread = d->layout.field[HATF_FIELD_THREAD].origin;
	d->blank.heap = d->layout.field[HATF_FIELD_HEAP].origin;
	if (field == HATF_FIELD_ATTRIBUTES)
		d->extra_nbytes = f->width == HATF_WIDTH_V1 ? DECODER_LENGTH_V1
				  : f->width == HATF_WIDTH_V2
					  ? DECODER_LENGTH_V2
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
 * Return the length of the record at 'p', which must not be metadata.  Return 0
 * if the record is longer than 'left', the number of bytes left (at least 1).
 * '*extra_ret' is the length of the record's variable part.  The code compares
 * lengths with 'left' and adds no length to 'p', because the sum could wrap
 * around.
 */
static inline size_t
measure(const struct decoder *d, const uint8_t *p, size_t left,
	size_t *extra_ret)
{
	const size_t fixed = d->fixed_nbytes[p[0]];
	size_t extra =
		p[0] == HATF_COMMENT ? DECODER_LENGTH_V2 : d->extra_nbytes;

	if (fixed > left)
		return 0;
	if (extra == DECODER_LENGTH_V1)
		extra = p[fixed - 1];
	else if (extra == DECODER_LENGTH_V2)
		extra = get_be16(p + fixed - 2);
	if (extra > left - fixed)
		return 0;
	*extra_ret = extra;
	return fixed + extra;
}

/*
 * Return the number at '*p', which has the form that 'f' describes; move '*p'
 * past it.
 */
static inline uint64_t
number(struct layout_field *f, const uint8_t **p)
{
	const unsigned nbytes = f->nbytes;
	/* If nbytes is 0, the shift is 0, and the mask clears the result. */
	const uint64_t raw = get_be64(*p) >> (-8u * nbytes & 63) & f->mask;
	const uint64_t value = layout_value(f, raw);

	*p += nbytes;
	layout_use(f, value);
	return value;
}

/*
 * Decode the numbers after the tag.  The caller ensures that
 * DECODER_FETCH_NBYTES bytes can be read at 'p'.
 */
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
		/*
		 * In these records, the heap comes before the thread (FORMAT
		 * "Records").
		 */
		rec->heap = number(&f[HATF_FIELD_HEAP], &next);
		break;
	default:
		break;
	}
	rec->thread = number(&f[HATF_FIELD_THREAD], &next);
	if (rec->tag <= HATF_REALLOC_FREE)
		rec->heap = number(&f[HATF_FIELD_HEAP], &next);
	rec->time = number(&f[HATF_FIELD_TIME], &next);
}

/* Do what decode_numbers() does, but read at most 'left' bytes. */
static void
decode_last_numbers(struct layout_field *f, const uint8_t *p, size_t left,
		    struct hatf_record *rec)
{
	uint8_t copy[DECODER_FETCH_NBYTES] = { 0 };

	memcpy(copy, p, left < sizeof(copy) ? left : sizeof(copy));
	decode_numbers(f, copy, rec);
}

/*
 * Count a logical event if the record begins one.  No event begins with a
 * carried record (a block that was live when the trace began), or with a record
 * that a realloc has announced.
 */
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

/* Stop because the next record is not complete. */
static bool
want_more(struct decoder *d)
{
	d->stop = DECODER_MORE;
	return false;
}

/*
 * Apply the metadata record at '*next' and move '*next' past it.  If the user
 * of the decoder wants metadata, store the record in 'rec'.  Set 'stop' and
 * return false if the record is truncated or invalid.
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
 * '*next' past it.  If the record is a comment, set 'stop'.  If the record is
 * truncated or invalid, set 'stop' and return false.
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
	else if (left >= DECODER_FETCH_NBYTES)
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

size_t
decoder_decode(struct decoder *d, const uint8_t **next, const uint8_t *end,
	       struct hatf_record *records, size_t max)
{
	size_t n = 0;

	d->stop = DECODER_FULL;
	while (n < max && d->stop == DECODER_FULL) {
		if (*next == end)
			want_more(d);
		else if (decoder_begins_run(d, *next, end))
			n += decoder_decode_run(d, next, end, records + n,
						max - n);
		else if ((*next)[0] == HATF_METADATA)
			n += decode_metadata(d, next, end, &records[n]) &&
			     d->want_metadata;
		else
			n += decode_record(d, next, end, &records[n]);
	}
	return n;
}

/*
 * Return the name of the first incomplete number, or "attributes" if all
 * numbers are complete.  The table 'part' must list the numbers in the order in
 * which decode_numbers() reads them.
 */
static const char *
cut_number(const struct decoder *d, const uint8_t *p, size_t left)
{
	static const struct {
		const char *name;
		uint8_t field;
		/* the tags that have this number, as bits '1 << tag' */
		uint16_t tags;
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
