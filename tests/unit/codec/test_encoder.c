/* SPDX-License-Identifier: MIT */
/*
 * test_encoder.c - encoded blocks decode, each alone, to the records put in
 *
 * The bytes of the encoder must decode to the records that were put, for any
 * records and any placement.  Each block must decode without the bytes before
 * it, and a reader that starts there must be in the same state after it as one
 * that has read everything.  A full buffer must refuse a record and stay
 * unchanged.
 */
#include "hatf/codec/comment_text.h"
#include "hatf/codec/encoder.h"
#include "tests/unit/support/mini.h"

#define BLOCK_NBYTES 4096
#define CAP	     (BLOCK_NBYTES + encoder_room_nbytes(NULL))
#define RECORD_COUNT 20000
#define FULL_STEP    1000
#define FULL_COUNT   100

/* The limits of every width, for signed and unsigned values. */
static const uint64_t edges[] = {
	0,
	1,
	0x7f,
	0x80,
	0xff,
	0x100,
	0x7fff,
	0x8000,
	0xffff,
	0x10000,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x7fffffffffffffff,
	0x8000000000000000,
	0xffffffffffffff7f,
	0xffffffffffffff80,
	0xffffffffffff7fff,
	0xffffffffffff8000,
	0xffffffff7fffffff,
	0xffffffff80000000,
	0xffffffffffffffff,
};
#define EDGE_COUNT (sizeof(edges) / sizeof(edges[0]))

static uint8_t attribute_bytes[65535];

/* The behaviour of a simulated program; probabilities in 1/256. */
struct behaviour {
	const char *name;
	unsigned edge;	     /* a value from 'edges' */
	unsigned far;	     /* an address in another cluster */
	unsigned new_time;   /* a new time */
	unsigned new_thread; /* another thread */
	unsigned attributes; /* attributes */
	unsigned rare;	     /* a tag above 1 */
	unsigned large;	     /* a size above 255 */
	unsigned heaps;	     /* another heap */
	bool spread;	     /* clusters span the whole range of 4 bytes */
};

static const struct behaviour behaviours[] = {
	{ "plain", 0, 0, 0, 0, 0, 0, 0, 0, false },
	{ "sizes", 0, 0, 0, 0, 0, 0, 40, 0, false },
	{ "coarse clock", 0, 0, 2, 0, 0, 2, 10, 0, false },
	{ "fine clock", 0, 0, 200, 0, 0, 2, 10, 0, false },
	{ "clusters", 0, 100, 10, 10, 0, 20, 10, 0, false },
	{ "moving heap", 0, 250, 10, 10, 0, 20, 10, 0, false },
	{ "wide clusters", 0, 128, 10, 10, 0, 200, 10, 0, true },
	{ "wide moving heap", 0, 250, 10, 10, 0, 200, 10, 0, true },
	{ "threads", 0, 20, 100, 100, 10, 10, 10, 0, false },
	{ "attributes", 0, 2, 10, 2, 128, 20, 10, 10, false },
	{ "heaps", 0, 2, 10, 2, 20, 20, 10, 128, false },
	{ "edges", 128, 128, 128, 128, 64, 64, 128, 64, false },
	{ "only edges", 256, 0, 256, 256, 64, 128, 0, 256, false },
};
#define BEHAVIOUR_COUNT (sizeof(behaviours) / sizeof(behaviours[0]))

static bool
happens(uint64_t *seed, unsigned in_256)
{
	return (mini_random(seed) >> 32 & 255) < in_256;
}

static uint64_t
edge(uint64_t *seed)
{
	return edges[(mini_random(seed) >> 32) % EDGE_COUNT];
}

static uint64_t
make_address(const struct behaviour *b, uint64_t *seed)
{
	const uint64_t offset =
		(mini_random(seed) >> 32) % (b->spread ? UINT32_MAX : 1 << 26);

	if (happens(seed, b->edge))
		return edge(seed);
	if (happens(seed, b->far))
		return 0x7f0123450010 + offset;
	return happens(seed, 1) ? 0 : 0x555555559000 + offset;
}

