/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a C program that loads a C++ plug-in, argv[1]
 *
 * It asks for the loader's error message only after the plug-in has called its
 * first operators.  It unloads the plug-in between allocations of its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	void *const plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	void (*run)(void);
	const char *error;

	if (plugin == NULL)
		return 1;
	*(void **)&run = dlsym(plugin, "plugin_run");
	dlopen("/no/such/file", RTLD_NOW);
	run();
	error = dlerror();
	puts(error != NULL ? error : "the message is gone");
	for (size_t n = 8; n < 2000; n += 8)
		if (malloc(n) == NULL)
			return 1;
	dlclose(plugin);
	return 0;
}
