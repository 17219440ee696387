/* SPDX-License-Identifier: MIT */
/*
 * test_layout.c - field states follow FORMAT "Metadata" to the letter
 *
 * The state of a field must follow FORMAT "Metadata" exactly: the defaults of
 * HATF 1.0, the width under each interpretation, and the "previous" value.
 * Every illegal metadata record must be reported by the name of its illegal
 * part, and change nothing.
 */
#include "hatf/codec/layout.h"
#include "tests/unit/support/mini.h"

static struct hatf_metadata
width(unsigned field, unsigned code)
{
	const struct hatf_metadata m = { .op = HATF_SET_FIELD_SIZE,
					 .field = (uint8_t)field,
					 .argument = (uint8_t)code };

	return m;
}

static struct hatf_metadata
interpretation(unsigned field, unsigned code, uint64_t value, uint64_t stride)
{
	const struct hatf_metadata m = { .op = HATF_SET_FIELD_INTERPRETATION,
					 .field = (uint8_t)field,
					 .argument = (uint8_t)code,
					 .value = value,
					 .stride = stride };

	return m;
}

static void
apply(struct layout *l, struct hatf_metadata m)
{
	ck_assert_ptr_null(layout_apply(l, &m));
}

/* Decode a stored number like a reader, and note the use. */
static uint64_t
value(struct layout_field *f, uint64_t raw)
{
	const uint64_t v = layout_value(f, raw);

	layout_use(f, v);
	return v;
}

/* Return the length of a record before its attributes. */
static size_t
record_nbytes(const struct layout *l, unsigned tag)
{
	const unsigned fields = layout_tag_fields(tag);
	size_t nbytes = 1;

	for (unsigned i = 0; i < LAYOUT_NUMBER_COUNT; i++)
		nbytes += (fields >> i & 1) * l->field[i].nbytes;
	if (tag >= HATF_REALLOC_NO_ALLOC && tag <= HATF_REALLOC_FREE)
		nbytes += l->field[HATF_FIELD_ADDRESS].nbytes;
	return nbytes;
}

START_TEST(the_defaults_are_those_of_appendix_a)
{
	static const uint8_t widths[] = { 4, 4, 0, 0, 0, 0 };
	struct layout l;

	layout_init(&l);
	for (unsigned i = 0; i < HATF_FIELD_COUNT; i++) {
		ck_assert_uint_eq(l.field[i].width, widths[i]);
		ck_assert_uint_eq(l.field[i].last_width, widths[i]);
		ck_assert_uint_eq(l.field[i].interpretation,
				  i < 2 ? HATF_NONE : HATF_DEFAULT);
		ck_assert_uint_eq(layout_value(&l.field[i], 0), 0);
	}
	/* "1+4+4 bytes for an alloc and 1+4 for a free". */
	ck_assert_uint_eq(record_nbytes(&l, HATF_ALLOC), 9);
	ck_assert_uint_eq(record_nbytes(&l, HATF_FREE), 5);
	ck_assert_uint_eq(record_nbytes(&l, HATF_REALLOC_ALLOC), 13);
	ck_assert_uint_eq(record_nbytes(&l, HATF_CREATE_HEAP), 1);
	ck_assert_uint_eq(record_nbytes(&l, HATF_DESTROY_THREAD), 1);
}
END_TEST

START_TEST(default_and_stride_take_the_width_and_the_others_give_it_back)
{
	struct layout l;
	struct layout_field *const f = &l.field[HATF_FIELD_SIZE];

	layout_init(&l);
	apply(&l, width(HATF_FIELD_SIZE, 2));
	for (unsigned code = HATF_NONE; code <= HATF_STRIDE; code++) {
		apply(&l, interpretation(HATF_FIELD_SIZE, HATF_DEFAULT, 7, 0));
		ck_assert_uint_eq(f->width, 0);
		apply(&l, interpretation(HATF_FIELD_SIZE, code, 0, 0));
		ck_assert_uint_eq(
			f->width,
			code == HATF_DEFAULT || code == HATF_STRIDE ? 0 : 2);
	}
	/* A width of 0 is not "the last non-zero width". */
	apply(&l, interpretation(HATF_FIELD_SIZE, HATF_NONE, 0, 0));
	apply(&l, width(HATF_FIELD_SIZE, 0));
	ck_assert_uint_eq(f->width, 0);
	ck_assert_uint_eq(layout_value(f, 0), 0);
	apply(&l, interpretation(HATF_FIELD_SIZE, HATF_NONE, 0, 0));
	ck_assert_uint_eq(f->width, 2);
}
END_TEST

