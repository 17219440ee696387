/* SPDX-License-Identifier: MIT */
/* kept_fields.c - see kept_fields.h */
#include "tools/trace/kept_fields.h"

#include "tools/ui/message.h"

#include <stdio.h>
#include <string.h>

static const char *const names[HATF_KEEPS_COUNT] = {
	"size", "address",    "old_address", "realloc", "thread",  "time",
	"heap", "attributes", "site",	     "stacks",	"symbols", "comments",
};

const char *
kept_fields_name(unsigned bit)
{
	return names[bit];
}

/* Does the comment begin with 'start'? */
static bool
begins(const struct hatf_record *rec, const char *start)
{
	const size_t nbytes = strlen(start);

	return rec->attributes_nbytes >= nbytes &&
	       memcmp(rec->attributes, start, nbytes) == 0;
}

/* Does the comment contain 'text'? */
static bool
contains(const struct hatf_record *rec, const char *text)
{
	return memmem(rec->attributes, rec->attributes_nbytes, text,
		      strlen(text)) != NULL;
}

/*
 * Does the comment contain 'start', such as "\nfile=", and after it a character
 * other than a line break?
 */
static bool
has_value(const struct hatf_record *rec, const char *start)
{
	const size_t nbytes = strlen(start);
	const char *const text = (const char *)rec->attributes;
	const char *const found =
		memmem(text, rec->attributes_nbytes, start, nbytes);

	return found != NULL &&
	       (size_t)(found - text) + nbytes < rec->attributes_nbytes &&
	       found[nbytes] != '\n';
}

/*
 * Comments that stand for a field of one foreign format, so only this format
 * keeps them.  In 'occurs', SPECIAL_BIT(i) is the bit for the comments that
 * begin with special[i].start.
 */
static const struct {
	const char *start, *format;
} special[] = {
	{ "HATF system\nuse=heap\n", "mtrc" },
	{ "HATF system\nuse=internal\n", "mtrc" },
	{ "HATF system\nuse=resident\n", "heaptrack" },
	{ "HATF mtrc\n", "mtrc" },
	{ "HATF time\n", "heaptrack" },
	{ "HATF suppression\n", "heaptrack" },
};
#define SPECIAL_COUNT  (sizeof(special) / sizeof(special[0]))
#define SPECIAL_BIT(i) (1u << (HATF_KEEPS_COUNT + (i)))

static unsigned
of_comment(const struct hatf_record *rec)
{
	if (begins(rec, "HATF frame\n"))
		return has_value(rec, "\nfunction=") ||
				       has_value(rec, "\nfile=")
			       ? HATF_KEEPS_SYMBOLS
			       : 0;
	if (begins(rec, "HATF stack\n"))
		return has_value(rec, "\nparent=") &&
				       !contains(rec, "\nparent=0\n")
			       ? HATF_KEEPS_STACKS
			       : 0;
	if (begins(rec, "HATF object\n"))
		return HATF_KEEPS_SYMBOLS;
	/*
	 * A format keeps this comment if the format keeps times, because the
	 * comment is about the times of later records.
	 */
	if (begins(rec, "HATF clock\n"))
		return HATF_KEEPS_TIME;
	/*
	 * These comments are not lost: the writer of the output makes its own,
	 * if the format of the output has such comments.
	 */
	if (begins(rec, "HATF 1.0\n") || begins(rec, "HATF block\n") ||
	    begins(rec, "HATF sum\n") || begins(rec, "HATF stacks\n") ||
	    begins(rec, "HATF end\n"))
		return 0;
	for (unsigned i = 0; i < SPECIAL_COUNT; i++)
		if (begins(rec, special[i].start))
			return SPECIAL_BIT(i);
	return HATF_KEEPS_COMMENTS;
}

static unsigned
of_attributes(const struct hatf_record *rec)
{
	const uint8_t *next = rec->attributes;
	const uint8_t *const end = next + rec->attributes_nbytes;
	struct hatf_attr_item item;
	unsigned occurs = 0;

	while (hatf_attr_next(&next, end, &item))
		if (item.key == HATF_ATTR_STACK)
			occurs |= item.value != 0 ? HATF_KEEPS_SITE : 0;
		/* another message reports the loss of samples */
		else if (item.key != HATF_ATTR_SAMPLES)
			occurs |= HATF_KEEPS_ATTRIBUTES;
	return next == end ? occurs : occurs | HATF_KEEPS_ATTRIBUTES;
}

