/* SPDX-License-Identifier: MIT */
/* elf_dynamic.c - see elf_dynamic.h */

#include "preload/sys/elf_dynamic.h"

#include <elf.h>

bool
elf_dynamic_has(const struct dl_phdr_info *info, Elf64_Word type,
		uintptr_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *const p = &info->dlpi_phdr[i];

		if (p->p_type == type &&
		    address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

/*
 * Return the address of a table.  'value' is the value of the table's entry in
 * the dynamic section.  In the file, this value is an offset from 'base'.
 * glibc replaces the offset by the address, unless the section is read-only.
 */
static const void *
resolve(uintptr_t base, uintptr_t value)
{
	return (const void *)(value < base ? value + base : value);
}

bool
elf_dynamic_read(const struct dl_phdr_info *info, struct dynamic *dynamic_ret)
{
	const Elf64_Dyn *d = NULL;

	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const Elf64_Dyn *)(info->dlpi_addr +
						info->dlpi_phdr[i].p_vaddr);
	return elf_dynamic_read_section(d, info->dlpi_addr, dynamic_ret);
}

bool
elf_dynamic_read_section(const Elf64_Dyn *d, uintptr_t base,
			 struct dynamic *dynamic_ret)
{
	*dynamic_ret = (struct dynamic){ .symbols = NULL };
	for (; d != NULL && d->d_tag != DT_NULL; d++) {
		const uintptr_t value = d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_SYMTAB:
			dynamic_ret->symbols = resolve(base, value);
			break;
		case DT_STRTAB:
			dynamic_ret->strings = resolve(base, value);
			break;
		case DT_GNU_HASH:
			dynamic_ret->hash = resolve(base, value);
			break;
		case DT_HASH:
			dynamic_ret->sysv_hash = resolve(base, value);
			break;
		case DT_VERSYM:
			dynamic_ret->versions = resolve(base, value);
			break;
		case DT_JMPREL:
			dynamic_ret->relocations[0] = resolve(base, value);
			break;
		case DT_PLTRELSZ:
			dynamic_ret->relocations_nbytes[0] = value;
			break;
		case DT_RELA:
			dynamic_ret->relocations[1] = resolve(base, value);
			break;
		case DT_RELASZ:
			dynamic_ret->relocations_nbytes[1] = value;
			break;
		default:
			break;
		}
	}
	return dynamic_ret->symbols != NULL && dynamic_ret->strings != NULL;
}
