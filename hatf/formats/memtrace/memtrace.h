/* SPDX-License-Identifier: MIT */
/*
 * memtrace.h - constants of OCaml's Memtrace traces (FORMATS "memtrace")
 *
 * A trace is a sequence of packets, each with a header and the events of one
 * domain (an OCaml thread of execution).  All numbers are little-endian.
 */
#ifndef HATF_MEMTRACE_H
#define HATF_MEMTRACE_H

#include "hatf/codec/bytes.h"

#define MEMTRACE_MAGIC	     0xc1fc1fc1u
#define MEMTRACE_VERSION_MAX 3

/*
 * The line of a HATF header with this key has the version of the Memtrace file
 * from which the trace was converted.
 */
#define MEMTRACE_KEY_VERSION "memtrace_version"

/*
 * Size in bytes of a packet's header.  From version 3 on, the header also
 * contains the domain.
 */
#define MEMTRACE_HEADER_NBYTES	      66
#define MEMTRACE_HEADER_DOMAIN_NBYTES 68

/*
 * In the header of an event, the low bits are the time of the event, and the
 * bits above them are the type.
 */
#define MEMTRACE_TIME_BITS 25
#define MEMTRACE_TIME_MASK (((uint32_t)1 << MEMTRACE_TIME_BITS) - 1)

enum memtrace_event {
	MEMTRACE_INFO = 0,
	MEMTRACE_LOCATION = 1,
	MEMTRACE_ALLOC = 2,
	MEMTRACE_PROMOTE = 3,
	MEMTRACE_COLLECT = 4,
	/* MEMTRACE_SHORT_ALLOC + n: an allocation of n words (1 to 16) */
	MEMTRACE_SHORT_ALLOC = 100,
};
#define MEMTRACE_SHORT_MAX 16

/*
 * The part of OCaml's memory in which a block is allocated.  The number of this
 * part is the field 'heap' of a HATF record.
 */
enum memtrace_area {
	MEMTRACE_MINOR = 0,
	MEMTRACE_MAJOR = 1,
	MEMTRACE_EXTERNAL = 2,
};

/*
 * Maximum number of names in a move-to-front table.  This number is also the
 * code for a name that is not in the table.
 */
#define MEMTRACE_TABLE_COUNT 31

/*
 * The first byte of a number that takes more than one byte.  It says whether 2,
 * 4 or 8 bytes follow.
 */
enum {
	MEMTRACE_VINT16 = 253,
	MEMTRACE_VINT32 = 254,
	MEMTRACE_VINT64 = 255,
};

/*
 * A frame of a backtrace is stored as the number of a cache bucket and one of
 * these tags.  A tag MEMTRACE_HIT_ says how many predicted frames follow: none,
 * one, or the number in the next byte.  After MEMTRACE_MISS comes the location
 * code of the frame.
 */
#define MEMTRACE_BUCKET_COUNT 16384
enum {
	MEMTRACE_HIT_0 = 0,
	MEMTRACE_HIT_1 = 1,
	MEMTRACE_HIT_N = 2,
	MEMTRACE_MISS = 3,
};

#endif /* HATF_MEMTRACE_H */
