/* SPDX-License-Identifier: MIT */
/*
 * memtrace.h - what is in the traces of OCaml's Memtrace (FORMATS "memtrace")
 *
 * A trace is a sequence of packets, each with a header and the events of one domain.
 * All numbers are little-endian.
 */
#ifndef HATF_MEMTRACE_H
#define HATF_MEMTRACE_H

#include "hatf/codec/bytes.h"

#define MEMTRACE_MAGIC	     0xc1fc1fc1u
#define MEMTRACE_VERSION_MAX 3

/* A line of the header comment, so that a trace can be written as it was. */
#define MEMTRACE_KEY_VERSION "memtrace_version"

/* A packet's header before version 3, and from then on, when it has a domain. */
#define MEMTRACE_HEADER_NBYTES	      66
#define MEMTRACE_HEADER_DOMAIN_NBYTES 68

/* The low bits of a time that an event has, above them is what it is. */
#define MEMTRACE_TIME_BITS 25
#define MEMTRACE_TIME_MASK (((uint32_t)1 << MEMTRACE_TIME_BITS) - 1)

enum memtrace_event {
	MEMTRACE_INFO = 0,
	MEMTRACE_LOCATION = 1,
	MEMTRACE_ALLOC = 2,
	MEMTRACE_PROMOTE = 3,
	MEMTRACE_COLLECT = 4,
	/* And 1 to 16: an alloc of so many words. */
	MEMTRACE_SHORT_ALLOC = 100,
};
#define MEMTRACE_SHORT_MAX 16

/* Where a block is allocated: the heaps that records have. */
enum memtrace_place {
	MEMTRACE_MINOR = 0,
	MEMTRACE_MAJOR = 1,
	MEMTRACE_EXTERNAL = 2,
};

/* Names of a move-to-front table, and the code for one that is not in it. */
#define MEMTRACE_TABLE_COUNT 31

/* Numbers that begin a longer one. */
enum {
	MEMTRACE_VINT16 = 253,
	MEMTRACE_VINT32 = 254,
	MEMTRACE_VINT64 = 255,
};

/* A frame's code in a backtrace: a bucket of the cache, and what follows. */
#define MEMTRACE_BUCKET_COUNT 16384
enum {
	MEMTRACE_HIT_0 = 0,
	MEMTRACE_HIT_1 = 1,
	MEMTRACE_HIT_N = 2,
	MEMTRACE_MISS = 3,
};

#endif /* HATF_MEMTRACE_H */
