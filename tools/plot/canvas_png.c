/* SPDX-License-Identifier: MIT */
/*
 * canvas_png.c - a picture as PNG, drawn by cairo
 *
 * The dynamic loader takes 1.3 ms for cairo and its twenty libraries; 'hatf'
 * starts in 2.7 ms without them.  Therefore 'hatf' is not linked with cairo,
 * but loads it for a PNG file only.
 */
#include "tools/plot/canvas_backend.h"
#include "tools/ui/message.h"

#ifdef HAVE_CAIRO
#include <cairo/cairo.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The functions of cairo that are used here. */
#define CAIRO_FUNCTIONS(X)             \
	X(image_surface_create)        \
	X(surface_destroy)             \
	X(surface_write_to_png_stream) \
	X(status_to_string)            \
	X(create)                      \
	X(destroy)                     \
	X(status)                      \
	X(set_source_rgba)             \
	X(set_line_width)              \
	X(set_line_join)               \
	X(set_dash)                    \
	X(move_to)                     \
	X(line_to)                     \
	X(close_path)                  \
	X(rectangle)                   \
	X(arc)                         \
	X(fill)                        \
	X(stroke)                      \
	X(new_path)                    \
	X(select_font_face)            \
	X(set_font_size)               \
	X(text_extents)                \
	X(text_path)                   \
	X(show_text)

#define DECLARE(name) __typeof__(&cairo_##name) name;

/* The functions of cairo, which load() finds. */
static struct {
	CAIRO_FUNCTIONS(DECLARE)
} lib;

struct png {
	struct canvas canvas;
	cairo_surface_t *surface;
	cairo_t *pen;
};

/*
 * Find a function of the library.  Copy its address by memcpy(), because ISO C
 * has no cast from a data pointer to a function pointer.
 */
static bool
find(void *library, const char *name, void *function_ret)
{
	void *const address = dlsym(library, name);

	memcpy(function_ret, &address, sizeof(address));
	return address != NULL;
}

#define FIND(name) ok = find(library, "cairo_" #name, &lib.name) && ok;

static bool
load(void)
{
	void *const library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
	bool ok = library != NULL;

	if (ok) {
		CAIRO_FUNCTIONS(FIND)
	}
	if (!ok)
		message_print("PNG needs the library cairo (Debian: "
			      "libcairo2), which cannot be loaded; SVG "
			      "needs no library");
	return ok;
}

static struct png *
png_of(struct canvas *c)
{
	return (struct png *)(void *)c;
}

/* ------------------------------------------------------------------ drawing */

static void
set_colour(struct png *p, uint32_t colour, double opacity)
{
	lib.set_source_rgba(p->pen, (colour >> 16) / 255.0,
			    (colour >> 8 & 255) / 255.0, (colour & 255) / 255.0,
			    opacity);
}

/* Fill or stroke the current path of cairo. */
static void
draw(struct png *p, const struct canvas_style *style)
{
	static const double dashes[] = { 3, 3 };

	set_colour(p, style->colour, style->opacity);
	if (style->stroke <= 0) {
		lib.fill(p->pen);
		return;
	}
	lib.set_line_width(p->pen, style->stroke);
	lib.set_dash(p->pen, dashes, style->dashed ? 2 : 0, 0);
	lib.stroke(p->pen);
}

static void
png_line(struct canvas *c, const double ends[4],
	 const struct canvas_style *style)
{
	struct png *const p = png_of(c);

	lib.move_to(p->pen, ends[0], ends[1]);
	lib.line_to(p->pen, ends[2], ends[3]);
	draw(p, style);
}

static void
png_rect(struct canvas *c, const double place[4], uint32_t colour)
{
	struct png *const p = png_of(c);

	lib.rectangle(p->pen, place[0], place[1], place[2], place[3]);
	set_colour(p, colour, 1);
	lib.fill(p->pen);
}

static void
png_dot(struct canvas *c, double x, double y, double radius,
	const struct canvas_style *style)
{
	struct png *const p = png_of(c);

	lib.new_path(p->pen);
	lib.arc(p->pen, x, y, radius, 0, 6.283185307179586);
	draw(p, style);
}

