/* SPDX-License-Identifier: MIT */
/* anonymizer.c - see anonymizer.h */
#include "tools/privacy/anonymizer.h"

#include "tools/privacy/kept_lines.h"
#include "tools/privacy/pseudonyms.h"
#include "tools/ui/figure.h"
#include "tools/ui/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of bytes of a name of a thread or heap, with escapes. */
#define NAME_NBYTES (4 * 65536)

struct anonymizer {
	struct pseudonyms *names;
	/* path of the file of names; NULL: none; borrowed */
	const char *names_path;
	/*
	 * the comments and attributes of this trace are those that FORMAT
	 * defines
	 */
	bool is_known;
	/*
	 * number of comments left out; comments for which the result is
	 * KEPT_FRAMING (kept_lines.h) do not count
	 */
	uint64_t comment_count;
	uint8_t attributes[UINT16_MAX];
	char name[NAME_NBYTES];
};

struct anonymizer *
anonymizer_open(const char *names)
{
	struct anonymizer *const a = calloc(1, sizeof(*a));

	if (a != NULL)
		a->names = pseudonyms_open();
	if (a == NULL || a->names == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		anonymizer_close(a);
		return NULL;
	}
	a->names_path = names;
	if (names != NULL && !pseudonyms_load(a->names, names)) {
		anonymizer_close(a);
		return NULL;
	}
	return a;
}

void
anonymizer_close(struct anonymizer *a)
{
	if (a == NULL)
		return;
	pseudonyms_close(a->names);
	free(a);
}

char *
anonymizer_edit_header(struct anonymizer *a, const struct hatf_reader *reader,
		       char *header)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	char *kept = NULL;
	size_t used = 0;
	char *lines = NULL;

	hatf_reader_get_stats(reader, &stats);
	a->is_known = stats.ours || stats.foreign;
	if (header != NULL)
		kept = malloc(KEPT_LINES_NBYTES);
	if (kept != NULL &&
	    kept_lines_of("1.0", header, strlen(header), a->names, kept,
			  &used) != KEPT_NO_MEMORY &&
	    asprintf(&lines, "%.*sanonymized=1\n", (int)used, kept) < 0)
		lines = NULL;
	free(kept);
	free(header);
	return lines;
}

/* ------------------------------------------------------------------ records */

/*
 * Write a name to 'a->name', escaped as names in comments are, because a name
 * in the file of names must not contain a newline.  Return the length.
 */
static size_t
escape(struct anonymizer *a, const uint8_t *text, size_t nbytes)
{
	size_t used = 0;

	for (size_t i = 0; i < nbytes; i++)
		if (text[i] < 0x20 || text[i] == 0x7f || text[i] == '\\')
			used += (size_t)sprintf(a->name + used, "\\x%02x",
						text[i]);
		else
			a->name[used++] = (char)text[i];
	return used;
}

/*
 * If an anonymized trace may have 'item', append it to 'a->attributes', with a
 * pseudonym in place of a name.  Return false if there is no memory.
 */
static bool
keep_item(struct anonymizer *a, struct hatf_record *rec,
	  const struct hatf_attr_item *item, size_t *used)
{
	struct hatf_attr_item kept = *item;
	char pseudonym[PSEUDONYM_NBYTES];

	switch (item->key) {
	case HATF_ATTR_ZEROED:
	case HATF_ATTR_CARRIED:
	case HATF_ATTR_ALIGNMENT:
	case HATF_ATTR_PARENT:
	case HATF_ATTR_START:
	case HATF_ATTR_STACK:
	case HATF_ATTR_SAMPLES:
		break;
	case HATF_ATTR_NAME:
		if (!pseudonyms_get(a->names,
				    rec->tag == HATF_CREATE_HEAP ? NAME_HEAP
								 : NAME_THREAD,
				    a->name,
				    escape(a, item->text, item->text_nbytes),
				    pseudonym))
			return false;
		kept.text = (const uint8_t *)pseudonym;
		kept.text_nbytes = strlen(pseudonym);
		break;
	default:
		return true;
	}
	/*
	 * Ignore the result, because only a repeated item can fail to fit, and
	 * a repeated item may be dropped.
	 */
	hatf_attr_put(a->attributes, sizeof(a->attributes), used, &kept);
	return true;
}

static enum hatf_status
edit_attributes(struct anonymizer *a, struct hatf_record *rec)
{
	const uint8_t *next = rec->attributes;
	const uint8_t *const end = next + rec->attributes_nbytes;
	struct hatf_attr_item item;
	size_t used = 0;

	while (a->is_known && hatf_attr_next(&next, end, &item))
		if (!keep_item(a, rec, &item, &used))
			return HATF_NO_MEMORY;
	rec->attributes = a->attributes;
	rec->attributes_nbytes = (uint32_t)used;
	return HATF_OK;
}

static enum hatf_status
edit_comment(struct anonymizer *a, struct hatf_record *rec, bool *is_kept_ret)
{
	enum kept_result result = KEPT_NOTHING;
	size_t used = 0;

	if (a->is_known)
		result = kept_lines_of_comment(rec, a->names,
					       (char *)a->attributes, &used);
	rec->attributes = a->attributes;
	rec->attributes_nbytes = (uint32_t)used;
	*is_kept_ret = result == KEPT_SOME;
	a->comment_count += result == KEPT_NOTHING;
	return result == KEPT_NO_MEMORY ? HATF_NO_MEMORY : HATF_OK;
}

enum hatf_status
anonymizer_edit(struct anonymizer *a, struct hatf_record *rec,
		bool *is_kept_ret)
{
	*is_kept_ret = true;
	if (rec->tag == HATF_COMMENT)
		return edit_comment(a, rec, is_kept_ret);
	if (rec->tag == HATF_METADATA || rec->attributes_nbytes == 0)
		return HATF_OK;
	return edit_attributes(a, rec);
}

bool
anonymizer_finish(struct anonymizer *a, const char *path)
{
	if (a->comment_count != 0)
		message_print("%s: left out %s comment%s that may identify the "
			      "owner",
			      strcmp(path, "-") == 0 ? "standard output" : path,
			      figure_count(a->comment_count).text,
			      figure_plural(a->comment_count));
	return a->names_path == NULL ||
	       pseudonyms_save(a->names, a->names_path);
}
