/* SPDX-License-Identifier: MIT */
/*
 * mtf_writer_state.h - the state of a writer of a Meta-TF trace
 *
 * Only mtf_writer*.c include this header.
 */
#ifndef MTF_WRITER_STATE_H
#define MTF_WRITER_STATE_H

#include "hatf/metatf/trace/byte_sink.h"
#include "hatf/metatf/trace/field_state.h"
#include "hatf/metatf/trace/mtf_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section that is being written. */
struct part {
	struct section_state state;
	struct byte_sink sink;
	/* Of a column: how many elements a reader skips before the next one. */
	uint64_t skipped_count;
	bool is_open;
};

/*
 * A previous value to restore, because the preparation of a record has changed
 * it.
 */
struct undo {
	uint32_t history;
	uint64_t previous;
};

struct mtf_writer {
	int fd;
	const struct schema *schema;
	struct mtf_writer_options options;
	struct mtf_error err;
	struct part *parts; /* in the order of schema->sections */
	uint64_t record_count;
	bool *is_column;
	/* The record being written. */
	struct part *part;
	const struct schema_record *type;
	const struct mtf_value *next, *end;
	bool has_widened;
	/* The previous values to restore after the preparation of a record. */
	struct undo *undos;
	size_t undo_count, undo_capacity;
	uint64_t last[SCHEMA_MAX_FIELDS];
};

/*
 * Record the system error 'sys_errno' as the error of the writer.  Return
 * false.
 */
bool mtf_writer_fail_io(struct mtf_writer *w, int sys_errno);

/*
 * Return the record of 'section' that Meta-TF predefines for 'role', or NULL.
 * The schema owns the record.
 */
const struct schema_record *
mtf_writer_predefined(const struct schema_section *section,
		      enum schema_role role);

#endif /* MTF_WRITER_STATE_H */
