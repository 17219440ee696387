/* SPDX-License-Identifier: MIT */
/*
 * xml_plain.h - fast path for plain XML, without an XML parser
 *
 * Almost every document consists of plain records.  A plain record is an
 * element with its fields, in any order and layout.  It may have blanks and
 * comments between the fields, character references in the text of the fields,
 * and CDATA sections in numbers.  Everything else, valid or not, is left to a
 * full XML parser: nearly all CDATA sections in attributes and comments,
 * processing instructions, bytes outside ASCII (the fast path does not know the
 * encoding), malformed or incomplete elements.
 *
 * Use the fast path only inside the root element and outside the records, and
 * only if the document declares no default values of attributes.  Only one
 * thread may use a 'struct xml_plain'.
 */
#ifndef HATF_XML_PLAIN_H
#define HATF_XML_PLAIN_H

#include "hatf/formats/common/batch.h"
#include "hatf/formats/text/xml.h"

/* The longest text of attributes or of a comment that the fast path accepts. */
#define XML_PLAIN_TEXT_NBYTES ((size_t)16 * 1024)

/* The bytes to parse.  '*end' must be 0, so that scans stop there. */
struct xml_plain {
	uint8_t *next, *end;
	uint64_t line_count; /* how many newlines were passed so far */
};

/* Skip blanks and comments. */
void xml_plain_skip(struct xml_plain *p);

/*
 * Parse a record's element, which must begin at 'next'.  Memory to which 'rec'
 * points is in the batch.  Return false if the element is not plain or not
 * complete, or if memory runs out (the batch then records the failure).  If the
 * result is false, 'p' and 'rec' are invalid.
 */
bool xml_plain_take(struct xml_plain *p, struct batch *b,
		    struct hatf_record *rec);

/*
 * Find the first end tag of a record at or after 'next'.  Return the position
 * after this tag; NULL if there is none.
 */
const uint8_t *xml_plain_find_end(const uint8_t *next, const uint8_t *end);

/* Return the tag whose element has this name, or -1. */
int xml_plain_tag(const uint8_t *name, size_t nbytes);

#endif /* HATF_XML_PLAIN_H */
