/* SPDX-License-Identifier: MIT */
/*
 * place.c - see place.h
 *
 * The costs of the fields do not depend on each other.  So each field has a
 * trellis of its own (trellis.h) over a few useful states (field_states.h), and
 * takes the cheapest path through the span.  The address has one base in a
 * span; the next span may have another.  Time, thread and heap need no plan in
 * a span where they do not change and are already stored in 0 bytes.  The same
 * holds for the attributes in a span where no record has attributes.
 *
 * Each span starts from the actual state after the previous span.  The plan is
 * the cheapest one for the span itself, but ignores the records after its end.
 */
#include "hatf/codec/place.h"

#include "hatf/codec/hatf_record.h"

/*
 * A candidate is an address that may become the base of the address field.
 * BASE_SAMPLES: renew_candidates() compares the costs of two candidates for at
 * most this many addresses of a span.
 * BASE_TRIAL: after the first spans, two of every BASE_TRIAL spans try a
 * candidate.
 * BASE_GAIN: to become the base, a candidate must save more than this many
 * bytes in a span.
 */
#define BASE_SAMPLES 16
#define BASE_TRIAL   8
#define BASE_GAIN    96

/*
 * The metadata at the beginning of a block sets 'last_width' (layout.h) of each
 * field to a number other than 0.  If a field begins with the width 0, the
 * metadata first sets the width in this table, and then the width 0.
 * The size never begins with the width 0, so it has no entry.
 */
static const uint8_t default_last_width[HATF_FIELD_COUNT] = {
	[HATF_FIELD_ADDRESS] = 4,
	[HATF_FIELD_TIME] = 1,
	[HATF_FIELD_THREAD] = 1,
	[HATF_FIELD_HEAP] = 1,
	[HATF_FIELD_ATTRIBUTES] = HATF_WIDTH_V1,
};

void
place_init(struct place *p)
{
	/*
	 * Do not clear 'list_count' and the members after it, because the
	 * planners write them before they read them.
	 */
	memset(p, 0, offsetof(struct place, list_count));
	field_states_init(&p->states);
}

/* -------------------------------------------------------------------- base */

/*
 * There are two kinds of candidates for the base.  One kind approximates the
 * most frequent address, whose offset then takes 0 bytes.  The other kind
 * approximates the middle of the 64 KiB with the most addresses, so that the
 * offset of each address in this range takes 2 bytes.  Each row of the table
 * belongs to one kind, and gives the cost of an offset by the class of the
 * offset.
 */
static const uint8_t candidate_weight[PLACE_CANDIDATES][5] = {
	{ 0, 2, 2, 4, 8 },
	{ 2, 2, 2, 4, 8 },
};
static const uint64_t candidate_distance[PLACE_CANDIDATES] = { 0, 0x8000 };

/* Estimate what it costs to store these addresses as offsets from 'base'. */
static unsigned
candidate_cost(const uint64_t *addresses, size_t n, uint64_t base,
	       const uint8_t *weight)
{
	unsigned cost = 0;

	for (size_t i = 0; i < n; i++)
		cost += weight[field_uses_delta_class(addresses[i] - base)];
	return cost;
}

/*
 * For each candidate, derive a new address from one address of the span; each
 * call takes the address at another position.  If a sample of the span would
 * take fewer bytes with the new address as base than with the present
 * candidate, replace the candidate.  If 'base_known' is false, skip this
 * comparison, and set 'base' to candidate 0.
 */
static void
renew_candidates(struct place *p, const struct hatf_record *records, size_t n)
{
	const size_t stride = (n + BASE_SAMPLES - 1) / BASE_SAMPLES;
	uint64_t sample[BASE_SAMPLES];
	size_t count = 0;

	for (size_t i = 0; i < n; i += stride)
		if (records[i].address != 0)
			sample[count++] = records[i].address;
	if (count == 0)
		return;
	for (unsigned i = 0; i < PLACE_CANDIDATES; i++) {
		const uint8_t *const weight = candidate_weight[i];
		const uint64_t base =
			sample[p->span_count % count] + candidate_distance[i];

		if (!p->base_known ||
		    candidate_cost(sample, count, base, weight) <
			    candidate_cost(sample, count, p->candidate[i],
					   weight))
			p->candidate[i] = base;
	}
	if (!p->base_known)
		p->base = p->candidate[0];
	p->base_known = true;
}

