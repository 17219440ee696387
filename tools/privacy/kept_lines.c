/* SPDX-License-Identifier: MIT */
/* kept_lines.c - see kept_lines.h */
#include "tools/privacy/kept_lines.h"

#include "hatf/frames/hidden_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "HATF "

/* -------------------------------------------------------------------- rules */

enum value_type {
	/* digits; in "sample_rate" also a decimal point and an exponent */
	VALUE_DECIMAL,
	VALUE_HEX,   /* "0x" and digits */
	VALUE_WORD,  /* one of 'words' */
	VALUE_NAME,  /* a name of the kind that the member 'name' states */
	VALUE_FIXED, /* any value; it is replaced by 'words' */
};

struct rule {
	const char *key; /* NULL ends a list of rules */
	/*
	 * for VALUE_WORD, the allowed words, each with a blank before and after
	 * it; for VALUE_FIXED, the new value
	 */
	const char *words;
	enum value_type type;
	enum name_kind name;
};

#define NUMBER(key)                                     \
	{                                               \
		key, NULL, VALUE_DECIMAL, NAME_FUNCTION \
	}
#define HEX(key)                                    \
	{                                           \
		key, NULL, VALUE_HEX, NAME_FUNCTION \
	}
#define WORD(key, words)                              \
	{                                             \
		key, words, VALUE_WORD, NAME_FUNCTION \
	}
#define NAMED(key, kind)                    \
	{                                   \
		key, NULL, VALUE_NAME, kind \
	}
#define FIXED(key, value)                              \
	{                                              \
		key, value, VALUE_FIXED, NAME_FUNCTION \
	}
#define END                                              \
	{                                                \
		NULL, NULL, VALUE_DECIMAL, NAME_FUNCTION \
	}

static const struct rule header[] = {
	WORD("clock", " auto off coarse us ns "),
	WORD("unit", " ns us none "),
	NUMBER("page_size"),
	WORD("arch", " x86_64 aarch64 i686 riscv64 ppc64le s390x armv7l "),
	WORD("full", " wait drop "),
	NUMBER("segment"),
	NUMBER("events_before"),
	NUMBER("lost_before"),
	NUMBER("bytes_before"),
	WORD("live", " exact uncertain unknown "),
	NUMBER("carried"),
	NUMBER("carried_bytes"),
	NUMBER("filtered"),
	WORD("heaps", " dropped "),
	WORD("start", " late "),
	WORD("source", " heaptrack memtrace mtrc mptrace mtrace gperftools "
		       "android hummingbird dhat pprof folded xml "),
	WORD("heaptrack", " raw "),
	NUMBER("sample_rate"),
	NUMBER("word_size"),
	NUMBER("memtrace_version"),
	NUMBER("mtrc_version"),
	NUMBER("mtrc_word"),
	WORD("mtrc_order", " little big "),
	/*
	 * A forked child frees blocks that its parent allocated, so readers
	 * must know that it was forked.  Keep this fact, but replace the
	 * parent's id.
	 */
	FIXED("parent_pid", "1"),
	FIXED("snapshot_of", "anonymous"),
	END,
};

static const struct rule trailer[] = {
	NUMBER("complete"),
	WORD("end", " exit _exit quick_exit abort exec last_thread stop "
		    "sandbox killed raw_exit abrupt rotate error "),
	NUMBER("events"),
	NUMBER("records"),
	NUMBER("lost"),
	NUMBER("threads"),
	NUMBER("waits"),
	NUMBER("wait_ns"),
	NUMBER("time"),
	NUMBER("cpu_ns"),
	NUMBER("recovered"),
	END,
};

static const struct rule clock_note[] = {
	WORD("clock", " us coarse "),
	NUMBER("time"),
	NUMBER("step"),
	END,
};

static const struct rule thread_note[] = {
	NUMBER("thread"),
	NAMED("name", NAME_THREAD),
	END,
};

static const struct rule fork_note[] = {
	NUMBER("thread"), NUMBER("fork"), NUMBER("forked"),
	NUMBER("event"),  NUMBER("time"), END,
};

static const struct rule realloc_note[] = {
	NUMBER("thread"), NUMBER("fork"), HEX("old"), HEX("address"), END,
};

static const struct rule mark_note[] = {
	NUMBER("thread"),
	NUMBER("time"),
	NAMED("text", NAME_MARK),
	END,
};

/*
 * This list does not contain the values that a traced program adds to its own
 * events, so these values are omitted.
 */
static const struct rule event_note[] = {
	NUMBER("thread"),
	NUMBER("time"),
	NAMED("name", NAME_MARK),
	END,
};

static const struct rule mtrc_note[] = {
	NUMBER("index"),
	END,
};

static const struct rule promote_note[] = {
	HEX("address"),
	NUMBER("thread"),
	NUMBER("time"),
	END,
};

