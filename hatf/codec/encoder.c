/* SPDX-License-Identifier: MIT */
/*
 * encoder.c - see encoder.h
 *
 * The planner has placed metadata so that each record of the span fits the
 * layout.  So the encoder writes these records without checks.  Nearly all
 * records are allocs and frees with few or no attributes.  The code for these
 * records has no loop over the fields, and no branch on the width of a field:
 * it stores each field as 8 bytes, and then overwrites the bytes beyond the
 * width of the field with the next field.
 */
#include "hatf/codec/encoder_block.h"

#include "hatf/codec/hatf_record.h"

#include <string.h>

_Static_assert(ENCODER_RECORD_MAX_NBYTES >= 6 * 28 + 1 + 6 * 8 + 2 + 65535,
	       "the output must have room for a record with its metadata");

/*
 * Store a number in 'nbytes' bytes at 'p', and return the position after these
 * bytes.  The store also overwrites up to 8 bytes after this position.  The
 * output has room for them, because ENCODER_RECORD_MAX_NBYTES counts 8 bytes
 * per field.
 */
static inline uint8_t *
put_number(uint8_t *p, const struct layout_field *f, size_t nbytes,
	   uint64_t value)
{
	/*
	 * If nbytes is 0, put_be64() stores 8 bytes that later stores
	 * overwrite.
	 */
	put_be64(p, layout_raw(f, value) << ((0u - 8 * nbytes) & 63));
	return p + nbytes;
}

/* Return how many bytes the length of the attributes takes: 0, 1 or 2. */
static inline unsigned
length_nbytes(const struct layout_field *attributes)
{
	return attributes->width / 9 + attributes->width / 10;
}

static uint8_t *
put_attributes(uint8_t *p, const struct layout_field *f,
	       const struct hatf_record *rec)
{
	if (f->width == HATF_WIDTH_V1) {
		*p++ = (uint8_t)rec->attributes_nbytes;
	} else if (f->width == HATF_WIDTH_V2) {
		put_be16(p, (uint16_t)rec->attributes_nbytes);
		p += 2;
	}
	if (rec->attributes_nbytes != 0)
		memcpy(p, rec->attributes, rec->attributes_nbytes);
	return p + rec->attributes_nbytes;
}

static uint8_t *
put_field(uint8_t *p, struct layout_field *f, uint64_t value)
{
	p = put_number(p, f, f->nbytes, value);
	layout_use(f, value);
	return p;
}

/* Write a record, other than a comment, that fits the layout. */
static void
put_record(struct encoder *e, const struct hatf_record *rec)
{
	struct layout_field *const f = e->layout.field;
	const unsigned fields = layout_tag_fields(rec->tag);
	const bool is_heap =
		rec->tag == HATF_CREATE_HEAP || rec->tag == HATF_DESTROY_HEAP;
	uint8_t *p = e->buf + e->used;

	*p++ = rec->tag;
	if (is_heap)
		p = put_field(p, &f[HATF_FIELD_HEAP], rec->heap);
	if (fields & 1u << HATF_FIELD_SIZE)
		p = put_field(p, &f[HATF_FIELD_SIZE], rec->size);
	if (hatf_record_is_realloc(rec))
		p = put_field(p, &f[HATF_FIELD_ADDRESS], rec->old_address);
	if (fields & 1u << HATF_FIELD_ADDRESS)
		p = put_field(p, &f[HATF_FIELD_ADDRESS], rec->address);
	p = put_field(p, &f[HATF_FIELD_THREAD], rec->thread);
	if (fields & 1u << HATF_FIELD_HEAP && !is_heap)
		p = put_field(p, &f[HATF_FIELD_HEAP], rec->heap);
	p = put_field(p, &f[HATF_FIELD_TIME], rec->time);
	p = put_attributes(p, &f[HATF_FIELD_ATTRIBUTES], rec);
	e->used = (size_t)(p - e->buf);
}

/*
 * Can put_alloc_free() write the record?  Yes for an alloc or free with at most
 * 8 bytes of attributes, because put_alloc_free() copies no more.
 */
static inline bool
is_alloc_free(const struct hatf_record *rec)
{
	return rec->tag <= HATF_FREE && rec->attributes_nbytes <= 8;
}

