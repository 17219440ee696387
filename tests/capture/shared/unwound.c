/* SPDX-License-Identifier: MIT */
/*
 * unwound.c - compare the recorder's walk with libunwind's at each allocation
 *
 * A library to be preloaded: malloc(), calloc() and realloc() walk their
 * caller's stack in both ways and compare.  At the end of the process, the file
 * $UNWOUND has the number of stacks that differed, and the first few of them.
 *
 * The test compiles it with the recorder's own files for walks.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <fcntl.h>
#include <libunwind.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/stacks/code_object.h"
#include "preload/stacks/walk.h"

#define FRAMES_MAX 2000
#define SHOWN_MAX  4

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);

static __thread int depth; /* of our own calls */
static __thread struct walk *walk;
static uintptr_t own_begin, own_end;
static char report_file[4096];
static const char *report_path;
static _Atomic unsigned long captures, differences, lost, cut, walked, verified;
static _Atomic unsigned long max_frames;

/* Memory for dlsym(), which allocates before the real functions are known. */
static char early[65536];
static size_t early_nbytes;

static void *
take_early(size_t nbytes)
{
	void *const p = early + early_nbytes;

	early_nbytes += (nbytes + 15) & ~(size_t)15;
	if (early_nbytes > sizeof(early))
		abort();
	return p;
}

static int
is_early(const void *p)
{
	return (const char *)p >= early &&
	       (const char *)p < early + sizeof(early);
}

/* Add a line to the report, in one write. */
static __attribute__((format(printf, 1, 2))) void
say(const char *format, ...)
{
	char line[512];
	va_list values;
	int n, fd = open(report_path, O_WRONLY | O_CREAT | O_APPEND, 0666);

	va_start(values, format);
	n = vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		abort();
	close(fd);
}

static __attribute__((destructor)) void
report(void)
{
	if (report_path == NULL)
		return;
	depth++;
	say("captures %lu differences %lu lost %lu cut %lu walked %lu "
	    "verified %lu deepest %lu\n",
	    captures, differences, lost, cut, walked, verified, max_frames);
	depth--;
}

/* Copy the path: programs overwrite their environment (redis-server). */
static void
note_path(const char *path)
{
	if (path == NULL || strlen(path) >= sizeof(report_file))
		return;
	strcpy(report_file, path);
	report_path = report_file;
}

static void
init(void)
{
	struct code_object own;

	depth++;
	real_calloc = dlsym(RTLD_NEXT, "calloc");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_free = dlsym(RTLD_NEXT, "free");
	code_object_init();
	if (!code_object_find((uintptr_t)&init, &own))
		abort();
	own_begin = own.begin;
	own_end = own.end;
	note_path(getenv("UNWOUND"));
	real_malloc = dlsym(RTLD_NEXT, "malloc");
	depth--;
}

static void
show_place(const char *who, void *address)
{
	Dl_info info = { 0 };

	if (address != NULL)
		dladdr(address, &info);
	say("  %s %p %s %s\n", who, address,
	    info.dli_sname != NULL ? info.dli_sname : "?",
	    info.dli_fname != NULL ? info.dli_fname : "?");
}

/* Report where the two differ, with a few frames before. */
static void
show(void **theirs, uint32_t their_count)
{
	const uint32_t count = walk->count;

	say("differs: ours %u frames (end %d, %u verified), theirs %u\n", count,
	    walk->end, walk->same_count, their_count);
	for (uint32_t i = 0; i < count || i < their_count; i++) {
		void *const a =
			i < count ? (void *)walk->place[count - 1 - i].address
				  : NULL;
		void *const b = i < their_count ? theirs[i] : NULL;

		show_place(a == b ? "both  " : "ours  ", a);
		if (a == b)
			continue;
		show_place("theirs", b);
		break;
	}
}

static int
is_equal(void **theirs, uint32_t their_count)
{
	if (their_count != walk->count &&
	    !(walk->end == WALK_CUT && their_count > walk->count))
		return 0;
	for (uint32_t i = 0; i < walk->count; i++)
		if ((uintptr_t)theirs[i] !=
		    walk->place[walk->count - 1 - i].address)
			return 0;
	return 1;
}

static void
compare(void)
{
	void *theirs[FRAMES_MAX];
	int n = unw_backtrace(theirs, FRAMES_MAX), hidden = 0;

	while (hidden < n &&
	       (uintptr_t)theirs[hidden] - own_begin < own_end - own_begin)
		hidden++;
	if (!is_equal(theirs + hidden, (uint32_t)(n - hidden)) &&
	    differences++ < SHOWN_MAX)
		show(theirs + hidden, (uint32_t)(n - hidden));
}

static __attribute__((noinline)) void
capture(void)
{
	struct walk_context here;

	if (walk == NULL) {
		walk = real_calloc(1, sizeof(*walk));
		walk->depth = WALK_DEPTH_MAX;
	}
	here = walk_here();
	walk_stack(walk, &here, own_begin, own_end);
	captures++;
	walked += walk->count - walk->same_count;
	verified += walk->same_count;
	lost += walk->end == WALK_LOST;
	cut += walk->end == WALK_CUT;
	if (walk->count > max_frames)
		max_frames = walk->count;
	compare();
}

/* Do not compare in a handler that interrupts a comparison. */
static void
hook(void)
{
	if (depth == 0 && report_path != NULL) {
		depth++;
		capture();
		depth--;
	}
}

void *
malloc(size_t nbytes)
{
	if (real_malloc == NULL) {
		if (depth != 0)
			return take_early(nbytes);
		init();
	}
	hook();
	return real_malloc(nbytes);
}

void *
calloc(size_t count, size_t nbytes)
{
	if (real_malloc == NULL) {
		if (depth != 0)
			return take_early(count * nbytes);
		init();
	}
	hook();
	return real_calloc(count, nbytes);
}

void *
realloc(void *p, size_t nbytes)
{
	if (real_malloc == NULL)
		init();
	if (is_early(p))
		return memcpy(real_malloc(nbytes), p, nbytes);
	hook();
	return real_realloc(p, nbytes);
}

void
free(void *p)
{
	if (p != NULL && !is_early(p))
		real_free(p);
}