static void
make_record(const struct behaviour *b, uint64_t *seed, uint64_t *time,
	    struct hatf_record *r)
{
	memset(r, 0, sizeof(*r));
	r->tag = mini_random(seed) >> 40 & 1;
	if (happens(seed, b->rare))
		r->tag = (uint8_t)((mini_random(seed) >> 32) % 10);
	if (happens(seed, b->new_time))
		*time = happens(seed, b->edge)
				? edge(seed)
				: *time + (mini_random(seed) >> 32) % 300;
	r->time = *time;
	if (happens(seed, b->new_thread))
		r->thread = happens(seed, b->edge)
				    ? edge(seed)
				    : (mini_random(seed) >> 32) % 300;
	if (r->tag == 0 || (r->tag >= 2 && r->tag <= 5))
		r->size = happens(seed, b->edge) ? edge(seed)
			  : happens(seed, b->large)
				  ? (mini_random(seed) >> 32) % 100000
				  : (mini_random(seed) >> 32) % 200;
	if (r->tag <= 5)
		r->address = make_address(b, seed);
	if (r->tag >= 2 && r->tag <= 5)
		r->old_address = make_address(b, seed);
	if (r->tag <= 7 && happens(seed, b->heaps))
		r->heap = happens(seed, b->edge)
				  ? edge(seed)
				  : (mini_random(seed) >> 32) % 3;
	if (happens(seed, b->attributes)) {
		const uint64_t n = mini_random(seed) >> 32;

		r->attributes_nbytes =
			(uint32_t)(happens(seed, 4) ? n % 600 : n % 4);
		r->attributes = attribute_bytes;
	}
}

struct sink {
	uint8_t *stream;
	size_t cap, used;
	size_t block_off[4096];
	size_t block_count;
};

static void
end_block(struct encoder *e, struct sink *s)
{
	encoder_end(e);
	ck_assert_uint_le(e->used, s->cap - s->used);
	memcpy(s->stream + s->used, e->buf, e->used);
	s->used += e->used;
	encoder_reset(e);
	ck_assert_uint_eq(e->stream_nbytes, s->used);
}

static void
begin_block(struct encoder *e, struct sink *s, uint64_t n,
	    const struct hatf_record *r)
{
	s->block_off[s->block_count++] = s->used;
	encoder_begin(e, n, r->time);
}

/* When the encoder is in fast mode: never, always, or alternately. */
enum mode {
	PLANNED,
	FAST,
	ALTERNATING,
	MODE_COUNT,
};
#define PLANNED_RECORDS 700 /* before ALTERNATING switches */

static bool
is_plain(const struct hatf_record *r)
{
	return r->tag <= HATF_FREE && r->heap == 0 && r->attributes_nbytes == 0;
}

/* Put records with one encoder_run and return how many; 0: none fits a run. */
static size_t
put_run(struct encoder *e, const struct hatf_record *r, size_t count)
{
	struct encoder_run run;
	size_t n = 0;

	if (!is_plain(r) || !encoder_begin_run(e, r->thread, r->time, &run))
		return 0;
	while (n < count && is_plain(&r[n]) && r[n].thread == r->thread &&
	       r[n].time == r->time &&
	       encoder_run_put(&run, r[n].tag, r[n].size, r[n].address))
		n++;
	encoder_end_run(e, &run);
	return n;
}

/* Put one record, or a run, with the function for such records. */
static size_t
put(struct encoder *e, const struct hatf_record *r, size_t count)
{
	const size_t n = put_run(e, r, count);

	if (n != 0)
		return n;
	if (is_plain(r))
		mini_check(encoder_put_plain(e, r->tag, r->size, r->address,
					     r->thread, r->time));
	else
		mini_check(encoder_put(e, r));
	return 1;
}

static void
encode(const struct hatf_record *records, size_t count, enum mode mode,
       struct sink *s, struct encoder *e)
{
	uint8_t *const buf = malloc(CAP);
	void *const span = malloc(encoder_memory_nbytes(NULL));

