/* SPDX-License-Identifier: MIT */
/*
 * ownheap.c - a program that defines its own malloc()
 *
 * The program's functions come before those of any preloaded object, also for
 * libc, so the recorder sees none of its heap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Alignas(16) char arena[16 << 20];
static size_t used;

void *
malloc(size_t n)
{
	char *const p = arena + used + 16;

	n = (n + 31) & ~(size_t)15;
	if (n > sizeof(arena) - used)
		return NULL;
	memcpy(arena + used, &n, sizeof(n));
	used += n;
	return p;
}

void
free(void *p)
{
	(void)p;
}

void *
calloc(size_t n, size_t size)
{
	void *const p = malloc(n * size);

	return p != NULL ? memset(p, 0, n * size) : NULL;
}

void *
realloc(void *p, size_t n)
{
	void *const q = malloc(n);
	size_t old = 0;

	if (p != NULL)
		memcpy(&old, (char *)p - 16, sizeof(old));
	if (p != NULL && q != NULL)
		memcpy(q, p, old - 16 < n ? old - 16 : n);
	return q;
}

int
main(void)
{
	char *text = NULL;

	for (int i = 0; i < 1000; i++)
		free(malloc((size_t)i));
	if (asprintf(&text, "text of %d letters", 18) < 0 || text < arena ||
	    text >= arena + sizeof(arena))
		return 1;
	puts(text);
	return 5;
}
