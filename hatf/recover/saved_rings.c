/* SPDX-License-Identifier: MIT */
/* saved_rings.c - see saved_rings.h */

#include "hatf/recover/saved_rings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Upper limit of the number of words copied from all rings (RINGS "Limits"). */
#define WORDS_MAX (1ull << 30)

/* Our copy of a ring has at least this capacity, in words. */
#define CAPACITY_MIN 64u

struct file {
	int fd;
	uint64_t nbytes;
	struct hatf_error *err;
};

static enum hatf_status
fail(const struct file *f, enum hatf_status status, uint64_t offset,
     const char *field)
{
	*f->err = (struct hatf_error){
		.status = status,
		.sys_errno = status == HATF_IO ? errno : 0,
		.offset = offset,
		.file_offset = offset,
		.field = field,
	};
	return status;
}

static enum hatf_status
read_at(const struct file *f, void *buf, uint64_t nbytes, uint64_t offset)
{
	char *next = buf;

	while (nbytes > 0) {
		const ssize_t n = pread(f->fd, next, nbytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(f, HATF_IO, offset, NULL);
		if (n == 0)
			return fail(f, HATF_BAD_RINGS, offset, "end of file");
		next += n;
		nbytes -= (uint64_t)n;
		offset += (uint64_t)n;
	}
	return HATF_OK;
}

static bool
is_power(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

/* ----------------------------------------------------------------- header */

/*
 * Return the name of the first invalid field of the commit or of the struct
 * image_trace that the commit refers to; NULL if all fields are valid.
 */
static const char *
check_commit(const struct image_commit *c, const struct image *image)
{
	const struct timeline *const l = &c->timeline;

	if (c->trace > 1)
		return "trace";
	if (image->trace[c->trace].head_nbytes > c->nbytes ||
	    image->trace[c->trace].head_nbytes > IMAGE_HEAD_NBYTES_MAX)
		return "head_nbytes";
	if (c->nbytes > INT64_MAX)
		return "nbytes";
	if (c->unit_ns != 0 && c->unit_ns != 1 && c->unit_ns != 1000)
		return "unit_ns";
	if (c->grain == 0 || c->grain > 1000000)
		return "grain";
	if (c->level < -1 || c->level > 9)
		return "level";
	if (l->ns1 < l->ns0 || l->ns1 < l->start_ns || l->ns1 > INT64_MAX ||
	    l->stamp1 < l->stamp0)
		return "timeline";
	if (!isfinite(l->slope) || l->slope < 0 || l->slope > 1e6)
		return "slope";
	return NULL;
}

/*
 * If the commit's timeline is extended to the last reading of the clocks, are
 * the end and the slope of the longer timeline within bounds?
 */
static bool
is_reading_possible(const struct image *image, const struct image_commit *c)
{
	const struct image_reading *const r = image_last_reading(image);
	struct timeline line = c->timeline;

	if (r == NULL)
		return true;
	timeline_add(&line, r->stamp, r->ns, 0);
	return line.ns1 <= INT64_MAX && line.slope <= 1e6;
}

static enum hatf_status
check_header(struct saved_rings *set, const struct file *f)
{
	const struct image *const image = set->image;
	const char *field;

	if (image->magic != IMAGE_MAGIC)
		return fail(f, HATF_BAD_RINGS, 0, "magic");
	if (image->version != IMAGE_VERSION ||
	    image->header_nbytes != IMAGE_HEADER_NBYTES)
		return fail(f, HATF_BAD_RINGS, 8, "version");
	for (unsigned i = 0; i < 2; i++)
		if (memchr(image->trace[i].path, '\0', IMAGE_PATH_NBYTES) ==
		    NULL)
			return fail(f, HATF_BAD_RINGS,
				    offsetof(struct image, trace), "path");
	set->commit = image_last_commit(image);
	if (set->commit == NULL)
		return image->seq == 0
			       ? HATF_OK
			       : fail(f, HATF_BAD_RINGS,
				      offsetof(struct image, seq), "seq");
	field = set->commit->sum == image_commit_sum(set->commit, image->seq)
			? check_commit(set->commit, image)
			: "sum";
	if (field != NULL)
		return fail(f, HATF_BAD_RINGS, offsetof(struct image, commit),
			    field);
	if (!is_reading_possible(image, set->commit))
		return fail(f, HATF_BAD_RINGS, offsetof(struct image, reading),
			    "reading");
	return HATF_OK;
}

static enum hatf_status
read_header(struct saved_rings *set, const struct file *f)
{
	enum hatf_status status;

	set->image = calloc(1, IMAGE_HEADER_NBYTES);
	if (set->image == NULL)
		return fail(f, HATF_NO_MEMORY, 0, NULL);
	/* The recorder creates an empty file and then extends it. */
	set->is_unwritten = f->nbytes == 0;
	if (set->is_unwritten)
		return HATF_OK;
	if (f->nbytes < IMAGE_HEADER_NBYTES)
		return fail(f, HATF_BAD_RINGS, f->nbytes, "header");
	status = read_at(f, set->image, IMAGE_HEADER_NBYTES, 0);
	if (status != HATF_OK)
		return status;
	/* The recorder writes the magic number last. */
	set->is_unwritten = set->image->magic == 0 && set->image->seq == 0;
	if (!set->is_unwritten)
		return check_header(set, f);
	memset(set->image, 0, IMAGE_HEADER_NBYTES);
	return HATF_OK;
}

/* ------------------------------------------------------------------ rings */

/*
 * Return how many words the event with the first word 'word' has; 0 if no event
 * begins with this word.
 */
static unsigned
event_words(uint64_t word)
{
	const unsigned type = word >> 3 & 31;

	/*
	 * A word of 0 is unused memory.  It cannot be a malloc(0) that has
	 * returned NULL, because the recorder then uses a wide event.
	 */
	if (word == 0)
		return 0;
	switch (word & EVENT_KIND_MASK) {
	case EVENT_KIND_ALLOC:
	case EVENT_KIND_FREE:
	case EVENT_KIND_CALLOC:
	case EVENT_KIND_REALLOC:
		return 1;
	case EVENT_KIND_ALLOC_STAMPED:
	case EVENT_KIND_FREE_STAMPED:
	case EVENT_KIND_CALLOC_STAMPED:
		return 2;
	case EVENT_KIND_WIDE:
		break;
	default:
		return 0;
	}
	if (event_is_stack(word))
		return 1;
	if (type >= EVENT_TYPE_COUNT || type == EVENT_STACK ||
	    word >> 32 != 0 ||
	    (word >> 8 & 255) != 2 + event_operand_count((enum event_type)type))
		return 0;
	return (unsigned)(word >> 8 & 255);
}

/*
 * Step from event to event, and update set->stamp_max.  Return the position of
 * the first event that is invalid or incomplete; if there is none, 'head'.
 */
static uint64_t
check_events(struct saved_rings *set, const struct ring *r, uint64_t pos,
	     uint64_t head)
{
	while (pos < head) {
		const unsigned n = event_words(ring_get(r, pos));

		if (n == 0 || n > head - pos)
			break;
		if (n > 1 && ring_get(r, pos + 1) > set->stamp_max)
			set->stamp_max = ring_get(r, pos + 1);
		pos += n;
	}
	return pos;
}

/*
 * Check the header of a ring, except the positions and the commit slots.
 * Return the name of an invalid field, or NULL.
 */
static const char *
check_ring(const struct ring *r, uint64_t offset, const struct file *f)
{
	if (r->magic != IMAGE_RING_MAGIC || r->offset != offset)
		return "ring";
	if (!is_power(r->words_max) || r->words_max < IMAGE_WORDS_MIN ||
	    r->words_max > IMAGE_WORDS_MAX)
		return "words_max";
	if (r->life == 0)
		return NULL;
	if (r->life != 1)
		return "life";
	if (!is_power(r->capacity) || r->capacity > r->words_max)
		return "capacity";
	if (ring_nbytes(r->capacity) > f->nbytes - offset)
		return "end of file";
	return NULL;
}

/*
 * Do both commit slots of a ring (image.h) have the right checksum?  A slot
 * that is unused, or that the process was writing when it was killed, has
 * RING_NO_COMMIT and needs no checksum.
 */
static bool
has_sums(const struct ring *r)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct ring_commit *const c = &r->commit[i];

		if (c->seq != RING_NO_COMMIT &&
		    c->sum != image_ring_commit_sum(c, c->seq))
			return false;
	}
	return true;
}

