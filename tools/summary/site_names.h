/* SPDX-License-Identifier: MIT */
/*
 * site_names.h - the places of call stacks, and their names
 *
 * Everything that this room asks about stacks goes through this file.  Names
 * are escaped (escape.h), so they can be printed as they are.
 */
#ifndef SITE_NAMES_H
#define SITE_NAMES_H

#include "hatf/hatf.h"

/* What of a place is named. */
enum site_part {
	SITE_PLACE, /* function, file and line, or module and offset */
	SITE_FUNCTION,
	SITE_FILE,
	SITE_MODULE,
};

struct site_names;

/* 'stacks' is the caller's and has all definitions.  NULL: no memory. */
struct site_names *site_names_open(const struct hatf_stacks *stacks);
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

/* Write the name of one frame of a stack to 'buf', which is returned. */
char *site_names_frame(struct site_names *names, uint64_t frame, char *buf,
		       size_t nbytes);

#endif /* SITE_NAMES_H */
