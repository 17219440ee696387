/* SPDX-License-Identifier: MIT */
/*
 * plot_data.h - the data of a picture of the heap: a series of bins, and layers
 *
 * Bins cover the axis from 'first' to 'last' without gaps.  The axis is in time
 * units of the trace, or in events.  Values are bytes, or blocks if the census
 * follows blocks.
 *
 * With layers, 'shown' is the sum of a bin's layers.  In the bin that contains
 * the peak, this sum is the value at the peak.  In any other bin, it is the
 * value at the end of the bin.
 */
#ifndef PLOT_DATA_H
#define PLOT_DATA_H

#include "tools/summary/gather.h"
#include "tools/summary/groups.h"

/*
 * Approximate maximum number of bins of a picture without layers.  More bins
 * would seldom show more, because few pictures are wider in pixels.
 */
#define PLOT_BINS_MAX 1024

/*
 * Maximum value of 'top' for plot_data_divide().  One more layer shows all
 * other groups or, if there is only one other group, this group.
 */
#define PLOT_TOP_MAX 9

struct plot_bin {
	uint64_t begin, end;
	uint64_t most, least, shown;
};

struct plot_layer {
	const char *name; /* escaped */
	uint64_t at_peak, at_end;
	uint64_t *values; /* for each bin, the layer's part of 'shown' */
	bool is_other;
};

struct plot_data {
	const struct census *census;
	bool is_count;
	uint64_t first, last;
	uint64_t peak, peak_at, at_end;
	struct plot_bin *bins;
	size_t bin_count;
	struct plot_layer layers[PLOT_TOP_MAX + 1];
	unsigned layer_count;
	struct groups groups; /* all groups; the largest have layers */
	char other_name[32];
};

/*
 * Make the series of bins from a census that has ended.  Return false if there
 * is no memory.
 */
bool plot_data_make(struct plot_data *d, const struct census *c);

/*
 * Divide the series into layers: the 'top' largest groups, and all others (see
 * PLOT_TOP_MAX).  The points of the census's history must list stacks or lanes
 * (census.h), whichever 'by' needs.  Return false if there is no memory.
 */
bool plot_data_divide(struct plot_data *d, struct site_names *names,
		      enum group_by by, unsigned top);

void plot_data_free(struct plot_data *d);

#endif /* PLOT_DATA_H */
