/* SPDX-License-Identifier: MIT */
/*
 * fuzz_place.c - every planner of metadata, on any records
 *
 * The first three bytes of an input choose planner and spans, the others are
 * the records (see generate.h).  The planner's changes are applied to a layout;
 * then every record must fit and be read back unchanged.  If a span is a block,
 * a technique must not be larger than one that allows less, and the optimum not
 * larger than any.
 */
#include "fuzz.h"
#include "generate.h"
#include "hatf/codec/layout.h"
#include "hatf/codec/place.h"
#include "hatf/optimum/optimum.h"

#include <stdbool.h>

#define OPTIONS_NBYTES 3
#define ATTRIBUTES_MAX (64 * 1024)
#define CHANGES_MAX    8192

/* The optimum is slow under a sanitizer. */
#define OPTIMUM_RECORDS 400

/* How the records are passed to a planner. */
struct cut {
	size_t span;	/* records at a time */
	size_t block;	/* records from one restart to the next */
	size_t changes; /* room for */
};

static struct place_change changes[CHANGES_MAX];

/* Return the bytes that a record takes; it must fit.  Note its values. */
static size_t
use_number(struct layout *layout, enum hatf_field field, uint64_t value)
{
	struct layout_field *const f = &layout->field[field];
	const uint64_t mask = f->nbytes == 8
				      ? UINT64_MAX
				      : (UINT64_C(1) << 8 * f->nbytes) - 1;

	fuzz_check(layout_fits(f, value));
	fuzz_check(layout_value(f, layout_raw(f, value) & mask) == value);
	layout_use(f, value);
	return f->nbytes;
}

static size_t
use_attributes(const struct layout *layout, const struct hatf_record *r)
{
	const unsigned width = layout->field[HATF_FIELD_ATTRIBUTES].width;

	if (width == HATF_WIDTH_V1) {
		fuzz_check(r->attributes_nbytes <= UINT8_MAX);
		return 1 + r->attributes_nbytes;
	}
	if (width == HATF_WIDTH_V2)
		return 2 + r->attributes_nbytes;
	fuzz_check(r->attributes_nbytes == width);
	return width;
}

static size_t
use_record(struct layout *layout, const struct hatf_record *r)
{
	const unsigned fields = layout_tag_fields(r->tag);
	size_t nbytes = 1;

	if (r->tag == HATF_COMMENT)
		return 3 + r->attributes_nbytes;
	/*
	 * Each field is a chain of its own, so their order does not matter
	 * here.
	 */
	if (fields & 1u << HATF_FIELD_SIZE)
		nbytes += use_number(layout, HATF_FIELD_SIZE, r->size);
	if (r->tag >= HATF_REALLOC_NO_ALLOC && r->tag <= HATF_REALLOC_FREE)
		nbytes +=
			use_number(layout, HATF_FIELD_ADDRESS, r->old_address);
	if (fields & 1u << HATF_FIELD_ADDRESS)
		nbytes += use_number(layout, HATF_FIELD_ADDRESS, r->address);
	if (fields & 1u << HATF_FIELD_HEAP)
		nbytes += use_number(layout, HATF_FIELD_HEAP, r->heap);
	nbytes += use_number(layout, HATF_FIELD_THREAD, r->thread);
	nbytes += use_number(layout, HATF_FIELD_TIME, r->time);
	return nbytes + use_attributes(layout, r);
}

/* Apply a change that a writer may make; return its length. */
static size_t
apply(struct layout *layout, const struct hatf_metadata *m)
{
	uint8_t bytes[LAYOUT_METADATA_MAX_NBYTES];
	struct hatf_metadata got;

	fuzz_check(layout_apply(layout, m) == NULL);
	if (m->op == HATF_SET_FIELD_SIZE && m->argument != 0)
		fuzz_check(layout->field[m->field].width == m->argument);

	const size_t nbytes = layout_put_metadata(bytes, m);

	fuzz_check(layout_metadata_nbytes(bytes) == nbytes);
	layout_get_metadata(bytes, &got);
	fuzz_check(got.op == m->op && got.field == m->field &&
		   got.argument == m->argument);
	/* A value that is not stored may be anything. */
	if (m->op == HATF_SET_FIELD_INTERPRETATION && m->argument != HATF_NONE)
		fuzz_check(got.value == m->value);
	if (m->op == HATF_SET_FIELD_INTERPRETATION &&
	    m->argument == HATF_STRIDE)
		fuzz_check(got.stride == m->stride);
	return nbytes;
}

