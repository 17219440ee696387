/* SPDX-License-Identifier: MIT */
/*
 * elf_dynamic.h - what a loaded object's dynamic section says
 *
 * The tables are those of the ELF specification and, for DT_GNU_HASH, of the
 * GNU tools.  Nothing here allocates or locks.
 */
#ifndef ELF_DYNAMIC_H
#define ELF_DYNAMIC_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL, 0: the object has none. */
struct dynamic {
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash;		  /* DT_GNU_HASH */
	const Elf64_Half *versions;	  /* DT_VERSYM, one for each symbol */
	const Elf64_Rela *relocations[2]; /* of calls, and others */
	size_t relocations_nbytes[2];
};

/* Is the address in a segment of the object that has this type? */
bool elf_dynamic_has(const struct dl_phdr_info *info, Elf64_Word type,
		     uintptr_t address);

/* False: it has no symbols. */
bool elf_dynamic_read(const struct dl_phdr_info *info,
		      struct dynamic *dynamic_ret);

/*
 * The same of the dynamic section 'd', or NULL, of an object that lies at
 * 'base'.
 */
bool elf_dynamic_read_section(const Elf64_Dyn *d, uintptr_t base,
			      struct dynamic *dynamic_ret);

#endif /* ELF_DYNAMIC_H */
