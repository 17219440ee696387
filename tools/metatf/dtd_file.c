/* SPDX-License-Identifier: MIT */
/* dtd_file.c - see dtd_file.h */
#include "tools/metatf/dtd_file.h"

#include "hatf/metatf/trace/mtf_reader.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
dtd_file_complain(const char *name, const struct dtd_error *err)
{
	if (err->place.line == 0)
		message_print("%s: %s", name, err->text);
	else
		message_print("%s:%u:%u: %s", name, err->place.line,
			      err->place.column, err->text);
}

/* The context of print_note(): the name of the DTD that the notes show. */
struct noted {
	const char *name;
};

static void
print_note(void *ctx, struct dtd_place place, const char *text)
{
	const struct noted *const noted = ctx;

	message_print("%s:%u:%u: note: %s", noted->name, place.line,
		      place.column, text);
}

bool
dtd_file_parse(struct dtd_file *d, const char *name, const char *text,
	       size_t nbytes)
{
	struct noted noted = { name };
	struct dtd_error err;

	d->dtd = dtd_parse(text, nbytes, &err);
	if (d->dtd != NULL)
		d->schema = schema_open(
			d->dtd, d->has_notes ? print_note : NULL, &noted, &err);
	if (d->schema == NULL)
		dtd_file_complain(name, &err);
	return d->schema != NULL;
}

/* Read a file to its end, but at most one byte more than a DTD may have. */
static bool
read_all(int fd, struct dtd_file *d)
{
	const size_t most = DTD_MAX_NBYTES + 1;
	ssize_t n = 1;

	d->text = malloc(most);
	while (d->text != NULL && d->nbytes < most && n > 0) {
		n = read(fd, d->text + d->nbytes, most - d->nbytes);
		if (n > 0)
			d->nbytes += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	return d->text != NULL && n >= 0;
}

/* Do the bytes that were read begin like a trace? */
static bool
is_trace(const struct dtd_file *d)
{
	static const char magic[4] = { 0x7f, 'M', 'T', 'F' };

	return d->nbytes >= sizeof(magic) &&
	       memcmp(d->text, magic, sizeof(magic)) == 0;
}

/* Replace the bytes of a trace by the text of the DTD in the trace. */
static bool
take_embedded(struct dtd_file *d, int fd, const char *name)
{
	struct mtf_header header;
	struct mtf_error err;

	free(d->text);
	d->text = NULL;
	if (mtf_read_header(fd, &header, &err))
		d->text = mtf_read_dtd(fd, &header, &d->nbytes, &err);
	if (d->text == NULL)
		message_print("%s: %s", name,
			      err.has_failed
				      ? err.text
				      : "the trace does not contain its DTD: "
					"name the DTD's file instead");
	return d->text != NULL;
}

bool
dtd_file_open(struct dtd_file *d, const char *path)
{
	const bool is_stdin = strcmp(path, "-") == 0;
	const int fd =
		is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && read_all(fd, d);

	if (!ok)
		message_print("%s: %s", message_path(path), strerror(errno));
	else
		ok = (!is_trace(d) ||
		      take_embedded(d, fd, message_path(path))) &&
		     dtd_file_parse(d, message_path(path), d->text, d->nbytes);
	if (fd >= 0 && !is_stdin)
		close(fd);
	return ok;
}

void
dtd_file_close(struct dtd_file *d)
{
	schema_close(d->schema);
	dtd_close(d->dtd);
	free(d->text);
	*d = (struct dtd_file){ 0 };
}
