/* SPDX-License-Identifier: MIT */
/*
 * load_policy.h - when the writer saves time rather than bytes
 *
 * A trace is smallest if the encoder searches for the best place of its
 * metadata and the blocks are compressed.  These two are most of the writer's
 * work, and cost the program nothing while a processor is idle.  If no
 * processor is idle, or if producers wait for room again and again, the writer
 * accepts a larger trace: the encoder places metadata without a search
 * (encoder_set_fast()), and, if producers wait and storing is faster than
 * compressing, blocks are stored.
 *
 * Only the writer thread calls these functions.  It reports waits, sleeps and
 * costs, and gets a decision at the end of each block.
 */
#ifndef LOAD_POLICY_H
#define LOAD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load_policy {
	/*
	 * Plus 1 at each block before which a producer had to wait, halved at
	 * each other block.
	 */
	uint32_t pressure;
	uint64_t waits;	   /* of all producers, as last reported */
	bool is_pressed;   /* producers wait, or the writer is overloaded */
	bool is_contended; /* threads share processors */
	/* Cost and saving of compression, and cost of writing. */
	uint64_t compress_ns, compressed_nbytes, saved_nbytes;
	uint64_t write_ns, written_nbytes;
	/*
	 * While pressed: the time since the load was last judged; the work in
	 * that time, with the compression that was saved; and the sleep in this
	 * block.
	 */
	uint64_t wall_ns, work_ns, slept_ns;
	uint64_t block_ns; /* when the last block ended; 0: none has */
	uint64_t preemptions_read_ns; /* when 'preemptions' was read */
	uint64_t preemptions;	      /* of all threads of the process */
};

/* Call at each block: producers have waited 'waits' times so far. */
void load_policy_note_waits(struct load_policy *p, uint64_t waits);

/* The writer has slept for 'ns'. */
static inline void
load_policy_note_sleep(struct load_policy *p, uint64_t ns)
{
	p->slept_ns += ns;
}

/* It took 'ns' to compress a block of 'nbytes' to 'packed' bytes. */
void load_policy_note_compressed(struct load_policy *p, uint64_t ns,
				 size_t nbytes, size_t packed);

/* It took 'ns' to write 'nbytes'. */
void load_policy_note_written(struct load_policy *p, uint64_t ns,
			      size_t nbytes);

/* Should the writer store the next block rather than compress it? */
bool load_policy_is_storing(const struct load_policy *p);

/*
 * Call at 'now_ns' of CLOCK_MONOTONIC, after a block of 'nbytes'.  Return
 * whether the encoder should place the metadata of the next block without a
 * search.
 */
bool load_policy_end_block(struct load_policy *p, uint64_t now_ns,
			   size_t nbytes);

#endif /* LOAD_POLICY_H */
