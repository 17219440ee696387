/* SPDX-License-Identifier: MIT */
/*
 * elf_dynamic.h - read the dynamic section of a loaded object
 *
 * The ELF specification describes the tables, except for DT_GNU_HASH, which
 * comes from the GNU tools.  Nothing here allocates or locks.
 */
#ifndef ELF_DYNAMIC_H
#define ELF_DYNAMIC_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The tables of a loaded object.  If the object lacks a table, the member for
 * this table is NULL or 0.
 */
struct dynamic {
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash;	    /* DT_GNU_HASH */
	const uint32_t *sysv_hash;  /* DT_HASH */
	const Elf64_Half *versions; /* DT_VERSYM: the version of each symbol */
	/* [0]: relocations of calls; [1]: other relocations. */
	const Elf64_Rela *relocations[2];
	size_t relocations_nbytes[2];
};

/* Does a segment of this type in the object contain the address? */
bool elf_dynamic_has(const struct dl_phdr_info *info, Elf64_Word type,
		     uintptr_t address);

/* Read the tables of an object.  Return false if it has no symbols. */
bool elf_dynamic_read(const struct dl_phdr_info *info,
		      struct dynamic *dynamic_ret);

/*
 * Like elf_dynamic_read(), for an object that is loaded at 'base' and has the
 * dynamic section 'd'.  'd' may be NULL.
 */
bool elf_dynamic_read_section(const Elf64_Dyn *d, uintptr_t base,
			      struct dynamic *dynamic_ret);

#endif /* ELF_DYNAMIC_H */