/* Set a state that no planner leads to. */
static void
make_other(struct layout *layout)
{
	for (unsigned field = 0; field < HATF_FIELD_COUNT; field++)
		layout->field[field] = (struct layout_field){
			.origin = 12345 + field,
			.step = 7,
			.last_width = 2,
			.interpretation = HATF_STRIDE,
			.follows = true,
		};
}

/* The whole state, including "last width that was not 0". */
static void
check_same_state(const struct layout *a, const struct layout *b)
{
	for (unsigned field = 0; field < HATF_FIELD_COUNT; field++) {
		const struct layout_field *const f = &a->field[field];
		const struct layout_field *const g = &b->field[field];

		fuzz_check(f->width == g->width);
		fuzz_check(f->last_width == g->last_width);
		fuzz_check(f->interpretation == g->interpretation);
		fuzz_check(f->nbytes == g->nbytes);
		if (field == HATF_FIELD_ATTRIBUTES)
			continue;
		fuzz_check(f->origin == g->origin && f->sign == g->sign);
		fuzz_check(f->mask == g->mask && f->follows == g->follows);
		fuzz_check(!f->follows || f->step == g->step);
	}
}

/*
 * Apply the changes before the span's first record; return their bytes.  At a
 * restart they must lead to the same state from any earlier one.
 */
static size_t
begin_span(struct layout *layout, bool restart, size_t count, size_t *used)
{
	struct layout other;
	size_t nbytes = 0, i = 0;

	make_other(&other);
	for (; i < count && changes[i].before == 0; i++) {
		nbytes += apply(layout, &changes[i].metadata);
		if (restart)
			apply(&other, &changes[i].metadata);
	}
	if (restart)
		check_same_state(layout, &other);
	*used = i;
	return nbytes;
}

/* Let the planner decide for one span; return the records decided. */
static size_t
plan_span(const struct place_planner *planner, struct layout *layout,
	  bool restart, const struct hatf_record *records, size_t n, size_t cap,
	  uint64_t *nbytes)
{
	const struct layout before = *layout;
	size_t count, used, decided, last = SIZE_MAX, run = 0;

	decided = planner->plan(planner->context, layout, restart, records, n,
				changes, cap, &count);
	fuzz_check(memcmp(&before, layout, sizeof(before)) == 0);
	fuzz_check(decided >= 1 && decided <= n && count <= cap);
	*nbytes += begin_span(layout, restart, count, &used);
	fuzz_check(used <= PLACE_METADATA_MAX);
	for (size_t i = 0; i < decided; i++) {
		for (; used < count && changes[used].before == i; used++) {
			run = last == i ? run + 1 : 1;
			last = i;
			fuzz_check(run <= PLACE_METADATA_MAX);
			*nbytes += apply(layout, &changes[used].metadata);
		}
		*nbytes += use_record(layout, &records[i]);
	}
	/* The changes are in order, and none follows the last record. */
	fuzz_check(used == count);
	return decided;
}

/* Plan all records; return the bytes of the stream. */
static uint64_t
plan(const struct place_planner *planner, const struct generated *g,
     const struct cut *cut)
{
	struct layout layout;
	uint64_t nbytes = 0;
	size_t in_block = 0;

	layout_init(&layout);
	for (size_t i = 0; i < g->n;) {
		const size_t left = g->n - i;
		const size_t block_left = cut->block - in_block;
		size_t n = cut->span < left ? cut->span : left;

		n = n < block_left ? n : block_left;
		n = plan_span(planner, &layout, in_block == 0, &g->records[i],
			      n, cut->changes, &nbytes);
		i += n;
		in_block = (in_block + n) % cut->block;
	}
	return nbytes;
}

