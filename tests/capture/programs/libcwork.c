/* SPDX-License-Identifier: MIT */
/*
 * libcwork.c - one thread that makes libc use the heap
 *
 * Uses trees, regular expressions, streams in memory, and every kind of
 * realloc; the script compares the trace event by event.
 */
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static void *root;

static int
compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
grow_tree(int i)
{
	char word[40];

	snprintf(word, sizeof(word), "%d words for a tree", i * 7919 % 1000);
	tsearch(strdup(word), &root, compare);
}

static void
match(const char *pattern)
{
	regex_t re;
	regmatch_t m[3];

	if (regcomp(&re, pattern, REG_EXTENDED) != 0)
		exit(1);
	regexec(&re, "the quick brown fox jumps over the lazy dog", 3, m, 0);
	regfree(&re);
}

static void
stream(void)
{
	char *text = NULL, *line = NULL;
	size_t size = 0, cap = 0;
	FILE *out = open_memstream(&text, &size), *in;

	for (int i = 0; i < 2000; i++)
		fprintf(out, "line %d\n", i);
	fclose(out);
	in = fmemopen(text, size, "r");
	while (getline(&line, &cap, in) > 0)
		continue;
	fclose(in);
	free(line);
	free(text);
}

static void
blocks(void)
{
	void *p = malloc(0), *q;

	p = realloc(p, 5000);
	q = malloc(20);
	p = realloc(p, 100000);
	p = realloc(p, 90000);
	free(q);
	free(p);
	p = aligned_alloc(1024, 2048);
	if (posix_memalign(&q, 64, 100) != 0)
		exit(1);
	free(p);
	free(q);
	free(calloc(100, 10));
	free(realloc(NULL, 10));
	p = malloc(3 << 20);
	p = realloc(p, 5 << 20);
	if (realloc(p, 0) != NULL)
		exit(1);
}

int
main(void)
{
	for (int i = 0; i < 500; i++)
		grow_tree(i);
	match("(qu?i(ck|te)) (b[a-z]+)");
	match("[[:alpha:]]+ (jump|run)s? .*(dog|cat)$");
	stream();
	blocks();
	tdestroy(root, free);
	return 0;
}
