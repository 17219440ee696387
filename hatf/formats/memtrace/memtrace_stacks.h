/* SPDX-License-Identifier: MIT */
/*
 * memtrace_stacks.h - the places and call stacks of a Memtrace trace
 *
 * What its codecs keep from event to event: for each domain the tables of names that
 * were last used, the cache of location codes and the last call stack; for all of
 * them the frames of each code.  Used by one thread at a time.
 *
 * Memory is O(distinct codes and stacks), and MEMTRACE_DOMAIN_NBYTES for each of
 * at most MEMTRACE_DOMAIN_MAX domains.
 */
#ifndef HATF_MEMTRACE_STACKS_H
#define HATF_MEMTRACE_STACKS_H

#include "hatf/containers/string_table.h"
#include "hatf/containers/u64_map.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/rows.h"
#include "hatf/formats/memtrace/memtrace.h"

/* What OCaml allows unless it is told otherwise. */
#define MEMTRACE_DOMAIN_MAX 128

/* Frames of a stack: each takes memory as long as the trace is read. */
#define MEMTRACE_DEPTH_MAX ((size_t)1 << 20)

/* What is left of a packet. */
struct memtrace_cursor {
	const uint8_t *next, *end;
};

/* Names, the last used first. */
struct memtrace_names {
	uint32_t count;
	uint32_t names[MEMTRACE_TABLE_COUNT];
};

/* One of the frames of the last stack. */
struct memtrace_level {
	uint64_t code;
	uint64_t stack;	    /* of all up to here */
	size_t frame_count; /* of that stack */
};

struct memtrace_domain {
	/* The files, and the functions in each. */
	struct memtrace_names files;
	struct memtrace_names functions[MEMTRACE_TABLE_COUNT];
	uint64_t codes[MEMTRACE_BUCKET_COUNT];
	uint16_t after[MEMTRACE_BUCKET_COUNT];
	struct rows levels; /* struct memtrace_level */
	/* Of its packets so far. */
	bool is_begun;
	uint64_t next_id; /* behind the objects that were allocated */
	uint64_t time;	  /* of the last event, in microseconds since 1970 */
};

struct memtrace_stacks {
	struct hatf_stacks *stacks;
	struct string_table names;
	/* Location code -> 'value' is the place in 'frames', 'extra' how
	 * many. */
	struct u64_map codes;
	struct rows frames; /* uint64_t */
	struct memtrace_domain *domains[MEMTRACE_DOMAIN_MAX];
	uint16_t ids[MEMTRACE_DOMAIN_MAX];
	size_t domain_count;
	uint64_t level_nbytes;	     /* of all domains' levels */
	const struct source *source; /* that they are of */
};

/* Errors: HATF_NO_MEMORY.  Needs memtrace_stacks_fini() whatever the result. */
enum hatf_status memtrace_stacks_init(struct memtrace_stacks *m,
				      const struct source *source);
void memtrace_stacks_fini(struct memtrace_stacks *m);

/* The domain with this id.  Errors: HATF_NO_MEMORY, HATF_LIMIT. */
enum hatf_status memtrace_find_domain(struct memtrace_stacks *m, uint16_t id,
				      struct memtrace_domain **domain_ret);

/*
 * Take a number, or a string, out of a packet.  False if the packet has no more, or
 * the string no end.
 */
bool memtrace_take(struct memtrace_cursor *c, size_t nbytes, uint64_t *n_ret);
bool memtrace_take_vint(struct memtrace_cursor *c, uint64_t *n_ret);
bool memtrace_take_string(struct memtrace_cursor *c, const char **text_ret,
			  size_t *nbytes_ret);

/*
 * Take a location, behind the event's header.  Errors: HATF_BAD_FIELD, also if the
 * code has been told of and was another; of tables that grow.
 */
enum hatf_status memtrace_take_location(struct memtrace_stacks *m,
					struct memtrace_domain *d,
					struct memtrace_cursor *c);

/*
 * Has the domain's cache 'code', and 'after' behind it, in this bucket?  Packets tell
 * of one, so that the loss of another is noticed.
 */
bool memtrace_has_cached(const struct memtrace_domain *d, uint64_t bucket,
			 uint64_t after, uint64_t code);

/*
 * Take a backtrace of 'count' codes that has the first 'common' frames of the one
 * before, and make it the domain's last.  Errors: as before (a code must have been
 * told of), and HATF_LIMIT.
 */
enum hatf_status memtrace_take_stack(struct memtrace_stacks *m,
				     struct memtrace_domain *d,
				     struct memtrace_cursor *c, uint64_t common,
				     uint64_t count);

/* The domain's last stack. */
static inline uint64_t
memtrace_stack(const struct memtrace_domain *d)
{
	const struct memtrace_level *const levels = d->levels.rows;

	return d->levels.count == 0 ? 0 : levels[d->levels.count - 1].stack;
}

#endif /* HATF_MEMTRACE_STACKS_H */
