/* SPDX-License-Identifier: MIT */
/* limit.c - see limit.h */
#include "tools/limits/limit.h"

#include "tools/compare/measures.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

/*
 * Size in bytes of the buffer for a line of a file, and of the buffer for a
 * word.
 */
#define LINE_NBYTES 4096

static const char *const limit_measure_words[LIMIT_MEASURE_COUNT + 1] = {
	"peak",	  "live-at-end", "allocated", "allocs", "temporary-ratio",
	"single", NULL,
};

const char *const limit_scope_words[LIMIT_SCOPE_COUNT + 1] = {
	"process", "tree",   "site", "function", "file",
	"module",  "thread", "heap", NULL,
};

/* -------------------------------------------------------------------- words */

/*
 * Take the next word of a line.  Return false at the end of the line, at a
 * comment (a word that begins with '#'), and if a quote is not closed.  Set
 * '*is_open_ret' to true if a quote is not closed, else to false.
 */
static bool
take_word(const char **p, char word[LINE_NBYTES], bool *is_open_ret)
{
	const char *s = *p + strspn(*p, BLANKS);
	bool is_quoted = false;
	size_t n = 0;

	*is_open_ret = false;
	if (*s == '\0' || *s == '#')
		return false;
	for (; *s != '\0' && (is_quoted || strchr(BLANKS, *s) == NULL); s++) {
		if (*s == '"') {
			is_quoted = !is_quoted;
			continue;
		}
		if (is_quoted && *s == '\\' && s[1] != '\0')
			s++;
		if (n + 1 < LINE_NBYTES)
			word[n++] = *s;
	}
	word[n] = '\0';
	*p = s;
	*is_open_ret = is_quoted;
	return !is_quoted;
}

/* Return the index of a word in a list, or -1. */
static int
find_word(const char *const *words, const char *word)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

/* Return the measure of a name, or -1. */
static int
find_measure(const char *name)
{
	for (int i = 0; i < LIMIT_MEASURE_COUNT; i++)
		if (strcmp(measure_word(limit_measure_words[i]),
			   measure_word(name)) == 0)
			return i;
	return -1;
}

/* ------------------------------------------------------------------ amounts */

/*
 * Parse "12.5%" into millionths.  Check the characters first, because strtod()
 * accepts signs, hexadecimal numbers and "nan".
 */
static bool
parse_part(const char *text, uint64_t *n_ret)
{
	const size_t digits = strspn(text, "0123456789.");
	double percent;
	char *end;

	if (digits == 0 || strcmp(text + digits, "%") != 0)
		return false;
	percent = strtod(text, &end);
	if (end != text + digits || percent > 100)
		return false;
	*n_ret = (uint64_t)(percent * (LIMIT_WHOLE / 100.0) + 0.5);
	return true;
}

/* Parse a number of allocations: 1000, 20K (20 000), 1M or 1G. */
static bool
parse_count(const char *text, uint64_t *n_ret)
{
	static const char units[] = "KMG";
	const size_t digits = strspn(text, "0123456789");
	const char *const unit =
		text[digits] != '\0' ? strchr(units, text[digits]) : NULL;
	uint64_t n;

	errno = 0;
	n = strtoull(text, NULL, 10);
	if (digits == 0 || errno != 0 || text[digits + (unit != NULL)] != '\0')
		return false;
	for (const char *u = units; unit != NULL && u <= unit; u++)
		if (__builtin_mul_overflow(n, 1000, &n))
			return false;
	*n_ret = n;
	return true;
}

/* Parse an amount.  If it is wrong, print a message and return false. */
static bool
parse_amount(const char *origin, enum limit_measure measure, const char *text,
	     uint64_t *n_ret)
{
	switch (measure) {
	case LIMIT_TEMPORARY:
		if (parse_part(text, n_ret))
			return true;
		message_print("%s: not a percentage up to 100%%, such as "
			      "12.5%%: '%s'",
			      origin, text);
		return false;
	case LIMIT_ALLOCS:
		if (parse_count(text, n_ret))
			return true;
		message_print("%s: not a number such as 1000 or 20K: '%s'",
			      origin, text);
		return false;
	default:
		return opt_parse_nbytes(origin, text, n_ret);
	}
}

/* ------------------------------------------------------------------- parser */

static bool
refuse(const char *origin, const char *what, const char *text)
{
	message_print("%s: %s: '%s' (want [process GLOB] [SCOPE [GLOB]] "
		      "MEASURE AMOUNT, such as 'peak 200M' or 'site parse_* "
		      "live-at-end 0')",
		      origin, what, text);
	return false;
}

/* Print that 'word' is not one of 'words', and return false. */
static bool
refuse_word(const char *origin, const char *what, const char *word,
	    const char *const *words)
{
	char list[128];

	message_print("%s: %s: '%s' (want one of %s)", origin, what, word,
		      opt_list_words(words, list, sizeof(list)));
	return false;
}

