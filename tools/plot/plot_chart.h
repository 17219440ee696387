/* SPDX-License-Identifier: MIT */
/* plot_chart.h - draw the heap over time */
#ifndef PLOT_CHART_H
#define PLOT_CHART_H

#include "tools/plot/plot_canvas.h"
#include "tools/plot/plot_data.h"

#define CHART_WIDTH_MIN	 320
#define CHART_HEIGHT_MIN 240
#define CHART_LAYERS_MIN 360 /* minimum height of a picture with layers */
#define CHART_SIDE_MAX	 8192

struct chart_look {
	enum canvas_format format;
	unsigned width, height;
	bool is_dark;
	/* what a layer stands for, such as "call site"; NULL: no layers */
	const char *by;
	/* command line of the program, untrusted; NULL: unknown */
	const char *command;
	const char *path; /* path of the trace */
	bool is_damaged;  /* the trace is damaged or incomplete */
};

/*
 * Return how many layers fit into a picture of this height, including the layer
 * "all others".
 */
unsigned chart_room(unsigned height);

/* Return the height that a picture with 'rows' layers should have. */
unsigned chart_height(unsigned rows);

/* Draw the picture.  On failure print a message and return NULL. */
struct canvas *chart_draw(const struct plot_data *d,
			  const struct chart_look *look);

#endif /* PLOT_CHART_H */
