/* SPDX-License-Identifier: MIT */
/*
 * technique.h - ways to place metadata, by name
 *
 * A technique defines, for each field, which interpretations the field may
 * have, and which widths under each interpretation.  optimum.h finds the best
 * metadata within these bounds.  So if technique B allows everything that A
 * allows, B never gives a longer stream than A (before compression).
 *
 *   literal          as naive, but addresses are plain numbers, 8 bytes where
 *                    necessary
 *   naive            size and address: 4 bytes, or 8 where a value does not
 *                    fit; address also as an offset from the base that is near
 *                    most addresses; other fields: one state for the whole
 *                    block
 *   small-size       size: narrower where this saves bytes
 *   same-size        size: default for runs of equal sizes
 *   combined-size    small-size and same-size
 *   base-offset-1    address: also 1-byte offsets, and other bases
 *   base-offset-2    address: also 2-byte offsets, and other bases
 *   best-base-offset base-offset-1 and base-offset-2
 *   stride           address: stride for regular runs
 *   best             all of the above
 *   optimum          every field: everything that HATF 1.0 has
 *
 * The techniques from "literal" to "best" are those of the paper's section 3.3,
 * each with the best metadata that it allows.  For a field that a technique
 * does not mention, the rules of "naive" hold.
 */
#ifndef HATF_TECHNIQUE_H
#define HATF_TECHNIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits that stand for widths. */
enum {
	TECHNIQUE_WIDTH_0 = 1 << 0,
	TECHNIQUE_WIDTH_1 = 1 << 1,
	TECHNIQUE_WIDTH_2 = 1 << 2,
	TECHNIQUE_WIDTH_4 = 1 << 3,
	TECHNIQUE_WIDTH_8 = 1 << 4,
	TECHNIQUE_WIDTH_ALL = 31,
};

/* The states that a technique allows for a number field. */
struct technique_field {
	/* the widths allowed under each interpretation, as bits */
	uint8_t none, base_offset, delta;
	bool default_value, stride;
	/* true: any base; false: only the base that is near most values */
	bool any_base;
	/*
	 * If true, allow only one state for the whole block, and ignore the
	 * members above.  The state is default if all values are equal, else
	 * none or delta, with the smallest width.
	 */
	bool constant;
};

struct technique {
	const char *name;
	/* 'other' is for time, thread and heap */
	struct technique_field size, address, other;
	/*
	 * true: attributes may have any width at any record; false: they have
	 * one width for the whole block
	 */
	bool any_attributes;
};

/*
 * The name of the placement for which hatf_writer tries several techniques for
 * each block (formats/ours/trial.h).  technique_find() does not know this name.
 */
#define TECHNIQUE_SMALLEST "smallest"

/*
 * Return a technique by name; NULL if there is none.  The comment at
 * hatf_writer_placement() lists the names, and also "online" and "smallest",
 * which are not techniques.
 */
const struct technique *technique_find(const char *name);

#endif /* HATF_TECHNIQUE_H */