/* By technique_find(); "online" is place_span(), "wide" place_fast(). */
static const char *const names[] = {
	"naive",	 "small-size",	  "same-size",	      "combined-size",
	"base-offset-1", "base-offset-2", "best-base-offset", "stride",
	"best",		 "optimum",
};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

/* The first of each pair allows everything that the second allows. */
static const char *const pairs[][2] = {
	{ "small-size", "naive" },
	{ "same-size", "naive" },
	{ "combined-size", "small-size" },
	{ "combined-size", "same-size" },
	{ "base-offset-1", "naive" },
	{ "base-offset-2", "naive" },
	{ "best-base-offset", "base-offset-1" },
	{ "best-base-offset", "base-offset-2" },
	{ "stride", "naive" },
	{ "best", "combined-size" },
	{ "best", "best-base-offset" },
	{ "best", "stride" },
	{ "optimum", "best" },
	{ "optimum", "online" },
	{ "optimum", "wide" },
};
#define PAIR_COUNT (sizeof(pairs) / sizeof(pairs[0]))

/* Made only once: it keeps no state between inputs, and is slow to make. */
static struct optimum *
optimum_of(const char *name)
{
	static struct optimum *made[NAME_COUNT];
	size_t i = 0;

	while (strcmp(names[i], name) != 0)
		i++;
	if (made[i] == NULL) {
		fuzz_check(technique_find(name) != NULL);
		made[i] = optimum_new(technique_find(name));
		fuzz_check(made[i] != NULL);
	}
	return made[i];
}

/* Return the bytes of the stream that a planner makes. */
static uint64_t
plan_by(const char *name, const struct generated *g, const struct cut *cut)
{
	struct place place;
	struct place_planner planner = { .plan = place_span,
					 .context = &place };

	place_init(&place);
	if (strcmp(name, "wide") == 0)
		planner.plan = place_fast;
	else if (strcmp(name, "online") != 0)
		planner = (struct place_planner){ .plan = optimum_span,
						  .context = optimum_of(name) };
	return plan(&planner, g, cut);
}

static size_t
choose_size(unsigned code)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 50, 333, 512, 4096 };

	return sizes[code % 8];
}

/* Each block in one piece: the proofs about techniques must hold. */
static void
check_order(unsigned code, const struct generated *g, struct cut cut)
{
	const char *const *const pair = pairs[code % PAIR_COUNT];
	const struct cut narrow = { GENERATE_MAX, cut.block,
				    PLACE_METADATA_MAX + code };
	uint64_t nbytes;

	cut.span = GENERATE_MAX;
	cut.changes = CHANGES_MAX;
	nbytes = plan_by(pair[0], g, &cut);
	fuzz_check(nbytes <= plan_by(pair[1], g, &cut));
	/*
	 * With the optimum, little room for changes makes no difference.  Other
	 * techniques choose a base for all records of a call, and may choose
	 * another one for the rest.
	 */
	if (strcmp(pair[0], "optimum") == 0)
		fuzz_check(nbytes == plan_by(pair[0], g, &narrow));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static struct generated g;

	if (nbytes < OPTIONS_NBYTES)
		return 0;

	const struct cut cut = {
		.span = choose_size(data[0]),
		.block = choose_size(data[0] >> 4),
		.changes = data[1] < 128 ? CHANGES_MAX
					 : PLACE_METADATA_MAX + data[1] % 64,
	};
	const bool is_online = data[2] % 4 == 0;

	generate(data + OPTIONS_NBYTES, nbytes - OPTIONS_NBYTES,
		 is_online ? GENERATE_MAX : OPTIMUM_RECORDS, ATTRIBUTES_MAX,
		 &g);
	if (is_online)
		plan_by(data[2] % 8 == 0 ? "online" : "wide", &g, &cut);
	else if (data[2] % 4 == 1)
		plan_by(names[data[2] / 4 % NAME_COUNT], &g, &cut);
	else
		check_order(data[2] / 4, &g, cut);
	return 0;
}