static int
least_cost(const struct trellis_path *path, size_t uses)
{
	const struct trellis_costs *const last = &path->costs[uses - 1];

	return last->state[trellis_cheapest(last)];
}

/*
 * In the first spans and in a quarter of the later ones, plan the addresses of
 * the span a second time, with a candidate as base.  If this saves more than
 * BASE_GAIN bytes, make the candidate the base for the next spans.
 */
static void
try_candidate(struct place *p)
{
	const uint32_t count = p->span_count++;
	const uint64_t base = p->candidate[count % PLACE_CANDIDATES];
	const size_t uses = p->uses.count;
	struct trellis_costs start;
	const struct trellis_job job = {
		&p->states.address,
		&start,
		p->uses.address_class,
		&p->path[0],
	};

	if ((count > BASE_TRIAL && count % BASE_TRIAL > 1) || uses == 0 ||
	    base == p->base)
		return;
	field_states_set(&start, 0, 0);
	field_uses_rebase(&p->uses, base);
	trellis_run(&job, uses);
	if (least_cost(&p->path[0], uses) + BASE_GAIN <
	    least_cost(&p->path[1], uses))
		p->base = base;
}

/* ------------------------------------------------------------------ changes */

/* An unfinished plan for one field. */
struct field_plan {
	struct place *p;

	unsigned field;
	/* state of the field after the changes so far */
	struct layout_field now;
	size_t cut; /* how many records the plan covers */
};

static void
emit(struct field_plan *f, size_t record, unsigned op, unsigned argument,
     uint64_t value)
{
	struct place_change *const c =
		&f->p->list[f->p->list_count[f->field]++][f->field];

	c->before = (uint32_t)record;
	c->metadata = (struct hatf_metadata){
		.op = (uint8_t)op,
		.field = (uint8_t)f->field,
		.argument = (uint8_t)argument,
		.value = value,
	};
}

/* Emit a "set fieldSize" record. */
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

/*
 * Is there room for the metadata that one call of enter() emits, at most three
 * records?  If not, end the span before 'record'.
 */
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
 * Emit the changes that put the field into 'state'.  'value' is the next value
 * of the field; it becomes the default, or the 'initialValue' of a delta that
 * begins here.  If 'restated' is set, emit every setting, even if the field
 * already has it, and give the field a 'last_width' that is not 0: if the new
 * width is 0, first set the width in 'default_last_width'.
 */
static void
enter(struct field_plan *f, size_t record, unsigned state, uint64_t value,
      bool restated)
{
	const unsigned interpretation =
		field_state_interpretation(f->field, state);
	const bool is_default = interpretation == HATF_DEFAULT;
	const bool is_base = interpretation == HATF_BASE_OFFSET;
	const unsigned width = field_state_width(f->field, state);
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
		emit_width(f, record, default_last_width[f->field]);
	if (restated || f->now.width != width)
		emit_width(f, record, width);
}

/* --------------------------------------------------------- one field's plan */

/*
 * Return the present state of the field.  Return FIELD_STATE_OTHER if the span
 * begins a block, or if the trellis does not have the state.  Under
 * 'baseOffset', the trellis has states only for the base 'p->base'.
 */
static unsigned
present_state(const struct field_plan *f)
{
	if (f->p->uses.restart || (f->now.interpretation == HATF_BASE_OFFSET &&
				   f->now.origin != f->p->base))
		return FIELD_STATE_OTHER;
	return field_state_of(f->field, &f->now);
}

/*
 * Set the cost of each state at the start of the span.  If 'present', the state
 * before the span, is not FIELD_STATE_OTHER, it costs 0, and the span can start
 * in no other state.  Else estimate for each state the length of the metadata
 * that enters it.
 */
