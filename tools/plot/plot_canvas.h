/* SPDX-License-Identifier: MIT */
/*
 * plot_canvas.h - what a picture is drawn on: an SVG or a PNG file in memory
 *
 * The SVG file is written here, so that its texts are texts.  The PNG file is
 * drawn by cairo, which is loaded when the first such canvas is opened: linked
 * with it, every 'hatf' command would take half as long again to start.
 *
 * Texts are those that an XML file may have (plot_text.h); markup is escaped
 * here.
 *
 * Colours are 0xRRGGBB.  Units are pixels, from the left and the top.  Used by
 * one thread at a time.
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
	const char *id; /* of the SVG element; NULL: none */
	uint32_t colour;
	double opacity;
	double stroke; /* width of the line; 0: the area is filled */
	bool dashed;
};

struct canvas_text {
	double x, y; /* of the baseline */
	double size;
	enum canvas_anchor anchor;
	uint32_t colour;
	bool bold;
	bool has_halo; /* of the colour 'halo', for a text over lines */
	uint32_t halo;
	const char *id;
};

/*
 * Steps: the level ys[i] from xs[i] to xs[i + 1].  A filled area ends at the
 * level 'base'.
 */
struct canvas_steps {
	const double *xs, *ys;
	size_t count;
	double base;
};

struct canvas;

/*
 * 'title' and 'about' say what the picture shows to those who cannot see it.
 * On failure print a message and return NULL.
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
 * Finish the file: return its bytes, valid until canvas_close().  On failure
 * print a message and return NULL.
 */
const char *canvas_finish(struct canvas *c, size_t *nbytes_ret);
void canvas_close(struct canvas *c);

#endif /* PLOT_CANVAS_H */
