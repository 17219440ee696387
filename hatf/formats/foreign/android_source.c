/* SPDX-License-Identifier: MIT */
/*
 * android_source.c - convert traces of Android's record_allocs and
 * memory_replay to records (FORMATS "android")
 *
 *	186: malloc 0xb6038060 20 1000 1020
 *	186: calloc 0xb609f080 32 4 ...
 *	186: memalign 0xae9d0000 4096 32 ...
 *	186: realloc 0xb609f0c0 0xb609f080 192 ...
 *	186: free 0xb609f0c0 ...
 *	187: thread_done 0x0 1040
 *
 * Later versions append the times at which the call began and ended, in
 * nanoseconds.  Lines are sorted by end time, so a record gets the end time.
 */
#include "hatf/formats/common/batch.h"
#include "hatf/formats/common/textio.h"

#include <stdlib.h>

/* Room for an attribute, in bytes: more than a key and a number take. */
#define ATTRIBUTES_NBYTES 24

enum operation {
	OPERATION_MALLOC,
	OPERATION_CALLOC,
	OPERATION_MEMALIGN,
	OPERATION_REALLOC,
	OPERATION_FREE,
	OPERATION_THREAD_DONE,
};
#define OPERATION_COUNT 6

/*
 * The name of each operation, and the names of its arguments after the pointer.
 */
static const struct {
	const char *name;
	/* NULL: the operation has no further argument */
	const char *arguments[2];
} operations[OPERATION_COUNT] = {
	[OPERATION_MALLOC] = { "malloc", { "size" } },
	[OPERATION_CALLOC] = { "calloc", { "count", "size" } },
	[OPERATION_MEMALIGN] = { "memalign", { "alignment", "size" } },
	[OPERATION_REALLOC] = { "realloc", { "old_address", "size" } },
	[OPERATION_FREE] = { "free", { NULL } },
	[OPERATION_THREAD_DONE] = { "thread_done", { NULL } },
};

struct android {
	struct batch batch;
	bool has_begun; /* the source has read its first call */
	bool has_times; /* the line being parsed has times */
	enum operation operation;
	uint64_t alignment; /* the alignment of a memalign, else 0 */
};

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

static bool
take_number(struct textio_cell *line, uint64_t *n_ret)
{
	while (is_blank(*line->start))
		line->start++;
	return textio_number(&line->start, n_ret) &&
	       (line->start == line->end || is_blank(*line->start));
}

static bool
take_thread(struct textio_cell *line, struct hatf_record *rec)
{
	return textio_number(&line->start, &rec->thread) &&
	       *line->start++ == ':' && is_blank(*line->start);
}

static bool
take_operation(struct textio_cell *line, enum operation *operation_ret)
{
	const uint8_t *name;
	size_t nbytes;

	while (is_blank(*line->start))
		line->start++;
	name = line->start;
	while (line->start != line->end && !is_blank(*line->start))
		line->start++;
	nbytes = (size_t)(line->start - name);
	for (unsigned i = 0; i < OPERATION_COUNT; i++) {
		if (strlen(operations[i].name) != nbytes ||
		    memcmp(name, operations[i].name, nbytes) != 0)
			continue;
		*operation_ret = (enum operation)i;
		return true;
	}
	return false;
}

/*
 * If the line has times, parse the times at which the call began and ended, and
 * store the end time.  A line "thread_done" has only the end time.
 */
static bool
take_time(struct android *a, struct textio_cell line, struct hatf_record *rec)
{
	uint64_t n;

	while (is_blank(*line.start))
		line.start++;
	a->has_times = line.start != line.end;
	if (!a->has_times)
		return true;
	if (!take_number(&line, &rec->time))
		return false;
	if (a->operation == OPERATION_THREAD_DONE)
		return true;
	if (!take_number(&line, &rec->time))
		return false;
	/* Skip numbers that a later version may append. */
	while (is_blank(*line.start))
		line.start++;
	while (line.start != line.end)
		if (!take_number(&line, &n))
			return false;
	return true;
}

/*
 * Set the fields of 'rec' from the arguments.  Return NULL, or the malformed
 * field.
 */
static const char *
set_call(struct android *a, const uint64_t arguments[2],
	 struct hatf_record *rec)
{
	rec->tag = HATF_ALLOC;
	a->alignment = 0;
	switch (a->operation) {
	case OPERATION_MALLOC:
		rec->size = arguments[0];
		return NULL;
	case OPERATION_CALLOC:
		/*
		 * A calloc whose size overflows is valid only if the call
		 * failed.
		 */
		if (!__builtin_mul_overflow(arguments[0], arguments[1],
					    &rec->size))
			return NULL;
		rec->size = UINT64_MAX;
		return rec->address == 0 ? NULL : "size";
	case OPERATION_MEMALIGN:
		a->alignment = arguments[0];
		rec->size = arguments[1];
		return NULL;
	case OPERATION_REALLOC:
		rec->old_address = arguments[0];
		rec->size = arguments[1];
		return NULL;
	case OPERATION_FREE:
		rec->tag = HATF_FREE;
		return NULL;
	default:
		rec->tag = HATF_DESTROY_THREAD;
		rec->address = 0;
		return NULL;
	}
}

