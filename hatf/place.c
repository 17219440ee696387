/* SPDX-License-Identifier: MIT */
/*
 * place.c - see place.h
 *
 * The fields do not depend on each other, so each of them has a trellis of its
 * own, of the states that are worth having:
 *
 *   field                first group           second group
 *   size                 none: 1, 2, 4, 8      default, after 1, 2, 4, 8
 *   address              delta: 1, 2, 4, 0     baseOffset: 0, 2, 4, 8
 *   time, thread, heap   delta: 1, 2, 4, 8     delta: 0
 *   attributes           1, 2, 4, 8            0, v1, v2
 *
 * "After": the last width, which a change from default restores for nothing.
 * Under delta, 0 bytes repeat the value: unlike default that takes no more than
 * a width to begin or end.  The address has one base, which a window may move.
 * Time, thread, heap and attributes mostly do not change in a window; then
 * there is nothing to decide.
 *
 * The state after a window is known for sure when the next one begins, so what
 * a window does not see is only that its end is not the end.
 */
#include "place.h"

/* Bytes of a metadata record: set fieldSize or "none"; with one value. */
enum {
	WIDTH_COST = 4,
	VALUE_COST = 12,
};

/* Classes of a use. */
enum {
	CLASS_CHANGED = 4,		  /* size: not that of the use before */
	CLASS_UNUSED = TRELLIS_TIED | 31, /* the record has no such field */
	ATTRIBUTES_SHORT = 5,		  /* any length up to 255 */
	ATTRIBUTES_LONG = 6,
};

/*
 * While a field does not get smaller by it, a delta of 4 bytes is worse than an
 * offset: it hides from a compressor that an address occurs again.
 */
#define DELTA_TOLL 1

/* Addresses that candidates are judged by; windows from one trial to the next;
 * bytes that another base must save in a window. */
#define BASE_SAMPLES 64
#define BASE_TRIAL   16
#define BASE_GAIN    24

/* The state that a field has before a window is none of the trellis'. */
#define FOREIGN TRELLIS_STATES

/* No such state. */
#define NO_WIDTH 255

/* Widths by state; under default, the last one. */
static const uint8_t size_widths[TRELLIS_STATES] = { 1, 1, 2, 2, 4, 4, 8, 8 };
static const uint8_t address_widths[TRELLIS_STATES] = {
	1, 0, 2, 2, 4, 4, 0, 8,
};
static const uint8_t delta_widths[TRELLIS_STATES] = {
	1, 0, 2, NO_WIDTH, 4, NO_WIDTH, 8, NO_WIDTH,
};
static const uint8_t attributes_widths[TRELLIS_STATES] = {
	1, 0, 2, HATF_WIDTH_V1, 4, HATF_WIDTH_V2, 8, NO_WIDTH,
};

static const uint8_t *const widths[HATF_FIELD_COUNT] = {
	[HATF_FIELD_SIZE] = size_widths,
	[HATF_FIELD_ADDRESS] = address_widths,
	[HATF_FIELD_TIME] = delta_widths,
	[HATF_FIELD_THREAD] = delta_widths,
	[HATF_FIELD_HEAP] = delta_widths,
	[HATF_FIELD_ATTRIBUTES] = attributes_widths,
};

/* The last width that is agreed upon where a block begins without one. */
static const uint8_t rest_width[HATF_FIELD_COUNT] = {
	[HATF_FIELD_ADDRESS] = 4,
	[HATF_FIELD_TIME] = 1,
	[HATF_FIELD_THREAD] = 1,
	[HATF_FIELD_HEAP] = 1,
	[HATF_FIELD_ATTRIBUTES] = HATF_WIDTH_V1,
};

/* Where nothing is stored, if that is possible at all. */
#define STATE_NOTHING 1

/* ------------------------------------------------------------------- rules */

static bool
is_second(unsigned state)
{
	return state & 1;
}

static enum hatf_interpretation
state_interpretation(unsigned field, unsigned state)
{
	switch (field) {
	case HATF_FIELD_SIZE:
		return is_second(state) ? HATF_DEFAULT : HATF_NONE;
	case HATF_FIELD_ADDRESS:
		return is_second(state) ? HATF_BASE_OFFSET : HATF_DELTA;
	case HATF_FIELD_ATTRIBUTES:
		return HATF_NONE;
	default:
		return HATF_DELTA;
	}
}

