/* SPDX-License-Identifier: MIT */
/* header.c - see header.h; hatf/FORMAT.md, "Header", describes the keys */

#include "preload/trace/header.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "hatf/codec/comment_text.h"
#include "hatf/hatf.h"
#include "preload/config/ancestry.h"
#include "preload/record/real.h"
#include "preload/record/ringfile.h"
#include "preload/sys/elf_lookup.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/*
 * The header is a comment in the trace, and a comment holds at most 65535
 * bytes.  At most COMMAND_MAX_NBYTES of the kernel's copy of the command line
 * are read.
 */
#define HEADER_MAX_NBYTES  65535
#define COMMAND_MAX_NBYTES (32u << 10)
#define LINEAGE_MAX_NBYTES 512
/*
 * Maximum length of the line "rings=" in bytes.  Each byte of the file's name
 * may be escaped, which takes four bytes.
 */
#define RINGS_MAX_NBYTES (8u * PATH_MAX + 16)

MEMORY_LARGE static char exe[PATH_MAX];
MEMORY_LARGE static struct utsname host;

/*
 * The header lines that all segments share, with room for the lines of one
 * segment.
 */
MEMORY_LARGE static char common[HEADER_MAX_NBYTES];
static size_t common_nbytes;
static bool is_complete;

char *const *
header_environment(void)
{
	MEMORY_LARGE static char block[1u << 17], *list[4096];
	extern char **environ;
	size_t n = 0, count = 0;

	if (environ != NULL)
		return environ;
	/* libc has not set 'environ' yet, so read the kernel's copy. */
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/environ",
				    O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && n < sizeof(block) - 1) {
		const long got =
			syscall(SYS_read, fd, block + n, sizeof(block) - 1 - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	for (size_t i = 0; i < n && count + 1 < sizeof(list) / sizeof(list[0]);
	     i += strlen(block + i) + 1)
		list[count++] = block + i;
	list[count] = NULL;
	return list;
}

const struct output_names *
header_names(void)
{
	static struct output_names names;
	const long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe,
			       sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	uname(&host);

	const char *const slash = strrchr(exe, '/');

	names.pid = (uint64_t)sys_pid();
	names.path = exe;
	names.exe = slash != NULL && slash[1] != '\0' ? slash + 1 : "unknown";
	names.host = host.nodename;
	return &names;
}

/* The program's arguments while our constructor runs, else NULL. */
static char *const *arguments;

void
header_note_arguments(char *const argv[])
{
	arguments = argv;
}

/* Add the text, with blanks, control characters and backslashes as \xHH. */
static void
add_argument(struct text *t, const char *argument, const char *end)
{
	static const char hex[] = "0123456789abcdef";

	for (; argument < end && t->used + 8 < t->cap; argument++) {
		const unsigned char c = (unsigned char)*argument;
		const char escaped[4] = { '\\', 'x', hex[c >> 4], hex[c & 15] };

		if (c <= 0x20 || c == 0x7f || c == '\\')
			text_bytes(t, escaped, sizeof(escaped));
		else
			text_bytes(t, argument, 1);
	}
}

static void
add_told_arguments(struct text *t)
{
	MEMORY_LARGE static char args[COMMAND_MAX_NBYTES];
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline",
				    O_RDONLY | O_CLOEXEC);
	long n = 0;

	if (fd >= 0) {
		n = syscall(SYS_read, fd, args, sizeof(args));
		syscall(SYS_close, fd);
	}
	while (n > 0 && args[n - 1] == '\0')
		n--;
	for (const char *next = args, *const end = args + n; next < end;) {
		const size_t nbytes = strnlen(next, (size_t)(end - next));

		if (next != args)
			text_str(t, " ");
		add_argument(t, next, next + nbytes);
		next += nbytes + 1;
	}
}

/*
 * Add the arguments that the library's constructor got.  Like
 * add_told_arguments(), leave out empty arguments at the end.
 */
static void
add_known_arguments(struct text *t)
{
	size_t n = 0;

	for (size_t i = 0; arguments[i] != NULL; i++)
		if (arguments[i][0] != '\0')
			n = i + 1;
	for (size_t i = 0; i < n; i++) {
		if (i != 0)
			text_str(t, " ");
		add_argument(t, arguments[i],
			     arguments[i] + strlen(arguments[i]));
	}
}