/*
 * Write an alloc or free with 'text_nbytes' (at most 8) bytes of attributes at
 * 'text'.  The function always reads 8 bytes at 'text' (see TEXT_SPARE_NBYTES
 * in encoder_block.c).
 */
static inline void
put_alloc_free(struct encoder *e, unsigned tag, uint64_t size, uint64_t address,
	       uint64_t thread, uint64_t heap, uint64_t time,
	       const uint8_t *text, uint32_t text_nbytes)
{
	struct layout_field *const f = e->layout.field;
	const unsigned length = length_nbytes(&f[HATF_FIELD_ATTRIBUTES]);
	uint8_t *p = e->buf + e->used;

	*p++ = (uint8_t)tag;
	/*
	 * Only an alloc has a size.  As a mask, 'tag - 1' has all bits set for
	 * HATF_ALLOC, and none for HATF_FREE.
	 */
	p = put_number(p, &f[HATF_FIELD_SIZE],
		       f[HATF_FIELD_SIZE].nbytes & (tag - 1u), size);
	p = put_number(p, &f[HATF_FIELD_ADDRESS], f[HATF_FIELD_ADDRESS].nbytes,
		       address);
	p = put_number(p, &f[HATF_FIELD_THREAD], f[HATF_FIELD_THREAD].nbytes,
		       thread);
	p = put_number(p, &f[HATF_FIELD_HEAP], f[HATF_FIELD_HEAP].nbytes, heap);
	p = put_number(p, &f[HATF_FIELD_TIME], f[HATF_FIELD_TIME].nbytes, time);
	if (tag == HATF_ALLOC)
		layout_use(&f[HATF_FIELD_SIZE], size);
	layout_use(&f[HATF_FIELD_ADDRESS], address);
	layout_use(&f[HATF_FIELD_THREAD], thread);
	layout_use(&f[HATF_FIELD_HEAP], heap);
	layout_use(&f[HATF_FIELD_TIME], time);
	/* Store the length of the attributes, in 0, 1 or 2 bytes. */
	put_be16(p, (uint16_t)(text_nbytes << (length == 1 ? 8 : 0)));
	p += length;
	memcpy(p, text, 8);
	p += text_nbytes;
	e->used = (size_t)(p - e->buf);
}

/*
 * Does the layout suit put_short_run()?  There are three conditions:
 *
 *   - Records store nothing after the address.
 *   - The interpretation of the size is neither delta nor stride, so no size
 *     depends on the size before it.
 *   - Every other field with the interpretation stride has the stride 0, so its
 *     value never changes.
 */
static bool
is_short(const struct layout_field *f)
{
	const unsigned stored =
		f[HATF_FIELD_THREAD].nbytes | f[HATF_FIELD_HEAP].nbytes |
		f[HATF_FIELD_TIME].nbytes | f[HATF_FIELD_ATTRIBUTES].width;
	const uint64_t step = f[HATF_FIELD_ADDRESS].step |
			      f[HATF_FIELD_THREAD].step |
			      f[HATF_FIELD_HEAP].step | f[HATF_FIELD_TIME].step;

	return stored == 0 && step == 0 && !f[HATF_FIELD_SIZE].follows;
}

/*
 * Write records up to the first that is neither an alloc nor a free.  Return
 * that record, or 'end' if there is none.  is_short() must be true for the
 * layout, so that the records store only sizes and addresses.
 */
static const struct hatf_record *
put_short_run(struct encoder *e, const struct hatf_record *rec,
	      const struct hatf_record *end)
{
	const struct layout_field *const size =
		&e->layout.field[HATF_FIELD_SIZE];
	struct layout_field *const address =
		&e->layout.field[HATF_FIELD_ADDRESS];
	const unsigned size_nbytes = size->nbytes;
	const unsigned size_shift = (0u - 8 * size_nbytes) & 63;
	const uint64_t size_origin = size->origin;
	const unsigned address_nbytes = address->nbytes;
	const unsigned address_shift = (0u - 8 * address_nbytes) & 63;
	const bool follows = address->follows;
	uint64_t origin = address->origin;
	uint8_t *p = e->buf + e->used;

	for (; rec < end && rec->tag <= HATF_FREE; rec++) {
		const uint64_t value = rec->address;

		p[0] = rec->tag;
		put_be64(p + 1, (rec->size - size_origin) << size_shift);
		p += 1 + (size_nbytes & (rec->tag - 1u));
		put_be64(p, (value - origin) << address_shift);
		p += address_nbytes;
		origin = follows ? value : origin;
	}
	address->origin = origin;
	e->used = (size_t)(p - e->buf);
	return rec;
}

