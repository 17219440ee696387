/* SPDX-License-Identifier: MIT */
/*
 * test_symbol_index.c - symbols are those that libdwfl finds
 *
 * For each symbol of some files, asks for the addresses at its ends and in its
 * middle; then for addresses all over the file.  For each address of code, the
 * index must answer as dwfl_module_addrinfo() does.
 */
#include "tests/unit/support/hand.h"

#ifdef HAVE_LIBDW

#include <dlfcn.h>

#include "tools/symbols/symbol_index.h"

/* Number of symbols of a file, and of addresses in between, that are asked. */
#define SYMBOLS_MAX 700
#define OTHERS	    700

static bool
is_code(Dwfl_Module *module, GElf_Addr address)
{
	Dwarf_Addr bias;
	Elf_Scn *const section =
		dwfl_module_address_section(module, &address, &bias);
	GElf_Shdr header;

	return section != NULL && gelf_getshdr(section, &header) != NULL &&
	       (header.sh_flags & SHF_EXECINSTR) != 0;
}

static unsigned compared;

static void
compare(struct symbol_index *s, Dwfl_Module *module, GElf_Addr address)
{
	if (!is_code(module, address))
		return;
	compared++;

	GElf_Off offset;
	GElf_Sym symbol;
	const char *const want = dwfl_module_addrinfo(
		module, address, &offset, &symbol, NULL, NULL, NULL);
	const char *const got = symbol_index_find(s, module, address);

	ck_assert_msg(want == got || (want != NULL && got != NULL &&
				      strcmp(want, got) == 0),
		      "%#lx: %s instead of %s", (unsigned long)address,
		      got != NULL ? got : "nothing",
		      want != NULL ? want : "nothing");
}

/* Compare all answers for a file, if there is one. */
static void
compare_file(const char *path)
{
	static char *debug_path;
	const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	Dwfl *const dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *const module = dwfl_report_offline(dwfl, path, path, -1);
	struct symbol_index s = { .symbols = NULL };
	GElf_Addr low, high;
	int count, step;

	if (module == NULL) {
		dwfl_end(dwfl);
		return;
	}
	dwfl_report_end(dwfl, NULL, NULL);
	count = dwfl_module_getsymtab(module);
	step = count / SYMBOLS_MAX + 1;
	for (int i = 1; i < count; i += step) {
		GElf_Sym symbol;
		GElf_Addr at;

		if (dwfl_module_getsym_info(module, i, &symbol, &at, NULL, NULL,
					    NULL) == NULL)
			continue;
		compare(&s, module, at);
		compare(&s, module, at - 1);
		compare(&s, module, at + symbol.st_size / 2);
		compare(&s, module, at + symbol.st_size - 1);
		compare(&s, module, at + symbol.st_size);
	}
	dwfl_module_info(module, NULL, &low, &high, NULL, NULL, NULL, NULL);
	for (GElf_Addr i = 0; i <= OTHERS; i++)
		compare(&s, module, low + (high - low) / OTHERS * i);
	symbol_index_fini(&s);
	dwfl_end(dwfl);
}

START_TEST(answers_are_those_of_libdwfl)
{
	Dl_info libc;

	ck_assert_int_ne(dladdr((void *)(uintptr_t)strtoull, &libc), 0);
	compare_file(libc.dli_fname);
	compare_file("/proc/self/exe");
	compare_file("/usr/bin/python3");
	compare_file("/usr/bin/perl");
	compare_file("/bin/sh");
	compare_file("/lib64/ld-linux-x86-64.so.2");
	ck_assert_uint_ge(compared, 1000);
	/* no symbols, and no file at all */
	compare_file("/dev/null");
	compare_file("/nonexistent");
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {
		answers_are_those_of_libdwfl,
	};

	return hand_run("symbol_index", tests, 1);
}

#else

int
main(void)
{
	return 77;
}

#endif
