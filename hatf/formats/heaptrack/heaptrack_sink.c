/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_sink.c - convert records to an interpreted file of heaptrack
 * (FORMATS "heaptrack")
 *
 * heaptrack_print and heaptrack_gui read these files; heaptrack_source.c
 * explains their lines.  The sink defines every string, return address, stack
 * and kind of block once, before the first line that refers to it.  It defines
 * only the stacks of blocks, and the parents of these stacks.
 *
 * One return address may have several frames, if the compiler inlined
 * functions.  Adjacent frames of a stack with the same address and object are
 * therefore written as one line 'i' (return address).  If a frame repeats, the
 * function is recursive, and the frame begins another 'i'.
 *
 * Memory is O(live blocks + stacks + distinct pairs of a stack and a size).
 */
#include "hatf/codec/hatf_record.h"
#include "hatf/containers/rows.h"
#include "hatf/containers/string_table.h"
#include "hatf/formats/common/call_address.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"
#include "hatf/formats/common/loss.h"
#include "hatf/formats/common/size_class.h"
#include "hatf/formats/heaptrack/heaptrack_header.h"
#include "hatf/formats/heaptrack/heaptrack_lines.h"

#include <stdlib.h>

/* Maximum number of kinds of blocks. */
#define KIND_MAX ((uint32_t)1 << 28)

/* Maximum number of frames in an 'i' line; compilers rarely inline deeper. */
#define INLINED_MAX 64

/* The longest suppression, in bytes, with its NUL. */
#define SUPPRESSION_MAX 8192

/* The longest "object+0xoffset", in bytes, with its NUL. */
#define PLACE_MAX 4200

/*
 * A kind of block: size and stack.  The table 'kinds' compares the bytes of its
 * entries, so this struct must have no padding.
 */
struct kind {
	uint64_t size;
	uint64_t trace; /* number of the stack in the file; 0: none */
};
_Static_assert(sizeof(struct kind) == 16, "padding");

/*
 * A stack to write, how many of its innermost frames form one 'i' line, and the
 * stack of its other frames ('parent').
 */
struct step {
	uint64_t stack, parent;
	uint32_t frame_count;
};

struct heaptrack {
	struct ledger ledger;
	struct hatf_stacks *stacks;
	struct string_table strings, kinds;
	/*
	 * each entry is an array of frame ids, innermost first, or a name that
	 * put_named_step() wrote
	 */
	struct string_table ips;
	/* maps a stack id to the number of the stack in the file */
	struct u64_map traces;
	/*
	 * for calls without a stack: maps a thread and a size class to the
	 * number of a stack in the file
	 */
	struct u64_map stand_ins;
	uint64_t trace_count;
	uint64_t page_nbytes;
	/*
	 * units of the trace's time per millisecond; 0: the trace has no times
	 */
	uint64_t ms_units;
	uint64_t time_ms;
	/* rows of struct step; scratch memory of put_stack() */
	struct rows steps;
};

static bool
refuse(struct sink *s, enum hatf_status status)
{
	sink_fail(s, status, status == HATF_LIMIT ? "stack" : NULL);
	return false;
}

/*
 * Store the number of a string; 0 for NULL.  If the string is new, first write
 * it.
 */
static bool
put_string(struct sink *s, const char *text, uint64_t *number_ret)
{
	struct heaptrack *const h = s->ctx;
	const uint32_t count = h->strings.count;
	uint8_t length[HEAPTRACK_NUMBER_NBYTES];
	uint32_t number = 0;
	enum hatf_status status;

	*number_ret = 0;
	if (text == NULL)
		return true;
	status = string_table_put(&h->strings, text, strlen(text), &number);
	if (status != HATF_OK)
		return refuse(s, status);
	if (h->strings.count != count) {
		outfile_bytes(&s->out, "s ", 2);
		outfile_bytes(
			&s->out, length,
			(size_t)(heaptrack_put_number(length, strlen(text)) -
				 length));
		outfile_bytes(&s->out, " ", 1);
		heaptrack_put_text(s, text, strlen(text));
		outfile_bytes(&s->out, "\n", 1);
	}
	*number_ret = number;
	return true;
}

