/* SPDX-License-Identifier: MIT */
/*
 * test_available.c - available memory is limited by each control group
 *
 * Each case is a tree of files that stands for "/".
 */
#include "tools/replay/available.h"

#include "tests/unit/support/checks.h"
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* All cases have this, except those that have another one. */
#define MEMINFO                                                      \
	{                                                            \
		"proc/meminfo", "MemTotal:  900 kB\nMemFree: 1 kB\n" \
				"MemAvailable:     800 kB\n"         \
	}
#define KIB ((uint64_t)1024)

/* Mounts as a system with both versions has them. */
#define MOUNTS                                                               \
	{                                                                    \
		"proc/self/mountinfo",                                       \
			"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"              \
			"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"  \
			"32 31 0:29 / /sys/fs/cgroup/cpu rw shared:5 - "     \
			"cgroup cgroup rw,cpu\n"                             \
			"35 31 0:32 / /sys/fs/cgroup/memory rw shared:8 - "  \
			"cgroup cgroup rw,memory\n"                          \
			"41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - " \
			"cgroup2 cgroup2 rw,nsdelegate\n"                    \
	}
#define ONE "sys/fs/cgroup/memory/"
#define TWO "sys/fs/cgroup/unified/"

static const struct {
	const char *what;
	struct {
		const char *path, *text;
	} files[10];
	uint64_t nbytes;
	bool is_of_a_group;
} cases[] = {
	{ "nothing is known", { { NULL, NULL } }, UINT64_MAX, false },
	{ "no control groups", { MEMINFO }, 800 * KIB, false },
	{ "no number",
	  { { "proc/meminfo", "MemAvailable: x\n" } },
	  UINT64_MAX,
	  false },
	{ "a limit",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a/b\n" },
	    { TWO "a/b/memory.max", "409600\n" },
	    { TWO "a/b/memory.current", "4096\n" } },
	  396 * KIB,
	  true },
	{ "no limit",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a/b\n" },
	    { TWO "a/b/memory.max", "max\n" },
	    { TWO "a/b/memory.high", "max\n" },
	    { TWO "a/b/memory.current", "4096\n" } },
	  800 * KIB,
	  false },
	{ "a limit above what the system has",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a\n" },
	    { TWO "a/memory.max", "4096000\n" },
	    { TWO "a/memory.current", "0\n" } },
	  800 * KIB,
	  false },
	{ "more in use than the limit",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a\n" },
	    { TWO "a/memory.high", "4096\n" },
	    { TWO "a/memory.current", "8192\n" } },
	  0,
	  true },
	{ "memory.high below memory.max",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a\n" },
	    { TWO "a/memory.max", "409600\n" },
	    { TWO "a/memory.high", "204800\n" },
	    { TWO "a/memory.current", "1024\n" } },
	  199 * KIB,
	  true },
	{ "the use is unknown",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a\n" },
	    { TWO "a/memory.max", "409600\n" } },
	  400 * KIB,
	  true },
	{ "caches are not in the way",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a\n" },
	    { TWO "a/memory.max", "409600\n" },
	    { TWO "a/memory.current", "307200\n" },
	    { TWO "a/memory.stat",
	      "anon 1\nfile 999\nshmem 102400\ninactive_anon 102400\n"
	      "inactive_file 51200\nactive_file 20480\n"
	      "slab_reclaimable 10240\nslab 999999\n" } },
	  180 * KIB,
	  true },
	{ "an ancestor has the lowest limit",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a/b/c\n" },
	    { TWO "a/b/c/memory.max", "409600\n" },
	    { TWO "a/memory.max", "307200\n" },
	    { TWO "a/memory.current", "204800\n" },
	    { TWO "a/b/memory.max", "max\n" } },
	  100 * KIB,
	  true },
	{ "the group at the mount point",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/\n" },
	    { TWO "memory.max", "102400\n" } },
	  100 * KIB,
	  true },
	{ "other groups do not count",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/a/b\n" },
	    { TWO "a/bb/memory.max", "1024\n" },
	    { TWO "a/b/c/memory.max", "1024\n" },
	    { "sys/fs/cgroup/memory.max", "1024\n" } },
	  800 * KIB,
	  false },
	{ "version 1",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "9:name=systemd:/x\n5:cpu,memory:/a/b\n"
				  "1:cpuset:/c\n0::/\n" },
	    { ONE "a/b/memory.limit_in_bytes", "409600\n" },
	    { ONE "a/b/memory.usage_in_bytes", "204800\n" },
	    { ONE "a/b/memory.stat",
	      "inactive_file 1\nactive_file 1\ntotal_inactive_file 1024\n"
	      "total_active_file 2048\n" },
	    { ONE "memory.limit_in_bytes", "9223372036854771712\n" } },
	  203 * KIB,
	  true },
	{ "version 1, an ancestor",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "4:memory:/a/b\n" },
	    { ONE "a/b/memory.limit_in_bytes", "9223372036854771712\n" },
	    { ONE "a/memory.limit_in_bytes", "102400\n" },
	    { ONE "a/memory.usage_in_bytes", "1024\n" } },
	  99 * KIB,
	  true },
	{ "a controller whose name is longer",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "4:memory2,xmemory:/a\n" },
	    { ONE "a/memory.limit_in_bytes", "1024\n" } },
	  800 * KIB,
	  false },
	{ "both versions, the lower one",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "4:memory:/a\n0::/a\n" },
	    { ONE "a/memory.limit_in_bytes", "102400\n" },
	    { TWO "a/memory.max", "204800\n" } },
	  100 * KIB,
	  true },
	/* In a container, the mount shows only the groups below its own one. */
	{ "a mount that shows a part",
	  { MEMINFO,
	    { "proc/self/mountinfo",
	      "1 2 0:3 /pod/x /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n" },
	    { "proc/self/cgroup", "0::/pod/x/y\n" },
	    { "sys/fs/cgroup/y/memory.max", "204800\n" },
	    { "sys/fs/cgroup/memory.max", "102400\n" },
	    { "sys/fs/memory.max", "1024\n" } },
	  100 * KIB,
	  true },
	{ "the second mount shows the group",
	  { MEMINFO,
	    { "proc/self/mountinfo",
	      "1 2 0:3 /pod /one ro - cgroup2 cgroup2 rw\n"
	      "1 2 0:3 /pod2 /a\\040b\\134 ro - cgroup2 cgroup2 rw\n" },
	    { "proc/self/cgroup", "0::/pod2/y\n" },
	    { "a b\\/y/memory.max", "204800\n" },
	    { "one/memory.max", "1024\n" } },
	  200 * KIB,
	  true },
	{ "a group outside the namespace",
	  { MEMINFO,
	    MOUNTS,
	    { "proc/self/cgroup", "0::/../other\n" },
	    { "sys/fs/cgroup/other/memory.max", "1024\n" },
	    { TWO "memory.max", "102400\n" } },
	  100 * KIB,
	  true },
	{ "broken lines",
	  { MEMINFO,
	    { "proc/self/mountinfo",
	      "\n - \n - cgroup2\n - cgroup2 x\n1 2 3 4 - cgroup2 x y\n"
	      "1 2 3 / /m - cgroup2" },
	    { "proc/self/cgroup", "\n0\n0:\n0::\nx:memory:\n0::/a" },
	    { "memory.max", "1024\n" } },
	  800 * KIB,
	  false },
};

