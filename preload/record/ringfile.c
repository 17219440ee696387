/* SPDX-License-Identifier: MIT */
/* ringfile.c - the ring file; see ringfile.h */

#include "preload/record/ringfile_state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "hatf/codec/comment_text.h"
#include "hatf/hatf.h"
#include "preload/config/ancestry.h"
#include "preload/config/environment.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"

#define TRIES_MAX 1000u

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* The file --------------------------------------------------------------- */

/*
 * Can the program write to a mapping of the file without failing and without
 * waiting?  It can on the local file systems listed below, which keep the disk
 * space that was reserved.  btrfs keeps this space only without copy-on-write,
 * so turn off copy-on-write for the file.  A network file system could make the
 * program wait for a server.
 */
static bool
is_safe(int fd)
{
	struct statfs fs;
	long flags = 0;

	if (syscall(SYS_fstatfs, fd, &fs) != 0)
		return false;
	switch ((uint32_t)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		return true;
	case BTRFS_SUPER_MAGIC:
		if (syscall(SYS_ioctl, fd, FS_IOC_GETFLAGS, &flags) != 0)
			return false;
		flags |= FS_NOCOW_FL;
		return syscall(SYS_ioctl, fd, FS_IOC_SETFLAGS, &flags) == 0;
	default:
		return false;
	}
}

/*
 * Read the kernel's boot id, which is hexadecimal digits with dashes between
 * them.  If the id cannot be read, store zeros.
 */
static void
read_boot_id(uint64_t id_ret[2])
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD,
				    "/proc/sys/kernel/random/boot_id",
				    O_RDONLY | O_CLOEXEC);
	char text[64];
	long n = 0;
	unsigned digits = 0;

	id_ret[0] = id_ret[1] = 0;
	if (fd >= 0) {
		n = syscall(SYS_read, fd, text, sizeof(text));
		syscall(SYS_close, fd);
	}
	for (long i = 0; i < n && digits < 32; i++) {
		const char c = text[i];
		const unsigned digit = c >= 'a' ? (unsigned)(c - 'a') + 10
						: (unsigned)(c - '0');

		if (digit < 16) {
			id_ret[digits / 16] = id_ret[digits / 16] << 4 | digit;
			digits++;
		}
	}
}

/*
 * Build the path of the ring file for the try 'number', counted from 0.  Return
 * false if the path is too long.
 */
static bool
build_path(const struct config *config, const char *trace_path, uint64_t number)
{
	const char *const slash = strrchr(trace_path, '/');
	struct text t;

	text_init(&t, rf->path, sizeof(rf->path) - 1);
	if (strcmp(config->rings, "beside") == 0) {
		text_str(&t, trace_path);
	} else {
		text_str(&t, config->rings);
		text_str(&t, "/");
		text_str(&t, slash != NULL ? slash + 1 : trace_path);
	}
	if (number > 0) {
		text_str(&t, ".");
		text_u64(&t, number);
	}
	text_str(&t, HATF_RINGS_SUFFIX);
	rf->path[t.used] = '\0';
	return !t.full;
}

static bool
create(const struct config *config, const char *trace_path)
{
	struct file_id id;

	rf->fd = -1;
	errno = ENAMETOOLONG;
	for (uint64_t i = 0; i < TRIES_MAX && rf->fd < 0; i++) {
		if (!build_path(config, trace_path, i))
			return false;
		rf->fd = (int)syscall(SYS_openat, AT_FDCWD, rf->path,
				      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC |
					      O_NOFOLLOW,
				      0600);
		if (rf->fd < 0 && errno != EEXIST)
			return false;
	}
	if (rf->fd < 0)
		return false;
	id = file_id_of(rf->fd);
	rf->fd = file_above_standard(rf->fd);
	if (rf->fd < 0) {
		const int error = errno;

		file_unlink(-1, rf->path, &id);
		errno = error;
		return false;
	}
	rf->id = id;
	/*
	 * Keep the folder open, since it may be renamed before the file is
	 * removed.
	 */
	rf->dir_fd = file_above_standard(file_open_folder(rf->path));
	return true;
}

static void
lock(void)
{
	const struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	/*
	 * The lock tells other processes that this process is alive.  The
	 * kernel releases the lock when the descriptor is closed.
	 */
	syscall(SYS_fcntl, rf->fd, F_OFD_SETLK, &whole);
}

