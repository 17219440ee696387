/* SPDX-License-Identifier: MIT */
/*
 * test_decoder.c - hand-written bytes decode to the records of appendix A
 *
 * Bytes written by hand from appendix A must decode to the expected records,
 * under every width and interpretation.  Illegal bytes must be refused at their
 * record.  The decoder must not read beyond the end, and a truncated record
 * must change nothing.
 */
#include "hatf/decoder/decoder.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/mini.h"

#define MAX	     64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Decode all of 'h' from a copy that ends where its memory ends. */
static size_t
decode(struct decoder *d, const struct hand *h, struct hatf_record *records)
{
	static struct guarded last;
	const uint8_t *next;
	size_t n = 0;

	/* Attributes point into the copy: keep it until the next call. */
	if (last.map != NULL)
		unguard(&last);
	guard(&last, h->bytes, h->used);
	next = last.bytes;
	do
		n += decoder_decode(d, &next, last.bytes + h->used, records + n,
				    MAX - n);
	while (d->stop == DECODER_COMMENT);
	ck_assert_int_ne(d->stop, DECODER_FULL);
	return n;
}

/* Decode 'h', which must be legal, and empty it. */
static size_t
decode_all(struct hand *h, struct hatf_record *records)
{
	struct decoder d;
	size_t n;

	decoder_init(&d, false);
	n = decode(&d, h, records);
	ck_assert_int_eq(d.stop, DECODER_MORE);
	ck_assert_uint_eq(d.offset, h->used);
	ck_assert_uint_eq(d.record_count, n);
	hand_fini(h);
	return n;
}

static void
expect(const struct hatf_record *r, unsigned tag, uint64_t size,
       uint64_t old_address, uint64_t address, uint64_t thread, uint64_t heap,
       uint64_t time)
{
	ck_assert_uint_eq(r->tag, tag);
	ck_assert_uint_eq(r->size, size);
	ck_assert_uint_eq(r->old_address, old_address);
	ck_assert_uint_eq(r->address, address);
	ck_assert_uint_eq(r->thread, thread);
	ck_assert_uint_eq(r->heap, heap);
	ck_assert_uint_eq(r->time, time);
}

START_TEST(the_standard_configuration_needs_no_metadata)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	hand_alloc(&h, 0x20, 0x80001234);
	hand_free(&h, 0x80001234);
	ck_assert_uint_eq(decode_all(&h, r), 2);
	expect(&r[0], HATF_ALLOC, 0x20, 0, 0x80001234, 0, 0, 0);
	expect(&r[1], HATF_FREE, 0, 0, 0x80001234, 0, 0, 0);
	ck_assert_uint_eq(r[1].offset, 9);
}
END_TEST

START_TEST(every_tag_has_its_fields_in_the_order_of_appendix_a)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	hand_width(&h, 0, 1);
	hand_width(&h, 1, 2);
	for (unsigned field = 2; field < 6; field++) {
		hand_interpretation(&h, field, 0, 0, 0, 0);
		hand_width(&h, field, 1);
	}
	hand_put(&h, 0x00110102030405aa, 8); /* alloc */
	hand_put(&h, 0x010102030405bb, 7);   /* free */
	for (uint64_t tag = 2; tag <= 5; tag++) {
		hand_put(&h, tag << 8 | 0x11, 2);
		hand_put(&h, 0xa1a2b1b2, 4);
		hand_put(&h, 0x030405cc, 4);
	}
	hand_put(&h, 0x06030405dd, 5); /* createHeap: heap, thread, time */
	hand_put(&h, 0x07030405dd, 5);
	hand_put(&h, 0x080304ee, 4); /* createThread: thread, time */
	hand_put(&h, 0x090304ee, 4);
	hand_comment(&h, "text");
	ck_assert_uint_eq(decode_all(&h, r), 11);
	expect(&r[0], 0, 0x11, 0, 0x0102, 3, 4, 5);
	ck_assert_uint_eq(r[0].attributes[0], 0xaa);
	expect(&r[1], 1, 0, 0, 0x0102, 3, 4, 5);
	for (unsigned tag = 2; tag <= 5; tag++)
		expect(&r[tag], tag, 0x11, 0xa1a2, 0xb1b2, 3, 4, 5);
	expect(&r[6], 6, 0, 0, 0, 4, 3, 5);
	expect(&r[7], 7, 0, 0, 0, 4, 3, 5);
	expect(&r[8], 8, 0, 0, 0, 3, 0, 4);
	expect(&r[9], 9, 0, 0, 0, 3, 0, 4);
	ck_assert_uint_eq(r[9].attributes[0], 0xee);
	expect(&r[10], 10, 0, 0, 0, 0, 0, 0);
	ck_assert_uint_eq(r[10].attributes_nbytes, 4);
	ck_assert_mem_eq(r[10].attributes, "text", 4);
}
END_TEST

