/* SPDX-License-Identifier: MIT */
/*
 * plot_text.h - texts of a picture: their widths, and shorter names
 *
 * The viewer of an SVG file may have other fonts than its author.  Therefore
 * widths are estimates for a wide sans-serif font.
 */
#ifndef PLOT_TEXT_H
#define PLOT_TEXT_H

#include <stddef.h>

#define PLOT_NAME_NBYTES 2048

/* Return the width of a text at a font size. */
double text_width(const char *text, double size);

/*
 * Drop the folders from a name.  Until the name fits into 'width', also drop
 * template arguments, then parameters, then the middle.  Characters that XML or
 * cairo rejects become U+FFFD.  'buf' has room for PLOT_NAME_NBYTES bytes.
 * Return 'buf'.
 */
char *text_shorten(const char *name, double size, double width, char *buf);

/*
 * Write the name of a program to 'buf', which has room for PLOT_NAME_NBYTES
 * bytes.  'command' is the program's command line as in the header of a trace.
 * Return 'buf'.
 */
char *text_program(const char *command, char *buf);

#endif /* PLOT_TEXT_H */