/*
 * Write the header.  If 'will_adopt' is set, make no ring, because
 * ringfile_adopt() will later move the initial thread's ring into the file.
 * Otherwise make the first ring, for the initial thread.  Return false and set
 * errno if there is no room.
 */
static bool
fill(bool will_adopt)
{
	struct image *image;
	struct ring *r = NULL;
	uint64_t boot_id[2];
	struct stat st;

	if (!ringfile_reserve(0, IMAGE_HEADER_NBYTES))
		return false;
	image = ringfile_map(NULL, 0, IMAGE_HEADER_NBYTES);
	if (image == NULL)
		return false;
	rf->end = IMAGE_HEADER_NBYTES;
	if (!will_adopt)
		r = ringfile_make_ring(rf->initial_words);
	if (!will_adopt && r == NULL) {
		const int error = errno;

		memory_unmap(image, IMAGE_HEADER_NBYTES, MEMORY_SHARED);
		errno = error;
		return false;
	}
	read_boot_id(boot_id);
	image->pid_start = ancestry_start_ns();
	if (fstat(rf->fd, &st) == 0) {
		image->file_dev = st.st_dev;
		image->file_ino = st.st_ino;
	}
	/*
	 * 'hidden' counts the rings that are not in the file, since a kill
	 * would lose their events.  If the initial thread's ring is not in the
	 * file yet, count this ring here.  relaxed: readers ignore the file
	 * until image_init() has written the magic number.
	 */
	atomic_store_explicit(&image->hidden, will_adopt, memory_order_relaxed);
	image_init(image, boot_id, (uint64_t)sys_pid());
	/* relaxed: no other thread uses the file yet. */
	atomic_store_explicit(&rf->initial, r, memory_order_relaxed);
	rf->image = image;
	return true;
}

static void
tell_loss(const struct config *config, const char *why)
{
	if (config->verbose || config->rings_asked)
		say("no ring file %s: %s; if the process is killed, its last "
		    "events are lost",
		    rf->path, why);
}

void
ringfile_close(void)
{
	if (rf->fd >= 0)
		syscall(SYS_close, rf->fd);
	if (rf->dir_fd >= 0)
		syscall(SYS_close, rf->dir_fd);
	rf->fd = rf->dir_fd = -1;
}

static void
discard(void)
{
	ringfile_remove();
	ringfile_close();
}

static void
give_up(const struct config *config)
{
	const int error = errno;

	if (rf->fd >= 0)
		discard();
	tell_loss(config, say_errno(error));
}

static void
set_path(struct image_trace *trace, const char *path)
{
	const size_t n = strnlen(path, IMAGE_PATH_NBYTES - 1);

	memcpy(trace->path, path, n);
	trace->path[n] = '\0';
}

void
ringfile_make(const struct config *config, const char *trace_path,
	      bool will_adopt)
{
	rf->fd = rf->dir_fd = -1;
	rf->is_removed = false;
	rf->generation++;
	if (create(config, trace_path)) {
		lock();
		errno = EOPNOTSUPP;
		if ((config->rings_asked || is_safe(rf->fd)) &&
		    fill(will_adopt)) {
			/*
			 * Until the first commit, recovery takes the name of
			 * the trace from here.
			 */
			set_path(&rf->image->trace[0], trace_path);
			return;
		}
	}
	give_up(config);
}

bool
ringfile_init(const struct config *config)
{
	/* In the child of a fork, reuse the parent's mapping, now wiped. */
	if (rf == NULL)
		rf = memory_map_wiped(sizeof(*rf));
	if (rf == NULL)
		return false;
	rf->initial_words = config->initial_ring_words;
	rf->words = config->ring_words;
	rf->reserve_all = config->drop;
	rf->fd = rf->dir_fd = -1;
	return true;
}

void
ringfile_open(const struct config *config, const char *trace_path,
	      bool will_adopt)
{
	if (strcmp(config->rings, "none") != 0)
		ringfile_make(config, trace_path, will_adopt);
}

