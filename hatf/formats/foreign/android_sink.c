/* SPDX-License-Identifier: MIT */
/*
 * android_sink.c - convert records to a trace for Android's memory_replay
 * (FORMATS "android")
 *
 * memory_replay stores a thread id in 32 bits, where 0 means "no thread".  The
 * sink therefore writes thread 0, the first thread of a trace, as the process
 * id, which is also the kernel's id of that thread.  If the header has no
 * usable process id, the sink writes FIRST_OTHER_THREAD - 1 instead.  The sink
 * replaces thread ids from FIRST_OTHER_THREAD (2^30) on.
 *
 * The sink omits failed calls, and frees of blocks that the trace never
 * allocated, because memory_replay aborts at them.
 *
 * The sink writes times only if the trace's unit of time is ns or us, and
 * converts them to nanoseconds.  It writes the same time for the beginning and
 * for the end of a call.
 */
#include "hatf/codec/hatf_record.h"
#include "hatf/formats/common/calls.h"
#include "hatf/formats/common/loss.h"
#include "hatf/formats/common/textio.h"

#include <stdlib.h>

/* The longest line of one call, in bytes. */
#define LINE_NBYTES (20 + 6 * (1 + TEXTIO_NUMBER_MAX))

/*
 * The sink replaces thread ids from this number on, because many of them do not
 * fit in 32 bits.  The replacements also count from this number.  Linux thread
 * ids are below 2^22, so no real id equals a replacement.
 */
#define FIRST_OTHER_THREAD ((uint64_t)1 << 30)

struct android {
	struct calls calls;
	uint64_t first_thread; /* the thread id to write for thread 0 */
	/* Nanoseconds per unit of the trace's time; 0: write no times. */
	uint64_t ns;
	/* maps a thread id to the number that replaces it */
	struct u64_map others;
	uint64_t other_count;
	bool no_memory;
};

static uint64_t
thread_number(struct android *a, uint64_t thread)
{
	struct u64_map_entry *block;
	bool added;

	if (thread < FIRST_OTHER_THREAD)
		return thread == 0 ? a->first_thread : thread;
	block = u64_map_put(&a->others, thread, &added);
	if (block == NULL) {
		a->no_memory = true;
		return FIRST_OTHER_THREAD;
	}
	if (added)
		block->value = FIRST_OTHER_THREAD +
			       a->other_count++ % FIRST_OTHER_THREAD;
	return block->value;
}

/*
 * Return the value of the attribute 'key' (1 for HATF_ATTR_ZEROED); 0 if the
 * record lacks this attribute.
 */
static uint64_t
find_attribute(const struct hatf_record *rec, uint8_t key)
{
	const uint8_t *next = rec->attributes;
	struct hatf_attr_item item;

	if (rec->attributes_nbytes == 0)
		return 0;
	while (hatf_attr_next(&next, rec->attributes + rec->attributes_nbytes,
			      &item))
		if (item.key == key)
			return key == HATF_ATTR_ZEROED ? 1 : item.value;
	return 0;
}

static uint8_t *
put_number(uint8_t *p, uint64_t n)
{
	*p++ = ' ';
	return textio_put_u64(p, n);
}

static uint8_t *
put_address(uint8_t *p, uint64_t address)
{
	*p++ = ' ';
	return textio_put_hex(p, address);
}

/* Write "TID: OPERATION POINTER". */
static uint8_t *
put_operation(uint8_t *p, struct android *a, const struct hatf_record *rec,
	      const char *operation, uint64_t address)
{
	p = textio_put_u64(p, thread_number(a, rec->thread));
	p = textio_put_bytes(p, ": ", 2);
	p = textio_put_bytes(p, operation, strlen(operation));
	return put_address(p, address);
}

static uint8_t *
put_alloc(uint8_t *p, struct android *a, const struct call *call)
{
	const uint64_t alignment =
		find_attribute(call->rec, HATF_ATTR_ALIGNMENT);

	if (alignment != 0) {
		p = put_operation(p, a, call->rec, "memalign", call->address);
		p = put_number(p, alignment);
	} else if (find_attribute(call->rec, HATF_ATTR_ZEROED) != 0) {
		p = put_operation(p, a, call->rec, "calloc", call->address);
		p = put_number(p, 1);
	} else {
		p = put_operation(p, a, call->rec, "malloc", call->address);
	}
	return put_number(p, call->size);
}

