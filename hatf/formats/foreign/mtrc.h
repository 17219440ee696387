/* SPDX-License-Identifier: MIT */
/*
 * mtrc.h - mpatrol's tracing files: what their source and sink agree on
 *
 * FORMATS "mtrc".  A file is a header, which alone depends on the machine that wrote
 * it, records that begin with a letter, and a trailer.
 */
#ifndef HATF_MTRC_H
#define HATF_MTRC_H

#include "hatf/formats/common/format.h"

#define MTRC_MAGIC	  "MTRC"
#define MTRC_MAGIC_NBYTES 4

/* Letters of records. */
#define MTRC_ALLOC    'A'
#define MTRC_REALLOC  'R'
#define MTRC_FREE     'F'
#define MTRC_HEAP     'H' /* the system gave memory to the program's heap */
#define MTRC_INTERNAL 'I' /* and to mpatrol itself */

/* From this version on records say where the call was and in which thread. */
#define MTRC_VERSION_SITES 10405
/* What mptrace takes: it divides by 100 and lets the last releases differ. */
#define MTRC_VERSION_MAX 10599
#define MTRC_VERSION	 10501 /* that we write */

/* A byte before a name: 0 for none, else its place in the table of names. */
#define MTRC_NAME_NEW	0x80 /* the name follows */
#define MTRC_NAME_COUNT 128  /* that a byte can tell apart */

/* Lines of the header comment, so that a trace can be written as it was. */
#define MTRC_KEY_VERSION "mtrc_version"
#define MTRC_KEY_WORD	 "mtrc_word"  /* bits: 32 or 64 */
#define MTRC_KEY_ORDER	 "mtrc_order" /* "big" or "little" */

/* The comment that H and I become: FORMAT "Notes". */
#define MTRC_SYSTEM_KIND "HATF system\n"

/*
 * The comment in front of an alloc whose index is not one more than the highest so
 * far: FORMATS "mtrc".
 */
#define MTRC_INDEX_KIND "HATF mtrc\n"

#endif /* HATF_MTRC_H */