/* The state with this interpretation and width; FOREIGN: there is none. */
static unsigned
find_state(unsigned field, unsigned interpretation, unsigned width)
{
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		if (widths[field][i] == width &&
		    state_interpretation(field, i) == interpretation)
			return i;
	return FOREIGN;
}

static void
set_costs(struct trellis_costs *c, int first, int second)
{
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		c->state[i] = (int16_t)(is_second(i) ? second : first);
}

/* Changes are possible before all uses but tied ones. */
static void
init_rules(struct trellis_rules *r)
{
	memset(r, 0, sizeof(*r));
	set_costs(&r->within[1], TRELLIS_NEVER, TRELLIS_NEVER);
	set_costs(&r->enter[CLASS_UNUSED], TRELLIS_NEVER, TRELLIS_NEVER);
}

/* A number that takes at least 'needed' bytes. */
static int
number_cost(unsigned width, unsigned needed)
{
	if (width == NO_WIDTH || width < needed)
		return TRELLIS_NEVER;
	return (int)width;
}

static void
init_size_rules(struct trellis_rules *r)
{
	init_rules(r);
	set_costs(&r->within[0], WIDTH_COST, TRELLIS_NEVER);
	set_costs(&r->across, VALUE_COST, WIDTH_COST);
	set_costs(&r->aslant, TRELLIS_NEVER, 2 * WIDTH_COST);
	for (unsigned class = 0; class < 2 * CLASS_CHANGED; class ++) {
		const unsigned needed = 1u << class % CLASS_CHANGED;
		const bool changed = class & CLASS_CHANGED;

		for (unsigned i = 0; i < TRELLIS_STATES; i++) {
			int stay = number_cost(size_widths[i], needed);
			int enter = stay;

			if (is_second(i)) {
				stay = changed ? VALUE_COST : 0;
				enter = 0;
			}
			r->stay[class].state[i] = (int16_t)stay;
			r->enter[class].state[i] = (int16_t)enter;
		}
	}
}

/* What a difference of this class takes; 0: it is 0. */
static unsigned
delta_needed(unsigned class)
{
	return class == 0 ? 0 : 1u << (class - 1);
}

/* The class is 5 * that of the difference + that of the offset. */
static void
init_address_costs(struct trellis_rules *r, unsigned class)
{
	const unsigned delta = delta_needed(class % TRELLIS_TIED / 5);
	const unsigned offset = delta_needed(class % TRELLIS_TIED % 5);

	for (unsigned i = 0; i < TRELLIS_STATES; i++) {
		const unsigned width = address_widths[i];
		int stay = number_cost(width, offset);
		int enter = stay;

		if (!is_second(i)) {
			const int toll = width == 4 ? DELTA_TOLL : 0;

			/* Whatever the first value is, it can be stored as 0. */
			stay = toll + number_cost(width, delta);
			enter = toll + number_cost(width, 0);
		}
		if (class & TRELLIS_TIED)
			enter = TRELLIS_NEVER;
		r->stay[class].state[i] = (int16_t)stay;
		r->enter[class].state[i] = (int16_t)enter;
	}
}

static void
init_address_rules(struct trellis_rules *r)
{
	init_rules(r);
	set_costs(&r->within[0], WIDTH_COST, WIDTH_COST);
	set_costs(&r->across, VALUE_COST, VALUE_COST);
	set_costs(&r->aslant, VALUE_COST + WIDTH_COST, VALUE_COST + WIDTH_COST);
	/* Two of the pairs are not of the same width. */
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		if (address_widths[i] != address_widths[i ^ 1])
			r->across.state[i] = r->aslant.state[i];
	for (unsigned class = 0; class < 25; class ++) {
		init_address_costs(r, class);
		init_address_costs(r, class | TRELLIS_TIED);
	}
}

static void
init_delta_rules(struct trellis_rules *r)
{
	init_rules(r);
	set_costs(&r->within[0], WIDTH_COST, WIDTH_COST);
	set_costs(&r->across, WIDTH_COST, WIDTH_COST);
	set_costs(&r->aslant, WIDTH_COST, WIDTH_COST);
	for (unsigned class = 0; class < 5; class ++) {
		for (unsigned i = 0; i < TRELLIS_STATES; i++)
			r->stay[class].state[i] = (int16_t)number_cost(
				delta_widths[i], delta_needed(class));
		r->enter[class] = r->stay[class];
	}
}

