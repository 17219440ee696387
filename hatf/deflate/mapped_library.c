/* SPDX-License-Identifier: MIT */
/*
 * mapped_library.c - see mapped_library.h
 *
 * The library's file is trusted, since it belongs to the system and was made by
 * a linker.  The code checks the file for features that are not supported, but
 * not for malicious contents.
 */
#include "hatf/deflate/mapped_library.h"

#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The folders to search.  The loader's own list is not available, since this
 * code must not call the loader.
 */
static const char *const folders[] = {
#if defined(__x86_64__)
	"/usr/lib/x86_64-linux-gnu/",
	"/lib/x86_64-linux-gnu/",
#elif defined(__aarch64__)
	"/usr/lib/aarch64-linux-gnu/",
	"/lib/aarch64-linux-gnu/",
#endif
	"/usr/local/lib64/",
	"/usr/local/lib/",
	"/usr/lib64/",
	"/lib64/",
	"/usr/lib/",
};

#if defined(__aarch64__)
#define MACHINE	 EM_AARCH64
#define RELATIVE R_AARCH64_RELATIVE
#define WORD	 R_AARCH64_ABS64
#define DATA	 R_AARCH64_GLOB_DAT
#define CALL	 R_AARCH64_JUMP_SLOT
#else
#define MACHINE	 EM_X86_64
#define RELATIVE R_X86_64_RELATIVE
#define WORD	 R_X86_64_64
#define DATA	 R_X86_64_GLOB_DAT
#define CALL	 R_X86_64_JUMP_SLOT
#endif

#define PHDRS_MAX    32
#define FRONT_NBYTES 4096
/*
 * Maximum size of a segment in bytes, and maximum address (p_vaddr) of a
 * segment in the file.  isa-l needs far less.
 */
#define SPAN_MAX ((size_t)64 << 20)

struct library {
	uint8_t *base;	   /* where address 0 of the file is mapped */
	size_t map_nbytes; /* size of the mapped address space, in bytes */
	const Elf64_Dyn *dynamic;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash; /* DT_GNU_HASH */
	const Elf64_Rela *relocations[2];
	size_t relocations_nbytes[2];
	/* the library has a feature that is not supported here */
	bool is_unsupported;
};

/* Declare this function here, because no header declares it. */
extern void __stack_chk_fail(void) __attribute__((noreturn));

/* Replaces libc's __memset_chk(), which the recorder must not import. */
static void *
memset_checked(void *p, int byte, size_t n, size_t cap)
{
	assert(n <= cap);
	return memset(p, byte, n);
}

static wchar_t *
set_wchars(wchar_t *p, wchar_t c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = c;
	return p;
}

/*
 * Return the address of a libc function, or of its replacement in this file.
 * Return NULL if the library may not use this function.
 */