static const unsigned widths[] = { 1, 2, 4, 8 };
static const uint8_t patterns[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };

static uint64_t
repeat(uint8_t pattern, unsigned nbytes)
{
	return UINT64_C(0x0101010101010101) * pattern >> (64 - 8 * nbytes);
}

static uint64_t
sign_extend(uint64_t raw, unsigned nbytes)
{
	const uint64_t sign = (uint64_t)1 << (8 * nbytes - 1);

	return raw & sign ? raw | ~(2 * sign - 1) : raw;
}

/* The field of a free (address) or of a createThread (thread, time). */
static uint64_t
field_of(const struct hatf_record *r, unsigned field)
{
	return field == HATF_FIELD_ADDRESS ? r->address
	       : field == HATF_FIELD_TIME  ? r->time
					   : r->thread;
}

/* Two records with 'raw' in one field and nothing else. */
static void
try_width(unsigned field, unsigned interpretation, unsigned width, uint64_t raw)
{
	const unsigned tag = field == HATF_FIELD_ADDRESS ? 1 : 8;
	const uint64_t base = 0xfedcba9876543210;
	const uint64_t offset = sign_extend(raw, width);
	struct hatf_record r[MAX];
	struct hand h = { 0 };
	uint64_t first = raw, second = raw;

	hand_interpretation(&h, field, interpretation, interpretation != 0,
			    base, 0);
	hand_width(&h, field, width);
	for (int i = 0; i < 2; i++) {
		hand_put(&h, tag, 1);
		hand_put(&h, raw, width);
	}
	ck_assert_uint_eq(decode_all(&h, r), 2);
	if (interpretation == HATF_BASE_OFFSET)
		first = second = base + offset;
	else if (interpretation == HATF_DELTA)
		second = (first = base + offset) + offset;
	ck_assert_uint_eq(field_of(&r[0], field), first);
	ck_assert_uint_eq(field_of(&r[1], field), second);
}

START_TEST(stored_values_extend_as_their_interpretation_says)
{
	static const unsigned kinds[] = { HATF_NONE, HATF_BASE_OFFSET,
					  HATF_DELTA };

	for (size_t k = 0; k < COUNT(kinds); k++)
		for (size_t w = 0; w < COUNT(widths); w++)
			for (size_t p = 0; p < COUNT(patterns); p++)
				for (unsigned field = 1; field <= 3; field++)
					try_width(
						field, kinds[k], widths[w],
						repeat(patterns[p], widths[w]));
}
END_TEST

START_TEST(width_zero_stores_nothing)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	hand_width(&h, 1, 0);
	hand_put(&h, 1, 1); /* none */
	hand_interpretation(&h, 1, HATF_DELTA, 1, 7, 0);
	hand_width(&h, 1, 0);
	hand_put(&h, 1, 1);
	hand_interpretation(&h, 1, HATF_BASE_OFFSET, 1, 9, 0);
	hand_width(&h, 1, 0);
	hand_put(&h, 1, 1);
	ck_assert_uint_eq(decode_all(&h, r), 3);
	ck_assert_uint_eq(r[0].address, 0);
	ck_assert_uint_eq(r[1].address, 7);
	ck_assert_uint_eq(r[2].address, 9);
}
END_TEST

