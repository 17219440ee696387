/* SPDX-License-Identifier: MIT */
/*
 * xml_sink.c - write records as HATF in XML (FORMATS "xml")
 *
 * Each record is one line.  Its constant parts are copied from literals, whose
 * lengths the compiler knows.
 */
#include "hatf/formats/text/xml.h"

#define ALL_TAIL (1u << XML_TIME | 1u << XML_THREAD | 1u << XML_HEAP)

const char *const xml_field_names[XML_FIELD_COUNT] = {
	"address", "size", "address", "time", "thread", "heap", "attributes",
};

unsigned
xml_fields(unsigned tag)
{
	const unsigned always = 1u << XML_ATTRIBUTES;

	switch (tag) {
	case HATF_ALLOC:
		return always | ALL_TAIL | 1u << XML_SIZE | 1u << XML_ADDRESS;
	case HATF_FREE:
		return always | ALL_TAIL | 1u << XML_ADDRESS;
	case HATF_CREATE_HEAP:
	case HATF_DESTROY_HEAP:
		return always | 1u << XML_THREAD | 1u << XML_HEAP;
	case HATF_CREATE_THREAD:
	case HATF_DESTROY_THREAD:
		return always | 1u << XML_THREAD;
	case HATF_COMMENT:
		return always;
	default:
		return always | ALL_TAIL | 1u << XML_OLD_ADDRESS |
		       1u << XML_ADDRESS;
	}
}

enum xml_field
xml_attribute_field(unsigned tag)
{
	if (tag >= HATF_REALLOC_NO_ALLOC && tag <= HATF_REALLOC_FREE)
		return XML_SIZE;
	return tag >= HATF_CREATE_HEAP && tag <= HATF_DESTROY_THREAD
		       ? XML_TIME
		       : XML_FIELD_COUNT;
}

/* A record has at most this many bytes, plus the text of its attributes. */
#define RECORD_NBYTES 512

#define PUT(p, literal) textio_put_bytes(p, literal, sizeof(literal) - 1)

static uint8_t *
put_address(uint8_t *p, uint64_t address)
{
	p = PUT(p, "<address>");
	p = textio_put_hex(p, address);
	return PUT(p, "</address>");
}

/*
 * Put the start tag, such as "<alloc>", with the XML attribute that it may
 * have.
 */
static uint8_t *
put_start(uint8_t *p, const struct hatf_record *rec, const char *name,
	  size_t name_nbytes)
{
	const enum xml_field attribute = xml_attribute_field(rec->tag);
	const uint64_t value = attribute == XML_SIZE ? rec->size : rec->time;

	*p++ = '<';
	p = textio_put_bytes(p, name, name_nbytes);
	if (attribute != XML_FIELD_COUNT && value != 0) {
		p = attribute == XML_SIZE ? PUT(p, " size=\"")
					  : PUT(p, " time=\"");
		p = textio_put_u64(p, value);
		*p++ = '"';
	}
	*p++ = '>';
	return p;
}

/* Put all elements that come before the attributes. */
static uint8_t *
put_fields(uint8_t *p, const struct hatf_record *rec)
{
	const unsigned fields = xml_fields(rec->tag);

	if (fields & 1u << XML_SIZE) {
		p = PUT(p, "<size>");
		p = textio_put_u64(p, rec->size);
		p = PUT(p, "</size>");
	}
	if (fields & 1u << XML_OLD_ADDRESS)
		p = put_address(p, rec->old_address);
	if (fields & 1u << XML_ADDRESS)
		p = put_address(p, rec->address);
	if (fields & 1u << XML_TIME) {
		p = PUT(p, "<time>");
		p = textio_put_u64(p, rec->time);
		p = PUT(p, "</time>");
	}
	if (fields & 1u << XML_THREAD) {
		p = PUT(p, "<thread>");
		p = textio_put_u64(p, rec->thread);
		p = PUT(p, "</thread>");
	}
	if (fields & 1u << XML_HEAP) {
		p = PUT(p, "<heap>");
		p = textio_put_u64(p, rec->heap);
		p = PUT(p, "</heap>");
	}
	return p;
}

/*
 * Return the length of the longest prefix that needs no escape.  If the result
 * is 0, the first byte must become \xHH or an entity.
 */
static size_t
plain_nbytes(const uint8_t *s, size_t nbytes)
{
	/* XML forbids U+FFFE and U+FFFF, whose UTF-8 begins like this. */
	static const uint8_t none[] = { 0xef, 0xbf };
	size_t n = 0;

	while (n < nbytes) {
		const uint8_t c = s[n];
		const size_t length =
			c < 0x80 ? 1 : textio_utf8(s + n, nbytes - n);

		if (length == 0 ||
		    textio_is_terminal_control(
			    textio_code_point(s + n, length)) ||
		    c == '\\' || c == '<' || c == '>' || c == '&' ||
		    (length == 3 && memcmp(s + n, none, 2) == 0 &&
		     s[n + 2] >= 0xbe))
			break;
		n += length;
	}
	return n;
}

/*
 * Put the text of a comment.  Write backslashes, bytes that XML cannot contain,
 * and characters that control a terminal as \xHH, as csv.c does.
 */
static void
put_text(struct outfile *o, const uint8_t *s, size_t nbytes)
{
	static const char digits[] = "0123456789abcdef";

	while (nbytes > 0) {
		size_t n = plain_nbytes(s, nbytes);

		if (n != 0) {
			outfile_bytes(o, s, n);
		} else if (*s == '<' || *s == '>' || *s == '&') {
			const char *const entity = *s == '<'   ? "&lt;"
						   : *s == '>' ? "&gt;"
							       : "&amp;";

			outfile_bytes(o, entity, strlen(entity));
			n = 1;
		} else {
			const char escape[] = { '\\', 'x', digits[*s >> 4],
						digits[*s & 15] };

			outfile_bytes(o, escape, sizeof(escape));
			n = 1;
		}
		s += n;
		nbytes -= n;
	}
}

static void
put_record(struct sink *s, const struct hatf_record *rec)
{
	struct outfile *const o = &s->out;
	const char *const name = hatf_tag_name(rec->tag);
	const size_t name_nbytes = strlen(name);
	uint8_t *start = outfile_room(o, RECORD_NBYTES);
	uint8_t *p = put_start(start, rec, name, name_nbytes);

	p = put_fields(p, rec);
	p = PUT(p, "<attributes>");
	if (rec->attributes_nbytes != 0) {
		outfile_advance(o, (size_t)(p - start));
		if (rec->tag == HATF_COMMENT)
			put_text(o, rec->attributes, rec->attributes_nbytes);
		else
			textio_write_hex(o, rec->attributes,
					 rec->attributes_nbytes);
		p = start = outfile_room(o, RECORD_NBYTES);
	}
	p = PUT(p, "</attributes></");
	p = textio_put_bytes(p, name, name_nbytes);
	p = PUT(p, ">\n");
	outfile_advance(o, (size_t)(p - start));
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_record(s, &records[i]);
	return HATF_OK;
}

static enum hatf_status
open_sink(struct sink *s)
{
	static const char start[] =
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<!DOCTYPE hatf SYSTEM \"hatf.dtd\">\n<hatf>\n";

	outfile_bytes(&s->out, start, sizeof(start) - 1);
	return HATF_OK;
}

static enum hatf_status
finish_sink(struct sink *s)
{
	static const char end[] = "</hatf>\n";

	outfile_bytes(&s->out, end, sizeof(end) - 1);
	return HATF_OK;
}

const struct sink_ops xml_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish_sink,
};
