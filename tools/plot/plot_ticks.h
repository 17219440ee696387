/* SPDX-License-Identifier: MIT */
/* plot_ticks.h - round numbers for the axes of a picture */
#ifndef PLOT_TICKS_H
#define PLOT_TICKS_H

#include <stdint.h>

#define TICKS_MAX 24

struct tick {
	double at; /* position in units of the axis */
	char label[32];
};

struct ticks {
	struct tick rows[TICKS_MAX];
	unsigned count;
};

enum tick_kind {
	TICKS_NBYTES, /* such as 20 MiB */
	TICKS_COUNT,  /* such as 2 000 */
	TICKS_NS,     /* such as 0.5 s */
};

/*
 * Make about 'wanted' ticks from 'first' to 'last', both in units of the axis.
 * 'wanted' is from 2 to 10.  Multiplied by 'scale', a value of the axis becomes
 * bytes, a count or nanoseconds.
 */
void ticks_make(struct ticks *t, enum tick_kind kind, double first, double last,
		double scale, unsigned wanted);

#endif /* PLOT_TICKS_H */
