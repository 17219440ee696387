/* SPDX-License-Identifier: MIT */
/*
 * place.c - see place.h
 *
 *   field        states, the cheapest first       to the next     back
 *   size         none: 1, 2, 4, 8 bytes           at once         watch
 *   address      baseOffset: 4, 8 bytes           at once         watch
 *                its base                         'far'
 *   time         default; delta: 1, 2, 4, 8       runs; at once   watch
 *   thread,      default; none: 1, 2, 4, 8        runs; at once   watch,
 *   heap                                                          but for width
 *   attributes   none: nothing, v1, v2            at once         watch
 *
 * "At once": a value that does not fit leaves no choice.  "Runs": under default
 * a new value costs a metadata record, so the choice is between that and
 * storing each value from now on; 'run_regret' rents and buys like a watch,
 * with the lengths of the runs in place of values.  A width of thread and heap
 * is chosen anew when the field leaves default and when a block begins.
 *
 * Attributes do without default: a width of 0 says the same, and costs 4 bytes
 * to set instead of 12.
 *
 * Where a program has a habit, renting before buying pays twice.  The address
 * and the attributes therefore adapt the limits of their watches: doubled when
 * the cheaper state did not last long enough to pay, halved when it did.
 */
#include "place.h"

/* Bytes of a metadata record: set fieldSize; set fieldInterpretation. */
enum {
	WIDTH_COST = 4,
	VALUE_COST = 12,
};

/*
 * The limits decide only about size.  On traces of cc1, perl, sqlite3, python3
 * with one and four threads and a loop of five threads, no half or twice of one
 * of them was better by more than 0.1 % on average, and none was worse by more
 * than 1.1 %.
 */
enum {
	WIDTH_LIMIT = 6,
	RUN_LIMIT = 24,
	NARROW_LIMIT_MIN = 4,
	NARROW_LIMIT_MAX = 16,
	EMPTY_LIMIT_MIN = 1,
	EMPTY_LIMIT_MAX = 2 * WIDTH_COST,
	FAR_LIMIT = 32,
};

/* Bases are multiples of this, so that offsets are as aligned as addresses. */
#define BASE_ALIGNMENT UINT64_C(0x10000)

/* Metadata being named for one record or block. */
struct plan {
	struct place *place;
	struct layout *layout;
	struct hatf_metadata *out;
	size_t count;
};

static uint64_t
width_mask(unsigned nbytes)
{
	return UINT64_MAX >> (64 - 8 * nbytes);
}

static unsigned
unsigned_width(uint64_t value)
{
	unsigned nbytes = 1;

	while (value > width_mask(nbytes))
		nbytes *= 2;
	return nbytes;
}

static unsigned
signed_width(uint64_t difference)
{
	unsigned nbytes = 1;

	while (difference + (width_mask(nbytes) / 2 + 1) > width_mask(nbytes))
		nbytes *= 2;
	return nbytes;
}

static void
emit(struct plan *plan, const struct hatf_metadata *m)
{
	layout_apply(plan->layout, m);
	plan->out[plan->count++] = *m;
}

/* Watch for values for which half the width would do. */
static void
watch_half(struct place_watch *w, unsigned width, bool is_signed)
{
	w->mask = width_mask(width / 2);
	w->sign = is_signed ? w->mask / 2 + 1 : 0;
	w->gain = (int32_t)width / 2;
	w->loss = 2 * WIDTH_COST;
	w->limit = WIDTH_LIMIT;
}

/* Watch for values that equal the one before, which default would hold. */
static void
watch_same(struct place_watch *w, unsigned width)
{
	w->mask = 0;
	w->gain = (int32_t)width;
	w->loss = VALUE_COST;
	w->limit = RUN_LIMIT;
}

/*
 * While the address is wide, both its watch and 'far' must see every record,
 * and a limit of 0 brings each of them to place_record().
 */
static void
watch_address(struct place_watch *w, uint64_t base)
{
	w->origin = base;
	w->mask = width_mask(4);
	w->sign = w->mask / 2 + 1;
	w->gain = 4;
	w->loss = 2 * WIDTH_COST;
	w->limit = 0;
}