/* Maximum number of words in a limit. */
#define WORD_COUNT 6

/* The words of a line; missing words are empty. */
struct words {
	char texts[WORD_COUNT][LINE_NBYTES];
	unsigned count;
};

static bool
split(struct words *w, const char *origin, const char *text)
{
	const char *p = text;
	char extra[LINE_NBYTES];
	bool is_open = false;

	memset(w, 0, sizeof(*w));
	while (w->count < WORD_COUNT &&
	       take_word(&p, w->texts[w->count], &is_open))
		w->count++;
	if (is_open ||
	    (w->count == WORD_COUNT && take_word(&p, extra, &is_open)))
		return refuse(origin,
			      is_open ? "a quote is not closed"
				      : "more than six words",
			      text);
	return true;
}

/* The globs of processes and of rows in a line; "*" if there is none. */
struct globs {
	const char *process, *row;
};

/*
 * Take the scope, if the line has one, and its globs.  Set '*next_ret' to the
 * index of the word after them.  If a word should be a scope, but is not, set
 * '*next_ret' to its index and return false.
 */
static bool
take_scope(struct limit *limit, const struct words *w, struct globs *globs,
	   unsigned *next_ret)
{
	int scope = find_word(limit_scope_words, w->texts[0]);
	unsigned next = 1;

	*globs = (struct globs){ "*", "*" };
	*next_ret = 0;
	if (scope < 0)
		return w->count <= 2;
	/* "process" has a glob only if the line has more than three words. */
	if (scope == LIMIT_PROCESS && w->count > 3)
		globs->process = w->texts[next++];
	if (scope == LIMIT_PROCESS && w->count > 4) {
		*next_ret = next;
		scope = find_word(limit_scope_words, w->texts[next++]);
		if (scope <= LIMIT_TREE)
			return false;
	}
	if (scope > LIMIT_TREE)
		globs->row = w->texts[next++];
	limit->scope = (enum limit_scope)scope;
	*next_ret = next;
	return true;
}

/* Parse the words of a line. */
static bool
parse(struct limit *limit, const char *origin, const char *text,
      struct globs *globs, struct words *w)
{
	unsigned next;
	int measure;

	if (!split(w, origin, text))
		return false;
	if (!take_scope(limit, w, globs, &next) &&
	    find_measure(w->texts[next]) < 0)
		return refuse_word(origin, "not a scope", w->texts[next],
				   next == 0 ? limit_scope_words
					     : &limit_scope_words[LIMIT_SITE]);
	if (w->count != next + 2)
		return refuse(origin, "not a limit", text);
	if (globs->process[0] == '\0' || globs->row[0] == '\0')
		return refuse(origin, "a glob is empty", text);
	measure = find_measure(w->texts[next]);
	if (measure < 0)
		return refuse_word(origin, "not a measure", w->texts[next],
				   limit_measure_words);
	limit->measure = (enum limit_measure)measure;
	if (limit->measure == LIMIT_SINGLE && limit->scope > LIMIT_TREE)
		return refuse(origin,
			      "'single' applies only to a process or the tree",
			      text);
	return parse_amount(origin, limit->measure, w->texts[next + 1],
			    &limit->amount);
}

/* ------------------------------------------------------------------- limits */

static void
free_limit(struct limit *limit)
{
	free(limit->process);
	free(limit->row);
	free(limit->text);
	free(limit->origin);
}

static bool
append(struct limits *limits, const struct limit *limit)
{
	if (limits->count == limits->cap) {
		const size_t cap = limits->cap != 0 ? 2 * limits->cap : 16;
		struct limit *const list =
			reallocarray(limits->list, cap, sizeof(*list));

		if (list == NULL)
			return false;
		limits->list = list;
		limits->cap = cap;
	}
	limits->list[limits->count++] = *limit;
	return true;
}

/*
 * Return a copy of a line without the comment, and with one blank between
 * words.
 */
static char *
copy_words(const char *text)
{
	char *const copy = malloc(strlen(text) + 1);
	const char *next = text;
	char word[LINE_NBYTES];
	size_t used = 0;
	bool is_open;

	if (copy == NULL)
		return NULL;
	for (const char *at = text; take_word(&next, word, &is_open);
	     at = next) {
		at += strspn(at, BLANKS);
		if (used != 0)
			copy[used++] = ' ';
		memcpy(copy + used, at, (size_t)(next - at));
		used += (size_t)(next - at);
	}
	copy[used] = '\0';
	return copy;
}

bool
limits_add(struct limits *limits, const char *origin, const char *text)
{
	struct words *const words = malloc(sizeof(*words));
	struct limit limit = { .scope = LIMIT_PROCESS };
	struct globs globs;

	if (limits->count == LIMITS_MAX) {
		message_print("%s: more than %d limits", origin, LIMITS_MAX);
		free(words);
		return false;
	}
	if (words != NULL && !parse(&limit, origin, text, &globs, words)) {
		free(words);
		return false;
	}
	if (words != NULL) {
		limit.process = strdup(globs.process);
		limit.row = strdup(globs.row);
		limit.text = copy_words(text);
		limit.origin = strdup(origin);
	}
	free(words);
	if (limit.process == NULL || limit.row == NULL || limit.text == NULL ||
	    limit.origin == NULL || !append(limits, &limit)) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		free_limit(&limit);
		return false;
	}
	return true;
}

