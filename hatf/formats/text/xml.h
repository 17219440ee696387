/* SPDX-License-Identifier: MIT */
/* xml.h - the elements of HATF in XML, for source and sink (FORMATS "xml") */
#ifndef HATF_XML_H
#define HATF_XML_H

#include "hatf/formats/common/format.h"
#include "hatf/formats/common/textio.h"

/* The elements inside a record's element, in the order of hatf.dtd. */
enum xml_field {
	XML_OLD_ADDRESS, /* the first of two <address> elements */
	XML_SIZE,
	XML_ADDRESS,
	XML_TIME,
	XML_THREAD,
	XML_HEAP,
	XML_ATTRIBUTES,
};
#define XML_FIELD_COUNT 7

/*
 * The required fields: if xml_fields() returns one of them for a record's tag,
 * the record must have it.  Other fields may be missing; their value is then 0.
 */
#define XML_REQUIRED \
	(1u << XML_SIZE | 1u << XML_ADDRESS | 1u << XML_OLD_ADDRESS)

/* The names of the elements, by field. */
extern const char *const xml_field_names[XML_FIELD_COUNT];

/*
 * Return the elements that a record of this tag (0 to 10) has, as bits '1 <<
 * field'.
 */
unsigned xml_fields(unsigned tag);

/*
 * Return the field that is an XML attribute of the record's element, because
 * the DTD has no element for this field.  If there is no such field, return
 * XML_FIELD_COUNT.
 */
enum xml_field xml_attribute_field(unsigned tag);

/*
 * Return a pointer to the member of 'rec' that has the value of 'field'.  The
 * field must not be XML_ATTRIBUTES.
 */
static inline uint64_t *
xml_number(struct hatf_record *rec, enum xml_field field)
{
	switch (field) {
	case XML_SIZE:
		return &rec->size;
	case XML_OLD_ADDRESS:
		return &rec->old_address;
	case XML_ADDRESS:
		return &rec->address;
	case XML_TIME:
		return &rec->time;
	case XML_THREAD:
		return &rec->thread;
	default:
		return &rec->heap;
	}
}

#endif /* HATF_XML_H */