static void
start_costs(const struct field_plan *f, unsigned present,
	    struct trellis_costs *start)
{
	field_states_set(start, TRELLIS_NEVER, TRELLIS_NEVER);
	if (present != FIELD_STATE_OTHER) {
		start->state[present] = 0;
		return;
	}
	for (unsigned i = 0; i < TRELLIS_STATES; i++) {
		const unsigned width = field_state_width(f->field, i);
		const unsigned interpretation =
			field_state_interpretation(f->field, i);

		if (width == FIELD_STATE_NO_WIDTH)
			continue;
		start->state[i] = FIELD_STATE_WIDTH_COST;
		if (interpretation != HATF_NONE)
			start->state[i] = FIELD_STATE_VALUE_COST;
		if (f->p->uses.restart || f->now.last_width != width)
			start->state[i] += FIELD_STATE_WIDTH_COST;
	}
}

/* Return the index of the record to which use number 'use' belongs. */
static size_t
use_record(const struct field_plan *f, size_t use)
{
	return f->field <= HATF_FIELD_ADDRESS ? f->p->uses.record[use] : use;
}

static uint64_t
use_value(const struct field_plan *f, size_t use)
{
	return field_uses_value(&f->p->uses.records[use_record(f, use)],
				f->field);
}

/*
 * From use 'use' to the use before 'end', the interpretation of the field is
 * default.  Emit a change of the default wherever the value changes.  Return
 * false if there is no room for a change.
 */
static bool
emit_defaults(struct field_plan *f, const uint8_t *classes, size_t use,
	      size_t end)
{
	for (; use < end; use++) {
		const unsigned class = classes[use];

		if (class == FIELD_CLASS_UNUSED ||
		    (class & FIELD_CLASS_CHANGED) == 0)
			continue;
		if (!has_room(f, use_record(f, use)))
			return false;
		emit_interpretation(f, use_record(f, use), HATF_DEFAULT,
				    use_value(f, use));
	}
	return true;
}

/*
 * Convert each turn of the cheapest path (a use before which the path changes
 * its state) into metadata changes.  'turns' begins with the last turn.  If
 * 'is_foreign' is set, the field's state before the span is FIELD_STATE_OTHER,
 * so first enter the first state of the path.  If there is no room for a
 * change, end the span before the record of this change.
 */
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
		uint64_t value = field_uses_previous(&f->p->uses, f->field);

		if (left != 0 && turns[left - 1].use == 0) {
			state = turns[--left].state;
			value = use_value(f, 0);
			use = 1;
		}
		enter(f, 0, state, value, f->p->uses.restart);
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
begin_field(struct place *p, unsigned field, size_t cut)
{
	p->list_count[field] = 0;
	return (struct field_plan){
		.p = p,
		.field = field,
		.now = p->uses.layout->field[field],
		.cut = cut,
	};
}

/*
 * Plan size and address together, because planning both takes little longer
 * than planning one.
 */
static size_t
plan_size_and_address(struct place *p, size_t cut)
{
	struct field_plan size = begin_field(p, HATF_FIELD_SIZE, cut);
	struct field_plan address = begin_field(p, HATF_FIELD_ADDRESS, cut);
	const unsigned size_state = present_state(&size);
	const unsigned address_state = present_state(&address);
	struct trellis_costs size_start, address_start;
	const struct trellis_job size_job = {
		&p->states.size,
		&size_start,
		p->uses.size_class,
		&p->path[0],
	};
	const struct trellis_job address_job = {
		&p->states.address,
		&address_start,
		p->uses.address_class,
		&p->path[1],
	};

	start_costs(&size, size_state, &size_start);
	start_costs(&address, address_state, &address_start);
	trellis_run_two(&size_job, &address_job, p->uses.count);
	emit_turns(&size, &size_job, p->uses.count,
		   size_state == FIELD_STATE_OTHER);
	emit_turns(&address, &address_job, p->uses.count,
		   address_state == FIELD_STATE_OTHER);
	return size.cut < address.cut ? size.cut : address.cut;
}

/*
 * Plan the field 'field': time, thread, heap or attributes.  'varies' is false
 * if the member of 'struct field_uses' for this field ('time', 'thread', 'heap'
 * or 'attributes') is 0.
 */
