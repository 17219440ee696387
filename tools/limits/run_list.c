/* SPDX-License-Identifier: MIT */
/* run_list.c - see run_list.h */
#include "tools/limits/run_list.h"

#include "hatf/hatf.h"
#include "tools/limits/processes.h"
#include "tools/trace/operand.h"
#include "tools/ui/message.h"

#include <stdlib.h>
#include <string.h>

static bool
no_memory(void)
{
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}

static void
free_traces(struct run_traces *run)
{
	for (size_t i = 0; i < run->path_count; i++)
		free(run->paths[i]);
	free(run->paths);
}

/* Append a run with copies of the paths. */
static bool
append(struct run_list *runs, const char *const *paths, size_t n,
       bool is_rotated)
{
	struct run_traces run = { .is_rotated = is_rotated };
	bool ok;

	run.paths = calloc(n, sizeof(*run.paths));
	ok = run.paths != NULL;
	while (ok && run.path_count < n) {
		run.paths[run.path_count] = strdup(paths[run.path_count]);
		ok = run.paths[run.path_count] != NULL;
		run.path_count += ok;
	}
	if (ok && runs->count == runs->cap) {
		const size_t cap = runs->cap != 0 ? 2 * runs->cap : 16;
		struct run_traces *const list =
			reallocarray(runs->list, cap, sizeof(*list));

		ok = list != NULL;
		if (ok) {
			runs->list = list;
			runs->cap = cap;
		}
	}
	if (!ok) {
		free_traces(&run);
		return no_memory();
	}
	runs->list[runs->count++] = run;
	return true;
}

/* What the header of a file says. */
struct kind {
	bool names_process; /* a trace, not a snapshot, with its process */
	bool is_segment;
};

/*
 * Read the header of a file.  Nothing is known of a pipe, because its header
 * can be read only once, and of a file that cannot be read; the function that
 * reads the run will report the error.
 */
static struct kind
kind_of(const char *path)
{
	struct hatf_reader *reader;
	struct kind kind = { .is_segment = false };
	struct hatf_error err;

	if (strcmp(path, "-") == 0 || operand_type(path) != S_IFREG ||
	    hatf_reader_open(path, NULL, &reader, &err) != HATF_OK)
		return kind;
	kind.names_process = hatf_reader_header(reader, "pid") != NULL &&
			     hatf_reader_header(reader, "snapshot_of") == NULL;
	kind.is_segment = kind.names_process &&
			  hatf_reader_header(reader, "segment") != NULL;
	hatf_reader_close(reader);
	return kind;
}

/* 'is_rotated': see struct run_traces; it is set for several paths, too. */
static bool
append_processes(struct run_list *runs, const struct processes *p,
		 bool is_rotated)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct process *const process = &p->list[i];

		if (!append(runs, process->paths, process->path_count,
			    is_rotated || process->path_count > 1 ||
				    kind_of(process->paths[0]).is_segment))
			return false;
	}
	return true;
}

/*
 * Append a run with the traces in a directory.  Fail unless they are traces of
 * exactly one process.
 */
static bool
append_directory(struct run_list *runs, char *path)
{
	struct processes found = { .list = NULL };
	bool ok = processes_find(&found, &path, 1);

	if (ok && found.count != 1) {
		message_print("%s: has traces of %zu processes, but a run is "
			      "one process: name the traces of one process",
			      message_path(path), found.count);
		ok = false;
	}
	ok = ok && append_processes(runs, &found, true);
	processes_free(&found);
	return ok;
}

/*
 * Can the file be a segment?  The header of a first segment may not say that it
 * is one, so the file can be a segment if another operand is one.
 */
static bool
may_be_segment(const char *path, bool has_segment)
{
	const struct kind kind = kind_of(path);

	return kind.is_segment || (kind.names_process && has_segment);
}

bool
run_list_find(struct run_list *runs, char **operands, size_t n)
{
	char **const segments = calloc(n + 1, sizeof(*segments));
	struct processes found = { .list = NULL };
	size_t segment_count = 0;
	bool ok = segments != NULL || no_memory();
	bool has_segment = false;

	for (size_t i = 0; i < n; i++)
		has_segment |= kind_of(operands[i]).is_segment;
	for (size_t i = 0; ok && i < n; i++) {
		const char *const path = operands[i];

		if (operand_type(path) == S_IFDIR)
			ok = append_directory(runs, operands[i]);
		else if (may_be_segment(path, has_segment))
			segments[segment_count++] = operands[i];
		else
			ok = append(runs, &path, 1, false);
	}
	ok = ok && processes_find(&found, segments, segment_count) &&
	     append_processes(runs, &found, false);
	processes_free(&found);
	free(segments);
	return ok;
}

void
run_list_free(struct run_list *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		free_traces(&runs->list[i]);
	free(runs->list);
	*runs = (struct run_list){ .list = NULL };
}
