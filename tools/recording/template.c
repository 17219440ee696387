/* SPDX-License-Identifier: MIT */
/* template.c - see template.h */
#include "tools/recording/template.h"

#include "hatf/hatf.h"
#include "hatf/recorder/segment_name.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

bool
template_check(const char *option, const char *text)
{
	const size_t len = strlen(text);

	if (len == 0 || text[len - 1] == '/') {
		message_print("%s: not a file name: '%s'", option, text);
		return false;
	}
	for (const char *p = text; (p = strchr(p, '%')) != NULL; p += 2) {
		if (p[1] == '\0' || strchr("pehns%", p[1]) == NULL) {
			message_print(
				"%s: unknown conversion '%.2s' in '%s' (want "
				"%%p, %%e, %%h, %%n, %%s or %%%%)",
				option, p, text);
			return false;
		}
		if (p[1] == 's' && strchr(p, '/') != NULL) {
			message_print("%s: %%s cannot be in the name of a "
				      "directory: '%s'",
				      option, text);
			return false;
		}
	}
	return true;
}

char *
template_absolute(const char *text)
{
	char *result = NULL;
	size_t nbytes;

	if (text[0] == '/') {
		result = strdup(text);
	} else {
		char *const cwd = getcwd(NULL, 0);
		FILE *const f = open_memstream(&result, &nbytes);

		if (cwd == NULL || f == NULL) {
			message_print("cannot get the working directory: %s",
				      strerror(errno));
			return NULL;
		}
		/* Escape each '%' in the name of the working directory. */
		for (const char *p = cwd; *p != '\0'; p++)
			fprintf(f, *p == '%' ? "%%%%" : "%c", *p);
		fprintf(f, "/%s", text);
		free(cwd);
		if (fclose(f) != 0)
			result = NULL;
	}
	if (result == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return result;
}

/*
 * Copy the path of the template to 'dir', up to the last slash before the first
 * conversion.  The rest of the path may differ from process to process.
 */
static void
fixed_directory(const char *text, char *dir)
{
	size_t used = 0, slash = 0;

	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '/')
			slash = used;
		if (*p == '%' && *++p != '%')
			break;
		dir[used++] = *p;
	}
	/* If the directory is the root, keep its slash. */
	dir[slash != 0 ? slash : 1] = '\0';
}

/*
 * Write a page to 'fd', to see whether the file system has room, and close
 * 'fd'.  Return 0 or an errno value.
 */
static int
try_file(int fd)
{
	static const char page[4096];
	struct rlimit limit;
	int e = 0;

	/*
	 * Do not write if the page exceeds this limit, because SIGXFSZ would
	 * then end this process.
	 */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur < sizeof(page))
		e = EFBIG;
	else if (write(fd, page, sizeof(page)) < 0)
		e = errno;
	close(fd);
	return e;
}

/*
 * Create a named file and remove it, for file systems without unnamed files.
 * Return 0 or an errno value.
 */
static int
try_named(const char *dir)
{
	char *path;
	int fd, e;

	if (asprintf(&path, "%s/.hatf-record.XXXXXX", dir) < 0)
		return ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	e = fd < 0 ? errno : 0;
	if (fd >= 0) {
		unlink(path);
		e = try_file(fd);
	}
	free(path);
	return e;
}

/*
 * Create and write a test file in the directory.  Return 0 or an errno value.
 */
static int
try_directory(const char *dir)
{
	const int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return try_file(fd);
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return errno;
	return try_named(dir);
}

/*
 * If the template has no conversions, and its path is that of an existing file
 * that is not regular, print an error message and return false.
 */
static bool
check_existing(const char *text)
{
	char *const name = strdup(text);
	struct stat st;
	size_t used = 0;
	bool fixed = name != NULL;

	for (const char *p = text; *p != '\0' && fixed; p++) {
		fixed = *p != '%' || *++p == '%';
		name[used++] = *p;
	}
	if (fixed)
		name[used] = '\0';
	if (!fixed || stat(name, &st) != 0 || S_ISREG(st.st_mode)) {
		free(name);
		return true;
	}
	message_print("cannot write to %s: %s", name,
		      S_ISDIR(st.st_mode) ? strerror(EISDIR)
					  : "not a regular file");
	free(name);
	return false;
}

bool
template_directory_writable(const char *text)
{
	char *const dir = malloc(strlen(text) + 2);

	if (dir == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	fixed_directory(text, dir);

	const int e = try_directory(dir);

	if (e != 0)
		message_print("cannot write to directory %s: %s", dir,
			      strerror(e));
	free(dir);
	return e == 0 && check_existing(text);
}

int
template_directory_open(const char *text)
{
	char *const dir = malloc(strlen(text) + 2);
	int fd = -1;

	if (dir != NULL) {
		fixed_directory(text, dir);
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	free(dir);
	return fd;
}

bool
template_directory_stat(const char *text, struct stat *st_ret)
{
	char *const dir = malloc(strlen(text) + 2);
	bool found = false;

	if (dir != NULL) {
		fixed_directory(text, dir);
		found = stat(dir, st_ret) == 0;
	}
	free(dir);
	return found;
}

char *
template_pattern(const char *text, pid_t pid, bool segments)
{
	const char *const place = segments ? segment_name_place(text) : NULL;
	char *result = NULL;
	size_t nbytes;
	FILE *const f = open_memstream(&result, &nbytes);

	if (f == NULL)
		return NULL;
	for (const char *p = text;; p++) {
		if (segments && p == place)
			fputs(".s[0-9]*", f);
		if (*p == '\0')
			break;
		if (*p != '%') {
			/* Escape characters that are special to glob(). */
			if (strchr("*?[\\", *p) != NULL)
				fputc('\\', f);
			fputc(*p, f);
		} else if (*++p == '%') {
			fputc('%', f);
		} else if (*p == 'p' && pid != 0) {
			fprintf(f, "%d", (int)pid);
		} else {
			fputc('*', f);
		}
	}
	if (fclose(f) != 0) {
		free(result);
		return NULL;
	}
	return result;
}

const char *
template_short(const char *path)
{
	static char cwd[PATH_MAX];
	const size_t len = getcwd(cwd, sizeof(cwd)) != NULL ? strlen(cwd) : 0;

	if (len > 1 && strncmp(path, cwd, len) == 0 && path[len] == '/')
		return path + len + 1;
	return path;
}
