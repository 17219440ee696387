/* SPDX-License-Identifier: MIT */
/* json.c - see json.h */
#include "tools/ui/json.h"

#include "tools/ui/escape.h"
#include "tools/ui/message.h"

#include <inttypes.h>
#include <stdlib.h>

json_t *
json_u64(uint64_t n)
{
	return n <= INT64_MAX ? json_integer((json_int_t)n)
			      : json_sprintf("%" PRIu64, n);
}

json_t *
json_text(const char *s)
{
	if (s == NULL)
		return json_null();

	char *const valid = escape_utf8(s);
	json_t *const string = valid != NULL ? json_string(valid) : NULL;

	free(valid);
	return string;
}

json_t *
json_heritage(enum hatf_heritage heritage)
{
	static const char *const words[] = {
		[HATF_HERITAGE_NONE] = "none",
		[HATF_HERITAGE_EXACT] = "exact",
		[HATF_HERITAGE_UNKNOWN] = "unknown",
		[HATF_HERITAGE_INEXACT] = "inexact",
		[HATF_HERITAGE_MISSING] = "missing",
		[HATF_HERITAGE_DAMAGED] = "damaged",
	};

	return json_string(words[heritage]);
}

/*
 * Print JSON text.  Characters that a terminal would interpret become \uHHHH.
 * This is valid, because JSON has such characters only in strings.
 */
static void
print_text(struct out *o, const char *s)
{
	uint32_t c;
	size_t length;

	do {
		const size_t n = escape_find(s, &c, &length);

		out_bytes(o, s, n);
		if (length != 0)
			out_printf(o, "\\u%04" PRIx32, c);
		s += n + length;
	} while (length != 0);
}

bool
json_print(struct out *o, json_t *object, size_t key_count)
{
	char *text = NULL;

	if (json_object_size(object) == key_count)
		text = json_dumps(object,
				  JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(object);
	if (text == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	print_text(o, text);
	out_str(o, "\n");
	free(text);
	return true;
}