/* What a record's attributes cost beyond themselves. */
static int16_t
attributes_cost(unsigned state, unsigned class)
{
	switch (attributes_widths[state]) {
	case 0:
		return class == 0 ? 0 : TRELLIS_NEVER;
	case HATF_WIDTH_V1:
		return class < ATTRIBUTES_LONG ? 1 : TRELLIS_NEVER;
	case HATF_WIDTH_V2:
		return 2;
	case NO_WIDTH:
		return TRELLIS_NEVER;
	default:
		return class == 1 + state / 2 ? 0 : TRELLIS_NEVER;
	}
}

static void
init_attributes_rules(struct trellis_rules *r)
{
	init_rules(r);
	set_costs(&r->within[0], WIDTH_COST, WIDTH_COST);
	set_costs(&r->across, WIDTH_COST, WIDTH_COST);
	set_costs(&r->aslant, WIDTH_COST, WIDTH_COST);
	for (unsigned class = 0; class <= ATTRIBUTES_LONG; class ++) {
		for (unsigned i = 0; i < TRELLIS_STATES; i++)
			r->stay[class].state[i] = attributes_cost(i, class);
		r->enter[class] = r->stay[class];
	}
}

void
place_init(struct place *p)
{
	memset(p, 0, sizeof(*p));
	init_size_rules(&p->size);
	init_address_rules(&p->address);
	init_delta_rules(&p->delta);
	init_attributes_rules(&p->attributes);
}

/* ----------------------------------------------------------------- classes */

/* 0, 1, 2, 3 for 1, 2, 4, 8 bytes; of a difference, 0 if there is none. */
static inline unsigned
unsigned_class(uint64_t value)
{
	return (value > UINT8_MAX) + (value > UINT16_MAX) +
	       (value > UINT32_MAX);
}

static inline unsigned
signed_class(uint64_t difference)
{
	const uint64_t size = difference ^ (0 - (difference >> 63));

	return (size > INT8_MAX) + (size > INT16_MAX) + (size > INT32_MAX);
}

static inline unsigned
delta_class(uint64_t difference)
{
	return (difference != 0) + signed_class(difference);
}

static inline uint8_t
address_class(uint64_t difference, uint64_t offset)
{
	return (uint8_t)(5 * delta_class(difference) + delta_class(offset));
}

static inline bool
is_realloc(const struct hatf_record *rec)
{
	return rec->tag >= HATF_REALLOC_NO_ALLOC &&
	       rec->tag <= HATF_REALLOC_FREE;
}

/* The window, and what a look at all of it tells. */
struct scan {
	const struct hatf_record *records;
	const struct layout *layout;
	size_t n, uses;
	bool restart;
	/* Bits that differ from the present default; attributes at all. */
	uint64_t time, thread, heap;
	uint32_t attributes;
};

static uint64_t
field_value(const struct hatf_record *rec, unsigned field)
{
	switch (field) {
	case HATF_FIELD_SIZE:
		return rec->size;
	case HATF_FIELD_ADDRESS:
		return is_realloc(rec) ? rec->old_address : rec->address;
	case HATF_FIELD_TIME:
		return rec->time;
	case HATF_FIELD_THREAD:
		return rec->thread;
	default:
		return rec->heap;
	}
}

static bool
has_field(const struct hatf_record *rec, unsigned field)
{
	return layout_tag_fields(rec->tag) >> field & 1;
}

/*
 * What the first use of a field is compared with: the value that the field has
 * now, or, if any state may be begun with it, the first value itself.
 */
static uint64_t
first_previous(const struct scan *s, unsigned field)
{
	if (!s->restart)
		return s->layout->field[field].origin;
	for (size_t i = 0; i < s->n; i++)
		if (has_field(&s->records[i], field))
			return field_value(&s->records[i], field);
	return 0;
}

