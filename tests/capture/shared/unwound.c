/* SPDX-License-Identifier: MIT */
/*
 * unwound.c - compare the recorder's walk with libunwind's at each allocation
 *
 * A library to be preloaded: malloc(), calloc() and realloc() walk their
 * caller's stack in both ways and compare.  Where the recorder would find the
 * stack among its paths (path_cache.h), this does so too.  At the end of the
 * process, the file $UNWOUND has the number of stacks that differed, and the
 * first few of them.
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
#include "preload/stacks/path_cache.h"
#include "preload/stacks/stack_memory.h"
#include "preload/stacks/walk.h"

#define FRAMES_MAX 2000
#define SHOWN_MAX  4

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);

static __thread int depth; /* of our own calls */
static __thread struct walk *walk;

/* A stack, innermost frame first. */
struct stack {
	uint64_t key; /* hash of the frames */
	uint32_t count;
	enum walk_end end;
	uintptr_t address[];
};

/* The stacks of a thread's paths, by their numbers. */
#define NUMBERS_MAX (1u << 20)
#define BUCKETS	    (2 * NUMBERS_MAX)

struct numbered {
	struct path_cache paths;
	uint32_t count;
	struct stack *stacks[NUMBERS_MAX];
	uint32_t buckets[BUCKETS]; /* numbers, by the keys of the stacks */
};

static __thread struct numbered *numbered;
static uintptr_t own_begin, own_end;
static char report_file[4096];
static const char *report_path;
static _Atomic unsigned long captures, differences, sooner, lost, cut, walked,
	verified;
static _Atomic unsigned long max_frames, found;

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
	say("captures %lu differences %lu sooner %lu lost %lu cut %lu "
	    "walked %lu verified %lu deepest %lu paths %lu\n",
	    captures, differences, sooner, lost, cut, walked, verified,
	    max_frames, found);
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
	stack_memory_begin();
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
show(const struct stack *ours, const char *how, void **theirs,
     uint32_t their_count)
{
	say("differs: ours, %s, %u frames (end %d), theirs %u\n", how,
	    ours->count, ours->end, their_count);
	for (uint32_t i = 0; i < ours->count || i < their_count; i++) {
		void *const a =
			i < ours->count ? (void *)ours->address[i] : NULL;
		void *const b = i < their_count ? theirs[i] : NULL;

		show_place(a == b ? "both  " : "ours  ", a);
		if (a == b)
			continue;
		show_place("theirs", b);
		break;
	}
}

static int
is_equal(const struct stack *ours, void **theirs, uint32_t their_count)
{
	if (their_count != ours->count &&
	    !(ours->end == WALK_CUT && their_count > ours->count))
		return 0;
	for (uint32_t i = 0; i < ours->count; i++)
		if ((uintptr_t)theirs[i] != ours->address[i])
			return 0;
	return 1;
}

/*
 * Does our walk only end earlier, in a frame that it says it cannot walk?  V8
 * returns to addresses that follow no call when it deoptimizes a function: we
 * do not trust such a frame, libunwind does.
 */
static int
ends_sooner(const struct stack *ours, void **theirs, uint32_t their_count)
{
	if (ours->end != WALK_LOST || their_count <= ours->count)
		return 0;
	for (uint32_t i = 0; i < ours->count; i++)
		if ((uintptr_t)theirs[i] != ours->address[i])
			return 0;
	return 1;
}

static void
compare(const struct stack *ours, const char *how)
{
	void *theirs[FRAMES_MAX];
	int n = unw_backtrace(theirs, FRAMES_MAX), hidden = 0;

	while (hidden < n &&
	       (uintptr_t)theirs[hidden] - own_begin < own_end - own_begin)
		hidden++;
	if (is_equal(ours, theirs + hidden, (uint32_t)(n - hidden)))
		return;
	if (ends_sooner(ours, theirs + hidden, (uint32_t)(n - hidden)))
		sooner++;
	else if (differences++ < SHOWN_MAX)
		show(ours, how, theirs + hidden, (uint32_t)(n - hidden));
}

/* Copy the last stack of the walk. */
static struct stack *
copy_stack(void)
{
	struct stack *const stack = real_malloc(
		sizeof(*stack) + walk->count * sizeof(stack->address[0]));

	stack->key = walk->count == 0 ? 0 : walk->frame[walk->count - 1].key;
	stack->count = walk->count;
	stack->end = walk->end;
	for (uint32_t i = 0; i < walk->count; i++)
		stack->address[i] = walk->place[walk->count - 1 - i].address;
	return stack;
}

static void
count_walk(void)
{
	walked += walk->count - walk->same_count;
	verified += walk->same_count;
	lost += walk->end == WALK_LOST;
	cut += walk->end == WALK_CUT;
	if (walk->count > max_frames)
		max_frames = walk->count;
}

static bool
is_same(const struct stack *a, const struct stack *b)
{
	return a->key == b->key && a->count == b->count && a->end == b->end &&
	       memcmp(a->address, b->address,
		      a->count * sizeof(a->address[0])) == 0;
}

/*
 * Return the number of a stack, which takes over 'stack'.  Return 0 if all
 * numbers are used.
 */
static uint32_t
number(struct stack *stack)
{
	uint32_t i = (uint32_t)(stack->key % BUCKETS), id;

	for (; (id = numbered->buckets[i]) != 0; i = (i + 1) % BUCKETS)
		if (is_same(numbered->stacks[id], stack)) {
			real_free(stack);
			return id;
		}
	if (numbered->count == NUMBERS_MAX - 1) {
		real_free(stack);
		return 0;
	}
	id = ++numbered->count;
	numbered->stacks[id] = stack;
	numbered->buckets[i] = id;
	return id;
}

/* Walk, compare, and keep the path as the recorder would. */
static void
walk_and_compare(const struct walk_context *here,
		 const struct walk_outlet *outlet, bool is_known)
{
	struct stack *stack;
	uint32_t id;

	walk_stack(walk, here, outlet, own_begin, own_end);
	count_walk();
	stack = copy_stack();
	compare(stack, "walked");
	id = number(stack);
	if (is_known && walk->count != 0 && id != 0)
		path_cache_add(&numbered->paths, walk, here, outlet, id, 0);
}

/*
 * Return the number of the stack at 'here' if it is among the paths, else walk.
 */
static uint32_t
find_or_walk(const struct walk_context *here)
{
	struct walk_outlet outlet;
	struct stack_memory memory;
	uint32_t id = 0;
	bool has_left;

	stack_memory_init(&memory, here->sp);
	if (memory.is_known)
		id = path_cache_predict(&numbered->paths, here, memory.high, 0);
	if (id != 0)
		return id;
	has_left = walk_exits_find(&walk->exits, here->sp, here->bp,
				   memory.high, &outlet);
	if (has_left && memory.is_known)
		id = path_cache_find(&numbered->paths, here, &outlet,
				     memory.high, 0);
	if (id == 0)
		walk_and_compare(here, has_left ? &outlet : NULL,
				 has_left && memory.is_known);
	return id;
}

static __attribute__((noinline)) void
capture(void)
{
	struct walk_context here;
	uint32_t id;

	if (walk == NULL) {
		walk = real_calloc(1, sizeof(*walk));
		walk->depth = WALK_DEPTH_MAX;
		numbered = real_calloc(1, sizeof(*numbered));
	}
	here = walk_here();
	captures++;
	id = find_or_walk(&here);
	if (id != 0) {
		found++;
		compare(numbered->stacks[id], "found");
	}
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
