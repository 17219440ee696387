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
 * Begin with a base, which is the text of a DTD that has a section "heap".  The
 * text must outlive the returned object.  Return NULL if there is no memory.
 */
struct event_dtds *event_dtds_open(const char *text);
void event_dtds_close(struct event_dtds *d);

/*
 * Take a comment.  If it contains the next part of a DTD within the limits,
 * keep that part.  Return false if there is no memory.
 */
bool event_dtds_note(struct event_dtds *d, const char *comment, size_t nbytes);

/*
 * If the whole DTD of the event DTD.RECORD has arrived, return the text of the
 * base, extended by this DTD and by the accepted DTDs.  The text is valid until
 * the next call.  Return NULL if the DTD has not completely arrived, if an
 * earlier call has already tried this DTD, if the DTD is invalid, or if there
 * is no memory.  A caller that uses the text calls event_dtds_accept(), which
 * keeps the text valid until the caller accepts another text.
 */
const char *event_dtds_extend(struct event_dtds *d, const char *event_name);
void event_dtds_accept(struct event_dtds *d);

#endif /* HATF_EVENT_DTDS_H */
