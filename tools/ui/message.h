/* SPDX-License-Identifier: MIT */
/*
 * message.h - the one line on standard error
 *
 * Each message is one line, "hatf COMMAND: TEXT", written by one call, with
 * control characters escaped, since file names and texts from traces are in it.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "hatf/hatf.h"

/* The exit codes of every subcommand. */
enum {
	EXIT_FINE = 0,
	EXIT_BAD_INPUT = 1,
	EXIT_USAGE = 2,
};

/* Name the command that speaks, "hatf info"; a string that stays. */
void message_set_command(const char *command);

void message_print(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* "-" is shown as "standard input". */
const char *message_path(const char *path);

/* "PATH: what went wrong", from what the library says. */
void message_error(const char *path, const struct hatf_error *err);

/* What message_error() prints after the path; returns 'buf'. */
char *message_error_text(const struct hatf_error *err, char *buf,
			 size_t nbytes);

#endif /* MESSAGE_H */
