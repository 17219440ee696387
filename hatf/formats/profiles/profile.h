/* SPDX-License-Identifier: MIT */
/*
 * profile.h - sums per allocation site, for formats that are profiles
 *
 * A site is a call stack, or, for calls without one, a thread and a size class.
 * A profile has the sums of each site over the whole trace, at the end, at the
 * site's own peak and at the global peak.  A block belongs to the site that
 * allocated it.  The sink decides what a realloc means.  Either the block stays
 * with its site, as in DHAT, or the block is freed and then allocated at the
 * site of the realloc, as in sampling profilers.
 *
 * In a sampled trace, the sums count samples until profile_end() scales them to
 * estimates of blocks and bytes.
 *
 * Memory is O(live blocks + sites + stacks that the trace defines).  Only one
 * thread at a time may use a profile.
 */
#ifndef HATF_PROFILE_H
#define HATF_PROFILE_H

#include "hatf/containers/modules.h"
#include "hatf/containers/string_table.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"
#include "hatf/formats/common/sampling.h"
#include "hatf/formats/common/size_class.h"

/*
 * Number of slots for recently used sites.  A look-up tries one slot before the
 * hash table.  All slots together fit into the processor's cache.
 */
#define PROFILE_RECENT_COUNT 512

struct profile_sum {
	uint64_t count, nbytes;
};

struct profile_site {
	/* id of the stack; 0: none, use 'thread' and 'size_class' */
	uint64_t stack;
	uint64_t thread;
	unsigned size_class;
	struct profile_sum total, live;
	/*
	 * live blocks and bytes of the site when the site's live bytes peaked
	 */
	struct profile_sum own_peak;
	/*
	 * live blocks and bytes of the site at the moment when the live bytes
	 * of all sites together peaked
	 */
	struct profile_sum at_peak;
	/*
	 * The value that 'peak_count' of the profile had when 'at_peak' was
	 * saved.
	 */
	uint64_t peak_count;
	/*
	 * Sum of the lifetimes of the site's blocks, in units of the profile's
	 * time; valid after profile_end().
	 */
	uint64_t lifetimes;
	/*
	 * Number of recorded blocks, and of those that are still live.  In a
	 * trace of samples, these numbers are not scaled.
	 */
	uint64_t block_count, live_block_count;
};

/*
 * An entry of a site's stack.  Each entry is a frame, unless the stack is
 * missing.  Then two entries stand for the stack: a size class for the
 * innermost frame, and a thread for its caller.
 */
struct profile_entry {
	enum {
		PROFILE_FRAME,
		PROFILE_THREAD,
		PROFILE_CLASS
	} kind;
	/*
	 * The id of a frame, or the index of a site that has this thread or
	 * class.
	 */
	uint64_t id;
};

struct profile {
	struct ledger ledger;
	struct hatf_stacks *stacks;
	struct modules modules;
	/*
	 * true: addresses of frames are relative to the objects that contain
	 * the frames
	 */
	bool has_own_addresses;
	/* maps the site_key() of a site to its index in 'sites' */
	struct u64_map index;
	/* maps a thread to its index, from 0 */
	struct u64_map threads;
	struct profile_site *sites;
	size_t site_count, site_cap;
	/*
	 * indices in 'sites' of recently used sites.  The slot of a site is its
	 * stack id, or a number for its thread and size class, modulo
	 * PROFILE_RECENT_COUNT.
	 */
	size_t recent[PROFILE_RECENT_COUNT];
	/* maps an entry's key to the index of the entry in 'entries' */
	struct u64_map entry_map;
	struct profile_entry *entries;
	size_t entry_count, entry_cap;
	struct profile_sum live;
	uint64_t peak_nbytes; /* live bytes at the global peak */
	uint64_t peak_count;  /* number of global peaks so far */
	uint64_t peak_time;
	uint64_t now;
	/*
	 * true: use the times of the trace; false: the unit of time is one call
	 */
	bool has_times;
	bool keeps_site; /* a realloc keeps the site of its block */
	struct sampling sampling;
	/*
	 * In a trace of samples, the member 'object' of a 'struct block' is the
	 * number of an entry of 'shares'.  In other traces, 'object' is an
	 * index in 'sites'.
	 */
	struct string_table shares;
	/*
	 * number of frames in all stacks that profile_stack() has returned; at
	 * most PROFILE_FRAMES_MAX
	 */
	uint64_t frame_count;
};

/*
 * Initialize a profile.  The header of 's' shows whether the trace is a trace
 * of samples.  If 'has_times' is true, the profile uses the times of the trace;
 * if not, the unit of time is one call.  If 'keeps_site' is true, a realloc
 * keeps the site of its block.  Errors: HATF_NO_MEMORY.  Call profile_fini()
 * whatever the result.
 */
enum hatf_status profile_init(struct profile *p, const struct sink *s,
			      bool has_times, bool keeps_site);
void profile_fini(struct profile *p);

/* Count the effect of 'n' records.  Errors: those of sink_ops.write. */
enum hatf_status profile_write(struct profile *p, struct sink *s,
			       const struct hatf_record *records, size_t n);

/*
 * Complete the sums of each site.  Call this once, after the last record;
 * before this call, the sums are not valid.
 */
void profile_end(struct profile *p);

/*
 * Maximum number of frames in all stacks that profile_stack() returns.  There
 * is a limit, because a trace defines a stack by its innermost frame and its
 * parent stack, but a profile writes all frames of each stack.  So a trace with
 * n stacks can become a profile with n^2 / 2 frames.
 */
#define PROFILE_FRAMES_MAX ((uint64_t)1 << 25)

/*
 * Store the stack of a site, innermost first, as '*count_ret' indices into
 * p->entries.  Add entries that are missing in p->entries.  The caller frees
 * the array '*indices_ret'.  Errors: HATF_NO_MEMORY, HATF_LIMIT.
 */
enum hatf_status profile_stack(struct profile *p,
			       const struct profile_site *site,
			       uint64_t **indices_ret, size_t *count_ret);

/* The longest name, in bytes, with its NUL. */
#define PROFILE_NAME_MAX 4096

/*
 * Write the name of an entry to 'buf', of PROFILE_NAME_MAX bytes, and return
 * 'buf'.  The name of a frame is its function or, if that is unknown, another
 * part of the frame.  The names of other entries are like "thread 3" or "17 to
 * 32 bytes".
 */
const char *profile_name(const struct profile *p,
			 const struct profile_entry *entry, char *buf);

/*
 * Set '*offset_ret' to the frame's address in its object, as in the object's
 * symbol table.  Return false if this address is unknown; '*offset_ret' is then
 * not valid.
 */
bool profile_offset(const struct profile *p, const struct hatf_frame *frame,
		    uint64_t *offset_ret);

/*
 * Return the mapping that contains the frame, or NULL.  The pointer is valid
 * until the next call of profile_write().
 */
const struct module *profile_module(const struct profile *p,
				    const struct hatf_frame *frame);

/*
 * Return the frame of an entry; it is all zeros if the entry is not a frame.
 * Its strings are valid until profile_fini().
 */
struct hatf_frame profile_frame(const struct profile *p,
				const struct profile_entry *entry);

/*
 * Return the unit of the trace's times, "ns" or "us", as its header gives it
 * (static).  Return NULL if the trace has no times, or if the options omit
 * them.
 */
const char *profile_unit(const struct sink *s);

#endif /* HATF_PROFILE_H */
