/* SPDX-License-Identifier: MIT */
/*
 * load_policy.h - when the writer spares time rather than bytes
 *
 * A trace gets smallest if its metadata is placed with care and its blocks are
 * compressed.  That is most of what the writer does, and it costs the program nothing
 * while there is a processor that is idle.  Where there is none, or where producers
 * wait for room again and again, the same trace takes some more bytes instead:
 * its metadata is placed wide (encoder_hasten()), and in the second case blocks are
 * stored, if that is faster.
 *
 * Belongs to the writer thread, which tells it what happens and asks at the end of
 * each block.
 */
#ifndef LOAD_POLICY_H
#define LOAD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load_policy {
	/* One more at each block before which a producer had to wait, half at each
	 * other one. */
	uint32_t pressure;
	uint64_t waits; /* of all producers, as told last */
	bool is_pressed;
	bool is_contended;
	/* What compressing has cost and spared, and what writing cost. */
	uint64_t compress_ns, compressed_nbytes, saved_nbytes;
	uint64_t write_ns, written_nbytes;
	/* While pressed: time since the writer was last asked to judge, how much of
	 * it was, or would have been, work; and what of the block was sleep. */
	uint64_t wall_ns, work_ns, slept_ns;
	uint64_t block_ns; /* when the last block ended; 0: none has */
	uint64_t preemptions_read_ns; /* when 'preemptions' was read */
	uint64_t preemptions;	      /* of all threads of the process */
};

/* So many waits of producers there have been when a block has been written. */
void load_policy_note_waits(struct load_policy *p, uint64_t waits);

/* The writer has slept. */
static inline void
load_policy_note_sleep(struct load_policy *p, uint64_t ns)
{
	p->slept_ns += ns;
}

/* A block of 'nbytes' has been made into 'packed' bytes; one has been written. */
void load_policy_note_compressed(struct load_policy *p, uint64_t ns,
				 size_t nbytes, size_t packed);
void load_policy_note_written(struct load_policy *p, uint64_t ns,
			      size_t nbytes);

/* Shall the block be stored, rather than compressed? */
bool load_policy_is_storing(const struct load_policy *p);

/*
 * A block of 'nbytes' has ended at 'now_ns', of CLOCK_MONOTONIC.  Returns whether the
 * next one is to be placed wide.
 */
bool load_policy_end_block(struct load_policy *p, uint64_t now_ns,
			   size_t nbytes);

#endif /* LOAD_POLICY_H */