void
encoder_write_comment(struct encoder *e, const uint8_t *text, size_t nbytes)
{
	uint8_t *const p = e->buf + e->used;

	p[0] = HATF_COMMENT;
	put_be16(p + 1, (uint16_t)nbytes);
	if (nbytes != 0)
		memcpy(p + 3, text, nbytes);
	e->used += 3 + nbytes;
}

static void
put_records(struct encoder *e, const struct hatf_record *rec,
	    const struct hatf_record *end)
{
	const bool shortened = is_short(e->layout.field);

	while (rec < end) {
		if (shortened && rec->tag <= HATF_FREE) {
			rec = put_short_run(e, rec, end);
			continue;
		}
		if (is_alloc_free(rec))
			put_alloc_free(e, rec->tag, rec->size, rec->address,
				       rec->thread, rec->heap, rec->time,
				       rec->attributes, rec->attributes_nbytes);
		else if (rec->tag != HATF_COMMENT)
			put_record(e, rec);
		else
			encoder_write_comment(e, rec->attributes,
					      rec->attributes_nbytes);
		rec++;
	}
}

static void
put_metadata(struct encoder *e, const struct hatf_metadata *metadata)
{
	layout_apply(&e->layout, metadata);
	e->used += layout_put_metadata(e->buf + e->used, metadata);
	e->record_count[HATF_METADATA]++;
}

/* Plan 'n' records and write them with their metadata. */
static void
put_span(struct encoder *e, const struct hatf_record *records, size_t n)
{
	while (n != 0) {
		size_t count, done = 0;
		const size_t decided = e->planner.plan(
			e->planner.context, &e->layout, e->restart, records, n,
			e->changes, e->planner.changes, &count);

		for (size_t i = 0; i < count; i++) {
			put_records(e, records + done,
				    records + e->changes[i].before);
			done = e->changes[i].before;
			put_metadata(e, &e->changes[i].metadata);
		}
		put_records(e, records + done, records + decided);
		records += decided;
		n -= decided;
		e->restart = false;
	}
}

/*
 * Write the metadata at the beginning of a new block.  'first' is the record
 * that the caller writes next, or NULL.  Plan the metadata for 'first', so that
 * the planner can derive its 'base' (place.h) from the address of 'first'.  If
 * the planner already has a base, ignore 'first': its address may be far from
 * all others, and the planner would make the address field wide for it.
 */
static void
put_restart(struct encoder *e, const struct hatf_record *first)
{
	static const struct hatf_record none = { .tag = HATF_COMMENT };
	const struct hatf_record *const rec =
		first == NULL || e->place.base_known ? &none : first;
	size_t count;

	e->planner.plan(e->planner.context, &e->layout, true, rec, 1,
			e->changes, e->planner.changes, &count);
	for (size_t i = 0; i < count; i++)
		put_metadata(e, &e->changes[i].metadata);
	e->restart = false;
}

void
encoder_flush(struct encoder *e)
{
	put_span(e, e->span, e->pending);
	if (e->restart)
		put_restart(e, NULL);
	e->pending = 0;
	e->texts_used = 0;
	e->pending_max = encoder_choose_pending_max(e);
}

static inline void
append_to_span(struct encoder *e, const struct hatf_record *rec,
	       const uint8_t *attributes)
{
	struct hatf_record *const r = &e->span[e->pending++];

	r->tag = rec->tag;
	r->attributes_nbytes = rec->attributes_nbytes;
	r->attributes = attributes;
	r->size = rec->size;
	r->address = rec->address;
	r->old_address = rec->old_address;
	r->time = rec->time;
	r->thread = rec->thread;
	r->heap = rec->heap;
	e->record_count[rec->tag]++;
}

/*
 * Set 'is_plain_slow', which says whether encoder_put_plain() must take its
 * slow path even if the span has room.
 */
