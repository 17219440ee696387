/* SPDX-License-Identifier: MIT */
/* page_json.c - see page_json.h */
#include "tools/report/page_json.h"

#include "tools/ui/escape.h"

#include <stdlib.h>

static void
put_char(struct out *o, unsigned char c)
{
	if (c == '"' || c == '\\')
		out_printf(o, "\\%c", c);
	else if (c < ' ' || c == 0x7f || c == '<')
		out_printf(o, "\\u%04x", c);
	else
		out_bytes(o, (const char *)&c, 1);
}

void
page_put_text(struct out *o, const char *text)
{
	char *const valid = escape_utf8(text);

	out_str(o, "\"");
	/* If there is no memory, write an empty string. */
	for (const char *p = valid; p != NULL && *p != '\0'; p++)
		put_char(o, (unsigned char)*p);
	out_str(o, "\"");
	free(valid);
}

uint64_t
page_text_nbytes(const char *text)
{
	uint64_t nbytes = 3;

	/* 6 bytes suffice for an invalid byte: it becomes the 5 bytes \\xHH. */
	for (const char *p = text; *p != '\0'; p++) {
		const unsigned char c = (unsigned char)*p;

		nbytes += c < ' ' || c == '<' || c >= 0x7f ? 6 : 1;
		if (c == '"' || c == '\\')
			nbytes++;
	}
	return nbytes;
}

void
page_put_key(struct out *o, bool first, const char *key)
{
	out_str(o, first ? "\"" : ",\"");
	out_str(o, key);
	out_str(o, "\":");
}

void
page_put_u64(struct out *o, const char *key, uint64_t n)
{
	page_put_key(o, false, key);
	out_u64(o, n);
}

void
page_put_named(struct out *o, const char *key, const char *text)
{
	page_put_key(o, false, key);
	page_put_text(o, text);
}

void
page_put_column(struct out *o, const char *key, const uint32_t *values,
		uint32_t count)
{
	page_put_key(o, false, key);
	out_str(o, "[");
	for (uint32_t i = 0; i < count; i++) {
		if (i != 0)
			out_str(o, ",");
		if (values[i] == PAGE_NONE)
			out_str(o, "-1");
		else
			out_u64(o, values[i]);
	}
	out_str(o, "]");
}

void
page_put_time(struct out *o, const struct census *c, uint64_t distance)
{
	const uint64_t unit = c->has_times ? c->unit_ns : 1000;
	uint64_t ns;

	if (distance == UINT64_MAX) {
		out_str(o, "-1");
		return;
	}
	/*
	 * A time of more than 584 years does not fit into 64 bits of
	 * nanoseconds, so write the largest one that fits.
	 */
	if (__builtin_mul_overflow(distance, unit, &ns))
		ns = UINT64_MAX;
	out_u64(o, ns / 1000);
	if (ns % 1000 != 0)
		out_printf(o, ".%03u", (unsigned)(ns % 1000));
}
