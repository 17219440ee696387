/* SPDX-License-Identifier: MIT */
/*
 * heaptrack.h - shared by the parts of the source "heaptrack"
 *
 * heaptrack_source.c describes the two kinds of file, raw and interpreted, and
 * parses the lines of interpreted files and of both kinds.  heaptrack_raw.c
 * parses the lines of raw files only.  heaptrack_pieces.c fills the tables that
 * all parsers share.
 *
 * Not thread-safe: one thread at a time may use a source.
 *
 * A function that returns false has stopped the source with an error, unless
 * its comment says otherwise.  So has one that returns a NULL pointer without
 * giving it a meaning.
 */
#ifndef HATF_HEAPTRACK_H
#define HATF_HEAPTRACK_H

#include "hatf/containers/string_table.h"
#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/batch.h"
#include "hatf/formats/common/format.h"
#include "hatf/containers/modules.h"
#include "hatf/containers/rows.h"
#include "hatf/formats/heaptrack/heaptrack_fields.h"

/* Longest text of a comment; the source drops a comment with a longer one. */
#define HEAPTRACK_NOTE_MAX 8192

struct heaptrack {
	struct batch batch;
	struct hatf_stacks *stacks;
	struct string_table names;
	struct rows traces; /* uint64_t: stack ids */
	uint64_t version;
	bool has_string_lengths; /* strings are preceded by their length */
	uint64_t time;		 /* current time, in microseconds */
	uint64_t last_time;	 /* of the last record or comment */
	uint64_t page_nbytes;
	bool is_raw, is_interpreted;
	bool has_version;
	/* Definitions of new frames or stacks are pending. */
	bool has_definitions;
	bool has_record;
	/* Lines that the header has: bits '1 << enum heaptrack_header'. */
	unsigned header_lines;
	/* Interpreted files only. */
	struct rows strings; /* uint32_t: in 'names'; row 0: string 1 */
	struct rows ips;     /* struct ip; row 0: ip 1 */
	struct rows frames;  /* uint64_t: frame ids */
	struct rows kinds;   /* struct kind */
	/* Raw files only. */
	uint32_t exe;		/* number in 'names'; 0: unknown */
	struct modules modules; /* now in the program's memory */
	struct modules written_modules;
	struct u64_map known_ips; /* address -> 'object', its frame id */
	uint64_t row_nbytes;	  /* allocated by all 'struct rows' above */
};

/*
 * Header lines about the whole trace, each put at most once, before all
 * records.
 */
enum heaptrack_header {
	HEAPTRACK_HEADER_COMMAND,
	HEAPTRACK_HEADER_EXE,
	HEAPTRACK_HEADER_PAGE_SIZE,
	HEAPTRACK_HEADER_PAGE_COUNT,
	HEAPTRACK_HEADER_RAW,
	HEAPTRACK_HEADER_START,
};

/*
 * Return whether the tables are within their memory limit (FORMAT "Limits"); if
 * not, stop the source with HATF_LIMIT and return false.
 */
bool heaptrack_may_grow(struct source *s);

/*
 * Add a row and return it, uninitialized.  Return NULL if the source has
 * stopped: HATF_LIMIT or HATF_NO_MEMORY.
 */
void *heaptrack_add_row(struct source *s, struct rows *r, size_t row_nbytes);
bool heaptrack_add_u64(struct source *s, struct rows *r, uint64_t value);

/* Stop the source with 'status' and return false. */
bool heaptrack_fail(struct source *s, enum hatf_status status);

/*
 * Add a string to 'names' and set '*number_ret' to its number, from 1.  Return
 * the string with a number, which the table owns; NULL for number 0.
 */
bool heaptrack_add_name(struct source *s, const struct heaptrack_fields *string,
			uint32_t *number_ret);
const char *heaptrack_name(const struct heaptrack *h, uint32_t number);

/*
 * Add a frame and return its id.  Add a frame on top of '*stack' and set
 * '*stack' to the new stack's id.
 */
bool heaptrack_add_frame(struct source *s, const struct hatf_frame *frame,
			 uint64_t *id_ret);
bool heaptrack_add_stack(struct source *s, uint64_t frame, uint64_t *stack);

/*
 * Set '*stack_ret' to the stack id of trace number 'trace', 0 for trace 0.
 * Return false if there is no such trace; the source goes on.
 */
bool heaptrack_find_stack(const struct heaptrack *h, uint64_t trace,
			  uint64_t *stack_ret);

/*
 * Put a line into the header, unless it is there already or a record was read.
 */
void heaptrack_put_header(struct source *s, enum heaptrack_header what,
			  const uint8_t *value, size_t nbytes);

/*
 * Parse lines of raw files: 'x', 'm', and 't' with its address and the stack of
 * its caller.  Return the malformed field (a static string), or NULL; the
 * source may have stopped with NULL, too.
 */
const char *heaptrack_on_exe(struct source *s, struct heaptrack_fields f);
const char *heaptrack_on_module(struct source *s, struct heaptrack_fields f);
const char *heaptrack_on_raw_trace(struct source *s, uint64_t address,
				   uint64_t stack);

#endif /* HATF_HEAPTRACK_H */
