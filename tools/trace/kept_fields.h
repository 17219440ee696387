/* SPDX-License-Identifier: MIT */
/* kept_fields.h - which fields a format keeps and which a conversion drops */
#ifndef KEPT_FIELDS_H
#define KEPT_FIELDS_H

#include "hatf/hatf.h"

/* The name of HATF_KEEPS_ bit number 'bit': "old_address".  Static. */
const char *kept_fields_name(unsigned bit);

/*
 * The HATF_KEEPS_ bits of the fields that the records so far have.
 * Zero-initialise.
 */
struct kept_fields {
	unsigned occurs;
};

/*
 * Add the fields of 'n' records.  Call it only for formats that drop fields: it
 * takes time.
 */
void kept_fields_note(struct kept_fields *k, const struct hatf_record *records,
		      size_t n);

/*
 * Return the bits of the fields that occur and that 'format' does not keep,
 * without the fields that 'drop' (HATF_DROP_ bits) removes on request.
 */
unsigned kept_fields_dropped(const struct kept_fields *k,
			     const struct hatf_format *format, unsigned drop);

/*
 * Print a message if fields were dropped from 'path' ('dropped' is not 0), or
 * if 'format' keeps only sums.
 */
void kept_fields_report(const char *path, const struct hatf_format *format,
			unsigned dropped);

#endif /* KEPT_FIELDS_H */
