/* SPDX-License-Identifier: MIT */
/*
 * event_dtds.h - a DTD of HATF's records, extended by the records of the
 * program's DTDs
 *
 * A trace contains the DTDs of the program's events in comments (FORMAT "Events
 * of the program").  This module collects these DTDs and adds the records that
 * they define to the DTD of the Meta-TF trace, as event_text.h describes.  Each
 * field keeps its width, but a number takes at least 1 byte.  A number that the
 * program's DTD stores as 'baseOffset' or 'delta' gets the interpretation
 * 'baseOffset 0'.  Every other field gets the interpretation 'none'.
 *
 * The trace is untrusted, so the number and the size of DTDs are limited; the
 * events of a DTD beyond the limits stay comments.
 */
#ifndef HATF_EVENT_DTDS_H
#define HATF_EVENT_DTDS_H

#include <stdbool.h>
#include <stddef.h>

struct event_dtds;

/*
 * 'text' is the base: the text of a DTD that has a section "heap".  It must
 * outlive the returned object.  Return NULL if there is no memory.
 */
struct event_dtds *event_dtds_open(const char *text);
void event_dtds_close(struct event_dtds *d);

/*
 * Take a comment.  If it contains the next part of a DTD within the limits,
 * keep that part.  Return false if there is no memory.
 */
bool event_dtds_note(struct event_dtds *d, const char *comment, size_t nbytes);

/*
 * 'event_name' has the form DTD.RECORD.  If all parts of this DTD have arrived,
 * return the text of the base, extended by the accepted DTDs and by this DTD.
 * The text is valid until the next call of event_dtds_extend().  If the caller
 * calls event_dtds_accept() before that, the DTD is accepted, and the text
 * stays valid until the caller accepts another text.
 *
 * Return NULL in these cases: a part of the DTD is missing, an earlier call has
 * already tried this DTD, the DTD is invalid, or there is no memory.
 */
const char *event_dtds_extend(struct event_dtds *d, const char *event_name);
void event_dtds_accept(struct event_dtds *d);

#endif /* HATF_EVENT_DTDS_H */
