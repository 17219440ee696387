/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recover.c - any ring file beside a small trace
 *
 * recover_world.h makes both from an input.  The target recovers both files,
 * first as a dry run, and checks:
 *
 *   - A dry run changes nothing, and finds what the real one does.
 *   - After an error the trace is unchanged; other files never change.
 *   - A recovered trace can be read to its trailer, unless the input made up
 *     the ring file's header, on which the rest of the trace depends.
 *   - A trace that has its header, and no commit, is recovered.
 */
#include "fuzz.h"
#include "hatf/hatf.h"
#include "recover_world.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#define BEGUN_MAX 128

static struct image *const image = (struct image *)world_file;

static char dir[64];

/* A trace with nothing but its header. */
struct begun {
	uint8_t bytes[3 + BEGUN_MAX];
	size_t nbytes;
};

static struct begun
begin_other(unsigned start, unsigned segment)
{
	char text[BEGUN_MAX];
	const size_t n = world_put_header(text, sizeof(text), start, segment);
	struct begun b = { { HATF_COMMENT, 0, (uint8_t)n }, 3 + n };

	memcpy(b.bytes + 3, text, n);
	return b;
}

/* File names; the folder of the second exists if a ring file may be in it. */
enum name {
	TRACE,
	RINGS_NEAR,
	RINGS_FAR,
	NEXT,
	OTHER,
	NAME_COUNT
};
static const char *const names[NAME_COUNT] = {
	"trace", "trace.rings", "far/a.rings", "next", "other",
};

static const char *
path_of(enum name name)
{
	static char paths[NAME_COUNT][128];

	snprintf(paths[name], sizeof(paths[name]), "%s/%s", dir, names[name]);
	return paths[name];
}