static size_t
plan_field(struct place *p, unsigned field, bool varies, size_t cut)
{
	const bool is_attributes = field == HATF_FIELD_ATTRIBUTES;
	struct field_plan f = begin_field(p, field, cut);
	const unsigned state = present_state(&f);
	struct trellis_costs start;
	const struct trellis_job job = {
		is_attributes ? &p->states.attributes : &p->states.delta,
		&start,
		p->uses.field_class,
		&p->path[0],
	};

	if (!varies && state == FIELD_STATE_EMPTY)
		return cut;
	if (!varies && p->uses.restart) {
		enter(&f, 0, FIELD_STATE_EMPTY,
		      field_uses_previous(&p->uses, field), true);
		return cut;
	}
	field_uses_classify(&p->uses, field);
	start_costs(&f, state, &start);
	trellis_run(&job, p->uses.record_count);
	emit_turns(&f, &job, p->uses.record_count, state == FIELD_STATE_OTHER);
	return f.cut;
}

/*
 * Return the field whose next change is the earliest; HATF_FIELD_COUNT if no
 * change before record 'cut' is left.
 */
static unsigned
next_field(const struct place *p, const uint32_t *done, size_t cut)
{
	unsigned field = HATF_FIELD_COUNT;
	size_t before = cut;

	for (unsigned i = 0; i < HATF_FIELD_COUNT; i++) {
		if (done[i] < p->list_count[i] &&
		    p->list[done[i]][i].before < before) {
			before = p->list[done[i]][i].before;
			field = i;
		}
	}
	return field;
}

/*
 * Merge the changes of all fields in the order of their records, and return the
 * number of records planned: 'cut' or fewer.  If 'changes' has no room for a
 * change, end the span before the record of that change, and drop the changes
 * that were already stored for this record.
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
			&p->list[done[field]++][field];

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
place_span(void *place, const struct layout *layout, bool restart,
	   const struct hatf_record *records, size_t n,
	   struct place_change *changes, size_t cap, size_t *count_ret)
{
	struct place *const p = place;
	const struct field_uses *const u = &p->uses;
	size_t cut = n < PLACE_SPAN_RECORDS ? n : PLACE_SPAN_RECORDS;

	renew_candidates(p, records, cut);
	field_uses_scan(&p->uses, records, cut, layout, restart, p->base);
	cut = plan_size_and_address(p, cut);
	try_candidate(p);
	cut = plan_field(p, HATF_FIELD_TIME, u->time != 0, cut);
	cut = plan_field(p, HATF_FIELD_THREAD, u->thread != 0, cut);
	cut = plan_field(p, HATF_FIELD_HEAP, u->heap != 0, cut);
	cut = plan_field(p, HATF_FIELD_ATTRIBUTES, u->attributes != 0, cut);
	return merge(p, cut, changes, cap, count_ret);
}

/* --------------------------------------------------------------- fast mode */

#define FAST_STATES_MAX 5

/*
 * In each block, place_exception() may make EXCEPTIONS_MIN exceptions for a
 * field, and one more for every EXCEPTION_NBYTES bytes of the block.
 */
#define EXCEPTIONS_MIN	 4
#define EXCEPTION_NBYTES 256

/*
 * The states that place_fast() tries for each field, in this order.  States 0,
 * 2, 4 and 6 are the first group in the table of field_states.h, in the order
 * of the table, and states 1, 3, 5 and 7 are the second group.  The last state
 * of each field fits every span.
 */
static const struct {
	uint8_t count, state[FAST_STATES_MAX];
} fast_states[HATF_FIELD_COUNT] = {
	[HATF_FIELD_SIZE] = { 3, { 2, 4, 6 } },
	[HATF_FIELD_ADDRESS] = { 2, { 5, 7 } },
	[HATF_FIELD_TIME] = { 5, { FIELD_STATE_EMPTY, 0, 2, 4, 6 } },
	[HATF_FIELD_THREAD] = { 5, { FIELD_STATE_EMPTY, 0, 2, 4, 6 } },
	[HATF_FIELD_HEAP] = { 5, { FIELD_STATE_EMPTY, 0, 2, 4, 6 } },
	[HATF_FIELD_ATTRIBUTES] = { 3, { FIELD_STATE_EMPTY, 3, 5 } },
};

static bool
take_value(struct layout_field *f, uint64_t value)
{
	const bool fits = layout_fits(f, value);

	layout_use(f, value);
	return fits;
}