	encoder_init(e, buf, CAP, NULL, span);
	for (size_t i = 0; i < count;) {
		if (e->used == 0)
			begin_block(e, s, i, &records[i]);
		if (mode != PLANNED)
			encoder_set_fast(e,
					 mode == FAST ||
						 i / PLANNED_RECORDS % 2 != 0);
		i += put(e, &records[i], count - i < 20 ? count - i : 20);
		if (encoder_is_full(e, BLOCK_NBYTES))
			end_block(e, s);
	}
	if (e->used != 0)
		end_block(e, s);
	s->block_off[s->block_count] = s->used;
	free(span);
	free(buf);
}

static bool
is_block_comment(const struct hatf_record *r)
{
	return r->tag == HATF_COMMENT && r->attributes_nbytes > 11 &&
	       memcmp(r->attributes, "HATF block\n", 11) == 0;
}

static void
check_block_comment(const struct hatf_record *r, size_t block, uint64_t record,
		    uint64_t event, size_t nbytes)
{
	const char *const text = (const char *)r->attributes;
	const size_t n = r->attributes_nbytes;
	uint64_t value;

	ck_assert(text_find_u64(text, n, "block", &value));
	ck_assert_uint_eq(value, block);
	ck_assert(text_find_u64(text, n, "record", &value));
	ck_assert_uint_eq(value, record);
	ck_assert(text_find_u64(text, n, "event", &value));
	ck_assert_uint_eq(value, event);
	ck_assert(text_find_u64(text, n, "bytes", &value));
	ck_assert_uint_eq(value, nbytes);
}

/* Compare only the state that later records depend on. */
static void
assert_same_state(const struct mini *a, const struct mini *b)
{
	for (unsigned i = 0; i < 6; i++) {
		const struct mini_field *const f = &a->field[i];
		const struct mini_field *const g = &b->field[i];

		mini_check(f->width == g->width);
		mini_check(f->last == g->last);
		mini_check(f->interpretation == g->interpretation);
		mini_check(f->argument == g->argument);
		mini_check(f->stride == g->stride);
		if (f->interpretation >= HATF_DELTA)
			mini_check(f->previous == g->previous);
	}
}

/*
 * Decode the stream with one decoder, and each block with a new one.  Both must
 * give the records, and have the same state after each block.
 */
static void
check_stream(const struct hatf_record *records, size_t count,
	     const struct sink *s)
{
	struct mini whole, alone;
	struct hatf_record r, q;
	size_t n = 0;

	mini_init(&whole, s->stream, s->used);
	for (size_t i = 0; i < s->block_count; i++) {
		const size_t nbytes = s->block_off[i + 1] - s->block_off[i];

		mini_init(&alone, s->stream + s->block_off[i], nbytes);
		mini_check(mini_read(&whole, &r));
		mini_check(mini_read(&alone, &q));
		ck_assert(is_block_comment(&r));
		mini_assert_same(&r, &q);
		check_block_comment(&r, i, n + i, n, nbytes);
		while (mini_read(&alone, &q)) {
			mini_check(mini_read(&whole, &r));
			mini_check(n < count);
			mini_assert_same(&r, &records[n]);
			mini_assert_same(&q, &records[n]);
			assert_same_state(&whole, &alone);
			n++;
		}
	}
	ck_assert_uint_eq(n, count);
	ck_assert(!mini_read(&whole, &r));
}

START_TEST(any_records_come_back_from_each_block)
{
	const struct behaviour *const b = &behaviours[_i / MODE_COUNT];
	struct hatf_record *const records =
		calloc(RECORD_COUNT, sizeof(*records));
	struct sink s = { .cap = RECORD_COUNT * 256 };
	struct encoder e;
	uint64_t time = 1000;
	uint64_t seed = 88172645463325252u + (unsigned)_i;

	s.stream = malloc(s.cap);
	for (size_t i = 0; i < sizeof(attribute_bytes); i++)
		attribute_bytes[i] = (uint8_t)(i * 7);
	for (size_t i = 0; i < RECORD_COUNT; i++)
		make_record(b, &seed, &time, &records[i]);
	encode(records, RECORD_COUNT, (enum mode)(_i % MODE_COUNT), &s, &e);
	ck_assert_uint_gt(s.block_count, 10);
	ck_assert_uint_eq(encoder_data_records(&e),
			  RECORD_COUNT + s.block_count);
	check_stream(records, RECORD_COUNT, &s);
	free(s.stream);
	free(records);
}
END_TEST

