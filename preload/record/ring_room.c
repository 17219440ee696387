/* SPDX-License-Identifier: MIT */
/*
 * ring_room.c - the disk space and the memory that hold a ring
 *
 * These functions make rings in the ring file, move a ring from memory into
 * this file, and make rings larger and smaller.  See ringfile.h.
 */

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "hatf/rings/image.h"
#include "preload/config/environment.h"
#include "preload/record/memory_limit.h"
#include "preload/record/record_steps.h"
#include "preload/record/ring_wait.h"
#include "preload/record/ringfile_state.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"

/* The initial capacity of a ring in the file; a power of two. */
#define FIRST_WORDS 8192u

/*
 * Upper bound of the number of words that a recording puts into a ring before
 * it publishes them: the words of the prelude and of all pieces of the longest
 * text.
 */
#define UNPUBLISHED_WORDS       \
	(RECORD_PRELUDE_WORDS + \
	 EVENT_TEXT_NBYTES / EVENT_PIECE_NBYTES * EVENT_WORDS_MAX)

struct ringfile *rf;

/* The file --------------------------------------------------------------- */

/*
 * Has the file grown to 'nbytes' bytes?  A filter may make fallocate() return 0
 * and do nothing.
 */
static bool
has_nbytes(uint64_t nbytes)
{
	struct stat st;

	if (fstat(rf->fd, &st) != 0)
		return false;
	errno = ENOSPC;
	return (uint64_t)st.st_size >= nbytes;
}

