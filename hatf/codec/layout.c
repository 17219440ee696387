/* SPDX-License-Identifier: MIT */
/*
 * layout.c - see layout.h; the legality rules are FORMAT "Metadata"
 */
#include "hatf/codec/layout.h"

#define BIT(field) (1u << (field))
#define TAIL                                             \
	(BIT(HATF_FIELD_THREAD) | BIT(HATF_FIELD_TIME) | \
	 BIT(HATF_FIELD_ATTRIBUTES))
#define FREE_FIELDS  (TAIL | BIT(HATF_FIELD_ADDRESS) | BIT(HATF_FIELD_HEAP))
#define ALLOC_FIELDS (FREE_FIELDS | BIT(HATF_FIELD_SIZE))

/* The fields that a record of each tag has, as bits (FORMAT "Records"). */
static const uint8_t tag_fields[HATF_TAG_COUNT] = {
	[HATF_ALLOC] = ALLOC_FIELDS,
	[HATF_FREE] = FREE_FIELDS,
	[HATF_REALLOC_NO_ALLOC] = ALLOC_FIELDS,
	[HATF_REALLOC_ALLOC_FREE] = ALLOC_FIELDS,
	[HATF_REALLOC_ALLOC] = ALLOC_FIELDS,
	[HATF_REALLOC_FREE] = ALLOC_FIELDS,
	[HATF_CREATE_HEAP] = TAIL | BIT(HATF_FIELD_HEAP),
	[HATF_DESTROY_HEAP] = TAIL | BIT(HATF_FIELD_HEAP),
	[HATF_CREATE_THREAD] = TAIL,
	[HATF_DESTROY_THREAD] = TAIL,
};

/*
 * The number of 8-byte values that follow the interpretation's code in a
 * metadata record.
 */
static const uint8_t value_count[] = {
	[HATF_NONE] = 0,  [HATF_DEFAULT] = 1, [HATF_BASE_OFFSET] = 1,
	[HATF_DELTA] = 1, [HATF_STRIDE] = 2,
};

static bool
is_number_width(unsigned width)
{
	return width <= 8 && (width & (width - 1)) == 0;
}

/*
 * Set 'sign', 'mask' and 'nbytes' as the width and the interpretation require.
 */
static void
derive(struct layout_field *f)
{
	const unsigned nbytes = is_number_width(f->width) ? f->width : 0;

	f->nbytes = (uint8_t)nbytes;
	f->mask = nbytes == 0 ? 0 : UINT64_MAX >> (64 - 8 * nbytes);
	f->sign = f->interpretation == HATF_NONE ? 0 : f->mask ^ (f->mask >> 1);
}

static const char *
set_width(struct layout_field *f, unsigned field, unsigned width)
{
	const bool is_variable =
		width == HATF_WIDTH_V1 || width == HATF_WIDTH_V2;

	if (!is_number_width(width) &&
	    !(is_variable && field == HATF_FIELD_ATTRIBUTES))
		return "fieldWidth";
	if (width != 0)
		f->last_width = (uint8_t)width;
	/*
	 * If the interpretation is default or stride, records do not store the
	 * field, so set only 'last_width'.
	 */
	if (f->interpretation != HATF_DEFAULT &&
	    f->interpretation != HATF_STRIDE)
		f->width = (uint8_t)width;
	derive(f);
	return NULL;
}

static const char *
set_interpretation(struct layout_field *f, const struct hatf_metadata *m)
{
	if (m->argument > HATF_STRIDE)
		return "interpretation";
	if (m->field == HATF_FIELD_ATTRIBUTES) {
		if (m->argument > HATF_DEFAULT)
			return "interpretation";
		if (m->argument == HATF_DEFAULT && m->value != 0)
			return "default";
	}

	const bool stores_nothing =
		m->argument == HATF_DEFAULT || m->argument == HATF_STRIDE;

	f->interpretation = m->argument;
	f->width = stores_nothing ? 0 : f->last_width;
	f->step = m->argument == HATF_STRIDE ? m->stride : 0;
	f->follows = m->argument == HATF_DELTA || m->argument == HATF_STRIDE;
	f->origin = m->argument == HATF_NONE ? 0 : m->value + f->step;
	derive(f);
	return NULL;
}

void
layout_init(struct layout *layout)
{
	static const struct hatf_metadata empty = {
		.op = HATF_SET_FIELD_INTERPRETATION,
		.argument = HATF_DEFAULT,
	};

	memset(layout, 0, sizeof(*layout));
	for (unsigned i = 0; i < HATF_FIELD_COUNT; i++) {
		struct layout_field *const f = &layout->field[i];

		if (i == HATF_FIELD_SIZE || i == HATF_FIELD_ADDRESS)
			set_width(f, i, 4);
		else
			set_interpretation(f, &empty);
	}
}

const char *
layout_apply(struct layout *layout, const struct hatf_metadata *metadata)
{
	if (metadata->op != HATF_SET_FIELD_SIZE &&
	    metadata->op != HATF_SET_FIELD_INTERPRETATION)
		return "op";
	if (metadata->field >= HATF_FIELD_COUNT)
		return "field";

	struct layout_field *const f = &layout->field[metadata->field];

	if (metadata->op == HATF_SET_FIELD_SIZE)
		return set_width(f, metadata->field, metadata->argument);
	return set_interpretation(f, metadata);
}

size_t
layout_metadata_nbytes(const uint8_t *p)
{
	if (p[1] != HATF_SET_FIELD_INTERPRETATION || p[3] > HATF_STRIDE)
		return LAYOUT_METADATA_MIN_NBYTES;
	return LAYOUT_METADATA_MIN_NBYTES + 8u * value_count[p[3]];
}

void
layout_get_metadata(const uint8_t *p, struct hatf_metadata *metadata_ret)
{
	const size_t nbytes = layout_metadata_nbytes(p);

	metadata_ret->op = p[1];
	metadata_ret->field = p[2];
	metadata_ret->argument = p[3];
	metadata_ret->value = nbytes >= 12 ? get_be64(p + 4) : 0;
	metadata_ret->stride = nbytes == 20 ? get_be64(p + 12) : 0;
}

size_t
layout_put_metadata(uint8_t *p, const struct hatf_metadata *metadata)
{
	p[0] = HATF_METADATA;
	p[1] = metadata->op;
	p[2] = metadata->field;
	p[3] = metadata->argument;

	const size_t nbytes = layout_metadata_nbytes(p);

	if (nbytes >= 12)
		put_be64(p + 4, metadata->value);
	if (nbytes == 20)
		put_be64(p + 12, metadata->stride);
	return nbytes;
}

unsigned
layout_tag_fields(unsigned tag)
{
	return tag_fields[tag];
}
