/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recover.c - any ring file beside a small trace
 *
 * An input is a program: it makes threads record and a writer commit, by the
 * recorder's code; then it overwrites or truncates the ring file, or appends to
 * the trace.  So inputs are short, and stay valid when the layout changes.  The
 * target recovers both files, first as a dry run, and checks:
 *
 *   - A dry run changes nothing, and finds what the real one does.
 *   - After an error the trace is unchanged; other files never change.
 *   - A recovered trace can be read to its trailer, unless the input made up
 *     the ring file's header, on which the rest of the trace depends.
 *   - A trace that has its header, and no commit, is recovered.
 */
#include "fuzz.h"
#include "hatf/deflate/deflate.h"
#include "hatf/hatf.h"
#include "hatf/rings/image.h"
#include "preload/trace/trace.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

/* No process ever has this number. */
#define PID "2147483000"

#define RINGS	    3
#define WORDS	    512
#define RING_NBYTES (RING_HEADER_NBYTES + WORDS * sizeof(uint64_t))
#define FILE_NBYTES (IMAGE_HEADER_NBYTES + RINGS * RING_NBYTES)
#define TRACE_MAX   (2u << 20)
#define PATCHES_MAX 64

/* Bits of an input's first byte. */
#define WITH_FORCE     1u
#define WITH_DEFLATE   2u
#define WITH_TRACE     4u  /* it is named by the caller */
#define WITH_ELSEWHERE 8u  /* the ring file is in another folder */
#define WITH_COPY      32u /* ... and has been copied there */
#define WITHOUT_COMMIT 16u /* killed before the first */

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

/* Bytes to write over the ring file at the end. */
struct patch {
	size_t offset;
	unsigned how;
	uint64_t value;
};

struct thread {
	struct ring *ring;
	struct order_producer producer;
	bool is_alive, is_gone;
};

static struct world {
	struct thread threads[RINGS];
	struct order_producer *list[RINGS], *heap[RINGS];
	struct order order;
	struct trace trace;
	uint64_t clock, thread_count, commit_flags;
	uint8_t *bytes; /* of the trace */
	size_t rings_nbytes;
	struct patch patches[PATCHES_MAX];
	unsigned patch_count;
	unsigned options;
	bool is_announced, has_false_header, is_torn;
} world;

static _Alignas(RING_HEADER_NBYTES) uint8_t file[FILE_NBYTES];
static struct image *const image = (struct image *)file;

/* ------------------------------------------------------------------- input */

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

/* ------------------------------------------------------------------- trace */

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

/* A trace begins with this text; segments differ from one another. */
static size_t
put_header(char *text, size_t nbytes, unsigned start, unsigned segment)
{
	return (size_t)snprintf(text, nbytes,
				"HATF 1.0\nunit=us\npid=" PID
				"\nstart_time=%u\nsegment=%u\n",
				start, segment);
}

/* ------------------------------------------------------------------- rings */

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

/* --------------------------------------------------------------- the input */

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

static void
apply_patches(void)
{
	for (unsigned i = 0; i < world.patch_count; i++) {
		const struct patch *const p = &world.patches[i];
		uint64_t word;

		memcpy(&word, file + p->offset, sizeof(word));
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
		memcpy(file + p->offset, &word, sizeof(word));
	}
}

static size_t
ring_offset(unsigned i)
{
	return IMAGE_HEADER_NBYTES + i % RINGS * RING_NBYTES;
}

static void
set_path(struct image_trace *trace, const char *path)
{
	snprintf(trace->path, sizeof(trace->path), "%s", path);
}

static void
announce(void)
{
	if (image->seq == 0)
		return;
	set_path(&image->trace[1], "next");
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
	encoder_comment(e, header, put_header(header, sizeof(header), 1, 0));
	narrate_open_block(&world.trace.narrator);
	end_block();
	image->trace[0].head_nbytes = world.trace.output.nbytes;
	image->trace[0].head_hash = image_hash(IMAGE_HASH_START, world.bytes,
					       world.trace.output.nbytes);
	if ((world.options & WITHOUT_COMMIT) == 0)
		commit();
}

