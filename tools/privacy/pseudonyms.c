/* SPDX-License-Identifier: MIT */
/* pseudonyms.c - see pseudonyms.h */
#include "tools/privacy/pseudonyms.h"

#include "hatf/hatf.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First line of a file of names. */
#define HEADING "# names of anonymized traces; do not share this file\n"

static const char *const words[NAME_KIND_COUNT] = {
	[NAME_FUNCTION] = "function", [NAME_FILE] = "file",
	[NAME_MODULE] = "module",     [NAME_THREAD] = "thread",
	[NAME_HEAP] = "heap",	      [NAME_MARK] = "mark",
};

struct pseudonym {
	enum name_kind kind;
	uint64_t number;
	size_t nbytes;
	char *name; /* the name, without a NUL */
};

struct pseudonyms {
	void *tree;		    /* tree of the entries, see tsearch(3) */
	struct pseudonym **entries; /* in the order of insertion */
	size_t count, cap;
	uint64_t last[NAME_KIND_COUNT]; /* last number of each kind */
};

struct pseudonyms *
pseudonyms_open(void)
{
	return calloc(1, sizeof(struct pseudonyms));
}

static void
keep_nothing(void *entry)
{
	(void)entry;
}

void
pseudonyms_close(struct pseudonyms *p)
{
	if (p == NULL)
		return;
	tdestroy(p->tree, keep_nothing);
	for (size_t i = 0; i < p->count; i++) {
		free(p->entries[i]->name);
		free(p->entries[i]);
	}
	free(p->entries);
	free(p);
}

static int
compare(const void *a, const void *b)
{
	const struct pseudonym *const x = a, *const y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->nbytes != y->nbytes)
		return x->nbytes < y->nbytes ? -1 : 1;
	return memcmp(x->name, y->name, x->nbytes);
}

/*
 * Return the entry of a name.  If the name is new, add an entry with number 0.
 */
static struct pseudonym *
find(struct pseudonyms *p, enum name_kind kind, const char *name, size_t nbytes)
{
	struct pseudonym key = { .kind = kind, .nbytes = nbytes };
	struct pseudonym *entry, **found;

	/* The tree does not change the name. */
	memcpy(&key.name, &name, sizeof(name));
	found = tfind(&key, &p->tree, compare);
	if (found != NULL)
		return *found;
	if (p->count == p->cap) {
		const size_t cap = p->cap != 0 ? 2 * p->cap : 64;
		struct pseudonym **const entries = reallocarray(
			p->entries, cap, sizeof(struct pseudonym *));

		if (entries == NULL)
			return NULL;
		p->entries = entries;
		p->cap = cap;
	}
	entry = malloc(sizeof(*entry));
	if (entry == NULL)
		return NULL;
	*entry = key;
	entry->name = malloc(nbytes + 1);
	if (entry->name != NULL)
		memcpy(entry->name, name, nbytes);
	if (entry->name == NULL || tsearch(entry, &p->tree, compare) == NULL) {
		free(entry->name);
		free(entry);
		return NULL;
	}
	p->entries[p->count++] = entry;
	return entry;
}

bool
pseudonyms_get(struct pseudonyms *p, enum name_kind kind, const char *name,
	       size_t nbytes, char buf[PSEUDONYM_NBYTES])
{
	struct pseudonym *const e = find(p, kind, name, nbytes);

	if (e == NULL)
		return false;
	if (e->number == 0)
		e->number = ++p->last[kind];
	snprintf(buf, PSEUDONYM_NBYTES, "%s_%" PRIu64, words[kind], e->number);
	return true;
}

/* -------------------------------------------------------------------- files */

/*
 * Parse a pseudonym and a blank, "function_12 ".  Return the text after the
 * blank, or NULL.
 */
static const char *
take_pseudonym(const char *line, enum name_kind *kind_ret, uint64_t *number_ret)
{
	for (int i = 0; i < NAME_KIND_COUNT; i++) {
		const size_t n = strlen(words[i]);
		char *end;

		if (strncmp(line, words[i], n) != 0 || line[n] != '_' ||
		    !isdigit((unsigned char)line[n + 1]))
			continue;
		errno = 0;
		*kind_ret = (enum name_kind)i;
		*number_ret = strtoull(line + n + 1, &end, 10);
		return *end == ' ' && *number_ret != 0 &&
				       *number_ret != UINT64_MAX && errno == 0
			       ? end + 1
			       : NULL;
	}
	return NULL;
}

/* Parse a line of a file.  On failure print a message and return false. */
static bool
load_line(struct pseudonyms *p, const char *path, unsigned number, char *line)
{
	enum name_kind kind;
	uint64_t n;
	const char *name;
	struct pseudonym *entry;

	line[strcspn(line, "\n")] = '\0';
	if (line[0] == '#' || line[0] == '\0')
		return true;
	name = take_pseudonym(line, &kind, &n);
	if (name == NULL) {
		message_print(
			"%s:%u: want a pseudonym and a name: 'function_1 main'",
			path, number);
		return false;
	}
	entry = find(p, kind, name, strlen(name));
	if (entry == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	if (entry->number != 0 && entry->number != n) {
		message_print(
			"%s:%u: the name already has the pseudonym %s_%" PRIu64,
			path, number, words[kind], entry->number);
		return false;
	}
	entry->number = n;
	if (n > p->last[kind])
		p->last[kind] = n;
	return true;
}

bool
pseudonyms_load(struct pseudonyms *p, const char *path)
{
	FILE *const f = fopen(path, "re");
	unsigned number = 0;
	char *line = NULL;
	size_t cap = 0;
	bool ok = true;

	if (f == NULL && errno == ENOENT)
		return true;
	if (f == NULL) {
		message_print("%s: %s", path, strerror(errno));
		return false;
	}
	errno = 0;
	while (ok && getline(&line, &cap, f) >= 0)
		ok = load_line(p, path, ++number, line);
	if (ok && ferror(f) != 0) {
		message_print("%s: %s", path, strerror(errno));
		ok = false;
	}
	free(line);
	fclose(f);
	return ok;
}

bool
pseudonyms_save(const struct pseudonyms *p, const char *path)
{
	char *text = NULL;
	size_t nbytes;
	FILE *const f = open_memstream(&text, &nbytes);
	bool ok = f != NULL;

	if (ok) {
		fputs(HEADING, f);
		for (size_t i = 0; i < p->count; i++) {
			const struct pseudonym *const e = p->entries[i];

			fprintf(f, "%s_%" PRIu64 " ", words[e->kind],
				e->number);
			fwrite(e->name, 1, e->nbytes, f);
			fputc('\n', f);
		}
		ok = fclose(f) == 0;
	}
	if (!ok)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	ok = ok && output_file_write(path, text, nbytes);
	free(text);
	return ok;
}
