/* SPDX-License-Identifier: MIT */
/*
 * heaptrack.h - shared by the parts of the source "heaptrack"
 *
 * heaptrack_source.c describes the two kinds of file, raw and interpreted, and
 * parses the lines that both kinds have, or that only interpreted files have.
 * heaptrack_raw.c parses the lines of raw files only.  heaptrack_pieces.c fills
 * the tables that all parsers share.
 *
 * Only one thread at a time may use a source.
 *
 * A function that returns false or NULL has stopped the source with an error,
 * unless its comment gives the result another meaning.
 */
#ifndef HATF_HEAPTRACK_H
#define HATF_HEAPTRACK_H

#include "hatf/containers/modules.h"
#include "hatf/containers/rows.h"
#include "hatf/containers/string_table.h"
#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/batch.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/heaptrack/heaptrack_fields.h"

/*
 * The longest text of a comment, in bytes.  The source omits a comment with a
 * longer text.
 */
#define HEAPTRACK_NOTE_MAX 8192

struct heaptrack {
	struct batch batch;
	struct hatf_stacks *stacks;
	struct string_table names;
	struct rows traces; /* rows of uint64_t: stack ids; row 0 is trace 1 */
	uint64_t version;
	/* true: in the file, the length of a string precedes the string */
	bool has_string_lengths;
	uint64_t time; /* current time, in microseconds */
	/*
	 * time of the latest record, or of the latest comment that has a time
	 */
	uint64_t last_time;
	uint64_t page_nbytes;
	bool is_raw, is_interpreted;
	bool has_version;
	/*
	 * true: there are new frames or stacks that no comment of the trace
	 * defines yet.
	 */
	bool has_definitions;
	bool has_record;
	/*
	 * The lines that the header already contains, as bits '1 << enum
	 * heaptrack_header'.
	 */
	unsigned header_lines;
	/* The tables for interpreted files. */
	/*
	 * rows of uint32_t: the number in 'names' of each string.  Row 0 is
	 * string number 1.
	 */
	struct rows strings;
	struct rows ips;    /* rows of struct ip; row 0 is ip number 1 */
	struct rows frames; /* rows of uint64_t: frame ids */
	struct rows kinds;  /* rows of struct kind */
	/* The tables for raw files. */
	/* path of the program: number in 'names'; 0: unknown */
	uint32_t exe;
	/* objects that are now mapped in the program's memory */
	struct modules modules;
	/* mapped ranges that a comment of the trace already describes */
	struct modules written_modules;
	/* maps the address of a call to the id of its frame */
	struct u64_map known_ips;
	/* Bytes allocated for all 'struct rows' above. */
	uint64_t row_nbytes;
};

/*
 * Header lines that describe the whole trace.  The source adds each of them to
 * the header at most once, before the first record.
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
 * Are the tables within their memory limit (FORMATS "Limits")?  If not, stop
 * the source with HATF_LIMIT.
 */
bool heaptrack_may_grow(struct source *s);

/*
 * Add a row and return it, not initialized.  Return NULL if the source has
 * stopped: HATF_LIMIT or HATF_NO_MEMORY.
 */
void *heaptrack_add_row(struct source *s, struct rows *r, size_t row_nbytes);
bool heaptrack_add_u64(struct source *s, struct rows *r, uint64_t value);

/* Stop the source with 'status' and return false. */
bool heaptrack_fail(struct source *s, enum hatf_status status);

/*
 * heaptrack_add_name() adds a string to 'names' and sets '*number_ret' to its
 * number, from 1.  heaptrack_name() returns the string with this number, or
 * NULL for number 0.  The table owns the string.
 */
bool heaptrack_add_name(struct source *s, const struct heaptrack_fields *string,
			uint32_t *number_ret);
const char *heaptrack_name(const struct heaptrack *h, uint32_t number);

/*
 * heaptrack_add_frame() adds a frame and stores its id.  heaptrack_add_stack()
 * adds a stack with the frame 'frame' and the parent '*stack', and stores the
 * id of the new stack in '*stack'.
 */
bool heaptrack_add_frame(struct source *s, const struct hatf_frame *frame,
			 uint64_t *id_ret);
bool heaptrack_add_stack(struct source *s, uint64_t frame, uint64_t *stack);

/*
 * Set '*stack_ret' to the stack id of trace number 'trace'.  Trace 0 has the
 * stack id 0.  If there is no such trace, return false; the source does not
 * stop.
 */
bool heaptrack_find_stack(const struct heaptrack *h, uint64_t trace,
			  uint64_t *stack_ret);

/*
 * Put a line into the header.  Do nothing if the header already has this line,
 * or if the source has already made a record or comment.
 */
void heaptrack_put_header(struct source *s, enum heaptrack_header what,
			  const uint8_t *value, size_t nbytes);

/*
 * Parse a line of a raw file.  heaptrack_on_exe() parses a line 'x',
 * heaptrack_on_module() a line 'm'.  heaptrack_on_raw_trace() gets the numbers
 * of a line 't': the address, and the stack of the caller.  Return the
 * malformed field (a static string) or NULL.  The source may have stopped even
 * if the result is NULL.
 */
const char *heaptrack_on_exe(struct source *s, struct heaptrack_fields f);
const char *heaptrack_on_module(struct source *s, struct heaptrack_fields f);
const char *heaptrack_on_raw_trace(struct source *s, uint64_t address,
				   uint64_t stack);

#endif /* HATF_HEAPTRACK_H */
