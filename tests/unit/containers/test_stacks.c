/* SPDX-License-Identifier: MIT */
/*
 * test_stacks.c - equal stacks get one id and one definition
 *
 * Equal frames and stacks get the same id and are written once.  A reader of
 * the comments, in order, knows all that the writer knew.  A definition that a
 * hostile trace contains is refused with the key at fault, and changes nothing.
 */
#include "hatf/hatf.h"

#include "tests/unit/support/checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hatf_stacks *
open_stacks(void)
{
	struct hatf_stacks *s;

	ck_assert_int_eq(hatf_stacks_open(&s), HATF_OK);
	return s;
}

static enum hatf_status
note_bytes(struct hatf_stacks *s, const char *text, size_t nbytes,
	   const char **field_ret)
{
	/* An exact copy, for the sanitizers. */
	uint8_t *const copy = malloc(nbytes);
	const struct hatf_record rec = { .tag = HATF_COMMENT,
					 .attributes = copy,
					 .attributes_nbytes =
						 (uint32_t)nbytes };
	struct hatf_error err;
	enum hatf_status status;

	memcpy(copy, text, nbytes);
	status = hatf_stacks_note(s, &rec, &err);
	ck_assert_int_eq(err.status, status);
	*field_ret = err.field;
	free(copy);
	return status;
}

static void
note(struct hatf_stacks *s, const char *text)
{
	const char *field;

	ck_assert_int_eq(note_bytes(s, text, strlen(text), &field), HATF_OK);
	ck_assert_ptr_null(field);
}

static void
refuse(struct hatf_stacks *s, const char *text, const char *want)
{
	const uint64_t frames = hatf_stacks_frame_count(s);
	const uint64_t stacks = hatf_stacks_count(s);
	const char *field;

	ck_assert_int_eq(note_bytes(s, text, strlen(text), &field),
			 HATF_BAD_COMMENT);
	ck_assert_str_eq(field, want);
	ck_assert_uint_eq(hatf_stacks_frame_count(s), frames);
	ck_assert_uint_eq(hatf_stacks_count(s), stacks);
}

/* The next definition; "" if there is none. */
static const char *
next(struct hatf_stacks *s)
{
	static char text[HATF_DEFINITION_MAX + 1];
	const size_t nbytes = hatf_stacks_next(s, text, HATF_DEFINITION_MAX);

	text[nbytes] = '\0';
	return text;
}

static uint64_t
add_frame(struct hatf_stacks *s, const struct hatf_frame *frame)
{
	uint64_t id;

	ck_assert_int_eq(hatf_stacks_add_frame(s, frame, &id), HATF_OK);
	return id;
}

