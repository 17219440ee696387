/* SPDX-License-Identifier: MIT */
/* name_hint.c - see name_hint.h */
#include "tools/trace/name_hint.h"

#include <string.h>

const char *
name_hint_find(const struct hatf_reader *reader)
{
	const char *const kind = hatf_reader_header(reader, "heaptrack");

	/*
	 * Give the hint only for a file in heaptrack's own format, because
	 * heaptrack_interpret cannot read a trace that was converted from such
	 * a file.
	 */
	if (strcmp(hatf_reader_format(reader), "heaptrack") != 0 ||
	    kind == NULL || strcmp(kind, "raw") != 0)
		return NULL;
	return "none in a raw file of heaptrack; heaptrack_interpret adds them";
}
