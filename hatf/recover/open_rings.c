/* SPDX-License-Identifier: MIT */
/* open_rings.c - open the ring file of a process that has ended, and lock it */
#include "hatf/recover/recovery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A killed process needs a moment to end, so try up to 50 times, 20 ms apart,
 * to lock its ring file.
 */
#define LOCK_TRIES  50
#define LOCK_NAP_NS 20000000l

/*
 * If the ring file has no header yet, try up to this many more times to read
 * the header, also 20 ms apart.
 */
#define HEADER_TRIES 10

static bool
read_boot_id(uint64_t id_ret[2])
{
	char text[64];
	unsigned digits = 0;
	FILE *const f = fopen("/proc/sys/kernel/random/boot_id", "re");
	const char *line;

	id_ret[0] = id_ret[1] = 0;
	if (f == NULL)
		return false;
	line = fgets(text, sizeof(text), f);
	for (; line != NULL && *line != '\0' && digits < 32; line++) {
		const char *const hex = "0123456789abcdef";
		const char *const at = strchr(hex, *line);

		if (at != NULL) {
			id_ret[digits / 16] =
				id_ret[digits / 16] << 4 | (uint64_t)(at - hex);
			digits++;
		}
	}
	fclose(f);
	return digits == 32;
}

static enum hatf_status
check_boot(struct recovery *r)
{
	const uint64_t *const was = r->set.image->boot_id;
	uint64_t is[2];

	r->other_boot = (was[0] != 0 || was[1] != 0) && read_boot_id(is) &&
			(is[0] != was[0] || is[1] != was[1]);
	if (r->other_boot && (r->flags & HATF_RECOVER_FORCE) == 0)
		return recovery_fail(r, HATF_OTHER_BOOT, 0, NULL);
	return HATF_OK;
}

/*
 * Numbers of fields of /proc/PID/stat; number 0 is the third field, the state.
 */
#define STAT_NUM_THREADS 17
#define STAT_START	 19

static uint64_t
stat_field(const char *at, unsigned field)
{
	for (unsigned i = 0; i < field && at != NULL; i++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/*
 * Is the process that made the ring file alive?  The process id may now belong
 * to another process, or to a process in another PID namespace, so compare the
 * start time, too.
 */
static bool
is_alive(const struct image *image)
{
	const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	char line[1024];
	const char *at;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%llu/stat",
		 (unsigned long long)image->pid);
	f = fopen(line, "re");
	if (f == NULL)
		return false;
	line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
	fclose(f);
	/*
	 * The name of the process can contain any characters, even parentheses,
	 * so the last parenthesis of the line ends the name.
	 */
	at = strrchr(line, ')');
	if (at == NULL || at[1] != ' ' || ticks == 0)
		return false;
	at += 2;
	if (*at == 'X' || *at == 'x' ||
	    /*
	     * A zombie counts as alive if it has other threads, because they
	     * may still run.
	     */
	    (*at == 'Z' && stat_field(at, STAT_NUM_THREADS) <= 1))
		return false;
	return stat_field(at, STAT_START) * (1000000000u / ticks) ==
	       image->pid_start;
}

static bool
is_locked(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &whole) != 0 &&
	       (errno == EAGAIN || errno == EACCES);
}

/*
 * Wait until the process of the ring file has ended, and lock the ring file.  A
 * live recorder holds a lock.  But the file system may not support locks, and a
 * copy of the file has no lock, so look for the process, too.
 */
static enum hatf_status
wait_and_lock(struct recovery *r)
{
	const struct timespec nap = { 0, LOCK_NAP_NS };

	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (!is_locked(r->rings.fd) &&
		    (r->other_boot || !is_alive(r->set.image)))
			return HATF_OK;
		nanosleep(&nap, NULL);
	}
	return recovery_fail(r, HATF_IN_USE, 0, NULL);
}

bool
recovery_is_rings_name(const char *path)
{
	const size_t n = strlen(path), m = strlen(HATF_RINGS_SUFFIX);

	return n > m && strcmp(path + n - m, HATF_RINGS_SUFFIX) == 0;
}

/*
 * Read the header of the ring file.  If the header is not written yet, a
 * process may be about to write the header, so try for a while.  If the header
 * is still missing after that, the process has ended before it wrote the
 * header.  Any empty file lacks the header, too, so accept such a file only if
 * 'path' is the name of a ring file.
 */
static enum hatf_status
read_header(struct recovery *r, const char *path)
{
	const struct timespec nap = { 0, LOCK_NAP_NS };
	enum hatf_status status =
		saved_rings_read_header(&r->set, r->rings.fd, r->err);

	if (status != HATF_OK || !r->set.is_unwritten)
		return status;
	if (!recovery_is_rings_name(path))
		return recovery_fail(r, HATF_BAD_RINGS, 0, "magic");
	for (unsigned i = 0; i < HEADER_TRIES && r->set.is_unwritten; i++) {
		nanosleep(&nap, NULL);
		saved_rings_fini(&r->set);
		status = saved_rings_read_header(&r->set, r->rings.fd, r->err);
		if (status != HATF_OK)
			return status;
	}
	return HATF_OK;
}

enum hatf_status
recovery_open_rings(struct recovery *r, const char *path)
{
	struct stat st;
	enum hatf_status status;

	if (!checked_file_open(&r->rings, path, O_RDWR))
		return errno == ENOTSUP
			       ? recovery_fail(r, HATF_BAD_RINGS, 0, "file")
			       : recovery_fail(r, HATF_IO, 0, NULL);
	status = read_header(r, path);
	if (status != HATF_OK)
		return status;
	r->found->pid = r->set.image->pid;
	status = check_boot(r);
	if (status == HATF_OK)
		status = wait_and_lock(r);
	saved_rings_fini(&r->set);
	if (status != HATF_OK)
		return status;
	/*
	 * Fail if another recovery has finished in the meantime and has removed
	 * the file.
	 */
	errno = ENOENT;
	if (fstat(r->rings.fd, &st) != 0 || st.st_nlink == 0)
		return recovery_fail(r, HATF_IO, 0, NULL);
	/*
	 * Fail if another user owns the ring file, and this process does not
	 * run as root.  Root may recover any ring file, because recovery
	 * changes only files of r->owner, the owner of the ring file.
	 */
	errno = EPERM;
	if (geteuid() != 0 && st.st_uid != geteuid())
		return recovery_fail(r, HATF_IO, 0, NULL);
	r->owner = st.st_uid;
	status = saved_rings_read(&r->set, r->rings.fd,
				  (r->flags & HATF_RECOVER_FORCE) != 0, r->err);
	if (status != HATF_OK)
		return status;
	r->is_in_place = r->set.image->file_dev == st.st_dev &&
			 r->set.image->file_ino == st.st_ino;
	return HATF_OK;
}