/*
 * Check the positions and the commit slots of a ring.  'pos' is the position of
 * the first event that is in no block of the trace.  Return the name of an
 * invalid field, or NULL.
 */
static const char *
check_positions(const struct ring *r, const struct ring_commit *last,
		uint64_t pos)
{
	if (!has_sums(r))
		return "sum";
	if (last == NULL && r->tail != 0)
		return "tail";
	if (r->tail > pos || pos > r->head)
		return "pos";
	if (r->head - r->tail > r->capacity)
		return "head";
	return NULL;
}

/*
 * Return how many of the 'n' words at 'offset' may belong to events.  A hole of
 * the file reads as zeros, so no event begins in a hole.  Do not read whole
 * holes: a hole takes no disk space, so it can be very long.  Count only the
 * words before the first hole, and EVENT_WORDS_MAX more.  An event that begins
 * before the hole may end with zeros, which a sparse copy of the file can store
 * as part of the hole.
 */
static uint64_t
words_to_hole(const struct file *f, uint64_t offset, uint64_t n)
{
	const off_t hole = lseek(f->fd, (off_t)offset, SEEK_HOLE);

	/*
	 * If lseek() fails, it is unknown where the holes are, so count all
	 * words.
	 */
	if (hole < 0 || (uint64_t)hole >= offset + n * sizeof(uint64_t))
		return n;

	const uint64_t words =
		((uint64_t)hole - offset) / sizeof(uint64_t) + EVENT_WORDS_MAX;

	return words < n ? words : n;
}