START_TEST(a_width_under_default_is_remembered)
{
	struct layout l;
	struct layout_field *const f = &l.field[HATF_FIELD_TIME];

	layout_init(&l);
	/* There is no last width to restore yet. */
	apply(&l, interpretation(HATF_FIELD_TIME, HATF_DELTA, 5, 0));
	ck_assert_uint_eq(f->width, 0);
	ck_assert_uint_eq(value(f, 0), 5);
	apply(&l, interpretation(HATF_FIELD_TIME, HATF_DEFAULT, 9, 0));
	apply(&l, width(HATF_FIELD_TIME, 4));
	ck_assert_uint_eq(f->width, 0);
	ck_assert_uint_eq(f->nbytes, 0);
	ck_assert_uint_eq(layout_value(f, 0), 9);
	apply(&l, interpretation(HATF_FIELD_TIME, HATF_NONE, 0, 0));
	ck_assert_uint_eq(f->width, 4);
}
END_TEST

START_TEST(values_are_extended_as_their_interpretation_says)
{
	static const struct {
		unsigned nbytes;
		uint64_t raw, extended;
	} cases[] = {
		{ 1, 0x7f, 0x7f },
		{ 1, 0x80, 0xffffffffffffff80 },
		{ 2, 0x7fff, 0x7fff },
		{ 2, 0x8000, 0xffffffffffff8000 },
		{ 4, 0x7fffffff, 0x7fffffff },
		{ 4, 0x80000000, 0xffffffff80000000 },
		{ 8, 0x8000000000000000, 0x8000000000000000 },
	};
	struct layout l;
	struct layout_field *const f = &l.field[HATF_FIELD_ADDRESS];

	layout_init(&l);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		apply(&l, interpretation(1, HATF_NONE, 0, 0));
		apply(&l, width(1, cases[i].nbytes));
		ck_assert_uint_eq(value(f, cases[i].raw), cases[i].raw);
		apply(&l, interpretation(1, HATF_BASE_OFFSET, 100, 0));
		ck_assert_uint_eq(value(f, cases[i].raw),
				  100 + cases[i].extended);
		ck_assert_uint_eq(value(f, cases[i].raw),
				  100 + cases[i].extended);
		apply(&l, interpretation(1, HATF_DELTA, 100, 0));
		ck_assert_uint_eq(value(f, cases[i].raw),
				  100 + cases[i].extended);
		ck_assert_uint_eq(value(f, cases[i].raw),
				  100 + 2 * cases[i].extended);
	}
}
END_TEST

START_TEST(stride_begins_one_step_behind_its_initial_value)
{
	struct layout l;
	struct layout_field *const f = &l.field[HATF_FIELD_ADDRESS];

	layout_init(&l);
	apply(&l, interpretation(1, HATF_STRIDE, 0, 100));
	for (uint64_t want = 100; want <= 400; want += 100) {
		ck_assert(layout_fits(f, want));
		ck_assert(!layout_fits(f, want + 1));
		ck_assert_uint_eq(value(f, 0), want);
	}
	/* A stride is signed. */
	apply(&l, interpretation(1, HATF_STRIDE, 16, (uint64_t)-16));
	ck_assert_uint_eq(value(f, 0), 0);
	ck_assert_uint_eq(value(f, 0), (uint64_t)-16);
}
END_TEST

START_TEST(setting_delta_again_begins_again)
{
	struct layout l;
	struct layout_field *const f = &l.field[HATF_FIELD_TIME];

	layout_init(&l);
	apply(&l, interpretation(2, HATF_DELTA, 1000, 0));
	apply(&l, width(2, 1));
	ck_assert_uint_eq(value(f, 5), 1005);
	/* A new width does not change "previous". */
	apply(&l, width(2, 2));
	ck_assert_uint_eq(value(f, 5), 1010);
	apply(&l, interpretation(2, HATF_DELTA, 0, 0));
	ck_assert_uint_eq(value(f, 5), 5);
}
END_TEST

/* A value fits if and only if its low bytes decode to it. */
START_TEST(fits_is_exactly_what_comes_back)
{
	static const unsigned widths[] = { 0, 1, 2, 4, 8 };
	static const uint64_t bases[] = {
		0, 1, 0x80, 0x555555559000, 0x7fffffffffffffff, UINT64_MAX
	};
	struct layout l;
	struct layout_field *const f = &l.field[HATF_FIELD_ADDRESS];

	for (unsigned i = 0; i < 5 * 6 * 4; i++) {
		const unsigned nbytes = widths[i % 5];
		const uint64_t base = bases[i / 5 % 6];

		layout_init(&l);
		apply(&l, interpretation(1, i / 30, base, 0));
		if (i / 30 != HATF_DEFAULT)
			apply(&l, width(1, nbytes));
		for (unsigned bit = 0; bit < 64; bit++) {
			for (unsigned k = 0; k < 6; k++) {
				const uint64_t p = UINT64_C(1) << bit;
				const uint64_t v =
					(k & 1 ? base : 0) + (k < 2   ? p
							      : k < 4 ? p - 1
								      : -p);
				const unsigned n = f->nbytes;
				const uint64_t raw =
					n == 0 ? 0
					       : layout_raw(f, v) &
							 UINT64_MAX >>
								 (64 - 8 * n);

				mini_check(layout_fits(f, v) ==
					   (layout_value(f, raw) == v));
			}
		}
	}
}
END_TEST

