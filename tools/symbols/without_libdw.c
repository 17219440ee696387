/* SPDX-License-Identifier: MIT */
/* without_libdw.c - symbol_lookup.h for a build without libdw: no names */
#ifndef HAVE_LIBDW
#include "tools/symbols/symbol_lookup.h"

#include <errno.h>

struct symbol_lookup *
symbol_lookup_open(const struct symbol_lookup_options *options)
{
	(void)options;
	errno = ENOSYS;
	return NULL;
}

void
symbol_lookup_close(struct symbol_lookup *l)
{
	(void)l;
}

int
symbol_lookup_object(struct symbol_lookup *l, const char *path,
		     const char *build_id)
{
	(void)l;
	(void)path;
	(void)build_id;
	return -1;
}

size_t
symbol_lookup_find(struct symbol_lookup *l, int object, uint64_t address,
		   struct symbol_lookup_name names[SYMBOL_LOOKUP_NAMES_MAX])
{
	(void)l;
	(void)object;
	(void)address;
	(void)names;
	return 0;
}

unsigned
symbol_lookup_report(const struct symbol_lookup *l, const char *path)
{
	(void)l;
	(void)path;
	return 0;
}

#else
/* Declare something, because ISO C forbids an empty file. */
extern int symbol_lookup_with_libdw;
#endif
