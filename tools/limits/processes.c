/* SPDX-License-Identifier: MIT */
/* processes.c - see processes.h */
#include "tools/limits/processes.h"

#include "hatf/hatf.h"
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

/*
 * Append a process with room for 'path_count' paths.  On failure print a
 * message and return NULL.
 */
static struct process *
append(struct processes *p, const char *name, size_t path_count)
{
	struct process process = { .name = name, .path_count = path_count };

	process.paths = calloc(path_count, sizeof(*process.paths));
	if (process.paths != NULL && p->count == p->cap) {
		const size_t cap = p->cap != 0 ? 2 * p->cap : 64;
		struct process *const list =
			reallocarray(p->list, cap, sizeof(*list));

		if (list != NULL) {
			p->list = list;
			p->cap = cap;
		}
	}
	if (process.paths == NULL || p->count == p->cap) {
		free(process.paths);
		no_memory();
		return NULL;
	}
	p->list[p->count] = process;
	return &p->list[p->count++];
}

/*
 * Does the file have a HATF header, in which the recorder names the process?
 * Return false for a snapshot.  Also return false for a pipe, because its
 * header can be read only once.
 */
static bool
names_process(const char *path)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hatf_error err;
	bool ours;

	if (strcmp(path, "-") == 0 || operand_type(path) != S_IFREG ||
	    hatf_reader_open(path, NULL, &reader, &err) != HATF_OK)
		return false;
	hatf_reader_get_stats(reader, &stats);
	ours = stats.ours && hatf_reader_header(reader, "snapshot_of") == NULL;
	hatf_reader_close(reader);
	return ours;
}

static bool
add_nodes(struct processes *p)
{
	const struct tree_node *node = NULL;

	while ((node = tree_next(&p->tree, node)) != NULL) {
		const char *const exe = node->traces[0].exe;
		const char *const slash = strrchr(exe, '/');
		const char *name = slash != NULL ? slash + 1 : exe;
		struct process *process;

		if (name[0] == '\0')
			name = node->traces[0].path;
		process = append(p, name, node->trace_count);
		if (process == NULL)
			return false;
		process->is_named = exe[0] != '\0';
		for (size_t i = 0; i < node->trace_count; i++)
			process->paths[i] = node->traces[i].path;
	}
	return true;
}

bool
processes_find(struct processes *p, char **operands, size_t n)
{
	bool ok = true;

	tree_init(&p->tree);
	p->tree.is_strict = true;
	for (size_t i = 0; ok && i < n; i++) {
		if (operand_type(operands[i]) == S_IFDIR ||
		    names_process(operands[i])) {
			ok = tree_add(&p->tree, operands[i]);
		} else {
			struct process *const process =
				append(p, message_path(operands[i]), 1);

			ok = process != NULL;
			if (ok)
				process->paths[0] = operands[i];
		}
	}
	if (ok && !tree_build(&p->tree))
		ok = no_memory();
	return ok && add_nodes(p);
}

void
processes_free(struct processes *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i].paths);
	free(p->list);
	tree_fini(&p->tree);
	*p = (struct processes){ .list = NULL };
}
