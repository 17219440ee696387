/* SPDX-License-Identifier: MIT */
/*
 * xml_plain.h - fast path for plain XML, without an XML parser
 *
 * Almost every document consists of plain records: elements with their fields,
 * in any order and layout, with blanks and comments between them, character
 * references and CDATA sections in their text.  Anything else is left where it
 * is, whether XML or not, for a full XML parser to judge: processing
 * instructions, bytes outside ASCII (their encoding is declared elsewhere),
 * malformed or incomplete elements.
 *
 * Use it only where content of the root element may stand, and only if the
 * document declares no default values of attributes.  One thread uses a 'struct
 * xml_plain'.
 */
#ifndef HATF_XML_PLAIN_H
#define HATF_XML_PLAIN_H

#include "hatf/formats/common/batch.h"
#include "hatf/formats/text/xml.h"

/* Longest text of attributes or a comment that the fast path takes. */
#define XML_PLAIN_TEXT_NBYTES ((size_t)16 * 1024)

/* The bytes to parse.  '*end' must be 0, so that scans need no other bound. */
struct xml_plain {
	uint8_t *next, *end;
	uint64_t line_count; /* newlines passed so far */
};

/* Step over blanks and comments. */
void xml_plain_skip(struct xml_plain *p);

/*
 * Take a record's element, which must begin at 'next'.  Memory that 'rec'
 * points to is in the batch.  Returns false if the element is not plain or not
 * whole, or if memory is short, which marks the batch; 'p' and 'rec' are then
 * invalid.
 */
bool xml_plain_take(struct xml_plain *p, struct batch *b,
		    struct hatf_record *rec);

/*
 * Return the end of the first end tag of a record at or after 'next', or NULL.
 */
const uint8_t *xml_plain_find_end(const uint8_t *next, const uint8_t *end);

/* Return the tag whose element has this name, or -1. */
int xml_plain_tag(const uint8_t *name, size_t nbytes);

#endif /* HATF_XML_PLAIN_H */
