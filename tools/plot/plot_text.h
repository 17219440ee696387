/* SPDX-License-Identifier: MIT */
/*
 * plot_text.h - texts of a picture: how wide they are, and shorter names
 *
 * Who looks at an SVG file has other fonts than who made it, so widths are
 * estimates for a wide sans-serif font.
 */
#ifndef PLOT_TEXT_H
#define PLOT_TEXT_H

#include <stddef.h>

#define PLOT_NAME_NBYTES 2048

/* The width of a text at a font size. */
double text_width(const char *text, double size);

/*
 * Shorten a name to 'width': drop folders, then template arguments, then
 * parameters, then the middle.  Characters that XML or cairo refuse become
 * U+FFFD.  'buf' has PLOT_NAME_NBYTES.  Return 'buf'.
 */
char *text_shorten(const char *name, double size, double width, char *buf);

/*
 * The name of a program from its command line, as the header of a trace has it.
 * 'buf' has PLOT_NAME_NBYTES.  Return 'buf'.
 */
char *text_program(const char *command, char *buf);

#endif /* PLOT_TEXT_H */
