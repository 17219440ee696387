/* SPDX-License-Identifier: MIT */
/*
 * technique.h - ways to place metadata, by name
 *
 * A technique is what a field may do: the interpretations it may have and the
 * widths under each.  'optimum.h' finds the best that can be done within it, so
 * that a technique which allows all that another one does is never larger.
 *
 *   literal          as naive, and addresses are plain numbers, of 8 bytes where
 *                    they need that
 *   naive            a width for all of the block, wider only where a value
 *                    does not fit: 4 bytes for size and address, the latter
 *                    also as an offset to the base that most are near
 *   small-size       size: narrower where that pays
 *   same-size        size: default for runs of the same
 *   combined-size    both
 *   base-offset-1    address: also 1-byte offsets, and other bases
 *   base-offset-2    address: also 2-byte offsets, and other bases
 *   best-base-offset both
 *   stride           address: stride for regular runs
 *   best             all of the above
 *   optimum          every field: everything that HATF 1.0 has
 *
 * Up to "best" these are those of the paper's section 3.3, each at its best; a
 * field that a technique does not name is placed as by "naive".
 */
#ifndef HATF_TECHNIQUE_H
#define HATF_TECHNIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Widths as bits. */
enum {
	WIDTHS_0 = 1 << 0,
	WIDTHS_1 = 1 << 1,
	WIDTHS_2 = 1 << 2,
	WIDTHS_4 = 1 << 3,
	WIDTHS_8 = 1 << 4,
	WIDTHS_ALL = 31,
};

/* What a number field may do. */
struct technique_field {
	uint8_t none, base_offset, delta; /* widths */
	bool default_value, stride;
	bool any_base; /* else the one that is nearest to most values */
	/* One state for all of a block, the narrowest there is: no widths. */
	bool constant;
};

struct technique {
	const char *name;
	struct technique_field size, address, other; /* time, thread, heap */
	bool any_attributes; /* else one width for all of a block */
};

/* No technique, but a choice of some for each block: trial.h. */
#define TECHNIQUE_SMALLEST "smallest"

/* By name; NULL if there is none.  hatf_placement_name() lists them. */
const struct technique *technique_find(const char *name);

#endif /* HATF_TECHNIQUE_H */