/* ------------------------------------------------------------------- stacks */

/*
 * Store in 'numbers' the three numbers by which an 'i' line describes a frame:
 * the string numbers of its function and of its file, and its line number.  If
 * both names are unknown, "object+0xoffset" stands for the function.  First
 * write strings that are new.
 */
static bool
put_place_strings(struct sink *s, uint64_t id, uint64_t *numbers,
		  struct hatf_frame *frame_ret)
{
	struct heaptrack *const h = s->ctx;
	struct hatf_frame *const f = frame_ret;
	const char *function;
	char place[PLACE_MAX];
	struct text t;

	*f = (struct hatf_frame){ .function = NULL };
	hatf_stacks_get_frame(h->stacks, id, f);
	numbers[2] = f->line;
	function = f->function;
	if (function == NULL && f->file == NULL && f->offset != 0) {
		text_init(&t, place, sizeof(place) - 1);
		text_str(&t, f->object);
		text_str(&t, "+");
		text_hex(&t, f->offset);
		place[t.used] = '\0';
		function = place;
	}
	return put_string(s, function, &numbers[0]) &&
	       put_string(s, f->file, &numbers[1]);
}

/*
 * Write the 'i' line of a return address with 'count' frames, innermost first.
 * Write all new strings before this line, because no other line may interrupt
 * it.
 */
static bool
put_ip(struct sink *s, const uint64_t *frames, uint32_t count)
{
	uint64_t numbers[3], head[5];
	struct hatf_frame frame;
	size_t known = 2;
	uint8_t *start;

	for (uint32_t i = 0; i < count; i++)
		if (!put_place_strings(s, frames[i], numbers, &frame))
			return false;
	if (!put_place_strings(s, frames[0], head + 2, &frame) ||
	    !put_string(s, frame.object, &head[1]))
		return false;
	head[0] = call_address_of(frame.address);
	if (head[3] != 0 || count > 1)
		known = 5;
	else if (head[2] != 0)
		known = 3;
	heaptrack_begin_line(s, 'i', head, known);
	for (uint32_t i = 1; i < count; i++) {
		if (!put_place_strings(s, frames[i], numbers, &frame))
			return false;
		start = outfile_room(&s->out, 3 * HEAPTRACK_NUMBER_NBYTES);
		outfile_advance(&s->out, (size_t)(heaptrack_put_numbers(
							  start, numbers, 3) -
						  start));
	}
	outfile_bytes(&s->out, "\n", 1);
	return true;
}

/*
 * Does frame 'id' have the address and the object of 'where'?  Compare the
 * objects, too, because two objects may have code at the same address.
 */
static bool
is_at(const struct heaptrack *h, uint64_t id, const struct hatf_frame *where)
{
	struct hatf_frame frame = { .address = 0 };

	hatf_stacks_get_frame(h->stacks, id, &frame);
	if (frame.address != where->address)
		return false;
	if (frame.object == NULL || where->object == NULL)
		return frame.object == where->object;
	return strcmp(frame.object, where->object) == 0;
}

/*
 * Store the frames of a step in 'frames', innermost first: at least one, and at
 * most INLINED_MAX.
 */
static void
gather_frames(const struct heaptrack *h, const struct step *step,
	      uint64_t *frames)
{
	uint64_t id = step->stack;
	uint32_t i = 0;

	do {
		struct hatf_stack stack = { .parent = 0 };

		hatf_stacks_get(h->stacks, id, &stack);
		frames[i] = stack.frame;
		id = stack.parent;
	} while (++i < step->frame_count);
}

/*
 * Count the innermost frames of a stack that form one 'i' line.  Stop before a
 * frame that repeats, because each call of a recursive function has its own 'i'
 * line, even if the call is inlined.
 */
static struct step
find_step(const struct heaptrack *h, uint64_t id)
{
	struct step step = { .stack = id, .frame_count = 1 };
	struct hatf_stack stack = { .parent = 0 }, caller;
	struct hatf_frame where = { .address = 0 };
	uint64_t frames[INLINED_MAX];

	hatf_stacks_get(h->stacks, id, &stack);
	frames[0] = stack.frame;
	hatf_stacks_get_frame(h->stacks, stack.frame, &where);
	while (where.address != 0 && step.frame_count < INLINED_MAX &&
	       hatf_stacks_get(h->stacks, stack.parent, &caller) &&
	       is_at(h, caller.frame, &where) &&
	       !rows_have_u64(frames, step.frame_count, caller.frame)) {
		frames[step.frame_count++] = caller.frame;
		stack = caller;
	}
	step.parent = stack.parent;
	return step;
}

