/* SPDX-License-Identifier: MIT */
/*
 * limit.h - the limits of 'hatf check'
 *
 * 	LIMIT   = [SCOPE] MEASURE AMOUNT
 * 	SCOPE   = "process" [GLOB] | "tree" | ["process" GLOB] ROWS GLOB
 * 	ROWS    = "site" | "function" | "file" | "module" | "thread" | "heap"
 * 	MEASURE = "peak" | "live-at-end" | "allocated" | "allocs"
 * 		| "temporary-ratio" | "single"; also "live" for "live-at-end",
 * 		  and "allocations" for "allocs"
 * 	AMOUNT  = bytes, such as 64K, 2M or 1G; a number of allocations, such
 * 		  as 1000, 20K or 1M; or a percentage, such as 12.5%
 *
 * Blanks separate the words.  A GLOB with blanks must be in double quotes,
 * where '\' quotes the next byte.  Without a scope, a limit applies to each
 * process; without a process, a limit for rows applies to the rows of each
 * process.  A '#' at the start of a word begins a comment.  In a file, each
 * limit is on its own line.  A line "wrapper GLOB" of a file is not a limit: it
 * names functions that are not sites, such as xmalloc.
 */
#ifndef LIMIT_H
#define LIMIT_H

#include "tools/sites/stack_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum limit_scope {
	LIMIT_PROCESS, /* each process by itself */
	LIMIT_TREE,    /* all processes together */
	/* In each process, each row that matches the glob: */
	LIMIT_SITE,
	LIMIT_FUNCTION,
	LIMIT_FILE,
	LIMIT_MODULE,
	LIMIT_THREAD,
	LIMIT_HEAP,
	LIMIT_SCOPE_COUNT
};

enum limit_measure {
	LIMIT_PEAK,	 /* bytes live at the peak of the process */
	LIMIT_LIVE,	 /* bytes live at the end */
	LIMIT_ALLOCATED, /* bytes allocated in all */
	LIMIT_ALLOCS,	 /* number of allocations */
	/* temporary blocks, in millionths of all allocations */
	LIMIT_TEMPORARY,
	LIMIT_SINGLE, /* bytes of the largest allocation */
	LIMIT_MEASURE_COUNT
};

/* A ratio of 100 %, in millionths. */
#define LIMIT_WHOLE 1000000

struct limit {
	enum limit_scope scope;
	enum limit_measure measure;
	uint64_t amount; /* in the unit of the measure */
	/* the globs of processes and of rows; "*" if the user gave none */
	char *process, *row;
	char *text;   /* the user's words, with one blank between them */
	char *origin; /* such as "heap.limits:3" or "--max-peak" */
};

/* Maximum number of limits of a command. */
#define LIMITS_MAX 4096

/* The limits and wrappers of a command; starts as all zeros. */
struct limits {
	struct limit *list;
	size_t count, cap;
	char *wrappers[STACK_VIEW_WRAPPERS_MAX];
	/* the line of each wrapper, such as "heap.limits:3" */
	char *wrapper_origins[STACK_VIEW_WRAPPERS_MAX];
	unsigned wrapper_count;
};

/* The words for scopes, in the order of the enum; NULL at the end. */
extern const char *const limit_scope_words[LIMIT_SCOPE_COUNT + 1];

/*
 * Parse a limit from 'text' and append it.  'origin' says where the text comes
 * from.  On failure print a message and return false.
 */
bool limits_add(struct limits *limits, const char *origin, const char *text);

/*
 * Append the limit "MEASURE AMOUNT" for an option such as "--max-peak".  On
 * failure print a message and return false.
 */
bool limits_add_option(struct limits *limits, const char *option,
		       enum limit_measure measure, const char *amount);

/*
 * Append the limits and wrappers of a file; "-" is standard input.  On failure
 * print a message, which names the file and any wrong line, and return false.
 */
bool limits_read(struct limits *limits, const char *path);

void limits_free(struct limits *limits);

#endif /* LIMIT_H */