static void
make(const uint8_t *data, size_t nbytes)
{
	struct input in = { data, data + nbytes };

	world = (struct world){ .rings_nbytes = FILE_NBYTES, .clock = 1 };
	world.options = take(&in);
	memset(file, 0, sizeof(file));
	image_init(image, (const uint64_t[2]){ 0, 0 }, strtoull(PID, NULL, 10));
	set_path(&image->trace[0], "trace");
	begin_trace();
	order_init(&world.order, world.heap, RINGS, take_event, NULL);
	for (unsigned i = 0; i < RINGS; i++)
		world.threads[i].ring = image_init_ring(
			file + ring_offset(i), ring_offset(i), WORDS, WORDS);
	while (in.next < in.end)
		operate(&in);
	world.is_announced = image->trace[1].path[0] != '\0' &&
			     image->trace[1].announced_seq == image->seq;
}

/* ------------------------------------------------------------------- files */

#define BEGUN_MAX 128

static char dir[64];

/* A trace with nothing but its header. */
struct begun {
	uint8_t bytes[3 + BEGUN_MAX];
	size_t nbytes;
};

static struct begun
begin_other(unsigned start, unsigned segment)
{
	char text[BEGUN_MAX];
	const size_t n = put_header(text, sizeof(text), start, segment);
	struct begun b = { { HATF_COMMENT, 0, (uint8_t)n }, 3 + n };

	memcpy(b.bytes + 3, text, n);
	return b;
}

/* File names; the folder of the second exists if a ring file may be in it. */
enum name {
	TRACE,
	RINGS_NEAR,
	RINGS_FAR,
	NEXT,
	OTHER,
	NAME_COUNT
};
static const char *const names[NAME_COUNT] = {
	"trace", "trace.rings", "far/a.rings", "next", "other",
};

static const char *
path_of(enum name name)
{
	static char paths[NAME_COUNT][128];

	snprintf(paths[name], sizeof(paths[name]), "%s/%s", dir, names[name]);
	return paths[name];
}