/* Choose what to watch in the field's present state; 'value' is its latest. */
static void
watch_begin(struct plan *plan, unsigned field, uint64_t value)
{
	const struct layout_field *const f = &plan->layout->field[field];
	struct place_watch *const w = &plan->place->watch[field];
	const bool is_default = f->interpretation == HATF_DEFAULT;

	memset(w, 0, sizeof(*w));
	w->limit = 1;
	w->origin = value;
	w->follows = field == HATF_FIELD_TIME || field == HATF_FIELD_THREAD ||
		     field == HATF_FIELD_HEAP;
	if (field == HATF_FIELD_SIZE) {
		w->origin = 0;
		if (f->width > 1)
			watch_half(w, f->width, false);
	} else if (field == HATF_FIELD_ADDRESS) {
		if (f->width == 8)
			watch_address(w, f->origin);
	} else if (field == HATF_FIELD_ATTRIBUTES) {
		w->origin = 0;
		if (f->width != 0) {
			watch_same(w, f->width == HATF_WIDTH_V1 ? 1 : 2);
			w->loss = 2 * WIDTH_COST;
			w->limit = plan->place->empty_limit;
		}
	} else if (field == HATF_FIELD_TIME && f->width > 1) {
		watch_half(w, f->width, true);
	} else if (!is_default) {
		watch_same(w, f->width);
	}
	plan->place->watching &= ~(1u << field);
	plan->place->watching |= (unsigned)(w->gain != 0) << field;
}

static void
set_width(struct plan *plan, unsigned field, unsigned width)
{
	const struct hatf_metadata m = {
		.op = HATF_SET_FIELD_SIZE,
		.field = (uint8_t)field,
		.argument = (uint8_t)width,
	};

	emit(plan, &m);
}

static void
set_interpretation(struct plan *plan, unsigned field, unsigned interpretation,
		   uint64_t value)
{
	const struct hatf_metadata m = {
		.op = HATF_SET_FIELD_INTERPRETATION,
		.field = (uint8_t)field,
		.argument = (uint8_t)interpretation,
		.value = value,
	};

	emit(plan, &m);
}

/* Note 'value' in a watch; true if its field should become cheaper. */
static bool
watch_is_due(struct place_watch *w, uint64_t value)
{
	place_watch_note(w, place_watch_regret(w, value), value);
	return w->gain != 0 && w->regret >= w->limit;
}

static void
place_size(struct plan *plan, uint64_t value)
{
	const unsigned field = HATF_FIELD_SIZE;
	const struct layout_field *const f = &plan->layout->field[field];

	if (!layout_fits(f, value))
		set_width(plan, field, unsigned_width(value));
	else if (watch_is_due(&plan->place->watch[field], value))
		set_width(plan, field, f->width / 2u);
	else
		return;
	watch_begin(plan, field, value);
}

/* What stores the values of a field that leaves default. */
static unsigned
stored_interpretation(unsigned field)
{
	return field == HATF_FIELD_TIME ? HATF_DELTA : HATF_NONE;
}

static unsigned
stored_width(unsigned field, uint64_t previous, uint64_t value)
{
	return field == HATF_FIELD_TIME ? signed_width(value - previous)
					: unsigned_width(value);
}

/* A field under default has a new value after a run of the old one. */
static void
end_run(struct plan *plan, unsigned field, uint64_t value, uint64_t record)
{
	struct place *const p = plan->place;
	const struct layout_field *const f = &plan->layout->field[field];
	const uint64_t previous = f->origin;
	const unsigned width = stored_width(field, previous, value);
	const uint64_t length = record - p->run_start[field];
	/* A longer run than this clears any regret. */
	const int32_t run = length < RUN_LIMIT ? (int32_t)length : RUN_LIMIT;
	int32_t regret =
		p->run_regret[field] + VALUE_COST - (int32_t)width * run;

	if (regret < 0)
		regret = 0;
	p->run_start[field] = record;
	p->run_regret[field] = regret;
	if (regret < RUN_LIMIT) {
		set_interpretation(plan, field, HATF_DEFAULT, value);
		return;
	}
	p->run_regret[field] = 0;
	set_interpretation(plan, field, stored_interpretation(field), previous);
	if (f->width != width)
		set_width(plan, field, width);
}

/* Time, thread and heap. */
static void
place_run(struct plan *plan, unsigned field, uint64_t value, uint64_t record)
{
	const struct layout_field *const f = &plan->layout->field[field];
	struct place_watch *const w = &plan->place->watch[field];

	if (layout_fits(f, value)) {
		if (!watch_is_due(w, value))
			return;
		if (w->mask != 0) {
			set_width(plan, field, f->width / 2u);
		} else {
			set_interpretation(plan, field, HATF_DEFAULT, value);
			plan->place->run_start[field] = record;
		}
	} else if (f->interpretation == HATF_DEFAULT) {
		end_run(plan, field, value, record);
	} else {
		set_width(plan, field, stored_width(field, f->origin, value));
	}
	watch_begin(plan, field, value);
}

static bool
is_near(uint64_t base, uint64_t address)
{
	return signed_width(address - base) <= 4;
}

