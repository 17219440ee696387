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
 * they are kept in tables that change with each metadata record.  measure() makes
 * the only comparisons with the end of the bytes; what follows it reads without
 * asking.  A number is fetched as 8 bytes and shifted, whatever its width: the
 * widths change too often in our own traces for a branch on each to be foretold.
 * Where fewer than FETCH_NBYTES are left, the record's numbers are copied to
 * where that is safe.
 */
#include "decoder.h"

#include <assert.h>

/* Values of 'extra_nbytes' that are no length: where the length stands. */
#define LENGTH_V1	0x10000u /* in the last byte of the fixed part */
#define LENGTH_V2	0x10001u /* in its last two bytes */
#define LENGTH_METADATA 0x10002u /* it follows from the codes */

/* tag, six numbers of 8 bytes, and 7 bytes that a fetch may run over. */
#define FETCH_NBYTES (1 + 6 * 8 + 7)

/* Derive the tables from the layout. */
static void
settle(struct decoder *d)
{
	const struct layout_field *const a =
		&d->layout.field[HATF_FIELD_ATTRIBUTES];
	uint32_t length_nbytes = 0, extra = a->nbytes;

	if (a->width == HATF_WIDTH_V1) {
		length_nbytes = 1;
		extra = LENGTH_V1;
	} else if (a->width == HATF_WIDTH_V2) {
		length_nbytes = 2;
		extra = LENGTH_V2;
	}
	for (unsigned tag = HATF_ALLOC; tag < HATF_COMMENT; tag++) {
		d->fixed_nbytes[tag] =
			length_nbytes +
			(uint32_t)layout_record_nbytes(&d->layout, tag);
		d->extra_nbytes[tag] = extra;
	}
}

void
decoder_init(struct decoder *d, bool want_metadata)
{
	*d = (struct decoder){ .want_metadata = want_metadata };
	layout_init(&d->layout);
	d->fixed_nbytes[HATF_COMMENT] = 1 + 2;
	d->extra_nbytes[HATF_COMMENT] = LENGTH_V2;
	d->fixed_nbytes[HATF_METADATA] = LAYOUT_METADATA_MIN_NBYTES;
	d->extra_nbytes[HATF_METADATA] = LENGTH_METADATA;
	settle(d);
}

/*
 * The length of the record at 'p', of which 'left' bytes (at least 1) are there,
 * or 0 if that is not all of it.  '*extra_ret' is the length of its variable
 * part.  Lengths are compared with what is left, never added to a position.
 */
static inline size_t
measure(const struct decoder *d, const uint8_t *p, size_t left,
	size_t *extra_ret)
{
	const size_t fixed = d->fixed_nbytes[p[0]];
	size_t extra = d->extra_nbytes[p[0]];

	if (fixed > left)
		return 0;
	if (extra == LENGTH_V1)
		extra = p[fixed - 1];
	else if (extra == LENGTH_V2)
		extra = get_be16(p + fixed - 2);
	else if (extra == LENGTH_METADATA)
		extra = layout_metadata_nbytes(p) - fixed;
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

/* Apply the metadata record at 'p'. */
static bool
decode_metadata(struct decoder *d, const uint8_t *p, struct hatf_record *rec)
{
	layout_get_metadata(p, &rec->metadata);

	const char *const illegal = layout_apply(&d->layout, &rec->metadata);

	if (illegal != NULL)
		return fail(d, HATF_BAD_METADATA, illegal);
	settle(d);
	return true;
}

/*
 * All fields 0.  One by one, because gcc 12 makes a 'rep stos' of an assignment
 * or memset() of this length, which took half of the time of decoding.
 */
static inline void
clear(struct hatf_record *rec)
{
	rec->attributes_nbytes = 0;
	rec->attributes = NULL;
	rec->size = 0;
	rec->address = 0;
	rec->old_address = 0;
	rec->time = 0;
	rec->thread = 0;
	rec->heap = 0;
	rec->metadata.op = 0;
	rec->metadata.field = 0;
	rec->metadata.argument = 0;
	rec->metadata.value = 0;
	rec->metadata.stride = 0;
}

/*
 * Decode the record at '*next' into 'rec' and step over it.  False, with 'stop'
 * set, if there is none or it is bad.
 */
static inline bool
decode_record(struct decoder *d, const uint8_t **next, const uint8_t *end,
	      struct hatf_record *rec)
{
	const uint8_t *const p = *next;
	const size_t left = (size_t)(end - p);
	size_t extra;

	if (left == 0) {
		d->stop = DECODER_MORE;
		return false;
	}
	if (p[0] >= HATF_TAG_COUNT)
		return fail(d, HATF_BAD_TAG, "tag");

	const size_t nbytes = measure(d, p, left, &extra);

	if (nbytes == 0) {
		d->stop = DECODER_MORE;
		return false;
	}
	clear(rec);
	rec->tag = p[0];
	rec->offset = d->offset;
	if (p[0] == HATF_METADATA) {
		if (!decode_metadata(d, p, rec))
			return false;
	} else {
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
		count_event(d, rec);
	}
	d->tag_count[p[0]]++;
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
		if (!decode_record(d, next, end, &records[n]))
			break;
		if (records[n].tag != HATF_METADATA || d->want_metadata)
			n++;
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