static void *
find_in_libc(const char *name)
{
	static const struct {
		const char *name;
		void *address;
	} given[] = {
		{ "memcpy", (void *)(uintptr_t)memcpy },
		{ "memmove", (void *)(uintptr_t)memmove },
		{ "memset", (void *)(uintptr_t)memset },
		{ "memcmp", (void *)(uintptr_t)memcmp },
		{ "strnlen", (void *)(uintptr_t)strnlen },
		{ "wmemset", (void *)(uintptr_t)set_wchars },
		{ "__memset_chk", (void *)(uintptr_t)memset_checked },
		{ "__assert_fail", (void *)(uintptr_t)__assert_fail },
		{ "__stack_chk_fail", (void *)(uintptr_t)__stack_chk_fail },
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (strcmp(given[i].name, name) == 0)
			return given[i].address;
	return NULL;
}

/*
 * Return the number of symbols.  The file does not state it, but the hash table
 * (DT_GNU_HASH) contains all exported symbols, and these are the last ones of
 * the symbol table.  So the last symbol of the hash table is the last one of
 * all.
 */
static uint32_t
symbol_count(const struct library *l)
{
	const uint32_t bucket_count = l->hash[0], first = l->hash[1];
	const uint32_t *const buckets = l->hash + 4 + 2 * l->hash[2];
	const uint32_t *const chain = buckets + bucket_count;
	uint32_t last = 0;

	for (uint32_t i = 0; i < bucket_count; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < first)
		return first;
	while ((chain[last - first] & 1) == 0)
		last++;
	return last + 1;
}

/* Return the address of an exported symbol of the library, or NULL. */
static void *
find_exported(const struct library *l, const char *name)
{
	const uint32_t n = symbol_count(l);

	for (uint32_t i = l->hash[1]; i < n; i++) {
		const Elf64_Sym *const s = &l->symbols[i];

		if (s->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(s->st_info) != STT_GNU_IFUNC &&
		    strcmp(l->strings + s->st_name, name) == 0)
			return l->base + s->st_value;
	}
	return NULL;
}

/*
 * Set '*found_ret' to the address of symbol number 'at' of the library: an
 * address in the library, or else what find_in_libc() returns.  Return false if
 * the type of the symbol is not supported, or if find_in_libc() returns NULL
 * for a symbol that is not weak.
 */
static bool
find_symbol(const struct library *l, uint64_t at, void **found_ret)
{
	const Elf64_Sym *const s = &l->symbols[at];

	*found_ret = NULL;
	if (ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC ||
	    ELF64_ST_TYPE(s->st_info) == STT_TLS)
		return false;
	*found_ret = s->st_shndx != SHN_UNDEF
			     ? (void *)(l->base + s->st_value)
			     : find_in_libc(l->strings + s->st_name);
	return *found_ret != NULL || ELF64_ST_BIND(s->st_info) == STB_WEAK;
}

static bool
relocate_one(const struct library *l, const Elf64_Rela *r)
{
	const uint64_t type = ELF64_R_TYPE(r->r_info);
	void *found;
	uint64_t value;

	if (r->r_offset > l->map_nbytes - sizeof(value))
		return false;
	if (type == RELATIVE) {
		value = (uintptr_t)l->base + (uint64_t)r->r_addend;
	} else if (type == WORD || type == DATA || type == CALL) {
		if (!find_symbol(l, ELF64_R_SYM(r->r_info), &found))
			return false;
		value = (uintptr_t)found + (uint64_t)r->r_addend;
	} else {
		return false;
	}
	memcpy(l->base + r->r_offset, &value, sizeof(value));
	return true;
}

static bool
relocate(const struct library *l)
{
	for (unsigned i = 0; i < 2; i++) {
		const Elf64_Rela *const all = l->relocations[i];
		const size_t n = l->relocations_nbytes[i] / sizeof(*all);

		for (size_t at = 0; all != NULL && at < n; at++)
			if (!relocate_one(l, &all[at]))
				return false;
	}
	return true;
}

static void
read_entry(struct library *l, const Elf64_Dyn *d)
{
	const uint64_t value = d->d_un.d_val;

	switch (d->d_tag) {
	case DT_SYMTAB:
		l->symbols = (const Elf64_Sym *)(l->base + value);
		break;
	case DT_STRTAB:
		l->strings = (const char *)(l->base + value);
		break;
	case DT_GNU_HASH:
		l->hash = (const uint32_t *)(l->base + value);
		break;
	case DT_RELA:
		l->relocations[0] = (const Elf64_Rela *)(l->base + value);
		break;
	case DT_RELASZ:
		l->relocations_nbytes[0] = value;
		break;
	case DT_JMPREL:
		l->relocations[1] = (const Elf64_Rela *)(l->base + value);
		break;
	case DT_PLTRELSZ:
		l->relocations_nbytes[1] = value;
		break;
	case DT_TEXTREL:
	case DT_REL:
	case 36: /* DT_RELR, which some libc headers do not define */
		l->is_unsupported = true;
		break;
	default:
		break;
	}
}

static bool
read_dynamic(struct library *l)
{
	for (const Elf64_Dyn *d = l->dynamic; d->d_tag != DT_NULL; d++)
		read_entry(l, d);
	return !l->is_unsupported && l->symbols != NULL && l->strings != NULL &&
	       l->hash != NULL;
}

/*
 * Map one segment of the file into the reserved address space.  Pages that the
 * file does not fill keep the anonymous memory of the reservation.
 */
static bool
map_segment(const struct library *l, int fd, const Elf64_Phdr *p)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t before = p->p_vaddr & (page - 1);
	const size_t used = before + p->p_filesz;
	const size_t filled = (used + page - 1) & ~(page - 1);
	const size_t whole = (before + p->p_memsz + page - 1) & ~(page - 1);
	const int access = ((p->p_flags & PF_R) != 0 ? PROT_READ : 0) |
			   ((p->p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
			   ((p->p_flags & PF_X) != 0 ? PROT_EXEC : 0);
	uint8_t *const at = l->base + p->p_vaddr - before;

	if (mmap(at, filled, access, MAP_PRIVATE | MAP_FIXED, fd,
		 (off_t)(p->p_offset - before)) != at)
		return false;
	if ((access & PROT_WRITE) == 0)
		return whole == filled;
	memset(at + used, 0, filled - used);
	return whole == filled ||
	       mprotect(at + filled, whole - filled, access) == 0;
}

/*
 * Return how much address space the segments need, in bytes; 0 if the file is
 * not supported or has no segments.
 */
static size_t
measure(const Elf64_Phdr *phdrs, unsigned n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t end = 0;

	for (unsigned i = 0; i < n; i++) {
		const Elf64_Phdr *const p = &phdrs[i];

		if (p->p_type == PT_TLS)
			return 0;
		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_vaddr > SPAN_MAX || p->p_memsz > SPAN_MAX ||
		    p->p_filesz > p->p_memsz ||
		    (p->p_offset - p->p_vaddr) % page != 0)
			return 0;
		if (p->p_vaddr + p->p_memsz > end)
			end = p->p_vaddr + p->p_memsz;
	}
	return (end + page - 1) & ~(page - 1);
}

static bool
map_segments(struct library *l, int fd, const Elf64_Phdr *phdrs, unsigned n)
{
	void *base;

	l->map_nbytes = measure(phdrs, n);
	if (l->map_nbytes == 0)
		return false;
	base = mmap(NULL, l->map_nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (base == MAP_FAILED)
		return false;
	l->base = base;
	for (unsigned i = 0; i < n; i++) {
		if (phdrs[i].p_type == PT_DYNAMIC)
			l->dynamic =
				(const Elf64_Dyn *)(l->base + phdrs[i].p_vaddr);
		if (phdrs[i].p_type == PT_LOAD &&
		    !map_segment(l, fd, &phdrs[i]))
			return false;
	}
	return l->dynamic != NULL;
}

/*
 * Copy the program headers from the first FRONT_NBYTES of the file.  Return
 * false if the file is not a shared library for this machine, or if it has too
 * many program headers, or they are too far from its start.
 */
static bool
copy_phdrs(const uint8_t *front, Elf64_Phdr *phdrs, unsigned *n_ret)
{
	Elf64_Ehdr e;

	memcpy(&e, front, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_type != ET_DYN ||
	    e.e_machine != MACHINE || e.e_phentsize != sizeof(*phdrs) ||
	    e.e_phnum > PHDRS_MAX ||
	    e.e_phoff > FRONT_NBYTES - PHDRS_MAX * sizeof(*phdrs))
		return false;
	memcpy(phdrs, front + e.e_phoff, e.e_phnum * sizeof(*phdrs));
	*n_ret = e.e_phnum;
	return true;
}

static bool
read_phdrs(int fd, Elf64_Phdr *phdrs, unsigned *n_ret)
{
	struct stat st;
	void *front;
	bool done;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size < FRONT_NBYTES)
		return false;
	front = mmap(NULL, FRONT_NBYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	if (front == MAP_FAILED)
		return false;
	done = copy_phdrs(front, phdrs, n_ret);
	munmap(front, FRONT_NBYTES);
	return done;
}

/*
 * Make the memory of PT_GNU_RELRO read-only, because nothing writes to it after
 * the relocations.
 */
static void
seal(const struct library *l, const Elf64_Phdr *phdrs, unsigned n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < n; i++) {
		const size_t start = phdrs[i].p_vaddr & ~(page - 1);
		const size_t end =
			(phdrs[i].p_vaddr + phdrs[i].p_memsz) & ~(page - 1);

		if (phdrs[i].p_type == PT_GNU_RELRO && end > start)
			mprotect(l->base + start, end - start, PROT_READ);
	}
}

static bool
map_file(struct library *l, int fd)
{
	Elf64_Phdr phdrs[PHDRS_MAX];
	unsigned n;

	if (!read_phdrs(fd, phdrs, &n) || !map_segments(l, fd, phdrs, n) ||
	    !read_dynamic(l) || !relocate(l))
		return false;
	seal(l, phdrs, n);
	return true;
}

static int
open_library(const char *name)
{
	char path[PATH_MAX];
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(folders) / sizeof(folders[0]);
	     i++) {
		const size_t folder_nbytes = strlen(folders[i]);
		const size_t name_nbytes = strlen(name) + 1;

		if (folder_nbytes + name_nbytes > sizeof(path))
			return -1;
		memcpy(path, folders[i], folder_nbytes);
		memcpy(path + folder_nbytes, name, name_nbytes);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return fd;
}

bool
mapped_library_open(const char *name, struct mapped_library_function *functions,
		    unsigned n)
{
	struct library l = { .base = NULL };
	const int fd = open_library(name);
	bool done;

	if (fd < 0)
		return false;
	done = map_file(&l, fd);
	close(fd);
	for (unsigned i = 0; done && i < n; i++) {
		functions[i].address = find_exported(&l, functions[i].name);
		done = functions[i].address != NULL;
	}
	if (!done && l.base != NULL)
		munmap(l.base, l.map_nbytes);
	return done;
}