/* Classify all uses of the address, and the sizes beside them. */
static void
scan_window(struct place *p, struct scan *s)
{
	const uint64_t base = p->base;
	const uint64_t time = first_previous(s, HATF_FIELD_TIME);
	const uint64_t thread = first_previous(s, HATF_FIELD_THREAD);
	const uint64_t heap = first_previous(s, HATF_FIELD_HEAP);
	uint64_t address = first_previous(s, HATF_FIELD_ADDRESS);
	uint64_t size = first_previous(s, HATF_FIELD_SIZE);
	uint64_t times = 0, threads = 0, heaps = 0;
	uint32_t attributes = 0;
	size_t use = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct hatf_record *const rec = &s->records[i];
		const unsigned tag = rec->tag;

		if (__builtin_expect(tag == HATF_COMMENT, 0))
			continue;
		times |= rec->time ^ time;
		threads |= rec->thread ^ thread;
		heaps |= rec->heap ^ heap;
		attributes |= rec->attributes_nbytes;
		if (__builtin_expect(tag > HATF_REALLOC_FREE, 0))
			continue;

		const bool has_size = tag != HATF_FREE;
		const unsigned size_class =
			unsigned_class(rec->size) |
			(rec->size != size ? CLASS_CHANGED : 0);
		uint8_t tied = 0;

		p->size_class[use] =
			(uint8_t)(has_size ? size_class : CLASS_UNUSED);
		size = has_size ? rec->size : size;
		if (tag != HATF_ALLOC && tag != HATF_FREE) {
			p->address_class[use] =
				address_class(rec->old_address - address,
					      rec->old_address - base);
			p->use_record[use++] = (uint16_t)i;
			address = rec->old_address;
			p->size_class[use] = CLASS_UNUSED;
			tied = TRELLIS_TIED;
		}
		p->address_class[use] = address_class(rec->address - address,
						      rec->address - base) |
					tied;
		p->use_record[use++] = (uint16_t)i;
		address = rec->address;
	}
	s->uses = use;
	s->time = times;
	s->thread = threads;
	s->heap = heaps;
	s->attributes = attributes;
}

/* Time, thread or heap. */
static void
classify_differences(struct place *p, const struct scan *s, unsigned field)
{
	uint64_t previous = first_previous(s, field);

	for (size_t i = 0; i < s->n; i++) {
		const struct hatf_record *const rec = &s->records[i];
		const uint64_t value = field_value(rec, field);

		p->class[i] = CLASS_UNUSED;
		if (!has_field(rec, field))
			continue;
		p->class[i] = (uint8_t)delta_class(value - previous);
		previous = value;
	}
}

static void
classify_attributes(struct place *p, const struct scan *s)
{
	static const uint8_t exact[] = {
		0,
		1,
		2,
		ATTRIBUTES_SHORT,
		3,
		ATTRIBUTES_SHORT,
		ATTRIBUTES_SHORT,
		ATTRIBUTES_SHORT,
		4,
	};

	for (size_t i = 0; i < s->n; i++) {
		const uint32_t nbytes = s->records[i].attributes_nbytes;

		if (s->records[i].tag == HATF_COMMENT)
			p->class[i] = CLASS_UNUSED;
		else if (nbytes < sizeof(exact))
			p->class[i] = exact[nbytes];
		else
			p->class[i] = nbytes <= UINT8_MAX ? ATTRIBUTES_SHORT
							  : ATTRIBUTES_LONG;
	}
}

/* -------------------------------------------------------------------- base */

/*
 * Candidates are of two kinds, since a base is good for two things: it is the
 * address that is used most, of which then nothing is stored, or the middle of
 * those 64 KiB that are used most, which then take 2 bytes.
 */
static const uint8_t candidate_weight[PLACE_CANDIDATES][5] = {
	{ 0, 2, 2, 4, 8 },
	{ 2, 2, 2, 4, 8 },
};
static const uint64_t candidate_distance[PLACE_CANDIDATES] = { 0, 0x8000 };

/* About what it costs to store these addresses as offsets. */
static unsigned
candidate_cost(const uint64_t *addresses, size_t n, uint64_t base,
	       const uint8_t *weight)
{
	unsigned cost = 0;

	for (size_t i = 0; i < n; i++)
		cost += weight[delta_class(addresses[i] - base)];
	return cost;
}

/* Let one address of the window, another one each time, challenge the best. */
static void
renew_candidates(struct place *p, const struct scan *s)
{
	const size_t stride = (s->n + BASE_SAMPLES - 1) / BASE_SAMPLES;
	uint64_t sample[BASE_SAMPLES];
	size_t n = 0;

	for (size_t i = 0; i < s->n; i += stride)
		if (s->records[i].address != 0)
			sample[n++] = s->records[i].address;
	if (n == 0)
		return;
	for (unsigned i = 0; i < PLACE_CANDIDATES; i++) {
		const uint8_t *const weight = candidate_weight[i];
		const uint64_t base =
			sample[p->window_count % n] + candidate_distance[i];

		if (!p->base_known ||
		    candidate_cost(sample, n, base, weight) <
			    candidate_cost(sample, n, p->candidate[i], weight))
			p->candidate[i] = base;
	}
	if (!p->base_known)
		p->base = p->candidate[0];
	p->base_known = true;
}