/* Write a file below 'root', in folders that are made. */
static void
write_file(const char *root, const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + strlen(root) + 1;
	     (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		ck_assert(mkdir(full, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static int
remove_file(const char *path, const struct stat *status, int kind,
	    struct FTW *walk)
{
	(void)status, (void)kind, (void)walk;
	return remove(path);
}

START_TEST(the_lowest_limit_counts)
{
	char root[] = "/tmp/available-XXXXXX";
	struct available found;

	ck_assert_ptr_nonnull(mkdtemp(root));
	for (size_t i = 0; i < 10 && cases[_i].files[i].path != NULL; i++)
		write_file(root, cases[_i].files[i].path,
			   cases[_i].files[i].text);
	found = available_memory(root);
	nftw(root, remove_file, 8, FTW_DEPTH | FTW_PHYS);
	ck_assert_msg(found.nbytes == cases[_i].nbytes &&
			      found.is_of_a_group == cases[_i].is_of_a_group,
		      "%s: %llu%s", cases[_i].what,
		      (unsigned long long)found.nbytes,
		      found.is_of_a_group ? " of a group" : "");
}
END_TEST

int
main(void)
{
	Suite *const s = suite_create("available");
	TCase *const t = tcase_create("available");
	SRunner *const runner = srunner_create(s);
	int failed;

	tcase_add_loop_test(t, the_lowest_limit_counts, 0,
			    sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(s, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
