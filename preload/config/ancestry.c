/* SPDX-License-Identifier: MIT */
/*
 * ancestry.c - see ancestry.h; hatf/FORMAT.md, "Header", describes the lines
 * that ancestry_add() adds
 */

#include "preload/config/ancestry.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/sys/procstat.h"
#include "preload/sys/sys.h"

/* Maximum number of listed ancestors.  Reading each one takes microseconds. */
#define ANCESTORS_MAX 8

struct process {
	uint64_t pid, parent;
	uint64_t start_ns; /* start time in ns since the system booted */
};

/* Numbers of fields of /proc/PID/stat.  proc(5) counts the fields from 1. */
enum {
	FIELD_PARENT = 4,
	FIELD_START = 22
};

/* Fill '*ret' for the process 'pid' from the stat line at 'path'. */
static bool
read_stat(const char *path, uint64_t pid, struct process *ret)
{
	const uint64_t ticks = getauxval(AT_CLKTCK);
	char buf[PROCSTAT_NBYTES];
	const char *const state = procstat_read(AT_FDCWD, path, buf);

	if (state == NULL || ticks == 0)
		return false;
	ret->pid = pid;
	ret->parent = procstat_field(state, FIELD_PARENT);
	ret->start_ns =
		procstat_field(state, FIELD_START) * (NS_PER_SEC / ticks);
	return true;
}

/*
 * Read the stat line of the calling process.  Use the path /proc/self, since
 * /proc may show another PID namespace, in which the process id of this process
 * belongs to another process.
 */
static bool
read_self(struct process *ret)
{
	return read_stat("/proc/self/stat", (uint64_t)sys_pid(), ret);
}

/*
 * Fill '*ret' for another process from the stat line of its initial thread.
 * This line has the same parent and start time as the stat line of the process.
 * If the process has many threads, the line of one thread is cheaper to read
 * than the line of the process.
 */
static bool
read_process(uint64_t pid, struct process *ret)
{
	char path[64];
	struct text t;

	text_init(&t, path, sizeof(path) - 1);
	text_str(&t, "/proc/");
	text_u64(&t, pid);
	text_str(&t, "/task/");
	text_u64(&t, pid);
	text_str(&t, "/stat");
	path[t.used] = '\0';
	return read_stat(path, pid, ret);
}

/*
 * Data about this process.  In the child of a fork, this struct has the
 * parent's data until the child has called ancestry_read().  The struct lies
 * within one page, which the fork copies at one moment.  If 'is_known' is set
 * in the copy, the copy therefore also has the fields that were stored before
 * 'is_known'.
 */
static _Alignas(256) struct {
	struct process self, ancestors[ANCESTORS_MAX];
	unsigned ancestor_count;
	_Atomic bool is_known;
} lineage;

_Static_assert(sizeof(lineage) <= 256,
	       "the struct must not cross a page boundary");

static void
read_ancestors(void)
{
	uint64_t parent = lineage.self.parent;
	unsigned n = 0;

	/* Omit process 1, since every process descends from it. */
	while (n < ANCESTORS_MAX && parent > 1 &&
	       read_process(parent, &lineage.ancestors[n]))
		parent = lineage.ancestors[n++].parent;
	lineage.ancestor_count = n;
}

/*
 * Insert 'parent', which has forked this process, at the front of the list.
 * The list so far has the ancestors of 'parent'.
 */
static void
inherit_ancestors(const struct process *parent)
{
	if (lineage.ancestor_count < ANCESTORS_MAX)
		lineage.ancestor_count++;
	memmove(&lineage.ancestors[1], &lineage.ancestors[0],
		(lineage.ancestor_count - 1) * sizeof(*parent));
	lineage.ancestors[0] = *parent;
}

void
ancestry_read(void)
{
	const struct process before = lineage.self;
	/*
	 * relaxed, this load and the next store: in the page that a fork copies
	 * (see 'lineage'), only the order of the stores matters.  The release
	 * fence below puts the next store before the stores to other members.
	 */
	const bool was_known =
		atomic_load_explicit(&lineage.is_known, memory_order_relaxed);

	if (was_known && before.pid == (uint64_t)sys_pid())
		return;
	atomic_store_explicit(&lineage.is_known, false, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	if (!read_self(&lineage.self))
		return;
	if (was_known && lineage.self.parent == before.pid && before.pid > 1)
		inherit_ancestors(&before);
	else
		read_ancestors();
	atomic_store_explicit(&lineage.is_known, true, memory_order_release);
}

void
ancestry_add(struct text *t)
{
	char buf[64 * ANCESTORS_MAX];
	struct text list;

	/*
	 * relaxed: the caller ran ancestry_read() itself, or was created by the
	 * thread that ran it.
	 */
	if (!atomic_load_explicit(&lineage.is_known, memory_order_relaxed))
		return;
	text_line_u64(t, "pid_start", lineage.self.start_ns);
	text_init(&list, buf, sizeof(buf));
	for (unsigned i = 0; i < lineage.ancestor_count; i++) {
		if (i != 0)
			text_str(&list, " ");
		text_u64(&list, lineage.ancestors[i].pid);
		text_str(&list, "@");
		text_u64(&list, lineage.ancestors[i].start_ns);
	}
	if (list.used != 0)
		text_line(t, "ancestors", list.buf, list.used);
}

uint64_t
ancestry_start_ns(void)
{
	/* relaxed: as in ancestry_add(). */
	return atomic_load_explicit(&lineage.is_known, memory_order_relaxed)
		       ? lineage.self.start_ns
		       : 0;
}
