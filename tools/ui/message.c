/* SPDX-License-Identifier: MIT */
/* message.c - see message.h */
#include "tools/ui/message.h"

#include "tools/ui/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Longer messages are truncated.  There is room for two paths and a reason,
 * even if escaping turns each byte into four.
 */
#define TEXT_NBYTES (2 * PATH_MAX + 2000)
#define LINE_NBYTES (4 * TEXT_NBYTES)

static const char *speaker = "hatf";

void
message_set_command(const char *command)
{
	speaker = command;
}

void
message_print(const char *format, ...)
{
	char text[TEXT_NBYTES], line[LINE_NBYTES];
	const int start = snprintf(text, sizeof(text), "%s: ", speaker);
	va_list args;

	va_start(args, format);
	vsnprintf(text + start, sizeof(text) - (size_t)start, format, args);
	va_end(args);
	escape_text(text, line, sizeof(line) - 1);

	const size_t len = strlen(line);

	line[len] = '\n';
	/* Ignore a failure, because there is no way to report it. */
	if (write(STDERR_FILENO, line, len + 1) < 0)
		return;
}

const char *
message_path(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

char *
message_error_text(const struct hatf_error *err, char *buf, size_t nbytes)
{
	/*
	 * Print no record number, because a file that is not a trace has no
	 * records.
	 */
	if (err->status == HATF_NOT_HATF && err->field != NULL)
		snprintf(buf, nbytes, "%s; see 'hatf formats'",
			 hatf_status_text(err->status));
	/* 'field' is also the name of the command that inflates the file. */
	else if (err->status == HATF_NO_LIBRARY && err->field != NULL)
		snprintf(buf, nbytes,
			 "this build of hatf lacks the library for %s (to read "
			 "such a file: '%s -dc FILE | hatf COMMAND -')",
			 err->field, err->field);
	else if (err->status == HATF_IO && err->sys_errno == EISDIR)
		snprintf(buf, nbytes,
			 "%s; name the traces in it, as in 'hatf COMMAND "
			 "DIR/*.hatf*'",
			 strerror(EISDIR));
	else
		hatf_error_text(err, buf, nbytes);
	return buf;
}

void
message_error(const char *path, const struct hatf_error *err)
{
	struct hatf_rings rings = { .struct_nbytes = sizeof(rings) };
	struct hatf_error other;
	char text[512];

	if (err->status == HATF_NOT_HATF && strcmp(path, "-") != 0 &&
	    hatf_rings_get(path, &rings, &other) == HATF_OK) {
		message_print(
			"%s: not a trace, but a ring file, of process %" PRIu64
			"%s",
			path, rings.pid,
			rings.in_use ? ", which is running"
				     : " (see 'hatf recover')");
		return;
	}
	message_print("%s: %s", message_path(path),
		      message_error_text(err, text, sizeof(text)));
}
