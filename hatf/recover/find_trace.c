/* SPDX-License-Identifier: MIT */
/* find_trace.c - find the trace of a ring file, and how much of it is intact */
#include "hatf/deflate/deflate.h"
#include "hatf/formats/common/tally.h"
#include "hatf/io/paths.h"
#include "hatf/reader.h"
#include "hatf/recover/recovery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool
recovery_is_owners(const struct recovery *r, const struct checked_file *f)
{
	return f->st.st_uid == r->owner;
}

bool
recovery_has_header(const struct recovery *r, int fd, uint64_t *start_ret)
{
	struct hatf_reader *reader;
	struct hatf_record record;
	const char *pid = NULL, *start = NULL;
	size_t n;
	bool is;

	if (lseek(fd, 0, SEEK_SET) != 0 ||
	    reader_open_fd(fd, &reader) != HATF_OK)
		return false;
	if (hatf_reader_read(reader, &record, 1, &n) == HATF_OK) {
		pid = hatf_reader_header(reader, "pid");
		start = hatf_reader_header(reader, "start_time");
	}
	is = pid != NULL && start != NULL &&
	     strtoull(pid, NULL, 10) == r->set.image->pid;
	if (is)
		*start_ret = strtoull(start, NULL, 10);
	hatf_reader_close(reader);
	return is;
}

/* Has the recorder written the trailer, and left no event in the rings? */
static bool
has_ended(const struct recovery *r)
{
	return (r->set.commit->flags & IMAGE_COMMIT_ENDED) != 0 &&
	       r->set.word_count == 0;
}

/*
 * Has another program, such as 'hatf symbolize', written the trace anew?  The
 * file then begins with other bytes, but has a trailer.  Store its counts of
 * events in r->intact, and whether it is complete in r->found.
 */
static bool
is_rewritten(struct recovery *r)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct tally tally = { .event_count = 0 };
	struct hatf_record records[64];
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n;

	if (lseek(r->trace.fd, 0, SEEK_SET) != 0 ||
	    reader_open_fd(r->trace.fd, &reader) != HATF_OK)
		return false;
	while ((status = hatf_reader_read(reader, records, 64, &n)) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			tally_note(&tally, &records[i]);
	hatf_reader_get_stats(reader, &stats);
	hatf_reader_close(reader);
	r->intact = (struct intact_blocks){
		.event_count = tally.event_count,
		.lost_count = stats.lost_count,
		.has_trailer = status == HATF_END,
	};
	r->found->complete = stats.complete;
	return r->intact.has_trailer;
}

/*
 * Store 'path' in r->found as the path of the trace.  Return false, and store
 * nothing, if 'path' is too long.
 */
static bool
set_trace(struct recovery *r, const char *path)
{
	const size_t n = strlen(path) + 1;

	if (n > sizeof(r->found->trace))
		return false;
	if (path != r->found->trace)
		memcpy(r->found->trace, path, n);
	return true;
}

/* How the path of the trace was found. */
enum path_origin {
	ORIGIN_NAMED, /* the user named the trace */
	/*
	 * The trace is in the folder of the ring file.  The ring file named the
	 * trace, or the trace has the name of the ring file without the suffix.
	 */
	ORIGIN_BESIDE,
	/* The path is the one that the ring file states, in any folder. */
	ORIGIN_ELSEWHERE
};

static bool
open_at(struct recovery *r, const char *path, enum path_origin origin)
{
	switch (origin) {
	case ORIGIN_NAMED:
		return checked_file_open(&r->trace, path, O_RDWR);
	case ORIGIN_BESIDE:
		return checked_file_open_in(&r->trace, r->rings.dir_fd,
					    paths_base(path), O_RDWR);
	case ORIGIN_ELSEWHERE:
		break;
	}
	return checked_file_open_untrusted(&r->trace, path, O_RDWR, r->owner);
}

/*
 * Open 'path' if it is the trace.  Return HATF_OTHER_RINGS if 'path' is too
 * long, names another file, or names a file that checked_file.h refuses with
 * ENOTSUP.  Return HATF_IO if opening fails for another reason.
 */
static enum hatf_status
try_trace(struct recovery *r, const char *path, enum path_origin origin)
{
	if (!set_trace(r, path))
		return recovery_fail(r, HATF_OTHER_RINGS, 0, NULL);
	if (!open_at(r, path, origin))
		return errno == ENOTSUP
			       ? recovery_fail(r, HATF_OTHER_RINGS, 0, NULL)
			       : recovery_fail(r, HATF_IO, 0, NULL);
	/*
	 * Write only to a file of the ring file's owner, because the ring file
	 * is untrusted, and may name a file of somebody else.
	 */
	if (recovery_is_owners(r, &r->trace) &&
	    recovery_has_header(r, r->trace.fd, &r->start_time) &&
	    (r->is_rewritten ? is_rewritten(r)
			     : saved_rings_is_begun_by(&r->set, r->trace.fd))) {
		*r->err = (struct hatf_error){ .status = HATF_OK };
		return HATF_OK;
	}
	checked_file_close(&r->trace);
	return recovery_fail(r, HATF_OTHER_RINGS, 0, NULL);
}

