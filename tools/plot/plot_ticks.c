/* SPDX-License-Identifier: MIT */
/* plot_ticks.c - see plot_ticks.h */
#include "tools/plot/plot_ticks.h"

#include "tools/ui/figure.h"

#include <stddef.h>
#include <stdio.h>

#define MINUTE 60e9

/*
 * A unit, such as KiB or seconds.  The distance between two ticks is 1, 2 or 5
 * times a power of 10, in this unit.  A time axis of more than 2 minutes uses
 * 'long_steps' instead.
 */
struct unit {
	double size;
	const char *name;
};

static const struct unit byte_units[] = {
	{ 1, "B" },
	{ 1024, "KiB" },
	{ 1048576, "MiB" },
	{ 1073741824, "GiB" },
	{ 1099511627776, "TiB" },
	{ 1125899906842624, "PiB" },
	{ 1152921504606846976.0, "EiB" },
};
static const struct unit time_units[] = {
	{ 1, "ns" },
	{ 1e3, "\u00b5s" },
	{ 1e6, "ms" },
	{ 1e9, "s" },
};
#define BYTE_UNIT_COUNT (sizeof(byte_units) / sizeof(byte_units[0]))
#define TIME_UNIT_COUNT (sizeof(time_units) / sizeof(time_units[0]))

/*
 * Possible distances between two ticks on a time axis of more than 2 minutes:
 * 1 minute to 12 days, in minutes.
 */
static const double long_steps[] = {
	1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 360, 720, 1440, 2880, 7200, 17280
};
#define LONG_STEP_COUNT (sizeof(long_steps) / sizeof(long_steps[0]))

/*
 * Return the largest unit that is at most 'size'.  If every unit is larger,
 * return the smallest unit.
 */
static const struct unit *
find_unit(enum tick_kind kind, double size)
{
	static const struct unit one = { 1, "" };
	const struct unit *const units =
		kind == TICKS_NBYTES ? byte_units : time_units;
	size_t n = kind == TICKS_NBYTES ? BYTE_UNIT_COUNT : TIME_UNIT_COUNT;

	if (kind == TICKS_COUNT)
		return &one;
	while (n > 1 && units[n - 1].size > size)
		n--;
	return &units[n - 1];
}

/*
 * Return the smallest number of the form 1, 2 or 5 times a power of 10 that is
 * at least 'least' and at least 0.001.  Because of rounding errors, a number up
 * to 0.01 % below 'least' is large enough, too.
 */
static double
round_up(double least)
{
	double power = 1e-3;

	while (power * 10 <= least * 1.0001)
		power *= 10;
	if (least <= power * 1.0001)
		return power;
	if (least <= power * 2.0001)
		return 2 * power;
	return least <= power * 5.0001 ? 5 * power : 10 * power;
}

/*
 * Return the distance between two ticks.  It is in bytes, events or
 * nanoseconds, as 'length' is.
 */
static double
find_step(enum tick_kind kind, double length, unsigned wanted)
{
	const double least = length / wanted;
	const struct unit *const unit = find_unit(kind, length);
	double step;

	if (kind == TICKS_NS && length > 2 * MINUTE) {
		for (size_t i = 0; i < LONG_STEP_COUNT; i++)
			if (long_steps[i] * MINUTE >= least)
				return long_steps[i] * MINUTE;
	}
	step = round_up(least / unit->size) * unit->size;
	/*
	 * Return at least 1, because fractions of a byte, of an event or of a
	 * nanosecond do not occur.
	 */
	return step < 1 ? 1 : step;
}

/* Format a long time: "1 h 30 min", "2 d". */
static void
label_long(struct tick *t, double minutes)
{
	const long n = (long)(minutes + 0.5);
	const long days = n / 1440, hours = n / 60 % 24, rest = n % 60;
	int used = 0;

	t->label[0] = '\0';
	if (days > 0)
		used += snprintf(t->label, 12, "%ld d ", days);
	if (hours > 0)
		used += snprintf(t->label + used, 8, "%ld h ", hours);
	if (rest > 0)
		used += snprintf(t->label + used, 8, "%ld min ", rest);
	if (used > 0)
		t->label[used - 1] = '\0';
	else
		snprintf(t->label, sizeof(t->label), "0");
}

static void
label(struct tick *t, enum tick_kind kind, double value, double step,
      double largest)
{
	const struct unit *const unit = find_unit(kind, largest);
	int digits = 0;

	for (double part = step / unit->size; part < 0.99 && digits < 9;
	     part *= 10)
		digits++;
	if (value < step / 2)
		snprintf(t->label, sizeof(t->label), "0");
	else if (kind == TICKS_COUNT)
		snprintf(t->label, sizeof(t->label), "%s",
			 figure_count((uint64_t)(value + 0.5)).text);
	else if (kind == TICKS_NS && step >= MINUTE)
		label_long(t, value / MINUTE);
	else
		snprintf(t->label, sizeof(t->label), "%.*f %s", digits,
			 value / unit->size, unit->name);
}

void
ticks_make(struct ticks *t, enum tick_kind kind, double first, double last,
	   double scale, unsigned wanted)
{
	const double step = find_step(kind, (last - first) * scale, wanted);
	/*
	 * Move the end a little, so that rounding does not lose the last tick.
	 */
	const double end = last * scale * (1 + 1e-12);
	uint64_t n = (uint64_t)(first * scale / step);

	if ((double)n * step < first * scale)
		n++;
	for (t->count = 0; (double)n * step <= end && t->count < TICKS_MAX;
	     n++) {
		struct tick *const row = &t->rows[t->count++];

		row->at = (double)n * step / scale;
		label(row, kind, (double)n * step, step, last * scale);
	}
}