static void
set_base(struct plan *plan, uint64_t address)
{
	set_interpretation(plan, HATF_FIELD_ADDRESS, HATF_BASE_OFFSET,
			   address & ~(BASE_ALIGNMENT - 1));
}

/*
 * The address becomes wide.  If it was narrow for too short a time to pay for
 * its two changes, wait longer before the next time; and let each record that
 * the base was good for speak against another base.
 */
static void
widen_address(struct plan *plan, uint64_t record)
{
	struct place *const p = plan->place;
	const uint64_t length = record - p->narrow_start;

	if (length < 2 && p->narrow_limit < NARROW_LIMIT_MAX)
		p->narrow_limit *= 2;
	else if (length >= 2)
		p->narrow_limit = NARROW_LIMIT_MIN;
	if (length < FAR_LIMIT && p->far.regret > 4 * (int32_t)length)
		p->far.regret -= 4 * (int32_t)length;
	else
		p->far.regret = 0;
	set_width(plan, HATF_FIELD_ADDRESS, 8);
	watch_begin(plan, HATF_FIELD_ADDRESS, 0);
}

/*
 * Let 'far' judge an address.  A candidate that has no credit left gives way to
 * an address that the base does not suit; 0, a failed allocation, is not one.
 */
static void
note_far(struct plan *plan, uint64_t address)
{
	struct place_watch *const far = &plan->place->far;
	const uint64_t base = plan->layout->field[HATF_FIELD_ADDRESS].origin;

	if (far->regret == 0 && address != 0 && !is_near(base, address))
		watch_address(far, address & ~(BASE_ALIGNMENT - 1));
	far->regret = place_watch_regret(far, address);
}

/* The one or two addresses of a record, the new one last. */
static void
place_wide_address(struct plan *plan, const uint64_t *addresses, size_t count,
		   uint64_t record)
{
	struct place *const p = plan->place;
	struct place_watch *const w = &p->watch[HATF_FIELD_ADDRESS];
	bool all_near = true;
	bool all_far = true;

	for (size_t i = 0; i < count; i++) {
		w->regret = place_watch_regret(w, addresses[i]);
		note_far(plan, addresses[i]);
		all_near &= is_near(w->origin, addresses[i]);
		all_far &= is_near(p->far.origin, addresses[i]);
	}
	if (all_far && p->far.regret >= FAR_LIMIT) {
		set_base(plan, p->far.origin);
		p->far.regret = 0;
	} else if (!all_near || w->regret < p->narrow_limit) {
		return;
	}
	set_width(plan, HATF_FIELD_ADDRESS, 4);
	watch_begin(plan, HATF_FIELD_ADDRESS, 0);
	p->narrow_start = record;
}

static void
place_address(struct plan *plan, const uint64_t *addresses, size_t count,
	      uint64_t record)
{
	const struct layout_field *const f =
		&plan->layout->field[HATF_FIELD_ADDRESS];
	struct place *const p = plan->place;
	bool fits = true;

	for (size_t i = 0; i < count; i++)
		fits &= layout_fits(f, addresses[i]);
	if (!fits && !p->base_known && addresses[count - 1] != 0) {
		set_base(plan, addresses[count - 1]);
		p->base_known = true;
		fits = is_near(f->origin, addresses[0]);
	}
	if (!fits)
		widen_address(plan, record);
	if (f->width == 8)
		place_wide_address(plan, addresses, count, record);
}

/* Learn from the number of records since the last one with attributes. */
static void
adapt_empty_limit(struct place *p, uint64_t record)
{
	const uint64_t length = record - p->attributes_record;

	if (length > 2 * WIDTH_COST && p->empty_limit > EMPTY_LIMIT_MIN)
		p->empty_limit /= 2;
	else if (length < 2 * WIDTH_COST && p->empty_limit < EMPTY_LIMIT_MAX)
		p->empty_limit *= 2;
	p->attributes_record = record;
}

static void
place_attributes(struct plan *plan, uint32_t nbytes, uint64_t record)
{
	const unsigned field = HATF_FIELD_ATTRIBUTES;
	const struct layout_field *const f = &plan->layout->field[field];
	const unsigned width =
		nbytes > UINT8_MAX ? HATF_WIDTH_V2 : HATF_WIDTH_V1;

	if (nbytes == 0) {
		if (!watch_is_due(&plan->place->watch[field], nbytes))
			return;
		set_width(plan, field, 0);
	} else {
		adapt_empty_limit(plan->place, record);
		if (f->width < width)
			set_width(plan, field, width);
	}
	watch_begin(plan, field, 0);
}

