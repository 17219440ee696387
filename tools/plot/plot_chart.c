/* SPDX-License-Identifier: MIT */
/*
 * plot_chart.c - see plot_chart.h
 *
 *	title				the program
 *	subtitle			what is shown
 *	axis | plot			the peak's label is above its mark
 *	     | labels of the axis
 *	legend				with layers only
 */
#include "tools/plot/plot_chart.h"

#include "tools/plot/plot_text.h"
#include "tools/plot/plot_ticks.h"
#include "tools/show/show.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"

#include <stdio.h>
#include <stdlib.h>

#define MARGIN	   24.0
#define TITLE_SIZE 18.0
#define TEXT_SIZE  12.0
/* upper edge of the plot, below the titles and the peak's label */
#define TOP 96.0
/* height of the labels and the name of the axis, below the plot */
#define AXIS_HEIGHT 52.0
#define ROW_HEIGHT  20.0 /* height of a row of the legend */
#define COLUMN	    96.0 /* width of a column of figures in the legend */
#define PLOT_HEIGHT 76.0 /* minimum height of a plot that has layers */

struct colours {
	uint32_t ground, ink, muted, line, area, peak, other;
	uint32_t layers[PLOT_TOP_MAX + 1];
};

/*
 * Colour-blind people can tell the first seven colours apart: these are the
 * colours of Okabe and Ito without black.  The last three colours, for the last
 * layers, are not from this set.
 */
#define LAYER_COLOURS                                                         \
	0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0xf0e442, \
		0x7a6fd0, 0x99703c, 0x7fc8b0

static const struct colours light = {
	.ground = 0xffffff,
	.ink = 0x1a1d23,
	.muted = 0x5c6470,
	.line = 0xe3e7ed,
	.area = 0x2a62c9,
	.peak = 0xc03a2b,
	.other = 0xb6bdc8,
	.layers = { LAYER_COLOURS },
};

static const struct colours dark = {
	.ground = 0x1a1e25,
	.ink = 0xe6e9ee,
	.muted = 0x9aa4b2,
	.line = 0x2e3540,
	.area = 0x7ba8ff,
	.peak = 0xff8a7a,
	.other = 0x5b6472,
	.layers = { LAYER_COLOURS },
};

struct chart {
	const struct plot_data *d;
	const struct chart_look *look;
	const struct colours *colours;
	struct canvas *canvas;
	double left, right, top, bottom; /* edges of the plot */
	struct ticks across, up;
	double highest; /* value at the top of the plot */
	/*
	 * Positions of the steps, one for each bin.  'xs' has one more element,
	 * the end of the last bin.
	 */
	double *xs, *ys;
};

/* ------------------------------------------------------------------- layout */

static double
legend_height(unsigned rows)
{
	/* The legend has a heading, 'rows' rows, and a row for the total. */
	return rows == 0 ? 0 : (rows + 2) * ROW_HEIGHT + 12;
}

unsigned
chart_room(unsigned height)
{
	const double left = height - TOP - AXIS_HEIGHT - MARGIN - PLOT_HEIGHT -
			    legend_height(1);

	return left < ROW_HEIGHT ? 1 : 1 + (unsigned)(left / ROW_HEIGHT);
}

unsigned
chart_height(unsigned rows)
{
	return 440 + (unsigned)legend_height(rows);
}

static bool
is_time(const struct chart *c)
{
	return census_axis_is_time(c->d->census);
}

static void
make_ticks(struct chart *c)
{
	const struct plot_data *const d = c->d;
	const enum tick_kind kind = d->is_count ? TICKS_COUNT : TICKS_NBYTES;
	const double most = d->peak == 0 ? 1 : (double)d->peak;
	unsigned wanted = (unsigned)((c->bottom - c->top) / 52);

	wanted = wanted < 2 ? 2 : wanted > 8 ? 8 : wanted;
	/* Leave room below the top for the peak's mark. */
	c->highest = most * 1.03;
	ticks_make(&c->up, kind, 0, c->highest, 1, wanted);
}

static void
make_time_ticks(struct chart *c)
{
	const unsigned wanted = (unsigned)((c->right - c->left) / 110);

	ticks_make(&c->across, is_time(c) ? TICKS_NS : TICKS_COUNT,
		   (double)c->d->first, (double)c->d->last,
		   is_time(c) ? (double)c->d->census->unit_ns : 1,
		   wanted < 2	 ? 2
		   : wanted > 10 ? 10
				 : wanted);
}

