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

/*
 * Is the file a segment whose header names its process?  Return false for a
 * pipe, because its header can be read only once.  Also return false for a file
 * that cannot be read; the function that reads the run will report the error.
 */
static bool
is_segment(const char *path)
{
	struct hatf_reader *reader;
	struct hatf_error err;
	bool is_one;

	if (strcmp(path, "-") == 0 || operand_type(path) != S_IFREG ||
	    hatf_reader_open(path, NULL, &reader, &err) != HATF_OK)
		return false;
	is_one = hatf_reader_header(reader, "segment") != NULL &&
		 hatf_reader_header(reader, "pid") != NULL &&
		 hatf_reader_header(reader, "snapshot_of") == NULL;
	hatf_reader_close(reader);
	return is_one;
}

static bool
append_processes(struct run_list *runs, const struct processes *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (!append(runs, p->list[i].paths, p->list[i].path_count,
			    true))
			return false;
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
	ok = ok && append_processes(runs, &found);
	processes_free(&found);
	return ok;
}

bool
run_list_find(struct run_list *runs, char **operands, size_t n)
{
	char **const segments = calloc(n + 1, sizeof(*segments));
	struct processes found = { .list = NULL };
	size_t segment_count = 0;
	bool ok = segments != NULL || no_memory();

	for (size_t i = 0; ok && i < n; i++) {
		const char *const path = operands[i];

		if (operand_type(path) == S_IFDIR)
			ok = append_directory(runs, operands[i]);
		else if (is_segment(path))
			segments[segment_count++] = operands[i];
		else
			ok = append(runs, &path, 1, false);
	}
	ok = ok && processes_find(&found, segments, segment_count) &&
	     append_processes(runs, &found);
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