static unsigned
of_record(const struct hatf_record *rec)
{
	unsigned occurs = 0;

	switch (rec->tag) {
	case HATF_COMMENT:
		return of_comment(rec);
	case HATF_METADATA:
		return 0;
	case HATF_CREATE_HEAP:
	case HATF_DESTROY_HEAP:
		occurs |= HATF_KEEPS_HEAP;
		break;
	case HATF_CREATE_THREAD:
	case HATF_DESTROY_THREAD:
		occurs |= HATF_KEEPS_THREAD;
		break;
	case HATF_ALLOC:
	case HATF_FREE:
		break;
	default:
		occurs |= HATF_KEEPS_REALLOC;
		if (rec->old_address != 0)
			occurs |= HATF_KEEPS_OLD_ADDRESS;
		break;
	}
	if (rec->size != 0)
		occurs |= HATF_KEEPS_SIZE;
	if (rec->address != 0)
		occurs |= HATF_KEEPS_ADDRESS;
	if (rec->thread != 0)
		occurs |= HATF_KEEPS_THREAD;
	if (rec->heap != 0)
		occurs |= HATF_KEEPS_HEAP;
	if (rec->time != 0)
		occurs |= HATF_KEEPS_TIME;
	if (rec->attributes_nbytes != 0)
		occurs |= of_attributes(rec);
	return occurs;
}

void
kept_fields_note(struct kept_fields *k, const struct hatf_record *records,
		 size_t n)
{
	for (size_t i = 0; i < n; i++)
		k->occurs |= of_record(&records[i]);
}

unsigned
kept_fields_dropped(const struct kept_fields *k,
		    const struct hatf_format *format, unsigned drop)
{
	static const struct {
		unsigned drop, keeps;
	} wanted[] = {
		{ HATF_DROP_TIME, HATF_KEEPS_TIME },
		{ HATF_DROP_THREAD, HATF_KEEPS_THREAD },
		{ HATF_DROP_HEAP, HATF_KEEPS_HEAP },
		{ HATF_DROP_ATTRIBUTES,
		  HATF_KEEPS_ATTRIBUTES | HATF_KEEPS_SITE | HATF_KEEPS_STACKS |
			  HATF_KEEPS_SYMBOLS },
		{ HATF_DROP_COMMENTS, HATF_KEEPS_COMMENTS },
	};
	unsigned occurs = k->occurs;
	unsigned dropped;

	for (unsigned i = 0; i < SPECIAL_COUNT; i++) {
		if ((occurs & SPECIAL_BIT(i)) != 0 &&
		    strcmp(special[i].format, format->name) != 0)
			occurs |= HATF_KEEPS_COMMENTS;
		occurs &= ~SPECIAL_BIT(i);
	}
	dropped = occurs & ~format->keeps;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (drop & wanted[i].drop)
			dropped &= ~wanted[i].keeps;
	return dropped;
}

/* The fields that only a single call can have, not a sum over calls. */
#define OF_CALLS                                                         \
	(HATF_KEEPS_SIZE | HATF_KEEPS_ADDRESS | HATF_KEEPS_OLD_ADDRESS | \
	 HATF_KEEPS_REALLOC | HATF_KEEPS_THREAD | HATF_KEEPS_TIME |      \
	 HATF_KEEPS_HEAP)

void
kept_fields_report(const char *path, const struct hatf_format *format,
		   unsigned dropped)
{
	const bool has_sums = !format->reads;
	char list[256] = "";
	size_t used = 0;

	/*
	 * Do not report fields of single calls as lost, because the message
	 * says that the format has only sums.
	 */
	if (has_sums)
		dropped &= ~OF_CALLS;
	for (unsigned bit = 0; bit < HATF_KEEPS_COUNT; bit++)
		if (dropped >> bit & 1)
			used += (size_t)snprintf(
				list + used, sizeof(list) - used, "%s%s",
				used == 0 ? "" : ", ", names[bit]);
	if (has_sums)
		message_print(
			"%s: format %s keeps sums for each call stack, not "
			"single events%s%s",
			path, format->name,
			used == 0 ? "" : "; it also drops: ", list);
	else if (used != 0)
		message_print("%s: format %s does not keep: %s", path,
			      format->name, list);
}
