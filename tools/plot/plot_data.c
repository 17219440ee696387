/* SPDX-License-Identifier: MIT */
/* plot_data.c - see plot_data.h */
#include "tools/plot/plot_data.h"

#include "tools/ui/figure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
pick(const struct plot_data *d, const struct amount *a)
{
	return d->is_count ? a->count : a->nbytes;
}

/* --------------------------------------------------------------------- axis */

static uint64_t
distance(const struct census *c, const struct moment *m)
{
	if (!census_axis_is_time(c))
		return m->event;
	return m->time > c->axis_start ? m->time - c->axis_start : 0;
}

/*
 * Find the ends of the axis, the peak, and the peak's position on the axis.  An
 * axis of time ends one time unit after the last event.
 */
static void
find_axis(struct plot_data *d)
{
	const struct census *const c = d->census;
	const bool is_time = census_axis_is_time(c);

	d->first = distance(c, &c->first);
	d->last = distance(c, &c->last) + is_time;
	if (d->last <= d->first)
		d->last = d->first + 1;
	d->peak = c->peak_level;
	d->peak_at = distance(c, &c->peak);
	/*
	 * On an axis of events, 'peak_at' is now the number of the event after
	 * the peak.  Step back to the event that made the peak.
	 */
	if (!is_time && d->peak_at > d->first)
		d->peak_at--;
	d->at_end = pick(d, &c->total.live);
}

/* --------------------------------------------------------------------- bins */

/*
 * Add a bin in which the level does not change.  The bin lasts from the end of
 * the previous bin to 'end'.  If the bin would have length 0, add no bin.
 */
static void
add_flat(struct plot_data *d, uint64_t end, uint64_t level)
{
	const uint64_t begin =
		d->bin_count == 0 ? d->first : d->bins[d->bin_count - 1].end;

	if (end > begin)
		d->bins[d->bin_count++] =
			(struct plot_bin){ begin, end, level, level, level };
}

static struct plot_bin *
add_bin(struct plot_data *d, const struct span *s, uint64_t end)
{
	const uint64_t begin =
		d->bin_count == 0 ? d->first : d->bins[d->bin_count - 1].end;
	struct plot_bin *const bin = &d->bins[d->bin_count++];

	*bin = (struct plot_bin){
		.begin = begin,
		.end = end < d->last ? end : d->last,
		.most = s->most,
		.least = s->least,
	};
	return bin;
}

/*
 * Put the spans of the census's history into bins of width 1 << shift.  Fill
 * each gap between these bins with one flat bin.
 */
static void
fill_bins(struct plot_data *d, unsigned shift)
{
	const struct history *const h = &d->census->history;
	const unsigned more = shift - h->span_shift;
	uint64_t level = pick(d, &d->census->start);
	size_t next = 0;

	while (next < h->span_count) {
		const uint64_t number = h->spans[next].number >> more;
		const uint64_t end = (number + 1) << shift;
		struct plot_bin *bin;

		add_flat(d, number << shift, level);
		bin = add_bin(d, &h->spans[next], end);
		for (; next < h->span_count &&
		       h->spans[next].number >> more == number;
		     next++) {
			const struct span *const s = &h->spans[next];

			if (s->most > bin->most)
				bin->most = s->most;
			if (s->least < bin->least)
				bin->least = s->least;
			level = pick(d, &s->live);
		}
		bin->shown = level;
	}
	add_flat(d, d->last, level);
}

bool
plot_data_make(struct plot_data *d, const struct census *c)
{
	const struct history *const h = &c->history;
	unsigned shift = h->span_shift;

	memset(d, 0, sizeof(*d));
	d->census = c;
	d->is_count = c->window.peak_is_count;
	find_axis(d);
	if (c->window.points_are_fine)
		shift = h->point_shift;
	else
		while ((d->last - d->first) >> shift > PLOT_BINS_MAX)
			shift++;
	/*
	 * Each bin with spans may need a flat bin before it, so make room for
	 * two bins for each span.
	 */
	d->bins = calloc(2 * h->span_count + 2, sizeof(*d->bins));
	if (d->bins == NULL)
		return false;
	fill_bins(d, shift);
	return true;
}

/* ------------------------------------------------------------------- layers */

/*
 * A walk through the points of the history: the live bytes, or live blocks,
 * after the first 'next' points.
 */
struct walk {
	const struct plot_data *d;
	/* live bytes or blocks of each stack or lane, by its census row */
	uint64_t *rows;
	uint64_t *now; /* live bytes or blocks of each group */
	size_t next;   /* index of the next point of the history */
};

static bool
walk_begin(struct walk *w, const struct plot_data *d)
{
	w->d = d;
	w->next = 0;
	w->rows = calloc(census_points_of(d->census)->count + 1,
			 sizeof(*w->rows));
	w->now = calloc(d->groups.count + 1, sizeof(*w->now));
	return w->rows != NULL && w->now != NULL;
}

static void
walk_end(struct walk *w)
{
	free(w->rows);
	free(w->now);
}

/* Apply the changes of all points that begin before the end of 'bin'. */
static void
walk_to(struct walk *w, const struct plot_bin *bin)
{
	const struct history *const h = &w->d->census->history;

	for (; w->next < h->point_count; w->next++) {
		const struct point *const p = &h->points[w->next];

		if (p->number << h->point_shift >= bin->end)
			return;
		for (size_t i = 0; i < p->change_count; i++) {
			const struct change *const ch = &p->changes[i];
			const uint32_t g = w->d->groups.group_of[ch->stack];
			const uint64_t now =
				w->d->is_count ? ch->count : ch->nbytes;

			if (g != GROUP_NONE)
				w->now[g] += now - w->rows[ch->stack];
			w->rows[ch->stack] = now;
		}
	}
}

