/* SPDX-License-Identifier: MIT */
/*
 * error.c - the texts of statuses, tags, violations and errors, and of 'enum
 * hatf_heritage'
 */
#include "hatf/hatf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const status_text[] = {
	[HATF_OK] = "no error",
	[HATF_END] = "end of the trace",
	[HATF_TRUNCATED] = "the trace is truncated",
	[HATF_BAD_TAG] = "unknown kind of record",
	[HATF_BAD_METADATA] = "a metadata record is invalid",
	[HATF_BAD_COMPRESSION] = "the compressed data is damaged",
	[HATF_NOT_HATF] = "not a format that hatf knows",
	[HATF_NO_TRAILER] = "the trailer is missing: the trace is incomplete",
	[HATF_IO] = "input or output failed",
	[HATF_NO_MEMORY] = "out of memory",
	[HATF_BAD_RECORD] = "HATF cannot express this record",
	[HATF_LIMIT] = "a limit of this library is exceeded",
	[HATF_BAD_FIELD] = "malformed",
	[HATF_BAD_RINGS] = "not a ring file, or a damaged one",
	[HATF_IN_USE] =
		"the process still runs, or a recovery uses its ring file",
	[HATF_OTHER_RINGS] = "the ring file belongs to another trace",
	[HATF_OTHER_BOOT] =
		"the ring file is from an earlier boot or another machine",
	[HATF_NO_LIBRARY] = "this build lacks the library for this compression",
	[HATF_NOT_READ] = "hatf cannot read this kind of file",
	[HATF_BAD_OPTION] = "the value of this option is invalid",
	[HATF_BAD_COMMENT] =
		"a HATF comment is malformed or contradicts the trace",
};

static const char *const tag_name[HATF_TAG_COUNT] = {
	[HATF_ALLOC] = "alloc",
	[HATF_FREE] = "free",
	[HATF_REALLOC_NO_ALLOC] = "reallocNoAlloc",
	[HATF_REALLOC_ALLOC_FREE] = "reallocAllocFree",
	[HATF_REALLOC_ALLOC] = "reallocAlloc",
	[HATF_REALLOC_FREE] = "reallocFree",
	[HATF_CREATE_HEAP] = "createHeap",
	[HATF_DESTROY_HEAP] = "destroyHeap",
	[HATF_CREATE_THREAD] = "createThread",
	[HATF_DESTROY_THREAD] = "destroyThread",
	[HATF_COMMENT] = "comment",
	[HATF_METADATA] = "metadata",
};

static const char *const violation_text[] = {
	[HATF_VIOLATION_NONE] = "no violation",
	[HATF_VIOLATION_ALLOC_LIVE] =
		"the address is allocated while it is live",
	[HATF_VIOLATION_FREE_UNKNOWN] = "free of an unallocated address",
	[HATF_VIOLATION_REALLOC_UNKNOWN] = "realloc of an unallocated address",
	[HATF_VIOLATION_TIME] = "the time goes backwards",
	[HATF_VIOLATION_THREAD] = "unknown thread, or thread created twice",
	[HATF_VIOLATION_HEAP] = "unknown heap, or heap created twice",
	[HATF_VIOLATION_PAIRING] =
		"the alloc or free differs from what its realloc announced",
};

static const char *const heritage_text[] = {
	[HATF_HERITAGE_NONE] = "the process is not the child of a fork",
	[HATF_HERITAGE_EXACT] =
		"the inherited blocks are known from the parent's trace",
	[HATF_HERITAGE_UNKNOWN] = "the parent's trace has not been read",
	[HATF_HERITAGE_INEXACT] =
		"the trace does not say exactly which blocks were inherited",
	[HATF_HERITAGE_MISSING] =
		"the trace of an ancestor, or an earlier segment, "
		"was not found",
	[HATF_HERITAGE_DAMAGED] =
		"the trace of an ancestor, or an earlier segment, "
		"is damaged or lacks events or blocks",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *
hatf_status_text(enum hatf_status status)
{
	if ((unsigned)status >= COUNT(status_text))
		return "unknown status";
	return status_text[status];
}

const char *
hatf_tag_name(unsigned tag)
{
	return tag < HATF_TAG_COUNT ? tag_name[tag] : NULL;
}

const char *
hatf_violation_text(enum hatf_violation violation)
{
	if ((unsigned)violation >= COUNT(violation_text))
		return "unknown violation";
	return violation_text[violation];
}

const char *
hatf_heritage_text(enum hatf_heritage heritage)
{
	if ((unsigned)heritage >= COUNT(heritage_text))
		return "unknown heritage";
	return heritage_text[heritage];
}

/*
 * Print the system's reason (err->sys_errno) or, if there is none, the text of
 * the status.  Do not print the place in the trace, which would not help the
 * user.
 */
static void
print_system_error(const struct hatf_error *err, char *buf, size_t nbytes)
{
	char text[128];
	const char *const reason =
		err->sys_errno == 0
			? hatf_status_text(err->status)
			: strerror_r(err->sys_errno, text, sizeof(text));

	snprintf(buf, nbytes, "%s%s%s", err->field == NULL ? "" : err->field,
		 err->field == NULL ? "" : ": ", reason);
}

static void
print_trace_error(const struct hatf_error *err, char *buf, size_t nbytes)
{
	const char *const colon = err->field == NULL ? "" : ": ";
	const char *const field = err->field == NULL ? "" : err->field;
	char line[32] = "", place[64] = "";

	if (err->line != 0)
		snprintf(line, sizeof(line), "line %" PRIu64 ", ", err->line);
	/*
	 * If the compressed data is truncated or damaged, also report up to
	 * which byte the compressed file was read, because the fault is near
	 * that byte.
	 */
	if (err->compression != NULL && (err->status == HATF_TRUNCATED ||
					 err->status == HATF_BAD_COMPRESSION))
		snprintf(place, sizeof(place),
			 ", at byte %" PRIu64 " of the %s file",
			 err->file_offset, err->compression);
	snprintf(buf, nbytes,
		 "%soffset 0x%" PRIx64 "%s, record %" PRIu64 "%s%s: %s%s", line,
		 err->offset,
		 place[0] == '\0' ? "" : " of the uncompressed data",
		 err->record, colon, field, hatf_status_text(err->status),
		 place);
}

char *
hatf_error_text(const struct hatf_error *err, char *buf, size_t nbytes)
{
	if (nbytes == 0)
		return buf;
	if (err->status == HATF_IO || err->status == HATF_NO_MEMORY)
		print_system_error(err, buf, nbytes);
	else if (err->status == HATF_BAD_OPTION)
		snprintf(buf, nbytes, "%s%s%s",
			 err->field == NULL ? "" : err->field,
			 err->field == NULL ? "" : ": ",
			 hatf_status_text(err->status));
	else if (err->status == HATF_NOT_HATF && err->field == NULL)
		snprintf(buf, nbytes,
			 "not a trace: the file is empty or has no records");
	else if (err->status == HATF_NOT_READ && err->field != NULL)
		snprintf(buf, nbytes, "%s", err->field);
	else
		print_trace_error(err, buf, nbytes);
	return buf;
}
