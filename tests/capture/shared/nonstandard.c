/* SPDX-License-Identifier: MIT */
/*
 * nonstandard.c - a program that uses a jemalloc if it has one
 *
 * Prints "absent", or the number of events that it must have caused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mallocx(size_t, int) __attribute__((weak));
void *rallocx(void *, size_t, int) __attribute__((weak));
size_t xallocx(void *, size_t, size_t, int) __attribute__((weak));
void dallocx(void *, int) __attribute__((weak));
void sdallocx(void *, size_t, int) __attribute__((weak));

/* A pointer in data has another kind of relocation. */
static void *(*const table[])(size_t, int) = { mallocx };

#define N 1000

int
main(void)
{
	void *block[N];

	if (mallocx == NULL || table[0] == NULL) {
		puts("absent");
		return mallocx != NULL || dallocx != NULL;
	}
	for (int i = 0; i < N; i++) {
		block[i] = (i % 2 ? mallocx : table[0])((size_t)(i + 4321),
							i % 3 ? 0 : 0x40 | 6);
		memset(block[i], 1, (size_t)i + 1);
	}
	for (int i = 0; i < N; i++)
		block[i] = rallocx(block[i], (size_t)(2 * i + 4321), 0);
	for (int i = 0; i < N; i++)
		xallocx(block[i], (size_t)(2 * i + 4322), 0, 0);
	for (int i = 0; i < N; i++) {
		if (i % 3 == 0)
			dallocx(block[i], 0);
		else if (i % 3 == 1)
			sdallocx(block[i], (size_t)(2 * i + 4322), 0);
		else
			free(block[i]);
	}
	printf("%d\n", 4 * N);
	return 0;
}
