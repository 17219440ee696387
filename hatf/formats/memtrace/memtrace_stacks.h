/* SPDX-License-Identifier: MIT */
/*
 * memtrace_stacks.h - decoder of locations and call stacks in a Memtrace trace
 *
 * For each domain (an OCaml thread of execution), the decoder keeps the tables
 * of recently used names, the cache of location codes and the latest call
 * stack.  For all domains together, it keeps the frames of each code.  Only one
 * thread may use a decoder.
 *
 * Memory is O(distinct codes and stacks), plus sizeof(struct memtrace_domain)
 * for each domain, of which there are at most MEMTRACE_DOMAIN_MAX.
 */
#ifndef HATF_MEMTRACE_STACKS_H
#define HATF_MEMTRACE_STACKS_H

#include "hatf/containers/rows.h"
#include "hatf/containers/string_table.h"
#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/memtrace/memtrace.h"

/* Maximum number of domains in a trace; OCaml's default limit is the same. */
#define MEMTRACE_DOMAIN_MAX 128

/*
 * Maximum number of frames of a stack.  There is a limit, because each frame
 * takes memory until the source is closed.
 */
#define MEMTRACE_DEPTH_MAX ((size_t)1 << 20)

/* The rest of a packet.  'end' is the position after its last byte. */
struct memtrace_cursor {
	const uint8_t *next, *end;
};

/*
 * A move-to-front table of names: the most recently used name is the first.  A
 * name is stored as the number of a string in the table 'names' of 'struct
 * memtrace_stacks'.
 */
struct memtrace_names {
	uint32_t count;
	uint32_t names[MEMTRACE_TABLE_COUNT];
};

/* One level of the latest call stack of a domain. */
struct memtrace_level {
	uint64_t code;
	uint64_t stack;	    /* id of the stack up to and including this level */
	size_t frame_count; /* number of frames of that stack */
};

struct memtrace_domain {
	/* The table of files, and for each file the table of its functions. */
	struct memtrace_names files;
	struct memtrace_names functions[MEMTRACE_TABLE_COUNT];
	/*
	 * The cache of location codes.  Each bucket has a location code and the
	 * index of the bucket that is predicted to come next.
	 */
	uint64_t codes[MEMTRACE_BUCKET_COUNT];
	uint16_t after[MEMTRACE_BUCKET_COUNT];
	struct rows levels; /* rows of struct memtrace_level */
	/* true: the decoder has begun a packet of this domain */
	bool has_begun;
	/* the id after the newest object id of this domain */
	uint64_t next_id;
	/*
	 * time of the latest event of this domain, in microseconds since 1970
	 */
	uint64_t time;
};

struct memtrace_stacks {
	struct hatf_stacks *stacks;
	struct string_table names;
	/*
	 * Maps a location code to the index of its first frame in 'frames'
	 * ('value' of the entry) and to the number of its frames ('extra').
	 */
	struct u64_map codes;
	struct rows frames; /* rows of uint64_t: frame ids */
	struct memtrace_domain *domains[MEMTRACE_DOMAIN_MAX];
	uint16_t ids[MEMTRACE_DOMAIN_MAX];
	size_t domain_count;
	/* number of bytes allocated for the levels of all domains */
	uint64_t level_nbytes;
	/* the source, which sets the memory limit; not owned */
	const struct source *source;
};

/*
 * Initialize a decoder.  'source' must outlive 'm'.  Errors: HATF_NO_MEMORY.
 * Call memtrace_stacks_fini() whatever the result.
 */
enum hatf_status memtrace_stacks_init(struct memtrace_stacks *m,
				      const struct source *source);
void memtrace_stacks_fini(struct memtrace_stacks *m);

/*
 * Find the domain with this id, or add it.  'm' owns it.  Errors:
 * HATF_NO_MEMORY, HATF_LIMIT.
 */
enum hatf_status memtrace_find_domain(struct memtrace_stacks *m, uint16_t id,
				      struct memtrace_domain **domain_ret);

/*
 * memtrace_take() and memtrace_take_vint() decode a number,
 * memtrace_take_string() a string.  The string is not copied, so '*text_ret'
 * points into the packet.  Return false if the packet or the string is
 * truncated.
 */
bool memtrace_take(struct memtrace_cursor *c, size_t nbytes, uint64_t *n_ret);
bool memtrace_take_vint(struct memtrace_cursor *c, uint64_t *n_ret);
bool memtrace_take_string(struct memtrace_cursor *c, const char **text_ret,
			  size_t *nbytes_ret);

/*
 * Decode the rest of a location event, whose header the caller has decoded.
 * Errors: HATF_BAD_FIELD, also if an earlier location has the same code but
 * other frames; HATF_LIMIT; HATF_NO_MEMORY.
 */
enum hatf_status memtrace_take_location(struct memtrace_stacks *m,
					struct memtrace_domain *d,
					struct memtrace_cursor *c);

/*
 * Does the domain's cache have 'code' in this bucket, and predict that bucket
 * 'after' comes next?  A packet contains these three values of the writer's
 * cache, so that a reader notices a lost packet.
 */
bool memtrace_cache_matches(const struct memtrace_domain *d, uint64_t bucket,
			    uint64_t after, uint64_t code);

/*
 * Decode a backtrace.  It consists of the first 'common' location codes of the
 * domain's latest stack, and the 'count' location codes of the event.  Each
 * code of the event is followed by the codes that the cache predicts.
 *
 * The backtrace becomes the domain's latest stack.  Exception: if the latest
 * stack has fewer than 'common' codes, the writer has truncated that stack, so
 * a part of the backtrace is unknown.  In this case, update only the cache.
 *
 * Errors: HATF_BAD_FIELD, also for a code without a location; HATF_LIMIT;
 * HATF_NO_MEMORY.
 */
enum hatf_status memtrace_take_stack(struct memtrace_stacks *m,
				     struct memtrace_domain *d,
				     struct memtrace_cursor *c, uint64_t common,
				     uint64_t count);

/* Return the id of the domain's latest stack; 0 if this stack is empty. */
static inline uint64_t
memtrace_last_stack(const struct memtrace_domain *d)
{
	const struct memtrace_level *const levels = d->levels.rows;

	return d->levels.count == 0 ? 0 : levels[d->levels.count - 1].stack;
}

#endif /* HATF_MEMTRACE_STACKS_H */
