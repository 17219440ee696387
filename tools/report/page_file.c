/* SPDX-License-Identifier: MIT */
/* page_file.c - see page_file.h */
#include "tools/report/page_file.h"

#include "tools/report/page_bytes.h"
#include "tools/report/page_data.h"
#include "tools/report/page_json.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct page_file {
	const char *path;
	unsigned trace_count;
	bool is_new; /* the file did not exist before */
	struct out out;
};

static struct page_parts
parts(void)
{
	return page_parts_of(page_bytes, page_bytes_end);
}

struct page_file *
page_file_begin(const char *path)
{
	struct page_file *const f = calloc(1, sizeof(*f));

	if (f == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return NULL;
	}
	f->path = path;
	f->is_new = access(path, F_OK) != 0;
	f->out.fd = strcmp(path, "-") == 0
			    ? STDOUT_FILENO
			    : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (f->out.fd < 0) {
		message_print("%s: %s", message_path(path), strerror(errno));
		free(f);
		return NULL;
	}
	return f;
}

/* Write the part of the page before the data block. */
static void
begin_trace(struct page_file *f)
{
	if (f->trace_count++ > 0) {
		out_str(&f->out, ",");
		return;
	}
	/*
	 * Truncate the file only now: if no trace can be read, an old page must
	 * stay.
	 */
	if (f->out.fd != STDOUT_FILENO && ftruncate(f->out.fd, 0) != 0 &&
	    errno != EINVAL)
		f->out.sys_errno = errno;
	out_bytes(&f->out, parts().head, parts().head_nbytes);
	out_str(&f->out, "{\"version\":1");
	page_put_named(&f->out, "generator", "hatf " HATF_VERSION);
	out_str(&f->out, ",\"traces\":[");
}

int
page_file_add(struct page_file *f, const char *trace,
	      const struct gather_options *options)
{
	struct page_sights *const sights = calloc(1, sizeof(*sights));
	struct gather_options with_sights = *options;
	struct gathering *g;
	int exit_status = EXIT_BAD_INPUT;

	with_sights.watch = page_sights_see;
	with_sights.watch_ctx = sights;
	g = sights != NULL ? gather_open(trace, &with_sights) : NULL;
	if (g != NULL) {
		begin_trace(f);
		if (!page_data_write(&f->out, g, sights))
			message_print("%s: %s", message_path(trace),
				      hatf_status_text(HATF_NO_MEMORY));
		else if (g->fault != NULL)
			message_print("%s: %s", message_path(trace), g->fault);
		else
			exit_status = EXIT_FINE;
		gather_close(g);
	}
	if (sights != NULL)
		page_sights_free(sights);
	free(sights);
	return exit_status;
}

bool
page_file_end(struct page_file *f)
{
	int sys_errno;

	if (f->trace_count > 0) {
		out_str(&f->out, "]}");
		out_bytes(&f->out, parts().rest, parts().rest_nbytes);
	} else if (f->is_new && f->out.fd != STDOUT_FILENO) {
		unlink(f->path);
	}
	out_flush(&f->out);
	sys_errno = f->out.sys_errno;
	if (f->out.fd != STDOUT_FILENO && close(f->out.fd) != 0 &&
	    sys_errno == 0)
		sys_errno = errno;
	if (sys_errno != 0)
		message_print("%s: %s", message_path(f->path),
			      strerror(sys_errno));
	free(f);
	return sys_errno == 0;
}