static const char *
parse_line(struct source *s, struct textio_cell line, struct hatf_record *rec,
	   bool *is_record_ret)
{
	struct android *const a = s->ctx;
	uint64_t arguments[2] = { 0, 0 };

	while (is_blank(*line.start))
		line.start++;
	if (line.start == line.end) {
		*is_record_ret = false;
		return NULL;
	}
	if (!take_thread(&line, rec))
		return "thread";
	if (!take_operation(&line, &a->operation))
		return "operation";
	if (!take_number(&line, &rec->address))
		return "address";
	for (unsigned i = 0; i < 2; i++) {
		const char *const name = operations[a->operation].arguments[i];

		if (name != NULL && !take_number(&line, &arguments[i]))
			return name;
	}
	if (!take_time(a, line, rec))
		return "time";
	return set_call(a, arguments, rec);
}

/*
 * Store the alignment of a memalign or the zeroing of a calloc as an attribute,
 * because HATF records have no fields for them.  Return false if memory runs
 * out.
 */
static bool
add_attributes(struct android *a, struct hatf_record *rec)
{
	const struct hatf_attr_item zeroed = { .key = HATF_ATTR_ZEROED };
	const struct hatf_attr_item alignment = {
		.key = HATF_ATTR_ALIGNMENT,
		.value = a->alignment,
	};
	const bool is_calloc = a->operation == OPERATION_CALLOC;
	uint8_t *bytes;
	size_t used = 0;

	if (!is_calloc && a->operation != OPERATION_MEMALIGN)
		return true;
	bytes = batch_bytes(&a->batch, ATTRIBUTES_NBYTES);
	if (bytes == NULL)
		return false;
	hatf_attr_put(bytes, ATTRIBUTES_NBYTES, &used,
		      is_calloc ? &zeroed : &alignment);
	rec->attributes = bytes;
	rec->attributes_nbytes = (uint32_t)used;
	return true;
}

/*
 * Add the record of a line to the batch, and the records that a realloc
 * announces.  Return false if memory runs out.
 */
static bool
add_call(struct android *a, struct hatf_record *line)
{
	struct hatf_record *out;

	/* On Android, a realloc to 0 bytes frees the block. */
	if (a->operation == OPERATION_REALLOC)
		return batch_realloc(&a->batch, line,
				     line->address == 0 && line->size == 0 &&
					     line->old_address != 0);
	if (!add_attributes(a, line))
		return false;
	out = batch_add(&a->batch, line->tag);
	if (out == NULL)
		return false;
	*out = *line;
	return true;
}

/*
 * Call this after each line.  After the first line of the trace, put the unit
 * of time into the header, because this line shows whether the trace has times.
 * After later lines, do nothing.
 */
static bool
put_unit(struct source *s)
{
	struct android *const a = s->ctx;
	const char *const unit = a->has_times ? "ns" : "none";

	if (a->has_begun)
		return true;
	a->has_begun = true;
	return source_header(s, "unit", unit, strlen(unit));
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct android *const a = s->ctx;
	struct hatf_record line;

	batch_begin(&a->batch, records, max);
	while (batch_has_room(&a->batch) &&
	       textio_read(s, parse_line, &line, 1) != 0) {
		if (!put_unit(s))
			break;
		if (!add_call(a, &line)) {
			source_stop(s, HATF_NO_MEMORY, NULL);
			break;
		}
	}
	return batch_end(&a->batch, s);
}

bool
android_recognize(const uint8_t *bytes, size_t nbytes)
{
	const uint8_t *const end = bytes + nbytes;
	const uint8_t *p = bytes;

	while (p != end && *p >= '0' && *p <= '9')
		p++;
	if (p == bytes || end - p < 2 || p[0] != ':' || !is_blank(p[1]))
		return false;
	for (p++; p != end && is_blank(*p);)
		p++;
	for (unsigned i = 0; i < OPERATION_COUNT; i++) {
		const size_t length = strlen(operations[i].name);

		if ((size_t)(end - p) > length &&
		    memcmp(p, operations[i].name, length) == 0 &&
		    is_blank(p[length]))
			return true;
	}
	return false;
}

static enum hatf_status
open_source(struct source *s)
{
	return textio_open(s, sizeof(struct android));
}

static void
close_source(struct source *s)
{
	struct android *const a = s->ctx;

	if (a == NULL)
		return;
	batch_fini(&a->batch);
	free(a);
}

const struct source_ops android_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