static void
put_file(enum name name, const void *bytes, size_t nbytes)
{
	const int fd =
		open(path_of(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		     S_IRUSR | S_IWUSR);
	struct stat st;

	fuzz_check(fd >= 0);
	/* The field that distinguishes a ring file from its copy. */
	if (name == RINGS_FAR && (world.options & WITH_COPY) == 0) {
		fuzz_check(fstat(fd, &st) == 0);
		image->file_dev = st.st_dev;
		image->file_ino = st.st_ino;
		set_path(&image->trace[0], path_of(TRACE));
	}
	fuzz_append(fd, bytes, nbytes);
	close(fd);
}

/* Return whether the file exists and has these bytes. */
static bool
is_same(enum name name, const void *bytes, size_t nbytes)
{
	static uint8_t buf[TRACE_MAX];
	FILE *const f = fopen(path_of(name), "re");
	size_t n;

	if (f == NULL)
		return false;
	n = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	return n == nbytes && memcmp(buf, bytes, n) == 0;
}

static bool
is_there(enum name name)
{
	return access(path_of(name), F_OK) == 0;
}

/* No file may be left, and no other file created. */
static void
remove_files(void)
{
	for (enum name name = 0; name < NAME_COUNT; name++)
		unlink(path_of(name));

	char far[96];

	snprintf(far, sizeof(far), "%s/far", dir);
	fuzz_check(rmdir(far) == 0);
	fuzz_check(rmdir(dir) == 0);
}

static void
make_folders(void)
{
	char far[96];

	strcpy(dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/hatf.XXXXXX"
						  : "/tmp/hatf.XXXXXX");
	fuzz_check(mkdtemp(dir) != NULL);
	snprintf(far, sizeof(far), "%s/far", dir);
	fuzz_check(mkdir(far, S_IRWXU) == 0);
}

/* ------------------------------------------------------------------ judges */

static void
check_same(const struct hatf_recovery *a, const struct hatf_recovery *b)
{
	fuzz_check(strcmp(a->trace, b->trace) == 0 && a->pid == b->pid);
	fuzz_check(a->had_trailer == b->had_trailer);
	fuzz_check(a->complete == b->complete);
	fuzz_check(a->event_count == b->event_count);
	fuzz_check(a->recovered == b->recovered);
	fuzz_check(a->cut_nbytes == b->cut_nbytes);
	fuzz_check(a->lost_count == b->lost_count);
}

/* Return the final status of the trace. */
static enum hatf_status
read_trace(const char *path)
{
	static struct hatf_event events[256];
	struct hatf_reader *reader;
	struct hatf_events *stage;
	enum hatf_status status = hatf_reader_open(path, NULL, &reader, NULL);
	size_t n;

	if (status != HATF_OK)
		return status;
	fuzz_check(hatf_events_open(reader, &stage) == HATF_OK);
	while ((status = hatf_events_read(stage, events, 256, &n)) == HATF_OK)
		;
	hatf_events_close(stage);
	hatf_reader_close(reader);
	return status;
}

/*
 * Return whether it has its header, which identifies it, and only its own data.
 */
static bool
is_begun(void)
{
	const unsigned where = WITHOUT_COMMIT | WITH_DEFLATE | WITH_ELSEWHERE;
	const size_t nbytes = begin_other(1, 0).nbytes;

	return (world.options & where) == WITHOUT_COMMIT && !world.is_torn &&
	       !world.has_false_header && world.trace.output.nbytes >= nbytes;
}

static void
check_recovered(enum name rings, const struct hatf_recovery *found)
{
	fuzz_check(!is_there(rings));
	if (found->trace[0] == '\0') {
		fuzz_check(!is_begun());
		return;
	}
	const enum hatf_status status = read_trace(found->trace);

	if (world.has_false_header)
		return;
	fuzz_check(status == HATF_END);
	fuzz_check(strcmp(found->trace, path_of(TRACE)) == 0);
	fuzz_check(is_there(NEXT) == !world.is_announced);
}

static void
recover(enum name rings)
{
	const char *const trace =
		(world.options & WITH_TRACE) != 0 ? path_of(TRACE) : NULL;
	const unsigned flags =
		(world.options & WITH_FORCE) != 0 ? HATF_RECOVER_FORCE : 0;
	const struct begun next = begin_other(1, 1), other = begin_other(2, 1);
	struct hatf_recovery dry = { .struct_nbytes = sizeof(dry) };
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	enum hatf_status status;
	struct hatf_error err;
	char text[512];

	status = hatf_recover(path_of(rings), trace,
			      flags | HATF_RECOVER_DRY_RUN, &dry, &err);
	fuzz_check(err.status == status);
	fuzz_check(is_same(TRACE, world.bytes, world.trace.output.nbytes));
	fuzz_check(is_same(rings, file, world.rings_nbytes));
	fuzz_check(is_same(NEXT, next.bytes, next.nbytes));
	fuzz_check(hatf_recover(path_of(rings), trace, flags, &found, &err) ==
		   status);
	fuzz_check(err.status == status);
	check_same(&dry, &found);
	if (status == HATF_OK) {
		check_recovered(rings, &found);
	} else {
		hatf_error_text(&err, text, sizeof(text));
		fuzz_check(
			is_same(TRACE, world.bytes, world.trace.output.nbytes));
		fuzz_check(is_same(rings, file, world.rings_nbytes));
		fuzz_check(is_same(NEXT, next.bytes, next.nbytes));
	}
	/*
	 * The other trace is unchanged, unless the ring file named it as its
	 * own.
	 */
	if (strcmp(found.trace, path_of(OTHER)) != 0)
		fuzz_check(is_same(OTHER, other.bytes, other.nbytes));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	const struct begun next = begin_other(1, 1), other = begin_other(2, 1);
	enum name rings;

	make(data, nbytes);
	rings = (world.options & WITH_ELSEWHERE) != 0 ? RINGS_FAR : RINGS_NEAR;
	make_folders();
	put_file(TRACE, world.bytes, world.trace.output.nbytes);
	put_file(NEXT, next.bytes, next.nbytes);
	put_file(OTHER, other.bytes, other.nbytes);
	apply_patches();
	put_file(rings, file, world.rings_nbytes);
	recover(rings);
	remove_files();
	return 0;
}
