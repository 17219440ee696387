/* SPDX-License-Identifier: MIT */
/*
 * find_rings.c - find and inspect the ring file that belongs to a trace
 *
 * These functions only read the ring file.  The process that made the ring file
 * may be writing it at the same time.
 */
#include "hatf/base/sized.h"
#include "hatf/hatf.h"
#include "hatf/io/checked_file.h"
#include "hatf/io/paths.h"
#include "hatf/reader.h"
#include "hatf/recover/saved_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Number of attempts to read a header that a process keeps changing. */
#define HEADER_TRIES 4

/*
 * Does a process hold a lock on the ring file?  The process that writes the
 * file holds a lock as long as the process lives.
 */
static bool
is_written(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

/* Read the header, which the process may be writing at the same time. */
static enum hatf_status
read_header(struct saved_rings *set, int fd, struct hatf_error *err)
{
	enum hatf_status status = HATF_OK;

	for (unsigned i = 0; i < HEADER_TRIES; i++) {
		status = saved_rings_read_header(set, fd, err);
		if (status == HATF_OK && set->commit != NULL)
			break;
		if (i + 1 < HEADER_TRIES)
			saved_rings_fini(set);
	}
	return status;
}

/*
 * Is the file 'fd' the ring file of the trace 'trace_fd', whose path is
 * 'trace'?  It is if the ring file states the file name of 'trace', or the hash
 * of the first bytes of 'trace_fd'.  If the header of 'fd' is invalid or names
 * no trace, return 'otherwise'.
 */
static bool
is_ring_file_of(int fd, const char *trace, int trace_fd, bool otherwise)
{
	struct saved_rings set = { .count = 0 };
	struct hatf_error err;
	bool is = otherwise;

	if (read_header(&set, fd, &err) == HATF_OK && set.commit != NULL) {
		const struct image_trace *const t =
			&set.image->trace[set.commit->trace];

		is = strcmp(paths_base(t->path), paths_base(trace)) == 0 ||
		     saved_rings_is_begun_by(&set, trace_fd);
	}
	saved_rings_fini(&set);
	return is;
}

/* Is 'path', a file in the folder of the trace, the ring file of the trace? */
static bool
is_beside(const char *path, const char *trace, int trace_fd, bool otherwise)
{
	const int fd = checked_file_open_found(path);
	bool is;

	if (fd < 0)
		return false;
	is = is_ring_file_of(fd, trace, trace_fd, otherwise);
	close(fd);
	return is;
}

/*
 * Is 'path' the ring file of the trace?  The header of the trace names this
 * path.  Always return false for root, because recovery removes the ring file,
 * and root must not remove a file outside the folder of the trace unless the
 * user has named that file.
 */
static bool
is_at_header_path(const char *path, const char *trace, int trace_fd)
{
	struct checked_file f;
	struct stat st;
	bool is;

	if (geteuid() == 0 || fstat(trace_fd, &st) != 0 ||
	    !checked_file_open_untrusted(&f, path, O_RDONLY, st.st_uid))
		return false;
	is = is_ring_file_of(f.fd, trace, trace_fd, false);
	checked_file_close(&f);
	return is;
}

/*
 * Find the ring file by the path in the trace's header.  First try the file
 * name of this path in the folder of the trace, then the path itself.
 */
static bool
find_by_header(const char *trace, int trace_fd, char *path, size_t nbytes)
{
	struct hatf_reader *reader = NULL;
	struct hatf_record record;
	const char *rings = NULL;
	bool found = false;
	size_t n;

	if (reader_open_fd(trace_fd, &reader) != HATF_OK)
		return false;
	if (hatf_reader_read(reader, &record, 1, &n) == HATF_OK)
		rings = hatf_reader_header(reader, "rings");
	if (rings != NULL) {
		n = strlen(rings);
		found = paths_beside(trace, paths_base(rings), path, nbytes) &&
			is_beside(path, trace, trace_fd, false);
		if (!found && n < nbytes) {
			memcpy(path, rings, n + 1);
			found = is_at_header_path(path, trace, trace_fd);
		}
	}
	hatf_reader_close(reader);
	return found;
}

bool
hatf_rings_find(const char *trace, char *path, size_t nbytes)
{
	const int n = snprintf(path, nbytes, "%s%s", trace, HATF_RINGS_SUFFIX);
	const int trace_fd = checked_file_open_link(trace);
	bool found;

	/*
	 * If the trace is missing, do not fail, because is_beside() can still
	 * compare the name of the trace with the name stored in the ring file.
	 */
	found = n > 0 && (size_t)n < nbytes &&
		is_beside(path, trace, trace_fd, true);
	if (trace_fd < 0)
		return found;
	found = found || find_by_header(trace, trace_fd, path, nbytes);
	close(trace_fd);
	return found;
}

/* Fill in what the open ring file 'fd' states about itself. */
static enum hatf_status
describe(int fd, struct hatf_rings *ret, struct hatf_error *err)
{
	struct saved_rings set = { .count = 0 };
	enum hatf_status status;
	const char *path;

	ret->in_use = is_written(fd);
	status = read_header(&set, fd, err);
	/* Any empty file looks like an unwritten ring file. */
	if (status == HATF_OK && set.is_unwritten) {
		*err = (struct hatf_error){ .status = HATF_BAD_RINGS,
					    .field = "magic" };
		status = HATF_BAD_RINGS;
	}
	if (status == HATF_OK) {
		ret->pid = set.image->pid;
		path = set.commit != NULL
			       ? set.image->trace[set.commit->trace].path
			       : "";
		if (strlen(path) < sizeof(ret->trace))
			memcpy(ret->trace, path, strlen(path) + 1);
	}
	saved_rings_fini(&set);
	return status;
}

enum hatf_status
hatf_rings_get(const char *rings, struct hatf_rings *rings_ret,
	       struct hatf_error *err)
{
	struct hatf_rings found = { .pid = 0 };
	struct hatf_error ignored;
	enum hatf_status status;
	int fd;

	if (err == NULL)
		err = &ignored;
	status = hatf_file_open_found(rings, &fd, err);
	if (status == HATF_OK) {
		status = describe(fd, &found, err);
		close(fd);
	}
	sized_give(rings_ret, &found, sizeof(found));
	return status;
}
