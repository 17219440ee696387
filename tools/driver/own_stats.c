/* SPDX-License-Identifier: MIT */
/* own_stats.c - see own_stats.h */
#include "tools/driver/own_stats.h"

#include "tools/driver/driver_calls.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct own_stats unknown = {
	NULL,
	OWN_STATS_UNKNOWN,
	OWN_STATS_UNKNOWN,
	OWN_STATS_UNKNOWN,
};

/* -------------------------------------------------------------------- glibc */

/*
 * Count the arenas in the output of malloc_info(), which has an element such as
 * <heap nr="0"> for each arena.
 */
static uint64_t
count_arenas(int (*info)(int, FILE *))
{
	char *text = NULL;
	size_t nbytes = 0;
	FILE *const f = open_memstream(&text, &nbytes);
	uint64_t n = 0;

	if (f == NULL)
		return OWN_STATS_UNKNOWN;
	if (info(0, f) != 0)
		n = OWN_STATS_UNKNOWN;
	if (fclose(f) != 0 || text == NULL)
		return OWN_STATS_UNKNOWN;
	if (n == 0)
		for (const char *p = text; (p = strstr(p, "<heap ")) != NULL;
		     p++)
			n++;
	free(text);
	return n;
}

static struct own_stats
read_glibc(void)
{
	struct own_stats stats = unknown;
	struct mallinfo2 (*mallinfo)(void);
	int (*info)(int, FILE *);

	if (!driver_calls_own("mallinfo2", &mallinfo))
		return unknown;
	const struct mallinfo2 m = mallinfo();

	stats.source = "mallinfo2";
	stats.used_nbytes = m.uordblks + m.hblkhd;
	stats.mapped_nbytes = m.arena + m.hblkhd;
	if (driver_calls_own("malloc_info", &info))
		stats.arenas = count_arenas(info);
	return stats;
}

/* ----------------------------------------------------------------- jemalloc */

typedef int (*mallctl_call)(const char *name, void *old, size_t *old_nbytes,
			    void *new, size_t new_nbytes);

static uint64_t
jemalloc_number(mallctl_call ctl, const char *name)
{
	size_t n = 0, nbytes = sizeof(n);

	return ctl(name, &n, &nbytes, NULL, 0) == 0 ? n : OWN_STATS_UNKNOWN;
}

/* Count the arenas that are initialized. */
static uint64_t
jemalloc_arenas(mallctl_call ctl)
{
	unsigned count = 0;
	size_t nbytes = sizeof(count);
	uint64_t used = 0;

	if (ctl("arenas.narenas", &count, &nbytes, NULL, 0) != 0)
		return OWN_STATS_UNKNOWN;
	for (unsigned i = 0; i < count; i++) {
		bool is_there = false;
		char name[64];

		nbytes = sizeof(is_there);
		snprintf(name, sizeof(name), "arena.%u.initialized", i);
		if (ctl(name, &is_there, &nbytes, NULL, 0) == 0)
			used += is_there;
	}
	return used;
}

static struct own_stats
read_jemalloc(void)
{
	struct own_stats stats = unknown;
	uint64_t epoch = 1;
	mallctl_call ctl;

	if (!driver_calls_own("mallctl", &ctl))
		return unknown;
	/* Make jemalloc update the statistics, which it caches. */
	ctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
	stats.source = "mallctl";
	stats.used_nbytes = jemalloc_number(ctl, "stats.allocated");
	stats.mapped_nbytes = jemalloc_number(ctl, "stats.mapped");
	stats.arenas = jemalloc_arenas(ctl);
	return stats;
}

/* ------------------------------------------------------ tcmalloc, mimalloc */

static struct own_stats
read_tcmalloc(void)
{
	struct own_stats stats = unknown;
	int (*property)(const char *name, size_t *value);
	size_t used, heap, released;

	if (!driver_calls_own("MallocExtension_GetNumericProperty", &property))
		return unknown;
	stats.source = "MallocExtension";
	if (property("generic.current_allocated_bytes", &used) != 0)
		stats.used_nbytes = used;
	if (property("generic.heap_size", &heap) != 0 &&
	    property("tcmalloc.pageheap_unmapped_bytes", &released) != 0)
		stats.mapped_nbytes = heap - released;
	return stats;
}

static struct own_stats
read_mimalloc(void)
{
	struct own_stats stats = unknown;
	void (*info)(size_t * elapsed, size_t * user, size_t * system,
		     size_t * rss, size_t * peak_rss, size_t * commit,
		     size_t * peak_commit, size_t * faults);
	size_t commit = 0;

	if (!driver_calls_own("mi_process_info", &info))
		return unknown;
	info(NULL, NULL, NULL, NULL, NULL, &commit, NULL, NULL);
	stats.source = "mi_process_info";
	stats.mapped_nbytes = commit;
	return stats;
}

struct own_stats
own_stats_read(void)
{
	static struct own_stats (*const readers[])(void) = {
		read_glibc,
		read_jemalloc,
		read_tcmalloc,
		read_mimalloc,
	};
	struct own_stats stats = unknown;

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		stats = readers[i]();
		if (stats.source != NULL)
			break;
	}
	return stats;
}