/* Add the line "command=": the arguments with a blank between them. */
static void
add_command(struct text *t)
{
	text_str(t, "command=");
	if (arguments != NULL)
		add_known_arguments(t);
	else
		add_told_arguments(t);
	text_str(t, "\n");
}

static void
add_line(struct text *t, const char *key, const char *value)
{
	text_line(t, key, value, strlen(value));
}

/*
 * The path of the object that has the real malloc().  NULL: not searched yet.
 * The loader owns the string, and the object is never unloaded.
 */
static const char *allocator;

/*
 * Do not use dladdr(), because it waits for the loader's lock.  The thread that
 * holds that lock may be waiting for the start of the trace, and this call is a
 * part of that start.
 */
void
header_note_allocator(void)
{
	/*
	 * A forked child uses its parent's result.  A search in the child could
	 * wait forever, because during the fork another thread of the parent
	 * may have held the lock of dl_iterate_phdr(3).
	 */
	if (allocator == NULL)
		allocator = elf_lookup_object(real_allocator);
	if (allocator == NULL)
		allocator = "unknown";
}

static void
add_process(struct text *t)
{
	MEMORY_LARGE static char cwd[PATH_MAX];

	text_line_u64(t, "pid", (uint64_t)sys_pid());
	text_line_u64(t, "ppid", (uint64_t)syscall(SYS_getppid));
	add_line(t, "exe", exe);
	if (syscall(SYS_getcwd, cwd, sizeof(cwd)) > 0)
		add_line(t, "cwd", cwd);
	add_line(t, "host", host.nodename);
	text_line_u64(t, "page_size", sys_page_nbytes());
	add_line(t, "arch", host.machine);
	add_line(t, "allocator", allocator);
}

static void
add_parent(struct text *t, const struct header_parent *parent)
{
	if (parent->pid == 0)
		return;
	text_line_u64(t, "parent_pid", parent->pid);
	/* The trace's name is empty if the parent never recorded. */
	if (parent->trace[0] == '\0')
		return;
	add_line(t, "parent_trace", parent->trace);
	text_line_u64(t, "parent_event", parent->event);
	text_line_u64(t, "parent_event_exact", parent->is_exact);
	if (parent->fork != 0)
		text_line_u64(t, "parent_fork", parent->fork);
}

static const char *
unit_name(enum config_clock clock)
{
	if (clock == CONFIG_CLOCK_OFF)
		return "none";
	return clock == CONFIG_CLOCK_NS ? "ns" : "us";
}

void
header_build(const struct config *config, const struct header_parent *parent,
	     uint64_t start_ns)
{
	const uint64_t since_ns = sys_clock_ns(CLOCK_MONOTONIC) - start_ns;
	struct text t;

	is_complete = false;
	text_init(&t, common,
		  sizeof(common) - LINEAGE_MAX_NBYTES - RINGS_MAX_NBYTES -
			  HEADER_LINES_NBYTES);
	text_str(&t, "HATF 1.0\n");
	add_line(&t, "producer", "hatftrace " HATF_VERSION);
	add_line(&t, "clock", config_clock_name(config->clock));
	add_line(&t, "unit", unit_name(config->clock));
	text_line_u64(&t, "start_time",
		      sys_clock_ns(CLOCK_REALTIME) - since_ns);
	text_line_u64(&t, "start_monotonic", start_ns);
	add_line(&t, "full", config->drop ? "drop" : "wait");
	add_process(&t);
	add_parent(&t, parent);
	add_command(&t);
	common_nbytes = t.used;
}

void
header_complete(void)
{
	struct text t;

	if (is_complete)
		return;
	is_complete = true;
	ancestry_read();
	text_init(&t, common + common_nbytes,
		  LINEAGE_MAX_NBYTES + RINGS_MAX_NBYTES);
	ancestry_add(&t);
	if (ringfile_path() != NULL)
		add_line(&t, "rings", ringfile_path());
	common_nbytes += t.used;
}

struct header_text
header_extend(const char *lines, size_t nbytes)
{
	memcpy(common + common_nbytes, lines, nbytes);
	return (struct header_text){ common, common_nbytes + nbytes };
}
