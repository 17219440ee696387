/* SPDX-License-Identifier: MIT */
/*
 * test_cfi.c - rows of .eh_frame equal readelf's; damage does no harm
 *
 * All rows of libc and of the C++ library; and damaged copies of libc's tables,
 * outside of which nothing may be read: AddressSanitizer checks this.
 */
#include "preload/stacks/cfi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/stacks/code_object.h"
#include "tests/unit/support/hand.h"

/* Find the object that has the function 'symbol'; all 0: there is none. */
static void
find_object(const char *library, const char *symbol,
	    struct code_object *object_ret)
{
	void *const handle = dlopen(library, RTLD_NOW);
	void *address = NULL;

	memset(object_ret, 0, sizeof(*object_ret));
	if (handle != NULL)
		address = dlsym(handle, symbol);
	if (address == NULL)
		return;
	ck_assert(code_object_find((uintptr_t)address, object_ret));
	ck_assert_ptr_nonnull(object_ret->section.index);
}

/* A line of readelf's output: a place, the CFA, and registers by column. */
struct line {
	unsigned long pc;
	char word[18][24];
	int count;
};

/* Split at blanks; a word in brackets repeats the one before it. */
static void
read_words(char *text, struct line *line_ret)
{
	char *rest = text;

	line_ret->count = 0;
	for (const char *word = strtok_r(rest, " \n", &rest);
	     word != NULL && line_ret->count < 18;
	     word = strtok_r(NULL, " \n", &rest))
		if (word[0] != '(')
			snprintf(line_ret->word[line_ret->count++], 24, "%s",
				 word);
}

static bool
read_line(char *text, struct line *line_ret)
{
	char *end;

	if (strspn(text, "0123456789abcdef") != 16 || text[16] != ' ')
		return false;
	line_ret->pc = strtoul(text, &end, 16);
	read_words(end, line_ret);
	return line_ret->count > 1;
}

/* Return whether a rule means the same as readelf's word. */
static bool
is_same(const struct cfi_rule *rule, const char *word)
{
	if (word[0] == 'c')
		return rule->how == CFI_AT_OFFSET &&
		       rule->offset == atoi(word + 1);
	if (strcmp(word, "exp") == 0)
		return rule->how == CFI_AT_EXPRESSION;
	if (strcmp(word, "vexp") == 0)
		return rule->how == CFI_EXPRESSION;
	if (word[0] == 'r')
		return rule->how == CFI_IN_REGISTER;
	/* A column of a register without a rule has 'u', too. */
	return rule->how == CFI_UNDEFINED || rule->how == CFI_SAME;
}

static bool
is_same_cfa(const struct cfi_row *row, const char *word)
{
	if (strcmp(word, "exp") == 0)
		return row->cfa.how == CFI_EXPRESSION;
	if (row->cfa.how != CFI_OFFSET || strlen(word) < 4 ||
	    row->cfa.offset != atoi(word + 3))
		return false;
	return row->cfa_register == CFI_RSP   ? memcmp(word, "rsp", 3) == 0
	       : row->cfa_register == CFI_RBP ? memcmp(word, "rbp", 3) == 0
					      : true;
}

/* Compare the row for a line; 'names' are the columns after the CFA's. */
static void
compare(const struct code_object *object, const struct line *line,
	const struct line *names)
{
	struct cfi_row row;

	ck_assert_msg(
		cfi_find_row(&object->section, object->base + line->pc, &row),
		"no row at %lx", line->pc);
	ck_assert_msg(is_same_cfa(&row, line->word[0]), "CFA at %lx: %s",
		      line->pc, line->word[0]);
	for (int i = 1; i < line->count && i < names->count; i++) {
		const char *const name = names->word[i];
		const int reg = strcmp(name, "rbp") == 0   ? CFI_RBP
				: strcmp(name, "ra") == 0  ? CFI_RETURN
				: strcmp(name, "rbx") == 0 ? CFI_RBX
							   : -1;

		ck_assert_msg(reg < 0 ||
				      is_same(&row.caller[reg], line->word[i]),
			      "%s at %lx: %s", name, line->pc, line->word[i]);
	}
}

