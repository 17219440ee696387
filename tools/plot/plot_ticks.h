/* SPDX-License-Identifier: MIT */
/* plot_ticks.h - round numbers for the axes of a picture */
#ifndef PLOT_TICKS_H
#define PLOT_TICKS_H

#include <stdint.h>

#define TICKS_MAX 24

struct tick {
	double at; /* in units of the axis */
	char label[32];
};

struct ticks {
	struct tick rows[TICKS_MAX];
	unsigned count;
};

enum tick_kind {
	TICKS_NBYTES, /* 20 MiB */
	TICKS_COUNT,  /* 2 000 */
	TICKS_NS,     /* 0.5 s */
};

/*
 * Ticks from 'first' to 'last', about 'wanted' of them (2 to 10).  A value of
 * the axis times 'scale' is in bytes, ones or nanoseconds.
 */
void ticks_make(struct ticks *t, enum tick_kind kind, double first, double last,
		double scale, unsigned wanted);

#endif /* PLOT_TICKS_H */
