/* SPDX-License-Identifier: MIT */
/*
 * show.h - parts of the output that several commands share
 *
 * Colours are used if standard output is a terminal, unless NO_COLOR is set to
 * a text that is not empty, or TERM is unset or "dumb".  On a terminal, the
 * middle of a name is omitted if its line would not fit; elsewhere names are
 * complete.
 */
#ifndef SHOW_H
#define SHOW_H

#include "tools/show/ages.h"
#include "tools/summary/gather.h"
#include "tools/summary/groups.h"
#include "tools/ui/figure.h"
#include "tools/ui/json.h"
#include "tools/ui/out.h"

/* Write a heading, in bold. */
void show_heading(struct out *o, const char *text);

/* Write a warning, in red. */
void show_warning(struct out *o, const char *text);

/*
 * Find out how to cut the middle out of a name that is longer than 'fits'
 * bytes.  'fits' must be at least 20.  Store in '*head_ret' the number of bytes
 * to keep at the beginning of the name, and in '*tail_ret' the offset of the
 * bytes to keep at the end.  Return false if the name fits.
 */
bool show_cut(const char *name, size_t fits, size_t *head_ret,
	      size_t *tail_ret);

/*
 * Write a name that is escaped already.  'used' is the number of columns before
 * the name in its line.
 */
void show_name(struct out *o, const char *name, unsigned used);

/*
 * Like show_name().  If 'caller' is not NULL, also write the caller: "name <
 * caller", or "name <.. caller" if 'is_direct' is false.
 */
void show_called(struct out *o, const char *name, const char *caller,
		 bool is_direct, unsigned used);

/*
 * Write values as bars from 0 to 'max', one column each.  Without a UTF-8
 * locale, the bars are digits from 0 to 9.
 */
void show_bars(struct out *o, const uint64_t *values, size_t count,
	       uint64_t max);

/* Format 'part' as a percentage of 'whole', which may be 0: "31 %", "0.4 %". */
struct figure show_part(uint64_t part, uint64_t whole);

/*
 * Format a moment of the trace as the time since the first event or, if the
 * trace has no times, as a number of events.
 */
struct figure show_moment(const struct census *c, const struct moment *m);

/*
 * Format a distance between two moments on the census's axis ('axis_start' in
 * census.h).
 */
struct figure show_distance(const struct census *c, uint64_t distance);

/*
 * Print the ages of some blocks: "age 1.3 s to 4.2 s", or in events if the
 * trace has no times.  With 'has_median', also print the median if there are
 * several blocks.  If a block is older than the trace, print "more than" before
 * its age, because this age is only a lower bound (ages.h).  If all blocks are
 * older, and the bound is 0, print "unknown".
 */
void show_ages(struct out *o, const struct census *c, const struct ages *ages,
	       bool has_median);

/* Return a moment as a JSON object; NULL if there is no memory. */
json_t *show_json_moment(const struct census *c, const struct moment *m);
json_t *show_json_amount(const struct amount *a);
json_t *show_json_account(const struct census *c, const struct account *a);
json_t *show_json_age(const struct census *c, const struct age *age);

/*
 * Convert 'units' of the trace's time to nanoseconds, as a JSON number.  If the
 * trace has no times, return JSON's null.
 */
json_t *show_json_ns(const struct census *c, uint64_t units);

/*
 * Return the longest tick of a coarse clock, in nanoseconds.  If the trace has
 * no such clock, return JSON's null.
 */
json_t *show_json_tick(const struct census *c);

/*
 * The health of a trace: the reasons why its figures may be wrong or
 * incomplete.  show_health() prints a line that says whether the trace is
 * complete, and a line for each other reason.  show_json_health() returns an
 * object.
 */
void show_health(struct out *o, const struct gathering *g);
json_t *show_json_health(const struct gathering *g);

/* Return an array of the names that site_names_walk() finds for a stack. */
json_t *show_json_frames(struct site_names *names, uint64_t stack);

/*
 * Print each reason to doubt the figures, on a line that begins with 'prefix'.
 * Unlike show_health(), do not print whether the trace is complete.  Print
 * nothing if there is no reason.
 */
void show_doubts(struct out *o, const struct gathering *g, const char *prefix);

/*
 * If the trace began after its process had begun, print that the trace lacks
 * earlier blocks, on a line that begins with 'prefix'.  Print nothing if
 * show_doubts() prints this.
 */
void show_late_start(struct out *o, const struct gathering *g,
		     const char *prefix);

/*
 * Return a static string that says why the live bytes may be wrong although the
 * trace is complete.  Return NULL if there is no reason.
 */
const char *show_doubt(const struct gathering *g);

/*
 * If the trace has no call stacks, or no names of functions, return a static
 * text that says why, or how to get them.  Return NULL if the trace has both,
 * or if it is a snapshot without blocks.
 */
const char *show_advice(const struct gathering *g);

#endif /* SHOW_H */