/*
 * Copy the path of the ring file, without HATF_RINGS_SUFFIX, to 'buf'.  If the
 * user has renamed the trace and the ring file alike, the result is the path of
 * the trace.  Return false if the path does not end in HATF_RINGS_SUFFIX or
 * 'buf' is too small.
 */
static bool
without_suffix(const char *rings, char *buf, size_t nbytes)
{
	size_t n;

	if (!recovery_is_rings_name(rings))
		return false;
	n = strlen(rings) - strlen(HATF_RINGS_SUFFIX);
	if (n >= nbytes)
		return false;
	memcpy(buf, rings, n);
	buf[n] = '\0';
	return true;
}

/*
 * Try 'trace', the path that the user gave.  If 'trace' is NULL, look in the
 * folder of the ring file, first for the file name that the recorder gave the
 * trace, then for the ring file's name without HATF_RINGS_SUFFIX.  Then try the
 * path where the recorder wrote the trace.
 */
static enum hatf_status
try_all(struct recovery *r, const char *rings, const char *trace)
{
	const char *const path = r->set.image->trace[r->set.commit->trace].path;
	char near[sizeof(r->found->trace)], like[sizeof(r->found->trace)];
	enum hatf_status status = HATF_IO;
	struct hatf_error first;

	if (trace != NULL)
		return try_trace(r, trace, ORIGIN_NAMED);
	if (!paths_beside(rings, paths_base(path), near, sizeof(near)))
		return recovery_fail(r, HATF_OTHER_RINGS, 0, NULL);
	status = try_trace(r, near, ORIGIN_BESIDE);
	first = *r->err;
	if (status == HATF_OK)
		return status;
	if (without_suffix(rings, like, sizeof(like)) &&
	    try_trace(r, like, ORIGIN_BESIDE) == HATF_OK)
		return HATF_OK;
	/*
	 * If the ring file is only a copy, do not change the trace at 'path',
	 * because the process may still be writing this trace.
	 */
	if (r->is_in_place && try_trace(r, path, ORIGIN_ELSEWHERE) == HATF_OK)
		return HATF_OK;
	/*
	 * Report the failure at 'near', because a user would look for the trace
	 * beside the ring file.
	 */
	set_trace(r, near);
	*r->err = first;
	return status;
}

/*
 * Look for the file that the recorder wrote.  Only if there is none, accept a
 * trace that was written anew, because such a trace shows only by its process
 * id that it belongs to the ring file.
 */
enum hatf_status
recovery_open_trace(struct recovery *r, const char *rings, const char *trace)
{
	const enum hatf_status status = try_all(r, rings, trace);
	const struct hatf_error first = *r->err;
	char path[sizeof(r->found->trace)];

	if (status != HATF_OTHER_RINGS || !has_ended(r))
		return status;
	memcpy(path, r->found->trace, sizeof(path));
	r->is_rewritten = true;
	if (try_all(r, rings, trace) == HATF_OK)
		return HATF_OK;
	r->is_rewritten = false;
	set_trace(r, path);
	*r->err = first;
	return status;
}

/*
 * Check that the trace file has all bytes that the commit counts, and that a
 * block ends at the committed length.  If not, find how much of the file is
 * intact.  The length alone proves nothing, because an interrupted recovery may
 * have appended to a truncated trace.
 */
enum hatf_status
recovery_check_length(struct recovery *r)
{
	const uint64_t committed = r->set.commit->nbytes;
	struct intact_blocks *const left = &r->intact;
	enum hatf_status status;
	struct stat st;

	if (r->is_rewritten)
		return HATF_OK;
	if (fstat(r->trace.fd, &st) != 0)
		return recovery_fail(r, HATF_IO, 0, NULL);

	const uint64_t nbytes = (uint64_t)st.st_size;

	r->is_short = nbytes < committed ||
		      !intact_blocks_end_at(r->trace.fd, committed);
	if (!r->is_short) {
		r->found->cut_nbytes = nbytes - committed;
		return HATF_OK;
	}
	status = intact_blocks_read(r->trace.fd, left);
	if (status == HATF_TRUNCATED ||
	    (status == HATF_OK && !left->has_trailer &&
	     left->file_nbytes >= committed))
		return recovery_fail(r, HATF_OTHER_RINGS, nbytes,
				     "end of the trace");
	if (status != HATF_OK)
		return recovery_fail(r, status, 0, NULL);
	r->found->cut_nbytes = nbytes - left->file_nbytes;
	if (left->file_nbytes < committed)
		r->found->gap_nbytes = committed - left->file_nbytes;
	return HATF_OK;
}

