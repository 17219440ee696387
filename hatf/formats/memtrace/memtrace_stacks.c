/* SPDX-License-Identifier: MIT */
/*
 * memtrace_stacks.c - see memtrace_stacks.h
 *
 * For each level of a domain's latest stack, the decoder keeps the id of the
 * stack up to that level.  If the next stack has the same outer levels, the
 * decoder therefore need not add these levels again.
 */
#include "hatf/formats/memtrace/memtrace_stacks.h"

#include <stdlib.h>
#include <string.h>

/*
 * Widths in bits of the parts of a place in the program's source code: the
 * line, the columns, and the indices of the file and of the function.  Together
 * they have 48 bits.
 */
#define LINE_BITS	20
#define COLUMN_BITS	8
#define END_COLUMN_BITS 10
#define TABLE_BITS	5
#define PLACE_NBYTES	6

enum hatf_status
memtrace_stacks_init(struct memtrace_stacks *m, const struct source *source)
{
	*m = (struct memtrace_stacks){ .source = source };
	string_table_init(&m->names, UINT32_MAX, HATF_FRAME_TEXTS_MAX);
	u64_map_init(&m->codes);
	return hatf_stacks_open(&m->stacks);
}

void
memtrace_stacks_fini(struct memtrace_stacks *m)
{
	for (size_t i = 0; i < m->domain_count; i++) {
		free(m->domains[i]->levels.rows);
		free(m->domains[i]);
	}
	string_table_fini(&m->names);
	u64_map_fini(&m->codes);
	hatf_stacks_close(m->stacks);
	free(m->frames.rows);
}

enum hatf_status
memtrace_find_domain(struct memtrace_stacks *m, uint16_t id,
		     struct memtrace_domain **domain_ret)
{
	for (size_t i = 0; i < m->domain_count; i++)
		if (m->ids[i] == id) {
			*domain_ret = m->domains[i];
			return HATF_OK;
		}
	if (m->domain_count == MEMTRACE_DOMAIN_MAX)
		return HATF_LIMIT;
	*domain_ret = calloc(1, sizeof(**domain_ret));
	if (*domain_ret == NULL)
		return HATF_NO_MEMORY;
	m->ids[m->domain_count] = id;
	m->domains[m->domain_count++] = *domain_ret;
	return HATF_OK;
}

/* Are the tables within their memory limit? */
static bool
may_keep(const struct memtrace_stacks *m)
{
	return source_may_keep(
		m->source, m->stacks,
		string_table_memory(&m->names) + u64_map_memory(&m->codes) +
			m->frames.cap * sizeof(uint64_t) + m->level_nbytes);
}

/* ------------------------------------------------------------------- pieces */

bool
memtrace_take(struct memtrace_cursor *c, size_t nbytes, uint64_t *n_ret)
{
	uint64_t n = 0;

	if (nbytes > (size_t)(c->end - c->next))
		return false;
	for (size_t i = nbytes; i-- > 0;)
		n = n << 8 | c->next[i];
	c->next += nbytes;
	*n_ret = n;
	return true;
}

bool
memtrace_take_vint(struct memtrace_cursor *c, uint64_t *n_ret)
{
	if (!memtrace_take(c, 1, n_ret))
		return false;
	switch (*n_ret) {
	case MEMTRACE_VINT16:
		return memtrace_take(c, 2, n_ret);
	case MEMTRACE_VINT32:
		if (!memtrace_take(c, 4, n_ret))
			return false;
		/* The number is signed, so extend its sign. */
		*n_ret = (uint64_t)(int64_t)(int32_t)(uint32_t)*n_ret;
		return true;
	case MEMTRACE_VINT64:
		return memtrace_take(c, 8, n_ret);
	default:
		return true;
	}
}

bool
memtrace_take_string(struct memtrace_cursor *c, const char **text_ret,
		     size_t *nbytes_ret)
{
	const size_t left = (size_t)(c->end - c->next);
	const uint8_t *const end = left == 0 ? NULL : memchr(c->next, 0, left);

	if (end == NULL)
		return false;
	*text_ret = (const char *)c->next;
	*nbytes_ret = (size_t)(end - c->next);
	c->next = end + 1;
	return true;
}

/* ---------------------------------------------------------------- locations */

/* Decode a name that is not in a table. */
static enum hatf_status
take_name(struct memtrace_stacks *m, struct memtrace_cursor *c,
	  uint32_t *name_ret)
{
	const char *text;
	size_t nbytes;

	if (!memtrace_take_string(c, &text, &nbytes))
		return HATF_BAD_FIELD;
	return string_table_put(&m->names, text, nbytes, name_ret);
}

/*
 * Insert a name at the front of the table.  A full table loses its last name.
 */