/* Return 'n' rounded up to a power of two, but at least CAPACITY_MIN. */
static uint64_t
capacity_for(uint64_t n)
{
	uint64_t capacity = CAPACITY_MIN;

	while (capacity < n)
		capacity *= 2;
	return capacity;
}

static struct ring *
make_ring(uint64_t capacity)
{
	const size_t nbytes = ring_nbytes(capacity);
	struct ring *const r = aligned_alloc(
		RING_HEADER_NBYTES, (nbytes + RING_HEADER_NBYTES - 1) &
					    ~(size_t)(RING_HEADER_NBYTES - 1));

	if (r == NULL)
		return NULL;
	memset(r, 0, sizeof(*r));
	return ring_init(r, capacity);
}

/*
 * Copy the words from 'pos' to the head into our own ring, but stop after the
 * words that words_to_hole() counts.  '*end_ret' is the position after the last
 * word copied.
 */
static enum hatf_status
copy_words(const struct file *f, const struct ring *from, uint64_t pos,
	   struct ring *to, uint64_t *end_ret)
{
	const uint64_t from_mask = ring_mask(from), to_mask = ring_mask(to);
	const uint64_t base = from->offset + RING_HEADER_NBYTES;
	enum hatf_status status = HATF_OK;
	uint64_t n = 1, want = 1;

	/* Copy piece by piece, because both rings wrap around. */
	while (status == HATF_OK && n == want && pos < from->head) {
		const uint64_t offset =
			base + (pos & from_mask) * sizeof(uint64_t);

		want = from->head - pos;
		if (want > from_mask + 1 - (pos & from_mask))
			want = from_mask + 1 - (pos & from_mask);
		if (want > to_mask + 1 - (pos & to_mask))
			want = to_mask + 1 - (pos & to_mask);
		n = words_to_hole(f, offset, want);
		status = read_at(f, &to->words[pos & to_mask],
				 n * sizeof(uint64_t), offset);
		pos += n;
	}
	*end_ret = pos;
	return status;
}

