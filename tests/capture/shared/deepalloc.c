/* SPDX-License-Identifier: MIT */
/*
 * deepalloc.c - an allocator, and a plug-in that calls it in one way
 *
 * The plug-in is linked with the allocator, and its host (deepplugin.c) loads
 * it with RTLD_DEEPBIND.  So the plug-in calls this allocator, and the host
 * does not.  Built with -DALLOCATOR it is the allocator.  Built with -DNEW the
 * plug-in calls operator new and delete only, which may also be those of a C++
 * library; with -DSIZED it frees by free_sized() and allocates by a function
 * that has no standard name.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 21005

void *_Znwm(size_t n);
void _ZdlPv(void *p);
void *deep_take(size_t n);
void free_sized(void *p, size_t n);

#ifdef ALLOCATOR

static char arena[1 << 22];
static size_t used;

void *
malloc(size_t n)
{
	void *const p = arena + used;

	used += (n + 15) & ~(size_t)15;
	if (used > sizeof(arena))
		abort();
	return p;
}

void
free(void *p)
{
	if (p != NULL &&
	    ((char *)p < arena || (char *)p >= arena + sizeof(arena)))
		abort();
}

void *
_Znwm(size_t n)
{
	return malloc(n);
}

void
_ZdlPv(void *p)
{
	free(p);
}

void *
deep_take(size_t n)
{
	return malloc(n);
}

void
free_sized(void *p, size_t n)
{
	(void)n;
	free(p);
}

#else

struct host {
	void (*took)(size_t size, void *p);
	void (*gave)(void *p);
};

void *plugin_run(const struct host *host, void *block);

void *
plugin_run(const struct host *host, void *block)
{
#ifdef NEW
	void *const p = _Znwm(SIZE);
#else
	void *const p = deep_take(SIZE);
#endif

	(void)block;
	memset(p, 1, SIZE);
	host->took(SIZE, p);
	host->gave(p);
#ifdef NEW
	_ZdlPv(p);
#else
	free_sized(p, SIZE);
#endif
	return NULL;
}

#endif
