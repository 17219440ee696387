/* SPDX-License-Identifier: MIT */
/* patch.c - see patch.h */

#include "patch.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dynamic.h"
#include "lookup.h"

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
	struct patch *patches;
	size_t count;
};

struct object {
	const struct dl_phdr_info *info;
	struct dynamic dynamic;
};

static void
change(const struct dl_phdr_info *info, void **slot, void *value)
{
	const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *const page = (void *)((uintptr_t)slot & ~(size - 1));
	const bool sealed = dynamic_has(info, PT_GNU_RELRO, (uintptr_t)slot);

	if (sealed && mprotect(page, size, PROT_READ | PROT_WRITE) != 0)
		return;
	/* relaxed: the other value would do as well. */
	__atomic_store_n(slot, value, __ATOMIC_RELAXED);
	if (sealed)
		mprotect(page, size, PROT_READ);
}

/* A slot that calls a real function, or has not yet found out which to call. */
static void
patch_slot(const struct object *o, const struct work *w, const Elf64_Rela *r)
{
	const Elf64_Sym *const symbol =
		&o->dynamic.symbols[ELF64_R_SYM(r->r_info)];
	void **const slot = (void **)(o->info->dlpi_addr + r->r_offset);
	const char *const name = o->dynamic.strings + symbol->st_name;

	for (size_t i = 0; i < w->count; i++) {
		const struct patch *const p = &w->patches[i];

		if (p->real == NULL || strcmp(p->name, name) != 0)
			continue;
		if (*slot == p->real ||
		    (ELF64_R_TYPE(r->r_info) == SLOT_CALL &&
		     dynamic_has(o->info, PT_LOAD, (uintptr_t)*slot)))
			change(o->info, slot, p->ours);
	}
}

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	const struct work *const w = context;
	struct object o = { .info = info };

	(void)nbytes;
	if (dynamic_has(info, PT_LOAD, (uintptr_t)&patch_calls) ||
	    dynamic_has(info, PT_LOAD, (uintptr_t)w->patches[0].real) ||
	    !dynamic_read(info, &o.dynamic))
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		const Elf64_Rela *const all = o.dynamic.relocations[i];
		const size_t n = o.dynamic.relocations_nbytes[i] / sizeof(*all);

		for (size_t at = 0; all != NULL && at < n; at++) {
			const Elf64_Rela *const r = &all[at];
			const uint64_t type = ELF64_R_TYPE(r->r_info);

			if (ELF64_R_SYM(r->r_info) != 0 &&
			    (type == SLOT_CALL || type == SLOT_DATA ||
			     (type == SLOT_WORD && r->r_addend == 0)))
				patch_slot(&o, w, r);
		}
	}
	return 0;
}

/* Find them all in one object, and that it is the one which is meant. */
static bool
find_real(struct patch *patches, size_t n, const char *const *markers)
{
	bool together;

	for (size_t i = 0; i < n; i++) {
		struct patch *const p = &patches[i];

		p->real = lookup_function(p->name, patches[0].real, &together);
		if (p->real != NULL && (i == 0 || together) &&
		    lookup_is_first(p->name, p->real))
			continue;
		if (!p->is_optional)
			return false;
		p->real = NULL;
	}
	for (; *markers != NULL; markers++)
		if (lookup_function(*markers, patches[0].real, &together) ==
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
	patch_known(patches, n);
	return true;
}

void
patch_known(struct patch *patches, size_t n)
{
	struct work w = { patches, n };

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