/* Change every field from each edge to each other edge, twice. */
START_TEST(every_step_between_boundaries_comes_back)
{
	const size_t count = 2 * EDGE_COUNT * EDGE_COUNT;
	struct hatf_record *const records = calloc(count, sizeof(*records));
	struct sink s = { .cap = count * 256 };
	struct encoder e;
	size_t n = 0;

	s.stream = malloc(s.cap);
	for (size_t i = 0; i < EDGE_COUNT; i++) {
		for (size_t j = 0; j < EDGE_COUNT; j++) {
			for (unsigned k = 0; k < 2; k++) {
				const uint64_t v = edges[k != 0 ? i : j];

				records[n].tag = HATF_REALLOC_NO_ALLOC;
				records[n].size = v;
				records[n].address = v;
				records[n].old_address = edges[i];
				records[n].time = v;
				records[n].thread = v;
				records[n++].heap = v;
			}
		}
	}
	encode(records, count, (enum mode)_i, &s, &e);
	check_stream(records, count, &s);
	free(s.stream);
	free(records);
}
END_TEST

/* Two addresses too far apart for 4 bytes, before the base is known. */
START_TEST(the_first_address_may_come_in_a_far_realloc)
{
	static const uint64_t pairs[][2] = {
		{ 0x555555559000, 0x7f0123450010 },
		{ 0, 0x7f0123450010 },
		{ 0x555555559000, 0 },
		{ UINT64_MAX, 0x7fffffff },
		{ 0x80000000, 0x180000000 },
	};
	struct sink s = { .cap = 4096 };
	struct encoder e;

	s.stream = malloc(s.cap);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct hatf_record r[2] = { {
			.tag = HATF_REALLOC_ALLOC_FREE,
			.old_address = pairs[i][0],
			.address = pairs[i][1],
		} };

		r[1] = r[0];
		s.used = s.block_count = 0;
		encode(r, 2, PLANNED, &s, &e);
		check_stream(r, 2, &s);
	}
	free(s.stream);
}
END_TEST

/*
 * Fill a buffer of 'cap' bytes until it refuses a record.  The largest record
 * must not be written beyond the end, and exactly the accepted records must be
 * there.
 */
static void
fill_buffer(uint8_t *buf, size_t cap, void *span,
	    const struct hatf_record *largest, const struct hatf_record *alloc)
{
	struct encoder e;
	struct mini m;
	struct hatf_record r;
	size_t count = 0;

	buf[cap] = 0xee;
	encoder_init(&e, buf, cap, NULL, span);
	encoder_begin(&e, 0, 0);
	while (encoder_put(&e, count % 3 == 0 ? largest : alloc))
		count++;
	ck_assert(!encoder_put(&e, alloc));
	ck_assert(!encoder_put(&e, largest));
	encoder_end(&e);
	ck_assert_uint_ge(e.used, BLOCK_NBYTES);
	ck_assert_uint_le(e.used, cap);
	ck_assert_uint_eq(buf[cap], 0xee);
	ck_assert_uint_eq(encoder_data_records(&e), 1 + count);
	mini_init(&m, buf, e.used);
	ck_assert(mini_read(&m, &r));
	for (size_t k = 0; k < count; k++) {
		mini_check(mini_read(&m, &r));
		mini_assert_same(&r, k % 3 == 0 ? largest : alloc);
	}
	ck_assert(!mini_read(&m, &r));
}

