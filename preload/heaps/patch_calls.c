/* SPDX-License-Identifier: MIT */
/* patch_calls.c - see patch_calls.h */

#include "preload/heaps/patch_calls.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/sys/elf_dynamic.h"
#include "preload/sys/elf_lookup.h"
#include "preload/sys/sys.h"

#if defined(__x86_64__)
#define SLOT_CALL R_X86_64_JUMP_SLOT
#define SLOT_DATA R_X86_64_GLOB_DAT
#define SLOT_WORD R_X86_64_64
#else
#define SLOT_CALL R_AARCH64_JUMP_SLOT
#define SLOT_DATA R_AARCH64_GLOB_DAT
#define SLOT_WORD R_AARCH64_ABS64
#endif

struct work {
	const struct patch *patches;
	size_t count;
	const struct known_objects *known; /* objects to skip; NULL: none */
	size_t visited; /* number of objects visited so far */
};

bool
patch_is_sealed(uintptr_t start, size_t nbytes, uintptr_t address,
		size_t page_nbytes)
{
	const uintptr_t mask = ~(uintptr_t)(page_nbytes - 1);

	return address >= (start & mask) && address < ((start + nbytes) & mask);
}

static bool
is_sealed(const struct dl_phdr_info *info, uintptr_t address,
	  size_t page_nbytes)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *const p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_RELRO &&
		    patch_is_sealed(info->dlpi_addr + p->p_vaddr, p->p_memsz,
				    address, page_nbytes))
			return true;
	}
	return false;
}

bool
patch_write(const struct patch_slot *slot, void *value)
{
	const size_t size = sys_page_nbytes();
	const uintptr_t at = (uintptr_t)slot->at;
	void *const page = (void *)(at & ~(uintptr_t)(size - 1));
	const bool sealed = is_sealed(slot->info, at, size);

	if (sealed && mprotect(page, size, PROT_READ | PROT_WRITE) != 0)
		return false;
	/* relaxed: a call through the old value is correct, too. */
	__atomic_store_n(slot->at, value, __ATOMIC_RELAXED);
	if (sealed)
		mprotect(page, size, PROT_READ);
	return true;
}

bool
patch_is_unbound(const struct patch_slot *slot)
{
	return slot->is_call &&
	       elf_dynamic_has(slot->info, PT_LOAD, (uintptr_t)*slot->at);
}

void
patch_each_slot(const struct dl_phdr_info *info, const struct dynamic *dynamic,
		patch_slot_fn *fn, void *context)
{
	struct patch_slot slot = { .info = info, .dynamic = dynamic };

	for (unsigned i = 0; i < 2; i++) {
		const Elf64_Rela *const all = dynamic->relocations[i];
		const size_t n = dynamic->relocations_nbytes[i] / sizeof(*all);

		for (size_t at = 0; all != NULL && at < n; at++) {
			const Elf64_Rela *const r = &all[at];
			const uint64_t type = ELF64_R_TYPE(r->r_info);
			const uint64_t symbol = ELF64_R_SYM(r->r_info);

			if (symbol == 0 ||
			    (type != SLOT_CALL && type != SLOT_DATA &&
			     (type != SLOT_WORD || r->r_addend != 0)))
				continue;
			slot.name = dynamic->strings +
				    dynamic->symbols[symbol].st_name;
			slot.at = (void **)(info->dlpi_addr + r->r_offset);
			slot.is_call = type == SLOT_CALL;
			fn(&slot, context);
		}
	}
}

/*
 * Store our function in the slot if the slot has the real function, or if the
 * loader has not bound the slot yet.
 */
static void
patch_slot(const struct patch_slot *slot, void *context)
{
	const struct work *const w = context;

	for (size_t i = 0; i < w->count; i++) {
		const struct patch *const p = &w->patches[i];

		if (p->real == NULL || strcmp(p->name, slot->name) != 0)
			continue;
		if (*slot->at == p->real || patch_is_unbound(slot))
			patch_write(slot, p->ours);
	}
}

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct work *const w = context;
	const size_t index = w->visited++;
	struct dynamic dynamic;

	(void)nbytes;
	if (known_objects_have(w->known, info, index))
		return 0;
	if (!elf_dynamic_has(info, PT_LOAD, (uintptr_t)&patch_calls) &&
	    !elf_dynamic_has(info, PT_LOAD, (uintptr_t)w->patches[0].real) &&
	    elf_dynamic_read(info, &dynamic))
		patch_each_slot(info, &dynamic, patch_slot, context);
	return 0;
}

/* Set 'real' in each patch, and do the test that patch_calls() describes. */
static bool
find_real(struct patch *patches, size_t n, const char *const *markers)
{
	bool together;

	for (size_t i = 0; i < n; i++) {
		struct patch *const p = &patches[i];

		p->real = elf_lookup_function(p->name, patches[0].real,
					      &together);
		if (p->real != NULL && (i == 0 || together) &&
		    elf_lookup_is_first(p->name, p->real))
			continue;
		if (!p->is_optional)
			return false;
		p->real = NULL;
	}
	for (; *markers != NULL; markers++)
		if (elf_lookup_function(*markers, patches[0].real, &together) ==
			    NULL ||
		    !together)
			return false;
	return true;
}

bool
patch_calls(struct patch *patches, size_t n, const char *const *markers)
{
	if (!find_real(patches, n, markers))
		return false;
	patch_new_objects(patches, n, NULL);
	return true;
}

void
patch_new_objects(const struct patch *patches, size_t n,
		  const struct known_objects *known)
{
	struct work w = { patches, n, known, 0 };

	dl_iterate_phdr(visit, &w);
}

struct patch *
patch_find(struct patch *patches, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(patches[i].name, name) == 0)
			return &patches[i];
	return NULL;
}