/* The example of the paper's slides: stride 0 100 gives 100, 200, 300, 400. */
START_TEST(a_stride_begins_one_stride_after_its_initial_value)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	hand_interpretation(&h, 1, HATF_STRIDE, 2, 0, 100);
	for (int i = 0; i < 4; i++)
		hand_put(&h, 1, 1);
	hand_interpretation(&h, 1, HATF_STRIDE, 2, 1, (uint64_t)-2);
	hand_put(&h, 1, 1);
	ck_assert_uint_eq(decode_all(&h, r), 5);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(r[i].address, 100 * (i + 1));
	ck_assert_uint_eq(r[4].address, UINT64_MAX);
}
END_TEST

START_TEST(each_use_of_a_field_is_the_next_ones_previous)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	hand_interpretation(&h, 1, HATF_DELTA, 1, 1000, 0);
	hand_width(&h, 1, 1);
	hand_put(&h, 0x010a, 2);       /* free: +10 */
	hand_put(&h, 0x0300000020, 5); /* realloc of size 32 ... */
	hand_put(&h, 0x05fe, 2);       /* ... old +5, new -2 */
	hand_put(&h, 8, 1);	       /* createThread: no address */
	hand_put(&h, 0x0101, 2);       /* free: +1 */
	hand_interpretation(&h, 1, HATF_STRIDE, 2, 0, 16);
	hand_put(&h, 0x0300000020, 5);
	hand_put(&h, 1, 1);
	ck_assert_uint_eq(decode_all(&h, r), 6);
	ck_assert_uint_eq(r[0].address, 1010);
	ck_assert_uint_eq(r[1].old_address, 1015);
	ck_assert_uint_eq(r[1].address, 1013);
	ck_assert_uint_eq(r[3].address, 1014);
	ck_assert_uint_eq(r[4].old_address, 16);
	ck_assert_uint_eq(r[4].address, 32);
	ck_assert_uint_eq(r[5].address, 48);
}
END_TEST

START_TEST(an_interpretation_restores_the_last_width_that_was_not_zero)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	/* time has no last width: it stays empty until a set fieldSize. */
	hand_interpretation(&h, 2, HATF_NONE, 0, 0, 0);
	hand_put(&h, 8, 1);
	hand_width(&h, 2, 2);
	hand_put(&h, 0x081234, 3);
	hand_interpretation(&h, 2, HATF_DEFAULT, 1, 9, 0);
	hand_put(&h, 8, 1);
	hand_interpretation(&h, 2, HATF_DELTA, 1, 9, 0); /* 2 again */
	hand_put(&h, 0x080001, 3);
	hand_width(&h, 2, 0);
	hand_interpretation(&h, 2, HATF_STRIDE, 2, 0, 1);
	hand_width(&h, 2, 1); /* becomes the last width, stores nothing */
	hand_put(&h, 8, 1);
	hand_interpretation(&h, 2, HATF_BASE_OFFSET, 1, 9, 0);
	hand_put(&h, 0x08ff, 2);
	ck_assert_uint_eq(decode_all(&h, r), 6);
	ck_assert_uint_eq(r[0].time, 0);
	ck_assert_uint_eq(r[1].time, 0x1234);
	ck_assert_uint_eq(r[2].time, 9);
	ck_assert_uint_eq(r[3].time, 10);
	ck_assert_uint_eq(r[4].time, 1);
	ck_assert_uint_eq(r[5].time, 8);
}
END_TEST

START_TEST(another_width_under_delta_keeps_the_previous_value)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	hand_interpretation(&h, 1, HATF_DELTA, 1, 0, 0);
	hand_put(&h, 0x0100010000, 5);
	hand_width(&h, 1, 1);
	hand_put(&h, 0x01ff, 2);
	ck_assert_uint_eq(decode_all(&h, r), 2);
	ck_assert_uint_eq(r[1].address, 0xffff);
}
END_TEST

