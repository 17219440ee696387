/* SPDX-License-Identifier: MIT */
/*
 * fuzz_generated.c - any bytes as a trace for the readers made from our DTDs
 *
 * The first byte of an input picks the DTD, the others are the trace.  Reading
 * one record at a time and many at once must give the same records and the same
 * error.
 */
#include "collector.h"
#include "fuzz.h"
#include "hatf10.h"
#include "hatf_split.h"
#include "mtrc.h"

#include <stdbool.h>

/* A small file can hold a large trace: read no more than this. */
#define RECORD_MAX 2000
#define MANY	   64

/* What was read. */
struct outcome {
	uint64_t count, hash;
	bool has_failed;
	char error[300];
};

/* A record that has only numbers. */
#define CASE(record, o, TYPE, name)                                 \
	case TYPE:                                                  \
		(o)->hash = fuzz_hash((o)->hash, &(record)->u.name, \
				      sizeof((record)->u.name));    \
		break

/* Note the values of a record; those of bytes are pointers. */
static void
note_values_collector(struct outcome *o, const struct collector_record *r)
{
	switch (r->type) {
		CASE(r, o, COLLECTOR_TYPE_ALLOCATE, as_allocate);
		CASE(r, o, COLLECTOR_TYPE_ROOT, as_root);
		CASE(r, o, COLLECTOR_TYPE_READ, as_read);
		CASE(r, o, COLLECTOR_TYPE_WRITE, as_write);
		CASE(r, o, COLLECTOR_TYPE_COLLECTIONBEGIN, as_collectionBegin);
		CASE(r, o, COLLECTOR_TYPE_PROMOTE, as_promote);
		CASE(r, o, COLLECTOR_TYPE_DIE, as_die);
		CASE(r, o, COLLECTOR_TYPE_COLLECTIONEND, as_collectionEnd);
	default:
		break;
	}
}

static void
note_values_mtrc(struct outcome *o, const struct mtrc_record *r)
{
	switch (r->type) {
		CASE(r, o, MTRC_TYPE_INTERNAL, as_internal);
		CASE(r, o, MTRC_TYPE_HEAP, as_heap);
		CASE(r, o, MTRC_TYPE_ALLOCATION, as_allocation);
		CASE(r, o, MTRC_TYPE_REALLOCATION, as_reallocation);
		CASE(r, o, MTRC_TYPE_DEALLOCATION, as_deallocation);
	case MTRC_TYPE_NAME:
		o->hash = fuzz_hash(o->hash, r->u.as_name.data.bytes,
				    r->u.as_name.data.nbytes);
		break;
	default:
		break;
	}
}

static void
note_values_hatf10(struct outcome *o, const struct hatf10_record *r)
{
	if (r->type == HATF10_TYPE_ALLOC)
		o->hash = fuzz_hash(o->hash, &r->u.as_alloc.size,
				    sizeof(r->u.as_alloc.size));
}

static void
note_values_hatf_split(struct outcome *o, const struct hatf_split_record *r)
{
	if (r->type == HATF_SPLIT_TYPE_ALLOC)
		o->hash = fuzz_hash(o->hash, &r->u.as_alloc.address,
				    sizeof(r->u.as_alloc.address));
}

#define TARGET(NAME)                                                          \
	static void note_##NAME(struct outcome *o,                            \
				const struct NAME##_record *record)           \
	{                                                                     \
		const uint64_t values[] = { record->type, record->section,    \
					    record->offset };                 \
                                                                              \
		o->count++;                                                   \
		o->hash = fuzz_hash(o->hash, values, sizeof(values));         \
		note_values_##NAME(o, record);                                \
		if (record->type == 0)                                        \
			o->hash = fuzz_hash(o->hash,                          \
					    record->u.comment.text.bytes,     \
					    record->u.comment.text.nbytes);   \
	}                                                                     \
                                                                              \
	static void read_##NAME(struct outcome *o, const char *path,          \
				size_t most)                                  \
	{                                                                     \
		static struct NAME##_record records[MANY];                    \
		struct NAME##_reader *const r = NAME##_reader_open(path);     \
		size_t n = 1;                                                 \
                                                                              \
		memset(o, 0, sizeof(*o));                                     \
		while (r != NULL && o->count < RECORD_MAX && n != 0) {        \
			size_t left = RECORD_MAX - (size_t)o->count;          \
                                                                              \
			left = left < most ? left : most;                     \
			n = most == 1 ? NAME##_reader_next(r, records)        \
				      : NAME##_reader_read(r, records, left); \
			for (size_t i = 0; i < n; i++)                        \
				note_##NAME(o, &records[i]);                  \
		}                                                             \
		if (r != NULL && NAME##_reader_error(r) != NULL) {            \
			o->has_failed = true;                                 \
			snprintf(o->error, sizeof(o->error), "%s",            \
				 NAME##_reader_error(r));                     \
		}                                                             \
		NAME##_reader_close(r);                                       \
	}

TARGET(collector)
TARGET(hatf10)
TARGET(hatf_split)
TARGET(mtrc)

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static void (*const readers[])(struct outcome *, const char *,
				       size_t) = { read_collector, read_hatf10,
						   read_hatf_split, read_mtrc };
	const size_t count = sizeof(readers) / sizeof(readers[0]);
	struct outcome one, many;
	char path[40];
	int fd;

	if (nbytes == 0)
		return 0;
	fd = fuzz_file();
	fuzz_append(fd, data + 1, nbytes - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readers[data[0] % count](&one, path, 1);
	readers[data[0] % count](&many, path, MANY);
	fuzz_check(one.count == many.count && one.hash == many.hash);
	fuzz_check(one.has_failed == many.has_failed);
	fuzz_check(strcmp(one.error, many.error) == 0);
	close(fd);
	return 0;
}