START_TEST(a_full_buffer_refuses_and_stays_as_it_is)
{
	void *const span = malloc(encoder_memory_nbytes(NULL));
	uint8_t *const buf = malloc(CAP + FULL_STEP * FULL_COUNT);
	const struct hatf_record alloc = { .tag = HATF_ALLOC, .size = 24 };
	const struct hatf_record largest = {
		.tag = HATF_REALLOC_ALLOC_FREE,
		.attributes_nbytes = 65535,
		.attributes = attribute_bytes,
		.size = UINT64_MAX,
		.address = UINT64_MAX,
		.old_address = 1,
		.time = UINT64_MAX,
		.thread = UINT64_MAX,
		.heap = UINT64_MAX,
	};

	for (size_t i = 0; i < FULL_COUNT; i++)
		fill_buffer(buf, CAP + FULL_STEP * i, span, &largest, &alloc);
	free(buf);
	free(span);
}
END_TEST

START_TEST(what_hatf_cannot_express_is_refused)
{
	void *const span = malloc(encoder_memory_nbytes(NULL));
	uint8_t *const buf = malloc(CAP);
	struct hatf_record r = { .tag = HATF_METADATA };
	struct encoder e;

	encoder_init(&e, buf, CAP, NULL, span);
	encoder_begin(&e, 0, 0);
	encoder_flush(&e);

	const size_t used = e.used;

	ck_assert(!encoder_put(&e, &r));
	r.tag = 255;
	ck_assert(!encoder_put(&e, &r));
	r.tag = HATF_ALLOC;
	r.attributes_nbytes = 65536;
	r.attributes = attribute_bytes;
	ck_assert(!encoder_put(&e, &r));
	r.tag = HATF_COMMENT;
	ck_assert(!encoder_put(&e, &r));
	encoder_flush(&e);
	ck_assert_uint_eq(e.used, used);
	free(buf);
	free(span);
}
END_TEST

/* In fast mode, a refused first record does not begin the block's metadata. */
START_TEST(fast_mode_refuses_the_same)
{
	void *const span = malloc(encoder_memory_nbytes(NULL));
	uint8_t *const buf = malloc(CAP);
	struct hatf_record r = { .tag = 200 };
	struct encoder e;

	encoder_init(&e, buf, CAP, NULL, span);
	encoder_set_fast(&e, true);
	encoder_begin(&e, 0, 0);

	const size_t used = e.used;

	ck_assert(!encoder_put(&e, &r));
	r.tag = HATF_METADATA;
	ck_assert(!encoder_put(&e, &r));
	r.tag = HATF_ALLOC;
	r.attributes_nbytes = 65536;
	r.attributes = attribute_bytes;
	ck_assert(!encoder_put(&e, &r));
	ck_assert_uint_eq(e.used, used);
	free(buf);
	free(span);
}
END_TEST

START_TEST(comments_stand_before_and_in_a_block)
{
	static const char header[] = "HATF 1.0\nproducer=test\n";
	void *const span = malloc(encoder_memory_nbytes(NULL));
	uint8_t *const buf = malloc(CAP);
	struct hatf_record r = { .tag = HATF_COMMENT,
				 .attributes = (const uint8_t *)"note",
				 .attributes_nbytes = 4 };
	struct encoder e;
	struct mini m;

	encoder_init(&e, buf, CAP, NULL, span);
	ck_assert(encoder_comment(&e, header, sizeof(header) - 1));
	encoder_begin(&e, 7, 0);
	ck_assert(encoder_put(&e, &r));
	encoder_end(&e);
	ck_assert_uint_eq(encoder_data_records(&e), 3);
	mini_init(&m, buf, e.used);
	ck_assert(mini_read(&m, &r));
	ck_assert_mem_eq(r.attributes, header, sizeof(header) - 1);
	ck_assert(mini_read(&m, &r));
	/* The first block begins at byte 0 of the stream. */
	check_block_comment(&r, 0, 1, 7, e.used);
	ck_assert(mini_read(&m, &r));
	ck_assert_mem_eq(r.attributes, "note", 4);
	ck_assert(!mini_read(&m, &r));

	/* A comment that does not fit is not written. */
	encoder_reset(&e);
	e.cap = 3 + 4;
	ck_assert(!encoder_comment(&e, "12345", 5));
	ck_assert(encoder_comment(&e, "1234", 4));
	free(buf);
	free(span);
}
END_TEST

