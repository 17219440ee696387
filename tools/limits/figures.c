/* SPDX-License-Identifier: MIT */
/* figures.c - see figures.h */
#include "tools/limits/figures.h"

#include "tools/ui/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How to group allocations into the rows of each scope. */
static const enum group_by ways[LIMIT_SCOPE_COUNT] = {
	[LIMIT_SITE] = BY_SITE,	    [LIMIT_FUNCTION] = BY_FUNCTION,
	[LIMIT_FILE] = BY_FILE,	    [LIMIT_MODULE] = BY_MODULE,
	[LIMIT_THREAD] = BY_THREAD, [LIMIT_HEAP] = BY_HEAP,
};

/* ------------------------------------------------------------------ reading */

/* Remember the largest allocation so far. */
static void
watch(void *ctx, const struct census *census, const struct hatf_event *events,
      size_t n)
{
	struct figures *const f = ctx;

	(void)census;
	for (size_t i = 0; i < n; i++) {
		const struct hatf_event *const e = &events[i];

		if ((e->kind == HATF_EVENT_ALLOC ||
		     e->kind == HATF_EVENT_REALLOC) &&
		    e->address != 0 && !e->carried && e->size > f->single) {
			f->single = e->size;
			f->single_stack = census_stack_of(e);
		}
	}
}

/*
 * Have the view visit all stacks, even if no scope needs them, so that it knows
 * which wrappers match a frame.
 */
static void
visit_stacks(const struct gathering *g)
{
	const struct census *const c = g->census;

	for (uint32_t i = STACK_FIRST; i < c->by_stack.count; i++)
		site_names_top(g->names, c->stack_ids[i]);
}

static bool
add_segment(struct figures *f, unsigned scopes, const struct gathering *g)
{
	for (int i = 0; i < LIMIT_SCOPE_COUNT; i++)
		if ((scopes & 1u << i) != 0 &&
		    !comparison_add(&f->rows[i], g)) {
			message_print("%s: %s", message_path(g->scan.path),
				      hatf_status_text(HATF_NO_MEMORY));
			return false;
		}
	f->lacks_stacks |= g->census->total.allocated.count != 0 &&
			   !groups_has_stacks(g->census);
	return true;
}

/* Keep the first reason why a trace is incomplete, with the file's name. */
static bool
keep_fault(struct figures *f, const struct gathering *g)
{
	const char *const fault =
		g->fault != NULL ? g->fault : scan_unknown_start(&g->scan);

	if (fault == NULL || f->fault != NULL)
		return true;
	if (asprintf(&f->fault, "%s: %s", message_path(g->scan.path), fault) >=
	    0)
		return true;
	f->fault = NULL;
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}

bool
figures_read(struct figures *f, const struct process *process, unsigned scopes,
	     const struct gather_options *options)
{
	struct gather_options watching = *options;

	*f = (struct figures){ .process = process };
	watching.watch = watch;
	watching.watch_ctx = f;
	/*
	 * Do not read the parent's trace, because inherited blocks count for
	 * the parent.
	 */
	watching.no_parent = true;
	/*
	 * Always include LIMIT_PROCESS, because the total is computed along
	 * with the rows of a scope.
	 */
	scopes |= 1u << LIMIT_PROCESS;
	for (int i = 0; i < LIMIT_SCOPE_COUNT; i++)
		comparison_init(&f->rows[i],
				i <= LIMIT_TREE ? BY_HEAP : ways[i], 0,
				(unsigned)process->path_count);
	for (size_t i = 0; i < process->path_count; i++) {
		gather_close(f->last);
		f->last = gather_open(process->paths[i], &watching);
		if (f->last == NULL || !add_segment(f, scopes, f->last) ||
		    !keep_fault(f, f->last))
			return false;
		if (options->view.wrapper_count != 0)
			visit_stacks(f->last);
	}
	return true;
}

void
figures_free(struct figures *f)
{
	for (int i = 0; i < LIMIT_SCOPE_COUNT; i++)
		comparison_fini(&f->rows[i]);
	gather_close(f->last);
	free(f->fault);
	*f = (struct figures){ .process = NULL };
}

/* ------------------------------------------------------------------- values */

/*
 * Return a ratio in millionths, rounded up so that a ratio above a limit never
 * equals the limit.
 */
