/* SPDX-License-Identifier: MIT */
/* record_check.c - see record_check.h */
#include "tools/commands/record_check.h"

#include "tools/commands/commands.h"
#include "tools/limits/baseline.h"
#include "tools/ui/message.h"

#include <stdlib.h>
#include <string.h>

bool
record_check_is_wanted(const struct checking *checking)
{
	return checking->limits.count != 0 || checking->baseline != NULL;
}

const char *
record_check_settle(struct checking *checking, bool has_limits)
{
	if (has_limits && checking->limits.count == 0)
		return "--check: the file contains no limits";
	if (record_check_is_wanted(checking))
		return checking_settle(checking);
	if (checking->condition.count != 0)
		return "--fail-on needs --baseline";
	if (checking->junit != NULL)
		return "--junit needs --check or --baseline";
	if (checking->sarif != NULL)
		return "--sarif needs --check or --baseline";
	return NULL;
}

bool
record_check_try_baseline(const struct checking *checking)
{
	const char *const path = checking->baseline;
	struct baseline *b;

	if (path == NULL)
		return true;
	if (strcmp(path, "-") == 0) {
		message_print("--baseline: give a file, because the standard "
			      "input belongs to the command");
		return false;
	}
	b = baseline_open(path);
	baseline_close(b);
	return b != NULL;
}

int
record_check_run(const struct checking *checking, const struct collection *c)
{
	const size_t n = c->own_count + c->descendant_count;
	struct processes processes = { .list = NULL };
	char **const paths = calloc(n + 1, sizeof(*paths));
	int exit_status = EXIT_BAD_INPUT;

	if (paths == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return exit_status;
	}
	for (size_t i = 0; i < n; i++)
		paths[i] = c->traces[i].path;
	if (processes_find(&processes, paths, n))
		exit_status = checking_run(checking, &processes, stderr);
	processes_free(&processes);
	free(paths);
	return exit_status;
}
