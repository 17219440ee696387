/* SPDX-License-Identifier: MIT */
/*
 * arenaplugin.c - a plug-in that loads a jemalloc for itself
 *
 * Built twice: with -DMAIN as the program, which does not use jemalloc, and
 * without it as the plug-in.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef MAIN

int
main(int argc, char **argv)
{
	void *const plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*run)(void);

	if (plugin == NULL) {
		fputs(dlerror(), stderr);
		return 1;
	}
	*(void **)&run = dlsym(plugin, "run");
	/*
	 * RTLD_NEXT counts from the program, whichever library interposes
	 * dlsym().
	 */
	if (run == NULL || dlsym(RTLD_NEXT, "main") != NULL ||
	    dlsym(RTLD_NEXT, "puts") == NULL ||
	    dlsym(RTLD_DEFAULT, "mallocx") != NULL)
		return 1;
	run();
	return 0;
}

#else

int mallctl(const char *, void *, size_t *, void *, size_t);
void *mallocx(size_t, int);
void dallocx(void *, int);

static int (*const table[])(const char *, void *, size_t *, void *,
			    size_t) = { mallctl };

void
run(void)
{
	unsigned arena;
	size_t n = sizeof(arena);
	int flags;

	if (table[0]("arenas.create", &arena, &n, NULL, 0) != 0)
		abort();
	flags = (int)(arena + 1) << 20 | 1 << 8;
	for (size_t i = 0; i < 100; i++) {
		void *const p = mallocx(1000 + i, flags);

		if (i % 2)
			dallocx(p, flags);
	}
}

#endif
