/* SPDX-License-Identifier: MIT */
/* page_file.c - see page_file.h */
#include "tools/report/page_file.h"

#include "tools/report/page_bytes.h"
#include "tools/report/page_data.h"
#include "tools/report/page_json.h"
#include "tools/trace/spool.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Maximum number of bytes for the sites of all traces and their names.  The
 * whole page, with its program and all other figures, then stays below 5 MB.
 */
#define ROOM_NBYTES 3500000

/*
 * page_file_add() writes the page to memory, and page_file_end() copies it to
 * the file.  But if the output is standard output, page_file_add() writes the
 * page directly.  If the copy fails, as on a full disk, an existing file stays
 * unchanged, and a new file is removed.
 */
struct page_file {
	const char *path;
	unsigned trace_count;
	uint64_t room;	 /* bytes for the sites of each trace */
	int fd;		 /* descriptor of the file; -1: standard output */
	bool is_new;	 /* the file did not exist before */
	bool has_failed; /* a trace was written only in part */
	struct out out;
};

static struct page_parts
parts(void)
{
	return page_parts_of(page_bytes, page_bytes_end);
}

/*
 * Open the file, and the memory for the page.  Open the file this early so that
 * a wrong path is found before the traces are read.  Return false with errno on
 * failure.
 */
static bool
open_file(struct page_file *f)
{
	f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	f->is_new = f->fd >= 0;
	/* Keep O_CREAT, because the path may be a link to a missing file. */
	if (f->fd < 0 && errno == EEXIST)
		f->fd = open(f->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return false;
	f->out.fd = spool_memory();
	return f->out.fd >= 0;
}

/* Close the file; if it is new and the page is not written, remove it. */
static void
close_file(struct page_file *f, bool is_written)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->is_new && !is_written)
		unlink(f->path);
}

struct page_file *
page_file_begin(const char *path, unsigned trace_max)
{
	struct page_file *const f = calloc(1, sizeof(*f));

	if (f == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return NULL;
	}
	f->path = path;
	f->room = ROOM_NBYTES / trace_max;
	f->fd = -1;
	f->out.fd = STDOUT_FILENO;
	if (strcmp(path, "-") != 0 && !open_file(f)) {
		message_print("%s: %s", path, strerror(errno));
		close_file(f, false);
		free(f);
		return NULL;
	}
	return f;
}

/*
 * Before the first trace, write the part of the page before the data block, and
 * begin this block.  Before any other trace, write a comma.
 */
static void
begin_trace(struct page_file *f)
{
	if (f->trace_count++ > 0) {
		out_str(&f->out, ",");
		return;
	}
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

	if (sights == NULL) {
		message_print("%s: %s", message_path(trace),
			      hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	with_sights.watch = page_sights_see;
	with_sights.watch_ctx = sights;
	with_sights.pairs = true;
	with_sights.window.points_are_fine = true;
	g = gather_open(trace, &with_sights);
	if (g != NULL) {
		begin_trace(f);
		if (!page_data_write(&f->out, g, sights, f->room)) {
			message_print("%s: %s", message_path(trace),
				      hatf_status_text(HATF_NO_MEMORY));
			f->has_failed = true;
		} else if (g->fault != NULL) {
			message_print("%s: %s", message_path(trace), g->fault);
		} else {
			exit_status = EXIT_FINE;
		}
		site_names_report_wrappers(g->names, trace);
		gather_close(g);
	}
	page_sights_free(sights);
	free(sights);
	return exit_status;
}

/* Write the page from memory to the file. */
static bool
write_out(const struct page_file *f)
{
	const off_t nbytes = lseek(f->out.fd, 0, SEEK_END);
	char *map;
	bool ok;

	map = mmap(NULL, (size_t)nbytes, PROT_READ, MAP_SHARED, f->out.fd, 0);
	if (map == MAP_FAILED) {
		message_print("%s: %s", f->path, strerror(errno));
		return false;
	}
	ok = output_file_write(f->path, map, (size_t)nbytes);
	munmap(map, (size_t)nbytes);
	return ok;
}

bool
page_file_end(struct page_file *f)
{
	bool ok, has_page = f->trace_count > 0 && !f->has_failed;

	if (has_page) {
		out_str(&f->out, "]}");
		out_bytes(&f->out, parts().rest, parts().rest_nbytes);
	}
	out_flush(&f->out);
	ok = f->out.sys_errno == 0;
	if (!ok)
		message_print("%s: %s", f->fd < 0 ? "standard output" : f->path,
			      strerror(f->out.sys_errno));
	else if (has_page && f->fd >= 0)
		ok = write_out(f);
	if (f->fd >= 0)
		close(f->out.fd);
	close_file(f, ok && has_page);
	free(f);
	return ok;
}
