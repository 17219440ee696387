/* SPDX-License-Identifier: MIT */
/* dtd_print.h - write a DTD in its canonical form */
#ifndef HATF_DTD_PRINT_H
#define HATF_DTD_PRINT_H

#include "hatf/metatf/dtd.h"

#include <stdio.h>

/*
 * Write a DTD to 'f' in the dialect 'to', with the DTD's comments.  Parsing the
 * output and writing it again in this dialect gives the same text.
 *
 * Dialect 1.0 reserves the tags 1 to 3.  If a DTD of another dialect uses one
 * of these tags, dtd_print() adds 3 to all tags of the DTD when it writes
 * dialect 1.0.  Dialect 1.2 needs no widths and has one kind of string.  When
 * dtd_print() writes dialect 1.2, it omits the widths, and turns a record that
 * consists of a length and as many bytes into a string.  When it writes a DTD
 * of dialect 1.2 in another dialect, an int gets a width of 8 bytes, and a
 * string becomes a record: a length of two bytes, then the bytes of the string.
 *
 * Return false and set '*err' if the dialect cannot express the DTD, or if
 * there is no memory.  The caller checks 'f' for errors.
 */
bool dtd_print(FILE *f, const struct dtd *dtd, enum dtd_dialect to,
	       struct dtd_error *err);

#endif /* HATF_DTD_PRINT_H */