static const struct rule system_note[] = {
	WORD("use", " heap internal resident "),
	HEX("address"),
	NUMBER("size"),
	NUMBER("time"),
	END,
};

static const struct rule time_note[] = {
	NUMBER("time"),
	END,
};

static const struct rule object_note[] = {
	NAMED("object", NAME_MODULE),
	HEX("address"),
	NUMBER("size"),
	HEX("base"),
	HEX("offset"),
	END,
};

static const struct rule lost_note[] = {
	NUMBER("thread"), NUMBER("count"), NUMBER("from"), NUMBER("to"), END,
};

static const struct rule frame_note[] = {
	NUMBER("frame"),
	NUMBER("line"),
	NUMBER("column"),
	NUMBER("end_column"),
	HEX("address"),
	NAMED("function", NAME_FUNCTION),
	NAMED("file", NAME_FILE),
	NAMED("object", NAME_MODULE),
	END,
};

static const struct rule stack_note[] = {
	NUMBER("stack"),
	NUMBER("parent"),
	NUMBER("frame"),
	END,
};

/*
 * The rules for each kind of comment.  If there is NULL instead of rules, omit
 * the comment, but do not count it as left out, because the new trace does not
 * need it:
 * - "block", "sum", "stacks": the writer of the new trace makes its own.
 * - "dtd": it describes only those values of "event" that are omitted.
 */
static const struct {
	const char *kind;
	const struct rule *rules;
} kinds[] = {
	{ "1.0", header },	     { "end", trailer },
	{ "clock", clock_note },     { "thread", thread_note },
	{ "fork", fork_note },	     { "realloc", realloc_note },
	{ "mark", mark_note },	     { "mtrc", mtrc_note },
	{ "promote", promote_note }, { "system", system_note },
	{ "time", time_note },	     { "object", object_note },
	{ "lost", lost_note },	     { "frame", frame_note },
	{ "stack", stack_note },     { "stacks", NULL },
	{ "block", NULL },	     { "sum", NULL },
	{ "event", event_note },     { "dtd", NULL },
};

/* ------------------------------------------------------------------- values */

/* A line of a comment. */
struct line {
	const char *value;
	size_t nbytes;
};

/* Find the first line with this key. */
static bool
find_line(const char *lines, size_t nbytes, const char *key,
	  struct line *line_ret)
{
	const char *const end = lines + nbytes;
	const size_t key_nbytes = strlen(key);

	while (lines < end) {
		const char *stop = memchr(lines, '\n', (size_t)(end - lines));
		const size_t n = (size_t)((stop != NULL ? stop : end) - lines);

		if (n > key_nbytes && lines[key_nbytes] == '=' &&
		    memcmp(lines, key, key_nbytes) == 0) {
			line_ret->value = lines + key_nbytes + 1;
			line_ret->nbytes = n - key_nbytes - 1;
			return true;
		}
		lines += n + 1;
	}
	return false;
}

/*
 * Skip the first 'skipped' bytes of the value.  Return true if there is at
 * least one more byte, and all of the rest are in 'bytes'.  Return false if the
 * value has more than 24 bytes, because it is too long for a number.
 */
static bool
has_only(const struct line *line, size_t skipped, const char *bytes)
{
	if (line->nbytes <= skipped || line->nbytes > 24)
		return false;
	for (size_t i = skipped; i < line->nbytes; i++)
		if (line->value[i] == '\0' ||
		    strchr(bytes, line->value[i]) == NULL)
			return false;
	return true;
}

static bool
is_word(const struct line *line, const char *words)
{
	char word[32];

	if (line->nbytes == 0 || line->nbytes > sizeof(word) - 3 ||
	    memchr(line->value, ' ', line->nbytes) != NULL)
		return false;
	snprintf(word, sizeof(word), " %.*s ", (int)line->nbytes, line->value);
	return strstr(words, word) != NULL;
}

/* May the value stay unchanged? */
static bool
is_harmless(const struct rule *rule, const struct line *line)
{
	switch (rule->type) {
	case VALUE_DECIMAL:
		return has_only(line, 0,
				strcmp(rule->key, "sample_rate") == 0
					? "0123456789.e-+"
					: "0123456789");
	case VALUE_HEX:
		return line->nbytes > 2 && memcmp(line->value, "0x", 2) == 0 &&
		       has_only(line, 2, "0123456789abcdef");
	case VALUE_WORD:
		return is_word(line, rule->words);
	default:
		return false;
	}
}

/* -------------------------------------------------------------------- names */

/*
 * Write a pseudonym for the function in 'line' to 'out', of 64 bytes.  If 'hatf
 * stat' hides the function, it must also hide the pseudonym.  Therefore:
 * - An allocation function keeps its name, and so does "[cut off]".
 * - operator new becomes, for example, "operator new(function_3)".
 * - Other functions of standard libraries become "std::function_3".
 * Return false if there is no memory.
 */
