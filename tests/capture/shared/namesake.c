/* SPDX-License-Identifier: MIT */
/*
 * namesake.c - functions with names of jemalloc's functions
 *
 * Built twice: with -DMAIN as the program, without it as its library.
 */
#include <stdio.h>

int dallocx(int, int, int, int, int, int, int);
const char *mallocx(const char *, int, int);

#ifdef MAIN

int
main(void)
{
	printf("%d ", dallocx(1, 2, 3, 4, 5, 6, 7));
	puts(mallocx("good", 2, 3));
	return 0;
}

#else

int
dallocx(int a, int b, int c, int d, int e, int f, int g)
{
	return a + b + c + d + e + f + g;
}

const char *
mallocx(const char *text, int a, int b)
{
	return a == 2 && b == 3 ? text : "bad";
}

#endif