static bool
add_ring(struct saved_rings *set, struct saved_ring **ring_ret)
{
	if (set->count == set->max) {
		const uint32_t max = set->max == 0 ? 64 : set->max * 2;
		struct saved_ring *const rings =
			reallocarray(set->rings, max, sizeof(*rings));

		if (rings == NULL)
			return false;
		set->rings = rings;
		set->max = max;
	}
	*ring_ret = &set->rings[set->count];
	**ring_ret = (struct saved_ring){ .is_nested = false };
	return true;
}

static void
copy_state(struct saved_ring *ring, const struct ring *from,
	   const struct ring_commit *last)
{
	struct order_producer *const s = &ring->producer;

	s->id = from->id;
	ring->is_nested = from->is_nested != 0;
	ring->lost_count = from->lost_count;
	ring->lost_first = from->lost_first;
	if (last == NULL)
		return;
	s->id = last->thread;
	s->pos = last->pos;
	s->stamp = last->stamp;
	if ((last->flags & RING_COMMIT_TICK) != 0)
		s->tick = last->stamp;
	s->tick_is_brief = (last->flags & RING_COMMIT_BRIEF) != 0;
	s->stack = (uint32_t)last->stack;
	s->realloc_old = last->realloc_old;
	s->realloc_code =
		(unsigned)(last->flags >> RING_COMMIT_CODE_SHIFT) & 0xffff;
	s->realloc_open = (last->flags & RING_COMMIT_REALLOC_OPEN) != 0;
	s->realloc_done = (last->flags & RING_COMMIT_REALLOC_DONE) != 0;
	s->realloc_freed = (last->flags & RING_COMMIT_REALLOC_FREED) != 0;
	s->is_dead = (last->flags & RING_COMMIT_DEAD) != 0;
	ring->is_gone = (last->flags & RING_COMMIT_GONE) != 0;
}

/* Copy a ring that is in use.  'from' is its header. */
static enum hatf_status
copy_ring(struct saved_rings *set, const struct file *f,
	  const struct ring *from, bool salvage)
{
	const struct ring_commit *const last =
		image_last_ring_commit(from, set->image->seq);
	const uint64_t pos = last != NULL ? last->pos : 0;
	const char *const field = check_positions(from, last, pos);
	struct saved_ring *ring;
	enum hatf_status status;
	uint64_t end;

	if (field != NULL)
		return fail(f, HATF_BAD_RINGS, from->offset, field);
	if (from->head - pos > WORDS_MAX - set->word_count)
		return fail(f, HATF_LIMIT, from->offset, "head");
	if (set->count == IMAGE_RINGS_MAX)
		return fail(f, HATF_LIMIT, from->offset, "rings");
	if (!add_ring(set, &ring))
		return fail(f, HATF_NO_MEMORY, from->offset, NULL);
	copy_state(ring, from, last);
	ring->producer.ring = make_ring(capacity_for(from->head - pos));
	if (ring->producer.ring == NULL)
		return fail(f, HATF_NO_MEMORY, from->offset, NULL);
	/*
	 * Count the ring even if copy_words() fails, so that saved_rings_fini()
	 * frees it.
	 */
	set->count++;
	status = copy_words(f, from, pos, ring->producer.ring, &end);
	if (status != HATF_OK)
		return status;
	end = check_events(set, ring->producer.ring, pos, end);
	if (end != from->head && !salvage)
		return fail(f, HATF_BAD_RINGS,
			    from->offset + RING_HEADER_NBYTES +
				    (end & ring_mask(from)) * sizeof(uint64_t),
			    "event");
	set->is_cut |= end != from->head;
	ring_publish(ring->producer.ring, end);
	set->word_count += end - pos;
	return HATF_OK;
}