static void
choose_plain_path(struct encoder *e)
{
	e->is_plain_slow = e->is_fast || has_active_column(e);
}

void
encoder_set_fast(struct encoder *e, bool is_fast)
{
	e->is_fast = is_fast;
	choose_plain_path(e);
	e->planner.plan = is_fast ? place_fast : place_span;
}

/* Does an alloc or free of heap 0 without attributes fit the layout? */
static inline bool
fits_plain(const struct layout_field *f, unsigned tag, uint64_t size,
	   uint64_t address, uint64_t thread, uint64_t time)
{
	return (tag != HATF_ALLOC || layout_fits(&f[HATF_FIELD_SIZE], size)) &&
	       layout_fits(&f[HATF_FIELD_ADDRESS], address) &&
	       layout_fits(&f[HATF_FIELD_THREAD], thread) &&
	       layout_fits(&f[HATF_FIELD_TIME], time) &&
	       layout_fits(&f[HATF_FIELD_HEAP], 0) &&
	       layout_fits_bytes(&f[HATF_FIELD_ATTRIBUTES], 0);
}

/*
 * Does a record with an address (tags 0 to 5) fit the layout?  If the
 * interpretation of the address is delta or stride, return false for every
 * realloc: whether the second address of the realloc fits would depend on the
 * first.
 */
static bool
fits_layout(const struct layout_field *f, const struct hatf_record *rec)
{
	if (rec->tag != HATF_FREE &&
	    !layout_fits(&f[HATF_FIELD_SIZE], rec->size))
		return false;
	if (rec->tag > HATF_FREE &&
	    (f[HATF_FIELD_ADDRESS].follows ||
	     !layout_fits(&f[HATF_FIELD_ADDRESS], rec->old_address)))
		return false;
	return layout_fits(&f[HATF_FIELD_ADDRESS], rec->address) &&
	       layout_fits(&f[HATF_FIELD_THREAD], rec->thread) &&
	       layout_fits(&f[HATF_FIELD_HEAP], rec->heap) &&
	       layout_fits(&f[HATF_FIELD_TIME], rec->time) &&
	       layout_fits_bytes(&f[HATF_FIELD_ATTRIBUTES],
				 rec->attributes_nbytes);
}

/* Is fast mode on, with an empty span and room for a record? */
static inline bool
has_room_at_once(const struct encoder *e)
{
	return e->is_fast && e->pending == 0 && e->used < e->at_once_max;
}

/* Is fast mode on, and may a record that fits the layout be written at once? */
static inline bool
can_write_at_once(const struct encoder *e)
{
	return has_room_at_once(e) && !e->restart;
}

/*
 * Write a record that does not fit the layout, between metadata that widens
 * fields and metadata that restores their widths.  Return false and write
 * nothing if the layout should be changed instead.
 */
static __attribute__((noinline)) bool
put_exception(struct encoder *e, const struct hatf_record *rec)
{
	struct place_change changes[PLACE_EXCEPTION_CHANGES];
	size_t count, i = 0;

	if (!place_exception(&e->place, &e->layout, rec, e->used, changes,
			     &count))
		return false;
	for (; i < count && changes[i].before == 0; i++)
		put_metadata(e, &changes[i].metadata);
	put_record(e, rec);
	for (; i < count; i++)
		put_metadata(e, &changes[i].metadata);
	return true;
}

/*
 * If the record can be written at once, write it and return true.  Otherwise
 * return false.
 */
static bool
put_at_once(struct encoder *e, const struct hatf_record *rec)
{
	if (!can_write_at_once(e) || rec->tag > HATF_REALLOC_FREE ||
	    rec->attributes_nbytes > ENCODER_TEXT_NBYTES)
		return false;
	if (fits_layout(e->layout.field, rec))
		put_record(e, rec);
	else if (!put_exception(e, rec))
		return false;
	e->record_count[rec->tag]++;
	return true;
}

bool
encoder_begin_run(struct encoder *e, uint64_t thread, uint64_t time,
		  struct encoder_run *run_ret)
{
	static const uint8_t fields[] = { HATF_FIELD_THREAD, HATF_FIELD_HEAP,
					  HATF_FIELD_TIME };
	const uint64_t values[] = { thread, 0, time };
	const struct layout_field *const f = e->layout.field;
	/* put_number() stores 8 bytes, whatever the width of the field. */
	uint8_t tail[4 * 8];
	uint8_t *p = tail;