/*
 * Make the ticks of the values before those of the time: the left margin
 * depends on the width of the value labels, and the number of time ticks
 * depends on the left margin.
 */
static void
lay_out(struct chart *c)
{
	double widest = 0;

	c->top = TOP;
	c->bottom = c->look->height - AXIS_HEIGHT - MARGIN / 2 -
		    legend_height(c->d->layer_count);
	make_ticks(c);
	for (unsigned i = 0; i < c->up.count; i++) {
		const double width = text_width(c->up.rows[i].label, TEXT_SIZE);

		if (width > widest)
			widest = width;
	}
	c->left = MARGIN + widest + 8;
	c->right = c->look->width - MARGIN;
	make_time_ticks(c);
}

static double
x_of(const struct chart *c, double at)
{
	const double first = (double)c->d->first;
	const double length = (double)c->d->last - first;

	return c->left + (at - first) / length * (c->right - c->left);
}

static double
y_of(const struct chart *c, double value)
{
	return c->bottom - value / c->highest * (c->bottom - c->top);
}

/* ------------------------------------------------------------------- titles */

static struct figure
show_value(const struct chart *c, uint64_t value)
{
	return c->d->is_count ? figure_count(value) : figure_nbytes(value);
}

static void
put(const struct chart *c, double x, double y, uint32_t colour,
    enum canvas_anchor anchor, const char *text)
{
	const struct canvas_text at = {
		.x = x,
		.y = y,
		.size = TEXT_SIZE,
		.anchor = anchor,
		.colour = colour,
	};

	canvas_text(c->canvas, &at, text);
}

static void
make_title(const struct chart_look *look, char *buf)
{
	char name[PLOT_NAME_NBYTES];
	const double width = look->width - 2 * MARGIN;

	if (look->command != NULL)
		text_program(look->command, name);
	if (look->command == NULL || name[0] == '\0')
		snprintf(name, sizeof(name), "%s", message_path(look->path));
	text_shorten(name, TITLE_SIZE, width, buf);
}

static void
make_subtitle(const struct chart *c, char *buf, size_t nbytes)
{
	const struct census *const s = c->d->census;
	const char *const what = c->d->is_count ? "Live blocks" : "Live bytes";
	const char *const by = c->look->by != NULL ? " by " : "";
	const char *const kind = c->look->by != NULL ? c->look->by : "";
	const uint64_t calls = s->event_count - s->first.event;
	int used;

	used = snprintf(buf, nbytes, "%s%s%s, %s call%s", what, by, kind,
			figure_count(calls).text, figure_plural(calls));
	if (s->has_times && used > 0 && (size_t)used < nbytes)
		used += snprintf(
			buf + used, nbytes - (size_t)used, " in %s",
			show_distance(s, s->last.time > s->first.time
						 ? s->last.time - s->first.time
						 : 0)
				.text);
	if (c->look->is_damaged && (size_t)used < nbytes)
		snprintf(buf + used, nbytes - (size_t)used,
			 " (the trace is incomplete)");
}

static void
draw_titles(const struct chart *c, const char *title)
{
	const struct canvas_text head = {
		.x = MARGIN,
		.y = 38,
		.size = TITLE_SIZE,
		.bold = true,
		.colour = c->colours->ink,
		.id = "program",
	};
	char subtitle[200];
	char buf[PLOT_NAME_NBYTES];

	canvas_text(c->canvas, &head, title);
	make_subtitle(c, subtitle, sizeof(subtitle));
	text_shorten(subtitle, TEXT_SIZE, c->look->width - 2 * MARGIN, buf);
	put(c, MARGIN, 58, c->colours->muted, ANCHOR_START, buf);
}

/* --------------------------------------------------------------------- axes */

static void
draw_up(const struct chart *c)
{
	for (unsigned i = 0; i < c->up.count; i++) {
		const struct tick *const t = &c->up.rows[i];
		/*
		 * Centre a line of one pixel on the pixel, so that it is not
		 * blurred.
		 */
		const double y = (int)y_of(c, t->at) + 0.5;
		const struct canvas_style style = {
			.colour = i == 0 ? c->colours->muted : c->colours->line,
			.opacity = 1,
			.stroke = 1,
		};

		canvas_line(c->canvas, c->left, y, c->right, y, &style);
		put(c, c->left - 8, y + 4, c->colours->muted, ANCHOR_END,
		    t->label);
	}
}