/* One free with attributes of 'width' and 'nbytes' of content. */
static void
try_attributes(unsigned width, unsigned length_nbytes, size_t nbytes)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	hand_interpretation(&h, 5, HATF_NONE, 0, 0, 0);
	hand_width(&h, 5, width);
	for (int i = 0; i < 2; i++) {
		hand_put(&h, 0x0112345678, 5);
		hand_put(&h, nbytes, length_nbytes);
		for (size_t k = 0; k < nbytes; k++)
			hand_put(&h, k + (size_t)i, 1);
	}
	ck_assert_uint_eq(decode_all(&h, r), 2);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(r[i].address, 0x12345678);
		ck_assert_uint_eq(r[i].attributes_nbytes, nbytes);
		for (size_t k = 0; k < nbytes; k++)
			ck_assert_uint_eq(r[i].attributes[k], (k + i) & 0xff);
	}
}

START_TEST(attributes_have_any_width)
{
	static const unsigned fixed[] = { 0, 1, 2, 4, 8 };
	static const unsigned lengths[] = { 0, 1, 7, 63, 64, 65, 255 };

	for (size_t i = 0; i < COUNT(fixed); i++)
		try_attributes(fixed[i], 0, fixed[i]);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		try_attributes(HATF_WIDTH_V1, 1, lengths[i]);
		try_attributes(HATF_WIDTH_V2, 2, lengths[i]);
	}
	try_attributes(HATF_WIDTH_V2, 2, 65535);
}
END_TEST

/* After a good alloc and comment, 'bytes' must be refused for 'field'. */
static void
refuse(const char *bytes, size_t nbytes, enum hatf_status status,
       const char *field)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };
	struct decoder d;

	hand_alloc(&h, 1, 16);
	hand_comment(&h, "");
	hand_bytes(&h, bytes, nbytes);
	hand_alloc(&h, 1, 32);
	decoder_init(&d, true);
	ck_assert_uint_eq(decode(&d, &h, r), 2);
	ck_assert_int_eq(d.stop, DECODER_BAD);
	ck_assert_int_eq(d.status, status);
	ck_assert_str_eq(d.field, field);
	ck_assert_uint_eq(d.offset, 9 + 3);
	ck_assert_uint_eq(d.record_count, 2);
	hand_fini(&h);
}

START_TEST(no_tag_above_11_is_taken)
{
	for (unsigned tag = 12; tag < 256; tag++) {
		const char byte = (char)tag;

		refuse(&byte, 1, HATF_BAD_TAG, "tag");
	}
}
END_TEST