static void
png_steps(struct canvas *c, const struct canvas_steps *s,
	  const struct canvas_style *style)
{
	struct png *const p = png_of(c);
	const bool is_line = style->stroke > 0;

	lib.move_to(p->pen, s->xs[0], is_line ? s->ys[0] : s->base);
	for (size_t i = 0; i < s->count; i++) {
		lib.line_to(p->pen, s->xs[i], s->ys[i]);
		lib.line_to(p->pen, s->xs[i + 1], s->ys[i]);
	}
	if (!is_line) {
		lib.line_to(p->pen, s->xs[s->count], s->base);
		lib.close_path(p->pen);
	}
	draw(p, style);
}

static void
png_text(struct canvas *c, const struct canvas_text *at, const char *text)
{
	struct png *const p = png_of(c);
	cairo_text_extents_t extents;
	double x = at->x;

	lib.select_font_face(p->pen, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
			     at->bold ? CAIRO_FONT_WEIGHT_BOLD
				      : CAIRO_FONT_WEIGHT_NORMAL);
	lib.set_font_size(p->pen, at->size);
	lib.text_extents(p->pen, text, &extents);
	if (at->anchor == ANCHOR_MIDDLE)
		x -= extents.x_advance / 2;
	else if (at->anchor == ANCHOR_END)
		x -= extents.x_advance;
	if (at->has_halo) {
		const struct canvas_style halo = { .colour = at->halo,
						   .opacity = 1,
						   .stroke = 4 };

		lib.move_to(p->pen, x, at->y);
		lib.text_path(p->pen, text);
		draw(p, &halo);
	}
	lib.move_to(p->pen, x, at->y);
	set_colour(p, at->colour, 1);
	lib.show_text(p->pen, text);
	lib.new_path(p->pen);
}

static cairo_status_t
put_bytes(void *file, const unsigned char *bytes, unsigned nbytes)
{
	return fwrite(bytes, 1, nbytes, file) == nbytes
		       ? CAIRO_STATUS_SUCCESS
		       : CAIRO_STATUS_WRITE_ERROR;
}

/* -------------------------------------------------------- opening, closing */

static bool
png_finish(struct canvas *c)
{
	struct png *const p = png_of(c);
	cairo_status_t status = lib.status(p->pen);

	if (status == CAIRO_STATUS_SUCCESS)
		status = lib.surface_write_to_png_stream(p->surface, put_bytes,
							 c->file);
	if (status == CAIRO_STATUS_SUCCESS)
		return true;
	message_print("cairo: %s", lib.status_to_string(status));
	return false;
}

static void
png_close(struct canvas *c)
{
	struct png *const p = png_of(c);

	lib.destroy(p->pen);
	lib.surface_destroy(p->surface);
}

static const struct canvas_backend backend = {
	png_line, png_rect, png_dot, png_steps, png_text, png_finish, png_close,
};

struct canvas *
canvas_png_new(unsigned width, unsigned height)
{
	struct png *p;

	if (!load())
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p != NULL)
		p->canvas.file =
			open_memstream(&p->canvas.bytes, &p->canvas.nbytes);
	if (p == NULL || p->canvas.file == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		free(p);
		return NULL;
	}
	p->canvas.backend = &backend;
	p->canvas.width = width;
	p->canvas.height = height;
	/*
	 * If there is no memory, cairo returns an object in an error state,
	 * which lib.status() reports when the picture is finished.
	 */
	p->surface = lib.image_surface_create(CAIRO_FORMAT_RGB24, (int)width,
					      (int)height);
	p->pen = lib.create(p->surface);
	lib.set_line_join(p->pen, CAIRO_LINE_JOIN_ROUND);
	return &p->canvas;
}

#else

struct canvas *
canvas_png_new(unsigned width, unsigned height)
{
	(void)width;
	(void)height;
	message_print("this hatf was built without cairo, which PNG needs; "
		      "SVG needs no library");
	return NULL;
}

#endif