bool
ringfile_reserve(uint64_t offset, uint64_t nbytes)
{
	struct rlimit limit;
	long result;

	/* Beyond this limit, fallocate() would raise SIGXFSZ in the program. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY &&
	    offset + nbytes > limit.rlim_cur) {
		errno = EFBIG;
		return false;
	}
	do
		result = syscall(SYS_fallocate, rf->fd, 0, offset, nbytes);
	while (result != 0 && errno == EINTR);
	return result == 0 && has_nbytes(offset + nbytes);
}

/*
 * Undo a mapping that ringfile_map() cannot complete.  If the mapping has
 * replaced a part of a ring, keep the addresses of this part reserved.
 * Otherwise the program could map memory there, and a later attempt to map this
 * part would replace the program's memory.
 */
static void
give_up(void *p, bool is_part, uint64_t nbytes)
{
	if (is_part &&
	    mmap(p, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) != MAP_FAILED)
		return;
	munmap(p, nbytes);
}

/*
 * Like ringfile_map(), but with the given protection, and without a call of
 * memory_count().
 */
static void *
map(void *at, uint64_t offset, uint64_t nbytes, int protection)
{
	void *const p = mmap(at, nbytes, protection,
			     MAP_SHARED | (at != NULL ? MAP_FIXED : 0), rf->fd,
			     (off_t)offset);

	if (p == MAP_FAILED)
		return NULL;
	/*
	 * Do not map this in a forked child, which would write into the file.
	 */
	if (madvise(p, nbytes, MADV_DONTFORK) != 0) {
		give_up(p, at != NULL, nbytes);
		return NULL;
	}
	/*
	 * Turn off read-ahead, since the pages are empty.  With read-ahead, the
	 * first access would fill megabytes of memory with zeros for each ring,
	 * depending on the disk's setting.  Most rings need a page or two.
	 */
	madvise(p, nbytes, MADV_RANDOM);
	return p;
}

void *
ringfile_map(void *at, uint64_t offset, uint64_t nbytes)
{
	void *const p = map(at, offset, nbytes, PROT_READ | PROT_WRITE);

	if (p != NULL && at == NULL)
		memory_count(MEMORY_SHARED, nbytes);
	return p;
}

/* The rings --------------------------------------------------------------- */

/* Does a page of the ring begin with this word? */
static bool
begins_page(const struct ring *r, uint64_t word)
{
	return ((uintptr_t)&r->words[word] & (sys_page_nbytes() - 1)) == 0;
}

/*
 * Make the words [from, to) of the ring inaccessible.  They may lie beyond the
 * end of the file, where each access raises SIGBUS.  A program that reads its
 * whole memory, as the leak checker of gperftools does, finds by
 * /proc/self/maps that it must leave them out.
 */
static void
hide_words(struct ring *r, uint64_t offset, uint64_t from, uint64_t to)
{
	const uint64_t nbytes = (to - from) * sizeof(uint64_t);

	if (from < to && begins_page(r, from))
		map(&r->words[from], offset + ring_nbytes(from), nbytes,
		    PROT_NONE);
}

/* Undo hide_words() for the words [from, to). */
static bool
show_words(struct ring *r, uint64_t from, uint64_t to)
{
	return !begins_page(r, from) ||
	       ringfile_map(&r->words[from], r->offset + ring_nbytes(from),
			    (to - from) * sizeof(uint64_t)) != NULL;
}

static uint64_t
first_words(uint64_t words_max)
{
	return rf->reserve_all || words_max < FIRST_WORDS ? words_max
							  : FIRST_WORDS;
}

/*
 * Map a ring of which the file has only the first 'first' words.  Map the other
 * words inaccessible from the start: another thread may read the program's
 * whole memory at any time (hide_words()).
 */
static struct ring *
map_new_ring(uint64_t offset, uint64_t first, uint64_t words_max)
{
	const uint64_t nbytes = ring_nbytes(words_max);
	void *p;

	if (first == words_max || ring_nbytes(first) % sys_page_nbytes() != 0)
		return ringfile_map(NULL, offset, nbytes);
	p = map(NULL, offset, nbytes, PROT_NONE);
	if (p == NULL)
		return NULL;
	if (ringfile_map(p, offset, ring_nbytes(first)) == NULL) {
		munmap(p, nbytes);
		return NULL;
	}
	memory_count(MEMORY_SHARED, nbytes);
	return p;
}

struct ring *
ringfile_make_ring(uint64_t words_max)
{
	const uint64_t offset = rf->end;
	const uint64_t first = first_words(words_max);
	void *p;

	if (!memory_limit_allows(0, ring_nbytes(words_max))) {
		errno = ENOMEM;
		return NULL;
	}
	if (!ringfile_reserve(offset, ring_nbytes(first)))
		return NULL;
	p = map_new_ring(offset, first, words_max);
	if (p == NULL)
		return NULL;
	rf->end += ring_nbytes(words_max);
	((struct ring *)p)->generation = rf->generation;
	return image_init_ring(p, offset, words_max, first);
}

/* Write at an offset of the file where disk space has been reserved. */
static bool
write_at(uint64_t offset, const void *data, uint64_t nbytes)
{
	const uint8_t *next = data;

	while (nbytes > 0) {
		const long n =
			syscall(SYS_pwrite64, rf->fd, next, nbytes, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		next += n;
		offset += (uint64_t)n;
		nbytes -= (uint64_t)n;
	}
	return true;
}

/* Write the content of 'r' as a ring at this offset of the file. */
static bool
write_ring(const struct ring *r, uint64_t offset)
{
	const uint64_t words = ring_mask(r) + 1;
	/* Include words that an interrupted recording has not published. */
	const uint64_t put = ring_head(r) + UNPUBLISHED_WORDS;
	const uint64_t used = put < words ? put : words;
	_Alignas(struct ring) uint8_t bytes[sizeof(struct ring)];
	struct ring *const head = (struct ring *)(void *)bytes;

	memcpy(bytes, r, sizeof(bytes));
	head->magic = IMAGE_RING_MAGIC;
	head->offset = offset;
	head->generation = rf->generation;
	/* Store no commit: 'r' has none in this file yet. */
	for (unsigned i = 0; i < 2; i++)
		atomic_store_explicit(&head->commit[i].seq, RING_NO_COMMIT,
				      memory_order_relaxed);
	/* Write the header last: readers ignore a ring without a header. */
	return write_at(offset + sizeof(bytes), r->words,
			used * sizeof(uint64_t)) &&
	       write_at(offset, bytes, sizeof(bytes));
}

/*
 * Return the capacity that the ring 'r' should have in the file.  If the
 * producer has already filled half of the present capacity, return a larger
 * one.  With the present capacity, the producer would soon wait for room, since
 * the writer needs some time for these events.
 *
 * The producer may go on with its copies of the present capacity and limit
 * (struct thread).  So return a larger capacity only if no word has been
 * released yet.  In this case the limit is within the present capacity, and
 * each word below the limit has the same slot with both capacities.
 */
static uint64_t
larger_words(const struct ring *r)
{
	const uint64_t words = ring_mask(r) + 1;
	const uint64_t head = ring_head(r);
	const bool grows = ring_tail(r) == 0 && head >= words / 2 &&
			   head + UNPUBLISHED_WORDS <= words &&
			   4 * words <= RINGFILE_USUAL_WORDS &&
			   4 * words <= r->words_max &&
			   4 * words <= environment_own()->all_ring_words / 2;

	return grows ? 4 * words : words;
}

/*
 * Reserve room in the file for 'r' with a capacity of 'words', and set the
 * capacity of 'r' to 'words'.
 */
static bool
reserve_ring(struct ring *r, uint64_t offset, uint64_t words)
{
	if (!ringfile_reserve(offset, ring_nbytes(words)))
		return false;
	/*
	 * relaxed: the producer waits, and reads the capacity only after its
	 * wait.
	 */
	atomic_store_explicit(&r->capacity, words, memory_order_relaxed);
	return true;
}

void
ringfile_adopt(struct ring *r, bool may_grow)
{
	const uint64_t offset = rf->end;

	if (rf->image == NULL)
		return;
	if ((!(may_grow && reserve_ring(r, offset, larger_words(r))) &&
	     !reserve_ring(r, offset, ring_mask(r) + 1)) ||
	    !write_ring(r, offset))
		return;
	if (ringfile_map(r, offset, ring_nbytes(r->words_max)) == NULL) {
		say("%s: cannot map the ring file: %s; if the process is "
		    "killed, its last events are lost",
		    rf->path, say_errno(errno));
		return;
	}
	hide_words(r, offset, ring_mask(r) + 1, r->words_max);
	rf->end += ring_nbytes(r->words_max);
	/* relaxed: no other data depends on the count. */
	atomic_store_explicit(&rf->image->hidden, 0, memory_order_relaxed);
}

/*
 * Reserve room in the file for words [from, to) of the ring, and make them
 * accessible (show_words()).
 */
static bool
reserve_words(struct ring *r, uint64_t from, uint64_t to)
{
	/* A ring that is only in memory needs no reservation in the file. */
	if (r->offset == 0)
		return true;
	if (r->generation != rf->generation ||
	    sys_clock_ns(CLOCK_MONOTONIC) < rf->refused_ns)
		return false;
	if (ringfile_reserve(r->offset + ring_nbytes(from),
			     (to - from) * sizeof(uint64_t)) &&
	    show_words(r, from, to))
		return true;
	rf->refused_ns = sys_clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
	return false;
}

uint64_t
ringfile_extend(struct ring *r, uint64_t room_words)
{
	const uint64_t words = ring_mask(r) + 1;
	uint64_t more = words < RINGFILE_USUAL_WORDS ? words * 4 : words * 2;

	if (!ring_wait_is_pending(r) || words == r->words_max)
		return 0;
	if (more > r->words_max)
		more = r->words_max;
	while (more - words > room_words && more > words)
		more /= 2;
	if (more == words || !reserve_words(r, words, more))
		return 0;
	ring_wait_grow(r, more);
	return more - words;
}

void
ringfile_shrink(struct ring *r, uint64_t keep_words)
{
	const uint64_t words = ring_mask(r) + 1;

	if (r->offset == 0) {
		memory_drop(r->words, words * sizeof(uint64_t));
		return;
	}
	if (rf->reserve_all || words <= keep_words)
		return;
	/*
	 * relaxed: thread_recycle() publishes the capacity by a release store.
	 */
	atomic_store_explicit(&r->capacity, keep_words, memory_order_relaxed);
	memory_drop(&r->words[keep_words],
		    (words - keep_words) * sizeof(uint64_t));
}