/* What the addresses of the window cost at best with this base. */
static int
base_cost(struct place *p, const struct scan *s, uint64_t base)
{
	struct trellis_costs start;
	const struct trellis_job job = {
		&p->address,
		&start,
		p->address_class,
		&p->path[0],
	};
	uint64_t address = p->base;
	int cost = INT16_MAX;
	size_t use = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct hatf_record *const rec = &s->records[i];

		if (rec->tag > HATF_REALLOC_FREE)
			continue;
		if (is_realloc(rec)) {
			p->address_class[use++] =
				address_class(rec->old_address - address,
					      rec->old_address - base);
			address = rec->old_address;
		}
		p->address_class[use++] = address_class(rec->address - address,
							rec->address - base);
		address = rec->address;
	}
	if (use == 0)
		return 0;
	set_costs(&start, 0, 0);
	trellis_run(&job, use);
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		if (p->path[0].costs[use - 1].state[i] < cost)
			cost = p->path[0].costs[use - 1].state[i];
	return cost;
}

/*
 * Shall the base move?  Now and then a window tells what the candidates are
 * really worth.
 */
static void
choose_base(struct place *p, const struct scan *s)
{
	const uint32_t count = p->window_count;

	renew_candidates(p, s);
	p->window_count++;
	if (count > BASE_TRIAL && count % BASE_TRIAL > 1)
		return;

	const uint64_t base = p->candidate[count % PLACE_CANDIDATES];

	if (base != p->base &&
	    base_cost(p, s, base) + BASE_GAIN < base_cost(p, s, p->base))
		p->base = base;
}

/* ------------------------------------------------------------------ changes */

/* The changes of one field, as they are found. */
struct field_plan {
	struct place *p;
	const struct scan *s;
	unsigned field;
	struct layout_field now; /* after the changes so far */
	size_t cut;		 /* records that can be decided */
};

static void
emit(struct field_plan *f, size_t record, unsigned op, unsigned argument,
     uint64_t value)
{
	struct place_change *const c =
		&f->p->list[f->field][f->p->list_count[f->field]++];

	c->before = (uint32_t)record;
	c->metadata = (struct hatf_metadata){
		.op = (uint8_t)op,
		.field = (uint8_t)f->field,
		.argument = (uint8_t)argument,
		.value = value,
	};
}

/* The field's width and last width; "default" stores nothing. */
static void
emit_width(struct field_plan *f, size_t record, unsigned width)
{
	emit(f, record, HATF_SET_FIELD_SIZE, width, 0);
	f->now.width = (uint8_t)width;
	if (width != 0)
		f->now.last_width = (uint8_t)width;
}

static void
emit_interpretation(struct field_plan *f, size_t record,
		    unsigned interpretation, uint64_t value)
{
	if (interpretation == HATF_NONE)
		value = 0;
	emit(f, record, HATF_SET_FIELD_INTERPRETATION, interpretation, value);
	f->now.interpretation = (uint8_t)interpretation;
	f->now.origin = value;
	f->now.width = interpretation == HATF_DEFAULT ? 0 : f->now.last_width;
}

/* Is there room for another turn?  If not, the window ends before 'record'. */
static bool
has_room(struct field_plan *f, size_t record)
{
	if (f->p->list_count[f->field] + 3 <= PLACE_FIELD_CHANGES)
		return true;
	if (record < f->cut)
		f->cut = record;
	return false;
}

/*
 * Put the field into a state, in which 'value' is the first one.  'restated':
 * whatever it was before, with the last width that is not 0.  Where the new
 * state has none that is set first, since there is no other way to agree on it.
 */
