/* SPDX-License-Identifier: MIT */
/* short_report.c - see short_report.h */
#include "tools/recording/short_report.h"

#include "tools/recording/template.h"
#include "tools/show/show.h"
#include "tools/ui/escape.h"
#include "tools/ui/figure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Maximum number of bytes of a site's name that are printed. */
#define NAME_NBYTES 64

/* Print a name; omit its middle if it is long. */
static void
print_name(FILE *f, const char *name)
{
	size_t head, tail;

	if (show_cut(name, NAME_NBYTES, &head, &tail))
		fprintf(f, "%.*s...%s", (int)head, name, name + tail);
	else
		fputs(name, f);
}

/* Print "; 60 % by SITE" for the largest site, and end the line. */
static void
print_largest(FILE *f, const struct groups *sites, enum group_key key)
{
	const struct census *const c = sites->census;
	const uint64_t all = groups_amount(c, &c->total, key).nbytes;
	uint32_t n;
	uint32_t *const order = groups_sort(sites, key, false, &n);

	if (order != NULL && n != 0) {
		const struct group *const row = &sites->rows[order[0]];
		const uint64_t part = groups_amount(c, &row->sum, key).nbytes;

		fprintf(f, "; %s by ", show_part(part, all).text);
		print_name(f, row->name);
	}
	free(order);
	fputc('\n', f);
}

static void
print_figures(FILE *f, const struct gathering *g, const struct groups *sites)
{
	const struct census *const c = g->census;
	const struct account *const all = &c->total;
	const char *const advice = show_advice(g);

	fprintf(f, "  peak       %s after %s",
		figure_nbytes(c->peak_level).text,
		show_moment(c, &c->peak).text);
	print_largest(f, sites, KEY_PEAK);
	fprintf(f, "  at the end %s", figure_nbytes(all->live.nbytes).text);
	fprintf(f, " in %s block%s", figure_count(all->live.count).text,
		figure_plural(all->live.count));
	print_largest(f, sites, KEY_LIVE);
	fprintf(f, "  allocated  %s",
		figure_nbytes(all->allocated.nbytes).text);
	fprintf(f, " in %s block%s", figure_count(all->allocated.count).text,
		figure_plural(all->allocated.count));
	fprintf(f, ", %s temporary",
		show_part(all->temporary.count, all->allocated.count).text);
	print_largest(f, sites, KEY_ALLOCATED);
	if (advice != NULL)
		fprintf(f, "  note: %s\n", advice);
}

/* Read a trace and print its figures. */
static void
print_trace(FILE *f, const char *path, const struct stack_view_options *view)
{
	const struct gather_options options = {
		.reading.struct_nbytes = sizeof(options.reading),
		.view = *view,
	};
	struct gathering *const g = gather_open(path, &options);
	struct groups sites = { 0 };

	if (g == NULL)
		return;
	if (groups_make(&sites, g->census, g->names, BY_SITE))
		print_figures(f, g, &sites);
	groups_free(&sites);
	gather_close(g);
}

/*
 * If child processes have traces with more than 'own_nbytes' bytes, print a
 * line about the largest of these traces.
 */
static void
print_larger(FILE *f, const struct collection *c, uint64_t own_nbytes)
{
	const struct collected_trace *largest = NULL;
	char path[4096], name[256];
	const char *slash;
	struct stat st;

	for (size_t i = 0; i < c->descendant_count; i++) {
		const struct collected_trace *const t =
			&c->traces[c->own_count + i];

		if (stat(t->path, &st) != 0 ||
		    (uint64_t)st.st_size <= own_nbytes)
			continue;
		own_nbytes = (uint64_t)st.st_size;
		largest = t;
	}
	if (largest == NULL)
		return;
	slash = strrchr(largest->exe, '/');
	escape_text(template_short(largest->path), path, sizeof(path));
	escape_text(slash != NULL ? slash + 1 : largest->exe, name,
		    sizeof(name));
	fprintf(f, "  larger trace: hatf report %s (%s, a child process)\n",
		path, name[0] != '\0' ? name : "unknown program");
}

void
short_report_print(const struct collection *c,
		   const struct stack_view_options *view)
{
	const struct collected_trace *trace;
	struct stat st;
	char path[4096], *text = NULL;
	size_t nbytes;
	FILE *f;

	if (c->own_count == 0)
		return;
	trace = &c->traces[c->own_count - 1];
	if (!trace->is_complete || stat(trace->path, &st) != 0)
		return;
	f = open_memstream(&text, &nbytes);
	if (f == NULL)
		return;
	/*
	 * Print no figures for a segment after the first, which covers only a
	 * part of the run, or for a trace that would take long to read.
	 */
	if (trace->segment == 0 &&
	    (uint64_t)st.st_size <= SHORT_REPORT_NBYTES_MAX)
		print_trace(f, trace->path, view);
	escape_text(template_short(trace->path), path, sizeof(path));
	fprintf(f, "  next: hatf report %s\n", path);
	print_larger(f, c, (uint64_t)st.st_size);
	if (fclose(f) == 0)
		fputs(text, stderr);
	free(text);
}
