/* SPDX-License-Identifier: MIT */
/*
 * site_options.h - the options by which commands choose and show call stacks
 *
 * A command adds SITE_OPTIONS to its options, and calls site_options_take() for
 * each of these options that is on the command line.  Then the command asks a
 * 'struct site_choice' about each record.
 */
#ifndef SITE_OPTIONS_H
#define SITE_OPTIONS_H

#include "tools/sites/block_filter.h"
#include "tools/sites/stack_view.h"

/* Indices of the options, relative to the first one. */
enum site_option {
	SITE_OPTION_SITE,
	SITE_OPTION_NOT_SITE,
	SITE_OPTION_MODULE,
	SITE_OPTION_THREAD,
	SITE_OPTION_RAW_STACKS,
	SITE_OPTION_FOLD_STD,
	SITE_OPTION_COUNT
};

#define SITE_OPTIONS                                                           \
	{ "site", 's', "GLOB",                                                 \
	  "only blocks whose site matches: the innermost function\n"           \
	  "of their stack, its file:line or its module+0xoffset" },            \
		{ "not-site", 'S', "GLOB", "no blocks whose site matches" },   \
		{ "module", 'M', "GLOB",                                       \
		  "only blocks whose site is in a matching program or\n"       \
		  "library" },                                                 \
		{ "thread", 'T', "GLOB",                                       \
		  "only blocks of threads whose number or name matches" },     \
		{ "raw-stacks", 'R', NULL, "show frames of allocators, too" }, \
	{                                                                      \
		"fold-std", 'F', NULL,                                         \
			"hide operator new and the standard library, so\n"     \
			"that a site is the program's own line"                \
	}

/*
 * The end of a message that no block is at a site, if standard libraries are
 * not hidden.
 */
#define SITE_OPTIONS_FOLD_HINT                                          \
	"; to match the sites that 'hatf stat' and 'hatf leaks' show, " \
	"add --fold-std"

struct site_options {
	struct stack_view_options view;
	struct block_filter_options filter;
};

/*
 * Handle one of the options.  If there are too many patterns of its kind, print
 * a message and return false.
 */
bool site_options_take(struct site_options *options, unsigned option,
		       const char *value);

/* The stacks of the trace that a command reads, and the blocks it chooses. */
struct site_choice {
	struct hatf_stacks *stacks;
	struct stack_view *view;
	struct block_filter *filter; /* NULL: all blocks are chosen */
};

/*
 * Make the stacks, their view and, if there are patterns, a filter.  The caller
 * keeps '*options'.  If there is no memory, print a message and return false.
 * Call site_choice_close() even then.
 */
bool site_choice_open(struct site_choice *choice,
		      const struct site_options *options);
void site_choice_close(struct site_choice *choice);

/*
 * If the record defines a frame, a stack or an object, store the definition.
 * Return whether the record is chosen.  Call this function for every record but
 * metadata, in order.
 */
bool site_choice_keeps(struct site_choice *choice,
		       const struct hatf_record *rec);

/* Room for the comment that site_choice_show_caller() writes, in bytes. */
#define SITE_CHOICE_COMMENT_NBYTES 128

/*
 * If '*rec' defines a stack whose second innermost frame belongs to the
 * recorder, make '*rec' define the stack without this frame.  The new comment
 * is in 'buf', which has SITE_CHOICE_COMMENT_NBYTES.  Call this function for
 * every comment, in order and before site_choice_keeps().
 */
void site_choice_show_caller(const struct site_choice *choice,
			     struct hatf_record *rec, uint8_t *buf);

/*
 * Make '*rec' refer to its stack without the hidden innermost frames.  The new
 * attributes are in 'buf', which has 'cap' bytes.  If they do not fit, do not
 * change '*rec'.
 */
void site_choice_show(struct site_choice *choice, struct hatf_record *rec,
		      uint8_t *buf, size_t cap);

/*
 * Call this after the last record of the trace 'path'.  If there is a filter,
 * print a message if the filter ran out of memory, if it knows no site because
 * the trace has no stacks, if it chose no block, or if --not-site left out no
 * block.  Return false if the filter ran out of memory.
 */
bool site_choice_report(const struct site_choice *choice, const char *path);

#endif /* SITE_OPTIONS_H */
