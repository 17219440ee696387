/* SPDX-License-Identifier: MIT */
/* recover.c - hatf recover: complete the traces of killed processes */
#include "hatf/hatf.h"
#include "tools/commands/commands.h"
#include "tools/trace/operand.h"
#include "tools/trace/scan.h"
#include "tools/trace/trailer.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	OPT_DRY_RUN,
	OPT_FORCE,
	OPT_RINGS,
};

static const struct opt options[] = {
	{ "dry-run", 'n', NULL, "report what would be done, change nothing" },
	{ "force", 'f', NULL,
	  "also accept a ring file from before the last start of\n"
	  "the system or from another machine, and the readable\n"
	  "part of a damaged one" },
	{ "rings", 'r', "PATH", "the ring file, or its directory" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf recover",
	"[--dry-run] [--force] [--rings PATH] FILE|DIR...",
	"Complete the trace of a killed process.  The missing events are in\n"
	"a ring file, beside the trace or where HATFTRACE_RINGS put it.\n"
	"Append them to the trace in a possible order, with a trailer, and\n"
	"remove the ring file.  FILE is a trace or a ring file.  DIR stands\n"
	"for all ring files and traces in it.  Traces of live processes are\n"
	"not changed.\n",
	"Exit status: 0 if every trace is now complete, 1 if not, 2 for wrong\n"
	"usage.\n",
	false,
	options
};

/* Identifies the file of a trace, which may have several paths. */
struct file_id {
	dev_t dev;
	ino_t ino;
};

struct recover {
	unsigned flags; /* flags for hatf_recover() */
	const char *rings;
	/* the incomplete traces that were already reported */
	struct file_id *reported;
	size_t reported_count;
};

static bool
ends_in(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

/* Is 'path' a pipe or a device?  Opening a pipe may block for ever. */
static bool
is_stream(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Remember that a line about this incomplete trace was printed. */
static void
note_reported(struct recover *c, const char *trace)
{
	struct file_id *const more =
		reallocarray(c->reported, c->reported_count + 1, sizeof(*more));
	struct stat st;

	if (more == NULL)
		return;
	c->reported = more;
	if (stat(trace, &st) == 0)
		more[c->reported_count++] =
			(struct file_id){ st.st_dev, st.st_ino };
}

static bool
was_reported(const struct recover *c, const char *trace)
{
	struct stat st;

	if (stat(trace, &st) != 0)
		return false;
	for (size_t i = 0; i < c->reported_count; i++)
		if (c->reported[i].dev == st.st_dev &&
		    c->reported[i].ino == st.st_ino)
			return true;
	return false;
}

static bool
is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/*
 * For a trace that has its trailer, return the text to print after the path.
 */
static const char *
text_of_ended(bool complete)
{
	return complete ? ": was complete"
			: ": not complete, but nothing can be recovered: the "
			  "trace has its trailer";
}

static void
report(const struct recover *c, const char *rings,
       const struct hatf_recovery *found)
{
	struct out *const o = out_stdout();
	const bool is_dry_run = (c->flags & HATF_RECOVER_DRY_RUN) != 0;

	if (found->trace[0] == '\0') {
		out_text(o, rings);
		/* Without a header, the ring file has no process id. */
		out_str(o, found->pid == 0
				   ? ": the process had not begun to use it\n"
				   : ": the process had recorded nothing\n");
		return;
	}
	out_text(o, found->trace);
	if (found->had_trailer) {
		out_str(o, text_of_ended(found->complete));
		out_str(o, "\n");
		return;
	}
	out_printf(o, ": %" PRIu64 " event%s %s, %" PRIu64 " in all",
		   found->recovered, figure_plural(found->recovered),
		   is_dry_run ? "to recover" : "recovered", found->event_count);
	if (found->gap_nbytes != 0)
		out_printf(o,
			   "; the trace had lost its last %" PRIu64
			   " bytes (power loss?)",
			   found->gap_nbytes);
	else if (found->cut_nbytes != 0)
		out_printf(o, ", %" PRIu64 " byte%s of a half-written block %s",
			   found->cut_nbytes, figure_plural(found->cut_nbytes),
			   is_dry_run ? "to replace" : "replaced");
	if (found->lost_count != 0)
		out_printf(o, ", %" PRIu64 " lost", found->lost_count);
	out_str(o, found->complete ? ", complete\n" : ", not complete\n");
}

static void
complain(const char *rings, const char *trace,
	 const struct hatf_recovery *found, const struct hatf_error *err)
{
	const char *const named = trace != NULL ? trace : found->trace;
	char buf[256];

	switch (err->status) {
	case HATF_BAD_RINGS:
	case HATF_LIMIT:
		message_print("%s: offset 0x%" PRIx64 ": %s: %s", rings,
			      err->file_offset, err->field,
			      hatf_status_text(err->status));
		break;
	case HATF_IN_USE:
		message_print("%s: process %" PRIu64 ": %s", rings, found->pid,
			      hatf_status_text(err->status));
		break;
	case HATF_OTHER_BOOT:
		message_print("%s: %s (see --force)", rings,
			      hatf_status_text(err->status));
		break;
	case HATF_OTHER_RINGS:
		/*
		 * If 'field' is set, the length or the content of the trace is
		 * not as the ring file states.
		 */
		if (err->field != NULL)
			message_print("%s: cannot be completed, because its "
				      "length or content is not as %s states",
				      named, rings);
		else
			message_print("%s: not the trace to which %s belongs",
				      named, rings);
		break;
	case HATF_IO:
		/* If the ring file exists, the missing file is the trace. */
		if (err->sys_errno == ENOENT && named[0] != '\0' &&
		    is_there(rings)) {
			message_print("%s: %s; if the trace is gone, %s is "
				      "useless and can be removed",
				      named, strerror(ENOENT), rings);
			break;
		}
		__attribute__((fallthrough));
	default:
		message_print("%s: %s", named[0] != '\0' ? named : rings,
			      message_error_text(err, buf, sizeof(buf)));
	}
}

static int
recover_from(struct recover *c, const char *rings, const char *trace)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_error err;

	if (hatf_recover(rings, trace, c->flags, &found, &err) != HATF_OK) {
		complain(rings, trace, &found, &err);
		return EXIT_BAD_INPUT;
	}
	report(c, rings, &found);
	/*
	 * Flush now, to keep the order of the lines if stdout and stderr are
	 * the same file.
	 */
	out_flush(out_stdout());
	if (found.complete || found.trace[0] == '\0')
		return EXIT_FINE;
	note_reported(c, found.trace);
	return EXIT_BAD_INPUT;
}

/*
 * If a ring file has the name of this trace and belongs to another trace, print
 * "; x.s0000.hatf.gz.rings belongs to x.s0003.hatf.gz".
 */
static void
tell_owner(const char *trace)
{
	struct hatf_rings rings = { .struct_nbytes = sizeof(rings) };
	struct hatf_error err;
	char path[PATH_MAX];
	const char *slash;
	const int n =
		snprintf(path, sizeof(path), "%s" HATF_RINGS_SUFFIX, trace);

	if (n < 0 || (size_t)n >= sizeof(path) ||
	    hatf_rings_get(path, &rings, &err) != HATF_OK ||
	    rings.trace[0] == '\0')
		return;
	slash = strrchr(rings.trace, '/');
	out_str(out_stdout(), "; ");
	out_text(out_stdout(), path);
	out_str(out_stdout(), " belongs to ");
	out_text(out_stdout(), slash != NULL ? slash + 1 : rings.trace);
}

/*
 * Report a trace whose ring file was not found.  A trace that has its trailer
 * needs none.  Return EXIT_FINE if the trace is complete.
 */
static int
judge_trace(const char *trace)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hatf_record records[64];
	struct hatf_error err;
	enum hatf_status status;
	size_t n;

	status = hatf_reader_open(trace, NULL, &reader, &err);
	if (status != HATF_OK) {
		message_error(trace, &err);
		return EXIT_BAD_INPUT;
	}
	while ((status = hatf_reader_read(reader, records, 64, &n)) == HATF_OK)
		;
	hatf_reader_get_stats(reader, &stats);
	if (status == HATF_END) {
		out_text(out_stdout(), trace);
		out_str(out_stdout(), text_of_ended(stats.complete));
		tell_owner(trace);
		out_str(out_stdout(), "\n");
		out_flush(out_stdout());
	} else {
		message_print(
			"%s: cannot be read to its end, and its ring file "
			"was not found (see --rings)",
			trace);
	}
	hatf_reader_close(reader);
	return status == HATF_END && stats.complete ? EXIT_FINE
						    : EXIT_BAD_INPUT;
}

/* Find the ring file of 'trace' in 'dir', the directory of --rings. */
static bool
find_there(const char *dir, const char *trace, char *path, size_t nbytes)
{
	const char *const slash = strrchr(trace, '/');
	const int n = snprintf(path, nbytes, "%s/%s" HATF_RINGS_SUFFIX, dir,
			       slash != NULL ? slash + 1 : trace);

	return n > 0 && (size_t)n < nbytes && is_there(path);
}

/* Find the ring file of a trace, and store its path in 'path'. */
static bool
find_rings(const struct recover *c, const char *trace, char *path,
	   size_t nbytes)
{
	return (c->rings != NULL && operand_type(c->rings) == S_IFDIR &&
		find_there(c->rings, trace, path, nbytes)) ||
	       hatf_rings_find(trace, path, nbytes);
}

static int
recover_file(struct recover *c, const char *file)
{
	char path[PATH_MAX];

	if (is_stream(file)) {
		message_print("%s: not a regular file", message_path(file));
		return EXIT_BAD_INPUT;
	}
	if (ends_in(file, HATF_RINGS_SUFFIX))
		return recover_from(c, file, NULL);
	if (c->rings != NULL && operand_type(c->rings) != S_IFDIR)
		return recover_from(c, c->rings, file);
	if (find_rings(c, file, path, sizeof(path)))
		return recover_from(c, path, file);
	return judge_trace(file);
}

/*
 * Is 'path' a trace of our recorder, or a copy of such a trace?  Print no
 * message if not.
 */
static bool
is_recorded(const char *path)
{
	struct hatf_reader *const reader = scan_found(path);
	bool is;

	if (reader == NULL)
		return false;
	is = strcmp(hatf_reader_format(reader), "hatf") == 0 &&
	     hatf_reader_header(reader, "start_monotonic") != NULL;
	hatf_reader_close(reader);
	return is;
}

/*
 * Handle a file in a directory, after all ring files there.  If the file is a
 * trace with a trailer, report the trace unless it is complete.  If the file is
 * a trace without a trailer, its ring file decides:
 *
 * - in the same directory: do nothing, because the ring file was handled
 *   before, successfully or not;
 * - in another directory: recover the trace;
 * - not found: report the trace.
 */
static int
judge_file(struct recover *c, const char *path)
{
	struct trailer tail;
	char rings[PATH_MAX];

	if (!is_recorded(path))
		return EXIT_FINE;
	if (trailer_read(path, true, &tail)) {
		/*
		 * 'hatf convert' writes "source incomplete" into its copy of an
		 * incomplete trace.  Do not report such a copy.
		 */
		if (tail.complete || strcmp(tail.end, "source incomplete") == 0)
			return EXIT_FINE;
		if (!was_reported(c, path)) {
			out_text(out_stdout(), path);
			out_str(out_stdout(), text_of_ended(false));
			out_str(out_stdout(), "\n");
			out_flush(out_stdout());
		}
		return EXIT_BAD_INPUT;
	}
	if (find_rings(c, path, rings, sizeof(rings))) {
		const char *const slash = strrchr(path, '/');
		const size_t n = (size_t)(slash - path);

		/*
		 * A ring file in the same directory as the trace was handled
		 * before.  Handle a ring file in another directory now.
		 */
		if (strncmp(rings, path, n + 1) == 0 &&
		    strchr(rings + n + 1, '/') == NULL)
			return EXIT_FINE;
		return recover_from(c, rings, path);
	}
	message_print("%s: has no trailer, and its ring file was not found "
		      "(see --rings)",
		      path);
	return EXIT_BAD_INPUT;
}

static int
is_ring_file(const struct dirent *entry)
{
	return ends_in(entry->d_name, HATF_RINGS_SUFFIX);
}

static int
is_other_file(const struct dirent *entry)
{
	return !is_ring_file(entry);
}

static int
recover_ring_file(struct recover *c, const char *path)
{
	return recover_from(c, path, NULL);
}

/* Handle each entry of 'dir' that 'select' accepts. */
static int
for_each(struct recover *c, const char *dir,
	 int (*select)(const struct dirent *entry),
	 int (*handle)(struct recover *c, const char *path))
{
	struct dirent **entries;
	const int n = scandir(dir, &entries, select, alphasort);
	int exit_status = EXIT_FINE;

	if (n < 0) {
		message_print("%s: %s", dir, strerror(errno));
		return EXIT_BAD_INPUT;
	}
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		const int length = snprintf(path, sizeof(path), "%s/%s", dir,
					    entries[i]->d_name);

		if (length < 0 || (size_t)length >= sizeof(path)) {
			message_print("%s/%s: %s", dir, entries[i]->d_name,
				      strerror(ENAMETOOLONG));
			exit_status = EXIT_BAD_INPUT;
		} else if (handle(c, path) != EXIT_FINE) {
			exit_status = EXIT_BAD_INPUT;
		}
		free(entries[i]);
	}
	free(entries);
	return exit_status;
}

static int
recover_directory(struct recover *c, const char *dir)
{
	int exit_status = for_each(c, dir, is_ring_file, recover_ring_file);

	if (for_each(c, dir, is_other_file, judge_file) != EXIT_FINE)
		exit_status = EXIT_BAD_INPUT;
	return exit_status;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct recover *const c = ctx;

	if (idx == OPT_RINGS)
		c->rings = value;
	else
		c->flags |= idx == OPT_FORCE ? HATF_RECOVER_FORCE
					     : HATF_RECOVER_DRY_RUN;
	return true;
}

int
command_recover(int argc, char **argv)
{
	struct recover c = { .flags = 0 };
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &c, &exit_status);

	if (first < 0)
		return exit_status;
	if (first == argc)
		return opt_complain(&page, "a FILE or DIR is missing");
	for (int i = first; i < argc && !out_failed(out_stdout()); i++) {
		const int status = operand_type(argv[i]) == S_IFDIR
					   ? recover_directory(&c, argv[i])
					   : recover_file(&c, argv[i]);

		if (status != EXIT_FINE)
			exit_status = EXIT_BAD_INPUT;
	}
	free(c.reported);
	return out_finish(out_stdout(), exit_status);
}