START_TEST(illegal_metadata_is_refused)
{
	static const struct {
		uint8_t code[3]; /* op, field, argument */
		uint8_t value;	 /* the last of 16 bytes */
		const char *field;
	} cases[] = {
		{ { 0, 0, 1 }, 0, "op" },
		{ { 3, 0, 1 }, 0, "op" },
		{ { 255, 0, 1 }, 0, "op" },
		{ { 1, 6, 1 }, 0, "field" },
		{ { 2, 6, 0 }, 0, "field" },
		{ { 1, 255, 1 }, 0, "field" },
		{ { 1, 0, 3 }, 0, "fieldWidth" },
		{ { 1, 0, 5 }, 0, "fieldWidth" },
		{ { 1, 0, 6 }, 0, "fieldWidth" },
		{ { 1, 0, 7 }, 0, "fieldWidth" },
		{ { 1, 0, 9 }, 0, "fieldWidth" },
		{ { 1, 1, 9 }, 0, "fieldWidth" },
		{ { 1, 2, 10 }, 0, "fieldWidth" },
		{ { 1, 3, 10 }, 0, "fieldWidth" },
		{ { 1, 4, 9 }, 0, "fieldWidth" },
		{ { 1, 5, 3 }, 0, "fieldWidth" },
		{ { 1, 5, 11 }, 0, "fieldWidth" },
		{ { 1, 5, 16 }, 0, "fieldWidth" },
		{ { 1, 0, 255 }, 0, "fieldWidth" },
		{ { 2, 0, 5 }, 0, "interpretation" },
		{ { 2, 0, 255 }, 0, "interpretation" },
		{ { 2, 5, 2 }, 0, "interpretation" },
		{ { 2, 5, 3 }, 0, "interpretation" },
		{ { 2, 5, 4 }, 0, "interpretation" },
		{ { 2, 5, 1 }, 1, "default" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char bytes[4 + 16] = { 11 };

		memcpy(bytes + 1, cases[i].code, 3);
		bytes[11] = (char)cases[i].value;
		refuse(bytes, sizeof(bytes), HATF_BAD_METADATA, cases[i].field);
	}
}
END_TEST

START_TEST(metadata_is_delivered_on_request)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };
	struct decoder d;

	hand_width(&h, 5, HATF_WIDTH_V2);
	hand_interpretation(&h, 1, HATF_STRIDE, 2, 0x123456789, 16);
	hand_put(&h, 1, 1);
	decoder_init(&d, true);
	ck_assert_uint_eq(decode(&d, &h, r), 3);
	ck_assert_uint_eq(d.record_count, 1);
	ck_assert_uint_eq(d.tag_count[HATF_METADATA], 2);
	ck_assert_uint_eq(r[0].tag, HATF_METADATA);
	ck_assert_uint_eq(r[0].metadata.op, HATF_SET_FIELD_SIZE);
	ck_assert_uint_eq(r[0].metadata.field, HATF_FIELD_ATTRIBUTES);
	ck_assert_uint_eq(r[0].metadata.argument, HATF_WIDTH_V2);
	ck_assert_uint_eq(r[1].offset, 4);
	ck_assert_uint_eq(r[1].metadata.op, HATF_SET_FIELD_INTERPRETATION);
	ck_assert_uint_eq(r[1].metadata.argument, HATF_STRIDE);
	ck_assert_uint_eq(r[1].metadata.value, 0x123456789);
	ck_assert_uint_eq(r[1].metadata.stride, 16);
	ck_assert_uint_eq(r[2].metadata.op, 0);
	hand_fini(&h);
}
END_TEST

/* A realloc with 8 bytes in every field: the longest fixed part. */
static void
put_widest(struct hand *h)
{
	for (unsigned field = 0; field < 5; field++) {
		hand_interpretation(h, field, HATF_DELTA, 1, 0, 0);
		hand_width(h, field, 8);
	}
	hand_interpretation(h, 5, HATF_NONE, 0, 0, 0);
	hand_width(h, 5, HATF_WIDTH_V2);
	hand_put(h, 3, 1);
	for (unsigned i = 1; i <= 6; i++)
		hand_put(h, i, 8);
	hand_put(h, 3, 2);
	hand_put(h, 0xabcdef, 3);
}

START_TEST(a_record_in_pieces_is_decoded_when_it_is_whole)
{
	static const char *const fields[] = { "size",	     "old address",
					      "new address", "thread",
					      "heap",	     "time" };
	const size_t metadata = 5 * (12 + 4) + 4 + 4;
	struct hatf_record r[MAX];
	struct hand h = { 0 };

	put_widest(&h);
	for (size_t cut = metadata; cut < h.used; cut++) {
		struct hand part = { h.bytes, cut, cut };
		const uint8_t *next = h.bytes + metadata;
		struct decoder d;

		decoder_init(&d, false);
		ck_assert_uint_eq(decode(&d, &part, r), 0);
		ck_assert_int_eq(d.stop, DECODER_MORE);
		ck_assert_uint_eq(d.offset, metadata);
		if (cut > metadata) {
			const size_t i = (cut - metadata - 1) / 8;

			ck_assert_str_eq(
				decoder_cut_field(&d, next, cut - metadata),
				i < 6 ? fields[i] : "attributes");
		}
		ck_assert_uint_eq(
			decoder_decode(&d, &next, h.bytes + h.used, r, MAX), 1);
		expect(&r[0], 3, 1, 2, 2 + 3, 4, 5, 6);
		ck_assert_uint_eq(r[0].attributes_nbytes, 3);
	}
	hand_fini(&h);
}
END_TEST

