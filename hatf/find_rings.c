/* SPDX-License-Identifier: MIT */
/*
 * find_rings.c - which ring file belongs to a trace, and what it says
 *
 * Only looked at, and its process may be writing it meanwhile.
 */
#include "hatf.h"
#include "paths.h"
#include "ringset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of a process that goes on writing it. */
#define HEADER_TRIES 4

/* The process holds a lock on its ring file as long as it lives. */
static bool
is_written(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

/* The header, which may be written at the same time. */
static enum hatf_status
read_header(struct ringset *set, int fd, struct hatf_error *err)
{
	enum hatf_status status = HATF_OK;

	for (unsigned i = 0; i < HEADER_TRIES; i++) {
		status = ringset_read_header(set, fd, err);
		if (status == HATF_OK && set->commit != NULL)
			break;
		if (i + 1 < HEADER_TRIES)
			ringset_fini(set);
	}
	return status;
}

/*
 * Is there a ring file at 'path' whose current trace is 'trace', by its first bytes
 * or by its name?  If it tells of none: 'otherwise'.
 */
static bool
is_ring_file_of(const char *path, const char *trace, bool otherwise)
{
	struct ringset set = { .count = 0 };
	struct hatf_error err;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = otherwise;

	if (fd < 0)
		return false;
	if (read_header(&set, fd, &err) == HATF_OK && set.commit != NULL) {
		const int trace_fd =
			open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		const struct image_trace *const t =
			&set.image->trace[set.commit->trace];

		is = strcmp(paths_base(t->path), paths_base(trace)) == 0 ||
		     (trace_fd >= 0 && ringset_is_begun_by(&set, trace_fd));
		if (trace_fd >= 0)
			close(trace_fd);
	}
	ringset_fini(&set);
	close(fd);
	return is;
}

/* By the header of the trace: its path then, or its name in the trace's folder. */
static bool
find_by_header(const char *trace, char *path, size_t nbytes)
{
	struct hatf_reader *reader = NULL;
	struct hatf_record record;
	struct hatf_error err;
	const char *rings = NULL;
	bool found = false;
	size_t n;

	if (hatf_reader_open(trace, 0, &reader, &err) != HATF_OK)
		return false;
	if (hatf_reader_read(reader, &record, 1, &n) == HATF_OK)
		rings = hatf_reader_header(reader, "rings");
	if (rings != NULL) {
		n = strlen(rings);
		found = paths_beside(trace, paths_base(rings), path, nbytes) &&
			is_ring_file_of(path, trace, false);
		if (!found && n < nbytes) {
			memcpy(path, rings, n + 1);
			found = is_ring_file_of(path, trace, false);
		}
	}
	hatf_reader_close(reader);
	return found;
}

bool
hatf_find_rings(const char *trace, char *path, size_t nbytes)
{
	const int n = snprintf(path, nbytes, "%s%s", trace, HATF_RINGS_SUFFIX);

	if (n > 0 && (size_t)n < nbytes && is_ring_file_of(path, trace, true))
		return true;
	return find_by_header(trace, path, nbytes);
}

enum hatf_status
hatf_look_at_rings(const char *rings, struct hatf_rings *rings_ret,
		   struct hatf_error *err)
{
	struct ringset set = { .count = 0 };
	enum hatf_status status;
	const char *path;
	const int fd = open(rings, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*rings_ret = (struct hatf_rings){ .pid = 0 };
	if (fd < 0) {
		*err = (struct hatf_error){ .status = HATF_IO,
					    .sys_errno = errno };
		return HATF_IO;
	}
	rings_ret->in_use = is_written(fd);
	status = read_header(&set, fd, err);
	if (status == HATF_OK) {
		rings_ret->pid = set.image->pid;
		path = set.commit != NULL
			       ? set.image->trace[set.commit->trace].path
			       : "";
		if (strlen(path) < sizeof(rings_ret->trace))
			memcpy(rings_ret->trace, path, strlen(path) + 1);
	}
	ringset_fini(&set);
	close(fd);
	return status;
}
