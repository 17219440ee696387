/* SPDX-License-Identifier: MIT */
/*
 * message.h - messages on standard error
 *
 * Each message is one line, "hatf COMMAND: TEXT", written by one write().
 * Control characters are escaped, because messages contain file names and text
 * from traces.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "hatf/hatf.h"

/* Exit statuses of the subcommands. */
enum {
	EXIT_FINE = 0,
	/* bad or incomplete input, or a failed read or write */
	EXIT_BAD_INPUT = 1,
	EXIT_USAGE = 2,
	/* Exit statuses of commands that check limits: */
	EXIT_EXCEEDED = 3,   /* a limit is exceeded */
	EXIT_INCOMPLETE = 4, /* a trace lacks events */
};

/*
 * Set the prefix of all messages, such as "hatf info".  The string must stay
 * valid.
 */
void message_set_command(const char *command);

void message_print(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Return the name to show for 'path': "standard input" for "-". */
const char *message_path(const char *path);

/*
 * Print "PATH: ERROR" for an error of the library about the input 'path'.  If
 * 'path' is a ring file, say so instead.
 */
void message_error(const char *path, const struct hatf_error *err);

/*
 * Write to 'buf' the ERROR that message_error() prints if the file is not a
 * ring file.  Truncate it to 'nbytes' bytes.  Return 'buf'.
 */
char *message_error_text(const struct hatf_error *err, char *buf,
			 size_t nbytes);

#endif /* MESSAGE_H */
