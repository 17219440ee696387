/* SPDX-License-Identifier: MIT */
/* source.c - functions for the sources, see format.h */
#include "hatf/formats/common/format.h"

#include <stdlib.h>

/*
 * HEADER_NBYTES is the maximum length, in bytes, of all header lines from a
 * foreign trace together.  All lines of a header must fit into one comment, so
 * this limit leaves room for the lines that a writer adds.  HEADER_VALUE_MAX is
 * the maximum length of one value, in bytes.  Escaping may make the value 4
 * times as long.
 */
#define HEADER_NBYTES	 (UINT16_MAX - 1024)
#define HEADER_VALUE_MAX ((size_t)8 * 1024)

enum hatf_status
source_stop(struct source *s, enum hatf_status status, const char *field)
{
	s->err = (struct hatf_error){
		.status = status,
		.sys_errno = status == HATF_IO ? s->window.input.sys_errno : 0,
		.offset = s->offset,
		.file_offset = input_consumed(&s->window.input),
		.record = s->tally.record_count,
		.line = s->line,
		.field = field,
		.compression = input_compression(&s->window.input),
	};
	return status;
}

enum hatf_status
source_stop_at_end(struct source *s, size_t left, const char *field)
{
	const enum hatf_status status = s->window.input.status;

	if (left != 0 && status == HATF_END)
		return source_stop(s, HATF_TRUNCATED, field);
	return source_stop(s, status, status == HATF_TRUNCATED ? field : NULL);
}

/* The limits that FORMATS "Limits" gives. */
#define TABLES_NBYTES ((uint64_t)64 << 20)
#define TABLES_RATIO  256

/*
 * Upper bounds of the memory, in bytes, that 'struct hatf_stacks' needs for a
 * frame and for a stack, without names.
 */
#define FRAME_NBYTES 112
#define STACK_NBYTES 40

bool
source_may_keep(const struct source *s, const struct hatf_stacks *stacks,
		uint64_t nbytes)
{
	const uint64_t read_nbytes = input_consumed(&s->window.input);

	nbytes += hatf_stacks_frame_count(stacks) * FRAME_NBYTES +
		  hatf_stacks_count(stacks) * STACK_NBYTES +
		  hatf_stacks_name_nbytes(stacks);
	return nbytes <= TABLES_NBYTES ||
	       (nbytes - TABLES_NBYTES) / TABLES_RATIO <= read_nbytes;
}

bool
source_header(struct source *s, const char *key, const char *value,
	      size_t nbytes)
{
	struct text t;

	if (s->header == NULL)
		s->header = malloc(HEADER_NBYTES + 1);
	if (s->header == NULL) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return false;
	}
	text_init(&t, s->header + s->header_nbytes,
		  HEADER_NBYTES - s->header_nbytes);
	if (nbytes > HEADER_VALUE_MAX)
		nbytes = HEADER_VALUE_MAX;
	text_line(&t, key, value, nbytes);
	s->header_nbytes += t.used;
	return true;
}

bool
source_header_u64(struct source *s, const char *key, uint64_t n)
{
	char digits[20];
	struct text t;

	text_init(&t, digits, sizeof(digits));
	text_u64(&t, n);
	return source_header(s, key, digits, t.used);
}
