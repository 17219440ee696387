/* SPDX-License-Identifier: MIT */
/* output.c - see output.h */

#include "preload/trace/output.h"

#include "hatf/recorder/segment_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "hatf/codec/comment_text.h"
#include "preload/sys/file.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

#define TRIES_MAX 100000u

/*
 * Maximum length of one component of the path, in bytes.  It leaves room to
 * append ".99999" and ".rings".
 */
#define PART_MAX (NAME_MAX - 12)

/*
 * A segment's number has at least this many digits, so that sorting the names
 * also sorts the numbers.
 */
#define SEGMENT_DIGITS 4

static void
add_segment(struct text *t, uint64_t segment)
{
	uint64_t limit = 10;

	for (unsigned i = 1; i < SEGMENT_DIGITS; i++, limit *= 10)
		if (segment < limit)
			text_str(t, "0");
	text_u64(t, segment);
}

/*
 * The values that conversions have in one file name.  The values that are the
 * same in all file names are in struct output_names.
 */
struct fill {
	uint64_t segment, number;
	size_t exe_nbytes; /* how many bytes of the executable's name to use */
};

/*
 * Append the value of one conversion.  Return true if the conversion is %n, the
 * running number.
 */
static bool
add_conversion(struct text *t, const struct output *o, char conversion,
	       const struct fill *f)
{
	switch (conversion) {
	case 'p':
		text_u64(t, o->names->pid);
		break;
	case 'e':
		text_bytes(t, o->names->exe, f->exe_nbytes);
		break;
	case 'h':
		text_str(t, o->names->host);
		break;
	case 's':
		add_segment(t, f->segment);
		break;
	case 'n':
		text_u64(t, f->number);
		return true;
	default:
		text_bytes(t, &conversion, 1);
	}
	return false;
}

/*
 * Is this conversion in the template before 'end'?  A letter after "%%" is no
 * conversion.
 */
static bool
has_conversion(const char *template, const char *end, char conversion)
{
	for (const char *p = template; p < end; p++)
		if (*p == '%' && *++p == conversion)
			return true;
	return false;
}

bool
output_has_pid(const char *template)
{
	return has_conversion(template, template + strlen(template), 'p');
}

/*
 * A component of a path has 'n' bytes, and contains the executable's name
 * 'exe_count' times.  Return how many bytes to cut from the name so that the
 * component has at most PART_MAX bytes.
 */
static size_t
part_excess(size_t n, size_t exe_count)
{
	return n > PART_MAX && exe_count != 0
		       ? (n - PART_MAX + exe_count - 1) / exe_count
		       : 0;
}

/*
 * Append the expanded template to 't'.  Set '*numbered_ret' to whether the
 * template contains the running number.  Return how many bytes to cut from the
 * executable's name so that each component of the path has at most PART_MAX
 * bytes.
 */
static size_t
expand(struct text *t, const struct output *o, const struct fill *f,
       bool *numbered_ret)
{
	const char *const end = o->template + strlen(o->template);
	const bool implied = (f->segment > 0 || o->numbers_all) &&
			     !has_conversion(o->template, end, 's');
	const char *const place =
		implied ? segment_name_place(o->template) : NULL;
	size_t from = t->used, excess = 0, exe_count = 0;

	*numbered_ret = false;
	for (const char *p = o->template;; p++) {
		if (p == place) {
			text_str(t, ".s");
			add_segment(t, f->segment);
		}
		if (*p == '/' || *p == '\0') {
			const size_t more =
				part_excess(t->used - from, exe_count);

			excess = more > excess ? more : excess;
			from = t->used + 1;
			exe_count = 0;
		}
		if (*p == '\0')
			return excess;
		if (*p != '%') {
			text_bytes(t, p, 1);
			continue;
		}
		exe_count += p[1] == 'e';
		*numbered_ret |= add_conversion(t, o, *++p, f);
	}
}

/*
 * Cut 'excess' bytes from the executable's name, or a few more so that no UTF-8
 * character is split.  Return false if nothing would be left of the name.
 */
static bool
shorten(struct fill *f, const char *exe, size_t excess)
{
	size_t n = excess < f->exe_nbytes ? f->exe_nbytes - excess : 0;

	while (n != 0 && (exe[n] & 0xc0) == 0x80)
		n--;
	if (n == 0)
		return false;
	f->exe_nbytes = n;
	return true;
}

/*
 * Build the file's path with this running number.  The path is absolute if the
 * working directory is known.  Return false if the path is too long.
 */
static bool
build_path(const struct output *o, uint64_t segment, uint64_t number,
	   char *path, size_t cap)
{
	struct fill f = { segment, number, strlen(o->names->exe) };
	struct text t;
	size_t excess;
	bool numbered;

	do {
		text_init(&t, path, cap - 1);
		text_str(&t, o->cwd);
		excess = expand(&t, o, &f, &numbered);
	} while (excess != 0 && shorten(&f, o->names->exe, excess));
	if (!numbered && number > 0) {
		text_str(&t, ".");
		text_u64(&t, number);
	}
	path[t.used] = '\0';
	return !t.full;
}

