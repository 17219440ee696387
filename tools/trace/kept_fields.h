/* SPDX-License-Identifier: MIT */
/*
 * kept_fields.h - which fields a format can store, and which a conversion drops
 */
#ifndef KEPT_FIELDS_H
#define KEPT_FIELDS_H

#include "hatf/hatf.h"

/*
 * Return the name of HATF_KEEPS_ bit number 'bit', such as "old_address".  The
 * string is static.
 */
const char *kept_fields_name(unsigned bit);

/*
 * The fields that occur in the records so far, as HATF_KEEPS_ bits.  Begins as
 * all zeros.
 */
struct kept_fields {
	unsigned occurs;
};

/*
 * Add the fields of 'n' records.  Call this function only if the format drops
 * fields, because the function takes time.
 */
void kept_fields_note(struct kept_fields *k, const struct hatf_record *records,
		      size_t n);

/*
 * Return the bits of the fields that occur and that 'format' does not keep.
 * Leave out the fields that the user asked to remove: 'drop' has HATF_DROP_
 * bits.
 */
unsigned kept_fields_dropped(const struct kept_fields *k,
			     const struct hatf_format *format, unsigned drop);

/*
 * Print a message about the output 'path' if it lacks fields of the source
 * ('dropped' is not 0), or if 'format' keeps only sums.
 */
void kept_fields_report(const char *path, const struct hatf_format *format,
			unsigned dropped);

#endif /* KEPT_FIELDS_H */