START_TEST(events_are_counted_as_reallocs_with_their_parts)
{
	struct hatf_record r[MAX];
	struct hand h = { 0 };
	struct decoder d;

	hand_alloc(&h, 1, 16);
	hand_realloc(&h, 3, 2, 16, 32);
	hand_alloc(&h, 2, 32);
	hand_comment(&h, "between");
	hand_free(&h, 16);
	hand_free(&h, 32);
	hand_realloc(&h, 2, 2, 48, 48);
	hand_realloc(&h, 4, 2, 0, 64); /* nothing follows */
	hand_alloc(&h, 2, 80);
	decoder_init(&d, false);
	ck_assert_uint_eq(decode(&d, &h, r), 9);
	ck_assert_uint_eq(d.event_count, 6);
	ck_assert_uint_eq(d.record_count, 9);
	hand_fini(&h);
}
END_TEST

/* ---------------------------------------------------------------- long runs */

#define LONG_COUNT 20000

/* A legal metadata record for any field. */
static void
put_random_metadata(struct hand *h, uint64_t *seed)
{
	static const uint8_t numbers[] = { 0, 1, 2, 4, 8 };
	static const uint8_t strings[] = { 0, 0, 1, 2, 4, 8, 9, 9, 10 };
	const uint64_t r = mini_random(seed);
	const unsigned field = (unsigned)(r % 6);

	if (r >> 8 & 1)
		hand_width(h, field,
			   field == 5 ? strings[(r >> 16) % COUNT(strings)]
				      : numbers[(r >> 16) % COUNT(numbers)]);
	else if (field == 5)
		hand_interpretation(h, field, r >> 16 & 1, r >> 16 & 1, 0, 0);
	else {
		const unsigned kind = (unsigned)(r >> 16) % 5;

		hand_interpretation(h, field, kind,
				    kind == HATF_STRIDE ? 2 : kind != HATF_NONE,
				    mini_random(seed), mini_random(seed));
	}
}

/* Put a record of random contents, in the layout of 'm', which has read 'h'. */
static void
put_random_record(struct hand *h, const struct mini *m, uint64_t *seed)
{
	static const uint8_t tags[] = { 0, 0, 0, 1, 1, 1, 2, 3,
					3, 4, 5, 6, 7, 8, 9, 10 };
	/* Long runs of alloc and free, and stretches of all tags. */
	const bool calm = h->used >> 14 & 1;
	const uint64_t r = mini_random(seed);
	const unsigned tag = calm ? r % 2 : tags[r % COUNT(tags)];
	const unsigned width = m->field[5].width;
	size_t numbers = 0, extra = tag == HATF_COMMENT ? r >> 8 & 127 : width;

	for (unsigned field = 0; field < 5; field++)
		if (layout_tag_fields(tag) >> field & 1)
			numbers += m->field[field].width;
	if (tag >= HATF_REALLOC_NO_ALLOC && tag <= HATF_REALLOC_FREE)
		numbers += m->field[1].width;
	hand_put(h, tag, 1);
	/* Repeat small addresses, so that reallocs find their parts. */
	for (size_t i = 0; i < numbers; i++)
		hand_put(h, mini_random(seed) % 2, 1);
	if (tag == HATF_COMMENT || width >= HATF_WIDTH_V1) {
		extra = r >> 8 & (r >> 32 & 1 ? 255 : 3);
		hand_put(h, extra,
			 tag != HATF_COMMENT && width == HATF_WIDTH_V1 ? 1 : 2);
	}
	for (size_t i = 0; i < extra; i++)
		hand_put(h, mini_random(seed), 1);
}