/* Return the identity of the calling thread's root directory. */
static struct file_id
root_id(void)
{
	struct stat st;

	return fstatat(AT_FDCWD, "/", &st, 0) == 0
		       ? (struct file_id){ st.st_dev, st.st_ino }
		       : (struct file_id){ 0 };
}

static uint64_t
soft_limit(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : 0;
}

const char *
output_advice(const struct output *o, int error, bool begin_now)
{
	const struct file_id root = root_id();

	if (begin_now)
		return "";
	/*
	 * Has the program itself lowered the limit that caused EMFILE or EFBIG?
	 */
	if ((error == EMFILE && soft_limit(RLIMIT_NOFILE) < o->file_limit) ||
	    (error == EFBIG && soft_limit(RLIMIT_FSIZE) < o->size_limit))
		return "; set HATFTRACE_BEGIN=now to begin the trace before "
		       "the program sets this limit";
	if (root.device != o->root.device || root.inode != o->root.inode)
		return "; the program has changed its root directory; set "
		       "HATFTRACE_BEGIN=now to begin the trace before that";
	return "";
}

void
output_init(struct output *o, const char *template, bool numbers_all)
{
	o->fd = o->directory = -1;
	o->nbytes = o->number = 0;
	o->id = (struct file_id){ 0 };
	o->root = root_id();
	o->file_limit = soft_limit(RLIMIT_NOFILE);
	o->size_limit = soft_limit(RLIMIT_FSIZE);
	o->is_torn = false;
	o->template = template;
	o->numbers_all = numbers_all;
	o->cwd[0] = '\0';
	if (template[0] == '/')
		return;

	const long n = syscall(SYS_getcwd, o->cwd, sizeof(o->cwd) - 1);

	/* If the working directory is unknown, use the relative name. */
	if (n <= 0 || o->cwd[0] != '/') {
		o->cwd[0] = '\0';
	} else if (n > 2) {
		o->cwd[n - 1] = '/';
		o->cwd[n] = '\0';
	}
}

void
output_copy(struct output *to, const struct output *from)
{
	memcpy(to, from, offsetof(struct output, cwd));
	memcpy(to->cwd, from->cwd, strlen(from->cwd) + 1);
	memcpy(to->path, from->path, strlen(from->path) + 1);
}

const char *
output_base(const struct output *o)
{
	const char *const slash = strrchr(o->path, '/');

	return slash != NULL ? slash + 1 : o->path;
}

/*
 * Return the name by which openat() and similar calls find 'path', and set
 * '*directory_ret' to the directory descriptor to pass with this name.
 */
static const char *
name_of(const struct output *o, const char *path, int *directory_ret)
{
	const char *const slash = strrchr(path, '/');
	const bool held = o->directory >= 0 && slash != NULL;

	*directory_ret = held ? o->directory : AT_FDCWD;
	return held ? slash + 1 : path;
}

