/* SPDX-License-Identifier: MIT */
/*
 * site_names.h - the places of call stacks, and their names
 *
 * Everything that this room asks about stacks goes through this file, which
 * sees them through a stack_view.  Names are escaped (escape.h), so they can be
 * printed as they are.
 */
#ifndef SITE_NAMES_H
#define SITE_NAMES_H

#include "hatf/hatf.h"
#include "tools/sites/stack_view.h"

/* What of a place is named. */
enum site_part {
	SITE_PLACE, /* function, file and line, or module and offset */
	SITE_FUNCTION,
	SITE_FILE,
	SITE_MODULE,
};

struct site_names;

/* 'stacks' is the caller's and has all definitions.  NULL: no memory. */
struct site_names *site_names_open(const struct hatf_stacks *stacks,
				   const struct stack_view_options *options);
void site_names_close(struct site_names *names);

/* The first stack that a person wants to see: allocators' frames are left off.
 */
uint64_t site_names_top(struct site_names *names, uint64_t stack);

/*
 * The name of a stack's site, or a part of it; valid until the next call.
 * NULL: no memory.
 */
const char *site_names_get(struct site_names *names, uint64_t stack,
			   enum site_part part);

/* The name of one frame of a stack; valid until the next call. */
const char *site_names_frame(struct site_names *names, uint64_t frame);

#endif /* SITE_NAMES_H */