/* Fill 'h' with a stream of all records, and 'want' with its data records. */
static void
make_long(struct hand *h, struct hatf_record *want)
{
	uint64_t seed = 88172645463325252u;
	struct mini m;

	/* Begin with a byte, so that the pointers are not NULL. */
	hand_put(h, HATF_COMMENT, 1);
	h->used = 0;
	mini_init(&m, h->bytes, 0);
	m.lenient = true;
	for (size_t n = 0; n < LONG_COUNT; n++) {
		const size_t before = h->used;
		struct hatf_record ignored;

		if (mini_random(&seed) % 32 == 0)
			put_random_metadata(h, &seed);
		m.start = h->bytes;
		m.next = h->bytes + before;
		m.end = h->bytes + h->used;
		mini_check(!mini_read(&m, &ignored));
		put_random_record(h, &m, &seed);
		/* hand_put() may have moved the bytes. */
		m.next = h->bytes + (m.next - m.start);
		m.start = h->bytes;
		m.end = h->bytes + h->used;
		mini_check(mini_read(&m, &want[n]));
		mini_check(m.next == m.end);
	}
	/* The attributes have moved with the bytes. */
	mini_init(&m, h->bytes, h->used);
	m.lenient = true;
	for (size_t n = 0; n < LONG_COUNT; n++)
		mini_check(mini_read(&m, &want[n]));
}

/* Decode 'h' in batches of 'max'; each call gets 'step' more bytes. */
static void
decode_long(const struct hand *h, size_t step, size_t max,
	    const struct hatf_record *want, struct decoder *d)
{
	static struct hatf_record batch[LONG_COUNT];
	struct guarded g;
	size_t seen = 0, shown = 0;

	guard(&g, h->bytes, h->used);

	const uint8_t *next = g.bytes;

	decoder_init(d, false);
	while (next != g.bytes + h->used) {
		if (d->stop == DECODER_MORE)
			shown = h->used - shown < step ? h->used : shown + step;

		const size_t n =
			decoder_decode(d, &next, g.bytes + shown, batch, max);

		mini_check(d->stop != DECODER_BAD);
		for (size_t i = 0; i < n; i++, seen++) {
			mini_assert_same(&batch[i], &want[seen]);
			mini_check(batch[i].offset == want[seen].offset);
		}
		mini_check(d->offset == (size_t)(next - g.bytes));
	}
	ck_assert_uint_eq(seen, LONG_COUNT);
	unguard(&g);
}

START_TEST(runs_of_any_layout_are_what_they_are_one_by_one)
{
	static struct hatf_record want[LONG_COUNT];
	struct hand h = { 0 };
	struct decoder slow, fast;
	struct pairing pair = { 0 };
	uint64_t event_count = 0, tag_count[HATF_TAG_COUNT] = { 0 };

	make_long(&h, want);
	for (size_t i = 0; i < LONG_COUNT; i++) {
		event_count += pairing_role(&pair, &want[i]) == PAIRING_EVENT;
		tag_count[want[i].tag]++;
	}
	/* With so few bytes at a time, no run can begin. */
	decode_long(&h, 1, LONG_COUNT, want, &slow);
	ck_assert_uint_eq(slow.event_count, event_count);
	tag_count[HATF_METADATA] = slow.tag_count[HATF_METADATA];
	for (size_t max = 1; max <= LONG_COUNT; max = 3 * max + 1) {
		decode_long(&h, h.used, max, want, &fast);
		ck_assert_uint_eq(fast.event_count, event_count);
		ck_assert_mem_eq(fast.tag_count, tag_count, sizeof(tag_count));
		ck_assert_uint_eq(fast.record_count, LONG_COUNT);
	}
	decode_long(&h, 1000, LONG_COUNT, want, &fast);
	ck_assert_uint_eq(fast.event_count, event_count);
	hand_fini(&h);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		the_standard_configuration_needs_no_metadata,
		every_tag_has_its_fields_in_the_order_of_appendix_a,
		stored_values_extend_as_their_interpretation_says,
		width_zero_stores_nothing,
		a_stride_begins_one_stride_after_its_initial_value,
		each_use_of_a_field_is_the_next_ones_previous,
		an_interpretation_restores_the_last_width_that_was_not_zero,
		another_width_under_delta_keeps_the_previous_value,
		attributes_have_any_width,
		no_tag_above_11_is_taken,
		illegal_metadata_is_refused,
		metadata_is_delivered_on_request,
		a_record_in_pieces_is_decoded_when_it_is_whole,
		events_are_counted_as_reallocs_with_their_parts,
		runs_of_any_layout_are_what_they_are_one_by_one,
	};

	return hand_run("decoder", tests, COUNT(tests));
}
