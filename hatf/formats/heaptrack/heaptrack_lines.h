/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_lines.h - write the lines of an interpreted file of heaptrack
 *
 * A line is a letter, and hexadecimal numbers that each follow a blank (FORMATS
 * "heaptrack").  The functions with a parameter 's' write to s->out and do not
 * check for errors, because writer.c does.
 */
#ifndef HATF_HEAPTRACK_LINES_H
#define HATF_HEAPTRACK_LINES_H

#include "hatf/formats/common/format.h"

/* Length in bytes of the longest number and the blank before it. */
#define HEAPTRACK_NUMBER_NBYTES 17

/* Write a number; return the position after it. */
uint8_t *heaptrack_put_number(uint8_t *p, uint64_t n);

/* Write numbers, each after a blank; return the position after them. */
uint8_t *heaptrack_put_numbers(uint8_t *p, const uint64_t *numbers,
			       size_t count);

/*
 * Begin a line with a letter and numbers; the caller may append more to the
 * line.
 */
void heaptrack_begin_line(struct sink *s, char letter, const uint64_t *numbers,
			  size_t count);

/*
 * heaptrack_put_line() writes a whole line with several numbers, and
 * heaptrack_put_number_line() a whole line with one number.
 */
void heaptrack_put_line(struct sink *s, char letter, const uint64_t *numbers,
			size_t count);
void heaptrack_put_number_line(struct sink *s, char letter, uint64_t n);

/* Write text; replace each newline by '?'. */
void heaptrack_put_text(struct sink *s, const char *text, size_t nbytes);

#endif /* HATF_HEAPTRACK_LINES_H */
