/* SPDX-License-Identifier: MIT */
/* portable_site.c - see portable_site.h */
#include "tools/compare/portable_site.h"

#include "tools/ui/escape.h"

#include <stdio.h>
#include <string.h>

/* Longer names of functions and modules are truncated to this many bytes. */
#define NAME_NBYTES 1024

static const char *
last_part(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/*
 * Return the length of a function's name without the compiler's " [clone
 * .cold]".
 */
static int
function_nbytes(const char *function)
{
	const char *const clone = strstr(function, " [clone ");
	const size_t nbytes =
		clone != NULL ? (size_t)(clone - function) : strlen(function);

	return nbytes < NAME_NBYTES ? (int)nbytes : NAME_NBYTES;
}

/* Return the length of a library's name without its version, "libfoo.so". */
static int
module_nbytes(const char *name)
{
	const char *const version = strstr(name, ".so.");
	const size_t nbytes = version != NULL
				      ? (size_t)(version - name) + strlen(".so")
				      : strlen(name);

	return nbytes < NAME_NBYTES ? (int)nbytes : NAME_NBYTES;
}

char *
portable_site_name(const struct hatf_frame *frame, char *buf, size_t nbytes)
{
	char name[2 * NAME_NBYTES + 8];

	if (frame->function != NULL && frame->file != NULL)
		snprintf(name, sizeof(name), "%.*s (%.1000s)",
			 function_nbytes(frame->function), frame->function,
			 last_part(frame->file));
	else if (frame->function != NULL)
		snprintf(name, sizeof(name), "%.*s",
			 function_nbytes(frame->function), frame->function);
	else if (frame->file != NULL)
		snprintf(name, sizeof(name), "%.1000s", last_part(frame->file));
	else if (frame->object != NULL)
		snprintf(name, sizeof(name), "%.*s",
			 module_nbytes(last_part(frame->object)),
			 last_part(frame->object));
	else
		snprintf(name, sizeof(name), "[unknown]");
	return escape_text(name, buf, nbytes);
}
