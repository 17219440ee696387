/* SPDX-License-Identifier: MIT */
/* replay_page.c - the runs of a replay as a page with charts */
#include "tools/replay/replay_output.h"
#include "tools/report/page_bytes.h"
#include "tools/ui/json.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Write JSON for a <script> element: escape '<', which occurs only in strings.
 */
static void
put_json(FILE *f, const char *json)
{
	for (const char *p = json; *p != '\0'; p++)
		if (*p == '<')
			fputs("\\u003c", f);
		else
			fputc(*p, f);
}

/* Write the page to allocated memory.  Return NULL if there is no memory. */
static char *
make_page(const char *json, size_t *nbytes_ret)
{
	const struct page_parts parts =
		page_parts_of(page_replay_bytes, page_replay_bytes_end);
	char *page = NULL;
	FILE *const f = open_memstream(&page, nbytes_ret);
	bool ok;

	if (f == NULL)
		return NULL;
	fwrite(parts.head, 1, parts.head_nbytes, f);
	put_json(f, json);
	fwrite(parts.rest, 1, parts.rest_nbytes, f);
	ok = ferror(f) == 0;
	if (fclose(f) == 0 && ok)
		return page;
	free(page);
	return NULL;
}

bool
replay_write_page(const char *path, const struct replay_view *view)
{
	json_t *const object = replay_json(view);
	char *json = NULL, *page = NULL;
	size_t nbytes = 0;
	bool ok = false;

	if (json_object_size(object) == REPLAY_JSON_KEYS)
		json = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII |
						  JSON_REAL_PRECISION(6));
	json_decref(object);
	if (json != NULL)
		page = make_page(json, &nbytes);
	if (page == NULL)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	else
		ok = output_file_write(path, page, nbytes);
	free(json);
	free(page);
	return ok;
}
