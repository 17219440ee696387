/* SPDX-License-Identifier: MIT */
/* metatf_column.c - see metatf_column.h */
#include "hatf/formats/metatf/metatf_column.h"

#include "hatf/metatf/trace/field_state.h"

#include <stdlib.h>
#include <zlib.h>

/* Maximum length, in bytes, of a number in a section, with its tag. */
#define ELEMENT_NBYTES ((size_t)9)
#define BATCH_NBYTES   (COLUMN_MOST * ELEMENT_NBYTES)
#define PACKED_NBYTES  (BATCH_NBYTES + BATCH_NBYTES / 512 + 64)

/*
 * Total length in bytes of the two metadata records that change a form: one for
 * the interpretation, one for the width.  A change of form must save more bytes
 * than this.
 */
#define CHANGE_NBYTES 24

/*
 * The base of 'baseOffset' is the minimum of the batch, rounded down to a
 * multiple of 2^BASE_BITS, plus 2^(8 * width - 1).  So the smallest offset that
 * 'width' bytes can hold stands for the rounded minimum.  Because of the
 * rounding, most batches have the same base as the batch before.
 */
#define BASE_BITS 24

/* A way to store the numbers. */
struct form {
	enum dtd_interpretation interpretation;
	unsigned width;
	uint64_t argument; /* base of 'baseOffset', initial value of 'delta' */
};

struct metatf_column {
	struct mtf_writer *writer;
	const struct schema_section *section;
	bool is_compressed;
	uint64_t last; /* the last number of the previous batch */
	/* Minimum and maximum of the numbers in the batch. */
	uint64_t min, max;
	int64_t min_delta, max_delta;
	uint8_t bytes[BATCH_NBYTES];
	uint8_t packed[PACKED_NBYTES];
};

struct metatf_column *
metatf_column_open(struct mtf_writer *w, const struct schema_section *section,
		   bool is_compressed)
{
	struct metatf_column *const c = malloc(sizeof(*c));

	if (c == NULL)
		return NULL;
	c->writer = w;
	c->section = section;
	c->is_compressed = is_compressed;
	c->last = 0;
	return c;
}

void
metatf_column_close(struct metatf_column *c)
{
	free(c);
}

static void
find_figures(struct metatf_column *c, const uint64_t *numbers, size_t count)
{
	uint64_t previous = c->last;

	c->min = UINT64_MAX;
	c->max = 0;
	c->min_delta = INT64_MAX;
	c->max_delta = INT64_MIN;
	for (size_t i = 0; i < count; i++) {
		const uint64_t n = numbers[i];
		const int64_t delta = (int64_t)(n - previous);

		c->min = n < c->min ? n : c->min;
		c->max = n > c->max ? n : c->max;
		c->min_delta = delta < c->min_delta ? delta : c->min_delta;
		c->max_delta = delta > c->max_delta ? delta : c->max_delta;
		previous = n;
	}
}

/* Does 'n' fit into a signed number of 'width' bytes? */
static bool
fits(int64_t n, unsigned width)
{
	const int64_t bound = (int64_t)(((uint64_t)1 << (8 * width - 1)) - 1);

	return n >= -bound - 1 && n <= bound;
}

/* Can a form store the batch? */
static bool
can_store(const struct metatf_column *c, const struct form *f)
{
	if (f->width == 0 || f->width > 8)
		return false;
	switch (f->interpretation) {
	case DTD_NONE:
		return c->max <= UINT64_MAX >> (64 - 8 * f->width);
	case DTD_BASE_OFFSET:
		/*
		 * Refuse numbers that are far apart, because the difference
		 * between a number and the base could wrap around.
		 */
		return c->max - c->min <= UINT32_MAX &&
		       fits((int64_t)(c->min - f->argument), f->width) &&
		       fits((int64_t)(c->max - f->argument), f->width);
	case DTD_DELTA:
		return fits(c->min_delta, f->width) &&
		       fits(c->max_delta, f->width);
	default:
		return false;
	}
}

