/* SPDX-License-Identifier: MIT */
/*
 * mtrc.h - mpatrol's tracing files: common to source and sink
 *
 * FORMATS "mtrc".  A file has a header, records that begin with a letter, and a
 * trailer.  Only the header depends on word size and byte order of the machine
 * that wrote the file.
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
#define MTRC_HEAP     'H' /* the program's heap got memory from the system */
#define MTRC_INTERNAL 'I' /* mpatrol got memory from the system */

/* Since this version, records have the place and thread of the call. */
#define MTRC_VERSION_SITES 10405
/*
 * The highest version that mptrace accepts: it divides the version by 100, so
 * the last two digits do not matter.
 */
#define MTRC_VERSION_MAX 10599
#define MTRC_VERSION	 10501 /* the version that the sink writes */

/*
 * The byte before a name is 0 for no name, or else its index in the name table,
 * from 1.
 */
#define MTRC_NAME_NEW	0x80 /* the name follows */
#define MTRC_NAME_COUNT 128  /* distinct indices */

/*
 * Keys of the HATF header with which the sink can reproduce the original file.
 */
#define MTRC_KEY_VERSION "mtrc_version"
#define MTRC_KEY_WORD	 "mtrc_word"  /* word size in bits: 32 or 64 */
#define MTRC_KEY_ORDER	 "mtrc_order" /* "big" or "little" */

/* The comment for the records H and I: FORMAT "Notes". */
#define MTRC_SYSTEM_KIND "HATF system\n"

/*
 * The comment before an alloc whose index is not the highest so far plus 1:
 * FORMATS "mtrc".
 */
#define MTRC_INDEX_KIND "HATF mtrc\n"

#endif /* HATF_MTRC_H */
