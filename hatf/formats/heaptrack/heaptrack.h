/* SPDX-License-Identifier: MIT */
/*
 * heaptrack.h - what the parts of the source "heaptrack" share
 *
 * heaptrack_source.c has what the two kinds of file are, and the lines of interpreted
 * ones and of both; heaptrack_raw.c those of raw ones; heaptrack_pieces.c what all of
 * them make of a line.  Used by one thread at a time.
 *
 * A function that returns false, or a NULL that is not said to be something else, has
 * stopped the source.
 */
#ifndef HATF_HEAPTRACK_H
#define HATF_HEAPTRACK_H

#include "hatf/containers/string_table.h"
#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/batch.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/modules.h"
#include "hatf/formats/common/rows.h"
#include "hatf/formats/heaptrack/heaptrack_fields.h"

/* Room for what a comment tells; one that would be longer is not made. */
#define NOTE_TEXT_MAX 8192

struct heaptrack {
	struct batch batch;
	struct hatf_stacks *stacks;
	struct string_table names;
	struct rows traces; /* uint64_t: stacks */
	uint64_t version;
	bool is_sized;	    /* strings have their length in front of them */
	uint64_t time;	    /* microseconds */
	uint64_t told_time; /* the last that a record or comment has */
	uint64_t page_nbytes;
	bool is_raw, is_interpreted;
	bool has_version;
	bool has_news; /* definitions that have not been told */
	bool has_record;
	unsigned told; /* what the header has, as bits '1 << enum told' */
	/* Of interpreted files. */
	struct rows strings; /* uint32_t: numbers in 'names', from 1 on */
	struct rows ips;     /* struct ip, from 1 on */
	struct rows frames;  /* uint64_t */
	struct rows kinds;   /* struct kind */
	/* Of raw files. */
	uint32_t exe;		/* in 'names'; 0: not known */
	struct modules modules; /* what is in memory now */
	struct modules told_modules;
	struct u64_map known_ips; /* address -> 'value' is its frame */
	uint64_t row_nbytes;	  /* of all 'struct rows' here */
};

/* What may be told once of the whole trace, in front of its records. */
enum told {
	TOLD_COMMAND,
	TOLD_EXE,
	TOLD_PAGE_SIZE,
	TOLD_PAGES,
	TOLD_RAW,
	TOLD_START,
};

/* May the tables take what they do (FORMATS "Limits")?  Stops reading if not. */
bool heaptrack_may_grow(struct source *s);

/* Room for one more; NULL if there may be none, and reading has stopped. */
void *heaptrack_add_row(struct source *s, struct rows *r, size_t row_nbytes);
bool heaptrack_add_u64(struct source *s, struct rows *r, uint64_t value);

/* Stop for what a table says; false. */
bool heaptrack_refuse(struct source *s, enum hatf_status status);

/* The number of a string in 'names', and the string, NULL for number 0. */
bool heaptrack_add_name(struct source *s, const struct fields *string,
			uint32_t *number_ret);
const char *heaptrack_name(const struct heaptrack *h, uint32_t number);

/* The id of a frame, and of a stack with another frame on top. */
bool heaptrack_add_frame(struct source *s, const struct hatf_frame *frame,
			 uint64_t *id_ret);
bool heaptrack_add_stack(struct source *s, uint64_t frame, uint64_t *stack);

/* The stack of a trace number, 0 being none; false if there is no such trace. */
bool heaptrack_find_stack(const struct heaptrack *h, uint64_t trace,
			  uint64_t *stack_ret);

/* Put what is known of the whole trace into the header, once and before all records. */
void heaptrack_tell_header(struct source *s, enum told what,
			   const uint8_t *value, size_t nbytes);

/*
 * Lines of raw files: 'x', 'm', and 't' with an address and the caller's stack.  They
 * return what is malformed (static), or NULL; the source may have stopped then.
 */
const char *heaptrack_on_exe(struct source *s, struct fields f);
const char *heaptrack_on_module(struct source *s, struct fields f);
const char *heaptrack_on_raw_trace(struct source *s, uint64_t address,
				   uint64_t stack);

#endif /* HATF_HEAPTRACK_H */