static uint64_t
part_of(uint64_t part, uint64_t whole)
{
	while (whole > UINT64_MAX / (LIMIT_WHOLE + 1)) {
		part >>= 1;
		whole >>= 1;
	}
	return whole == 0 ? 0 : (part * LIMIT_WHOLE + whole - 1) / whole;
}

uint64_t
figures_measure(const struct measured *m, enum limit_measure measure)
{
	switch (measure) {
	case LIMIT_PEAK:
		return m->values[MEASURE_PEAK];
	case LIMIT_LIVE:
		return m->values[MEASURE_LIVE];
	case LIMIT_ALLOCATED:
		return m->values[MEASURE_ALLOCATED];
	case LIMIT_TEMPORARY:
		return part_of(m->values[MEASURE_TEMPORARY],
			       m->values[MEASURE_ALLOCATIONS]);
	default:
		return m->values[MEASURE_ALLOCATIONS];
	}
}

/* ------------------------------------------------------------------- places */

/* Does the stack belong to the row? */
static bool
is_of_row(const struct gathering *g, uint64_t stack, enum limit_scope scope,
	  const char *row_name)
{
	static const enum site_part parts[LIMIT_SCOPE_COUNT] = {
		[LIMIT_FUNCTION] = SITE_FUNCTION,
		[LIMIT_FILE] = SITE_FILE,
		[LIMIT_MODULE] = SITE_MODULE,
	};
	char name[COMPARISON_NAME_NBYTES];
	const char *part;

	if (row_name == NULL)
		return true;
	if (scope == LIMIT_SITE) {
		comparison_name_site(g, stack, name, sizeof(name));
		return strcmp(name, row_name) == 0;
	}
	part = site_names_get(g->names, stack, parts[scope]);
	return part != NULL && strcmp(part, row_name) == 0;
}

/* Return the stack with the largest amount of a measure in a row; 0: none. */
static uint64_t
find_stack(const struct figures *f, enum limit_scope scope,
	   const char *row_name, enum limit_measure measure)
{
	const struct census *const c = f->last->census;
	/*
	 * For a ratio, compare the number of temporary blocks, because the
	 * ratio alone does not show where most temporary blocks come from.
	 */
	const enum measure key =
		measure == LIMIT_PEAK	     ? MEASURE_PEAK
		: measure == LIMIT_LIVE	     ? MEASURE_LIVE
		: measure == LIMIT_ALLOCATED ? MEASURE_ALLOCATED
		: measure == LIMIT_TEMPORARY ? MEASURE_TEMPORARY
					     : MEASURE_ALLOCATIONS;
	uint64_t found = 0, most = 0;

	if (measure == LIMIT_SINGLE)
		return f->single_stack;
	for (uint32_t i = STACK_FIRST; i < c->by_stack.count; i++) {
		const struct measured m =
			measure_account(c, &c->by_stack.rows[i]);

		if (m.values[key] > most &&
		    is_of_row(f->last, c->stack_ids[i], scope, row_name)) {
			most = m.values[key];
			found = c->stack_ids[i];
		}
	}
	return found;
}

static char *
copy(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

struct figures_place
figures_find_place(const struct figures *f, enum limit_scope scope,
		   const char *row_name, enum limit_measure measure)
{
	const struct hatf_stacks *const stacks = f->last->census->stacks;
	struct figures_place place = { .site = NULL };
	struct hatf_frame frame;
	struct hatf_stack top;
	uint64_t stack;

	if (scope == LIMIT_THREAD || scope == LIMIT_HEAP)
		return place;
	/*
	 * Only the census of the last segment is in memory.  For a rotated
	 * trace, this census contains all that is live at the end, but all
	 * other measures lack the earlier segments.  So return a place only for
	 * LIMIT_LIVE.
	 */
	if (f->process->path_count > 1 && measure != LIMIT_LIVE)
		return place;
	stack = find_stack(f, scope, row_name, measure);
	if (stack == 0 ||
	    !hatf_stacks_get(stacks, site_names_top(f->last->names, stack),
			     &top) ||
	    !hatf_stacks_get_frame(stacks, top.frame, &frame))
		return place;
	place.site = copy(site_names_frame(f->last->names, top.frame));
	place.file = copy(frame.file);
	place.line = frame.line;
	return place;
}

void
figures_place_free(struct figures_place *place)
{
	free(place->site);
	free(place->file);
	*place = (struct figures_place){ .site = NULL };
}
