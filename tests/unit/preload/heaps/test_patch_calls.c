/* SPDX-License-Identifier: MIT */
/*
 * test_patch_calls.c - a slot is changed in pages that the loader made
 * read-only
 *
 * The loader protects whole pages only, and rounds the end of the range down.
 * The page in which a range ends is writable, holds other data of the object,
 * and must stay writable.  Regression: it was made read-only if pages are
 * larger than the linker expected.
 */
#include <elf.h>
#include <link.h>

#include "preload/heaps/patch_calls.h"
#include "tests/unit/support/hand.h"

#define K 1024u

/* A range of 'nbytes' from 'start' on, and whether 'address' is protected. */
static const struct {
	uintptr_t start;
	size_t nbytes;
	uintptr_t address;
	size_t page_nbytes;
	bool is_sealed;
} cases[] = {
	/* As the linker expected: the range ends with a page. */
	{ 0x31900, 0x1700, 0x31900, 4 * K, true },
	{ 0x31900, 0x1700, 0x31000, 4 * K, true },
	{ 0x31900, 0x1700, 0x32ff8, 4 * K, true },
	{ 0x31900, 0x1700, 0x33000, 4 * K, false },
	{ 0x31900, 0x1700, 0x30ff8, 4 * K, false },
	/*
	 * Linked for 4 KiB, on pages of 16 and 64 KiB: no whole page is left.
	 */
	{ 0x31900, 0x1700, 0x31900, 16 * K, false },
	{ 0x31900, 0x1700, 0x32ff8, 64 * K, false },
	/* A larger range, whose last page is shared. */
	{ 0x2f900, 0x21700, 0x2f900, 64 * K, true },
	{ 0x2f900, 0x21700, 0x4fff8, 64 * K, true },
	{ 0x2f900, 0x21700, 0x50000, 64 * K, false },
	{ 0x2f900, 0x21700, 0x50ff8, 64 * K, false },
	{ 0x2f900, 0x21700, 0x50ff8, 4 * K, true },
	/* Linked for 64 KiB. */
	{ 0x1fd00, 0x300, 0x1fd00, 64 * K, true },
	{ 0x1fd00, 0x300, 0x20000, 64 * K, false },
	{ 0x1fd00, 0, 0x1fd00, 64 * K, false },
};

START_TEST(pages_are_rounded_as_the_loader_does)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_msg(patch_is_sealed(cases[i].start, cases[i].nbytes,
					      cases[i].address,
					      cases[i].page_nbytes) ==
				      cases[i].is_sealed,
			      "case %zu", i);
}
END_TEST

/* An object that consists of a range of two pages and a half. */
struct object {
	uint8_t *memory;
	size_t page;
	Elf64_Phdr header;
	struct dl_phdr_info info;
};

static void
object_init(struct object *o)
{
	o->page = (size_t)sysconf(_SC_PAGESIZE);
	o->memory = mmap(NULL, 4 * o->page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(o->memory, MAP_FAILED);
	o->header = (Elf64_Phdr){
		.p_type = PT_GNU_RELRO,
		.p_vaddr = 64,
		.p_memsz = 2 * o->page + o->page / 2,
	};
	o->info = (struct dl_phdr_info){
		.dlpi_addr = (uintptr_t)o->memory,
		.dlpi_phdr = &o->header,
		.dlpi_phnum = 1,
	};
	/* Protect the range as the loader does. */
	ck_assert_int_eq(mprotect(o->memory, 2 * o->page, PROT_READ), 0);
}

/* Ask the system whether the page at 'p' is writable. */
static bool
is_writable(const uint8_t *p)
{
	int fds[2];
	bool result;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	result = read(fds[0], (void *)(uintptr_t)p, 1) == 1;
	close(fds[0]);
	close(fds[1]);
	return result;
}

START_TEST(a_page_is_afterwards_as_it_was)
{
	struct object o;
	int value;

	object_init(&o);
	for (size_t at = 64; at < 3 * o.page; at += o.page / 4) {
		const struct patch_slot slot = {
			.info = &o.info,
			.at = (void **)(uintptr_t)(o.memory + at),
		};

		ck_assert(patch_write(&slot, &value));
		ck_assert_ptr_eq(*slot.at, &value);
		ck_assert(!is_writable(o.memory));
		ck_assert(!is_writable(o.memory + o.page));
		ck_assert(is_writable(o.memory + 2 * o.page));
		ck_assert(is_writable(o.memory + 3 * o.page));
	}
	munmap(o.memory, 4 * o.page);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		pages_are_rounded_as_the_loader_does,
		a_page_is_afterwards_as_it_was,
	};

	return hand_run("patch", tests, 2);
}