static bool
name_function(const struct line *line, struct pseudonyms *names, char *out)
{
	char *const copy = strndup(line->value, line->nbytes);
	const struct hatf_frame frame = { .function = copy };
	char pseudonym[PSEUDONYM_NBYTES];
	bool ok = copy != NULL;

	if (ok && (hidden_frames_is_allocator(&frame) ||
		   hidden_frames_is_missing(&frame))) {
		/*
		 * Keep the name, because it is one of a few public names, all
		 * of which are short.
		 */
		snprintf(out, 64, "%.60s", copy);
		free(copy);
		return true;
	}
	ok = ok && pseudonyms_get(names, NAME_FUNCTION, line->value,
				  line->nbytes, pseudonym);
	if (ok && hidden_frames_is_new(&frame))
		snprintf(out, 64, "operator new(%s)", pseudonym);
	else if (ok)
		snprintf(out, 64, "%s%s",
			 hidden_frames_is_std(&frame) ? "std::" : "",
			 pseudonym);
	free(copy);
	return ok;
}

/*
 * Write the pseudonym of the name in 'line' to 'out', of 64 bytes.  If the name
 * is that of a well-known library, append the well-known part, as in
 * "module_2/libjemalloc.so".  Return false if there is no memory.
 */
static bool
name_value(const struct rule *rule, const struct line *line,
	   struct pseudonyms *names, char *out)
{
	char pseudonym[PSEUDONYM_NBYTES];
	const char *library = NULL;
	char *copy;

	if (rule->name == NAME_FUNCTION)
		return name_function(line, names, out);
	copy = strndup(line->value, line->nbytes);
	if (copy == NULL || !pseudonyms_get(names, rule->name, line->value,
					    line->nbytes, pseudonym)) {
		free(copy);
		return false;
	}
	if (rule->name == NAME_MODULE)
		library = hidden_frames_find_library(copy);
	if (rule->name == NAME_MODULE && library == NULL)
		library = hidden_frames_find_std_library(copy);
	free(copy);
	snprintf(out, 64, "%s%s%s", pseudonym, library != NULL ? "/" : "",
		 library != NULL ? library : "");
	return true;
}

/* ----------------------------------------------------------------- comments */

/*
 * Append "key=value\n".  Such a line is at most 64 bytes longer than its key.
 */
static void
put_line(char *out, size_t *used, const char *key, const char *value,
	 size_t nbytes)
{
	*used += (size_t)snprintf(out + *used, KEPT_LINES_NBYTES - *used,
				  "%s=%.*s\n", key, (int)nbytes, value);
}

static bool
keep_line(const struct rule *rule, const struct line *line,
	  struct pseudonyms *names, char *out, size_t *used)
{
	char name[64];

	if (rule->type == VALUE_FIXED) {
		put_line(out, used, rule->key, rule->words,
			 strlen(rule->words));
	} else if (rule->type != VALUE_NAME) {
		if (is_harmless(rule, line))
			put_line(out, used, rule->key, line->value,
				 line->nbytes);
	} else if (line->nbytes != 0) {
		if (!name_value(rule, line, names, name))
			return false;
		put_line(out, used, rule->key, name, strlen(name));
	}
	return true;
}

enum kept_result
kept_lines_of(const char *kind, const char *lines, size_t nbytes,
	      struct pseudonyms *names, char *out, size_t *used_ret)
{
	const struct rule *rule = NULL;
	struct line line;
	bool is_found = false;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].kind, kind) == 0) {
			rule = kinds[i].rules;
			is_found = true;
		}
	if (rule == NULL)
		return is_found ? KEPT_FRAMING : KEPT_NOTHING;
	for (; rule->key != NULL; rule++)
		if (find_line(lines, nbytes, rule->key, &line) &&
		    !keep_line(rule, &line, names, out, used_ret))
			return KEPT_NO_MEMORY;
	return KEPT_SOME;
}

enum kept_result
kept_lines_of_comment(const struct hatf_record *comment,
		      struct pseudonyms *names, char *out, size_t *used_ret)
{
	const char *text = (const char *)comment->attributes;
	size_t nbytes = comment->attributes_nbytes;
	const char *end;
	char kind[16];
	size_t n;

	if (nbytes < strlen(PREFIX) ||
	    memcmp(text, PREFIX, strlen(PREFIX)) != 0)
		return KEPT_NOTHING;
	text += strlen(PREFIX);
	nbytes -= strlen(PREFIX);
	end = memchr(text, '\n', nbytes);
	n = end != NULL ? (size_t)(end - text) : nbytes;
	if (n >= sizeof(kind))
		return KEPT_NOTHING;
	memcpy(kind, text, n);
	kind[n] = '\0';
	*used_ret = (size_t)sprintf(out, PREFIX "%s\n", kind);
	return kept_lines_of(kind, text + (end != NULL ? n + 1 : n),
			     nbytes - (end != NULL ? n + 1 : n), names, out,
			     used_ret);
}
