/* SPDX-License-Identifier: MIT */
/*
 * load_policy.h - when the writer saves time rather than bytes
 *
 * A trace is smallest if the encoder searches for the best places for metadata,
 * and if the blocks are compressed.  This search and the compression are most
 * of the writer's work.  They cost the program nothing while a processor is
 * idle.  If no processor is idle, or if producers wait for room again and
 * again, the writer accepts a larger trace.  The encoder then places metadata
 * without a search (encoder_set_fast()).  If producers wait and storing is
 * faster than compressing, blocks are stored without compression.  If no
 * processor is idle, the writer also sleeps longer: each time it wakes up, it
 * takes the processor from a thread of the program, whose data then leave the
 * caches.
 *
 * Only the thread that does the writer's work calls these functions.  It
 * reports waits, sleeps and costs, and asks for decisions.
 */
#ifndef LOAD_POLICY_H
#define LOAD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load_policy {
	/*
	 * Each block before which a producer had to wait adds 1.  Each other
	 * block halves the pressure.
	 */
	uint32_t pressure;
	/* number of waits of all producers, as last reported */
	uint64_t waits;
	bool is_pressed;   /* producers wait, or the writer is overloaded */
	bool is_contended; /* no processor is idle */
	/*
	 * Sums over recent blocks: what compression has cost and saved, and
	 * what writing has cost.
	 */
	uint64_t compress_ns, compressed_nbytes, saved_nbytes;
	uint64_t write_ns, written_nbytes;
	/*
	 * 'wall_ns': time since the load was last judged.  'work_ns': the
	 * writer's work in that time, plus the extra time that compression
	 * would have taken.  Both are valid only while 'is_pressed' is set.
	 * 'slept_ns': the writer's sleep during the current block.
	 */
	uint64_t wall_ns, work_ns, slept_ns;
	/* When the previous block ended; 0: no block has ended. */
	uint64_t block_ns;
	uint64_t preemptions_read_ns; /* when 'preemptions' was read */
	uint64_t look_ns; /* time between two readings of 'preemptions' */
	/* Preemptions of all threads of the process, as last read. */
	uint64_t preemptions;
};

/*
 * Call this at the beginning of the trace.  'is_contended': do threads seem to
 * share processors (processors_are_busy())?  load_policy_look() later replaces
 * this first answer.
 */
void load_policy_begin(struct load_policy *p, bool is_contended);

/*
 * Call this at each block.  'waits' is the number of waits of all producers so
 * far.
 */
void load_policy_note_waits(struct load_policy *p, uint64_t waits);

/* Report that the writer has slept for 'ns'. */
static inline void
load_policy_note_sleep(struct load_policy *p, uint64_t ns)
{
	p->slept_ns += ns;
}

/*
 * Report that it took 'ns' to compress a block of 'nbytes' to 'packed' bytes.
 */
void load_policy_note_compressed(struct load_policy *p, uint64_t ns,
				 size_t nbytes, size_t packed);

/* Report that it took 'ns' to write 'nbytes'. */
void load_policy_note_written(struct load_policy *p, uint64_t ns,
			      size_t nbytes);

/* Should the writer store the next block rather than compress it? */
bool load_policy_is_storing(const struct load_policy *p);

/* Call this after a block of 'nbytes'.  'now_ns' is CLOCK_MONOTONIC's time. */
void load_policy_end_block(struct load_policy *p, uint64_t now_ns,
			   size_t nbytes);

/*
 * Call this in each round.  If 'preemptions' was read long enough ago, read it
 * again, and decide whether threads share processors.  Otherwise do nothing.
 */
void load_policy_look(struct load_policy *p, uint64_t now_ns);

/*
 * Should the encoder place metadata without a search?  The answer changes only
 * in load_policy_end_block() and load_policy_look().
 */
static inline bool
load_policy_is_fast(const struct load_policy *p)
{
	return p->is_pressed || p->is_contended;
}

/*
 * How long should the writer sleep between two rounds if threads share
 * processors?  Return a time in ns that is as long as possible, but ends before
 * any ring is likely to be full.  'event_count' is the number of events that
 * all threads have recorded in the last 'passed_ns', and 'room' the number of
 * free words in the fullest ring.
 */
uint64_t load_policy_shared_sleep_ns(uint64_t event_count, uint64_t passed_ns,
				     uint64_t room);

#endif /* LOAD_POLICY_H */
