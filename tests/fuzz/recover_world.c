/* SPDX-License-Identifier: MIT */
/* recover_world.c - see recover_world.h */
#include "recover_world.h"

#include "fuzz.h"
#include "hatf/deflate/deflate.h"

enum operation {
	OP_WORD,    /* an event of one word, kinds 0, 1, 5 and 7 */
	OP_STAMPED, /* of two */
	OP_WIDE,
	OP_LOST,
	OP_DIE,
	OP_COMMIT,
	OP_ANNOUNCE,
	OP_TORN, /* more in the trace than was committed */
	OP_TRIM, /* or less */
	OP_CUT,	 /* the ring file ends early */
	OP_END,	 /* flags of the last commit */
	OP_PATCH_HEADER,
	OP_PATCH_NEXT,
	OP_PATCH_RING,
	OP_PATCH_WORD,
	OP_COUNT
};

struct input {
	const uint8_t *next, *end;
};

struct world world;
_Alignas(RING_HEADER_NBYTES) uint8_t world_file[FILE_NBYTES];
static struct image *const image = (struct image *)world_file;

/* Take a byte of the input; 0 after its end. */
static uint8_t
take(struct input *in)
{
	return in->next < in->end ? *in->next++ : 0;
}

static uint64_t
take_number(struct input *in, unsigned nbytes)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < nbytes; i++)
		n |= (uint64_t)take(in) << 8 * i;
	return n;
}

static void
append(const uint8_t *bytes, size_t nbytes)
{
	static uint8_t work[512 * 1024] __attribute__((aligned(64)));
	uint8_t *const to = world.bytes + world.trace.output.nbytes;
	const size_t room = TRACE_MAX - world.trace.output.nbytes;

	if ((world.options & WITH_DEFLATE) != 0) {
		fuzz_check(deflate_bound(nbytes) <= room);
		nbytes = deflate_member(1, work, bytes, nbytes, to, room);
	} else {
		fuzz_check(nbytes <= room);
		memcpy(to, bytes, nbytes);
	}
	world.trace.output.nbytes += nbytes;
}

static void
end_block(void)
{
	struct encoder *const e = &world.trace.narrator.encoder;

	if (!world.trace.narrator.in_block)
		return;
	encoder_end(e);
	append(e->buf, e->used);
	encoder_reset(e);
	world.trace.narrator.in_block = false;
}

static void
take_event(void *context, const struct order_producer *producer,
	   const struct event *ev)
{
	(void)context;
	if (narrate_is_full(&world.trace.narrator))
		end_block();
	narrate_event(&world.trace.narrator, producer, ev);
}

size_t
world_put_header(char *text, size_t nbytes, unsigned start, unsigned segment)
{
	return (size_t)snprintf(text, nbytes,
				"HATF 1.0\nunit=us\npid=" PID
				"\nstart_time=%u\nsegment=%u\n",
				start, segment);
}

static void
commit(void)
{
	struct image_commit c;

	trace_get_state(&world.trace, &c);
	c.flags |= world.commit_flags;
	c.threads = world.thread_count;
	image_commit(image, &c);
	/* The false header claims a trailer. */
	world.has_false_header |= (c.flags & IMAGE_COMMIT_ENDED) != 0;
}

/* As the writer does: put all ordered events into a block, release the room. */
static void
write_rings(void)
{
	unsigned n = 0;

	if ((world.options & WITHOUT_COMMIT) != 0 ||
	    world.trace.output.nbytes > TRACE_MAX / 2)
		return;
	for (unsigned i = 0; i < RINGS; i++)
		if (world.threads[i].is_alive)
			world.list[n++] = &world.threads[i].producer;
	narrate_read_clock(&world.trace.narrator, world.clock,
			   world.clock * 1000);
	order_round(&world.order, world.list, n, world.clock, false);
	for (unsigned i = 0; i < RINGS; i++) {
		struct thread *const t = &world.threads[i];

		if (!t->is_alive)
			continue;
		t->is_gone = t->producer.is_dead &&
			     t->producer.pos == ring_head(t->ring);
		if (t->is_gone && t->producer.id != 0)
			narrate_thread_end(&world.trace.narrator, &t->producer,
					   t->producer.stamp);
	}
	end_block();
	for (unsigned i = 0; i < RINGS; i++) {
		const struct thread *const t = &world.threads[i];

		if (t->is_alive)
			image_commit_ring(t->ring, &t->producer, t->is_gone,
					  image_next_seq(image));
	}
	commit();
	for (unsigned i = 0; i < RINGS; i++) {
		struct thread *const t = &world.threads[i];

		if (!t->is_alive)
			continue;
		atomic_store(&t->ring->tail, t->producer.pos);
		if (t->is_gone) {
			image_end_ring(t->ring);
			t->is_alive = false;
		}
	}
}

