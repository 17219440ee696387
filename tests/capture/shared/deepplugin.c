/* SPDX-License-Identifier: MIT */
/*
 * deepplugin.c - a plug-in and its host, which loads it with RTLD_DEEPBIND
 *
 * Both note what they do with blocks of SIZE + n bytes and print it: "alloc
 * SIZE ADDRESS", "free ADDRESS", "thread".  The plug-in allocates in its
 * constructor, in a thread that it makes and when it is called; it frees blocks
 * of the host, and the host frees blocks of the plug-in.  Built with -DMAIN it
 * is the host, with -DOWN a plug-in with an allocator of its own, named
 * malloc().
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 21000

struct host {
	void (*took)(size_t size, void *p);
	void (*gave)(void *p);
};

typedef void *plugin_fn(const struct host *host, void *block);

#ifdef MAIN

static char text[1 << 20];
static size_t used;

static void
took(size_t size, void *p)
{
	used += (size_t)snprintf(text + used, sizeof(text) - used,
				 "alloc %zu 0x%zx\n", size, (size_t)p);
}

static void
gave(void *p)
{
	used += (size_t)snprintf(text + used, sizeof(text) - used,
				 "free 0x%zx\n", (size_t)p);
}

/* Load the plug-in, and return it. */
static void *
load(const char *path, int mode, int crossing)
{
	static const struct host host = { took, gave };
	void *const plugin = dlopen(path, mode);
	plugin_fn *run;
	void *block, *back;

	if (plugin == NULL)
		exit(3);
	*(void **)&run = dlsym(plugin, "plugin_run");
	/* Print first what its constructor did. */
	run(&host, NULL);
	for (int i = 0; i < 50; i++) {
		block = NULL;
		if (crossing) {
			block = malloc(SIZE + 100 + i);
			took(SIZE + 100 + i, block);
		}
		back = run(&host, block);
		if (back != NULL) {
			gave(back);
			free(back);
		}
	}
	return plugin;
}

/*
 * Load both plug-ins, and load them again in several orders, so that one moves
 * in the loader's list, and so that both are again where they were.
 */
static void
load_in_turn(const char *one, const char *two, int mode)
{
	void *first = load(one, mode, 1);
	void *second = load(two, mode, 1);

	for (int i = 0; i < 2; i++) {
		dlclose(first);
		first = load(one, mode, 1);
		dlclose(first);
		dlclose(second);
		first = load(one, mode, 1);
		second = load(two, mode, 1);
		dlclose(second);
		second = load(two, mode, 1);
	}
	dlclose(first);
	dlclose(second);
}

/* PATH apart|crossing [deep [SECOND-PATH]] */
int
main(int argc, char **argv)
{
	const int crossing = strcmp(argv[2], "crossing") == 0;
	const int deep = argc > 3 ? RTLD_DEEPBIND : 0;

	for (int i = 0; i < 3; i++)
		dlclose(load(argv[1], RTLD_LAZY | deep, crossing));
	if (argc > 4)
		load_in_turn(argv[1], argv[4], RTLD_LAZY | deep);
	fputs(text, stdout);
	return 7;
}

#else

#ifdef OWN
static char arena[1 << 20];
static size_t arena_used;

void *
malloc(size_t n)
{
	void *const p = arena + arena_used % (sizeof(arena) / 2);

	arena_used += n;
	return p;
}

void
free(void *p)
{
	if (p != NULL &&
	    ((char *)p < arena || (char *)p >= arena + sizeof(arena)))
		abort();
}
#endif

static struct {
	size_t size;
	void *p;
} early[8];
static int early_count;
static const struct host *host;

/* Note for itself before it knows the host; a size of 0 is a free. */
static void
tell(size_t size, void *p)
{
#ifdef OWN
	(void)size;
	(void)p;
#else
	if (host == NULL) {
		early[early_count].size = size;
		early[early_count++].p = p;
	} else if (size != 0) {
		host->took(size, p);
	} else {
		host->gave(p);
	}
#endif
}

static void *
take(size_t size)
{
	void *const p = malloc(size);

	memset(p, 1, size);
	tell(size, p);
	return p;
}

static void
give(void *p)
{
	tell(0, p);
	free(p);
}

static void *kept;

__attribute__((constructor)) static void
begin(void)
{
	void *const p = take(SIZE + 1);

	kept = take(SIZE + 2);
	give(p);
#ifndef OWN
	void *q;

	kept = (give(kept), calloc(3, SIZE / 3));
	tell(SIZE, kept);
	if (posix_memalign(&q, 64, SIZE + 3) != 0)
		abort();
	tell(SIZE + 3, q);
	give(q);
#endif
}

__attribute__((destructor)) static void
end(void)
{
	give(kept);
}

static void *
work(void *unused)
{
	give(take(SIZE + 4));
	return unused;
}

void *plugin_run(const struct host *h, void *block);

void *
plugin_run(const struct host *h, void *block)
{
	pthread_t thread;

	host = h;
	for (int i = 0; i < early_count; i++)
		tell(early[i].size, early[i].p);
	early_count = 0;
	if (pthread_create(&thread, NULL, work, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0)
		abort();
	if (block == NULL) {
		give(take(SIZE + 5));
		return NULL;
	}
	give(block);
	return take(SIZE + 6);
}

#endif