static void
put_file(enum name name, const void *bytes, size_t nbytes)
{
	const int fd =
		open(path_of(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		     S_IRUSR | S_IWUSR);
	struct stat st;

	fuzz_check(fd >= 0);
	/* The field that distinguishes a ring file from its copy. */
	if (name == RINGS_FAR && (world.options & WITH_COPY) == 0) {
		fuzz_check(fstat(fd, &st) == 0);
		image->file_dev = st.st_dev;
		image->file_ino = st.st_ino;
		world_set_path(&image->trace[0], path_of(TRACE));
	}
	fuzz_append(fd, bytes, nbytes);
	close(fd);
}

/* Return whether the file exists and has these bytes. */
static bool
is_same(enum name name, const void *bytes, size_t nbytes)
{
	static uint8_t buf[TRACE_MAX];
	FILE *const f = fopen(path_of(name), "re");
	size_t n;

	if (f == NULL)
		return false;
	n = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	return n == nbytes && memcmp(buf, bytes, n) == 0;
}

static bool
is_there(enum name name)
{
	return access(path_of(name), F_OK) == 0;
}

/* No file may be left, and no other file created. */
static void
remove_files(void)
{
	for (enum name name = 0; name < NAME_COUNT; name++)
		unlink(path_of(name));

	char far[96];

	snprintf(far, sizeof(far), "%s/far", dir);
	fuzz_check(rmdir(far) == 0);
	fuzz_check(rmdir(dir) == 0);
}

static void
make_folders(void)
{
	char far[96];

	strcpy(dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/hatf.XXXXXX"
						  : "/tmp/hatf.XXXXXX");
	fuzz_check(mkdtemp(dir) != NULL);
	snprintf(far, sizeof(far), "%s/far", dir);
	fuzz_check(mkdir(far, S_IRWXU) == 0);
}

static void
check_same(const struct hatf_recovery *a, const struct hatf_recovery *b)
{
	fuzz_check(strcmp(a->trace, b->trace) == 0 && a->pid == b->pid);
	fuzz_check(a->had_trailer == b->had_trailer);
	fuzz_check(a->complete == b->complete);
	fuzz_check(a->event_count == b->event_count);
	fuzz_check(a->recovered == b->recovered);
	fuzz_check(a->cut_nbytes == b->cut_nbytes);
	fuzz_check(a->lost_count == b->lost_count);
}

/* Return the final status of the trace. */
static enum hatf_status
read_trace(const char *path)
{
	static struct hatf_event events[256];
	struct hatf_reader *reader;
	struct hatf_events *stage;
	enum hatf_status status = hatf_reader_open(path, NULL, &reader, NULL);
	size_t n;

	if (status != HATF_OK)
		return status;
	fuzz_check(hatf_events_open(reader, &stage) == HATF_OK);
	while ((status = hatf_events_read(stage, events, 256, &n)) == HATF_OK)
		;
	hatf_events_close(stage);
	hatf_reader_close(reader);
	return status;
}

/*
 * Return whether it has its header, which identifies it, and only its own data.
 */
static bool
is_begun(void)
{
	const unsigned where = WITHOUT_COMMIT | WITH_DEFLATE | WITH_ELSEWHERE;
	const size_t nbytes = begin_other(1, 0).nbytes;

	return (world.options & where) == WITHOUT_COMMIT && !world.is_torn &&
	       !world.has_false_header && world.trace.output.nbytes >= nbytes;
}

static void
check_recovered(enum name rings, const struct hatf_recovery *found)
{
	fuzz_check(!is_there(rings));
	if (found->trace[0] == '\0') {
		fuzz_check(!is_begun());
		return;
	}
	const enum hatf_status status = read_trace(found->trace);

	if (world.has_false_header)
		return;
	fuzz_check(status == HATF_END);
	fuzz_check(strcmp(found->trace, path_of(TRACE)) == 0);
	fuzz_check(is_there(NEXT) == !world.is_announced);
}

static void
recover(enum name rings)
{
	const char *const trace =
		(world.options & WITH_TRACE) != 0 ? path_of(TRACE) : NULL;
	const unsigned flags =
		(world.options & WITH_FORCE) != 0 ? HATF_RECOVER_FORCE : 0;
	const struct begun next = begin_other(1, 1), other = begin_other(2, 1);
	struct hatf_recovery dry = { .struct_nbytes = sizeof(dry) };
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	enum hatf_status status;
	struct hatf_error err;
	char text[512];

	status = hatf_recover(path_of(rings), trace,
			      flags | HATF_RECOVER_DRY_RUN, &dry, &err);
	fuzz_check(err.status == status);
	fuzz_check(is_same(TRACE, world.bytes, world.trace.output.nbytes));
	fuzz_check(is_same(rings, world_file, world.rings_nbytes));
	fuzz_check(is_same(NEXT, next.bytes, next.nbytes));
	fuzz_check(hatf_recover(path_of(rings), trace, flags, &found, &err) ==
		   status);
	fuzz_check(err.status == status);
	check_same(&dry, &found);
	if (status == HATF_OK) {
		check_recovered(rings, &found);
	} else {
		hatf_error_text(&err, text, sizeof(text));
		fuzz_check(
			is_same(TRACE, world.bytes, world.trace.output.nbytes));
		fuzz_check(is_same(rings, world_file, world.rings_nbytes));
		fuzz_check(is_same(NEXT, next.bytes, next.nbytes));
	}
	/*
	 * The other trace is unchanged, unless the ring file named it as its
	 * own.
	 */
	if (strcmp(found.trace, path_of(OTHER)) != 0)
		fuzz_check(is_same(OTHER, other.bytes, other.nbytes));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	const struct begun next = begin_other(1, 1), other = begin_other(2, 1);
	enum name rings;

	world_make(data, nbytes);
	rings = (world.options & WITH_ELSEWHERE) != 0 ? RINGS_FAR : RINGS_NEAR;
	make_folders();
	put_file(TRACE, world.bytes, world.trace.output.nbytes);
	put_file(NEXT, next.bytes, next.nbytes);
	put_file(OTHER, other.bytes, other.nbytes);
	world_apply_patches();
	put_file(rings, world_file, world.rings_nbytes);
	recover(rings);
	remove_files();
	return 0;
}
