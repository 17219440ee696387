/* SPDX-License-Identifier: MIT */
/* replay_models.c - see replay_models.h */
#include "tools/replay/replay_models.h"

#include "tools/ui/figure.h"
#include "tools/ui/json.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS 8

static const char *const headings[COLUMNS] = {
	"model",    "peak heap", "x live", "rounded",
	"end heap", "x live",	 "holes",  "moved",
};

bool
models_run(struct replay_models *models, const struct compiled *compiled)
{
	for (unsigned i = 0; i < models->count; i++)
		if (!model_run(&models->results[i], &models->list[i], compiled))
			return false;
	return true;
}

static void
print_row(struct out *o, bool markdown, int width,
	  const char *const cells[COLUMNS])
{
	static const int widths[COLUMNS] = { 0, 10, 6, 10, 10, 6, 10, 9 };

	for (int i = 0; i < COLUMNS; i++) {
		if (markdown)
			out_printf(o, "| %s ", cells[i]);
		else if (i == 0)
			out_printf(o, "%-*s", width, cells[i]);
		else
			out_printf(o, " %*s", widths[i], cells[i]);
	}
	out_str(o, markdown ? "|\n" : "\n");
}

/* Return a ratio as text, or "-" if there is none. */
static const char *
ratio(char buf[16], uint64_t n, uint64_t base)
{
	if (base == 0)
		return "-";
	snprintf(buf, 16, "%.3f", (double)n / (double)base);
	return buf;
}

static void
print_model(struct out *o, const struct replay_view *view, int width,
	    const struct model *model, const struct model_result *r)
{
	const struct compiled *const c = view->compiled;
	char peak[16], end[16];

	print_row(
		o, view->markdown, width,
		(const char *[]){
			model->label,
			figure_nbytes(r->peak_nbytes).text,
			ratio(peak, r->peak_nbytes, c->peak_nbytes),
			figure_nbytes(r->peak_taken_nbytes).text,
			figure_nbytes(r->end_nbytes).text,
			ratio(end, r->end_nbytes, c->end_nbytes),
			figure_nbytes(r->end_nbytes - r->end_taken_nbytes).text,
			figure_count(r->moved_count).text,
		});
}

void
models_print_text(struct out *o, const struct replay_view *view,
		  const struct replay_models *models)
{
	int width = (int)strlen(headings[0]);

	for (unsigned i = 0; i < models->count; i++) {
		const int n = (int)strlen(models->list[i].label);

		width = n > width ? n : width;
	}
	replay_print_heading(o, view);
	out_str(o, "\n");
	print_row(o, view->markdown, width, headings);
	for (int i = 0; i < COLUMNS && view->markdown; i++)
		out_str(o, i == 0 ? "|---" : "|---:");
	out_str(o, view->markdown ? "|\n" : "");
	for (unsigned i = 0; i < models->count; i++)
		print_model(o, view, width, &models->list[i],
			    &models->results[i]);
}

bool
models_print_json(struct out *o, const struct replay_view *view,
		  const struct replay_models *models)
{
	json_t *const object = json_object();
	json_t *const list = json_array();

	replay_set_trace(object, view);
	for (unsigned i = 0; i < models->count; i++) {
		const struct model_result *const r = &models->results[i];

		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "model",
				  json_text(models->list[i].label),
				  "peak_heap_bytes", json_u64(r->peak_nbytes),
				  "end_heap_bytes", json_u64(r->end_nbytes),
				  "peak_rounded_bytes",
				  json_u64(r->peak_taken_nbytes),
				  "end_rounded_bytes",
				  json_u64(r->end_taken_nbytes),
				  "moved_reallocs", json_u64(r->moved_count)));
	}
	json_object_set_new(object, "models", list);
	return json_print(o, object, REPLAY_TRACE_KEYS + 1);
}
