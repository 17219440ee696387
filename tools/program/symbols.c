/* SPDX-License-Identifier: MIT */
/* symbols.c - see symbols.h */
#include "tools/program/symbols.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct image {
	const uint8_t *bytes;
	size_t nbytes;
};

/*
 * Return the bytes of a section.  Return NULL if the section has no bytes in
 * the file, or if the file ends before the section does.
 */
static const void *
section_bytes(const struct image *image, const ElfW(Shdr) * section)
{
	if (section->sh_type == SHT_NOBITS ||
	    section->sh_offset > image->nbytes ||
	    section->sh_size > image->nbytes - section->sh_offset)
		return NULL;
	return image->bytes + section->sh_offset;
}

/*
 * Visit the symbols of one symbol table.  'names' is its string table.  Return
 * whether 'fn' stopped the visit.
 */
static bool
visit_table(const struct image *image, const ElfW(Shdr) * table,
	    const ElfW(Shdr) * names, symbols_fn *fn, void *context)
{
	const uint8_t *const symbols = section_bytes(image, table);
	const char *const text = section_bytes(image, names);
	const size_t n = table->sh_size / sizeof(ElfW(Sym));

	if (symbols == NULL || text == NULL)
		return false;
	for (size_t i = 0; i < n; i++) {
		ElfW(Sym) symbol;

		memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
		/*
		 * This macro is right on 32-bit machines, too: in 32-bit files,
		 * the type has the same bits.
		 */
		const unsigned type = ELF64_ST_TYPE(symbol.st_info);

		if (symbol.st_name >= names->sh_size ||
		    memchr(text + symbol.st_name, '\0',
			   names->sh_size - symbol.st_name) == NULL)
			continue;
		if (fn(text + symbol.st_name,
		       symbol.st_shndx != SHN_UNDEF &&
			       (type == STT_FUNC || type == STT_GNU_IFUNC),
		       context))
			return true;
	}
	return false;
}

static void
visit_all(const struct image *image, bool dynamic_only, symbols_fn *fn,
	  void *context)
{
	ElfW(Ehdr) header;
	ElfW(Shdr) table, names;
	bool done = false;

	if (image->nbytes < sizeof(header))
		return;
	memcpy(&header, image->bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_shentsize != sizeof(table) ||
	    header.e_shoff > image->nbytes ||
	    header.e_shnum > (image->nbytes - header.e_shoff) / sizeof(table))
		return;
	const uint8_t *const sections = image->bytes + header.e_shoff;

	for (unsigned i = 0; !done && i < header.e_shnum; i++) {
		memcpy(&table, sections + i * sizeof(table), sizeof(table));
		if ((table.sh_type != SHT_SYMTAB || dynamic_only) &&
		    table.sh_type != SHT_DYNSYM)
			continue;
		if (table.sh_link >= header.e_shnum)
			continue;
		memcpy(&names, sections + table.sh_link * sizeof(names),
		       sizeof(names));
		done = visit_table(image, &table, &names, fn, context);
	}
}

void
symbols_visit(int fd, bool dynamic_only, symbols_fn *fn, void *context)
{
	struct image image;
	struct stat st;
	void *p;

	if (fstat(fd, &st) != 0 || st.st_size <= 0)
		return;
	image.nbytes = (size_t)st.st_size;
	p = mmap(NULL, image.nbytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return;
	image.bytes = p;
	visit_all(&image, dynamic_only, fn, context);
	munmap(p, image.nbytes);
}