/* Write a stack.  Its parent stack has the number 'parent' in the file. */
static bool
put_step(struct sink *s, const struct step *step, uint64_t parent)
{
	struct heaptrack *const h = s->ctx;
	const uint32_t count = h->ips.count;
	uint64_t frames[INLINED_MAX];
	struct u64_map_entry *trace;
	enum hatf_status status;
	uint32_t ip;
	bool added;

	gather_frames(h, step, frames);
	status = string_table_put(&h->ips, frames,
				  step->frame_count * sizeof(*frames), &ip);
	if (status != HATF_OK)
		return refuse(s, status);
	if (h->ips.count != count && !put_ip(s, frames, step->frame_count))
		return false;
	heaptrack_put_line(s, 't', (const uint64_t[]){ ip, parent }, 2);
	trace = u64_map_put(&h->traces, step->stack, &added);
	if (trace == NULL)
		return refuse(s, HATF_NO_MEMORY);
	trace->value = ++h->trace_count;
	return true;
}

/*
 * Store the number of a stack; 0 if its id is not defined.  First write the
 * stack and its parents if they are new.
 */
static bool
put_stack(struct sink *s, uint64_t id, uint64_t *number_ret)
{
	struct heaptrack *const h = s->ctx;
	struct hatf_stack stack;

	*number_ret = 0;
	h->steps.count = 0;
	while (hatf_stacks_get(h->stacks, id, &stack)) {
		const struct u64_map_entry *const trace =
			u64_map_find(&h->traces, id);
		struct step *step;

		if (trace != NULL) {
			*number_ret = trace->value;
			break;
		}
		step = rows_add(&h->steps, sizeof(*step));
		if (step == NULL)
			return refuse(s, HATF_NO_MEMORY);
		*step = find_step(h, id);
		id = step->parent;
	}
	for (size_t i = h->steps.count; i-- > 0;) {
		const struct step *const steps = h->steps.rows;

		if (!put_step(s, &steps[i], *number_ret))
			return false;
		*number_ret = h->trace_count;
	}
	return true;
}

/*
 * Write a stack that has one frame more than the stack with the number 'parent'
 * in the file.  The additional frame has only a name.  If there is no 'i' line
 * for this name yet, write this line first.  Store the number of the new stack.
 */
static bool
put_named_step(struct sink *s, const char *name, uint64_t parent,
	       uint64_t *number_ret)
{
	struct heaptrack *const h = s->ctx;
	const uint32_t count = h->ips.count;
	uint64_t numbers[3] = { 0 };
	enum hatf_status status;
	uint32_t ip;

	/*
	 * If the length of the name is even, add the NUL of the name to the
	 * key.  The length of the key is then odd in any case, so no array of
	 * frame ids, whose length is even, equals the key.
	 */
	status = string_table_put(&h->ips, name, strlen(name) | 1, &ip);
	if (status != HATF_OK)
		return refuse(s, status);
	if (!put_string(s, name, &numbers[2]))
		return false;
	if (h->ips.count != count)
		heaptrack_put_line(s, 'i', numbers, 3);
	heaptrack_put_line(s, 't', (const uint64_t[]){ ip, parent }, 2);
	*number_ret = ++h->trace_count;
	return true;
}

/*
 * For a call without a stack, store the number of a stack that stands in for
 * the missing one.  The outer frame of this stack names the thread, and the
 * inner frame names the size class.  If 'size_class' is SIZE_CLASS_COUNT, the
 * stack has only the frame of the thread.
 */
