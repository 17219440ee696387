/* SPDX-License-Identifier: MIT */
/* canvas_backend.h - the common part of SVG and PNG canvases */
#ifndef CANVAS_BACKEND_H
#define CANVAS_BACKEND_H

#include "tools/plot/plot_canvas.h"

#include <stdio.h>

/* The struct of each backend begins with this struct. */
struct canvas {
	const struct canvas_backend *backend;
	unsigned width, height;
	/* memory stream, whose content is in 'bytes' after fflush() */
	FILE *file;
	char *bytes;
	size_t nbytes;
};

struct canvas_backend {
	void (*line)(struct canvas *c, const double ends[4],
		     const struct canvas_style *style);
	void (*rect)(struct canvas *c, const double place[4], uint32_t colour);
	void (*dot)(struct canvas *c, double x, double y, double radius,
		    const struct canvas_style *style);
	void (*steps)(struct canvas *c, const struct canvas_steps *steps,
		      const struct canvas_style *style);
	void (*text)(struct canvas *c, const struct canvas_text *at,
		     const char *text);
	/* On failure prints a message and returns false. */
	bool (*finish)(struct canvas *c);
	/*
	 * frees the members of the backend's own struct, not those of 'struct
	 * canvas'
	 */
	void (*close)(struct canvas *c);
};

/* Make a canvas.  Return NULL if there is no memory. */
struct canvas *canvas_svg_new(unsigned width, unsigned height,
			      const char *title, const char *about);

/* On failure print a message and return NULL. */
struct canvas *canvas_png_new(unsigned width, unsigned height);

#endif /* CANVAS_BACKEND_H */
