/* SPDX-License-Identifier: MIT */
/* symbolize_trace.c - see symbolize_trace.h */
#include "tools/symbols/symbolize_trace.h"

#include "tools/trace/rewrite.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ writing */

static enum hatf_status
write_expanded(void *context, const struct hatf_record *rec,
	       struct hatf_writer *writer)
{
	return expand_write(context, rec, writer);
}

/* Tell 'expand' what the addresses of the trace mean.  Keep the header. */
static char *
note_source(void *context, const struct hatf_reader *reader, char *header)
{
	expand_note_source(context, reader);
	return header;
}

/*
 * Is the trace uncompressed?  If the trace can be read only once, decide by its
 * name.
 */
static bool
is_plain(const char *path)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	const char *compression;
	struct stat st;

	/* A pipe can be read only once, so do not open it here. */
	if (strcmp(path, "-") == 0 || stat(path, &st) != 0 ||
	    !S_ISREG(st.st_mode) ||
	    hatf_reader_open(path, NULL, &reader, NULL) != HATF_OK)
		return hatf_format_of_path(path, &compression) != NULL &&
		       compression == NULL;
	hatf_reader_get_stats(reader, &stats);
	hatf_reader_close(reader);
	return !stats.compressed;
}

/*
 * Set the format, the compression and the callback of 'r', and rewrite the
 * trace.  Return the exit status.
 */
static int
write_with_names(struct rewrite *r, struct symbol_lookup *lookup,
		 struct expand_counts *counts_ret)
{
	struct expand *e;
	uint64_t new_id;
	int exit_status;

	*counts_ret = (struct expand_counts){ 0 };
	if (!expand_find_new_id(r->in, &new_id)) {
		message_print("%s: no ids are left for new frames",
			      message_path(r->in));
		return EXIT_BAD_INPUT;
	}
	e = expand_open(lookup, new_id);
	if (e == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return EXIT_BAD_INPUT;
	}
	r->options.format = "hatf";
	r->options.plain = is_plain(r->in);
	r->write = write_expanded;
	r->edit_header = note_source;
	r->context = e;
	exit_status = rewrite_trace(r);
	if (r->is_written && r->is_whole)
		exit_status = EXIT_FINE;
	expand_get_counts(e, counts_ret);
	expand_close(e);
	return exit_status;
}

int
symbolize_trace(const char *path, const char *out, struct symbol_lookup *lookup,
		struct expand_counts *counts_ret)
{
	struct rewrite r = { .in = path, .out = out };

	return write_with_names(&r, lookup, counts_ret);
}

/* ----------------------------------------------------------------- in place */

static const int ending_signals[] = { SIGHUP, SIGINT, SIGTERM };
#define SIGNAL_COUNT (sizeof(ending_signals) / sizeof(ending_signals[0]))

/*
 * Path of the new file while it is being written; remove_new_file() removes the
 * file.
 */
static const char *volatile new_file;

static void
remove_new_file(int number)
{
	const char *const path = new_file;

	if (path != NULL)
		unlink(path);
	/*
	 * Reset the handler only now, because the same signal may reach two
	 * threads.  The second thread must not end the process before the first
	 * thread has removed the file.
	 */
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * For each signal that ends the process, install a handler that removes 'path'.
 */
static void
begin_guard(const char *path, struct sigaction old[SIGNAL_COUNT])
{
	const struct sigaction action = { .sa_handler = remove_new_file };

	new_file = path;
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		sigaction(ending_signals[i], NULL, &old[i]);
		/* Keep ignoring a signal that is ignored, as under nohup. */
		if (old[i].sa_handler == SIG_DFL)
			sigaction(ending_signals[i], &action, NULL);
	}
}

static void
end_guard(const struct sigaction old[SIGNAL_COUNT])
{
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		sigaction(ending_signals[i], &old[i], NULL);
	new_file = NULL;
}

static void
block_signals(sigset_t *old_mask_ret)
{
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		sigaddset(&mask, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &mask, old_mask_ret);
}

/*
 * Give the new file the owner and the mode of the old file, and let it replace
 * the old file.
 */
static bool
take_place(const char *path, const char *new_path, int fd)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == geteuid() || fchown(fd, st.st_uid, st.st_gid) == 0) &&
	    fchmod(fd, st.st_mode & 0777) == 0 && rename(new_path, path) == 0)
		return true;
	message_print("%s: %s", message_path(path), strerror(errno));
	return false;
}

/*
 * Write the trace with names to 'fd', an empty file with the path 'new_path'.
 * Then let the new file replace the trace.  On failure remove the new file.
 * Return the exit status.
 */
static int
write_and_replace(const char *path, const char *new_path, int fd,
		  struct symbol_lookup *lookup, bool is_told,
		  struct expand_counts *counts_ret)
{
	struct rewrite r = { .in = path,
			     .options = { .fd = fd },
			     .is_told = is_told };
	int exit_status;

	exit_status = write_with_names(&r, lookup, counts_ret);
	/*
	 * If the new file lacks something, keep the old file.  The user may
	 * need the damaged part, or what the trailer says.
	 */
	if (r.is_written && exit_status != EXIT_FINE)
		message_print("%s: not changed, because it is damaged or "
			      "incomplete; to write its readable part to "
			      "another file, use -o",
			      message_path(path));
	if (exit_status == EXIT_FINE && !take_place(path, new_path, fd))
		exit_status = EXIT_BAD_INPUT;
	if (exit_status != EXIT_FINE)
		unlink(new_path);
	return exit_status;
}

int
symbolize_trace_in_place(const char *path, struct symbol_lookup *lookup,
			 bool is_told, struct expand_counts *counts_ret)
{
	/* Replace the file to which symbolic links lead, not a link. */
	char *const target = realpath(path, NULL);
	char *new_path = NULL;
	struct sigaction old[SIGNAL_COUNT];
	int exit_status = EXIT_BAD_INPUT;
	sigset_t old_mask;
	struct stat st;
	int fd = -1;

	*counts_ret = (struct expand_counts){ 0 };
	if (target != NULL && stat(target, &st) == 0 && !S_ISREG(st.st_mode)) {
		message_print(
			"%s: not a regular file; name the output file with -o",
			message_path(path));
		free(target);
		return EXIT_BAD_INPUT;
	}
	/* Block the signals until the handler has the path of the new file. */
	block_signals(&old_mask);
	if (target != NULL && asprintf(&new_path, "%s.XXXXXX", target) > 0)
		fd = mkostemp(new_path, O_CLOEXEC);
	if (fd < 0) {
		message_print("%s: %s", message_path(path), strerror(errno));
	} else {
		begin_guard(new_path, old);
		sigprocmask(SIG_SETMASK, &old_mask, NULL);
		exit_status = write_and_replace(target, new_path, fd, lookup,
						is_told, counts_ret);
		end_guard(old);
		close(fd);
	}
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	free(new_path);
	free(target);
	return exit_status;
}