/* A plain record is that small once the first span has set the layout. */
START_TEST(fast_mode_writes_a_fitting_record_at_once)
{
	uint8_t *const buf = malloc(CAP);
	void *const span = malloc(encoder_memory_nbytes(NULL));
	struct encoder e;
	size_t used;

	encoder_init(&e, buf, CAP, NULL, span);
	encoder_set_fast(&e, true);
	encoder_begin(&e, 0, 0);
	for (size_t i = 0; i <= PLACE_SPAN_RECORDS; i++)
		mini_check(encoder_put_plain(&e, HATF_ALLOC, i * 100,
					     0x555555559000 + i * 16, i % 3,
					     2000 + i * 3));
	encoder_flush(&e);
	for (size_t i = 0; i < 100; i++) {
		used = e.used;
		mini_check(encoder_put_plain(&e, HATF_ALLOC, 60000 - i,
					     0x555556559000 + i * 16, i % 100,
					     2800 + i * 100));
		/* Tag, size, address, thread and time. */
		ck_assert_uint_eq(e.used - used, 1 + 2 + 4 + 1 + 1);
	}
	free(span);
	free(buf);
}
END_TEST

/* Put a record, and return the number of bytes that it added at once. */
static size_t
put_and_measure(struct encoder *e, const struct hatf_record *r)
{
	const size_t used = e->used;

	mini_check(encoder_put(e, r));
	return e->used - used;
}

/*
 * In fast mode, a rare value that does not fit widens only its own record, and
 * the decoder reads all records.
 */
START_TEST(fast_mode_makes_exceptions_for_rare_values)
{
	const struct hatf_record usual = { .tag = HATF_ALLOC,
					   .size = 100,
					   .address = 0x555555559000 };
	struct hatf_record rare[5] = { usual, usual, usual, usual, usual };
	uint8_t *const buf = malloc(CAP);
	void *const span = malloc(encoder_memory_nbytes(NULL));
	struct hatf_record r;
	struct encoder e;
	struct mini m;

	rare[0].address = 0x7f0123450000;
	rare[1].size = 1u << 20;
	rare[2].thread = 7;
	rare[3].attributes = (const uint8_t *)"1234";
	rare[3].attributes_nbytes = 4;
	rare[4].tag = HATF_REALLOC_ALLOC_FREE;
	rare[4].old_address = 0x7f0123450000;
	encoder_init(&e, buf, CAP, NULL, span);
	encoder_set_fast(&e, true);
	encoder_begin(&e, 0, 0);
	mini_check(encoder_put(&e, &usual));
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_uint_gt(put_and_measure(&e, &rare[i]), 7 + 8);
		/* After another thread, this may be an exception, too. */
		mini_check(encoder_put(&e, &usual));
		/* Tag, size and address. */
		ck_assert_uint_eq(put_and_measure(&e, &usual), 1 + 2 + 4);
	}
	encoder_end(&e);
	mini_init(&m, buf, e.used);
	ck_assert(mini_read(&m, &r)); /* the block's comment */
	for (unsigned i = 0; i < 16; i++) {
		ck_assert(mini_read(&m, &r));
		mini_assert_same(&r, i % 3 == 1 ? &rare[i / 3] : &usual);
	}
	ck_assert(!mini_read(&m, &r));
	free(span);
	free(buf);
}
END_TEST

/*
 * In fast mode, each block may begin with an exception, and has exceptions of
 * its own.
 */