static uint64_t
add(struct hatf_stacks *s, uint64_t parent, uint64_t frame)
{
	uint64_t id;

	ck_assert_int_eq(hatf_stacks_add(s, parent, frame, &id), HATF_OK);
	return id;
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void
check_frame(const struct hatf_stacks *s, uint64_t id,
	    const struct hatf_frame *want)
{
	struct hatf_frame frame;

	ck_assert(hatf_stacks_get_frame(s, id, &frame));
	ck_assert(same_text(frame.function, want->function));
	ck_assert(same_text(frame.file, want->file));
	ck_assert(same_text(frame.object, want->object));
	ck_assert_uint_eq(frame.line, want->line);
	ck_assert_uint_eq(frame.column, want->column);
	ck_assert_uint_eq(frame.end_column, want->end_column);
	ck_assert_uint_eq(frame.address, want->address);
}

static const struct hatf_frame frames[] = {
	{ .function = "main",
	  .file = "a b.c",
	  .line = 12,
	  .column = 3,
	  .object = "/bin/x",
	  .address = 0x55550010 },
	{ .function = "main",
	  .file = "a b.c",
	  .line = 13,
	  .column = 3,
	  .object = "/bin/x",
	  .address = 0x55550010 },
	{ .function = "a b.c", .file = "main", .end_column = UINT32_MAX },
	{ .address = UINT64_MAX, .line = UINT64_MAX, .column = UINT64_MAX },
	{ .object = "back\\slash\nnew\x7f" },
	{ .function = NULL },
};
#define FRAME_COUNT (sizeof(frames) / sizeof(frames[0]))

START_TEST(equal_frames_and_stacks_have_one_id)
{
	struct hatf_stacks *const s = open_stacks();

	for (unsigned round = 0; round < 2; round++)
		for (size_t i = 0; i < FRAME_COUNT; i++)
			ck_assert_uint_eq(add_frame(s, &frames[i]), i + 1);
	ck_assert_uint_eq(add_frame(s, &(struct hatf_frame){ .function = "",
							     .object = "" }),
			  FRAME_COUNT);
	ck_assert_uint_eq(add(s, 0, 1), 1);
	ck_assert_uint_eq(add(s, 1, 2), 2);
	ck_assert_uint_eq(add(s, 2, 1), 3);
	ck_assert_uint_eq(add(s, 1, 2), 2);
	ck_assert_uint_eq(add(s, 0, 2), 4);
	ck_assert_uint_eq(hatf_stacks_count(s), 4);
	ck_assert_uint_eq(hatf_stacks_frame_count(s), FRAME_COUNT);
	hatf_stacks_close(s);
}
END_TEST

START_TEST(each_definition_is_written_once)
{
	struct hatf_stacks *const s = open_stacks();

	ck_assert_str_eq(next(s), "");
	add_frame(s, &frames[0]);
	ck_assert_str_eq(next(s), "HATF frame\nframe=1\nline=12\ncolumn=3\n"
				  "address=0x55550010\nfunction=main\n"
				  "file=a b.c\nobject=/bin/x\n");
	ck_assert_str_eq(next(s), "");
	add(s, 0, 1);
	add_frame(s, &frames[0]);
	add_frame(s, &frames[5]);
	add(s, 1, 2);
	/* Frames precede the stacks that have them. */
	ck_assert_str_eq(next(s), "HATF frame\nframe=2\n");
	ck_assert_str_eq(next(s), "HATF stack\nstack=1\nparent=0\nframe=1\n");
	ck_assert_str_eq(next(s), "HATF stack\nstack=2\nparent=1\nframe=2\n");
	ck_assert_str_eq(next(s), "");
	hatf_stacks_close(s);
}
END_TEST

START_TEST(a_reader_knows_what_the_writer_knew)
{
	struct hatf_stacks *const w = open_stacks();
	struct hatf_stacks *const r = open_stacks();
	struct hatf_stack stack;
	const char *text;

	for (uint64_t i = 0; i < 20000; i++) {
		char name[32];
		struct hatf_frame frame = { .function = name, .line = i + 1 };

		snprintf(name, sizeof(name), "f%u", (unsigned)i % 300);
		ck_assert_uint_eq(add_frame(w, &frame), i + 1);
		ck_assert_uint_eq(add(w, i, i + 1), i + 1);
		if (i % 5 == 0)
			while (*(text = next(w)) != '\0')
				note(r, text);
	}
	while (*(text = next(w)) != '\0')
		note(r, text);
	ck_assert_uint_eq(hatf_stacks_count(r), 20000);
	ck_assert_uint_eq(hatf_stacks_frame_count(r), 20000);
	for (uint64_t i = 0; i < 20000; i++) {
		struct hatf_frame want;

		ck_assert(hatf_stacks_get(r, i + 1, &stack));
		ck_assert_uint_eq(stack.parent, i);
		ck_assert_uint_eq(stack.frame, i + 1);
		ck_assert(hatf_stacks_get_frame(w, i + 1, &want));
		check_frame(r, i + 1, &want);
	}
	ck_assert(!hatf_stacks_get(r, 0, &stack));
	ck_assert(!hatf_stacks_get(r, 20001, &stack));
	hatf_stacks_close(r);
	hatf_stacks_close(w);
}
END_TEST

START_TEST(every_frame_survives_writing_and_reading)
{
	struct hatf_stacks *const w = open_stacks();
	struct hatf_stacks *const r = open_stacks();

	for (size_t i = 0; i < FRAME_COUNT; i++) {
		add_frame(w, &frames[i]);
		note(r, next(w));
		check_frame(w, i + 1, &frames[i]);
		check_frame(r, i + 1, &frames[i]);
	}
	hatf_stacks_close(r);
	hatf_stacks_close(w);
}
END_TEST

/* Ids of other writers are in any order; unknown keys are ignored. */
START_TEST(ids_need_not_be_dense)
{
	struct hatf_stacks *const s = open_stacks();
	struct hatf_stack stack;

	note(s, "HATF frame\nframe=7\nfunction=f\nmood=bad\n");
	note(s, "HATF frame\nframe=18446744073709551615\nfunction=g\n");
	note(s, "HATF frame\nframe=1\nfunction=f\n");
	note(s, "HATF stack\nstack=9\nframe=7\n");
	note(s, "HATF stack\nstack=2\nparent=9\nframe=18446744073709551615\n");
	note(s, "HATF stack\nstack=1\nparent=2\nframe=1\n");
	check_frame(s, 7, &(struct hatf_frame){ .function = "f" });
	check_frame(s, UINT64_MAX, &(struct hatf_frame){ .function = "g" });
	ck_assert(hatf_stacks_get(s, 9, &stack));
	ck_assert_uint_eq(stack.parent, 0);
	ck_assert(hatf_stacks_get(s, 1, &stack));
	ck_assert_uint_eq(stack.parent, 2);
	ck_assert_uint_eq(stack.frame, 1);
	ck_assert(!hatf_stacks_get(s, 3, &stack));
	hatf_stacks_close(s);
}
END_TEST

START_TEST(other_comments_are_ignored)
{
	struct hatf_stacks *const s = open_stacks();
	const struct hatf_record alloc = { .tag = HATF_ALLOC };

	note(s, "frame=1\n");
	note(s, "HATF frame");
	note(s, "HATF frames\nframe=1\n");
	note(s, "HATF stackstack=1\n");
	note(s, "");
	ck_assert_int_eq(hatf_stacks_note(s, &alloc, NULL), HATF_OK);
	ck_assert_uint_eq(hatf_stacks_frame_count(s), 0);
	hatf_stacks_close(s);
}
END_TEST

/* Require that a frame lies at 'offset' of 'object'; NULL: in none. */
static void
check_place(const struct hatf_stacks *s, uint64_t id, const char *object,
	    uint64_t offset)
{
	struct hatf_frame frame;

	ck_assert(hatf_stacks_get_frame(s, id, &frame));
	ck_assert_pstr_eq(frame.object, object);
	ck_assert_uint_eq(frame.offset, offset);
}

START_TEST(a_frame_is_in_the_object_of_its_time)
{
	struct hatf_stacks *const s = open_stacks();

	note(s, "HATF object\nobject=/a\naddress=0x1000\nsize=4096\n"
		"base=0x800\n");
	note(s, "HATF frame\nframe=1\naddress=0x1000\n");
	note(s, "HATF frame\nframe=2\naddress=0x1fff\n");
	note(s, "HATF frame\nframe=3\naddress=0x2000\n");
	/* Another library takes the place of most of it. */
	note(s, "HATF object\nobject=/b\naddress=0x1800\nsize=8192\n"
		"base=0x1800\noffset=0x0\nbuild_id=ab\n");
	note(s, "HATF frame\nframe=4\naddress=0x1900\n");
	note(s, "HATF frame\nframe=5\naddress=0x1000\nline=1\n");
	/* A frame may be defined again, with the meaning that it had. */
	note(s, "HATF frame\nframe=2\naddress=0x1fff\n");
	note(s, "HATF frame\nframe=6\naddress=0x1900\nobject=/c\n");
	note(s, "HATF object\nobject=/d\naddress=0x9000\nsize=1\n");
	note(s, "HATF frame\nframe=7\naddress=0x9000\n");
	check_place(s, 1, "/a", 0x800);
	check_place(s, 2, "/a", 0x17ff);
	check_place(s, 3, NULL, 0);
	check_place(s, 4, "/b", 0x100);
	check_place(s, 5, NULL, 0);
	check_place(s, 6, "/c", 0);
	/* An object without a base is no object. */
	check_place(s, 7, NULL, 0);
	hatf_stacks_close(s);
}
END_TEST

START_TEST(hostile_definitions_are_refused)
{
	struct hatf_stacks *const s = open_stacks();

	note(s, "HATF frame\nframe=1\n");
	note(s, "HATF stack\nstack=1\nframe=1\n");
	refuse(s, "HATF frame\n", "frame");
	refuse(s, "HATF frame\nframe=0\n", "frame");
	refuse(s, "HATF frame\nframe=x\n", "frame");
	refuse(s, "HATF frame\nframe=18446744073709551616\n", "frame");
	refuse(s, "HATF frame\nframe=2\nline=-1\n", "line");
	refuse(s, "HATF frame\nframe=2\ncolumn=\n", "column");
	refuse(s, "HATF frame\nframe=2\nend_column=x\n", "end_column");
	refuse(s, "HATF frame\nframe=2\naddress=10\n", "address");
	refuse(s, "HATF frame\nframe=2\naddress=0x\n", "address");
	refuse(s, "HATF frame\nframe=2\naddress=0x1G\n", "address");
	refuse(s, "HATF frame\nframe=2\naddress=0x11112222333344445\n",
	       "address");
	refuse(s, "HATF stack\nframe=1\n", "stack");
	refuse(s, "HATF stack\nstack=0\nframe=1\n", "stack");
	/* The same words again are fine, others are not. */
	note(s, "HATF stack\nstack=1\nframe=1\n");
	note(s, "HATF frame\nframe=1\n");
	refuse(s, "HATF frame\nframe=1\nline=7\n", "frame");
	refuse(s, "HATF stack\nstack=1\nparent=1\nframe=1\n", "stack");
	refuse(s, "HATF stack\nstack=2\n", "frame");
	refuse(s, "HATF stack\nstack=2\nframe=2\n", "frame");
	refuse(s, "HATF stack\nstack=2\nparent=2\nframe=1\n", "parent");
	refuse(s, "HATF stack\nstack=2\nparent=3\nframe=1\n", "parent");
	refuse(s, "HATF stack\nstack=2\nparent=one\nframe=1\n", "parent");
	/* Later definitions are accepted. */
	note(s, "HATF stack\nstack=2\nparent=1\nframe=1\n");
	hatf_stacks_close(s);
}
END_TEST

/* A NUL ends a name; a name that fills a comment is read back whole. */
START_TEST(names_may_have_any_bytes)
{
	struct hatf_stacks *const w = open_stacks();
	struct hatf_stacks *const r = open_stacks();
	static char text[HATF_DEFINITION_MAX];
	char *const name = malloc(65001);
	const char *field;
	size_t nbytes;

	note(r, "HATF frame\nframe=1\nfunction=a\\x00b\n");
	check_frame(r, 1, &(struct hatf_frame){ .function = "a" });
	memset(name, 'n', 65000);
	name[65000] = '\0';
	add_frame(w, &frames[5]);
	ck_assert_str_eq(next(w), "HATF frame\nframe=1\n");
	add_frame(w, &(struct hatf_frame){ .function = name, .file = name });
	nbytes = hatf_stacks_next(w, text, sizeof(text));
	ck_assert_uint_eq(nbytes,
			  strlen("HATF frame\nframe=2\nfunction=\n") + 65000);
	ck_assert_int_eq(note_bytes(r, text, nbytes, &field), HATF_OK);
	/* The file did not fit. */
	check_frame(r, 2, &(struct hatf_frame){ .function = name });
	free(name);
	hatf_stacks_close(r);
	hatf_stacks_close(w);
}
END_TEST

START_TEST(more_names_than_the_limit_are_refused)
{
	struct hatf_stacks *const s = open_stacks();
	enum hatf_status status = HATF_OK;
	const size_t nbytes = 1 << 20;
	char *const name = malloc(nbytes + 1);
	unsigned count = 0;
	uint64_t id;

	memset(name, 'n', nbytes);
	name[nbytes] = '\0';
	while (status == HATF_OK && count < 1000) {
		name[0] = (char)('A' + count % 32);
		name[1] = (char)('A' + count / 32);
		status = hatf_stacks_add_frame(
			s, &(struct hatf_frame){ .file = name }, &id);
		count++;
	}
	ck_assert_int_eq(status, HATF_LIMIT);
	ck_assert_uint_le(count, HATF_FRAME_TEXTS_MAX / nbytes + 1);
	free(name);
	hatf_stacks_close(s);
}
END_TEST

START_TEST(more_frames_than_the_limit_are_refused)
{
	struct hatf_stacks *const s = open_stacks();
	struct hatf_frame frame = { .line = 0 };
	uint64_t id;

	for (uint32_t i = 0; i < HATF_FRAMES_MAX; i++) {
		frame.line++;
		if (hatf_stacks_add_frame(s, &frame, &id) != HATF_OK)
			ck_abort_msg("frame %u", (unsigned)i);
	}
	frame.line++;
	ck_assert_int_eq(hatf_stacks_add_frame(s, &frame, &id), HATF_LIMIT);
	frame.line = 1;
	ck_assert_int_eq(hatf_stacks_add_frame(s, &frame, &id), HATF_OK);
	hatf_stacks_close(s);
}
END_TEST

START_TEST(the_stack_of_a_record_is_found)
{
	const uint8_t bytes[] = { 0x01, 0x41, 0x10, 0x45, 0x81, 0x01, 0x45 };
	struct hatf_record rec = { .tag = HATF_ALLOC, .attributes = bytes };

	ck_assert_uint_eq(hatf_record_stack(&rec), 0);
	rec.attributes_nbytes = 3;
	ck_assert_uint_eq(hatf_record_stack(&rec), 0);
	rec.attributes_nbytes = 5; /* cut */
	ck_assert_uint_eq(hatf_record_stack(&rec), 0);
	rec.attributes_nbytes = 6;
	ck_assert_uint_eq(hatf_record_stack(&rec), 129);
	rec.tag = HATF_COMMENT;
	ck_assert_uint_eq(hatf_record_stack(&rec), 0);
}
END_TEST

int
main(void)
{
	Suite *const suite = suite_create("stacks");
	TCase *const tc = tcase_create("stacks");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, equal_frames_and_stacks_have_one_id);
	tcase_add_test(tc, each_definition_is_written_once);
	tcase_add_test(tc, a_reader_knows_what_the_writer_knew);
	tcase_add_test(tc, every_frame_survives_writing_and_reading);
	tcase_add_test(tc, ids_need_not_be_dense);
	tcase_add_test(tc, other_comments_are_ignored);
	tcase_add_test(tc, a_frame_is_in_the_object_of_its_time);
	tcase_add_test(tc, hostile_definitions_are_refused);
	tcase_add_test(tc, names_may_have_any_bytes);
	tcase_add_test(tc, more_names_than_the_limit_are_refused);
	tcase_add_test(tc, more_frames_than_the_limit_are_refused);
	tcase_add_test(tc, the_stack_of_a_record_is_found);
	suite_add_tcase(suite, tc);

	SRunner *const runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);

	const int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
