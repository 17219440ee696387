/* SPDX-License-Identifier: MIT */
/* allocator.c - see allocator.h */
#include "allocator.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* malloc() itself, and what allocators are called that are linked in privately. */
static const char *const entry_points[] = {
	"malloc",	"je_malloc",	    "_rjem_malloc", "mi_malloc",
	"tc_malloc",	"rpmalloc",	    "sn_malloc",    "scalable_malloc",
	"Hoard_malloc", "ltmalloc",	    "nedmalloc",    "dlmalloc",
	"xxmalloc",	"runtime.mallocgc",
};

struct image {
	const uint8_t *bytes;
	size_t nbytes;
};

/* The section's bytes; NULL: they are not all in the file. */
static const void *
section_bytes(const struct image *image, const ElfW(Shdr) * section)
{
	if (section->sh_type == SHT_NOBITS ||
	    section->sh_offset > image->nbytes ||
	    section->sh_size > image->nbytes - section->sh_offset)
		return NULL;
	return image->bytes + section->sh_offset;
}

static const char *
match(const char *name, size_t left)
{
	for (size_t i = 0; i < sizeof(entry_points) / sizeof(*entry_points);
	     i++) {
		const size_t len = strlen(entry_points[i]);

		if (len < left && memcmp(name, entry_points[i], len + 1) == 0)
			return entry_points[i];
	}
	return NULL;
}

/* Look through one table of symbols, whose names are in 'names'. */
static const char *
search(const struct image *image, const ElfW(Shdr) * table,
       const ElfW(Shdr) * names)
{
	const uint8_t *const symbols = section_bytes(image, table);
	const char *const text = section_bytes(image, names);
	const size_t n = table->sh_size / sizeof(ElfW(Sym));

	if (symbols == NULL || text == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		ElfW(Sym) symbol;

		memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
		/* The type is in the same bits in both classes. */
		const unsigned type = ELF64_ST_TYPE(symbol.st_info);

		if (symbol.st_shndx == SHN_UNDEF ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    symbol.st_name >= names->sh_size)
			continue;
		const char *const found = match(
			text + symbol.st_name, names->sh_size - symbol.st_name);

		if (found != NULL)
			return found;
	}
	return NULL;
}

static const char *
search_all(const struct image *image)
{
	ElfW(Ehdr) header;
	ElfW(Shdr) table, names;
	const char *found = NULL;

	if (image->nbytes < sizeof(header))
		return NULL;
	memcpy(&header, image->bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_shentsize != sizeof(table) ||
	    header.e_shoff > image->nbytes ||
	    header.e_shnum > (image->nbytes - header.e_shoff) / sizeof(table))
		return NULL;
	const uint8_t *const sections = image->bytes + header.e_shoff;

	for (unsigned i = 0; found == NULL && i < header.e_shnum; i++) {
		memcpy(&table, sections + i * sizeof(table), sizeof(table));
		if ((table.sh_type != SHT_SYMTAB &&
		     table.sh_type != SHT_DYNSYM) ||
		    table.sh_link >= header.e_shnum)
			continue;
		memcpy(&names, sections + table.sh_link * sizeof(names),
		       sizeof(names));
		found = search(image, &table, &names);
	}
	return found;
}

const char *
allocator_inside(int fd)
{
	struct image image;
	struct stat st;
	void *p;
	const char *found;

	if (fstat(fd, &st) != 0 || st.st_size <= 0)
		return NULL;
	image.nbytes = (size_t)st.st_size;
	p = mmap(NULL, image.nbytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	image.bytes = p;
	found = search_all(&image);
	munmap(p, image.nbytes);
	return found;
}
