/* SPDX-License-Identifier: MIT */
/* cutoff.c - see cutoff.h */
#include "tools/trace/cutoff.h"

#include "tools/ui/message.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

bool
cutoff_find_rings(const char *path, enum hatf_status status,
		  struct hatf_rings *ret)
{
	struct hatf_error err;
	char rings[PATH_MAX];

	*ret = (struct hatf_rings){ .struct_nbytes = sizeof(*ret) };
	if ((status != HATF_NO_TRAILER && status != HATF_TRUNCATED) ||
	    !hatf_rings_find(path, rings, sizeof(rings)))
		return false;
	/*
	 * Ignore a failure.  It means that the ring file is damaged or cannot
	 * be read, which 'hatf recover' reports.
	 */
	hatf_rings_get(rings, ret, &err);
	return true;
}

/*
 * Count the events that are only in the ring file.  Return false if their
 * number is unknown.
 */
static bool
count_missing(const char *path, uint64_t *count_ret)
{
	struct hatf_recovery found = { .struct_nbytes = sizeof(found) };
	struct hatf_error err;
	char rings[PATH_MAX];

	if (!hatf_rings_find(path, rings, sizeof(rings)) ||
	    hatf_recover(rings, path, HATF_RECOVER_DRY_RUN, &found, &err) !=
		    HATF_OK ||
	    found.had_trailer || found.gap_nbytes != 0)
		return false;
	*count_ret = found.recovered;
	return true;
}

static void
describe_missing(uint64_t count, char *buf, size_t nbytes)
{
	char what[64];

	if (count == 0)
		snprintf(what, sizeof(what), "only its trailer");
	else if (count == 1)
		snprintf(what, sizeof(what), "its last event");
	else
		snprintf(what, sizeof(what), "its last %" PRIu64 " events",
			 count);
	snprintf(buf, nbytes, "lacks %s ('hatf recover' can complete it)",
		 what);
}

void
cutoff_describe(const char *path, const struct hatf_error *err, char *buf,
		size_t nbytes)
{
	struct hatf_rings rings = { .struct_nbytes = sizeof(rings) };
	const bool found = cutoff_find_rings(path, err->status, &rings);
	uint64_t missing;
	size_t used;

	if (found && rings.in_use) {
		snprintf(buf, nbytes,
			 "is still being written by process %" PRIu64,
			 rings.pid);
		return;
	}
	if (found && count_missing(path, &missing)) {
		describe_missing(missing, buf, nbytes);
		return;
	}
	message_error_text(err, buf, nbytes);
	used = strlen(buf);
	if (found)
		snprintf(buf + used, nbytes - used, "; see 'hatf recover'");
}

void
cutoff_report(const char *path, const struct hatf_error *err)
{
	char text[512];

	cutoff_describe(path, err, text, sizeof(text));
	message_print("%s: %s", message_path(path), text);
}