static struct thread *
live_thread(unsigned i)
{
	struct thread *const t = &world.threads[i % RINGS];

	if (t->is_alive)
		return t;
	t->producer = (struct order_producer){ .id = world.thread_count++,
					       .ring = t->ring };
	t->is_alive = true;
	image_begin_ring(t->ring, t->producer.id, i / RINGS % 2 != 0);
	return t;
}

static void
put(struct thread *t, const uint64_t *words, unsigned n)
{
	uint64_t head = ring_head(t->ring);

	if (head + n > ring_limit(t->ring)) {
		t->ring->lost_count++;
		if (t->ring->lost_first == 0)
			t->ring->lost_first = world.clock;
		return;
	}
	for (unsigned i = 0; i < n; i++)
		ring_put(t->ring, head++, words[i]);
	ring_publish(t->ring, head);
}

static void
put_word(struct thread *t, struct input *in, bool is_stamped)
{
	static const uint64_t kinds[2][4] = {
		{ EVENT_KIND_ALLOC, EVENT_KIND_FREE, EVENT_KIND_CALLOC,
		  EVENT_KIND_REALLOC },
		{ EVENT_KIND_ALLOC_STAMPED, EVENT_KIND_FREE_STAMPED,
		  EVENT_KIND_CALLOC_STAMPED, EVENT_KIND_FREE_STAMPED },
	};
	const unsigned code = take(in);
	const uint64_t address = take(in), size = take(in);
	const uint64_t words[] = {
		kinds[is_stamped][code % 4] | address << 3 |
			((code & 4) != 0 ? EVENT_REALLOC_IS_END : 0) |
			size << EVENT_SIZE_SHIFT,
		world.clock,
	};

	put(t, words, is_stamped ? 2 : 1);
}

static void
put_wide(struct thread *t, struct input *in)
{
	const unsigned code = take(in);
	const enum event_type type = code % EVENT_TYPE_COUNT;
	const unsigned n = event_operand_count(type);
	uint64_t words[EVENT_WORDS_MAX] = {
		event_wide(type, n + 2, take(in)),
		world.clock,
	};

	for (unsigned i = 0; i < n; i++)
		words[2 + i] = code < 128 ? (uint64_t)take(in) << 3
					  : take_number(in, 8);
	put(t, words, n + 2);
}

static void
add_patch(struct input *in, size_t offset)
{
	struct patch *const p = &world.patches[world.patch_count];
	const unsigned how = take(in) % 4;
	const uint64_t value = take_number(in, how == 3 ? 8 : 1);

	if (world.patch_count == PATCHES_MAX)
		return;
	world.patch_count++;
	*p = (struct patch){ offset, how, value };
	world.has_false_header |= offset < IMAGE_HEADER_NBYTES;
}

/*
 * Give the commits the right checksums again.  Otherwise nearly every patch of
 * a commit would fail by its checksum, and what comes after it would not be
 * tested.
 */
static void
seal(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct image_commit *const c = &image->commit[i];

		c->sum = image_commit_sum(c, c->seq);
	}
	for (unsigned i = 0; i < 2 * RINGS; i++) {
		struct ring_commit *const c =
			&world.threads[i / 2].ring->commit[i % 2];

		c->sum = image_ring_commit_sum(c, c->seq);
	}
}

void
world_apply_patches(void)
{
	for (unsigned i = 0; i < world.patch_count; i++) {
		const struct patch *const p = &world.patches[i];
		uint64_t word;

		memcpy(&word, world_file + p->offset, sizeof(word));
		switch (p->how) {
		case 0:
			word += (uint64_t)(int8_t)p->value;
			break;
		case 1:
			word ^= 1ull << p->value % 64;
			break;
		case 2:
			word = 1ull << p->value % 64;
			break;
		default:
			word = p->value;
		}
		memcpy(world_file + p->offset, &word, sizeof(word));
	}
	if ((world.options & WITHOUT_SUMS) == 0)
		seal();
}

