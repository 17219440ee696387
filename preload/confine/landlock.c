/* SPDX-License-Identifier: MIT */
/* landlock.c - see landlock.h */

#include "preload/confine/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/sys/filter.h"
#include "preload/sys/sys.h"

/* Constants that the first version of <linux/landlock.h> lacks. */
#define FS_TRUNCATE	((uint64_t)1 << 14)
#define FS_IOCTL_DEV	((uint64_t)1 << 15)
#define NET_BIND_TCP	((uint64_t)1 << 0)
#define NET_CONNECT_TCP ((uint64_t)1 << 1)
#define SCOPE_ABSTRACT	((uint64_t)1 << 0)
#define SCOPE_SIGNAL	((uint64_t)1 << 1)
#define QUERY_VERSION	1u
#define QUERY_ERRATA	2u
#define ABI_TRUNCATE	3
#define ABI_NET		4
#define ABI_IOCTL_DEV	5
#define ABI_SCOPE	6
/*
 * Bit of the answer to QUERY_ERRATA.  If the bit is set, the kernel has a fix:
 * Landlock never refuses a signal to a thread of the same process.
 */
#define ERRATUM_OWN_SIGNAL ((long)1 << 1)

/*
 * struct landlock_ruleset_attr of version 6.  An older kernel accepts the
 * struct if the fields that this kernel does not know are 0.
 */
struct attributes {
	uint64_t fs, net, scoped;
};

/* Rights that the writer never needs. */
#define FS_NEVER                                                       \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |   \
	 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_REMOVE_DIR)

#define FS_FILES                                                         \
	(LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_WRITE_FILE |   \
	 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 FS_TRUNCATE)

/* Rights that the writer needs in some folders. */
#define FS_SOMEWHERE                              \
	(FS_FILES | LANDLOCK_ACCESS_FS_READ_DIR | \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_DIR)

static const uint64_t uses[] = {
	[LANDLOCK_USE_READ] = LANDLOCK_ACCESS_FS_READ_FILE,
	[LANDLOCK_USE_WRITE] = LANDLOCK_ACCESS_FS_WRITE_FILE,
	[LANDLOCK_USE_FILES] = FS_FILES,
	[LANDLOCK_USE_FILES_SOCKETS] = FS_FILES | LANDLOCK_ACCESS_FS_MAKE_SOCK,
	[LANDLOCK_USE_SOCKET_FOLDERS] = LANDLOCK_ACCESS_FS_MAKE_DIR |
					LANDLOCK_ACCESS_FS_MAKE_SOCK |
					LANDLOCK_ACCESS_FS_REMOVE_FILE,
};

static long
query(unsigned what)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, what);
}

/*
 * Return the kernel's version of Landlock.  Return 0 if the kernel has no
 * Landlock.  Also return 0 if a filter on system calls is installed, since the
 * filter might kill the process for the query.
 */
static int
get_version(void)
{
	if (filter_is_installed())
		return 0;

	const long version = query(QUERY_VERSION);

	return version > 0 ? (int)version : 0;
}

static int
create_ruleset(const struct attributes *a)
{
	return (int)syscall(SYS_landlock_create_ruleset, a, sizeof(*a), 0);
}

void
landlock_drop_rights(void)
{
	const int version = get_version();
	struct attributes a = { .fs = FS_NEVER };

	if (version == 0)
		return;
	if (version >= ABI_NET)
		a.net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (version >= ABI_IOCTL_DEV)
		a.fs |= FS_IOCTL_DEV;
	if (version >= ABI_SCOPE) {
		const long errata = query(QUERY_ERRATA);

		a.scoped = SCOPE_ABSTRACT;
		/*
		 * Restrict signals only if the kernel has the fix, because the
		 * writer sends signal 0 to threads of this process to check
		 * whether they live.
		 */
		if (errata > 0 && (errata & ERRATUM_OWN_SIGNAL) != 0)
			a.scoped |= SCOPE_SIGNAL;
	}
	landlock_enforce(create_ruleset(&a));
}

/*
 * The rights that the rules control: the rights in FS_SOMEWHERE that the kernel
 * knows.
 */
static uint64_t handled;

int
landlock_create_rules(void)
{
	const int version = get_version();

	if (version == 0)
		return -1;
	handled = version >= ABI_TRUNCATE ? FS_SOMEWHERE
					  : FS_SOMEWHERE & ~FS_TRUNCATE;
	return create_ruleset(&(struct attributes){ .fs = handled });
}

void
landlock_allow(int rules, int fd, enum landlock_use use)
{
	const struct landlock_path_beneath_attr rule = {
		/*
		 * The kernel refuses a rule with rights that are not in
		 * 'handled'.
		 */
		.allowed_access = uses[use] & handled,
		.parent_fd = fd,
	};

	if (rules >= 0 && fd >= 0)
		syscall(SYS_landlock_add_rule, rules,
			LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

void
landlock_allow_path(int rules, const char *path, enum landlock_use use)
{
	int fd;

	if (rules < 0)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
	landlock_allow(rules, fd, use);
	if (fd >= 0)
		syscall(SYS_close, fd);
}

void
landlock_enforce(int rules)
{
	if (rules < 0)
		return;
	syscall(SYS_landlock_restrict_self, rules, 0);
	syscall(SYS_close, rules);
}
