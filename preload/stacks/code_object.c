/* SPDX-License-Identifier: MIT */
/* code_object.c - see code_object.h */

#include "preload/stacks/code_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/sys/elf_lookup.h"

#ifdef DLFO_STRUCT_HAS_EH_DBASE
typedef int find_function(void *, struct dl_find_object *);

static find_function *find;
#endif

void
code_object_init(void)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	/*
	 * The child of a fork inherits 'find'.  The child must not search
	 * again, because a thread of the parent may have held the loader's lock
	 * during the fork.
	 */
	if (find != NULL)
		return;

	void *const found = elf_lookup_all("_dl_find_object").next;

	memcpy(&find, &found, sizeof(find));
#endif
}

/* The program headers of an object, in its memory. */
struct headers {
	const ElfW(Phdr) * first;
	size_t count;
	uintptr_t base;
};

/*
 * Set '*section' from the segment that contains 'index', the address of
 * .eh_frame_hdr.
 */
static void
set_section(const struct headers *headers, uintptr_t index,
	    struct cfi_section *section)
{
	for (size_t i = 0; i < headers->count; i++) {
		const ElfW(Phdr) *const h = &headers->first[i];
		const uintptr_t begin = headers->base + h->p_vaddr;

		if (h->p_type != PT_LOAD || (h->p_flags & PF_R) == 0 ||
		    index < begin || index - begin >= h->p_filesz)
			continue;
		section->begin = (const uint8_t *)begin;
		section->end = section->begin + h->p_filesz;
		section->index = (const uint8_t *)index;
		return;
	}
}

/*
 * Find the program headers of an object whose memory begins with the start of
 * its file.  Linkers place the headers in the first page.
 */
static bool
find_headers(uintptr_t begin, uintptr_t end, uintptr_t base,
	     struct headers *headers_ret)
{
	const ElfW(Ehdr) *const h = (const ElfW(Ehdr) *)begin;

	if (end - begin < 4096 || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
	    h->e_phentsize != sizeof(ElfW(Phdr)) || h->e_phoff > 4096 ||
	    h->e_phnum > (4096 - h->e_phoff) / sizeof(ElfW(Phdr)))
		return false;
	headers_ret->first = (const ElfW(Phdr) *)(begin + h->e_phoff);
	headers_ret->count = h->e_phnum;
	headers_ret->base = base;
	return true;
}

/*
 * Set the range of the object's memory, the start of the code around 'pc', and
 * the place of the unwind tables, from the program headers.
 */
static void
set_memory(const struct headers *headers, uintptr_t pc,
	   struct code_object *object)
{
	const unsigned code_flags = PF_R | PF_X;
	uintptr_t begin = UINTPTR_MAX, end = 0, index = 0;

	for (size_t i = 0; i < headers->count; i++) {
		const ElfW(Phdr) *const h = &headers->first[i];
		const uintptr_t at = headers->base + h->p_vaddr;

		if (h->p_type == PT_GNU_EH_FRAME)
			index = at;
		if (h->p_type != PT_LOAD)
			continue;
		if (pc - at < h->p_memsz &&
		    (h->p_flags & code_flags) == code_flags)
			object->code_begin = at;
		begin = at < begin ? at : begin;
		end = at + h->p_memsz > end ? at + h->p_memsz : end;
	}
	object->begin = begin;
	object->end = end;
	object->base = headers->base;
	if (index != 0)
		set_section(headers, index, &object->section);
}

/* The argument and the result of find_in(). */
struct search {
	uintptr_t pc;
	struct code_object *object;
};

/* A callback of dl_iterate_phdr(3). */
static int
find_in(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	const struct search *const s = context;
	const struct headers headers = { info->dlpi_phdr, info->dlpi_phnum,
					 info->dlpi_addr };
	struct code_object object = { .path = info->dlpi_name };

	(void)nbytes;
	set_memory(&headers, s->pc, &object);
	if (s->pc < object.begin || s->pc >= object.end)
		return 0;
	*s->object = object;
	return 1;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
/*
 * Get the program headers of an object that _dl_find_object(3) has found.  That
 * function does not return the address of the headers, which are at the start
 * of the object.  For the program itself, take the address from the kernel,
 * because the program may be mapped in several pieces, and _dl_find_object(3)
 * may have found a piece without the headers.
 */
static bool
headers_of(const struct dl_find_object *found, struct headers *headers_ret)
{
	const uintptr_t base = found->dlfo_link_map->l_addr;

	if (found->dlfo_link_map->l_name[0] != '\0')
		return find_headers((uintptr_t)found->dlfo_map_start,
				    (uintptr_t)found->dlfo_map_end, base,
				    headers_ret);
	headers_ret->first = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	headers_ret->count = getauxval(AT_PHNUM);
	headers_ret->base = base;
	return headers_ret->first != NULL;
}
#endif

bool
code_object_find(uintptr_t pc, struct code_object *object_ret)
{
	memset(object_ret, 0, sizeof(*object_ret));
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	struct dl_find_object found;
	struct headers headers;

	if (find != NULL) {
		if (find((void *)pc, &found) != 0)
			return false;
		object_ret->begin = (uintptr_t)found.dlfo_map_start;
		object_ret->end = (uintptr_t)found.dlfo_map_end;
		object_ret->base = found.dlfo_link_map->l_addr;
		if (headers_of(&found, &headers))
			set_memory(&headers, pc, object_ret);
		object_ret->path = found.dlfo_link_map->l_name;
		return true;
	}
#endif
	return dl_iterate_phdr(find_in, &(struct search){ pc, object_ret }) ==
	       1;
}

const uint8_t *
code_object_build_id(const struct code_object *object, size_t *nbytes_ret)
{
	struct headers headers;

	if (!find_headers(object->begin, object->end, object->base, &headers))
		return NULL;
	for (size_t i = 0; i < headers.count; i++) {
		const ElfW(Phdr) *const h = &headers.first[i];
		const uint8_t *p = (const uint8_t *)(headers.base + h->p_vaddr);
		size_t left = h->p_filesz;

		if (h->p_type != PT_NOTE || (uintptr_t)p < object->begin ||
		    (uintptr_t)p >= object->end ||
		    left > object->end - (uintptr_t)p)
			continue;
		while (left >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *const note = (const ElfW(Nhdr) *)p;
			const size_t name_nbytes =
				(note->n_namesz + (size_t)3) & ~(size_t)3;
			const size_t nbytes =
				sizeof(*note) + name_nbytes +
				((note->n_descsz + (size_t)3) & ~(size_t)3);

			if (nbytes > left)
				break;
			if (note->n_type == NT_GNU_BUILD_ID &&
			    note->n_namesz == 4 &&
			    memcmp(note + 1, "GNU", 4) == 0) {
				*nbytes_ret = note->n_descsz;
				return p + sizeof(*note) + name_nbytes;
			}
			p += nbytes;
			left -= nbytes;
		}
	}
	return NULL;
}
