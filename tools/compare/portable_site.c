/* SPDX-License-Identifier: MIT */
/* portable_site.c - see portable_site.h */
#include "tools/compare/portable_site.h"

#include "tools/ui/cut.h"

#include <string.h>

/* Maximum number of bytes of a name, with the NUL. */
#define NAME_NBYTES 2048

static const char *
last_part(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* Append a function's name without the compiler's " [clone .cold]". */
static void
add_function(struct cut *c, const char *function)
{
	const char *const clone = strstr(function, " [clone ");

	cut_escaped(c, function,
		    clone != NULL ? (size_t)(clone - function)
				  : strlen(function));
}

/* Append a library's name without its version: "libfoo.so" of "libfoo.so.1". */
static void
add_module(struct cut *c, const char *name)
{
	const char *const version = strstr(name, ".so.");

	cut_escaped(c, name,
		    version != NULL ? (size_t)(version - name) + strlen(".so")
				    : strlen(name));
}

static void
add_text(struct cut *c, const char *text)
{
	cut_escaped(c, text, strlen(text));
}

char *
portable_site_name(const struct hatf_frame *frame, char *buf, size_t nbytes)
{
	struct cut c;

	cut_begin(&c, buf, nbytes < NAME_NBYTES ? nbytes : NAME_NBYTES);
	if (frame->function != NULL) {
		add_function(&c, frame->function);
		if (frame->file != NULL) {
			add_text(&c, " (");
			add_text(&c, last_part(frame->file));
			add_text(&c, ")");
		}
	} else if (frame->file != NULL) {
		add_text(&c, last_part(frame->file));
	} else if (frame->object != NULL) {
		add_module(&c, last_part(frame->object));
	} else {
		add_text(&c, "[unknown]");
	}
	return cut_end(&c);
}