static size_t
place_record(struct place *p, struct layout *layout,
	     const struct hatf_record *rec, uint64_t record,
	     struct hatf_metadata *out)
{
	struct plan plan = { .place = p, .layout = layout, .out = out };
	const unsigned fields = layout_tag_fields(rec->tag);
	const bool is_realloc = rec->tag >= HATF_REALLOC_NO_ALLOC &&
				rec->tag <= HATF_REALLOC_FREE;
	const uint64_t addresses[2] = { rec->old_address, rec->address };

	if (fields & 1u << HATF_FIELD_SIZE)
		place_size(&plan, rec->size);
	if (fields & 1u << HATF_FIELD_ADDRESS)
		place_address(&plan, addresses + !is_realloc, 1u + is_realloc,
			      record);
	place_run(&plan, HATF_FIELD_THREAD, rec->thread, record);
	if (fields & 1u << HATF_FIELD_HEAP)
		place_run(&plan, HATF_FIELD_HEAP, rec->heap, record);
	place_run(&plan, HATF_FIELD_TIME, rec->time, record);
	place_attributes(&plan, rec->attributes_nbytes, record);
	return plan.count;
}

/*
 * Put a field into a state, the last non-zero width included, that does not
 * depend on what came before: a reader may start here.  Under default the width
 * is set first, since there is no other way to agree on the last one.
 */
static void
restate(struct plan *plan, unsigned field, unsigned interpretation,
	unsigned width, uint64_t value)
{
	const unsigned last_width = plan->layout->field[field].last_width;

	if (interpretation != HATF_DEFAULT) {
		set_interpretation(plan, field, interpretation, value);
		set_width(plan, field, width);
	} else {
		if (last_width != 0) {
			set_interpretation(plan, field, HATF_NONE, 0);
			set_width(plan, field, last_width);
		}
		set_interpretation(plan, field, HATF_DEFAULT, value);
	}
	watch_begin(plan, field, value);
}

void
place_init(struct place *p)
{
	memset(p, 0, sizeof(*p));
	p->narrow_limit = NARROW_LIMIT_MIN;
	p->empty_limit = EMPTY_LIMIT_MAX;
}

static size_t
place_block(struct place *p, struct layout *layout, uint64_t time,
	    uint64_t thread, struct hatf_metadata *out)
{
	struct plan plan = { .place = p, .layout = layout, .out = out };
	const struct layout_field *const f = layout->field;
	const uint64_t base = p->base_known ? f[HATF_FIELD_ADDRESS].origin : 0;
	const uint64_t heap = p->watch[HATF_FIELD_HEAP].origin;

	/*
	 * Interpretations and the base go on; each width starts at its least,
	 * which costs at most one more record, and ends what an early part of
	 * the program has left behind.
	 */
	restate(&plan, HATF_FIELD_SIZE, HATF_NONE, 1, 0);
	restate(&plan, HATF_FIELD_ADDRESS, HATF_BASE_OFFSET, 4, base);
	restate(&plan, HATF_FIELD_TIME, f[HATF_FIELD_TIME].interpretation, 1,
		time);
	restate(&plan, HATF_FIELD_THREAD, f[HATF_FIELD_THREAD].interpretation,
		unsigned_width(thread), thread);
	restate(&plan, HATF_FIELD_HEAP, f[HATF_FIELD_HEAP].interpretation,
		unsigned_width(heap), heap);
	restate(&plan, HATF_FIELD_ATTRIBUTES, HATF_NONE, HATF_WIDTH_V1, 0);
	set_width(&plan, HATF_FIELD_ATTRIBUTES, 0);
	watch_begin(&plan, HATF_FIELD_ATTRIBUTES, 0);
	return plan.count;
}

/* Note that a record has used its values. */
static void
use_record(struct layout *layout, const struct hatf_record *rec)
{
	layout_use(&layout->field[HATF_FIELD_TIME], rec->time);
}

size_t
place_window(void *place, const struct layout *layout, bool restart,
	     const struct hatf_record *records, size_t n,
	     struct place_change *changes, size_t cap, size_t *count_ret)
{
	struct place *const p = place;
	struct layout state = *layout;
	struct hatf_metadata out[PLACE_METADATA_MAX];
	size_t i, count = 0;

	for (i = 0; i < n && cap - count >= PLACE_METADATA_MAX; i++) {
		const struct hatf_record *const rec = &records[i];
		size_t m = 0;

		if (i == 0 && restart)
			m = place_block(p, &state, rec->time, rec->thread, out);
		if (rec->tag != HATF_COMMENT) {
			m += place_record(p, &state, rec, p->record++, out + m);
			use_record(&state, rec);
		}
		for (size_t k = 0; k < m; k++) {
			changes[count].before = (uint32_t)i;
			changes[count++].metadata = out[k];
		}
	}
	*count_ret = count;
	return i;
}
