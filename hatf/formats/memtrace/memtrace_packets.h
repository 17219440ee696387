/* SPDX-License-Identifier: MIT */
/*
 * memtrace_packets.h - the packets of a Memtrace trace, as they are written
 *
 * A packet is gathered in memory, as its header has its length and the number of
 * allocations in it, and is of one domain.  Locations are in packets of their own in
 * front of the first event that refers to them.
 *
 * Stacks are coded as what they have in common with the last one of the domain, and
 * frames whose code is in the cache by their place in it; names are never in a table,
 * so that no tables must be kept.  When the domain changes, everything is forgotten:
 * so one cache does for all.
 *
 * Memory is O(distinct frames).  Used by one thread at a time.  What fails for want of
 * memory returns false.
 */
#ifndef HATF_MEMTRACE_PACKETS_H
#define HATF_MEMTRACE_PACKETS_H

#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/memtrace/memtrace.h"

/* Readers have a buffer of 32 KiB for a packet. */
#define MEMTRACE_PACKET_MAX 32768

/* Frames of a stack: more do not fit a packet.  The innermost are left out, as
 * Memtrace does it. */
#define MEMTRACE_CODES_MAX 16384

struct memtrace_packet {
	uint8_t bytes[MEMTRACE_PACKET_MAX +
		      8]; /* a short number is stored as 8 */
	size_t used;
	uint64_t begin, end; /* microseconds since 1970 */
	uint64_t first_id, next_id;
};

/* A frame's code has been written to a place of the cache in this epoch. */
struct memtrace_slot {
	uint64_t code;
	uint64_t epoch;
};

struct memtrace_packets {
	struct outfile *out;
	struct hatf_stacks *stacks;
	/*
	 * The trace comes from Memtrace: the address of a frame is its code, which
	 * stands for all the frames in a row that have it.
	 */
	bool has_codes;
	uint64_t version, pid, domain;
	uint64_t *next_ids; /* by domain; NULL before version 3 */
	/* code -> 'value' its first frame, 'extra' how many */
	struct u64_map told;
	struct memtrace_packet events, locations;
	/* The last stack of the domain. */
	uint64_t stack; /* id */
	size_t depth;
	uint64_t levels[MEMTRACE_CODES_MAX];
	uint64_t epoch;
	struct memtrace_slot slots[MEMTRACE_BUCKET_COUNT];
	/* Of the stack that is being written. */
	uint64_t frames[MEMTRACE_CODES_MAX];
	uint64_t codes[MEMTRACE_CODES_MAX];
	uint8_t coded[MEMTRACE_PACKET_MAX];
};

/* What the first packet says; NULL is "". */
struct memtrace_info {
	double rate;
	uint64_t word_bits, start; /* microseconds since 1970 */
	const char *exe, *host, *runtime, *context;
};

struct memtrace_block {
	uint64_t words, sample_count;
	uint64_t place; /* enum memtrace_place */
	uint64_t stack; /* id; 0: none */
};

/*
 * 'p' is all 0 but for 'out', 'stacks', 'has_codes', 'version' (2 or 3) and 'pid',
 * which the caller has set.
 */
bool memtrace_packets_init(struct memtrace_packets *p);
void memtrace_packets_fini(struct memtrace_packets *p);

void memtrace_put_info(struct memtrace_packets *p,
		       const struct memtrace_info *info);

/*
 * Events, with times that do not go back, in microseconds since 1970.  Before
 * version 3, the domain is 0.  'id' is that which the object is to have; UINT64_MAX:
 * the next one, which '*id_ret' tells.
 */
bool memtrace_put_alloc(struct memtrace_packets *p, uint64_t time,
			uint64_t domain, uint64_t id,
			const struct memtrace_block *block, uint64_t *id_ret);
void memtrace_put_collect(struct memtrace_packets *p, uint64_t time,
			  uint64_t domain, uint64_t id);
void memtrace_put_promote(struct memtrace_packets *p, uint64_t time,
			  uint64_t domain, uint64_t id);

/* Write what has been gathered. */
void memtrace_flush(struct memtrace_packets *p);

#endif /* HATF_MEMTRACE_PACKETS_H */
