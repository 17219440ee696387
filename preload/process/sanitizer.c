/* SPDX-License-Identifier: MIT */
/* sanitizer.c - see sanitizer.h */

#include "preload/process/sanitizer.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "hatf/recorder/sanitizer_names.h"
#include "preload/heaps/patch_calls.h"
#include "preload/sys/elf_dynamic.h"
#include "preload/sys/elf_lookup.h"

enum answer {
	UNKNOWN,
	NONE,
	HERE,
	/* AddressSanitizer is here, in a library that must be loaded first. */
	HERE_FIRST
};

static _Atomic uint32_t answer; /* a value of enum answer */

static bool
defines_all(const struct dynamic *tables)
{
	for (size_t i = 0; i < SANITIZER_INTERCEPTED_COUNT; i++)
		if (!elf_lookup_defines(tables, sanitizer_intercepted[i]))
			return false;
	return true;
}

static enum answer
judge(const struct link_map *object, bool is_program)
{
	struct dynamic tables;

	if (!elf_dynamic_read_section(object->l_ld, object->l_addr, &tables))
		return NONE;
	for (size_t i = 0; i < SANITIZER_COUNT; i++)
		if (elf_lookup_defines(&tables, sanitizer_inits[i].init))
			return i == 0 && !is_program ? HERE_FIRST : HERE;
	return is_program && defines_all(&tables) ? HERE : NONE;
}

/*
 * Search the loader's own list, since the sanitizer may intercept
 * dl_iterate_phdr(3).  The list does not change meanwhile, because the process
 * has one thread, or runs its constructors.
 */
static enum answer
look(void)
{
	const struct link_map *const program = _r_debug.r_map;

	for (const struct link_map *o = program; o != NULL; o = o->l_next) {
		const enum answer a = judge(o, o == program);

		if (a != NONE)
			return a;
	}
	return NONE;
}

static enum answer
get_answer(void)
{
	/* relaxed, load and store: all threads find the same answer. */
	uint32_t a = atomic_load_explicit(&answer, memory_order_relaxed);

	if (a == UNKNOWN) {
		a = look();
		atomic_store_explicit(&answer, a, memory_order_relaxed);
	}
	return a;
}

bool
sanitizer_is_here(void)
{
	return get_answer() != NONE;
}

/*
 * If calls through this slot reach a function of the recorder, write the
 * address of the first definition in another object into the slot.  Calls reach
 * such a function if the slot holds its address, or if the loader would later
 * bind the slot to it.
 */
static void
let_go(const struct patch_slot *slot, void *unused)
{
	void *const ours = elf_lookup_own(slot->name);
	void *theirs;

	(void)unused;
	if (ours == NULL || (*slot->at != ours && !patch_is_unbound(slot)))
		return;
	theirs = elf_lookup_all(slot->name).first;
	if (theirs != NULL)
		patch_write(slot, theirs);
}

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *unused)
{
	struct dynamic tables;

	(void)nbytes;
	if (!elf_dynamic_has(info, PT_LOAD, (uintptr_t)&sanitizer_step_aside) &&
	    elf_dynamic_read(info, &tables))
		patch_each_slot(info, &tables, let_go, unused);
	return 0;
}

bool
sanitizer_must_be_first(void)
{
	return get_answer() == HERE_FIRST;
}

void
sanitizer_step_aside(void)
{
	dl_iterate_phdr(visit, NULL);
}