static void
push_name(struct memtrace_names *t, uint32_t name)
{
	if (t->count < MEMTRACE_TABLE_COUNT)
		t->count++;
	memmove(t->names + 1, t->names, (t->count - 1) * sizeof(t->names[0]));
	t->names[0] = name;
}

/* Move a name to the front of its table. */
static void
use_name(struct memtrace_names *t, uint32_t idx)
{
	const uint32_t name = t->names[idx];

	memmove(t->names + 1, t->names, idx * sizeof(t->names[0]));
	t->names[0] = name;
}

/*
 * Move the functions of the file at 'idx' to the front.  A new file inherits
 * the functions of the file that it displaces.  Traces of version 1 rely on
 * this inheritance.  For traces of later versions, it makes no difference.
 */
static void
use_file(struct memtrace_domain *d, uint32_t idx)
{
	const struct memtrace_names functions = d->functions[idx];

	memmove(d->functions + 1, d->functions, idx * sizeof(functions));
	d->functions[0] = functions;
}

static enum hatf_status
take_file(struct memtrace_stacks *m, struct memtrace_domain *d,
	  struct memtrace_cursor *c, uint32_t code)
{
	enum hatf_status status;
	uint32_t name;

	if (code < d->files.count) {
		use_name(&d->files, code);
		use_file(d, code);
		return HATF_OK;
	}
	if (code != MEMTRACE_TABLE_COUNT)
		return HATF_BAD_FIELD;
	status = take_name(m, c, &name);
	if (status != HATF_OK)
		return status;
	push_name(&d->files, name);
	/*
	 * The last entry of d->functions becomes the entry of the new file.  If
	 * the table of files was full, this entry still has the functions of
	 * the displaced file.  Otherwise, it has no functions.
	 */
	use_file(d, d->files.count - 1);
	return HATF_OK;
}

static enum hatf_status
take_function(struct memtrace_stacks *m, struct memtrace_names *t,
	      struct memtrace_cursor *c, uint32_t code)
{
	enum hatf_status status;
	uint32_t name;

	if (code < t->count) {
		use_name(t, code);
		return HATF_OK;
	}
	if (code != MEMTRACE_TABLE_COUNT)
		return HATF_BAD_FIELD;
	status = take_name(m, c, &name);
	if (status == HATF_OK)
		push_name(t, name);
	return status;
}

/* Return 'count' bits of 'n' from '*shift' on, and advance '*shift'. */
static uint32_t
take_bits(uint64_t n, unsigned *shift, unsigned count)
{
	const uint64_t bits = n >> *shift & (((uint64_t)1 << count) - 1);

	*shift += count;
	return (uint32_t)bits;
}

static enum hatf_status
take_place(struct memtrace_stacks *m, struct memtrace_domain *d,
	   struct memtrace_cursor *c, struct hatf_frame *frame)
{
	enum hatf_status status;
	unsigned shift = 0;
	uint64_t place;

	if (!memtrace_take(c, PLACE_NBYTES, &place))
		return HATF_BAD_FIELD;
	frame->line = take_bits(place, &shift, LINE_BITS);
	/* Columns begin at 0 in Memtrace, and at 1 in HATF. */
	frame->column = take_bits(place, &shift, COLUMN_BITS) + 1;
	frame->end_column = take_bits(place, &shift, END_COLUMN_BITS) + 1;
	status = take_file(m, d, c, take_bits(place, &shift, TABLE_BITS));
	if (status == HATF_OK)
		status = take_function(m, &d->functions[0], c,
				       take_bits(place, &shift, TABLE_BITS));
	if (status != HATF_OK)
		return status;
	frame->file = string_table_get(&m->names, d->files.names[0]);
	frame->function = string_table_get(&m->names, d->functions[0].names[0]);
	return HATF_OK;
}

static enum hatf_status
add_frame(struct memtrace_stacks *m, const struct hatf_frame *frame)
{
	uint64_t *const id = rows_add(&m->frames, sizeof(*id));

	return id == NULL ? HATF_NO_MEMORY
			  : hatf_stacks_add_frame(m->stacks, frame, id);
}

/*
 * Are the known frames of a location code equal to the new frames, which begin
 * at index 'first' of 'frames'?
 */
static bool
is_same_location(const struct memtrace_stacks *m,
		 const struct u64_map_entry *block, size_t first)
{
	const uint64_t *const frames = m->frames.rows;

	return block->extra == m->frames.count - first &&
	       memcmp(frames + block->value, frames + first,
		      block->extra * sizeof(*frames)) == 0;
}

enum hatf_status
memtrace_take_location(struct memtrace_stacks *m, struct memtrace_domain *d,
		       struct memtrace_cursor *c)
{
	struct hatf_frame frame = { .function = NULL };
	enum hatf_status status = HATF_OK;
	const size_t first = m->frames.count;
	struct u64_map_entry *block;
	uint64_t code, count;
	bool added;