static bool
put_stand_in(struct sink *s, uint64_t thread, unsigned size_class,
	     uint64_t *number_ret)
{
	struct heaptrack *const h = s->ctx;
	const uint64_t key = thread * (SIZE_CLASS_COUNT + 1) + size_class;
	struct u64_map_entry *entry = u64_map_find(&h->stand_ins, key);
	uint64_t parent = 0;
	char name[64];
	struct text t;
	bool added;

	if (entry != NULL) {
		*number_ret = entry->value;
		return true;
	}
	if (size_class < SIZE_CLASS_COUNT) {
		size_class_name(size_class, name, sizeof(name));
		if (!put_stand_in(s, thread, SIZE_CLASS_COUNT, &parent))
			return false;
	} else {
		text_init(&t, name, sizeof(name) - 1);
		text_str(&t, "thread ");
		text_u64(&t, thread);
		name[t.used] = '\0';
	}
	if (!put_named_step(s, name, parent, number_ret))
		return false;
	entry = u64_map_put(&h->stand_ins, key, &added);
	if (entry == NULL)
		return refuse(s, HATF_NO_MEMORY);
	entry->value = *number_ret;
	return true;
}

/* ------------------------------------------------------------------- events */

static void
put_time(struct sink *s, uint64_t time)
{
	struct heaptrack *const h = s->ctx;

	if (h->ms_units == 0 || time / h->ms_units <= h->time_ms)
		return;
	h->time_ms = time / h->ms_units;
	heaptrack_put_number_line(s, 'c', h->time_ms);
}

/*
 * Write an allocation, and store its kind in the ledger as the block's
 * 'object'.
 */
static bool
put_alloc(struct sink *s, const struct hatf_record *rec,
	  struct ledger_entry *entry)
{
	struct heaptrack *const h = s->ctx;
	const uint32_t count = h->kinds.count;
	struct kind kind = { .size = rec->size };
	enum hatf_status status;
	uint32_t number;

	if (!put_stack(s, hatf_record_stack(rec), &kind.trace) ||
	    (kind.trace == 0 &&
	     !put_stand_in(s, rec->thread, size_class_of(rec->size),
			   &kind.trace)))
		return false;
	status = string_table_put(&h->kinds, &kind, sizeof(kind), &number);
	if (status != HATF_OK)
		return refuse(s, status);
	if (h->kinds.count != count)
		heaptrack_put_line(
			s, 'a', (const uint64_t[]){ kind.size, kind.trace }, 2);
	/* Kinds are numbered from 0 in the file, but from 1 in the table. */
	entry->block.object = number - 1;
	heaptrack_put_number_line(s, '+', entry->block.object);
	return ledger_keep(&h->ledger, rec, entry) || refuse(s, HATF_NO_MEMORY);
}

/*
 * Write a call.  Omit a failed call, and the free of an unknown block, because
 * the file has no kind for this block.
 */
static bool
put_call(struct sink *s, const struct hatf_record *rec,
	 struct ledger_entry *entry)
{
	loss_count_call(s, rec, entry);
	if (entry->kind == LEDGER_NONE || entry->kind == LEDGER_FAILED)
		return true;
	put_time(s, rec->time);
	if (entry->known)
		heaptrack_put_number_line(s, '-', entry->old.object);
	if (entry->replaced)
		heaptrack_put_number_line(s, '-', entry->lost.object);
	return !entry->lives || put_alloc(s, rec, entry);
}

struct destruction {
	struct sink *s;
	const struct hatf_record *rec;
};

static void
put_free(void *ctx, uint64_t address, const struct block *block)
{
	const struct destruction *const d = ctx;

	(void)address;
	put_time(d->s, d->rec->time);
	heaptrack_put_number_line(d->s, '-', block->object);
}

static bool
put_destruction(struct sink *s, const struct hatf_record *rec)
{
	struct heaptrack *const h = s->ctx;
	struct destruction d = { s, rec };

	return ledger_destroy(&h->ledger, rec->heap, put_free, &d);
}

/*
 * If this is a comment that heaptrack_source.c makes from a line 'S', 'R' or
 * 'c', write that line again.
 */
