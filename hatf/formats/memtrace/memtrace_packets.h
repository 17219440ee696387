/* SPDX-License-Identifier: MIT */
/*
 * memtrace_packets.h - encoder of Memtrace packets
 *
 * The encoder builds each packet in memory, because the header has its length
 * and number of allocations.  A packet has events of one domain only.
 * Locations are in packets of their own, before the first event that refers to
 * them.
 *
 * A stack is encoded as a difference to the last stack of the domain; a frame
 * whose code is in the cache is encoded as its bucket.  Names are always
 * written in full, so the encoder needs no name tables.  A change of domain
 * resets last stack and cache, so one cache serves all domains.
 *
 * Memory is O(distinct frames).  Not thread-safe.  Functions that return bool
 * return false if memory runs out.
 */
#ifndef HATF_MEMTRACE_PACKETS_H
#define HATF_MEMTRACE_PACKETS_H

#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/memtrace/memtrace.h"

/* Largest packet, in bytes: readers have a buffer of 32 KiB. */
#define MEMTRACE_PACKET_MAX 32768

/*
 * Most frames of a stack, so that it fits a packet.  Like Memtrace, the encoder
 * drops the innermost ones beyond.
 */
#define MEMTRACE_CODES_MAX 16384

struct memtrace_packet {
	/* Numbers are stored as 8 bytes, even if fewer count. */
	uint8_t bytes[MEMTRACE_PACKET_MAX + 8];
	size_t used;
	uint64_t begin, end; /* of first and last event, us since 1970 */
	uint64_t first_id, next_id;
};

/* A cache bucket, valid if 'epoch' is the current one. */
struct memtrace_slot {
	uint64_t code;
	uint64_t epoch;
};

struct memtrace_packets {
	struct outfile *out;
	struct hatf_stacks *stacks;
	/*
	 * The trace comes from Memtrace, which gives each call site a location
	 * code.  The code is kept as the address of the site's frames, of which
	 * adjacent ones share it.
	 */
	bool has_codes;
	uint64_t version, pid, domain;
	/* next object id by domain; NULL before version 3 */
	uint64_t *next_ids;
	/*
	 * Code -> 'object', its first frame id, and 'size', the count of
	 * frames.
	 */
	struct u64_map written_codes;
	struct memtrace_packet events, locations;
	/* The last stack of the domain, outermost frame first. */
	uint64_t stack; /* id */
	size_t depth;
	uint64_t last_codes[MEMTRACE_CODES_MAX];
	uint64_t epoch;
	struct memtrace_slot slots[MEMTRACE_BUCKET_COUNT];
	/* Scratch for the stack that is being written. */
	uint64_t frames[MEMTRACE_CODES_MAX];
	uint64_t codes[MEMTRACE_CODES_MAX];
	uint8_t coded_stack[MEMTRACE_PACKET_MAX];
};

/* The content of the first packet; NULL stands for "". */
struct memtrace_info {
	double rate;
	uint64_t word_bits, start; /* start: us since 1970 */
	const char *exe, *host, *runtime, *context;
};

struct memtrace_block {
	uint64_t words, sample_count;
	uint64_t area;	/* enum memtrace_area */
	uint64_t stack; /* id; 0: none */
};

/*
 * Initialize.  The caller must set 'out', 'stacks', 'has_codes', 'version' (2
 * or 3) and 'pid', and zero the rest.  'out' and 'stacks' remain the caller's.
 * Call memtrace_packets_fini() whatever the result.
 */
bool memtrace_packets_init(struct memtrace_packets *p);
void memtrace_packets_fini(struct memtrace_packets *p);

void memtrace_put_info(struct memtrace_packets *p,
		       const struct memtrace_info *info);

/*
 * Add an event.  Times are in microseconds since 1970 and must not decrease.
 * 'domain' must be 0 before version 3.  'id' is the number of the object;
 * UINT64_MAX takes the next one.  '*id_ret' is set to the object's number.
 */
bool memtrace_put_alloc(struct memtrace_packets *p, uint64_t time,
			uint64_t domain, uint64_t id,
			const struct memtrace_block *block, uint64_t *id_ret);
void memtrace_put_collect(struct memtrace_packets *p, uint64_t time,
			  uint64_t domain, uint64_t id);
void memtrace_put_promote(struct memtrace_packets *p, uint64_t time,
			  uint64_t domain, uint64_t id);

/* Write the pending packets.  Call this after the last event. */
void memtrace_flush(struct memtrace_packets *p);

#endif /* HATF_MEMTRACE_PACKETS_H */
