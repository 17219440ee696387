/* SPDX-License-Identifier: MIT */
/*
 * portable_site.h - the same name for a call site in different builds of a
 * program
 *
 * Between two builds, lines move, addresses change, and a tree is built in
 * another folder.  The name therefore consists of the function and the name of
 * its source file or, without symbols, of the name of the module:
 *
 * 	app::parse(int) (/build/1/src/parse.cc:72)   app::parse(int) (parse.cc)
 * 	work [clone .constprop.0] (/build/1/w.c:9)   work (w.c)
 * 	/usr/lib/libfoo.so.6.1+0x1234		     libfoo.so
 *
 * Pure functions; any thread may call them.
 */
#ifndef PORTABLE_SITE_H
#define PORTABLE_SITE_H

#include "hatf/hatf.h"

#include <stddef.h>

/*
 * Write the name of a frame, escaped, to 'buf'.  A long name loses its middle
 * (cut.h).  Return 'buf'.
 */
char *portable_site_name(const struct hatf_frame *frame, char *buf,
			 size_t nbytes);

#endif /* PORTABLE_SITE_H */