/* Return how many bytes the batch takes in a form. */
static size_t
cost(struct metatf_column *c, const struct form *f, const uint64_t *numbers,
     size_t count)
{
	const uint8_t tag = (uint8_t)c->section->records[0].tag;
	uint64_t previous = c->last;
	uLongf packed_nbytes = PACKED_NBYTES;
	uint8_t *to = c->bytes;

	if (!c->is_compressed)
		return count * (1 + f->width);
	for (size_t i = 0; i < count; i++) {
		uint64_t n = numbers[i];

		if (f->interpretation == DTD_DELTA)
			n -= previous;
		else if (f->interpretation == DTD_BASE_OFFSET)
			n -= f->argument;
		previous = numbers[i];
		*to++ = tag;
		for (unsigned j = 0; j < f->width; j++, n >>= 8)
			*to++ = (uint8_t)n;
	}
	if (compress2(c->packed, &packed_nbytes, c->bytes,
		      (uLong)(to - c->bytes), 1) != Z_OK)
		return PACKED_NBYTES;
	return packed_nbytes;
}

/*
 * For each interpretation, store in 'forms' the form with the smallest width
 * that can store the batch.  Return the number of forms.
 */
static unsigned
make_forms(const struct metatf_column *c, struct form forms[3])
{
	const enum dtd_interpretation kinds[3] = { DTD_NONE, DTD_BASE_OFFSET,
						   DTD_DELTA };
	const uint64_t low = c->min & ~(((uint64_t)1 << BASE_BITS) - 1);
	unsigned count = 0;

	for (unsigned i = 0; i < 3; i++)
		for (unsigned width = 1; width <= 8; width *= 2) {
			struct form f = { kinds[i], width, c->last };

			if (kinds[i] == DTD_BASE_OFFSET)
				f.argument =
					low + ((uint64_t)1 << (8 * width - 1));
			if (!can_store(c, &f))
				continue;
			forms[count++] = f;
			break;
		}
	return count;
}

/*
 * Do two forms store the batch in the same bytes?  Compare the 'argument' of
 * baseOffset only.  The 'argument' of delta is its initial value, which has no
 * effect here: a batch continues from the last number of the previous batch.
 */
static bool
is_same_form(const struct form *a, const struct form *b)
{
	return a->interpretation == b->interpretation && a->width == b->width &&
	       (a->interpretation != DTD_BASE_OFFSET ||
		a->argument == b->argument);
}

/* Write the metadata records that change the field to a form. */
static bool
change(struct metatf_column *c, const struct field_state *now,
       const struct form *f)
{
	const struct schema_record *const r = &c->section->records[0];
	const uint64_t argument[2] = { f->argument, 0 };
	const uint64_t width[2] = { f->width, 0 };

	return mtf_writer_set(c->writer, c->section, r, 1, f->interpretation,
			      argument) &&
	       (now->width == f->width ||
		mtf_writer_set(c->writer, c->section, r, 1, 0, width));
}

bool
metatf_column_place(struct metatf_column *c, const uint64_t *numbers,
		    size_t count)
{
	const struct field_state *const now = mtf_writer_state(
		c->writer, c->section, &c->section->records[0], 1);
	struct form forms[3], best = { DTD_NONE, 0, 0 };
	size_t best_cost = SIZE_MAX;
	unsigned form_count;

	if (now == NULL)
		return false;
	find_figures(c, numbers, count);
	const struct form present = { now->interpretation, now->width,
				      now->args[0] };
	const bool is_possible = can_store(c, &present);
	const size_t present_cost =
		is_possible ? cost(c, &present, numbers, count) : SIZE_MAX;

	form_count = make_forms(c, forms);
	for (unsigned i = 0; i < form_count; i++) {
		const size_t n =
			is_possible && is_same_form(&forms[i], &present)
				? present_cost
				: cost(c, &forms[i], numbers, count);

		if (n < best_cost) {
			best_cost = n;
			best = forms[i];
		}
	}
	if (count != 0)
		c->last = numbers[count - 1];
	return best.width == 0 ||
	       (is_possible && present_cost <= best_cost + CHANGE_NBYTES) ||
	       change(c, now, &best);
}