	if (!can_write_at_once(e) || f[HATF_FIELD_ADDRESS].follows ||
	    f[HATF_FIELD_SIZE].follows ||
	    !layout_fits_bytes(&f[HATF_FIELD_ATTRIBUTES], 0))
		return false;
	for (size_t i = 0; i < sizeof(fields); i++) {
		const struct layout_field *const field = &f[fields[i]];

		/*
		 * If the interpretation of a field is delta or stride, every
		 * record of the run must repeat the previous value of the
		 * field.
		 */
		if (!layout_fits(field, values[i]) ||
		    (field->follows &&
		     (field->step != 0 || field->origin != values[i])))
			return false;
		p = put_number(p, field, field->nbytes, values[i]);
	}
	/* Every record of the run has attributes of length 0. */
	put_be16(p, 0);
	p += length_nbytes(&f[HATF_FIELD_ATTRIBUTES]);
	run_ret->tail_nbytes = (size_t)(p - tail);
	if (run_ret->tail_nbytes > sizeof(run_ret->tail))
		return false;
	memcpy(&run_ret->tail, tail, sizeof(run_ret->tail));
	run_ret->next = e->buf + e->used;
	run_ret->end = e->buf + e->at_once_max;
	run_ret->size = f[HATF_FIELD_SIZE];
	run_ret->address = f[HATF_FIELD_ADDRESS];
	run_ret->count = 0;
	run_ret->free_count = 0;
	return true;
}

void
encoder_end_run(struct encoder *e, const struct encoder_run *run)
{
	e->used = (size_t)(run->next - e->buf);
	e->record_count[HATF_ALLOC] += run->count - run->free_count;
	e->record_count[HATF_FREE] += run->free_count;
}

/*
 * The slow path of putting a record: flush the span if it has no room.  Then
 * write the record at once if put_at_once() can; otherwise copy the record and
 * its attributes into the span.
 */
static __attribute__((noinline)) bool
put_slowly(struct encoder *e, const struct hatf_record *rec)
{
	const size_t nbytes = rec->attributes_nbytes;
	const size_t texts_nbytes = e->planner.records * ENCODER_TEXT_NBYTES;

	if (rec->tag > HATF_COMMENT || nbytes > UINT16_MAX)
		return false;
	if (e->pending == e->pending_max ||
	    nbytes > texts_nbytes - e->texts_used)
		encoder_flush(e);
	if (put_at_once(e, rec))
		return true;
	if (e->pending_max == 0)
		return false;
	if (nbytes > texts_nbytes) {
		/*
		 * The span is empty, but has no room for the attributes.  So
		 * write the record without copying it into the span.
		 */
		put_span(e, rec, 1);
		e->record_count[rec->tag]++;
		e->pending_max = encoder_choose_pending_max(e);
		return true;
	}

	uint8_t *const copy = e->texts + e->texts_used;

	if (nbytes != 0)
		memcpy(copy, rec->attributes, nbytes);
	e->texts_used += nbytes;
	append_to_span(e, rec, copy);
	return true;
}

static bool
put(struct encoder *e, const struct hatf_record *rec)
{
	if (e->pending >= e->pending_max || rec->attributes_nbytes != 0 ||
	    rec->tag > HATF_COMMENT)
		return put_slowly(e, rec);
	append_to_span(e, rec, e->texts);
	return true;
}

/* ---------------------------------------------------------------- columns */

void
encoder_use_column(struct encoder *e, struct stack_column *column)
{
	column->is_active = false;
	if (e->column == NULL && e->at_once_max > ENCODER_COLUMN_NBYTES)
		e->at_once_max -= ENCODER_COLUMN_NBYTES;
	e->column = column;
	choose_plain_path(e);
}

/*
 * Begin a column, whose comment will come before the records of the span.  If
 * the buffer has no room for the comment, do nothing; in this case, the records
 * keep their stacks in their attributes.
 */
