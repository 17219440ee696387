/* SPDX-License-Identifier: MIT */
/*
 * plot_canvas.h - the canvas of a picture: an SVG or a PNG file in memory
 *
 * This module writes the SVG file itself, because a viewer could not search or
 * copy the texts in an SVG file that cairo draws.  cairo draws the PNG file.
 * 'hatf' loads cairo when it opens the first PNG canvas.  If 'hatf' were linked
 * with cairo, every command would take about 1.5 times as long to start.
 *
 * Texts must be valid in XML (plot_text.h); this module escapes markup.
 *
 * Colours are 0xRRGGBB.  Units are pixels, from the left and the top.  Only one
 * thread at a time may use a canvas.
 */
#ifndef PLOT_CANVAS_H
#define PLOT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum canvas_format {
	CANVAS_SVG,
	CANVAS_PNG,
};

enum canvas_anchor {
	ANCHOR_START,
	ANCHOR_MIDDLE,
	ANCHOR_END,
};

struct canvas_style {
	const char *id; /* id of the SVG element; NULL: none */
	uint32_t colour;
	double opacity;
	double stroke; /* width of the line; 0: the area is filled */
	bool dashed;
};

struct canvas_text {
	/*
	 * position of the start, the middle or the end of the text's baseline,
	 * as 'anchor' says
	 */
	double x, y;
	double size;
	enum canvas_anchor anchor;
	uint32_t colour;
	bool bold;
	/*
	 * the text has an outline in the colour 'halo', so that it can be read
	 * over lines
	 */
	bool has_halo;
	uint32_t halo;
	const char *id;
};

/*
 * A line of 'count' steps: from xs[i] to xs[i + 1] the line is at the level
 * ys[i].  'xs' has count + 1 elements.  A filled area extends from the line to
 * the level 'base'.
 */
struct canvas_steps {
	const double *xs, *ys;
	size_t count;
	double base;
};

struct canvas;

/*
 * Open a canvas.  In an SVG file, 'title' and 'about' describe the picture for
 * users who cannot see it.  On failure print a message and return NULL.
 */
struct canvas *canvas_open(enum canvas_format format, unsigned width,
			   unsigned height, const char *title,
			   const char *about);

void canvas_rect(struct canvas *c, double x, double y, double width,
		 double height, uint32_t colour);
void canvas_line(struct canvas *c, double x0, double y0, double x1, double y1,
		 const struct canvas_style *style);
void canvas_dot(struct canvas *c, double x, double y, double radius,
		const struct canvas_style *style);
void canvas_steps(struct canvas *c, const struct canvas_steps *steps,
		  const struct canvas_style *style);
void canvas_text(struct canvas *c, const struct canvas_text *at,
		 const char *text);

/*
 * Finish the file and return its bytes, which are valid until canvas_close().
 * On failure print a message and return NULL.
 */
const char *canvas_finish(struct canvas *c, size_t *nbytes_ret);
void canvas_close(struct canvas *c);

#endif /* PLOT_CANVAS_H */
