/* SPDX-License-Identifier: MIT */
/*
 * comparison.h - the figures of several traces side by side
 *
 * A row is a group of the census, such as a call site, a module or a thread,
 * under a name that different builds share; a column is a trace.  Memory is
 * O(rows * traces).  Only one thread may use a comparison.
 */
#ifndef COMPARISON_H
#define COMPARISON_H

#include "tools/compare/measures.h"
#include "tools/compare/verdict.h"
#include "tools/summary/gather.h"
#include "tools/summary/groups.h"

/* Maximum number of traces. */
#define COMPARISON_TRACES_MAX 256

/* Size of a buffer for the name of a site or a thread, including the NUL. */
#define COMPARISON_NAME_NBYTES 4096

/* The judgement of one measure of a row. */
struct contrast {
	struct verdict_side old_side, new_side;
	enum verdict verdict;
};

struct comparison_row {
	char *name;	       /* the row's name, escaped */
	struct measured *runs; /* values in each trace, old traces first */
	struct contrast contrasts[MEASURE_COUNT];
	/*
	 * The largest change of any measure, as a share of the whole program's
	 * value of the same measure.
	 */
	double weight;
	/*
	 * 'is_new': no old trace has the row.  'is_gone': no new trace has the
	 * row.
	 */
	bool is_new, is_gone;
};

struct comparison {
	enum group_by by;
	unsigned old_count, new_count, added_count;
	struct comparison_row total;
	struct comparison_row *rows;
	uint32_t count, cap;
	/*
	 * Hash table of the names.  A slot is the number of a row plus 1, or 0
	 * if the slot is free.
	 */
	uint32_t *slots;
	size_t slot_count;
	struct seeded_hash hash;
	bool has_stacks;   /* some trace has call stacks */
	bool lacks_stacks; /* some trace has allocations, but no call stacks */
	/*
	 * If the caller sets this after comparison_init(), threads with the
	 * same name share a row, because a thread may have another number in
	 * each run.
	 */
	bool merges_threads;
};

/*
 * Begin without traces; 'old_count' and 'new_count' are together at most
 * COMPARISON_TRACES_MAX.
 */
void comparison_init(struct comparison *c, enum group_by by, unsigned old_count,
		     unsigned new_count);
void comparison_fini(struct comparison *c);

/*
 * Add a trace.  The caller adds all old traces before the new ones.  Return
 * false if there is no memory.
 */
bool comparison_add(struct comparison *c, const struct gathering *g);

/*
 * Set the values of a row, or of the total if 'name' is NULL, in trace 'run'.
 * 'name' must be escaped.  Return false if there is no memory.
 */
bool comparison_put(struct comparison *c, const char *name, unsigned run,
		    const struct measured *values);

/*
 * Combine the segments of one trace.  The new side of 'c' must consist of all
 * segments of the trace, and the old side must be empty.  Return the values
 * that 'row', which may be &c->total, has in the whole trace: the peak from the
 * segment in which the program has its highest peak, the live bytes from the
 * last segment, and the sums of all other values.
 */
struct measured comparison_combine(const struct comparison *c,
				   const struct comparison_row *row);

/*
 * Add the next trace.  'segments' is a comparison of its segments, as
 * comparison_combine() describes.  Return false if there is no memory.
 */
bool comparison_add_segments(struct comparison *c,
			     const struct comparison *segments);

/*
 * Write to 'buf', which has 'nbytes', the name of the row to which a call stack
 * belongs in a comparison by BY_SITE.  'stack' is the id of a stack that the
 * trace defines.  A name that is too long loses its middle.
 */
void comparison_name_site(const struct gathering *g, uint64_t stack, char *buf,
			  size_t nbytes);

/* Judge all rows, after the last trace.  Return false if no trace was added. */
bool comparison_judge(struct comparison *c,
		      const struct verdict_options *options);

/*
 * Return the numbers of the rows that changed and, if 'all' is set, after these
 * the numbers of the unchanged rows.  If 'key' is MEASURE_COUNT, the row with
 * the largest weight comes first, otherwise the row in which the measure 'key'
 * grew most.  Set '*n_ret' to the length of the array.  The caller frees the
 * array.  Return NULL if there is no memory.
 */
uint32_t *comparison_sort(const struct comparison *c, enum measure key,
			  bool all, uint32_t *n_ret);

/* Has any measure of the row changed? */
bool comparison_has_changed(const struct comparison_row *row);

#endif /* COMPARISON_H */
