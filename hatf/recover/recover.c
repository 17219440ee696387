/* SPDX-License-Identifier: MIT */
/*
 * recover.c - what a killed process left in its rings, into its trace
 *
 * The rings are drained once more, by the code that did it while the process
 * lived: order.c puts them in order, narrate.c makes records of them.  It goes on
 * where the last commit ended (image.h), so it can begin again at any time: the ring
 * file stays as it is until the trace with its trailer is on the disk.
 */
#include "hatf/deflate/deflate.h"
#include "hatf/hatf.h"
#include "hatf/io/checked_file.h"
#include "hatf/io/paths.h"
#include "hatf/recover/intact_blocks.h"
#include "hatf/recover/ringfile_read.h"
#include "hatf/rings/narrate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A process that has been killed needs a moment to end. */
#define LOCK_TRIES  50
#define LOCK_NAP_NS 20000000l

struct recovery {
	struct ringset set;
	struct narrator *narrator;
	void *memory; /* the narrator's */
	uint8_t *member, *work;
	size_t member_cap;
	int level;
	/* To be written anew; NULL: the trace has what was committed. */
	char *header;
	size_t header_nbytes;
	struct checked_file rings, trace;
	unsigned flags;
	uint64_t events_before;
	bool is_short; /* the trace lacks some of what was committed ... */
	struct remains remains; /* ... and this is there */
	bool is_counting;	/* nothing is written, only counted */
	bool other_boot;
	bool is_in_place; /* the ring file is no copy */
	uid_t owner;	  /* of the ring file, and so of all that is touched */
	uint64_t start_time;
	struct hatf_recovery *found;
	struct hatf_error *err;
};

static enum hatf_status
fail(struct recovery *r, enum hatf_status status, uint64_t offset,
     const char *field)
{
	*r->err = (struct hatf_error){
		.status = status,
		.sys_errno = status == HATF_IO ? errno : 0,
		.offset = offset,
		.file_offset = offset,
		.field = field,
	};
	return status;
}

/* --------------------------------------------------------- the ring file */

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
		return fail(r, HATF_OTHER_BOOT, 0, NULL);
	return HATF_OK;
}

/* Fields of /proc/PID/stat, counted from the third, which is the state. */
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
 * Is the process that made the ring file still there?  It may be that of another
 * process namespace, or another one has its number now: so the time of its start
 * has to be the same.
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
	/* The name before it may hold anything. */
	at = strrchr(line, ')');
	if (at == NULL || at[1] != ' ' || ticks == 0)
		return false;
	at += 2;
	if (*at == 'X' || *at == 'x' ||
	    /* Nobody has waited for it; its other threads may go on. */
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
 * The recorder holds a lock as long as it lives.  There may be no such locks, and
 * a copy of its file has none, so the process is looked for as well.
 */
static enum hatf_status
lock(struct recovery *r)
{
	const struct timespec nap = { 0, LOCK_NAP_NS };

	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (!is_locked(r->rings.fd) &&
		    (r->other_boot || !is_alive(r->set.image)))
			return HATF_OK;
		nanosleep(&nap, NULL);
	}
	return fail(r, HATF_IN_USE, 0, NULL);
}

static enum hatf_status
open_rings(struct recovery *r, const char *path)
{
	struct stat st;
	enum hatf_status status;

	if (!checked_file_open(&r->rings, path, O_RDWR))
		return errno == ENOTSUP ? fail(r, HATF_BAD_RINGS, 0, "file")
					: fail(r, HATF_IO, 0, NULL);
	status = ringset_read_header(&r->set, r->rings.fd, r->err);
	if (status != HATF_OK)
		return status;
	r->found->pid = r->set.image->pid;
	status = check_boot(r);
	if (status == HATF_OK)
		status = lock(r);
	ringset_fini(&r->set);
	if (status != HATF_OK)
		return status;
	/* Another recovery may have been first. */
	errno = ENOENT;
	if (fstat(r->rings.fd, &st) != 0 || st.st_nlink == 0)
		return fail(r, HATF_IO, 0, NULL);
	/* What somebody else wrote is not to be done in our name. */
	errno = EPERM;
	if (geteuid() != 0 && st.st_uid != geteuid())
		return fail(r, HATF_IO, 0, NULL);
	r->owner = st.st_uid;
	status = ringset_read(&r->set, r->rings.fd,
			      (r->flags & HATF_RECOVER_FORCE) != 0, r->err);
	if (status != HATF_OK)
		return status;
	r->is_in_place = r->set.image->file_dev == st.st_dev &&
			 r->set.image->file_ino == st.st_ino;
	return HATF_OK;
}

