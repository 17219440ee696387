/* SPDX-License-Identifier: MIT */
/* plot.c - hatf plot: the heap over time as a picture */
#include "tools/commands/commands.h"
#include "tools/plot/plot_chart.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/output_file.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define WIDTH	    960
#define TOP_DEFAULT 6

enum {
	OPT_OUTPUT,
	OPT_FORMAT,
	OPT_BY,
	OPT_TOP,
	OPT_COUNT,
	OPT_EVENTS,
	OPT_FROM,
	OPT_TO,
	OPT_WIDTH,
	OPT_HEIGHT,
	OPT_LIGHT,
	OPT_DARK,
	OPT_RAW_STACKS,
	OPT_WRAPPER,
	OPT_JOBS,
	OPT_NO_PARENT,
};

static const struct opt options[] = {
	{ "output", 'o', "PICTURE",
	  "the file to write, NAME.svg or NAME.png; '-' is\n"
	  "standard output" },
	{ "format", 'F', "FORMAT", "svg or png (default: by PICTURE's name)" },
	{ "by", 'b', "WHAT",
	  "divide the heap into layers by site, function, file,\n"
	  "module, thread or size (default: total)" },
	{ "top", 'n', "N",
	  "show the N largest as layers, 1 to 9 (default 6); one\nmore layer "
	  "shows the sum of all others" },
	{ "count", 'c', NULL, "show the number of blocks, not of bytes" },
	{ "events", 'e', NULL,
	  "use the number of calls as the axis, not the time" },
	{ "from", 'f', "WHEN",
	  "begin with an event (1000), or at a time after the\n"
	  "first event (1.5s, 20ms)" },
	{ "to", 't', "WHEN", "stop before an event or at a time" },
	{ "width", 'W', "N", "pixels, 320 to 8192 (default 960)" },
	{ "height", 'H', "N",
	  "pixels, 240 to 8192; with layers, 360 or more\n"
	  "(default: 440, or more with layers)" },
	{ "light", 'l', NULL, "draw dark colours on white (default)" },
	{ "dark", 'd', NULL, "draw light colours on black" },
	{ "raw-stacks", 'R', NULL,
	  "show all frames: a site may then be in an allocator\n"
	  "or in the standard library of C, C++ or Rust" },
	{ "wrapper", '\0', "GLOB",
	  "hide functions that match GLOB, such as 'xmalloc': the\n"
	  "site is their caller; may be given more than once" },
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ "no-parent", 'p', NULL,
	  "do not read the trace of a forked child's parent" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf plot",
	"[OPTIONS] -o PICTURE FILE",
	"Draw the live heap over time: in total, or by call site,\nthread or "
	"size.  Sites, functions, files and modules need a trace\n"
	"with call stacks, which 'hatf record' takes.\n"
	"FILE is in any format of 'hatf convert'; '-' is standard input.\n",
	"Exit status: 0 if the trace is complete, 1 if it is incomplete or\n"
	"cannot be read, 2 for wrong usage.\n",
	false,
	options
};

static const char *const by_words[] = { "total",  "site",   "function", "file",
					"module", "thread", "size",	NULL };

/* One entry for each word of by_words, in the same order. */
static const struct {
	enum group_by by;
	const char *name;
} ways[] = {
	{ BY_SITE, NULL }, /* "total": the heap is not divided */
	{ BY_SITE, "call site" },   { BY_FUNCTION, "function" },
	{ BY_FILE, "source file" }, { BY_MODULE, "module" },
	{ BY_THREAD, "thread" },    { BY_SIZE, "size class" },
};

static const char *const formats[] = { "svg", "png", NULL };

/* The options. */
struct ask {
	const char *output;
	const char *format; /* NULL: take it from the output's name */
	unsigned way;	    /* index in 'ways': how to divide the heap */
	uint64_t top, width, height;
	bool is_dark;
	struct gather_options gathering;
};

/* ------------------------------------------------------------------ options */

static bool
take_range(const char *option, const char *text, uint64_t least, uint64_t most,
	   uint64_t *n_ret)
{
	if (!opt_parse_u64(option, text, n_ret))
		return false;
	if (*n_ret >= least && *n_ret <= most)
		return true;
	message_print("%s: out of range: '%s' (want %" PRIu64 " to %" PRIu64
		      ")",
		      option, text, least, most);
	return false;
}

static bool
take_format(struct ask *ask, const char *value)
{
	ask->format = value;
	return opt_parse_word("--format", value, formats);
}

/* Take an option without a value. */
static void
take_switch(unsigned idx, struct ask *ask)
{
	struct gather_options *const g = &ask->gathering;

	if (idx == OPT_LIGHT || idx == OPT_DARK)
		ask->is_dark = idx == OPT_DARK;
	g->window.peak_is_count |= idx == OPT_COUNT;
	g->window.axis_is_events |= idx == OPT_EVENTS;
	g->view.is_raw |= idx == OPT_RAW_STACKS;
	g->no_parent |= idx == OPT_NO_PARENT;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct ask *const ask = ctx;

	switch (idx) {
	case OPT_OUTPUT:
		ask->output = value;
		return true;
	case OPT_FORMAT:
		return take_format(ask, value);
	case OPT_BY:
		return opt_parse_choice("--by", value, by_words, &ask->way);
	case OPT_TOP:
		return take_range("--top", value, 1, PLOT_TOP_MAX, &ask->top);
	case OPT_FROM:
	case OPT_TO:
		return trace_window_take(&ask->gathering.window.range,
					 idx == OPT_FROM, value);
	case OPT_WIDTH:
		return take_range("--width", value, CHART_WIDTH_MIN,
				  CHART_SIDE_MAX, &ask->width);
	case OPT_HEIGHT:
		return take_range("--height", value, CHART_HEIGHT_MIN,
				  CHART_SIDE_MAX, &ask->height);
	case OPT_WRAPPER:
		return stack_view_add_wrapper(&ask->gathering.view, "--wrapper",
					      value);
	case OPT_JOBS:
		return opt_parse_jobs(value, &ask->gathering.reading.jobs);
	default:
		take_switch(idx, ask);
		return true;
	}
}