static void
draw_across(const struct chart *c)
{
	const struct canvas_style style = {
		.colour = c->colours->muted,
		.opacity = 1,
		.stroke = 1,
	};

	for (unsigned i = 0; i < c->across.count; i++) {
		const struct tick *const t = &c->across.rows[i];
		const double x = (int)x_of(c, t->at) + 0.5;
		const double half = text_width(t->label, TEXT_SIZE) / 2;
		const bool is_last = x + half > c->look->width - 8;

		canvas_line(c->canvas, x, c->bottom, x, c->bottom + 5, &style);
		put(c, is_last ? c->right : x, c->bottom + 19,
		    c->colours->muted, is_last ? ANCHOR_END : ANCHOR_MIDDLE,
		    t->label);
	}
	put(c, (c->left + c->right) / 2, c->bottom + 38, c->colours->muted,
	    ANCHOR_MIDDLE,
	    is_time(c) ? "time since the first event"
		       : "calls of allocation functions");
}

/* ------------------------------------------------------------------- values */

/* Draw steps at the levels 'ys'. */
static void
draw_steps(const struct chart *c, const char *id, uint32_t colour,
	   double opacity, double stroke)
{
	const struct canvas_steps steps = {
		.xs = c->xs,
		.ys = c->ys,
		.count = c->d->bin_count,
		.base = c->bottom,
	};
	const struct canvas_style style = {
		.id = id,
		.colour = colour,
		.opacity = opacity,
		.stroke = stroke,
	};

	canvas_steps(c->canvas, &steps, &style);
}

/*
 * Draw two areas, one up to the least and one up to the most live bytes or
 * blocks of each bin, and a line at the upper edge of the second area.  The
 * colour is stronger where the areas overlap.
 */
static void
draw_total(const struct chart *c)
{
	const struct plot_data *const d = c->d;

	for (size_t i = 0; i < d->bin_count; i++)
		c->ys[i] = y_of(c, (double)d->bins[i].least);
	draw_steps(c, "least", c->colours->area, 0.25, 0);
	for (size_t i = 0; i < d->bin_count; i++)
		c->ys[i] = y_of(c, (double)d->bins[i].most);
	draw_steps(c, "area", c->colours->area, 0.2, 0);
	draw_steps(c, "most", c->colours->area, 1, 1.5);
}

static uint32_t
layer_colour(const struct chart *c, unsigned i)
{
	return c->d->layers[i].is_other ? c->colours->other
					: c->colours->layers[i];
}

/*
 * The first layer is at the bottom.  Draw the last layer first, and each layer
 * down to the axis, so that the background does not show between two layers.
 */
static void
draw_layers(const struct chart *c)
{
	const struct plot_data *const d = c->d;
	char id[24];

	for (unsigned n = d->layer_count; n > 0; n--) {
		for (size_t i = 0; i < d->bin_count; i++) {
			uint64_t sum = 0;

			for (unsigned j = 0; j < n; j++)
				sum += d->layers[j].values[i];
			c->ys[i] = y_of(c, (double)sum);
		}
		snprintf(id, sizeof(id), "layer-%u", n);
		draw_steps(c, id, layer_colour(c, n - 1), 1, 0);
	}
	for (size_t i = 0; i < d->bin_count; i++)
		c->ys[i] = y_of(c, (double)d->bins[i].most);
	draw_steps(c, "most", c->colours->ink, 0.75, 1);
}

static void
draw_values(struct chart *c)
{
	const struct plot_data *const d = c->d;

	for (size_t i = 0; i < d->bin_count; i++)
		c->xs[i] = x_of(c, (double)d->bins[i].begin);
	c->xs[d->bin_count] = x_of(c, (double)d->last);
	if (d->layer_count == 0)
		draw_total(c);
	else
		draw_layers(c);
}

/* --------------------------------------------------------------------- peak */

static void
make_peak_label(const struct chart *c, char *buf, size_t nbytes)
{
	const struct census *const s = c->d->census;
	const char *const unit = c->d->is_count ? " blocks" : "";
	const struct figure value = show_value(c, c->d->peak);

	if (is_time(c))
		snprintf(buf, nbytes, "peak %s%s at %s", value.text, unit,
			 show_moment(s, &s->peak).text);
	else
		snprintf(buf, nbytes, "peak %s%s after %s call%s", value.text,
			 unit, figure_count(s->peak.event).text,
			 figure_plural(s->peak.event));
}

