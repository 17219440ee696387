/* SPDX-License-Identifier: MIT */
/* plot_canvas.c - see plot_canvas.h */
#include "tools/plot/plot_canvas.h"

#include "tools/plot/canvas_backend.h"
#include "tools/ui/message.h"

#include <stdlib.h>

struct canvas *
canvas_open(enum canvas_format format, unsigned width, unsigned height,
	    const char *title, const char *about)
{
	if (format == CANVAS_PNG)
		return canvas_png_new(width, height);

	struct canvas *const c = canvas_svg_new(width, height, title, about);

	if (c == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return c;
}

void
canvas_rect(struct canvas *c, double x, double y, double width, double height,
	    uint32_t colour)
{
	const double place[4] = { x, y, width, height };

	c->backend->rect(c, place, colour);
}

void
canvas_line(struct canvas *c, double x0, double y0, double x1, double y1,
	    const struct canvas_style *style)
{
	const double ends[4] = { x0, y0, x1, y1 };

	c->backend->line(c, ends, style);
}

void
canvas_dot(struct canvas *c, double x, double y, double radius,
	   const struct canvas_style *style)
{
	c->backend->dot(c, x, y, radius, style);
}

void
canvas_steps(struct canvas *c, const struct canvas_steps *steps,
	     const struct canvas_style *style)
{
	if (steps->count > 0)
		c->backend->steps(c, steps, style);
}

void
canvas_text(struct canvas *c, const struct canvas_text *at, const char *text)
{
	c->backend->text(c, at, text);
}

const char *
canvas_finish(struct canvas *c, size_t *nbytes_ret)
{
	if (!c->backend->finish(c))
		return NULL;
	if (fflush(c->file) != 0 || ferror(c->file)) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return NULL;
	}
	*nbytes_ret = c->nbytes;
	return c->bytes;
}

void
canvas_close(struct canvas *c)
{
	if (c == NULL)
		return;
	c->backend->close(c);
	if (c->file != NULL)
		fclose(c->file);
	free(c->bytes);
	free(c);
}
