/* SPDX-License-Identifier: MIT */
/* bells_map.c - see bells_map.h */

#include "preload/control/bells_map.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "hatf/codec/comment_text.h"
#include "preload/sys/sys.h"

#define NBYTES sizeof(struct bells)

/*
 * A buffer for a path, to put on the stack.  A static buffer would cost one
 * more page fault.
 */
struct path {
	char text[192];
};

/*
 * Build the path of the file of bells.  If 'is_making' is set, build the
 * temporary path under which make() fills the file.  Return false if the path
 * is too long.
 */
static bool
build_path(struct path *path, const char *directory, bool is_making)
{
	struct text t;

	text_init(&t, path->text, sizeof(path->text) - 1);
	text_str(&t, directory);
	text_str(&t, "/");
	if (is_making)
		text_u64(&t, (uint64_t)sys_pid());
	text_str(&t, is_making ? BELLS_MAKING_SUFFIX : BELLS_NAME);
	path->text[t.used] = '\0';
	return !t.full;
}

/*
 * Is this a regular file of the size that bells.h gives, which only user 'uid'
 * can open?  Reading a mapped file that is too short would end the program by
 * SIGBUS.
 */
static bool
is_fit(int fd, uint32_t uid)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == uid &&
	       (st.st_mode & 07777) == 0600 && st.st_nlink == 1 &&
	       st.st_size == (off_t)NBYTES;
}

/*
 * Open the file, and return its descriptor if is_fit() accepts the file.
 * Otherwise return -1.  Set '*is_unfit_ret' to true if a file with this name
 * exists but is not accepted, else to false.
 */
static int
open_fit(const struct path *path, uint32_t uid, bool *is_unfit_ret)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path->text,
				    O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
					    O_NOCTTY | O_CLOEXEC);

	*is_unfit_ret =
		fd < 0 && (errno == ELOOP || errno == ENXIO || errno == EACCES);
	if (fd < 0 || is_fit(fd, uid))
		return fd;
	*is_unfit_ret = true;
	syscall(SYS_close, fd);
	return -1;
}

/*
 * Set the size of the file, and reserve its pages.  tmpfs allocates an
 * unreserved page at the first read.  On a full tmpfs, this read would end the
 * program by SIGBUS.  A file system without fallocate() needs no page to read a
 * hole, so setting the size suffices.
 */
static bool
fill(int fd)
{
	struct rlimit limit;

	/* Avoid SIGXFSZ, for which the program may have a handler. */
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < NBYTES)
		return false;
	if (syscall(SYS_fallocate, fd, 0, (off_t)0, (off_t)NBYTES) == 0)
		return true;
	return (errno == EOPNOTSUPP || errno == ENOSYS) &&
	       syscall(SYS_ftruncate, fd, (off_t)NBYTES) == 0;
}

/*
 * Make the file under a temporary name, so that no process finds an unfinished
 * file.  If several processes make it at the same time, the first rename wins.
 */
static void
make(const struct path *path, const char *directory)
{
	struct path first;
	int fd;

	if (!build_path(&first, directory, true))
		return;
	syscall(SYS_unlinkat, AT_FDCWD, first.text, 0);
	fd = (int)syscall(SYS_openat, AT_FDCWD, first.text,
			  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0600);
	if (fd < 0)
		return;
	/* Set the mode again, since the umask may have removed bits. */
	if (syscall(SYS_fchmod, fd, 0600) != 0 || !fill(fd) ||
	    syscall(SYS_renameat2, AT_FDCWD, first.text, AT_FDCWD, path->text,
		    RENAME_NOREPLACE) != 0)
		syscall(SYS_unlinkat, AT_FDCWD, first.text, 0);
	syscall(SYS_close, fd);
}

static int
open_or_make(const char *directory, uint32_t uid)
{
	struct path path;
	bool is_unfit;
	int fd;

	if (!build_path(&path, directory, false))
		return -1;
	fd = open_fit(&path, uid, &is_unfit);
	if (fd >= 0)
		return fd;
	/*
	 * Only hatftrace uses the directory, so remove a file that is_fit()
	 * does not accept.
	 */
	if (is_unfit)
		syscall(SYS_unlinkat, AT_FDCWD, path.text, 0);
	make(&path, directory);
	return open_fit(&path, uid, &is_unfit);
}

/* Return the offset in the file of the slot of process 'number'. */
static uint64_t
slot_offset(uint64_t number)
{
	return bells_slot_of(number) * sizeof(uint64_t);
}

static uint64_t
page_offset(uint64_t number)
{
	return slot_offset(number) & ~(uint64_t)(sys_page_nbytes() - 1);
}

bool
bells_are_mapped(const struct bells_page *page, uint32_t uid, uint64_t number)
{
	return page->is_mapped && page->uid == uid &&
	       page->off == page_offset(number);
}

bool
bells_map(struct bells_page *page, const char *directory, uint32_t uid,
	  uint64_t number)
{
	const int fd = open_or_make(directory, uid);
	const uint64_t off = page_offset(number);
	void *at;

	if (fd < 0)
		return false;
	at = mmap(page->at, sys_page_nbytes(), PROT_READ,
		  MAP_SHARED | (page->at != NULL ? MAP_FIXED : 0), fd,
		  (off_t)off);
	syscall(SYS_close, fd);
	if (at == MAP_FAILED)
		return false;
	*page = (struct bells_page){
		.at = at, .off = off, .uid = uid, .is_mapped = true
	};
	return true;
}

void
bells_unmap(struct bells_page *page)
{
	const int flags =
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

	if (page->is_mapped && mmap(page->at, sys_page_nbytes(), PROT_READ,
				    flags, -1, 0) != MAP_FAILED)
		page->is_mapped = false;
}

const _Atomic uint64_t *
bells_slot(const struct bells_page *page, uint64_t number)
{
	return (const _Atomic uint64_t *)((const uint8_t *)page->at +
					  (slot_offset(number) - page->off));
}
