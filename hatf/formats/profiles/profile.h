/* SPDX-License-Identifier: MIT */
/*
 * profile.h - sums per allocation site, for formats that are profiles
 *
 * A site is a call stack, or, for calls without one, a thread and a size class.
 * A profile has the sums of each site over the whole trace, at the end, at the
 * site's own peak and at the global peak.  A block belongs to the site that
 * allocated it.  The sink decides about reallocs: the block stays with its
 * site, as in DHAT, or the realloc is a free there and an allocation at the
 * realloc's own site, as in sampling profilers.
 *
 * In a sampled trace, the sums count samples until profile_end() scales them to
 * estimates of blocks and bytes.
 *
 * Memory is O(live blocks + sites).  Not thread-safe: one thread at a time may
 * use a profile.
 */
#ifndef HATF_PROFILE_H
#define HATF_PROFILE_H

#include "hatf/containers/string_table.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"
#include "hatf/containers/modules.h"
#include "hatf/formats/common/sampling.h"

/* Size classes, in bytes: 0; 1; 2; 3 and 4; 5 to 8; ... */
#define PROFILE_CLASS_COUNT 66

/*
 * Recently used sites that are tried before the hash table; few enough for the
 * cache.
 */
#define PROFILE_RECENT_COUNT 512

struct profile_sum {
	uint64_t count, nbytes;
};

struct profile_site {
	uint64_t stack; /* id; 0: none, use 'thread' and 'size_class' */
	uint64_t thread;
	unsigned size_class;
	struct profile_sum total, live;
	struct profile_sum own_peak; /* at the site's own peak of bytes */
	struct profile_sum at_peak;  /* at the global peak of bytes */
	uint64_t peak_count;	     /* the global peak of 'at_peak' */
	/*
	 * Sum of its blocks' lifetimes, in units of the profile's time; valid
	 * after profile_end().
	 */
	uint64_t lifetimes;
	/* Blocks recorded, not scaled in a sampled trace. */
	uint64_t block_count, live_block_count;
};

/*
 * An entry of a site's stack: a frame, or, without a stack, a size class in
 * place of the innermost frame and a thread in place of its caller.
 */
struct profile_entry {
	enum {
		PROFILE_FRAME,
		PROFILE_THREAD,
		PROFILE_CLASS
	} kind;
	/* A frame id, or the index of a site that has this thread or class. */
	uint64_t id;
};

struct profile {
	struct ledger ledger;
	struct hatf_stacks *stacks;
	struct modules modules;
	bool has_own_addresses; /* addresses are relative to their object */
	struct u64_map index;	/* site_key() -> 'object', index in 'sites' */
	struct u64_map threads; /* thread -> 'object', its index from 0 */
	struct profile_site *sites;
	size_t site_count, site_cap;
	/* indices in 'sites', by stack or thread and class, modulo */
	size_t recent[PROFILE_RECENT_COUNT];
	struct u64_map
		entry_map; /* entry -> 'object', its index in 'entries' */
	struct profile_entry *entries;
	size_t entry_count, entry_cap;
	struct profile_sum live;
	uint64_t peak_nbytes; /* at the global peak */
	uint64_t peak_count;  /* count of global peaks so far */
	uint64_t peak_time;
	uint64_t now;
	bool has_times;	 /* else the unit of time is one call */
	bool keeps_site; /* a realloc keeps the block's site */
	/*
	 * In a sampled trace, a block's 'object' is a number in 'shares'; else
	 * it is an index in 'sites'.
	 */
	struct sampling sampling;
	struct string_table shares;
	uint64_t frame_count; /* of all stacks returned, to limit them */
};

/*
 * Initialize.  The header of 's' shows whether the trace is sampled.  If
 * 'has_times' is false, time counts calls.  'keeps_site': a realloc keeps the
 * block's site.  Errors: HATF_NO_MEMORY.  Call profile_fini() whatever the
 * result.
 */
enum hatf_status profile_init(struct profile *p, const struct sink *s,
			      bool has_times, bool keeps_site);
void profile_fini(struct profile *p);

/* Count 'n' records.  Errors: those of sink_ops.write. */
enum hatf_status profile_write(struct profile *p, struct sink *s,
			       const struct hatf_record *records, size_t n);

/*
 * Complete the sums of each site.  Call it once, after the last record; the
 * sums are not valid before.
 */
void profile_end(struct profile *p);

/*
 * Most frames of all stacks returned.  A trace defines a stack by its innermost
 * frame and its parent stack, but a profile writes all frames: n stacks of up
 * to n frames would be n * n / 2.
 */
#define PROFILE_FRAMES_MAX ((uint64_t)1 << 25)

/*
 * Return the stack of a site, innermost first, as 'count' indices into
 * 'entries', and add new entries there.  The caller frees the array.  Errors:
 * HATF_NO_MEMORY, HATF_LIMIT.
 */
enum hatf_status profile_stack(struct profile *p,
			       const struct profile_site *site,
			       uint64_t **indices_ret, size_t *count_ret);

/* Longest name, in bytes, with its NUL. */
#define PROFILE_NAME_MAX 4096

/*
 * Write a name of an entry to 'buf', of PROFILE_NAME_MAX bytes, and return
 * 'buf': a function or what else the frame has, "thread 3", "17 to 32 bytes".
 */
const char *profile_name(const struct profile *p,
			 const struct profile_entry *entry, char *buf);

/*
 * Set '*offset_ret' to the frame's address in its object, as in the object's
 * symbol table.  Return false if it is unknown.
 */
bool profile_offset(const struct profile *p, const struct hatf_frame *frame,
		    uint64_t *offset_ret);

/*
 * Return the piece of its object that has the frame, or NULL.  Valid until the
 * next record.
 */
const struct module *profile_module(const struct profile *p,
				    const struct hatf_frame *frame);

/*
 * Return the frame of an entry, all zero if the entry is no frame.  Its strings
 * are valid until profile_fini().
 */
struct hatf_frame profile_frame(const struct profile *p,
				const struct profile_entry *entry);

/*
 * Return the unit of the trace's times according to its header: "ns", "us", or
 * NULL if it has no times or the sink drops them.  The string is static.
 */
const char *profile_unit(const struct sink *s);

#endif /* HATF_PROFILE_H */
