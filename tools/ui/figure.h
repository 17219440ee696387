/* SPDX-License-Identifier: MIT */
/* figure.h - format numbers for people to read */
#ifndef FIGURE_H
#define FIGURE_H

#include <stddef.h>
#include <stdint.h>

/* A formatted number.  Its size suffices for each of the functions below. */
struct figure {
	char text[32];
};

/* For example, "1 234 567". */
struct figure figure_count(uint64_t n);

/* The end of a regular English noun after the number 'n': "" or "s". */
static inline const char *
figure_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* For example, "812 B", "1.3 KiB" or "20.0 MiB". */
struct figure figure_nbytes(uint64_t nbytes);

/* For example, "12 ns", "1.234 ms", "12.345 s" or "2 h 03 min". */
struct figure figure_ns(uint64_t ns);

/*
 * Like figure_ns(), but without the digits that stand for less than 'unit_ns',
 * a power of ten.  'ns' must be a multiple of 'unit_ns'.  For example, 1200 ms
 * are "1.200 s" if 'unit_ns' is 1 ms, and "1.2 s" if it is 100 ms.
 */
struct figure figure_ns_to(uint64_t ns, uint64_t unit_ns);

/* For example, "1 in 2.5" or "1 in 1 000".  'part' is above 0 and at most 1. */
struct figure figure_part(double part);

#endif /* FIGURE_H */