/*
 * Read a trace that has no event yet: its header, which is stored in r->header,
 * and the comments after it.  Return HATF_END if the file is something else,
 * such as a trace with events or with a trailer.
 */
static enum hatf_status
read_begun(struct recovery *r, bool *compressed_ret)
{
	struct hatf_reader *reader;
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_record rec;
	enum hatf_status status;
	bool is_begun, no_memory;
	size_t n;

	if (lseek(r->trace.fd, 0, SEEK_SET) != 0 ||
	    reader_open_fd(r->trace.fd, &reader) != HATF_OK)
		return HATF_END;
	/*
	 * Copy the header, because its attributes are valid only until the next
	 * read.  Stop at the first record that is not a comment.
	 */
	while ((status = hatf_reader_read(reader, &rec, 1, &n)) == HATF_OK &&
	       rec.tag == HATF_COMMENT) {
		if (r->header != NULL)
			continue;
		r->header_nbytes = rec.attributes_nbytes;
		r->header = malloc(r->header_nbytes + 1);
		if (r->header == NULL)
			break;
		memcpy(r->header, rec.attributes, r->header_nbytes);
	}
	hatf_reader_get_stats(reader, &stats);
	is_begun = strcmp(hatf_reader_format(reader), "hatf") == 0 &&
		   (status == HATF_NO_TRAILER || status == HATF_TRUNCATED);
	no_memory = status == HATF_OK && rec.tag == HATF_COMMENT;
	hatf_reader_close(reader);
	*compressed_ret = stats.compressed;
	if (no_memory)
		return recovery_fail(r, HATF_NO_MEMORY, 0, NULL);
	return is_begun ? HATF_OK : HATF_END;
}

/*
 * Open a file that may be the trace of a process that has not committed
 * anything: 'trace' if it is not NULL, else the first file that exists of those
 * that recovery_open_trace() tries beside the ring file.  Return the path of
 * the file, which may be in 'buf', or NULL if no file was opened.
 */
static const char *
open_begun(struct recovery *r, const char *rings, const char *trace,
	   char buf[sizeof(r->found->trace)])
{
	const char *const path = r->set.image->trace[0].path;
	const size_t nbytes = sizeof(r->found->trace);

	if (trace != NULL)
		return open_at(r, trace, ORIGIN_NAMED) ? trace : NULL;
	errno = ENOENT;
	if (path[0] != '\0') {
		if (!paths_beside(rings, paths_base(path), buf, nbytes))
			return NULL;
		if (open_at(r, buf, ORIGIN_BESIDE))
			return buf;
	}
	return errno == ENOENT && without_suffix(rings, buf, nbytes) &&
			       open_at(r, buf, ORIGIN_BESIDE)
		       ? buf
		       : NULL;
}

/*
 * Prepare to write the trace anew, since its first block, which begins with the
 * header, may be incomplete.
 */
enum hatf_status
recovery_begin_anew(struct recovery *r, const char *rings, const char *trace)
{
	struct image_commit *const c = &r->set.image->commit[0];
	char buf[sizeof(r->found->trace)];
	enum hatf_status status;
	bool compressed;

	trace = open_begun(r, rings, trace, buf);
	if (trace == NULL || !recovery_is_owners(r, &r->trace))
		return HATF_OK;
	/*
	 * The recorder writes to the trace only after it has written the header
	 * of the ring file.  So a ring file without a header cannot belong to a
	 * trace that is not empty.
	 */
	if (r->set.is_unwritten && r->trace.st.st_size != 0)
		return recovery_fail(r, HATF_BAD_RINGS, 0, "magic");
	if (r->trace.st.st_size == 0 && (r->flags & HATF_RECOVER_DRY_RUN) == 0)
		checked_file_remove(&r->trace);
	if (!recovery_has_header(r, r->trace.fd, &r->start_time))
		return HATF_OK;
	status = read_begun(r, &compressed);
	if (status == HATF_END || !set_trace(r, trace))
		return HATF_OK;
	if (status != HATF_OK)
		return status;
	/*
	 * The ring file has no commit, so '*c' is unused, and its members may
	 * have any values.  Replace all of them.
	 */
	*c = (struct image_commit){
		.level = compressed ? DEFLATE_LEVEL_DEFAULT : 0,
		.grain = 1,
		.threads = 1,
	};
	r->set.commit = c;
	return HATF_OK;
}