void
ringfile_begin(const struct config *config, const char *trace_path)
{
	if (rf->image != NULL && !rf->is_removed)
		ringfile_announce(trace_path);
	else if (rf->image == NULL && rf->fd < 0)
		ringfile_open(config, trace_path, false);
}

bool
ringfile_can_leave(bool complete)
{
	int fd;

	if (rf->image == NULL || rf->is_removed)
		return !complete && rf->image == NULL;
	/* relaxed: no other data depends on the count. */
	if (complete &&
	    atomic_load_explicit(&rf->image->hidden, memory_order_relaxed) != 0)
		return false;
	fd = ringfile_reopen();
	if (fd >= 0)
		syscall(SYS_close, fd);
	return fd >= 0;
}

int
ringfile_reopen(void)
{
	return rf->image != NULL && !rf->is_removed
		       ? file_reopen(rf->path, &rf->id, O_RDWR)
		       : -1;
}

int
ringfile_reopen_folder(void)
{
	return rf->image != NULL ? file_open_folder(rf->path) : -1;
}

void
ringfile_come_back(int fd, int dir_fd)
{
	rf->fd = fd >= 0 ? fd : file_above_standard(ringfile_reopen());
	rf->dir_fd = dir_fd >= 0
			     ? dir_fd
			     : file_above_standard(ringfile_reopen_folder());
}

const char *
ringfile_path(void)
{
	return rf != NULL && rf->image != NULL ? rf->path : NULL;
}

void
ringfile_remove(void)
{
	if (rf == NULL || rf->fd < 0 || rf->is_removed)
		return;
	rf->is_removed = true;

	const struct file_id id = file_id_of(rf->fd);

	file_unlink(rf->dir_fd, rf->path, &id);
}

/* Producers --------------------------------------------------------------- */

void
ringfile_count_hidden(void)
{
	if (rf != NULL && rf->image != NULL)
		/* relaxed: no other data depends on the count. */
		atomic_fetch_add_explicit(&rf->image->hidden, 1,
					  memory_order_relaxed);
}

void
ringfile_count_unattached(void)
{
	if (rf != NULL && rf->image != NULL)
		/* relaxed: no other data depends on the count. */
		atomic_fetch_add_explicit(&rf->image->unattached, 1,
					  memory_order_relaxed);
}

/* The writer -------------------------------------------------------------- */

void
ringfile_note_reading(uint64_t stamp, uint64_t ns)
{
	if (rf->image != NULL)
		image_note_reading(rf->image, stamp, ns);
}

void
ringfile_commit_ring(struct ring *r, const struct order_producer *producer,
		     bool is_gone)
{
	if (r->offset != 0 && rf->image != NULL)
		image_commit_ring(r, producer, is_gone,
				  image_next_seq(rf->image));
}

/*
 * Return the index in image->trace that the last commit refers to.  If there is
 * no commit, return 1, so that the first trace gets the index 0.
 */
static uint64_t
trace_idx(void)
{
	const struct image_commit *const last = image_last_commit(rf->image);

	return last != NULL ? last->trace : 1;
}

void
ringfile_announce(const char *path)
{
	struct image_trace *t;

	if (rf->image == NULL)
		return;
	t = &rf->image->trace[trace_idx() ^ 1];
	t->announced_seq = 0;
	atomic_signal_fence(memory_order_seq_cst);
	set_path(t, path);
	atomic_signal_fence(memory_order_seq_cst);
	t->announced_seq = image_next_seq(rf->image) - 1;
}

void
ringfile_commit(struct image_commit *commit, const char *path,
		uint64_t head_nbytes, uint64_t head_hash)
{
	struct image_trace *t;
	uint64_t idx;

	if (rf->image == NULL)
		return;
	idx = trace_idx();
	t = &rf->image->trace[idx];
	if (t->head_hash != head_hash || t->head_nbytes != head_nbytes) {
		/* For a new trace file, use the other slot of image->trace. */
		idx ^= 1;
		t = &rf->image->trace[idx];
		t->head_nbytes = head_nbytes;
		t->head_hash = head_hash;
		set_path(t, path);
	}
	commit->trace = idx;
	image_commit(rf->image, commit);
}

void
ringfile_tell_removed(void)
{
	if (rf->image != NULL && rf->is_removed)
		tell_loss(environment_own(),
			  "it was removed before an exec that failed");
}
