/* SPDX-License-Identifier: MIT */
/*
 * site_options.h - the options by which commands choose and show call stacks
 *
 * A command puts SITE_OPTIONS into its page, hands these options to
 * site_options_take(), and asks a 'struct site_choice' about each record.
 */
#ifndef SITE_OPTIONS_H
#define SITE_OPTIONS_H

#include "tools/sites/block_filter.h"
#include "tools/sites/stack_view.h"

/* Indices of the options, from the first of them on. */
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
	  "only blocks whose site, the innermost function of their\n"          \
	  "stack, or its file:line or module+0xoffset, matches" },             \
		{ "not-site", 'S', "GLOB", "no blocks whose site matches" },   \
		{ "module", 'M', "GLOB",                                       \
		  "only blocks whose site is in such a program or library" },  \
		{ "thread", 'T', "GLOB",                                       \
		  "only blocks of threads with such a number or name" },       \
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

/* Take one of the options.  On failure print a message and return false. */
bool site_options_take(struct site_options *options, unsigned option,
		       const char *value);

/* What a command knows of the stacks of the trace that it reads. */
struct site_choice {
	struct hatf_stacks *stacks;
	struct stack_view *view;
	struct block_filter *filter; /* NULL: all blocks are chosen */
};

/*
 * Open what the options need; '*options' stays the caller's.  On failure print
 * a message and return false.  site_choice_close() closes it in any case.
 */
bool site_choice_open(struct site_choice *choice,
		      const struct site_options *options);
void site_choice_close(struct site_choice *choice);

/*
 * Learn from a record, and tell whether it is chosen.  Call it for every record
 * but metadata, in order.
 */
bool site_choice_keeps(struct site_choice *choice,
		       const struct hatf_record *rec);

/*
 * Make '*rec' refer to the stack that the view shows.  'buf' of 'cap' bytes
 * holds its attributes then; without room the record stays as it is.
 */
void site_choice_show(struct site_choice *choice, struct hatf_record *rec,
		      uint8_t *buf, size_t cap);

/*
 * After the last record: print what made the choice incomplete or useless, for
 * the trace 'path'.  Return false if memory was short.
 */
bool site_choice_report(const struct site_choice *choice, const char *path);

#endif /* SITE_OPTIONS_H */