/* Without --format, take the format from the name of the output. */
static bool
settle_format(struct ask *ask)
{
	const char *const dot = strrchr(ask->output, '.');

	for (unsigned i = 0; ask->format == NULL && formats[i] != NULL; i++)
		if (dot != NULL && strcasecmp(dot + 1, formats[i]) == 0)
			ask->format = formats[i];
	return ask->format != NULL;
}

/* Does this way to divide the heap need call stacks? */
static bool
needs_stacks(const struct ask *ask)
{
	return ask->way != 0 && ways[ask->way].by <= BY_STACK;
}

/* ------------------------------------------------------------------ picture */

static bool
make_data(struct plot_data *d, const struct ask *ask, struct gathering *g)
{
	uint64_t top = ask->top;

	/*
	 * A low picture has room for few layers.  Keep the last layer free for
	 * the sum of all other groups.
	 */
	if (ask->height != 0 && top >= chart_room((unsigned)ask->height))
		top = chart_room((unsigned)ask->height) - 1;
	if (plot_data_make(d, g->census) &&
	    (ask->way == 0 ||
	     plot_data_divide(d, g->names, ways[ask->way].by, (unsigned)top)))
		return true;
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}

/* Draw and write the picture.  On failure print a message and return false. */
static bool
draw_picture(const struct ask *ask, struct gathering *g)
{
	struct plot_data d = { 0 };
	struct chart_look look = {
		.format = strcmp(ask->format, "png") == 0 ? CANVAS_PNG
							  : CANVAS_SVG,
		.width = (unsigned)ask->width,
		.is_dark = ask->is_dark,
		.by = ways[ask->way].name,
		.command = hatf_reader_header(g->scan.reader, "command"),
		.path = g->scan.path,
		.is_damaged = g->fault != NULL,
	};
	struct canvas *canvas = NULL;
	const char *bytes = NULL;
	size_t nbytes;

	if (make_data(&d, ask, g)) {
		look.height = ask->height != 0 ? (unsigned)ask->height
					       : chart_height(d.layer_count);
		canvas = chart_draw(&d, &look);
	}
	if (canvas != NULL)
		bytes = canvas_finish(canvas, &nbytes);

	const bool ok =
		bytes != NULL && output_file_write(ask->output, bytes, nbytes);

	canvas_close(canvas);
	plot_data_free(&d);
	return ok;
}

/* ------------------------------------------------------------------ command */

static int
plot_file(const char *path, const struct ask *ask)
{
	struct gathering *const g = gather_open(path, &ask->gathering);
	int exit_status = EXIT_FINE;

	if (g == NULL)
		return EXIT_BAD_INPUT;
	if (needs_stacks(ask) && !groups_has_stacks(g->census)) {
		message_print("%s: no call stacks, which '--by %s' needs "
			      "('--by thread' and '--by size' need none)",
			      message_path(path), by_words[ask->way]);
		exit_status = EXIT_BAD_INPUT;
	} else if (!draw_picture(ask, g)) {
		exit_status = EXIT_BAD_INPUT;
	}
	if (needs_stacks(ask))
		site_names_report_wrappers(g->names, path);
	if (g->fault != NULL) {
		message_print("%s: %s", message_path(path), g->fault);
		exit_status = EXIT_BAD_INPUT;
	}
	gather_close(g);
	return exit_status;
}

int
command_plot(int argc, char **argv)
{
	struct ask ask = {
		.top = TOP_DEFAULT,
		.width = WIDTH,
		/*
		 * Hide the standard library, so that sites are the program's
		 * own lines.
		 */
		.gathering.view.fold_std = true,
		.gathering.reading.struct_nbytes =
			sizeof(ask.gathering.reading),
	};
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &ask, &exit_status);

	if (first < 0)
		return exit_status;
	if (first == argc)
		return opt_complain(&page, "a FILE is missing");
	if (first + 1 < argc)
		return opt_complain(&page, "one FILE at a time");
	if (ask.output == NULL)
		return opt_complain(&page, "-o PICTURE is missing");
	if (!settle_format(&ask))
		return opt_complain(&page,
				    "%s: neither .svg nor .png: give --format",
				    ask.output);
	if (ask.way != 0 && ask.height != 0 && ask.height < CHART_LAYERS_MIN)
		return opt_complain(&page,
				    "--height must be at least %d with layers",
				    CHART_LAYERS_MIN);
	if (trace_window_is_empty(&ask.gathering.window.range))
		return opt_complain(&page, "--to must be after --from");
	ask.gathering.window.points_are_fine = ask.way != 0;
	ask.gathering.window.points_are_lanes =
		ask.way != 0 && !needs_stacks(&ask);
	if (output_file_refused(ask.output, argv[first]))
		return EXIT_USAGE;
	return plot_file(argv[first], &ask);
}