/*
 * Apply 'm' to a copy of 'before'.  It must be illegal for 'want', and change
 * nothing; with NULL for 'want' it must be legal.
 */
static void
check_apply(const struct layout *before, struct hatf_metadata m,
	    const char *want)
{
	struct layout l = *before;
	const char *const got = layout_apply(&l, &m);

	if (want == NULL)
		mini_check(got == NULL);
	else
		mini_check(got != NULL && strcmp(got, want) == 0 &&
			   memcmp(&l, before, sizeof(l)) == 0);
}

static const char *
illegal_width(unsigned field, unsigned code)
{
	if (field >= HATF_FIELD_COUNT)
		return "field";
	if (code <= 2 || code == 4 || code == 8)
		return NULL;
	if (field == HATF_FIELD_ATTRIBUTES && (code == 9 || code == 10))
		return NULL;
	return "fieldWidth";
}

static const char *
illegal_interpretation(unsigned field, unsigned code)
{
	const bool attributes = field == HATF_FIELD_ATTRIBUTES;

	if (field >= HATF_FIELD_COUNT)
		return "field";
	if (code > (attributes ? 1 : 4))
		return "interpretation";
	return attributes && code == 1 ? "default" : NULL;
}

START_TEST(illegal_metadata_is_named_and_changes_nothing)
{
	struct layout l;

	layout_init(&l);
	for (unsigned i = 0; i < 256 * 256; i++) {
		const unsigned field = i / 256, code = i % 256;

		check_apply(&l, width(field, code), illegal_width(field, code));
		check_apply(&l, interpretation(field, code, 1, 1),
			    illegal_interpretation(field, code));
	}
	for (unsigned op = 0; op < 256; op++) {
		struct hatf_metadata m = width(0, 4);

		m.op = (uint8_t)op;
		if (op != 1 && op != 2)
			check_apply(&l, m, "op");
	}
}
END_TEST

START_TEST(metadata_bytes_are_those_of_the_format)
{
	static const uint8_t stride[] = { 11, 2, 1, 4, 0, 0, 0, 0, 0, 0,
					  1,  2, 0, 0, 0, 0, 0, 0, 0, 16 };
	static const size_t lengths[] = { 4, 12, 12, 12, 20 };
	struct hatf_metadata m = interpretation(1, HATF_STRIDE, 0x102, 16);
	struct hatf_metadata back;
	uint8_t buf[LAYOUT_METADATA_MAX_NBYTES];

	ck_assert_uint_eq(layout_put_metadata(buf, &m), 20);
	ck_assert_mem_eq(buf, stride, 20);
	for (unsigned code = HATF_NONE; code <= HATF_STRIDE; code++) {
		m = interpretation(1, code, code == HATF_NONE ? 0 : 77,
				   code == HATF_STRIDE ? 88 : 0);
		ck_assert_uint_eq(layout_put_metadata(buf, &m), lengths[code]);
		ck_assert_uint_eq(layout_metadata_nbytes(buf), lengths[code]);
		layout_get_metadata(buf, &back);
		ck_assert_uint_eq(back.op, m.op);
		ck_assert_uint_eq(back.field, m.field);
		ck_assert_uint_eq(back.argument, m.argument);
		ck_assert_uint_eq(back.value, m.value);
		ck_assert_uint_eq(back.stride, m.stride);
	}
	m = width(2, 8);
	ck_assert_uint_eq(layout_put_metadata(buf, &m), 4);
	ck_assert_uint_eq(layout_metadata_nbytes(buf), 4);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("layout");
	TCase *const tc = tcase_create("layout");

	tcase_add_test(tc, the_defaults_are_those_of_appendix_a);
	tcase_add_test(
		tc,
		default_and_stride_take_the_width_and_the_others_give_it_back);
	tcase_add_test(tc, a_width_under_default_is_remembered);
	tcase_add_test(tc, values_are_extended_as_their_interpretation_says);
	tcase_add_test(tc, stride_begins_one_step_behind_its_initial_value);
	tcase_add_test(tc, setting_delta_again_begins_again);
	tcase_add_test(tc, fits_is_exactly_what_comes_back);
	tcase_add_test(tc, illegal_metadata_is_named_and_changes_nothing);
	tcase_add_test(tc, metadata_bytes_are_those_of_the_format);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
