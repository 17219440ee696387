/* SPDX-License-Identifier: MIT */
/* demangle.c - see demangle.h */
#include "tools/symbols/demangle.h"

#include <stddef.h>

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>

char *
demangle(const char *name)
{
	/* DMGL_VERBOSE would keep the hash that Rust appends. */
	return cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
}
#else
char *
demangle(const char *name)
{
	(void)name;
	return NULL;
}
#endif
