/* SPDX-License-Identifier: MIT */
/*
 * profile.h - what was allocated where: for formats that are sums, not traces
 *
 * A site is a call stack, or, for calls without one, a thread and a class of sizes.
 * Of each there are sums over the whole trace, at the end, at its own peak and at the
 * peak of all.  A block belongs to the site that allocated it.  Whether a realloc is
 * the work of that site, as DHAT has it, or a free there and an alloc where the realloc was
 * called, as profilers of samples have it, is for the sink to say.
 *
 * Of a trace of samples, the sums are estimates of the whole: while it is read, samples
 * are counted, and profile_end() makes blocks and bytes of them.
 *
 * Memory is O(live blocks + sites).  Used by one thread at a time.
 */
#ifndef HATF_PROFILE_H
#define HATF_PROFILE_H

#include "hatf/containers/string_table.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"
#include "hatf/formats/common/modules.h"
#include "hatf/formats/common/sampling.h"

/* Of sizes: 0; 1; 2; 3 and 4; 5 to 8; ... */
#define PROFILE_CLASS_COUNT 66

/* Places of sites that are tried first: they stay in the cache. */
#define PROFILE_RECENT_COUNT 512

struct profile_sum {
	uint64_t count, nbytes;
};

struct profile_site {
	uint64_t stack; /* 0: none, and then: */
	uint64_t thread;
	unsigned size_class;
	struct profile_sum total, live;
	struct profile_sum most;    /* when it had most bytes */
	struct profile_sum at_peak; /* when all sites together had most bytes */
	uint64_t peak;		    /* the peak that 'at_peak' is of */
	/* Of its blocks' lives, in the profile's unit of time. */
	uint64_t lifetimes;
	/* Blocks, of a trace of samples too. */
	uint64_t block_count, live_block_count;
};

/*
 * What is at a place in the stack of a site: a frame, or, where there is no stack, a
 * size that stands for the innermost frame and a thread that stands for its caller.
 */
struct profile_entry {
	enum {
		PROFILE_FRAME,
		PROFILE_THREAD,
		PROFILE_CLASS
	} kind;
	uint64_t
		id; /* a frame's, or the place in 'sites' of a site that has it */
};

struct profile {
	struct ledger ledger;
	struct hatf_stacks *stacks;
	struct modules modules;
	bool has_own_addresses; /* of objects: frames have no others */
	/* stack, or thread and class -> place in 'sites' */
	struct u64_map index;
	struct u64_map threads; /* -> 'value', from 0 */
	struct profile_site *sites;
	size_t site_count, site_cap;
	size_t recent[PROFILE_RECENT_COUNT]; /* by what the site is, modulo */
	struct u64_map places; /* of an entry: 'value' is its place */
	struct profile_entry *entries;
	size_t entry_count, entry_cap;
	struct profile_sum live;
	uint64_t most_nbytes; /* of all sites together */
	uint64_t peak;	      /* how often that has grown */
	uint64_t peak_time;
	uint64_t now;
	bool has_times;	 /* else a unit of time is a call */
	bool keeps_site; /* a realloc is the work of the site that allocated */
	/* Of a trace of samples: a block's 'object' is a number in 'shares'. */
	struct sampling sampling;
	struct string_table shares;
	uint64_t frame_count; /* of all stacks that were asked for */
};

/*
 * 's' tells by its header whether the trace is one of samples.  Errors:
 * HATF_NO_MEMORY.  Needs profile_fini() whatever the result.
 */
enum hatf_status profile_init(struct profile *p, const struct sink *s,
			      bool has_times, bool keeps_site);
void profile_fini(struct profile *p);

/* Count records; returns as sink_ops.write. */
enum hatf_status profile_write(struct profile *p, struct sink *s,
			       const struct hatf_record *records, size_t n);

/* All records have been counted: complete the sums of each site, which are not what
 * they should be before. */
void profile_end(struct profile *p);

/*
 * The most frames of all stacks that are asked for.  A trace defines a stack by
 * its innermost frame and its caller's stack, a profile has all of its frames:
 * n stacks of up to n frames would be n * n / 2.
 */
#define PROFILE_FRAMES_MAX ((uint64_t)1 << 25)

/*
 * The stack of a site, innermost first, as 'count' places in 'entries', which
 * grows by what it did not have yet.  The caller frees them.  Errors:
 * HATF_NO_MEMORY, HATF_LIMIT.
 */
enum hatf_status profile_stack(struct profile *p,
			       const struct profile_site *site,
			       uint64_t **places_ret, size_t *count_ret);

/* The most bytes of a name, with a NUL. */
#define PROFILE_NAME_MAX 4096

/*
 * A name for an entry, in 'buf' of PROFILE_NAME_MAX: the function or what else is known
 * of a frame, "thread 3", "17 to 32 bytes".  Returns 'buf'.
 */
const char *profile_name(const struct profile *p,
			 const struct profile_entry *entry, char *buf);

/*
 * Where the code of a frame is in its object, as the object's own symbols say it;
 * false if that is not known.
 */
bool profile_offset(const struct profile *p, const struct hatf_frame *frame,
		    uint64_t *offset_ret);

/* The piece of its object in which a frame is, or NULL; valid until the next record. */
const struct module *profile_module(const struct profile *p,
				    const struct hatf_frame *frame);

/* What is known of a frame; all 0 if 'entry' is none. */
struct hatf_frame profile_frame(const struct profile *p,
				const struct profile_entry *entry);

/*
 * What a unit of the trace's time is: "ns", "us", or NULL if it has no times, by the
 * lines of its header, or NULL.
 */
const char *profile_unit(const struct sink *s);

#endif /* HATF_PROFILE_H */