bool
limits_add_option(struct limits *limits, const char *option,
		  enum limit_measure measure, const char *amount)
{
	char text[128];
	uint64_t n;

	if (!parse_amount(option, measure, amount, &n))
		return false;
	snprintf(text, sizeof(text), "%s %s", limit_measure_words[measure],
		 amount);
	return limits_add(limits, option, text);
}

static bool
append_wrapper(struct limits *limits, const char *origin, const char *glob)
{
	char *const from = strdup(origin), *const copy = strdup(glob);

	if (from == NULL || copy == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		free(from);
		free(copy);
		return false;
	}
	limits->wrapper_origins[limits->wrapper_count] = from;
	limits->wrappers[limits->wrapper_count++] = copy;
	return true;
}

/*
 * If the line is "wrapper GLOB", append the glob and return true.  Otherwise
 * return false, and set '*is_wrong_ret':
 * - true, after a message, if the line begins with "wrapper", but is wrong or
 *   cannot be appended;
 * - false if the line begins with another word.
 */
static bool
take_wrapper(struct limits *limits, const char *origin, const char *text,
	     bool *is_wrong_ret)
{
	char first[LINE_NBYTES], glob[LINE_NBYTES], extra[LINE_NBYTES];
	bool is_open = false;

	*is_wrong_ret = false;
	if (!take_word(&text, first, &is_open) || strcmp(first, "wrapper") != 0)
		return false;
	*is_wrong_ret = true;
	if (!take_word(&text, glob, &is_open) || glob[0] == '\0' ||
	    take_word(&text, extra, &is_open) || is_open) {
		message_print("%s: not a wrapper (want 'wrapper GLOB', such as "
			      "'wrapper xmalloc')",
			      origin);
		return false;
	}
	if (limits->wrapper_count == STACK_VIEW_WRAPPERS_MAX) {
		message_print("%s: more than %d wrappers", origin,
			      STACK_VIEW_WRAPPERS_MAX);
		return false;
	}
	return append_wrapper(limits, origin, glob);
}

/* Append the limit or wrapper of a line.  Ignore comments and blank lines. */
static bool
take_line(struct limits *limits, const char *origin, const char *line)
{
	const char *const first = line + strspn(line, BLANKS);
	bool is_wrong;

	if (*first == '\0' || *first == '#' ||
	    take_wrapper(limits, origin, first, &is_wrong))
		return true;
	return !is_wrong && limits_add(limits, origin, line);
}

/*
 * Read a line without its newline.  Return 1 on success, 0 at the end of the
 * file, or -1 if the line contains a zero byte or is too long.
 */
static int
read_line(FILE *f, char line[LINE_NBYTES])
{
	size_t n = 0;
	int c;

	while ((c = getc(f)) != EOF && c != '\n') {
		if (c == '\0' || n == LINE_NBYTES - 2)
			return -1;
		line[n++] = (char)c;
	}
	if (n == 0 && c == EOF)
		return 0;
	if (n > 0 && line[n - 1] == '\r')
		n--;
	line[n] = '\0';
	return 1;
}

/* Read the lines of an open file. */
static bool
read_lines(struct limits *limits, const char *path, FILE *f)
{
	char line[LINE_NBYTES], origin[LINE_NBYTES];
	unsigned number = 0;
	int result;

	while ((result = read_line(f, line)) != 0) {
		snprintf(origin, sizeof(origin), "%s:%u", message_path(path),
			 ++number);
		if (result < 0) {
			message_print("%s: the line contains a zero byte or is "
				      "longer than %d bytes",
				      origin, LINE_NBYTES - 2);
			return false;
		}
		if (!take_line(limits, origin, line))
			return false;
	}
	return true;
}

bool
limits_read(struct limits *limits, const char *path)
{
	FILE *const f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	bool ok;

	if (f == NULL) {
		message_print("%s: %s", message_path(path), strerror(errno));
		return false;
	}
	errno = 0;
	ok = read_lines(limits, path, f);
	if (ok && ferror(f) != 0) {
		message_print("%s: %s", message_path(path), strerror(errno));
		ok = false;
	}
	if (f != stdin)
		fclose(f);
	return ok;
}

void
limits_free(struct limits *limits)
{
	for (size_t i = 0; i < limits->count; i++)
		free_limit(&limits->list[i]);
	for (unsigned i = 0; i < limits->wrapper_count; i++) {
		free(limits->wrapper_origins[i]);
		free(limits->wrappers[i]);
	}
	free(limits->list);
	*limits = (struct limits){ .list = NULL };
}