static void
enter(struct field_plan *f, size_t record, unsigned state, uint64_t value,
      bool restated)
{
	const unsigned interpretation = state_interpretation(f->field, state);
	const bool is_default = interpretation == HATF_DEFAULT;
	const bool is_base = interpretation == HATF_BASE_OFFSET;
	const unsigned width = widths[f->field][state];
	const uint64_t argument = is_base ? f->p->base : value;

	if (is_default && restated) {
		emit_interpretation(f, record, HATF_NONE, 0);
		emit_width(f, record, width);
	}
	if (restated || f->now.interpretation != interpretation ||
	    (is_base && f->now.origin != argument) || is_default)
		emit_interpretation(f, record, interpretation, argument);
	if (is_default)
		return;
	if (restated && width == 0)
		emit_width(f, record, rest_width[f->field]);
	if (restated || f->now.width != width)
		emit_width(f, record, width);
}

/* --------------------------------------------------------- one field's plan */

/* The state of the trellis that the field is in; FOREIGN if it is in none. */
static unsigned
present_state(const struct place *p, const struct layout_field *f,
	      unsigned field)
{
	if (f->interpretation == HATF_BASE_OFFSET && f->origin != p->base)
		return FOREIGN;
	return find_state(field, f->interpretation,
			  f->interpretation == HATF_DEFAULT ? f->last_width
							    : f->width);
}

/*
 * What it costs to be in each state when the window begins: nothing for the
 * present one.  Where there is no present one each is entered first, for much
 * the same.
 */
static void
start_costs(const struct field_plan *f, unsigned present,
	    struct trellis_costs *start)
{
	set_costs(start, TRELLIS_NEVER, TRELLIS_NEVER);
	if (present != FOREIGN) {
		start->state[present] = 0;
		return;
	}
	for (unsigned i = 0; i < TRELLIS_STATES; i++) {
		const unsigned width = widths[f->field][i];
		const unsigned interpretation =
			state_interpretation(f->field, i);

		if (width == NO_WIDTH)
			continue;
		start->state[i] = WIDTH_COST;
		if (interpretation != HATF_NONE)
			start->state[i] = VALUE_COST;
		if (f->s->restart || f->now.last_width != width)
			start->state[i] += WIDTH_COST;
	}
}

/* The record of a use, and the values that its record has. */
static size_t
use_record(const struct field_plan *f, size_t use)
{
	return f->field <= HATF_FIELD_ADDRESS ? f->p->use_record[use] : use;
}

static uint64_t
use_value(const struct field_plan *f, size_t use)
{
	return field_value(&f->s->records[use_record(f, use)], f->field);
}

/* Under default from 'use' to 'end': name the values that differ. */
static bool
emit_defaults(struct field_plan *f, const uint8_t *classes, size_t use,
	      size_t end)
{
	for (; use < end; use++) {
		const unsigned class = classes[use];

		if (class == CLASS_UNUSED || (class & CLASS_CHANGED) == 0)
			continue;
		if (!has_room(f, use_record(f, use)))
			return false;
		emit_interpretation(f, use_record(f, use), HATF_DEFAULT,
				    use_value(f, use));
	}
	return true;
}

/* Make changes of the turns, of which the last one is the first. */
static void
emit_turns(struct field_plan *f, const struct trellis_job *job, size_t n,
	   bool is_foreign)
{
	unsigned first;
	const struct trellis_turn *const turns = f->p->turns;
	size_t left = trellis_trace(job, n, f->p->turns, &first);
	size_t use = 0;
	unsigned state = first;

	if (is_foreign) {
		uint64_t value = first_previous(f->s, f->field);

		if (left != 0 && turns[left - 1].use == 0) {
			state = turns[--left].state;
			value = use_value(f, 0);
			use = 1;
		}
		enter(f, 0, state, value, f->s->restart);
	}
	for (;;) {
		const size_t end = left != 0 ? turns[left - 1].use : n;

		if (f->now.interpretation == HATF_DEFAULT &&
		    !emit_defaults(f, job->classes, use, end))
			return;
		if (left == 0)
			return;
		use = turns[--left].use;
		state = turns[left].state;
		if (!has_room(f, use_record(f, use)))
			return;
		enter(f, use_record(f, use), state, use_value(f, use), false);
		use++;
	}
}

static struct field_plan
begin_field(struct place *p, const struct scan *s, unsigned field, size_t cut)
{
	p->list_count[field] = 0;
	return (struct field_plan){
		.p = p,
		.s = s,
		.field = field,
		.now = s->layout->field[field],
		.cut = cut,
	};
}

static unsigned
begin_state(const struct field_plan *f)
{
	return f->s->restart ? FOREIGN : present_state(f->p, &f->now, f->field);
}

