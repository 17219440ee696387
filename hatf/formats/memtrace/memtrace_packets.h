/* SPDX-License-Identifier: MIT */
/*
 * memtrace_packets.h - encoder of Memtrace packets
 *
 * The encoder builds each packet in memory, because the packet begins with a
 * header that contains the length of the packet and the ids of its allocations.
 * A packet has events of one domain (an OCaml thread of execution) only.
 * Locations are in packets of their own, before the first event that refers to
 * them.
 *
 * A stack is encoded as a difference from the previous stack of the domain.  A
 * frame whose location code is in the cache is encoded as the number of its
 * cache bucket.  Names are always written in full, so the encoder needs no name
 * tables.  A change of domain resets the previous stack and the cache, so one
 * cache suffices for all domains.
 *
 * Memory is O(distinct frames).  Only one thread may use an encoder.  Functions
 * that return bool return false if memory runs out.
 */
#ifndef HATF_MEMTRACE_PACKETS_H
#define HATF_MEMTRACE_PACKETS_H

#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/memtrace/memtrace.h"

/*
 * The largest packet, in bytes; the buffer of Memtrace's reader has the same
 * size.
 */
#define MEMTRACE_PACKET_MAX 32768

/*
 * Maximum number of frames of a stack.  More frames would not fit into a
 * packet, even if the cache had all their codes.  Like Memtrace, the encoder
 * omits the innermost frames beyond this number.
 */
#define MEMTRACE_CODES_MAX 16384

struct memtrace_packet {
	/*
	 * The content.  put() stores 8 bytes even for a shorter number, so the
	 * array has 8 bytes more than a packet.
	 */
	uint8_t bytes[MEMTRACE_PACKET_MAX + 8];
	size_t used;
	/* Times of the first and the last event, in us since 1970. */
	uint64_t begin, end;
	uint64_t first_id, next_id;
};

/* A cache bucket.  It is valid if 'epoch' is the current epoch. */
struct memtrace_slot {
	uint64_t code;
	uint64_t epoch;
};

struct memtrace_packets {
	struct outfile *out;
	struct hatf_stacks *stacks;
	/*
	 * true: Memtrace recorded the trace, and gave each call site a location
	 * code.  If functions were inlined at a call site, the call site has
	 * several frames.  Each of these frames has the location code as its
	 * address.
	 */
	bool has_codes;
	uint64_t version, pid, domain;
	/* the next object id of each domain; NULL before version 3 */
	uint64_t *next_ids;
	/*
	 * Maps a location code to its first frame id ('value' of the entry) and
	 * to the number of its frames ('extra').
	 */
	struct u64_map written_codes;
	struct memtrace_packet events, locations;
	/* The previous stack of the domain. */
	uint64_t stack; /* id of the stack */
	size_t depth;
	uint64_t last_codes[MEMTRACE_CODES_MAX]; /* outermost frame first */
	uint64_t epoch;
	struct memtrace_slot slots[MEMTRACE_BUCKET_COUNT];
	/* Scratch memory for the stack that is being written. */
	uint64_t frames[MEMTRACE_CODES_MAX];
	uint64_t codes[MEMTRACE_CODES_MAX];
	uint8_t coded_stack[MEMTRACE_PACKET_MAX];
};

/* The contents of the first packet.  A text that is NULL is written as "". */
struct memtrace_info {
	double rate;
	/* number of bits of a word; start of the trace in us since 1970 */
	uint64_t word_bits, start;
	const char *exe, *host, *runtime, *context;
};

struct memtrace_block {
	uint64_t words, sample_count;
	/*
	 * the part of OCaml's memory that contains the block: an enum
	 * memtrace_area
	 */
	uint64_t area;
	uint64_t stack; /* id of the call stack; 0: none */
};

/*
 * Initialize an encoder.  The caller must first set 'out', 'stacks',
 * 'has_codes', 'version' (2 or 3) and 'pid', and zero the rest.  The caller
 * still owns 'out' and 'stacks'.  Call memtrace_packets_fini() whatever the
 * result.
 */
bool memtrace_packets_init(struct memtrace_packets *p);
void memtrace_packets_fini(struct memtrace_packets *p);

void memtrace_put_info(struct memtrace_packets *p,
		       const struct memtrace_info *info);

/*
 * Add an event.  Times are in microseconds since 1970 and must not decrease.
 * Before version 3, 'domain' is ignored.  'id' is the number of the object.
 * memtrace_put_alloc() also accepts UINT64_MAX, which stands for the next
 * number; it sets '*id_ret' to the object's number.  memtrace_put_promote()
 * omits the event if the object is not allocated yet.
 */
bool memtrace_put_alloc(struct memtrace_packets *p, uint64_t time,
			uint64_t domain, uint64_t id,
			const struct memtrace_block *block, uint64_t *id_ret);
void memtrace_put_collect(struct memtrace_packets *p, uint64_t time,
			  uint64_t domain, uint64_t id);
void memtrace_put_promote(struct memtrace_packets *p, uint64_t time,
			  uint64_t domain, uint64_t id);

/* Write the packets that are in memory.  Call this after the last event. */
void memtrace_flush(struct memtrace_packets *p);

#endif /* HATF_MEMTRACE_PACKETS_H */
