/* SPDX-License-Identifier: MIT */
/* trace_file.c - see trace_file.h */
#include "tools/metatf/trace_file.h"

#include "tools/trace/regular.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
complain(const char *path, const struct mtf_error *err)
{
	if (err->offset == MTF_NOWHERE && err->record == MTF_NOWHERE)
		message_print("%s: %s", path, err->text);
	else if (err->record == MTF_NOWHERE)
		message_print("%s: offset 0x%llx: %s", path,
			      (unsigned long long)err->offset, err->text);
	else
		message_print("%s: offset 0x%llx, record %llu: %s", path,
			      (unsigned long long)err->offset,
			      (unsigned long long)err->record, err->text);
}

/*
 * Open the DTD that the trace contains.  Set '*has_ret' to false if the trace
 * contains no DTD, and otherwise to true, even on an error.
 */
static bool
open_embedded(struct trace_file *t, bool *has_ret)
{
	struct mtf_error err;
	char name[PATH_MAX + 20];

	t->dtd.text = mtf_read_dtd(t->fd, &t->header, &t->dtd.nbytes, &err);
	*has_ret = t->dtd.text != NULL || err.has_failed;
	if (err.has_failed)
		complain(t->path, &err);
	if (t->dtd.text == NULL)
		return false;
	snprintf(name, sizeof(name), "%s: DTD", t->path);
	return dtd_file_parse(&t->dtd, name, t->dtd.text, t->dtd.nbytes);
}

/* Open the DTD file that the header names. */
static bool
open_named(struct trace_file *t)
{
	const char *name = t->header.dtd_name;
	const char *const slash = strrchr(t->path, '/');
	const int folder_nbytes =
		slash != NULL ? (int)(slash + 1 - t->path) : 0;
	char path[PATH_MAX];
	uid_t owner;
	int fd;

	if (name[0] == '\0') {
		message_print("%s: the trace names no DTD; give one with --dtd",
			      t->path);
		return false;
	}
	if (strncmp(name, "file:", 5) == 0)
		name += strncmp(name, "file://", 7) == 0 ? 7 : 5;
	else if (strstr(name, "://") != NULL) {
		message_print("%s: the DTD of this trace is %s: download that "
			      "file and name it with --dtd",
			      t->path, name);
		return false;
	}
	snprintf(path, sizeof(path), "%.*s%s",
		 name[0] == '/' ? 0 : folder_nbytes, t->path, name);
	fd = regular_open(path, &owner);
	if (fd < 0) {
		message_print("%s: cannot open its DTD %s: %s", t->path, path,
			      errno == EINVAL ? "not a regular file"
					      : strerror(errno));
		return false;
	}
	close(fd);
	return dtd_file_open(&t->dtd, path);
}

/*
 * Does the file begin like a text trace of mptrace?  Such traces are a separate
 * format (FORMATS.md, "mptrace").
 */
static bool
is_text(int fd)
{
	static const char begin[] = "## Tracename:";
	char bytes[sizeof(begin) - 1];

	return pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	       memcmp(bytes, begin, sizeof(bytes)) == 0;
}

/*
 * Copy a stream into a temporary file.  On an error, set errno and return
 * false.
 */
static bool
copy_stream(int from, FILE *to)
{
	char bytes[16384];
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) != 0) {
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0 && fwrite(bytes, 1, (size_t)n, to) != (size_t)n)
			return false;
	}
	return fflush(to) == 0;
}

/*
 * Open the file or, for standard input, a temporary copy.  The reader needs a
 * seekable file, because it reads several sections of the trace at the same
 * time.  On an error, set errno and return -1.
 */
static int
open_seekable(const char *path)
{
	FILE *copy;
	int fd = -1;

	if (strcmp(path, "-") != 0)
		return open(path, O_RDONLY | O_CLOEXEC);
	copy = tmpfile();
	if (copy == NULL)
		return -1;
	if (copy_stream(STDIN_FILENO, copy))
		fd = fcntl(fileno(copy), F_DUPFD_CLOEXEC, 0);
	fclose(copy);
	return fd;
}

bool
trace_file_open(struct trace_file *t, const char *path, const char *dtd_path)
{
	struct mtf_error err;
	bool has_own = false;

	*t = (struct trace_file){ .path = message_path(path), .fd = -1 };
	t->fd = open_seekable(path);
	if (t->fd < 0) {
		message_print("%s: %s", t->path, strerror(errno));
		return false;
	}
	if (!mtf_read_header(t->fd, &t->header, &err)) {
		if (is_text(t->fd))
			message_print(
				"%s: this command cannot read text traces "
				"of Meta-TF 1.2: use 'hatf dump'",
				t->path);
		else
			complain(t->path, &err);
		return false;
	}
	if (dtd_path != NULL) {
		if (!dtd_file_open(&t->dtd, dtd_path))
			return false;
	} else if (!open_embedded(t, &has_own) && (has_own || !open_named(t))) {
		return false;
	}
	t->reader = mtf_reader_open(t->fd, &t->header, t->dtd.schema);
	if (t->reader == NULL)
		message_print("%s: %s", t->path,
			      hatf_status_text(HATF_NO_MEMORY));
	return t->reader != NULL;
}

void
trace_file_close(struct trace_file *t)
{
	mtf_reader_close(t->reader);
	dtd_file_close(&t->dtd);
	if (t->fd >= 0)
		close(t->fd);
	*t = (struct trace_file){ .fd = -1 };
}

bool
trace_file_complain(const struct trace_file *t)
{
	const struct mtf_error *const err = mtf_reader_error(t->reader);

	if (err != NULL)
		complain(t->path, err);
	return err != NULL;
}