static void
put_note(struct sink *s, const struct hatf_record *rec)
{
	const char *const text = (const char *)rec->attributes;
	const size_t nbytes = rec->attributes_nbytes;
	struct heaptrack *const h = s->ctx;
	char buf[SUPPRESSION_MAX] = "";
	uint64_t n;

	if (hatf_record_comment_starts(rec, "HATF suppression\n")) {
		text_find(text, nbytes, "text", buf, sizeof(buf));
		outfile_bytes(&s->out, "S ", 2);
		heaptrack_put_text(s, buf, strlen(buf));
		outfile_bytes(&s->out, "\n", 1);
		return;
	}
	if (!hatf_record_comment_starts(rec, "HATF system\nuse=resident\n") &&
	    !hatf_record_comment_starts(rec, "HATF time\n"))
		return;
	if (text_find_u64(text, nbytes, "time", &n))
		put_time(s, n);
	if (text_find_u64(text, nbytes, "size", &n))
		heaptrack_put_number_line(s, 'R', n / h->page_nbytes);
}

static bool
put_comment(struct sink *s, const struct hatf_record *rec)
{
	struct heaptrack *const h = s->ctx;

	put_note(s, rec);
	/*
	 * A malformed definition is no error: loss_note_stack() counts and
	 * ignores it.
	 */
	return loss_note_stack(s, h->stacks, rec) == HATF_OK;
}

static bool
put_record(struct sink *s, const struct hatf_record *rec)
{
	struct heaptrack *const h = s->ctx;
	struct ledger_entry entry;

	if (rec->tag == HATF_COMMENT)
		return put_comment(s, rec);
	if (!ledger_enter(&h->ledger, rec, &entry))
		return refuse(s, HATF_NO_MEMORY);
	if (rec->tag == HATF_DESTROY_HEAP)
		return put_destruction(s, rec) || refuse(s, HATF_NO_MEMORY);
	return put_call(s, rec, &entry);
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	const struct heaptrack *const h = s->ctx;

	for (size_t i = 0; i < n && s->err.status == HATF_OK; i++) {
		ledger_look_ahead(&h->ledger, records, n, i);
		put_record(s, &records[i]);
	}
	return s->err.status;
}

/* -------------------------------------------------------- opening, closing */

static enum hatf_status
open_sink(struct sink *s)
{
	struct heaptrack *const h = calloc(1, sizeof(*h));
	enum hatf_status status;

	if (h == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = h;
	ledger_init(&h->ledger);
	string_table_init(&h->strings, UINT32_MAX, HATF_FRAME_TEXTS_MAX);
	string_table_init(&h->ips, HATF_STACKS_MAX, UINT64_MAX);
	string_table_init(&h->kinds, KIND_MAX, UINT64_MAX);
	u64_map_init(&h->traces);
	u64_map_init(&h->stand_ins);
	status = hatf_stacks_open(&h->stacks);
	if (status != HATF_OK)
		return sink_fail(s, status, NULL);
	if (heaptrack_header_is(s, "unit", "ns"))
		h->ms_units = 1000000;
	else if (heaptrack_header_is(s, "unit", "us"))
		h->ms_units = 1000;
	h->page_nbytes = heaptrack_write_header(s);
	return HATF_OK;
}

/*
 * Write the two lines '#' with which heaptrack ends a file.  Omit these lines
 * if the trace is incomplete.
 */
static enum hatf_status
finish_sink(struct sink *s)
{
	const struct heaptrack *const h = s->ctx;
	char buf[80];
	struct text t;

	if (s->options.incomplete)
		return HATF_OK;
	text_init(&t, buf, sizeof(buf));
	text_str(&t, "# strings: ");
	text_u64(&t, h->strings.count);
	text_str(&t, "\n# ips: ");
	text_u64(&t, h->ips.count);
	text_str(&t, "\n");
	outfile_bytes(&s->out, buf, t.used);
	return HATF_OK;
}

static void
close_sink(struct sink *s)
{
	struct heaptrack *const h = s->ctx;

	if (h == NULL)
		return;
	ledger_fini(&h->ledger);
	string_table_fini(&h->strings);
	string_table_fini(&h->ips);
	string_table_fini(&h->kinds);
	u64_map_fini(&h->traces);
	u64_map_fini(&h->stand_ins);
	hatf_stacks_close(h->stacks);
	free(h->steps.rows);
	free(h);
}

const struct sink_ops heaptrack_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish_sink,
	.close = close_sink,
};
