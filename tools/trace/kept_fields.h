/* SPDX-License-Identifier: MIT */
/*
 * kept_fields.h - what of a trace a format keeps, and what a conversion has dropped
 */
#ifndef KEPT_FIELDS_H
#define KEPT_FIELDS_H

#include "hatf/hatf.h"

/* One word for a HATF_KEEPS_ bit, by its number: "old_address". */
const char *kept_fields_name(unsigned bit);

/* What of HATF_KEEPS_ occurs in the records seen so far; all 0 at first. */
struct kept_fields {
	unsigned occurs;
};

/* Look at records.  It is worth the time only for formats that drop something. */
void kept_fields_note(struct kept_fields *k, const struct hatf_record *records,
		      size_t n);

/*
 * What occurs and 'format' does not keep, but for what 'drop' (HATF_DROP_ bits) takes
 * out anyway.
 */
unsigned kept_fields_dropped(const struct kept_fields *k,
			     const struct hatf_format *format, unsigned drop);

/* Say that 'dropped', if anything, is missing in 'path', or that it has sums only. */
void kept_fields_report(const char *path, const struct hatf_format *format,
			unsigned dropped);

#endif /* KEPT_FIELDS_H */
