/* SPDX-License-Identifier: MIT */
/* figure.c - see figure.h */
#include "tools/ui/figure.h"

#include <inttypes.h>
#include <stdio.h>

struct figure
figure_count(uint64_t n)
{
	struct figure f;
	char digits[24];
	const int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	size_t used = 0;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			f.text[used++] = ' ';
		f.text[used++] = digits[i];
	}
	f.text[used] = '\0';
	return f;
}

struct figure
figure_nbytes(uint64_t nbytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	struct figure f;
	double value = (double)nbytes / 1024;
	unsigned unit = 0;

	if (nbytes < 1024) {
		snprintf(f.text, sizeof(f.text), "%" PRIu64 " B", nbytes);
		return f;
	}
	/* Go on to the next unit if the value would be rounded to 1024.0. */
	for (; value >= 1023.95 && unit < 5; unit++)
		value /= 1024;
	snprintf(f.text, sizeof(f.text), "%.1f %s", value, units[unit]);
	return f;
}

struct figure
figure_ns(uint64_t ns)
{
	struct figure f;
	const uint64_t s = ns / 1000000000;

	if (ns < 1000)
		snprintf(f.text, sizeof(f.text), "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(f.text, sizeof(f.text), "%.3f us", (double)ns / 1e3);
	else if (s < 1)
		snprintf(f.text, sizeof(f.text), "%.3f ms", (double)ns / 1e6);
	else if (s < 60)
		snprintf(f.text, sizeof(f.text), "%.3f s", (double)ns / 1e9);
	else if (s < 3600)
		snprintf(f.text, sizeof(f.text),
			 "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(f.text, sizeof(f.text),
			 "%" PRIu64 " h %02" PRIu64 " min", s / 3600,
			 s / 60 % 60);
	return f;
}

struct figure
figure_ns_to(uint64_t ns, uint64_t unit_ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	struct figure f;
	unsigned unit = 0;
	int decimals = 0;
	uint64_t scale = 1;

	if (ns >= (uint64_t)60 * 1000000000)
		return figure_ns(ns);
	for (; unit < 3 && (ns / scale >= 1000 || unit_ns / scale >= 1000);
	     unit++)
		scale *= 1000;
	for (uint64_t digit = scale; digit > unit_ns && decimals < 3;
	     digit /= 10)
		decimals++;
	snprintf(f.text, sizeof(f.text), "%.*f %s", decimals,
		 (double)ns / (double)scale, units[unit]);
	return f;
}

struct figure
figure_part(double part)
{
	const double whole = 1 / part;
	struct figure f, n;

	if (whole < 9.95 || whole >= 1e15) {
		snprintf(f.text, sizeof(f.text),
			 whole < 9.95 ? "1 in %.1f" : "1 in %.1e", whole);
		return f;
	}
	n = figure_count((uint64_t)(whole + 0.5));
	snprintf(f.text, sizeof(f.text), "1 in %.26s", n.text);
	return f;
}
