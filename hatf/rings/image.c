/* SPDX-License-Identifier: MIT */
/*
 * image.c - see image.h
 *
 * A process may be killed between any two stores, and recovery reads the file
 * after that.  A release store is in the file only if all stores before it are
 * in the file, too, so no stronger order is needed.  IMAGE_STEP() marks the
 * points where tests/unit/rings/test_interleave.c kills the process.
 */

#include "hatf/rings/image.h"

#include <stddef.h>
#include <string.h>

#include "hatf/codec/crc32c.h"

#ifndef IMAGE_STEP
#define IMAGE_STEP() ((void)0)
#endif

void
image_init(struct image *image, const uint64_t boot_id[2], uint64_t pid)
{
	image->version = IMAGE_VERSION;
	image->header_nbytes = IMAGE_HEADER_NBYTES;
	image->boot_id[0] = boot_id[0];
	image->boot_id[1] = boot_id[1];
	image->pid = pid;
	for (unsigned i = 0; i < 2; i++)
		atomic_store_explicit(&image->commit[i].seq, IMAGE_NO_COMMIT,
				      memory_order_relaxed);
	/*
	 * Store the magic last, because readers take any file with the magic
	 * for a ring file.
	 */
	atomic_signal_fence(memory_order_release);
	image->magic = IMAGE_MAGIC;
}

uint64_t
image_hash(uint64_t hash, const void *bytes, size_t nbytes)
{
	const uint8_t *const b = bytes;

	for (size_t i = 0; i < nbytes; i++)
		hash = (hash ^ b[i]) * 0x100000001b3ull;
	return hash;
}

/* Return the checksum of 'seq' and of the bytes from 'from' to 'to'. */
static uint64_t
sum_of(uint64_t seq, const void *from, const void *to)
{
	const uint32_t crc = crc32c_add(0, (const uint8_t *)&seq, sizeof(seq));

	return crc32c_add(crc, from,
			  (size_t)((const char *)to - (const char *)from));
}

uint64_t
image_commit_sum(const struct image_commit *c, uint64_t seq)
{
	return sum_of(seq, &c->trace, &c->sum);
}

uint64_t
image_ring_commit_sum(const struct ring_commit *c, uint64_t seq)
{
	return sum_of(seq, &c->pos, &c->sum);
}

struct ring *
image_init_ring(void *memory, uint64_t offset, uint64_t words_max,
		uint64_t capacity)
{
	struct ring *const r = ring_init(memory, capacity);

	r->offset = offset;
	r->words_max = words_max;
	atomic_signal_fence(memory_order_release);
	r->magic = IMAGE_RING_MAGIC;
	return r;
}

void
image_begin_ring(struct ring *r, uint64_t id, bool is_nested)
{
	/* relaxed: a reader ignores these fields while 'life' is 0. */
	for (unsigned i = 0; i < 2; i++) {
		atomic_store_explicit(&r->commit[i].seq, RING_NO_COMMIT,
				      memory_order_relaxed);
		IMAGE_STEP();
	}
	atomic_store_explicit(&r->head, 0, memory_order_relaxed);
	IMAGE_STEP();
	atomic_store_explicit(&r->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&r->waiting, 0, memory_order_relaxed);
	atomic_store_explicit(&r->lost_count, 0, memory_order_relaxed);
	r->id = id;
	r->is_nested = is_nested;
	IMAGE_STEP();
	/*
	 * release: a reader that sees 'life' set also sees the fields that were
	 * stored before 'life'.
	 */
	atomic_store_explicit(&r->life, 1, memory_order_release);
	IMAGE_STEP();
}

void
image_end_ring(struct ring *r)
{
	/*
	 * release: 'life' must become 0 only after the commit that covers the
	 * last event.
	 */
	atomic_store_explicit(&r->life, 0, memory_order_release);
	IMAGE_STEP();
}

static uint64_t
flags_of(const struct order_producer *s, bool is_gone)
{
	return (uint64_t)s->realloc_code << RING_COMMIT_CODE_SHIFT |
	       (s->stamp == s->tick ? RING_COMMIT_TICK : 0u) |
	       (order_is_brief(s, s->stamp) ? RING_COMMIT_BRIEF : 0u) |
	       (s->realloc_open ? RING_COMMIT_REALLOC_OPEN : 0u) |
	       (s->realloc_done ? RING_COMMIT_REALLOC_DONE : 0u) |
	       (s->realloc_freed ? RING_COMMIT_REALLOC_FREED : 0u) |
	       (s->is_dead ? RING_COMMIT_DEAD : 0u) |
	       (is_gone ? RING_COMMIT_GONE : 0u);
}