static void
begin_column(struct encoder *e)
{
	struct stack_column *const c = e->column;

	if (e->cap - e->used <
	    ENCODER_COLUMN_NBYTES + ENCODER_RECORD_MAX_NBYTES +
		    e->planner.records *
			    (ENCODER_RECORD_NBYTES + ENCODER_TEXT_NBYTES))
		return;
	stack_column_begin(c);
	e->column_off = e->used;
	for (size_t i = 0; i < e->pending; i++)
		if (e->span[i].tag < HATF_COMMENT)
			stack_column_add(c, &e->span[i]);
	choose_plain_path(e);
}

unsigned
encoder_end_column(struct encoder *e)
{
	struct stack_column *const c = e->column;
	uint8_t *at;
	size_t nbytes;

	encoder_flush(e);
	if (!has_active_column(e))
		return 0;
	stack_column_end(c);
	nbytes = 3 + c->used;
	at = e->buf + e->column_off;
	memmove(at + nbytes, at, e->used - e->column_off);
	at[0] = HATF_COMMENT;
	put_be16(at + 1, (uint16_t)c->used);
	memcpy(at + 3, c->text, c->used);
	e->used += nbytes;
	e->record_count[HATF_COMMENT]++;
	choose_plain_path(e);
	e->pending_max = encoder_choose_pending_max(e);
	return 1;
}

/*
 * Move the stack of a record into the column.  If the buffer has no room for a
 * column, or if the column is full, leave the stack in the attributes.  Return
 * false, with the column unchanged, if the buffer has no room for a record.
 */
static bool
take_stack(struct encoder *e, struct hatf_record *rec)
{
	const size_t texts_nbytes = e->planner.records * ENCODER_TEXT_NBYTES;

	if (e->pending == e->pending_max ||
	    rec->attributes_nbytes > texts_nbytes - e->texts_used)
		encoder_flush(e);
	if (e->pending_max == 0)
		return false;
	if (!e->column->is_active)
		begin_column(e);
	if (e->column->is_active)
		stack_column_add(e->column, rec);
	return true;
}

static bool
put_any(struct encoder *e, const struct hatf_record *rec)
{
	if (__builtin_expect(e->restart, 0) && has_room_at_once(e) &&
	    rec->tag <= HATF_COMMENT && rec->attributes_nbytes <= UINT16_MAX)
		put_restart(e, rec);
	return put_at_once(e, rec) || put(e, rec);
}

/* Put a record while a column is active, or a record that begins a column. */
static __attribute__((noinline)) bool
put_with_column(struct encoder *e, const struct hatf_record *rec)
{
	struct hatf_record bare = *rec;

	return take_stack(e, &bare) && put_any(e, &bare);
}

/* Must encoder_put() pass the record to put_with_column()? */
static inline bool
is_for_column(const struct encoder *e, const struct hatf_record *rec)
{
	if (e->column == NULL || rec->tag >= HATF_COMMENT ||
	    rec->attributes_nbytes > UINT16_MAX)
		return false;
	return e->column->is_active ||
	       (rec->attributes_nbytes != 0 && stack_column_wants(rec));
}

bool
encoder_put(struct encoder *e, const struct hatf_record *rec)
{
	return is_for_column(e, rec) ? put_with_column(e, rec)
				     : put_any(e, rec);
}

/* encoder_put_taken() calls this if the span is full, or if fast mode is on. */
bool
encoder_put_taken_slow(struct encoder *e, uint8_t tag, uint64_t size,
		       uint64_t address, uint64_t thread, uint64_t time)
{
	const struct hatf_record rec = { .tag = tag,
					 .size = size,
					 .address = address,
					 .thread = thread,
					 .time = time };

	return put_any(e, &rec);
}

/*
 * encoder_put_plain() calls this if the span is full, a column is active, or
 * fast mode is on.
 */
bool
encoder_put_plain_slow(struct encoder *e, uint8_t tag, uint64_t size,
		       uint64_t address, uint64_t thread, uint64_t time)
{
	if (!has_active_column(e) && can_write_at_once(e) &&
	    fits_plain(e->layout.field, tag, size, address, thread, time)) {
		put_alloc_free(e, tag, size, address, thread, 0, time, e->texts,
			       0);
		e->record_count[tag]++;
		return true;
	}

	const struct hatf_record rec = {
		.tag = tag,
		.size = size,
		.address = address,
		.thread = thread,
		.time = time,
	};

	return encoder_put(e, &rec);
}