/* Compare with readelf's output for the file; return the number of rows. */
static int
compare_all(const struct code_object *object)
{
	char command[4200], text[400];
	struct line line, last = { .count = 0 }, names = { .count = 0 };
	unsigned long begin, end = 0;
	int compared = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "readelf --debug-dump=frames-interp '%s' 2>/dev/null",
		 object->path);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(text, sizeof(text), f) != NULL) {
		const char *const fde = strstr(text, " FDE ");
		const bool is_row =
			fde == NULL && end != 0 && read_line(text, &line);

		/*
		 * If there are several rows for one place, the last one counts.
		 */
		if (last.count != 0 && last.pc < end &&
		    (!is_row || line.pc != last.pc)) {
			compare(object, &last, &names);
			compared++;
		}
		last.count = 0;
		if (is_row)
			last = line;
		else if (fde != NULL && strstr(fde, "pc=") != NULL)
			sscanf(strstr(fde, "pc="), "pc=%lx..%lx", &begin, &end);
		else if (strstr(text, " CIE ") != NULL)
			end = 0;
		else if (strncmp(text, "   LOC", 6) == 0)
			read_words(text + 6, &names);
	}
	pclose(f);
	return compared;
}

START_TEST(rows_are_those_of_readelf)
{
	static const char *const libraries[][2] = {
		{ "libc.so.6", "malloc" },
		{ "libstdc++.so.6", "_Znwm" },
		{ "libm.so.6", "sin" },
	};
	struct code_object object;

	if (system("readelf --version >/dev/null 2>&1") != 0)
		return;
	for (int i = 0; i < 3; i++) {
		find_object(libraries[i][0], libraries[i][1], &object);
		if (object.section.index != NULL)
			ck_assert_int_gt(compare_all(&object), 2000);
	}
}
END_TEST

/* A copy of the tables in memory of exactly their length. */
struct copy {
	uint8_t *bytes;
	struct cfi_section section;
	uintptr_t moved; /* from the original */
};

static void
copy_tables(const struct cfi_section *from, size_t nbytes, struct copy *copy)
{
	copy->bytes = malloc(nbytes);
	ck_assert_ptr_nonnull(copy->bytes);
	memcpy(copy->bytes, from->begin, nbytes);
	copy->section.begin = copy->bytes;
	copy->section.end = copy->bytes + nbytes;
	copy->section.index = copy->bytes + (from->index - from->begin);
	copy->moved = (uintptr_t)copy->bytes - (uintptr_t)from->begin;
}

/* Look up rows all over the object; any result is accepted. */
static void
look_around(const struct code_object *object, const struct copy *copy)
{
	struct cfi_row row;

	for (uintptr_t pc = object->begin; pc < object->end; pc += 40009)
		(void)cfi_find_row(&copy->section, pc + copy->moved, &row);
}

START_TEST(damaged_tables_are_borne)
{
	struct code_object object;
	struct copy copy;
	size_t nbytes, from;

	find_object("libc.so.6", "malloc", &object);
	nbytes = (size_t)(object.section.end - object.section.begin);
	from = (size_t)(object.section.index - object.section.begin);
	srand(1);
	for (int i = 0; i < 60; i++) {
		copy_tables(&object.section,
			    from + 1 + (size_t)rand() % (nbytes - from), &copy);
		look_around(&object, &copy);
		free(copy.bytes);
	}
	copy_tables(&object.section, nbytes, &copy);
	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < 200; k++)
			copy.bytes[from + (size_t)rand() % (nbytes - from)] =
				(uint8_t)rand();
		/* The index's own header leads to all other data. */
		if (i % 4 != 0)
			memcpy(copy.bytes + from, object.section.index, 12);
		look_around(&object, &copy);
	}
	free(copy.bytes);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		rows_are_those_of_readelf,
		damaged_tables_are_borne,
	};

	return hand_run("cfi", tests, 2);
}