static void
draw_peak(const struct chart *c)
{
	const double x = x_of(c, (double)c->d->peak_at);
	const double y = y_of(c, (double)c->d->peak);
	const struct canvas_style ring = { .colour = c->colours->ground,
					   .opacity = 1 };
	const struct canvas_style dot = { .id = "peak-mark",
					  .colour = c->colours->peak,
					  .opacity = 1 };
	struct canvas_text at = {
		.x = x,
		.y = y - 11,
		.size = TEXT_SIZE,
		.anchor = ANCHOR_MIDDLE,
		.colour = c->colours->peak,
		.bold = true,
		.has_halo = true,
		.halo = c->colours->ground,
		.id = "peak",
	};
	char label[128];
	double half;

	make_peak_label(c, label, sizeof(label));
	half = text_width(label, TEXT_SIZE) / 2;
	if (x - half < c->left) {
		at.anchor = ANCHOR_START;
		at.x = x - 4 < c->left ? c->left : x - 4;
	} else if (x + half > c->right) {
		at.anchor = ANCHOR_END;
		at.x = x + 4 > c->right ? c->right : x + 4;
	}
	canvas_dot(c->canvas, x, y, 5.5, &ring);
	canvas_dot(c->canvas, x, y, 4, &dot);
	canvas_text(c->canvas, &at, label);
}

/* ------------------------------------------------------------------- legend */

static void
draw_row(const struct chart *c, double y, uint32_t colour, const char *name,
	 const char *at_peak, const char *at_end)
{
	const double right = c->right - 2 * COLUMN;
	char buf[PLOT_NAME_NBYTES];

	put(c, c->left + 20, y, colour, ANCHOR_START,
	    text_shorten(name, TEXT_SIZE, right - c->left - 20, buf));
	put(c, c->right - COLUMN, y, colour, ANCHOR_END, at_peak);
	put(c, c->right, y, colour, ANCHOR_END, at_end);
}

static void
draw_legend(const struct chart *c)
{
	const struct plot_data *const d = c->d;
	const struct canvas_style total = { .colour = c->colours->ink,
					    .opacity = 0.75,
					    .stroke = 1.5 };
	double y = c->bottom + AXIS_HEIGHT + 20;

	draw_row(c, y, c->colours->muted, c->look->by, "at the peak",
		 "at the end");
	for (unsigned i = 0; i < d->layer_count; i++) {
		const struct plot_layer *const l = &d->layers[i];

		y += ROW_HEIGHT;
		canvas_rect(c->canvas, c->left, y - 10, 12, 12,
			    layer_colour(c, i));
		draw_row(c, y, c->colours->ink, l->name,
			 show_value(c, l->at_peak).text,
			 show_value(c, l->at_end).text);
	}
	y += ROW_HEIGHT;
	canvas_line(c->canvas, c->left, y - 4, c->left + 12, y - 4, &total);
	draw_row(c, y, c->colours->ink, "total", show_value(c, d->peak).text,
		 show_value(c, d->at_end).text);
}

/* ------------------------------------------------------------------ picture */

static bool
open_canvas(struct chart *c, const char *title)
{
	char about[256], label[128];

	make_peak_label(c, label, sizeof(label));
	snprintf(about, sizeof(about), "%s over time: %s, %s at the end",
		 c->d->is_count ? "Live blocks" : "Live bytes", label,
		 show_value(c, c->d->at_end).text);
	c->canvas = canvas_open(c->look->format, c->look->width,
				c->look->height, title, about);
	return c->canvas != NULL;
}

static void
draw(struct chart *c, const char *title)
{
	canvas_rect(c->canvas, 0, 0, c->look->width, c->look->height,
		    c->colours->ground);
	draw_titles(c, title);
	draw_up(c);
	draw_values(c);
	draw_across(c);
	if (c->d->peak > 0)
		draw_peak(c);
	else
		put(c, (c->left + c->right) / 2, (c->top + c->bottom) / 2,
		    c->colours->muted, ANCHOR_MIDDLE, "nothing was live");
	if (c->d->layer_count > 0)
		draw_legend(c);
}

struct canvas *
chart_draw(const struct plot_data *d, const struct chart_look *look)
{
	struct chart c = {
		.d = d,
		.look = look,
		.colours = look->is_dark ? &dark : &light,
	};
	char title[PLOT_NAME_NBYTES];

	lay_out(&c);
	make_title(look, title);
	c.xs = calloc(d->bin_count + 1, sizeof(*c.xs));
	c.ys = calloc(d->bin_count + 1, sizeof(*c.ys));
	if (c.xs == NULL || c.ys == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	else if (open_canvas(&c, title))
		draw(&c, title);
	free(c.xs);
	free(c.ys);
	return c.canvas;
}