static uint8_t *
put_realloc(uint8_t *p, struct android *a, const struct call *call)
{
	p = put_operation(p, a, call->rec, "realloc", call->address);
	p = put_address(p, call->old_address);
	/* memory_replay requires the size 0 in a realloc that frees. */
	return put_number(p, call->kind == LEDGER_FREE ? 0 : call->size);
}

/*
 * Does the sink write the call as "realloc"?  The sink also writes a realloc of
 * NULL and a realloc to 0 bytes as "realloc".  If calls_write() has omitted the
 * old block of a realloc, the sink writes an allocation instead.  If
 * calls_write() has omitted the new block, the sink writes a free.
 */
static bool
is_realloc(const struct call *call)
{
	if (!hatf_record_is_realloc(call->rec))
		return false;
	if (call->kind == LEDGER_ALLOC)
		return call->old_address == 0;
	return call->kind != LEDGER_FREE || call->rec->tag == HATF_REALLOC_FREE;
}

static uint8_t *
put_times(uint8_t *p, const struct android *a, const struct hatf_record *rec)
{
	uint64_t ns;

	if (a->ns == 0)
		return p;
	if (__builtin_mul_overflow(rec->time, a->ns, &ns))
		ns = UINT64_MAX;
	p = put_number(p, ns);
	return rec->tag == HATF_DESTROY_THREAD ? p : put_number(p, ns);
}

static void
put_line(struct sink *s, const struct call *call)
{
	struct android *const a = s->ctx;
	const struct hatf_record *const rec = call->rec;
	uint8_t *const start = outfile_room(&s->out, LINE_NBYTES);
	uint8_t *p;

	if (call->kind == LEDGER_NONE)
		p = put_operation(start, a, rec, "thread_done", 0);
	else if (is_realloc(call))
		p = put_realloc(start, a, call);
	else if (call->kind == LEDGER_FREE)
		p = put_operation(start, a, rec, "free", call->old_address);
	else
		p = put_alloc(start, a, call);
	p = put_times(p, a, rec);
	*p++ = '\n';
	outfile_advance(&s->out, (size_t)(p - start));
}

/*
 * Write a call.  memory_replay aborts at a free or realloc of a block that the
 * trace did not allocate.  So omit such a free, and write such a realloc as a
 * realloc of NULL.
 */
static void
put_call(struct sink *s, const struct call *recorded)
{
	struct call call = *recorded;

	if (call.kind == LEDGER_FAILED) {
		loss_count(s, SINK_LOSS_FAILED);
		return;
	}
	if (call.kind == LEDGER_NONE && call.rec->tag != HATF_DESTROY_THREAD)
		return;
	if (call.old_number == 0 &&
	    (call.kind == LEDGER_FREE || call.kind == LEDGER_REALLOC)) {
		loss_count(s, SINK_LOSS_FREE);
		if (call.kind == LEDGER_FREE)
			return;
		call.kind = LEDGER_ALLOC;
		call.old_address = 0;
	}
	put_line(s, &call);
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct android *const a = s->ctx;
	const enum hatf_status status =
		calls_write(&a->calls, s, records, n, put_call);

	if (status == HATF_OK && a->no_memory)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	return status;
}

/*
 * Return the trace's unit of time in nanoseconds; 0 if the sink must not write
 * times.
 */
static uint64_t
unit_ns(const struct sink *s, const char *lines)
{
	char unit[8] = "";

	if (lines == NULL || (s->options.drop & HATF_DROP_TIME) ||
	    text_find(lines, strlen(lines), "unit", unit, sizeof(unit)) < 0)
		return 0;
	return strcmp(unit, "ns") == 0 ? 1 : strcmp(unit, "us") == 0 ? 1000 : 0;
}

static enum hatf_status
open_sink(struct sink *s)
{
	const char *const lines = s->options.header;
	struct android *const a = calloc(1, sizeof(*a));

	if (a == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = a;
	calls_init(&a->calls);
	u64_map_init(&a->others);
	a->ns = unit_ns(s, lines);
	if (lines == NULL ||
	    !text_find_u64(lines, strlen(lines), "pid", &a->first_thread) ||
	    a->first_thread == 0 || a->first_thread >= FIRST_OTHER_THREAD)
		a->first_thread = FIRST_OTHER_THREAD - 1;
	return HATF_OK;
}

static void
close_sink(struct sink *s)
{
	struct android *const a = s->ctx;

	if (a == NULL)
		return;
	calls_fini(&a->calls);
	u64_map_fini(&a->others);
	free(a);
}

const struct sink_ops android_sink = {
	.open = open_sink,
	.write = write_records,
	.close = close_sink,
};