static bool
is_regular(const struct output *o)
{
	struct stat st;
	int directory;
	const char *const name = name_of(o, o->path, &directory);

	return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

static int
create(const struct output *o)
{
	int directory;
	const char *const name = name_of(o, o->path, &directory);

	const int low = (int)syscall(SYS_openat, directory, name,
				     O_WRONLY | O_APPEND | O_CREAT | O_EXCL |
					     O_CLOEXEC | O_NOFOLLOW,
				     0600);
	struct file_id id;
	int fd, error;

	if (low < 0)
		return -1;
	id = file_id_of(low);
	fd = file_above_standard(low);
	error = errno;
	if (fd < 0)
		file_unlink(o->directory, o->path, &id);
	errno = error;
	return fd;
}

static bool
exists(const struct output *o)
{
	struct stat st;
	int directory;
	const char *const name = name_of(o, o->path, &directory);

	return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool
is_taken(struct output *o, uint64_t segment, uint64_t number)
{
	return build_path(o, segment, number, o->path, sizeof(o->path)) &&
	       exists(o);
}

/*
 * Return a number above 'taken' whose name is free.  It is the lowest such
 * number if the taken numbers have no gap.  Thousands of processes may share a
 * template without %p, so do not try each number: if n names are taken, the
 * search tries only about 2 log(n) of them.
 */
static uint64_t
find_free(struct output *o, uint64_t segment, uint64_t taken)
{
	uint64_t step = 1, free;

	while (step < TRIES_MAX && is_taken(o, segment, taken + step)) {
		taken += step;
		step *= 2;
	}
	free = taken + step;
	while (free - taken > 1) {
		const uint64_t middle = taken + (free - taken) / 2;

		if (is_taken(o, segment, middle))
			taken = middle;
		else
			free = middle;
	}
	return free;
}

int
output_find_name(struct output *o, uint64_t segment)
{
	if (is_taken(o, segment, o->number))
		o->number = find_free(o, segment, o->number);
	return build_path(o, segment, o->number, o->path, sizeof(o->path))
		       ? 0
		       : ENAMETOOLONG;
}

int
output_reopen_trace(const struct output *o)
{
	const int fd = file_reopen(o->path, &o->id, O_WRONLY | O_APPEND);
	struct stat st;

	/*
	 * Another file may have got the inode number of a removed file, so also
	 * compare the size.
	 */
	if (fd < 0 ||
	    (fstat(fd, &st) == 0 && (uint64_t)st.st_size == o->nbytes))
		return fd;
	syscall(SYS_close, fd);
	errno = ESTALE;
	return -1;
}

int
output_open(struct output *o, uint64_t segment)
{
	uint64_t number = o->number;
	int fd = -1;

	/*
	 * Another process may take the name that was free a moment ago, so try
	 * again.
	 */
	for (unsigned tries = 0; fd < 0 && tries < TRIES_MAX; tries++) {
		if (!build_path(o, segment, number, o->path, sizeof(o->path)))
			return ENAMETOOLONG;
		fd = create(o);
		if (fd < 0 && errno != EEXIST)
			return errno;
		if (fd < 0 && !is_regular(o))
			return EEXIST;
		if (fd < 0)
			number = find_free(o, segment, number);
	}
	if (fd < 0)
		return EEXIST;
	o->number = number;
	o->fd = fd;
	o->nbytes = 0;
	o->is_torn = false;
	o->id = file_id_of(fd);
	return 0;
}

void
output_hold_directory(struct output *o)
{
	const char *const end = strrchr(o->template, '/');

	/*
	 * Do not keep the directory open if its name contains %n, because the
	 * next file may then need another directory.
	 */
	if (end != NULL && has_conversion(o->template, end, 'n'))
		return;
	o->directory = file_open_folder(o->path);
	if (o->directory < 0 || o->fd < 0)
		return;
	/*
	 * Keep the directory open only if it contains the file.  Otherwise the
	 * directory was renamed meanwhile, or this thread has another root
	 * directory.
	 */
	if (file_is_at(o->directory, output_base(o), &o->id))
		return;
	syscall(SYS_close, o->directory);
	o->directory = -1;
}

/*
 * Is the template up to 'end' expanded in the same way for all files of the
 * trace?
 */
static bool
is_lasting(const struct output *o, const char *end)
{
	return !has_conversion(o->template, end, 'n') &&
	       !has_conversion(o->template, end, 's');
}

/*
 * Count the folders at the start of the template that all files of the trace
 * share.
 */
static unsigned
count_lasting(const struct output *o)
{
	unsigned n = 0;

	for (const char *p = o->template; *p != '\0' && is_lasting(o, p); p++)
		n += *p == '/';
	return n;
}

int
output_open_root(const struct output *o)
{
	/*
	 * Static, since it is too large for a stack.  Only the thread that does
	 * the writer's work uses it.
	 */
	MEMORY_LARGE static char root[sizeof(o->path)];
	const char *end = o->path + strlen(o->cwd);

	for (unsigned n = count_lasting(o); n > 0 && *end != '\0'; end++)
		n -= *end == '/';
	memcpy(root, o->path, (size_t)(end - o->path));
	root[end - o->path] = '\0';
	return file_open_folder(root);
}

void
output_forget(struct output *o)
{
	o->fd = o->directory = -1;
}

int
output_write(struct output *o, const void *data, size_t nbytes)
{
	const char *next = data;
	size_t left = nbytes;
	int error = 0;

	while (left > 0) {
		const long n = syscall(SYS_write, o->fd, next, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			error = n < 0 ? errno : EIO;
			/*
			 * Our own write has raised SIGXFSZ, so the program must
			 * not get this signal.
			 */
			if (error == EFBIG)
				sys_take_back_signal(SIGXFSZ);
			break;
		}
		next += n;
		left -= (size_t)n;
	}
	/*
	 * Remove the part of 'data' that was written, since the next write
	 * would append to it.
	 */
	if (error != 0 && left != nbytes) {
		o->is_torn = syscall(SYS_ftruncate, o->fd, o->nbytes) != 0;
		if (!o->is_torn)
			left = nbytes;
	}
	o->nbytes += nbytes - left;
	return error;
}

bool
output_is_removed(const struct output *o)
{
	struct stat st;

	return fstat(o->fd, &st) == 0 && st.st_nlink == 0;
}

void
output_close(struct output *o)
{
	if (o->fd >= 0)
		syscall(SYS_close, o->fd);
	o->fd = -1;
}

void
output_discard(struct output *o)
{
	file_unlink(o->directory, o->path, &o->id);
	output_close(o);
}

void
output_remove(const struct output *o, uint64_t segment, uint64_t number,
	      const struct file_id *id)
{
	/*
	 * Static, since it is too large for a stack.  Only the thread that does
	 * the writer's work uses it.
	 */
	MEMORY_LARGE static char path[sizeof(o->path)];

	if (build_path(o, segment, number, path, sizeof(path)))
		file_unlink(o->directory, path, id);
}
