/* SPDX-License-Identifier: MIT */
/* canvas_backend.h - what the two kinds of canvas have in common */
#ifndef CANVAS_BACKEND_H
#define CANVAS_BACKEND_H

#include "tools/plot/plot_canvas.h"

#include <stdio.h>

/* Each backend has its own struct, which begins with this one. */
struct canvas {
	const struct canvas_backend *backend;
	unsigned width, height;
	FILE *file; /* in memory: 'bytes', once it is flushed */
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
	bool (*finish)(struct canvas *c); /* false: a message was printed */
	void (*close)(struct canvas *c);  /* frees all but what is above */
};

/* NULL: no memory. */
struct canvas *canvas_svg_new(unsigned width, unsigned height,
			      const char *title, const char *about);

/* On failure print a message and return NULL. */
struct canvas *canvas_png_new(unsigned width, unsigned height);

#endif /* CANVAS_BACKEND_H */
