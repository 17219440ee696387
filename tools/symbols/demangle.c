/* SPDX-License-Identifier: MIT */
/* demangle.c - see demangle.h */
#include "tools/symbols/demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

/*
 * Return the value of a hexadecimal digit in an OCaml name, or -1 if 'c' is not
 * such a digit.
 */
static int
digit_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *const found = c == '\0' ? NULL : strchr(digits, c);

	return found == NULL ? -1 : (int)(found - digits);
}

/*
 * Decode a name of OCaml, which no library supports.  For example,
 * "camlStdlib__List__$40_12" is "Stdlib.List.@_12".  A name consists of "caml",
 * the modules and the function, with "__" between them.  '$' and two
 * hexadecimal digits stand for a character of an operator.  The number at the
 * end tells functions of the same name apart, so keep the number.
 */
static char *
demangle_ocaml(const char *name)
{
	char *text, *end;

	if (strncmp(name, "caml", 4) != 0 || name[4] < 'A' || name[4] > 'Z')
		return NULL;
	name += 4;
	text = malloc(strlen(name) + 1);
	if (text == NULL)
		return NULL;
	for (end = text; *name != '\0'; end++) {
		const int high = *name == '$' ? digit_value(name[1]) : -1;
		const int low = high >= 0 ? digit_value(name[2]) : -1;

		if (low >= 0 && (high != 0 || low != 0)) {
			*end = (char)(high << 4 | low);
			name += 3;
		} else if (name[0] == '_' && name[1] == '_') {
			*end = '.';
			name += 2;
		} else {
			*end = *name++;
		}
	}
	*end = '\0';
	return text;
}

char *
demangle(const char *name)
{
	char *text = demangle_ocaml(name);

#ifdef HAVE_LIBIBERTY
	/* DMGL_AUTO tries Rust and C++, but not D, so try D here. */
	if (text == NULL && strncmp(name, "_D", 2) == 0)
		text = dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI);
	/*
	 * Do not set DMGL_VERBOSE, which would keep the hash that Rust appends.
	 */
	if (text == NULL)
		text = cplus_demangle(name,
				      DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
#endif
	return text;
}