/* Both at once, which takes hardly longer than one of them. */
static size_t
plan_size_and_address(struct place *p, const struct scan *s, size_t cut)
{
	struct field_plan size = begin_field(p, s, HATF_FIELD_SIZE, cut);
	struct field_plan address = begin_field(p, s, HATF_FIELD_ADDRESS, cut);
	const unsigned size_state = begin_state(&size);
	const unsigned address_state = begin_state(&address);
	struct trellis_costs size_start, address_start;
	const struct trellis_job size_job = {
		&p->size,
		&size_start,
		p->size_class,
		&p->path[0],
	};
	const struct trellis_job address_job = {
		&p->address,
		&address_start,
		p->address_class,
		&p->path[1],
	};

	start_costs(&size, size_state, &size_start);
	start_costs(&address, address_state, &address_start);
	trellis_run_two(&size_job, &address_job, s->uses);
	emit_turns(&size, &size_job, s->uses, size_state == FOREIGN);
	emit_turns(&address, &address_job, s->uses, address_state == FOREIGN);
	return size.cut < address.cut ? size.cut : address.cut;
}

/* Time, thread, heap or attributes; 'varies': is there anything to decide? */
static size_t
plan_field(struct place *p, const struct scan *s, unsigned field, bool varies,
	   size_t cut)
{
	const bool is_attributes = field == HATF_FIELD_ATTRIBUTES;
	struct field_plan f = begin_field(p, s, field, cut);
	const unsigned state = begin_state(&f);
	struct trellis_costs start;
	const struct trellis_job job = {
		is_attributes ? &p->attributes : &p->delta,
		&start,
		p->class,
		&p->path[0],
	};

	if (!varies && state == STATE_NOTHING)
		return cut;
	if (!varies && s->restart) {
		enter(&f, 0, STATE_NOTHING, first_previous(s, field), true);
		return cut;
	}
	if (is_attributes)
		classify_attributes(p, s);
	else
		classify_differences(p, s, field);
	start_costs(&f, state, &start);
	trellis_run(&job, s->n);
	emit_turns(&f, &job, s->n, state == FOREIGN);
	return f.cut;
}

/* The field whose next change comes first; HATF_FIELD_COUNT: there is none. */
static unsigned
next_field(const struct place *p, const uint32_t *done, size_t cut)
{
	unsigned field = HATF_FIELD_COUNT;
	size_t before = cut;

	for (unsigned i = 0; i < HATF_FIELD_COUNT; i++) {
		if (done[i] < p->list_count[i] &&
		    p->list[i][done[i]].before < before) {
			before = p->list[i][done[i]].before;
			field = i;
		}
	}
	return field;
}

/*
 * Put the changes of all fields in order.  If 'changes' gets full, those before
 * the record in question go, and the window ends there.
 */
static size_t
merge(const struct place *p, size_t cut, struct place_change *changes,
      size_t cap, size_t *count_ret)
{
	uint32_t done[HATF_FIELD_COUNT] = { 0 };
	size_t count = 0;
	unsigned field;

	while ((field = next_field(p, done, cut)) != HATF_FIELD_COUNT) {
		const struct place_change *const c =
			&p->list[field][done[field]++];

		if (count == cap) {
			cut = c->before;
			while (count > 0 && changes[count - 1].before == cut)
				count--;
			break;
		}
		changes[count++] = *c;
	}
	*count_ret = count;
	return cut;
}

size_t
place_window(void *place, const struct layout *layout, bool restart,
	     const struct hatf_record *records, size_t n,
	     struct place_change *changes, size_t cap, size_t *count_ret)
{
	struct place *const p = place;
	struct scan s = {
		.records = records,
		.layout = layout,
		.n = n < PLACE_WINDOW_RECORDS ? n : PLACE_WINDOW_RECORDS,
		.restart = restart,
	};
	size_t cut = s.n;

	choose_base(p, &s);
	scan_window(p, &s);
	cut = plan_size_and_address(p, &s, cut);
	cut = plan_field(p, &s, HATF_FIELD_TIME, s.time != 0, cut);
	cut = plan_field(p, &s, HATF_FIELD_THREAD, s.thread != 0, cut);
	cut = plan_field(p, &s, HATF_FIELD_HEAP, s.heap != 0, cut);
	cut = plan_field(p, &s, HATF_FIELD_ATTRIBUTES, s.attributes != 0, cut);
	return merge(p, cut, changes, cap, count_ret);
}
