/* SPDX-License-Identifier: MIT */
/*
 * xml_plain.h - records out of plain XML, without a parser of XML
 *
 * What almost every document is made of: elements of records with their fields, in
 * any order and layout, with blanks and comments between them, references to
 * characters and CDATA sections in their text.  Whatever is not exactly that, be it
 * XML or not, is left where it is, for a parser that knows all of XML to judge: no
 * processing instructions, no characters beyond ASCII (their encoding is said
 * elsewhere), nothing malformed or missing.
 *
 * To be used only where content of the root may stand, and not if the document
 * gives attributes default values.
 */
#ifndef HATF_XML_PLAIN_H
#define HATF_XML_PLAIN_H

#include "hatf/formats/common/batch.h"
#include "hatf/formats/text/xml.h"

/* The longest text of attributes or a comment that is taken. */
#define XML_PLAIN_TEXT_NBYTES ((size_t)16 * 1024)

/* Bytes that are there; '*end' is 0, so that no scan needs another guard. */
struct xml_plain {
	uint8_t *next, *end;
	uint64_t line_count; /* newlines that have been passed */
};

/* Step over blanks and comments. */
void xml_plain_skip(struct xml_plain *p);

/*
 * Take the element of a record, which must begin at 'next'; what 'rec' points to is in
 * the batch.  False if it is not plain, not whole or not to be had for want of
 * memory, which the batch knows: then 'p' and 'rec' mean nothing.
 */
bool xml_plain_take(struct xml_plain *p, struct batch *b,
		    struct hatf_record *rec);

/* The end of the first end tag of a record at or behind 'next'; NULL: none. */
const uint8_t *xml_plain_find_end(const uint8_t *next, const uint8_t *end);

/* The tag whose element has this name, or -1. */
int xml_plain_tag(const uint8_t *name, size_t nbytes);

#endif /* HATF_XML_PLAIN_H */