/*
 * Return the slot of the newest commit whose number is at most 'seq'; -1: none.
 */
static int
last_slot(const struct ring *r, uint64_t seq)
{
	int last = -1;
	uint64_t last_seq = 0;

	for (int i = 0; i < 2; i++) {
		const uint64_t at = atomic_load_explicit(&r->commit[i].seq,
							 memory_order_acquire);

		if (at <= seq && (last < 0 || at > last_seq)) {
			last = i;
			last_seq = at;
		}
	}
	return last;
}

void
image_commit_ring(struct ring *r, const struct order_producer *producer,
		  bool is_gone, uint64_t seq)
{
	const uint64_t flags = flags_of(producer, is_gone);
	const int slot = last_slot(r, RING_NO_COMMIT - 1);
	const struct ring_commit *const last = &r->commit[slot == 1];
	struct ring_commit *const c = &r->commit[slot == 0];

	/*
	 * If the state of the ring has not changed since the last commit, leave
	 * both slots as they are.
	 */
	if (slot >= 0 && last->pos == producer->pos && last->flags == flags)
		return;
	atomic_store_explicit(&c->seq, RING_NO_COMMIT, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	IMAGE_STEP();
	c->pos = producer->pos;
	IMAGE_STEP();
	c->stamp = producer->stamp;
	c->realloc_old = producer->realloc_old;
	c->flags = flags;
	c->thread = producer->id;
	c->stack = producer->stack;
	c->sum = image_ring_commit_sum(c, seq);
	IMAGE_STEP();
	/* release: a reader that sees 'seq' also sees the whole slot. */
	atomic_store_explicit(&c->seq, seq, memory_order_release);
	IMAGE_STEP();
}

uint64_t
image_next_seq(const struct image *image)
{
	/* relaxed: only the caller's thread writes 'seq'. */
	return atomic_load_explicit(&image->seq, memory_order_relaxed) + 1;
}

void
image_commit(struct image *image, const struct image_commit *commit)
{
	const uint64_t seq = image_next_seq(image);
	struct image_commit *const c = &image->commit[seq & 1];

	atomic_store_explicit(&c->seq, IMAGE_NO_COMMIT, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	IMAGE_STEP();
	memcpy((char *)c + sizeof(c->seq),
	       (const char *)commit + sizeof(c->seq),
	       sizeof(*c) - sizeof(c->seq));
	c->sum = image_commit_sum(c, seq);
	IMAGE_STEP();
	/*
	 * release, both: a reader that sees the new value of c->seq or of
	 * image->seq also sees the whole slot.
	 */
	atomic_store_explicit(&c->seq, seq, memory_order_release);
	IMAGE_STEP();
	atomic_store_explicit(&image->seq, seq, memory_order_release);
	IMAGE_STEP();
}

void
image_note_reading(struct image *image, uint64_t stamp, uint64_t ns)
{
	/* relaxed: only the caller's thread writes 'reading_count'. */
	const uint64_t count = 1 + atomic_load_explicit(&image->reading_count,
							memory_order_relaxed);

	image->reading[count & 1] = (struct image_reading){ stamp, ns };
	IMAGE_STEP();
	/* release: a reader that sees the count sees the whole reading. */
	atomic_store_explicit(&image->reading_count, count,
			      memory_order_release);
	IMAGE_STEP();
}

const struct image_reading *
image_last_reading(const struct image *image)
{
	/* acquire: pairs with the release in image_note_reading(). */
	const uint64_t count = atomic_load_explicit(&image->reading_count,
						    memory_order_acquire);

	return count != 0 ? &image->reading[count & 1] : NULL;
}

const struct image_commit *
image_last_commit(const struct image *image)
{
	/* acquire, both loads: pair with the releases in image_commit(). */
	const uint64_t seq =
		atomic_load_explicit(&image->seq, memory_order_acquire);
	const struct image_commit *const c = &image->commit[seq & 1];

	if (seq == 0 ||
	    atomic_load_explicit(&c->seq, memory_order_acquire) != seq)
		return NULL;
	return c;
}

const struct ring_commit *
image_last_ring_commit(const struct ring *r, uint64_t seq)
{
	const int slot = last_slot(r, seq);

	return slot < 0 ? NULL : &r->commit[slot];
}
