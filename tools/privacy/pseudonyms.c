/* SPDX-License-Identifier: MIT */
/* pseudonyms.c - see pseudonyms.h */
#include "tools/privacy/pseudonyms.h"

#include "hatf/hatf.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* First line of a file of names. */
#define HEADING "# names of anonymized traces; do not share this file\n"

/*
 * Upper bound of the size of a line, which consists of a pseudonym and a name.
 * A name comes from an attribute or a comment of at most 64 KiB, and escaping
 * turns a byte into at most four.
 */
#define LINE_NBYTES (PSEUDONYM_NBYTES + 4 * 65536)

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
	/* the largest number of a pseudonym, for each kind */
	uint64_t last[NAME_KIND_COUNT];
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
 * Return NULL if there is no memory.
 */
static struct pseudonym *
find(struct pseudonyms *p, enum name_kind kind, const char *name, size_t nbytes)
{
	struct pseudonym key = { .kind = kind, .nbytes = nbytes };
	struct pseudonym *entry, **found;

	/* Remove the const.  tfind() does not change the name. */
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
 * Parse a pseudonym and a blank, such as "function_12 ".  Return the text after
 * the blank.  Return NULL if the line does not begin in this way, or if the
 * number is 0 or too large.
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

/*
 * Parse a line of a file, and enter its name and pseudonym.  Skip an empty line
 * or a line that starts with '#'.  On failure print a message and return false.
 */
static bool
load_line(struct pseudonyms *p, const char *path, unsigned number,
	  const char *line)
{
	enum name_kind kind;
	uint64_t n;
	const char *name;
	struct pseudonym *entry;

	if (line[0] == '#' || line[0] == '\0')
		return true;
	name = take_pseudonym(line, &kind, &n);
	if (name == NULL) {
		message_print(
			"%s:%u: not a pseudonym and a name (want, for example, "
			"'function_1 main')",
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

/*
 * Read a line to 'line', of LINE_NBYTES, without its newline.  Return false at
 * the end of the file.  On a fault, describe it in '*fault_ret' and return
 * false.
 */
static bool
read_line(FILE *f, char *line, const char **fault_ret)
{
	size_t used = 0;
	int c;

	while ((c = getc_unlocked(f)) != EOF && c != '\n') {
		if (c == '\0')
			*fault_ret = "the line has a zero byte";
		else if (used == LINE_NBYTES - 1)
			*fault_ret = "the line is too long";
		if (*fault_ret != NULL)
			return false;
		line[used++] = (char)c;
	}
	line[used] = '\0';
	if (ferror_unlocked(f) != 0)
		*fault_ret = strerror(errno);
	return *fault_ret == NULL && (c != EOF || used != 0);
}

static bool
load_lines(struct pseudonyms *p, const char *path, FILE *f)
{
	char *const line = calloc(1, LINE_NBYTES);
	const char *fault = NULL;
	unsigned number = 1;
	bool ok = true;

	if (line == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	while (ok && read_line(f, line, &fault))
		ok = load_line(p, path, number++, line);
	if (fault != NULL)
		message_print("%s:%u: %s", path, number, fault);
	free(line);
	return ok && fault == NULL;
}

static int
compare_numbers(const void *a, const void *b)
{
	const struct pseudonym *const x = *(struct pseudonym *const *)a,
				      *const y = *(struct pseudonym *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Does each pseudonym stand for one name only?  If not, print a message. */
static bool
are_numbers_unique(const struct pseudonyms *p, const char *path)
{
	struct pseudonym **const sorted =
		calloc(p->count + 1, sizeof(struct pseudonym *));
	size_t i = 1;

	if (sorted == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	for (size_t k = 0; k < p->count; k++)
		sorted[k] = p->entries[k];
	qsort(sorted, p->count, sizeof(struct pseudonym *), compare_numbers);
	while (i < p->count && compare_numbers(&sorted[i - 1], &sorted[i]) != 0)
		i++;
	if (i < p->count)
		message_print("%s: %s_%" PRIu64
			      " stands for more than one name",
			      path, words[sorted[i]->kind], sorted[i]->number);
	free(sorted);
	return i >= p->count;
}

/*
 * Can the file of names be created?  To find out, create it and remove it
 * again.  If it cannot be created, print a message.  The caller must know this
 * before the trace is written: without the file, the owner of the trace could
 * not look up the pseudonyms.
 */
static bool
can_create(const char *path)
{
	const int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0) {
		message_print("%s: %s", path, strerror(errno));
		return false;
	}
	close(fd);
	unlink(path);
	return true;
}

bool
pseudonyms_load(struct pseudonyms *p, const char *path)
{
	/* O_NONBLOCK keeps open() from waiting for the other end of a pipe. */
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	FILE *f;
	bool ok;

	if (fd < 0 && errno == ENOENT)
		return can_create(path);
	if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		message_print("%s: not a regular file", path);
		close(fd);
		return false;
	}
	f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (f == NULL) {
		message_print("%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	ok = load_lines(p, path, f) && are_numbers_unique(p, path);
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