	if (!memtrace_take(c, 8, &code) || !memtrace_take(c, 1, &count))
		return HATF_BAD_FIELD;
	frame.address = code;
	for (uint64_t i = 0; i < count && status == HATF_OK; i++) {
		status = take_place(m, d, c, &frame);
		if (status == HATF_OK)
			status = add_frame(m, &frame);
	}
	/*
	 * If the location code has no places in the source code, add one frame
	 * that has only an address: the location code.
	 */
	if (count == 0)
		status = add_frame(m, &frame);
	if (status == HATF_OK && !may_keep(m))
		status = HATF_LIMIT;
	if (status != HATF_OK)
		return status;
	block = u64_map_put(&m->codes, code, &added);
	if (block == NULL)
		return HATF_NO_MEMORY;
	if (!added) {
		/*
		 * This location code was defined before, perhaps by another
		 * domain, so the two definitions must be equal.
		 */
		const bool is_same = is_same_location(m, block, first);

		m->frames.count = first;
		return is_same ? HATF_OK : HATF_BAD_FIELD;
	}
	block->value = first;
	block->extra = m->frames.count - first;
	return HATF_OK;
}

/* ------------------------------------------------------------------- stacks */

bool
memtrace_cache_matches(const struct memtrace_domain *d, uint64_t bucket,
		       uint64_t after, uint64_t code)
{
	/* Ignore the top bit, because an OCaml integer has 63 bits. */
	return bucket < MEMTRACE_BUCKET_COUNT && d->after[bucket] == after &&
	       (d->codes[bucket] ^ code) << 1 == 0;
}

/* Push a level with the frames of a location code onto the domain's stack. */
static enum hatf_status
push_frame(struct memtrace_stacks *m, struct memtrace_domain *d, uint64_t code)
{
	const struct u64_map_entry *const block = u64_map_find(&m->codes, code);
	const struct memtrace_level *const levels = d->levels.rows;
	const size_t depth = d->levels.count;
	const size_t below = depth == 0 ? 0 : levels[depth - 1].frame_count;
	const uint64_t *const frames = m->frames.rows;
	uint64_t stack = memtrace_last_stack(d);
	enum hatf_status status = HATF_OK;
	struct memtrace_level *level;

	if (block == NULL)
		return HATF_BAD_FIELD;
	if (block->extra > MEMTRACE_DEPTH_MAX - below || !may_keep(m))
		return HATF_LIMIT;
	m->level_nbytes -= d->levels.cap * sizeof(*level);
	level = rows_add(&d->levels, sizeof(*level));
	m->level_nbytes += d->levels.cap * sizeof(*level);
	if (level == NULL)
		return HATF_NO_MEMORY;
	for (uint64_t i = 0; i < block->extra && status == HATF_OK; i++)
		status = hatf_stacks_add(m->stacks, stack,
					 frames[block->value + i], &stack);
	*level = (struct memtrace_level){ .code = code,
					  .stack = stack,
					  .frame_count = below + block->extra };
	return status;
}

/*
 * Store in '*follow_ret' how many predicted location codes follow the code in
 * 'bucket'.  If 'tag' is MEMTRACE_MISS, none follow; the event then contains
 * the code for 'bucket', so decode this code and put it into the cache.
 */
static bool
take_follow(struct memtrace_domain *d, struct memtrace_cursor *c, unsigned tag,
	    uint16_t bucket, uint64_t *follow_ret)
{
	*follow_ret = tag;
	if (tag == MEMTRACE_HIT_N)
		return memtrace_take(c, 1, follow_ret);
	if (tag != MEMTRACE_MISS)
		return true;
	*follow_ret = 0;
	return memtrace_take(c, 8, &d->codes[bucket]);
}

enum hatf_status
memtrace_take_stack(struct memtrace_stacks *m, struct memtrace_domain *d,
		    struct memtrace_cursor *c, uint64_t common, uint64_t count)
{
	/*
	 * If the previous stack was truncated, a part of the common frames is
	 * unknown.  In this case, update only the cache, and leave d->levels as
	 * it is.
	 */
	const bool is_truncated = common > d->levels.count;
	enum hatf_status status = HATF_OK;
	uint16_t last = 0;

	if (!is_truncated)
		d->levels.count = (size_t)common;
	for (; count != 0; count--) {
		uint64_t word, follow;

		if (!memtrace_take(c, 2, &word) ||
		    !take_follow(d, c, word & 3, (uint16_t)(word >> 2),
				 &follow))
			return HATF_BAD_FIELD;
		d->after[last] = (uint16_t)(word >> 2);
		/*
		 * Push the frames of the location code in this bucket, then
		 * the frames of the 'follow' codes that the cache predicts.
		 */
		do {
			last = d->after[last];
			if (!is_truncated)
				status = push_frame(m, d, d->codes[last]);
			if (status != HATF_OK)
				return status;
		} while (follow-- != 0);
	}
	return HATF_OK;
}
