/* SPDX-License-Identifier: MIT */
/* segments_note.c - see segments_note.h */
#include "tools/show/segments_note.h"

#include <stdlib.h>
#include <string.h>

/* Return a number in the header; 0 if there is none. */
static uint64_t
number(const struct hatf_reader *reader, const char *key)
{
	const char *const text = hatf_reader_header(reader, key);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/*
 * Is the trace a segment?  The header of the first segment may not say so,
 * because an order to rotate may come at any time.
 */
static bool
is_segment(const struct hatf_reader *reader)
{
	const char *const end = hatf_reader_trailer(reader, "end");

	return hatf_reader_header(reader, "segment") != NULL ||
	       (end != NULL && strcmp(end, "rotate") == 0);
}

void
segments_note_add(struct segments_note *n, const struct scan *scan)
{
	const struct hatf_reader *const reader = scan->reader;
	const uint64_t pid = number(reader, "pid");
	const uint64_t start_ns = number(reader, "start_monotonic");

	if (n->segment_count == 0 || pid != n->pid || start_ns != n->start_ns)
		n->segment_count = 0;
	if (!is_segment(reader) || pid == 0 ||
	    hatf_reader_header(reader, "snapshot_of") != NULL)
		return;
	n->pid = pid;
	n->start_ns = start_ns;
	n->segment_count++;
	n->lacks_start |= scan_unknown_start(scan) != NULL;
	if (n->segment_count == 2) {
		n->process_count++;
		n->file_count++;
	}
	if (n->segment_count > 1)
		n->file_count++;
}

void
segments_note_print(struct out *o, const struct segments_note *n,
		    const char *advice)
{
	if (n->process_count == 1)
		out_printf(o, "\nnote: %u files are segments of one process",
			   n->file_count);
	else if (n->process_count != 0)
		out_printf(o, "\nnote: %u files are segments of %u processes",
			   n->file_count, n->process_count);
	if (n->process_count != 0)
		out_printf(o, ": %s\n", advice);
}