/* -------------------------------------------------------------- the trace */

/*
 * Whoever could write the ring file must gain nothing by what is done to
 * another one.
 */
static bool
is_owners(const struct recovery *r, const struct checked_file *f)
{
	return f->st.st_uid == r->owner;
}

/*
 * Does the file have a header, and is it that of the ring file's process?  Then
 * '*start_ret' is when it was traced from.
 */
static bool
has_header(const struct recovery *r, int fd, uint64_t *start_ret)
{
	struct hatf_reader *reader;
	struct hatf_record record;
	const char *pid = NULL, *start = NULL;
	size_t n;
	bool is;

	if (lseek(fd, 0, SEEK_SET) != 0 ||
	    hatf_reader_open_fd(fd, 0, &reader, NULL) != HATF_OK)
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

/* Of the name too long, that is false. */
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

/* Who names the trace's path? */
enum trace_place {
	PLACE_NAMED,	/* the user */
	PLACE_BESIDE,	/* the ring file, and the trace is in its folder */
	PLACE_ELSEWHERE /* the ring file, and the trace is anywhere */
};

static bool
open_at(struct recovery *r, const char *path, enum trace_place place)
{
	switch (place) {
	case PLACE_NAMED:
		return checked_file_open(&r->trace, path, O_RDWR);
	case PLACE_BESIDE:
		return checked_file_open_in(&r->trace, r->rings.dir_fd,
					    paths_base(path), O_RDWR);
	case PLACE_ELSEWHERE:
		break;
	}
	return checked_file_open_untrusted(&r->trace, path, O_RDWR, r->owner);
}

/* Take 'path' if it is the trace; HATF_OTHER_RINGS if it is another file. */
static enum hatf_status
try_trace(struct recovery *r, const char *path, enum trace_place place)
{
	if (!set_trace(r, path))
		return fail(r, HATF_OTHER_RINGS, 0, NULL);
	if (!open_at(r, path, place))
		return errno == ENOTSUP ? fail(r, HATF_OTHER_RINGS, 0, NULL)
					: fail(r, HATF_IO, 0, NULL);
	/* Whatever the ring file says, nothing else is written to. */
	if (is_owners(r, &r->trace) &&
	    has_header(r, r->trace.fd, &r->start_time) &&
	    ringset_is_begun_by(&r->set, r->trace.fd)) {
		*r->err = (struct hatf_error){ .status = HATF_OK };
		return HATF_OK;
	}
	checked_file_close(&r->trace);
	return fail(r, HATF_OTHER_RINGS, 0, NULL);
}

/* The name of the ring file without its end: both may have been renamed. */
static bool
without_suffix(const char *rings, char *buf, size_t nbytes)
{
	const size_t n = strlen(rings), m = strlen(HATF_RINGS_SUFFIX);

	if (n <= m || n - m >= nbytes ||
	    strcmp(rings + n - m, HATF_RINGS_SUFFIX) != 0)
		return false;
	memcpy(buf, rings, n - m);
	buf[n - m] = '\0';
	return true;
}

/* Beside the ring file by its name then or by that of the ring file; or where it
 * was. */
static enum hatf_status
open_trace(struct recovery *r, const char *rings, const char *trace)
{
	const char *const path = r->set.image->trace[r->set.commit->trace].path;
	char near[sizeof(r->found->trace)], like[sizeof(r->found->trace)];
	enum hatf_status status = HATF_IO;
	struct hatf_error first;

	if (trace != NULL)
		return try_trace(r, trace, PLACE_NAMED);
	if (!paths_beside(rings, paths_base(path), near, sizeof(near)))
		return fail(r, HATF_OTHER_RINGS, 0, NULL);
	status = try_trace(r, near, PLACE_BESIDE);
	first = *r->err;
	if (status == HATF_OK)
		return status;
	if (without_suffix(rings, like, sizeof(like)) &&
	    try_trace(r, like, PLACE_BESIDE) == HATF_OK)
		return HATF_OK;
	/* A copy is not about a trace of elsewhere, which may be going on. */
	if (r->is_in_place && try_trace(r, path, PLACE_ELSEWHERE) == HATF_OK)
		return HATF_OK;
	/* The first one is where a user would look. */
	set_trace(r, near);
	*r->err = first;
	return status;
}

/*
 * Is all there that was committed?  If not, how much is?  A recovery that was
 * interrupted may have added to that: then a block ends elsewhere.
 */
static enum hatf_status
check_length(struct recovery *r)
{
	const uint64_t committed = r->set.commit->nbytes;
	struct remains *const left = &r->remains;
	enum hatf_status status;
	struct stat st;

	if (fstat(r->trace.fd, &st) != 0)
		return fail(r, HATF_IO, 0, NULL);

	const uint64_t nbytes = (uint64_t)st.st_size;

	r->is_short =
		nbytes < committed || !remains_end_at(r->trace.fd, committed);
	if (!r->is_short) {
		r->found->cut_nbytes = nbytes - committed;
		return HATF_OK;
	}
	status = remains_read(r->trace.fd, left);
	if (status == HATF_TRUNCATED ||
	    (status == HATF_OK && !left->has_trailer &&
	     left->file_nbytes >= committed))
		return fail(r, HATF_OTHER_RINGS, nbytes, "end of file");
	if (status != HATF_OK)
		return fail(r, status, 0, NULL);
	r->found->cut_nbytes = nbytes - left->file_nbytes;
	if (left->file_nbytes < committed)
		r->found->gap_nbytes = committed - left->file_nbytes;
	return HATF_OK;
}

/*
 * Read what there is of a trace that has no event yet: its header, into r->header,
 * and perhaps the rest of its first block.  HATF_END: there is more, or less.
 */
static enum hatf_status
read_begun(struct recovery *r, bool *compressed_ret)
{
	struct hatf_reader *reader;
	struct hatf_reader_stats stats;
	struct hatf_record rec;
	enum hatf_status status;
	bool is_begun, no_memory;
	size_t n;

	if (lseek(r->trace.fd, 0, SEEK_SET) != 0 ||
	    hatf_reader_open_fd(r->trace.fd, 0, &reader, NULL) != HATF_OK)
		return HATF_END;
	/* Attributes live until the next read; stop at the first event. */
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
		return fail(r, HATF_NO_MEMORY, 0, NULL);
	return is_begun ? HATF_OK : HATF_END;
}

/*
 * Open the file that may be the trace of a process which has committed nothing,
 * by the names that open_trace() tries beside the ring file.  Returns its path,
 * which may be in 'buf', or NULL.
 */
static const char *
open_begun(struct recovery *r, const char *rings, const char *trace,
	   char buf[sizeof(r->found->trace)])
{
	const char *const path = r->set.image->trace[0].path;
	const size_t nbytes = sizeof(r->found->trace);

	if (trace != NULL)
		return open_at(r, trace, PLACE_NAMED) ? trace : NULL;
	if (!paths_beside(rings, paths_base(path), buf, nbytes))
		return NULL;
	if (open_at(r, buf, PLACE_BESIDE))
		return buf;
	return errno == ENOENT && without_suffix(rings, buf, nbytes) &&
			       open_at(r, buf, PLACE_BESIDE)
		       ? buf
		       : NULL;
}

/*
 * Killed before the first commit, and so before the first event.  If the trace has
 * its header already, make up the commit that would have come before that, since
 * the block may be torn; a file without anything in it is no trace, and goes.
 */
static enum hatf_status
begin_anew(struct recovery *r, const char *rings, const char *trace)
{
	struct image_commit *const c = &r->set.image->commit[0];
	char buf[sizeof(r->found->trace)];
	enum hatf_status status;
	bool compressed;

	trace = open_begun(r, rings, trace, buf);
	if (trace == NULL || !is_owners(r, &r->trace))
		return HATF_OK;
	if (r->trace.st.st_size == 0 && (r->flags & HATF_RECOVER_DRY_RUN) == 0)
		checked_file_remove(&r->trace);
	if (!has_header(r, r->trace.fd, &r->start_time))
		return HATF_OK;
	status = read_begun(r, &compressed);
	if (status == HATF_END || !set_trace(r, trace))
		return HATF_OK;
	if (status != HATF_OK)
		return status;
	/* Nobody has written it, nor looked at what is there. */
	*c = (struct image_commit){
		.level = compressed ? DEFLATE_LEVEL_DEFAULT : 0,
		.grain = 1,
		.threads = 1,
	};
	r->set.commit = c;
	return HATF_OK;
}

/* ----------------------------------------------------------------- blocks */

static enum hatf_status
write_all(struct recovery *r, const void *data, size_t nbytes)
{
	const char *next = data;

	while (nbytes > 0) {
		const ssize_t n = write(r->trace.fd, next, nbytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(r, HATF_IO, 0, NULL);
		next += n;
		nbytes -= (size_t)n;
	}
	return HATF_OK;
}

/* The first failure stays in r->err, and nothing is written after it. */
static void
end_block(struct recovery *r)
{
	struct encoder *const e = &r->narrator->encoder;
	const void *data = e->buf;
	size_t nbytes;

	if (!r->narrator->in_block)
		return;
	encoder_end(e);
	nbytes = e->used;
	if (r->level != 0 && !r->is_counting) {
		nbytes = deflate_member(r->level, r->work, e->buf, nbytes,
					r->member, r->member_cap);
		data = r->member;
	}
	if (r->err->status == HATF_OK && !r->is_counting &&
	    (r->flags & HATF_RECOVER_DRY_RUN) == 0)
		write_all(r, data, nbytes);
	encoder_reset(e);
	r->narrator->in_block = false;
}

static void
take_event(void *context, const struct order_source *source,
	   const struct event *ev)
{
	struct recovery *const r = context;

	if (narrate_is_full(r->narrator))
		end_block(r);
	narrate_event(r->narrator, source, ev);
}

/* The narrator as it is there. */
static void
go_on_from(struct recovery *r, const struct image_commit *c)
{
	struct narrator *const n = r->narrator;

	narrate_init(n, r->memory);
	n->encoder.has_sums = r->level == 0;
	n->timeline = n->far_timeline = c->timeline;
	n->unit_ns = (uint32_t)c->unit_ns;
	n->grain = (uint32_t)c->grain;
	n->is_stamped = (c->flags & IMAGE_COMMIT_STAMPED) != 0;
	n->event_count = r->events_before = c->event_count;
	n->lost_count = c->lost_count;
	n->time = c->time;
	n->time_stamp = c->time_stamp;
	n->encoder.block_count = c->block_count;
	n->encoder.stream_nbytes = c->stream_nbytes;
	/* By tag they are not known, nor asked for. */
	n->encoder.record_count[HATF_COMMENT] = c->record_count;
	if (r->header != NULL)
		encoder_comment(&n->encoder, r->header, r->header_nbytes);
}

/* The narrator as it was at the last commit. */
static enum hatf_status
prepare(struct recovery *r)
{
	const struct image_commit *const c = r->set.commit;
	size_t cap;

	r->level = c->level < DEFLATE_LEVEL_MAX ? (int)c->level
						: DEFLATE_LEVEL_MAX;
	r->narrator =
		aligned_alloc(64, (sizeof(*r->narrator) + 63) & ~(size_t)63);
	r->memory = aligned_alloc(64, narrate_memory_nbytes());
	if (r->narrator == NULL || r->memory == NULL)
		return fail(r, HATF_NO_MEMORY, 0, NULL);
	go_on_from(r, c);
	cap = r->narrator->encoder.cap;
	if (r->level != 0) {
		deflate_load();
		r->member_cap = deflate_bound(cap);
		r->member = malloc(r->member_cap);
		r->work = aligned_alloc(
			64, (deflate_work_nbytes(r->level) + 63) & ~(size_t)63);
		if (r->member == NULL || r->work == NULL)
			return fail(r, HATF_NO_MEMORY, 0, NULL);
	}
	return HATF_OK;
}

/* By how much the rate of a line of that length may be too high. */
#define SLOPE_ERROR_NS 1000

/*
 * The line ends at the last reading of the clocks.  Extend it to the last stamp
 * with a slope that is rather too small than too large.  One reading alone
 * tells no slope.
 */
static void
extend_line(struct recovery *r)
{
	const struct image_reading *const last =
		image_last_reading(r->set.image);
	struct timeline *const l = &r->narrator->timeline;
	const uint64_t stamp = r->set.stamp_max;
	double more;

	if (last != NULL)
		timeline_add(l, last->stamp, last->ns, 0);
	if (stamp <= l->stamp1 || l->ns1 - l->ns0 <= SLOPE_ERROR_NS)
		return;
	more = (double)(stamp - l->stamp1) * l->slope *
	       (1 - SLOPE_ERROR_NS / (double)(l->ns1 - l->ns0));
	/* A year, in a program that went astray. */
	if (more < 3.2e16)
		timeline_add(l, stamp, l->ns1 + (uint64_t)more, UINT64_MAX / 2);
}

static bool
drain(struct recovery *r)
{
	const uint32_t n = r->set.count;
	struct order_source **const sources =
		calloc(2 * (size_t)n + 1, sizeof(struct order_source *));
	struct order order;

	if (sources == NULL)
		return false;
	order_init(&order, sources + n, n, take_event, r);
	for (uint32_t i = 0; i < n; i++) {
		sources[i] = &r->set.rings[i].source;
		order.open_count += sources[i]->realloc_open;
	}
	order_round(&order, sources, n, UINT64_MAX, true);
	free(sources);
	return true;
}

/* What the writer thread says of each thread and of losses at the end. */
static void
tell_rest(struct recovery *r)
{
	struct narrator *const n = r->narrator;
	const uint64_t stamp = n->timeline.stamp1;
	const uint64_t unattached =
		r->set.image->unattached - r->set.commit->unattached;

	for (uint32_t i = 0; i < r->set.count; i++) {
		const struct ringset_ring *const ring = &r->set.rings[i];

		if (narrate_is_full(n))
			end_block(r);
		if (ring->lost_count != 0)
			narrate_lost(n, &ring->source, ring->lost_count,
				     ring->lost_first, stamp);
		if (ring->source.is_dead && !ring->is_gone && !ring->is_nested)
			narrate_thread_end(n, &ring->source, stamp);
	}
	if (r->set.image->unattached > r->set.commit->unattached)
		narrate_lost(n, NULL, unattached, n->timeline.stamp0, stamp);
}

static uint64_t
excess(uint64_t n, uint64_t over)
{
	return n > over ? n - over : 0;
}

/*
 * The narrator knows by now how many events there were.  Go back to what is left of
 * the trace and tell how many it lacks: all that came after the gap, too, since no
 * reader could make sense of that.
 */
static void
tell_gap(struct recovery *r)
{
	struct narrator *const n = r->narrator;
	const struct remains *const left = &r->remains;
	const uint64_t missing = excess(n->event_count, left->event_count) +
				 excess(n->lost_count, left->lost_count);
	struct image_commit at = *r->set.commit;

	at.event_count = left->event_count;
	at.lost_count = left->lost_count;
	at.record_count = left->record_count;
	at.block_count = left->block_count;
	at.stream_nbytes = left->stream_nbytes;
	at.timeline = n->timeline;
	at.time = left->time;
	at.time_stamp = at.timeline.stamp0;
	go_on_from(r, &at);
	r->is_counting = false;
	if (missing != 0)
		narrate_lost(n, NULL, missing, at.time_stamp,
			     at.timeline.stamp1);
}

/* How the process ended, as far as the caller knows. */
static const char *
end_name(unsigned flags)
{
	if ((flags & HATF_RECOVER_EXITED) != 0)
		return "raw_exit";
	return (flags & HATF_RECOVER_KILLED) != 0 ? "killed" : "abrupt";
}

static void
tell_end(struct recovery *r)
{
	const struct image_commit *const c = r->set.commit;
	struct narrate_trailer end = {
		.name = end_name(r->flags),
		.threads = c->threads,
		.waits = c->waits,
		.wait_ns = c->wait_ns,
		.cpu_ns = c->cpu_ns,
		.missed = (c->flags & IMAGE_COMMIT_MISSED) != 0
				  ? "calls went past the recorder"
				  : NULL,
		.is_recovered = true,
		.is_incomplete = r->set.is_cut || r->other_boot ||
				 r->is_short || r->set.image->hidden != 0,
		.recovered = r->narrator->event_count - r->events_before,
	};

	for (uint32_t i = 0; i < r->set.count; i++)
		if (r->set.rings[i].source.id >= end.threads &&
		    r->set.rings[i].source.id != UINT64_MAX)
			end.threads = r->set.rings[i].source.id + 1;
	narrate_trailer(r->narrator, &end);
	r->found->complete = r->narrator->lost_count == 0 &&
			     !end.is_incomplete && end.missed == NULL;
	r->found->event_count = r->narrator->event_count;
	r->found->recovered = end.recovered;
	r->found->lost_count = r->narrator->lost_count;
}

/* ------------------------------------------------------------------- all */

/* Cut off what is not committed, append what is missing. */
static enum hatf_status
complete(struct recovery *r)
{
	const bool dry = (r->flags & HATF_RECOVER_DRY_RUN) != 0;
	const off_t nbytes = (off_t)(r->is_short ? r->remains.file_nbytes
						 : r->set.commit->nbytes);
	const enum hatf_status status = prepare(r);

	if (status != HATF_OK)
		return status;
	if (!dry && (ftruncate(r->trace.fd, nbytes) != 0 ||
		     lseek(r->trace.fd, nbytes, SEEK_SET) < 0))
		return fail(r, HATF_IO, 0, NULL);
	r->is_counting = r->is_short;
	extend_line(r);
	if (!drain(r))
		return fail(r, HATF_NO_MEMORY, 0, NULL);
	tell_rest(r);
	if (r->is_short)
		tell_gap(r);
	tell_end(r);
	end_block(r);
	if (r->err->status == HATF_OK && !dry && fsync(r->trace.fd) != 0)
		return fail(r, HATF_IO, 0, NULL);
	return r->err->status;
}

/*
 * Remove the file beside the trace that the process began as the next one, if
 * it is empty or has the same start as the trace.  Another file of that name is
 * left alone.
 */
static void
remove_announced(const struct recovery *r)
{
	const struct image *const image = r->set.image;
	const struct image_trace *const t =
		&image->trace[r->set.commit->trace ^ 1];
	struct checked_file f;
	uint64_t start = 0;

	if (t->announced_seq != image->seq || t->path[0] == '\0' ||
	    !checked_file_open_in(&f, r->trace.dir_fd, paths_base(t->path),
				  O_RDONLY))
		return;
	if (!checked_file_is_same(&f.st, &r->trace.st) && is_owners(r, &f) &&
	    (f.st.st_size == 0 ||
	     (has_header(r, f.fd, &start) && start == r->start_time)))
		checked_file_remove(&f);
	checked_file_close(&f);
}

/* Nothing in it is needed any more. */
static enum hatf_status
remove_rings(struct recovery *r)
{
	return checked_file_remove(&r->rings) ? HATF_OK
					      : fail(r, HATF_IO, 0, NULL);
}

static enum hatf_status
recover(struct recovery *r, const char *rings, const char *trace)
{
	const bool dry = (r->flags & HATF_RECOVER_DRY_RUN) != 0;
	enum hatf_status status = open_rings(r, rings);

	if (status != HATF_OK)
		return status;
	if (r->set.commit == NULL) {
		status = begin_anew(r, rings, trace);
		if (status == HATF_OK && r->set.commit == NULL && !dry)
			return remove_rings(r);
		if (status != HATF_OK || r->set.commit == NULL)
			return status;
	} else {
		status = open_trace(r, rings, trace);
		if (status == HATF_OK)
			status = check_length(r);
	}
	if (status != HATF_OK)
		return status;
	if (r->is_short && r->remains.has_trailer) {
		/* A recovery wrote that, and was interrupted then. */
		r->found->had_trailer = true;
		r->found->event_count = r->remains.event_count;
		r->found->lost_count = r->remains.lost_count;
	} else if (!r->is_short &&
		   (r->set.commit->flags & IMAGE_COMMIT_ENDED) != 0 &&
		   r->set.word_count == 0 && r->found->cut_nbytes == 0) {
		r->found->had_trailer = true;
		r->found->complete =
			r->set.commit->lost_count == 0 &&
			(r->set.commit->flags & IMAGE_COMMIT_MISSED) == 0;
		r->found->event_count = r->set.commit->event_count;
	} else {
		status = complete(r);
	}
	if (status != HATF_OK || dry)
		return status;
	remove_announced(r);
	return remove_rings(r);
}

enum hatf_status
hatf_recover(const char *rings, const char *trace, unsigned flags,
	     struct hatf_recovery *recovery_ret, struct hatf_error *err)
{
	struct recovery r = {
		.rings = CHECKED_FILE_NONE,
		.trace = CHECKED_FILE_NONE,
		.flags = flags,
		.found = recovery_ret,
		.err = err,
	};
	enum hatf_status status;

	*recovery_ret = (struct hatf_recovery){ .pid = 0 };
	*err = (struct hatf_error){ .status = HATF_OK };
	status = recover(&r, rings, trace);
	ringset_fini(&r.set);
	free(r.header);
	free(r.narrator);
	free(r.memory);
	free(r.member);
	free(r.work);
	checked_file_close(&r.trace);
	/* With it goes the lock. */
	checked_file_close(&r.rings);
	return status;
}