static size_t
ring_offset(unsigned i)
{
	return IMAGE_HEADER_NBYTES + i % RINGS * RING_NBYTES;
}

void
world_set_path(struct image_trace *trace, const char *path)
{
	snprintf(trace->path, sizeof(trace->path), "%s", path);
}

static void
announce(void)
{
	if (image->seq == 0)
		return;
	world_set_path(&image->trace[1], "next");
	image->trace[1].announced_seq = image->seq;
}

static void
operate(struct input *in)
{
	const unsigned code = take(in), which = code / OP_COUNT;

	world.clock++;
	switch ((enum operation)(code % OP_COUNT)) {
	case OP_WORD:
		put_word(live_thread(which), in, false);
		break;
	case OP_STAMPED:
		put_word(live_thread(which), in, true);
		break;
	case OP_WIDE:
		put_wide(live_thread(which), in);
		break;
	case OP_LOST:
		live_thread(which)->ring->lost_count = take(in);
		break;
	case OP_DIE:
		live_thread(which)->producer.is_dead = true;
		break;
	case OP_COMMIT:
		write_rings();
		break;
	case OP_ANNOUNCE:
		announce();
		break;
	case OP_TORN:
		world.is_torn = true;
		for (unsigned i = take(in); i > 0; i--)
			world.bytes[world.trace.output.nbytes++] = take(in);
		in->next = in->end;
		break;
	case OP_TRIM:
		world.trace.output.nbytes -=
			take(in) % (world.trace.output.nbytes + 1);
		in->next = in->end;
		break;
	case OP_CUT:
		world.rings_nbytes = take_number(in, 2) % FILE_NBYTES;
		break;
	case OP_END:
		world.commit_flags = take(in);
		break;
	case OP_PATCH_HEADER:
		add_patch(in, 8 * (size_t)take(in));
		break;
	case OP_PATCH_NEXT:
		add_patch(in, offsetof(struct image, trace[1]) +
				      8 * (size_t)(take(in) % 16));
		break;
	case OP_PATCH_RING:
		add_patch(in, ring_offset(which) + 8 * (size_t)(take(in) % 64));
		break;
	case OP_PATCH_WORD:
		add_patch(in, ring_offset(which) + RING_HEADER_NBYTES +
				      8 * (size_t)take(in));
		break;
	case OP_COUNT:
		break;
	}
}

static void
begin_trace(void)
{
	static void *memory;
	static uint8_t *bytes;
	struct encoder *const e = &world.trace.narrator.encoder;
	char header[128];

	if (memory == NULL) {
		memory = aligned_alloc(64, (narrate_memory_nbytes(false) + 63) &
						   ~(size_t)63);
		bytes = malloc(TRACE_MAX);
		fuzz_check(memory != NULL && bytes != NULL);
	}
	world.bytes = bytes;
	world.trace.level = (world.options & WITH_DEFLATE) != 0;
	narrate_init(&world.trace.narrator, memory, false);
	world.trace.narrator.unit_ns = 1000;
	world.trace.narrator.grain = 1;
	narrate_start_clock(&world.trace.narrator, 0, 0);
	encoder_comment(e, header,
			world_put_header(header, sizeof(header), 1, 0));
	narrate_open_block(&world.trace.narrator);
	end_block();
	image->trace[0].head_nbytes = world.trace.output.nbytes;
	image->trace[0].head_hash = image_hash(IMAGE_HASH_START, world.bytes,
					       world.trace.output.nbytes);
	if ((world.options & WITHOUT_COMMIT) == 0)
		commit();
}

void
world_make(const uint8_t *data, size_t nbytes)
{
	struct input in = { data, data + nbytes };

	world = (struct world){ .rings_nbytes = FILE_NBYTES, .clock = 1 };
	world.options = take(&in);
	memset(world_file, 0, sizeof(world_file));
	image_init(image, (const uint64_t[2]){ 0, 0 }, strtoull(PID, NULL, 10));
	world_set_path(&image->trace[0], "trace");
	begin_trace();
	order_init(&world.order, world.heap, RINGS, take_event, NULL);
	for (unsigned i = 0; i < RINGS; i++)
		world.threads[i].ring =
			image_init_ring(world_file + ring_offset(i),
					ring_offset(i), WORDS, WORDS);
	while (in.next < in.end)
		operate(&in);
	world.is_announced = image->trace[1].path[0] != '\0' &&
			     image->trace[1].announced_seq == image->seq;
}