START_TEST(fast_mode_makes_exceptions_in_each_block)
{
	const struct hatf_record usual = { .tag = HATF_FREE,
					   .address = 0x555555559000 };
	const struct hatf_record far = { .tag = HATF_FREE,
					 .address = 0x7f0123450000 };
	uint8_t *const buf = malloc(CAP);
	void *const span = malloc(encoder_memory_nbytes(NULL));
	struct encoder e;

	encoder_init(&e, buf, CAP, NULL, span);
	encoder_set_fast(&e, true);
	for (unsigned i = 0; i < 100; i++) {
		encoder_begin(&e, 0, 0);
		mini_check(encoder_put(&e, i == 0 ? &usual : &far));
		/* Tag and address. */
		for (unsigned j = 0; j < 4; j++)
			ck_assert_uint_eq(put_and_measure(&e, &usual), 1 + 4);
		encoder_end(&e);
		encoder_reset(&e);
	}
	/* The same if fast mode begins after the metadata of the block. */
	for (unsigned i = 0; i < 100; i++) {
		encoder_set_fast(&e, false);
		encoder_begin(&e, 0, 0);
		encoder_flush(&e);
		encoder_set_fast(&e, true);
		mini_check(encoder_put(&e, &far));
		ck_assert_uint_gt(put_and_measure(&e, &usual), 0);
		ck_assert_uint_gt(put_and_measure(&e, &usual), 0);
		encoder_end(&e);
		encoder_reset(&e);
	}
	free(span);
	free(buf);
}
END_TEST

/* A block that is cancelled, open or ended, leaves no effect. */
START_TEST(a_cancelled_block_leaves_nothing)
{
	void *const span = malloc(encoder_memory_nbytes(NULL));
	uint8_t *const buf = malloc(CAP);
	struct hatf_record r = { .tag = HATF_ALLOC, .address = 64, .size = 1 };
	struct encoder e;
	struct mini m;
	uint64_t length;

	encoder_init(&e, buf, CAP, NULL, span);
	encoder_begin(&e, 0, 0);
	ck_assert(encoder_put(&e, &r));
	encoder_end(&e);
	encoder_reset(&e);
	length = e.stream_nbytes;
	/* A block without records, whose metadata is not yet written. */
	for (int ended = 0; ended < 3; ended++) {
		encoder_begin(&e, 1, 0);
		r.address = UINT64_MAX;
		r.time = UINT32_MAX;
		for (int i = 0; i < (ended < 2 ? 1000 : 1); i++)
			ck_assert(encoder_put(&e, &r));
		if (ended == 1)
			encoder_end(&e);
		encoder_cancel(&e);
	}
	ck_assert_uint_eq(encoder_data_records(&e), 2);
	ck_assert_uint_eq(e.stream_nbytes, length);
	encoder_begin(&e, 1, 0);
	r.address = 72;
	r.time = 5;
	ck_assert(encoder_put(&e, &r));
	encoder_end(&e);
	mini_init(&m, buf, e.used);
	ck_assert(mini_read(&m, &r));
	check_block_comment(&r, 1, 2, 1, e.used);
	ck_assert(mini_read(&m, &r));
	ck_assert_uint_eq(r.address, 72);
	ck_assert_uint_eq(r.time, 5);
	ck_assert(!mini_read(&m, &r));
	free(buf);
	free(span);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("encoder");
	TCase *const tc = tcase_create("encoder");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, any_records_come_back_from_each_block, 0,
			    BEHAVIOUR_COUNT * MODE_COUNT);
	tcase_add_loop_test(tc, every_step_between_boundaries_comes_back, 0,
			    MODE_COUNT);
	tcase_add_test(tc, the_first_address_may_come_in_a_far_realloc);
	tcase_add_test(tc, a_full_buffer_refuses_and_stays_as_it_is);
	tcase_add_test(tc, what_hatf_cannot_express_is_refused);
	tcase_add_test(tc, fast_mode_refuses_the_same);
	tcase_add_test(tc, comments_stand_before_and_in_a_block);
	tcase_add_test(tc, fast_mode_writes_a_fitting_record_at_once);
	tcase_add_test(tc, fast_mode_makes_exceptions_for_rare_values);
	tcase_add_test(tc, fast_mode_makes_exceptions_in_each_block);
	tcase_add_test(tc, a_cancelled_block_leaves_nothing);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
