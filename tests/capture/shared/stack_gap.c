/* SPDX-License-Identifier: MIT */
/*
 * stack_gap.c - a return address between two segments of a library
 *
 * usage: stack_gap LIBRARY, a path with a '/'
 *
 * The library is linked for pages of 2 MiB, so the loader leaves memory that
 * cannot be read between its segments.  Generated code without unwind rules
 * calls malloc() with a frame pointer to a false frame, whose return address
 * lies in that memory.  A walk must not read there.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Return an address in the first unreadable range of a library, or 0. */
static uintptr_t
find_gap(const char *name)
{
	FILE *const maps = fopen("/proc/self/maps", "r");
	char line[4400], rights[5];
	uintptr_t begin, end, gap = 0;

	if (maps == NULL)
		return 0;
	while (gap == 0 && fgets(line, sizeof(line), maps) != NULL)
		if (strstr(line, name) != NULL &&
		    sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 &&
		    memcmp(rights, "---", 3) == 0)
			gap = begin + (end - begin) / 2;
	fclose(maps);
	return gap;
}

int
main(int argc, char **argv)
{
	/*
	 * push %rbp; mov %rsi, %rbp; call *%rdx; pop %rbp; ret
	 */
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xf5,
					0xff, 0xd2, 0x5d, 0xc3 };
	void *(*call)(size_t, const uintptr_t *, void *(*)(size_t));
	void *const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile uintptr_t frame[2] = { 0, 0 };

	if (argc != 2 || strchr(argv[1], '/') == NULL || page == MAP_FAILED ||
	    dlopen(argv[1], RTLD_NOW) == NULL)
		return 2;
	frame[1] = find_gap(strrchr(argv[1], '/'));
	if (frame[1] == 0)
		return 77;
	memcpy(page, code, sizeof(code));
	memcpy(&call, &page, sizeof(call));
	for (int i = 0; i < 1000; i++)
		free(call(100, (const uintptr_t *)frame, malloc));
	puts("done");
	return 0;
}
