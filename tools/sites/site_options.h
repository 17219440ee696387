/* SPDX-License-Identifier: MIT */
/*
 * site_options.h - the options by which commands choose and show call stacks
 *
 * A command adds SITE_OPTIONS to its options and passes them to
 * site_options_take().  Then it asks a 'struct site_choice' about each record.
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

struct site_options {
	struct stack_view_options view;
	struct block_filter_options filter;
};

/*
 * Handle one of the options.  If its value is wrong, print a message and return
 * false.
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
 * Open what the options need.  The caller keeps '*options'.  On failure print a
 * message and return false.  Call site_choice_close() in any case.
 */
bool site_choice_open(struct site_choice *choice,
		      const struct site_options *options);
void site_choice_close(struct site_choice *choice);

/*
 * If the record defines a frame or stack, store the definition.  Return whether
 * the record is chosen.  Call this function for every record but metadata, in
 * order.
 */
bool site_choice_keeps(struct site_choice *choice,
		       const struct hatf_record *rec);

/*
 * Let '*rec' refer to its stack without the hidden innermost frames.  The new
 * attributes are in 'buf', which has 'cap' bytes.  If they do not fit, '*rec'
 * is not changed.
 */
void site_choice_show(struct site_choice *choice, struct hatf_record *rec,
		      uint8_t *buf, size_t cap);

/*
 * After the last record of the trace 'path': print a message if no site is
 * known because the trace has no stacks, or if memory ran out.  Return false if
 * memory ran out.
 */
bool site_choice_report(const struct site_choice *choice, const char *path);

#endif /* SITE_OPTIONS_H */
