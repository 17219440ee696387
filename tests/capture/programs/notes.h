/* SPDX-License-Identifier: MIT */
/*
 * notes.h - events that a program knows it has caused
 *
 * A traced program notes what its trace must have, in a static table, because
 * it must not allocate.  At its end it prints the notes in the form in which
 * the script prints the records of the trace:
 *
 *	TAG SIZE ADDRESS OLD ALIGNMENT ZEROED
 *
 * '*' stands for a value that the program cannot know.  The script compares
 * only the records between two allocations of the sizes NOTES_BEGIN and
 * NOTES_END.
 */
#ifndef NOTES_H
#define NOTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOTES_BEGIN 7777001
#define NOTES_END   7777002
#define NOTES_ANY   ((size_t)-1) /* a size that is not known: '*' */

struct note {
	const char *tag;
	size_t size, align;
	const void *address, *old;
	int zeroed;
};

static struct note notes[4096];
static size_t note_count;

static inline void
note_add(const char *tag, size_t size, const void *address, const void *old,
	 size_t align, int zeroed)
{
	struct note *const n = &notes[note_count++];

	if (note_count > sizeof(notes) / sizeof(notes[0]))
		abort();
	n->tag = tag;
	n->size = size;
	n->align = align;
	n->address = address;
	n->old = old;
	n->zeroed = zeroed;
}

static inline void
note_alloc(size_t size, const void *address)
{
	note_add("alloc", size, address, NULL, 0, 0);
}

static inline void
note_free(const void *address)
{
	if (address != NULL)
		note_add("free", 0, address, NULL, 0, 0);
}

/* realloc(old, size) returned 'address'. */
static inline void
note_realloc(size_t size, const void *address, const void *old)
{
	if (address == old && old != NULL) {
		note_add("reallocNoAlloc", size, address, old, 0, 0);
	} else if (address == NULL && (size != 0 || old == NULL)) {
		note_add("reallocNoAlloc", size, NULL, old, 0, 0);
	} else if (address == NULL) {
		note_add("reallocFree", size, NULL, old, 0, 0);
		note_free(old);
	} else {
		note_add(old != NULL ? "reallocAllocFree" : "reallocAlloc",
			 size, address, old, 0, 0);
		note_alloc(size, address);
		note_free(old);
	}
}

static inline void
notes_print(void)
{
	for (size_t i = 0; i < note_count; i++) {
		const struct note *const n = &notes[i];

		printf("event %s ", n->tag);
		if (n->size == NOTES_ANY)
			printf("*");
		else
			printf("%zu", n->size);
		printf(" 0x%zx 0x%zx %zu %d\n", (size_t)n->address,
		       (size_t)n->old, n->align, n->zeroed);
	}
}

#endif /* NOTES_H */
