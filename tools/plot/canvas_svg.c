/* SPDX-License-Identifier: MIT */
/* canvas_svg.c - a picture as SVG, in which texts stay searchable */
#include "tools/plot/canvas_backend.h"

#include <stdlib.h>

/* ----------------------------------------------------------------- encoding */

static void
put_text(FILE *f, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '>')
			fputs("&gt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else
			putc(*text, f);
	}
}

/* Print a number with two digits after the point, without trailing zeros. */
static void
put_number(FILE *f, double value)
{
	const long parts = (long)(value * 100 + (value < 0 ? -0.5 : 0.5));
	const unsigned long rest = (unsigned long)labs(parts);

	fprintf(f, "%s%lu", parts < 0 ? "-" : "", rest / 100);
	if (rest % 10 != 0)
		fprintf(f, ".%02lu", rest % 100);
	else if (rest % 100 != 0)
		fprintf(f, ".%lu", rest % 100 / 10);
}

static void
put_value(FILE *f, const char *name, double value)
{
	fprintf(f, " %s=\"", name);
	put_number(f, value);
	putc('"', f);
}

static void
put_id(FILE *f, const char *id)
{
	if (id != NULL)
		fprintf(f, " id=\"%s\"", id);
}

static void
put_style(FILE *f, const struct canvas_style *style)
{
	put_id(f, style->id);
	if (style->stroke > 0) {
		fprintf(f, " fill=\"none\" stroke=\"#%06x\"", style->colour);
		put_value(f, "stroke-width", style->stroke);
	} else {
		fprintf(f, " fill=\"#%06x\"", style->colour);
	}
	if (style->opacity < 1)
		put_value(f, "opacity", style->opacity);
	if (style->dashed)
		fputs(" stroke-dasharray=\"3 3\"", f);
	fputs("/>\n", f);
}

/* ------------------------------------------------------------------ drawing */

static void
svg_line(struct canvas *c, const double ends[4],
	 const struct canvas_style *style)
{
	static const char *const names[] = { "x1", "y1", "x2", "y2" };

	fputs("<line", c->file);
	for (unsigned i = 0; i < 4; i++)
		put_value(c->file, names[i], ends[i]);
	put_style(c->file, style);
}

static void
svg_rect(struct canvas *c, const double place[4], uint32_t colour)
{
	static const char *const names[] = { "x", "y", "width", "height" };

	fputs("<rect", c->file);
	for (unsigned i = 0; i < 4; i++)
		put_value(c->file, names[i], place[i]);
	fprintf(c->file, " fill=\"#%06x\"/>\n", colour);
}

static void
svg_dot(struct canvas *c, double x, double y, double radius,
	const struct canvas_style *style)
{
	fputs("<circle", c->file);
	put_value(c->file, "cx", x);
	put_value(c->file, "cy", y);
	put_value(c->file, "r", radius);
	put_style(c->file, style);
}

static void
put_command(FILE *f, char command, double value)
{
	putc(command, f);
	put_number(f, value);
}

static void
svg_steps(struct canvas *c, const struct canvas_steps *s,
	  const struct canvas_style *style)
{
	FILE *const f = c->file;

	fputs("<path d=\"", f);
	put_command(f, 'M', s->xs[0]);
	put_command(f, ' ', style->stroke > 0 ? s->ys[0] : s->base);
	for (size_t i = 0; i < s->count; i++) {
		/* Draw adjacent steps of the same level as one line. */
		if (i > 0 && s->ys[i] == s->ys[i - 1])
			continue;
		if (i > 0)
			put_command(f, 'H', s->xs[i]);
		put_command(f, 'V', s->ys[i]);
	}
	put_command(f, 'H', s->xs[s->count]);
	if (style->stroke <= 0) {
		put_command(f, 'V', s->base);
		putc('Z', f);
	}
	fputs("\" stroke-linejoin=\"round\"", f);
	put_style(f, style);
}

static void
svg_text(struct canvas *c, const struct canvas_text *at, const char *text)
{
	static const char *const anchors[] = { "start", "middle", "end" };
	FILE *const f = c->file;

	fputs("<text", f);
	put_id(f, at->id);
	put_value(f, "x", at->x);
	put_value(f, "y", at->y);
	put_value(f, "font-size", at->size);
	if (at->bold)
		fputs(" font-weight=\"600\"", f);
	if (at->anchor != ANCHOR_START)
		fprintf(f, " text-anchor=\"%s\"", anchors[at->anchor]);
	if (at->has_halo)
		fprintf(f,
			" stroke=\"#%06x\" stroke-width=\"4\" "
			"stroke-linejoin=\"round\" paint-order=\"stroke\"",
			at->halo);
	fprintf(f, " fill=\"#%06x\">", at->colour);
	put_text(f, text);
	fputs("</text>\n", f);
}

static bool
svg_finish(struct canvas *c)
{
	fputs("</svg>\n", c->file);
	return true;
}

static void
svg_close(struct canvas *c)
{
	(void)c;
}

static const struct canvas_backend backend = {
	svg_line, svg_rect, svg_dot, svg_steps, svg_text, svg_finish, svg_close,
};

struct canvas *
canvas_svg_new(unsigned width, unsigned height, const char *title,
	       const char *about)
{
	struct canvas *const c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->backend = &backend;
	c->width = width;
	c->height = height;
	c->file = open_memstream(&c->bytes, &c->nbytes);
	if (c->file == NULL) {
		free(c);
		return NULL;
	}
	fprintf(c->file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		"height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\" "
		"aria-labelledby=\"title about\" font-family=\"'Segoe UI', "
		"Roboto, 'Helvetica Neue', Arial, sans-serif\">\n",
		width, height, width, height);
	fputs("<title id=\"title\">", c->file);
	put_text(c->file, title);
	fputs("</title>\n<desc id=\"about\">", c->file);
	put_text(c->file, about);
	fputs("</desc>\n", c->file);
	return c;
}
