/* SPDX-License-Identifier: MIT */
/*
 * mtrc.h - mpatrol's tracing files: what source and sink share
 *
 * A file has a header, records that begin with a letter, and a trailer (FORMATS
 * "mtrc").  Only the header depends on the word size and the byte order of the
 * machine that wrote the file.
 */
#ifndef HATF_MTRC_H
#define HATF_MTRC_H

#include "hatf/formats/common/format.h"

#define MTRC_MAGIC	  "MTRC"
#define MTRC_MAGIC_NBYTES 4

/* The letter with which each kind of record begins. */
#define MTRC_ALLOC    'A'
#define MTRC_REALLOC  'R'
#define MTRC_FREE     'F'
#define MTRC_HEAP     'H' /* the program's heap got memory from the system */
#define MTRC_INTERNAL 'I' /* mpatrol got memory from the system */

/*
 * From this version on, records have the place (function, file, line) and
 * thread of the call.
 */
#define MTRC_VERSION_SITES 10405
/*
 * The highest version that mptrace accepts.  mptrace divides the version by
 * 100, and so ignores the last two digits.
 */
#define MTRC_VERSION_MAX 10599
#define MTRC_VERSION	 10501 /* the version that the sink writes */

/*
 * Each name field begins with a byte.  This byte is 0 if there is no name.
 * Otherwise its low 7 bits are the index of the name in the name table, from 1.
 */
#define MTRC_NAME_NEW 0x80 /* set if the name itself follows */
/* number of entries of the name table; entry 0 is unused */
#define MTRC_NAME_COUNT 128

/* Keys of the HATF header that let the sink reproduce the original file. */
#define MTRC_KEY_VERSION "mtrc_version"
#define MTRC_KEY_WORD	 "mtrc_word"  /* word size in bits: 32 or 64 */
#define MTRC_KEY_ORDER	 "mtrc_order" /* byte order: "big" or "little" */

/*
 * First line of the comment that stands for a record H or I (FORMAT "Notes").
 */
#define MTRC_SYSTEM_KIND "HATF system\n"

/*
 * First line of a comment that gives the allocation index of the next alloc,
 * which is the number that mpatrol gave to the block.  There is such a comment
 * only if the index is not the highest so far plus 1 (FORMATS "mtrc").
 */
#define MTRC_INDEX_KIND "HATF mtrc\n"

#endif /* HATF_MTRC_H */