static enum hatf_status
read_rings(struct saved_rings *set, const struct file *f, bool salvage)
{
	/*
	 * Allocate the header, because a static one would be shared between
	 * threads, and the stack may be too small.
	 */
	struct ring *const header =
		aligned_alloc(RING_HEADER_NBYTES, RING_HEADER_NBYTES);
	uint64_t offset = IMAGE_HEADER_NBYTES;
	enum hatf_status status = HATF_OK;

	if (header == NULL)
		return fail(f, HATF_NO_MEMORY, offset, NULL);
	while (status == HATF_OK && offset < f->nbytes &&
	       f->nbytes - offset >= RING_HEADER_NBYTES) {
		const char *field;

		status = read_at(f, header, RING_HEADER_NBYTES, offset);
		/*
		 * A ring without a magic number is the last one: the process
		 * was killed before it had initialized this ring.
		 */
		if (status != HATF_OK || header->magic == 0)
			break;
		field = check_ring(header, offset, f);
		if (field != NULL)
			status = fail(f, HATF_BAD_RINGS, offset, field);
		else if (header->life != 0)
			status = copy_ring(set, f, header, salvage);
		if (status == HATF_BAD_RINGS && salvage) {
			set->is_cut = true;
			status = HATF_OK;
		}
		if (!is_power(header->words_max) ||
		    header->words_max > IMAGE_WORDS_MAX)
			break;
		offset += ring_nbytes(header->words_max);
	}
	free(header);
	return status;
}

/*
 * Check that no ring has events.  The file has no commit, and the recorder
 * commits before it puts the first event into the file.
 */
static enum hatf_status
check_unused(const struct file *f)
{
	struct ring *const header =
		aligned_alloc(RING_HEADER_NBYTES, RING_HEADER_NBYTES);
	uint64_t offset = IMAGE_HEADER_NBYTES;
	enum hatf_status status = HATF_OK;

	if (header == NULL)
		return fail(f, HATF_NO_MEMORY, offset, NULL);
	while (status == HATF_OK && offset < f->nbytes &&
	       f->nbytes - offset >= RING_HEADER_NBYTES) {
		status = read_at(f, header, RING_HEADER_NBYTES, offset);
		if (status != HATF_OK || header->magic != IMAGE_RING_MAGIC ||
		    !is_power(header->words_max) ||
		    header->words_max > IMAGE_WORDS_MAX)
			break;
		if (header->life != 0 && header->head != 0)
			status = fail(f, HATF_BAD_RINGS,
				      offsetof(struct image, seq), "seq");
		offset += ring_nbytes(header->words_max);
	}
	free(header);
	return status;
}

static enum hatf_status
open_file(struct saved_rings *set, struct file *f)
{
	struct stat st;

	*set = (struct saved_rings){ .count = 0 };
	if (fstat(f->fd, &st) != 0)
		return fail(f, HATF_IO, 0, NULL);
	if (!S_ISREG(st.st_mode))
		return fail(f, HATF_BAD_RINGS, 0, "file");
	f->nbytes = (uint64_t)st.st_size;
	return read_header(set, f);
}

enum hatf_status
saved_rings_read_header(struct saved_rings *set, int fd, struct hatf_error *err)
{
	struct file f = { .fd = fd, .err = err };

	return open_file(set, &f);
}

enum hatf_status
saved_rings_read(struct saved_rings *set, int fd, bool salvage,
		 struct hatf_error *err)
{
	struct file f = { .fd = fd, .err = err };
	const enum hatf_status status = open_file(set, &f);

	if (status == HATF_OK && set->commit == NULL && !salvage)
		return check_unused(&f);
	if (status != HATF_OK || set->commit == NULL ||
	    (set->commit->flags & IMAGE_COMMIT_STOPPED) != 0)
		return status;
	return read_rings(set, &f, salvage);
}

void
saved_rings_fini(struct saved_rings *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		free(set->rings[i].producer.ring);
	free(set->rings);
	free(set->image);
	*set = (struct saved_rings){ .count = 0 };
}

bool
saved_rings_is_begun_by(const struct saved_rings *set, int fd)
{
	const struct image_trace *const t =
		&set->image->trace[set->commit->trace];
	uint64_t hash = IMAGE_HASH_START, left = t->head_nbytes, offset = 0;
	uint8_t buf[4096];

	if (left == 0)
		return false;
	while (left > 0) {
		const size_t want = left < sizeof(buf) ? left : sizeof(buf);
		const ssize_t n = pread(fd, buf, want, (off_t)offset);

		if (n <= 0)
			return false;
		hash = image_hash(hash, buf, (size_t)n);
		offset += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return hash == t->head_hash;
}