/*
 * Return, for each group, the area that it would have in the picture: live
 * bytes or blocks times duration.  Return NULL if there is no memory.
 */
static double *
find_areas(const struct plot_data *d)
{
	double *const areas = calloc(d->groups.count + 1, sizeof(*areas));
	struct walk w;

	if (!walk_begin(&w, d) || areas == NULL) {
		walk_end(&w);
		free(areas);
		return NULL;
	}
	for (size_t i = 0; i < d->bin_count; i++) {
		const struct plot_bin *const bin = &d->bins[i];

		walk_to(&w, bin);
		for (uint32_t g = 0; g < d->groups.count; g++)
			areas[g] += (double)w.now[g] *
				    (double)(bin->end - bin->begin);
	}
	walk_end(&w);
	return areas;
}

static uint64_t
at_peak(const struct plot_data *d, uint32_t group)
{
	const struct amount a =
		census_at_peak(d->census, &d->groups.rows[group].sum);

	return pick(d, &a);
}

/* Does group 'a' come before group 'b' in the order of the layers? */
static bool
is_before(const struct plot_data *d, const double *areas, uint32_t a,
	  uint32_t b)
{
	if (areas[a] != areas[b])
		return areas[a] > areas[b];
	if (at_peak(d, a) != at_peak(d, b))
		return at_peak(d, a) > at_peak(d, b);
	return strcmp(d->groups.rows[a].name, d->groups.rows[b].name) < 0;
}

/*
 * Put the groups with the largest areas into 'best', the largest first, and
 * return their number, at most 'top'.  Set '*seen_ret' to the number of groups
 * that have an area or are live at the peak.
 */
static unsigned
find_best(const struct plot_data *d, const double *areas, unsigned top,
	  uint32_t *best, uint32_t *seen_ret)
{
	unsigned n = 0;

	*seen_ret = 0;
	for (uint32_t g = 0; g < d->groups.count; g++) {
		unsigned i = n;

		if (areas[g] <= 0 && at_peak(d, g) == 0)
			continue;
		++*seen_ret;
		for (; i > 0 && is_before(d, areas, g, best[i - 1]); i--)
			if (i < top)
				best[i] = best[i - 1];
		if (i < top)
			best[i] = g;
		n += n < top;
	}
	return n;
}

static bool
add_layer(struct plot_data *d, const char *name, uint64_t peak, uint64_t end)
{
	struct plot_layer *const l = &d->layers[d->layer_count];

	*l = (struct plot_layer){ .name = name,
				  .at_peak = peak,
				  .at_end = end };
	l->values = calloc(d->bin_count + 1, sizeof(*l->values));
	d->layer_count += l->values != NULL;
	return l->values != NULL;
}

/* Add a layer for the 'count' groups that have no layer of their own. */
static bool
add_other(struct plot_data *d, uint32_t count)
{
	uint64_t peak = d->peak, end = d->at_end;

	for (unsigned i = 0; i < d->layer_count; i++) {
		peak -= d->layers[i].at_peak;
		end -= d->layers[i].at_end;
	}
	snprintf(d->other_name, sizeof(d->other_name), "%.20s others",
		 figure_count(count).text);
	if (!add_layer(d, d->other_name, peak, end))
		return false;
	d->layers[d->layer_count - 1].is_other = true;
	return true;
}

/* Does the bin contain the peak? */
static bool
has_peak(const struct plot_data *d, const struct plot_bin *bin)
{
	return bin->begin <= d->peak_at && d->peak_at < bin->end &&
	       bin->most == d->peak;
}

/*
 * Fill in the values of the layers.  In the bin that contains the peak, these
 * are the values at the peak.  The first 'n' layers are the groups in 'best'.
 * Return false if there is no memory.
 */
static bool
fill_layers(struct plot_data *d, const uint32_t *best, unsigned n)
{
	struct walk w;
	const bool ok = walk_begin(&w, d);

	for (size_t i = 0; ok && i < d->bin_count; i++) {
		struct plot_bin *const bin = &d->bins[i];
		const bool is_peak = has_peak(d, bin);
		uint64_t rest;

		walk_to(&w, bin);
		if (is_peak)
			bin->shown = d->peak;
		rest = bin->shown;
		for (unsigned j = 0; j < n; j++) {
			const uint64_t value =
				is_peak ? d->layers[j].at_peak : w.now[best[j]];

			d->layers[j].values[i] = value;
			rest -= value;
		}
		if (n < d->layer_count)
			d->layers[n].values[i] = rest;
	}
	walk_end(&w);
	return ok;
}

static bool
choose_layers(struct plot_data *d, unsigned top)
{
	double *const areas = find_areas(d);
	uint32_t best[PLOT_TOP_MAX + 1] = { 0 }, seen;
	unsigned n;

	if (areas == NULL)
		return false;
	n = find_best(d, areas, top + 1, best, &seen);
	/*
	 * A layer "all others" with one group would only hide the group's name,
	 * so add this layer only for two groups or more.
	 */
	if (seen > top + 1)
		n = top;
	free(areas);
	for (unsigned i = 0; i < n; i++)
		if (!add_layer(d, d->groups.rows[best[i]].name,
			       at_peak(d, best[i]),
			       pick(d, &d->groups.rows[best[i]].sum.live)))
			return false;
	return (n == seen || add_other(d, seen - n)) && fill_layers(d, best, n);
}

bool
plot_data_divide(struct plot_data *d, struct site_names *names,
		 enum group_by by, unsigned top)
{
	return groups_make(&d->groups, d->census, names, by) &&
	       choose_layers(d, top);
}

void
plot_data_free(struct plot_data *d)
{
	for (unsigned i = 0; i < d->layer_count; i++)
		free(d->layers[i].values);
	groups_free(&d->groups);
	free(d->bins);
}