/* Do all values of the field in the span fit the state 'f' of the field? */
static bool
fits_span(const struct field_uses *u, unsigned field, struct layout_field f)
{
	for (size_t i = 0; i < u->record_count; i++) {
		const struct hatf_record *const rec = &u->records[i];

		if ((layout_tag_fields(rec->tag) >> field & 1) == 0)
			continue;
		if (field == HATF_FIELD_ATTRIBUTES) {
			if (!layout_fits_bytes(&f, rec->attributes_nbytes))
				return false;
			continue;
		}
		if (field == HATF_FIELD_ADDRESS &&
		    hatf_record_is_realloc(rec) &&
		    !take_value(&f, rec->old_address))
			return false;
		if (!take_value(&f, hatf_record_number(rec, field)))
			return false;
	}
	return true;
}

/*
 * Plan to put the field into 'state' before the span.  Return true if all
 * values of the field in the span then fit.
 */
static bool
try_fast_state(struct place *p, unsigned field, unsigned state)
{
	const struct field_uses *const u = &p->uses;
	struct field_plan f = begin_field(p, field, u->record_count);
	struct layout after = *u->layout;

	enter(&f, 0, state, field_uses_first(u, field), u->restart);
	for (uint32_t i = 0; i < p->list_count[field]; i++)
		layout_apply(&after, &p->list[i][field].metadata);
	return fits_span(u, field, after.field[field]);
}

static void
plan_fast(struct place *p, unsigned field)
{
	const struct field_uses *const u = &p->uses;

	p->list_count[field] = 0;
	if (!u->restart && fits_span(u, field, u->layout->field[field]))
		return;
	for (unsigned i = 0; i < fast_states[field].count; i++) {
		if (try_fast_state(p, field, fast_states[field].state[i]))
			return;
		/*
		 * With another base, all offsets may fit in 32 bits, so try a
		 * candidate as base.
		 */
		if (field != HATF_FIELD_ADDRESS || i != 0)
			continue;
		p->base = p->candidate[PLACE_CANDIDATES - 1];
		if (try_fast_state(p, field, fast_states[field].state[i]))
			return;
	}
}

size_t
place_fast(void *place, const struct layout *layout, bool restart,
	   const struct hatf_record *records, size_t n,
	   struct place_change *changes, size_t cap, size_t *count_ret)
{
	struct place *const p = place;
	const size_t cut = n < PLACE_SPAN_RECORDS ? n : PLACE_SPAN_RECORDS;

	p->span_count++;
	renew_candidates(p, records, cut);
	p->uses.records = records;
	p->uses.record_count = cut;
	p->uses.layout = layout;
	p->uses.restart = restart;
	for (unsigned i = 0; i < HATF_FIELD_COUNT; i++)
		plan_fast(p, i);
	return merge(p, cut, changes, cap, count_ret);
}

/*
 * Store in '*c' the change to the narrowest width that can store the field's
 * values in the record.  Return false if no width can.
 */
static bool
widen(const struct field_uses *u, unsigned field, struct place_change *c)
{
	/* layout_apply() refuses numbers that are no codes of widths. */
	for (unsigned width = 1; width <= HATF_WIDTH_V2; width++) {
		struct layout after = *u->layout;

		c->before = 0;
		c->metadata =
			(struct hatf_metadata){ .op = HATF_SET_FIELD_SIZE,
						.field = (uint8_t)field,
						.argument = (uint8_t)width };
		if (layout_apply(&after, &c->metadata) == NULL &&
		    fits_span(u, field, after.field[field]))
			return true;
	}
	return false;
}

bool
place_exception(struct place *p, const struct layout *layout,
		const struct hatf_record *rec, size_t nbytes,
		struct place_change *changes, size_t *count_ret)
{
	const size_t limit = EXCEPTIONS_MIN + nbytes / EXCEPTION_NBYTES;
	size_t n = 0;

	p->uses.records = rec;
	p->uses.record_count = 1;
	p->uses.layout = layout;
	for (unsigned i = 0; i < HATF_FIELD_COUNT; i++)
		if (!fits_span(&p->uses, i, layout->field[i]) &&
		    (!widen(&p->uses, i, &changes[n++]) ||
		     p->exceptions[i]++ >= limit))
			return false;
	for (size_t i = 0; i < n; i++) {
		struct place_change *const c = &changes[n + i];

		*c = changes[i];
		c->before = 1;
		c->metadata.argument = layout->field[c->metadata.field].width;
	}
	*count_ret = 2 * n;
	return true;
}
