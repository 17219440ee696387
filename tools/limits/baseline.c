/* SPDX-License-Identifier: MIT */
/* baseline.c - see baseline.h */
#include "tools/limits/baseline.h"

#include "tools/ui/escape.h"
#include "tools/ui/json.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

/*
 * Omit a row if each of its measures is less than 1/PART_MIN of this measure of
 * the total.
 */
#define PART_MIN 10000

struct baseline {
	const char *path; /* borrowed from the caller */
	json_t *root;
	unsigned runs;
	bool has_sites;
};

/* ------------------------------------------------------------------ reading */

static bool
refuse(const char *path, const char *what, const char *name)
{
	char text[256];

	message_print("%s: %s%s%s", message_path(path), what,
		      name != NULL ? ": " : "",
		      name != NULL ? escape_text(name, text, sizeof(text))
				   : "");
	return false;
}

static bool
check_head(struct baseline *b)
{
	const json_t *const version = json_object_get(b->root, "hatf_baseline");
	const char *const by =
		json_string_value(json_object_get(b->root, "by"));
	const json_int_t runs =
		json_integer_value(json_object_get(b->root, "runs"));

	if (!json_is_integer(version))
		return refuse(b->path, "not a baseline of 'hatf check'", NULL);
	if (json_integer_value(version) != VERSION)
		return refuse(b->path,
			      "made by another version of hatf: write a new "
			      "baseline with --update",
			      NULL);
	if (by == NULL || (strcmp(by, "site") != 0 && strcmp(by, "lane") != 0))
		return refuse(b->path, "'by' is neither 'site' nor 'lane'",
			      NULL);
	if (runs < 1 || runs >= COMPARISON_TRACES_MAX)
		return refuse(b->path,
			      "'runs' is missing, below 1 or too large", NULL);
	if (!json_is_object(json_object_get(b->root, "total")) ||
	    !json_is_object(json_object_get(b->root, "rows")))
		return refuse(b->path, "'total' or 'rows' is missing", NULL);
	b->has_sites = strcmp(by, "site") == 0;
	b->runs = (unsigned)runs;
	return true;
}

/* Check the optional keys of a baseline. */
static bool
check_options(const struct baseline *b)
{
	const json_t *const program = json_object_get(b->root, "program");
	const json_t *const raw = json_object_get(b->root, "raw_stacks");
	const json_t *const wrappers = json_object_get(b->root, "wrappers");
	const size_t count = json_array_size(wrappers);
	bool ok = wrappers == NULL || json_is_array(wrappers);

	if (program != NULL && !json_is_string(program))
		return refuse(b->path, "'program' is not a string", NULL);
	if (raw != NULL && !json_is_boolean(raw))
		return refuse(b->path, "'raw_stacks' is neither true nor false",
			      NULL);
	for (size_t i = 0; i < count; i++)
		ok &= json_string_length(json_array_get(wrappers, i)) > 0;
	if (!ok || count > STACK_VIEW_WRAPPERS_MAX)
		return refuse(b->path,
			      "'wrappers' is not a list of at most 64 globs",
			      NULL);
	return true;
}

/* Read a JSON file.  On failure print a message and return NULL. */
static json_t *
read_file(const char *path)
{
	FILE *const f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	json_t *root;
	json_error_t err;

	if (f == NULL) {
		message_print("%s: %s (--update makes a baseline)",
			      message_path(path), strerror(errno));
		return NULL;
	}
	errno = 0;
	root = json_loadf(f, JSON_REJECT_DUPLICATES, &err);
	if (root == NULL && ferror(f) != 0)
		message_print("%s: %s", message_path(path), strerror(errno));
	else if (root == NULL)
		message_print("%s:%d: not a baseline of 'hatf check' "
			      "(--update makes one): %s",
			      message_path(path), err.line, err.text);
	if (f != stdin)
		fclose(f);
	return root;
}

struct baseline *
baseline_open(const char *path)
{
	struct baseline *const b = calloc(1, sizeof(*b));

	if (b == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return NULL;
	}
	b->path = path;
	b->root = read_file(path);
	if (b->root == NULL || !check_head(b) || !check_options(b)) {
		baseline_close(b);
		return NULL;
	}
	return b;
}

void
baseline_close(struct baseline *b)
{
	if (b == NULL)
		return;
	json_decref(b->root);
	free(b);
}

unsigned
baseline_runs(const struct baseline *b)
{
	return b->runs;
}

bool
baseline_has_sites(const struct baseline *b)
{
	return b->has_sites;
}

const char *
baseline_program(const struct baseline *b)
{
	return json_string_value(json_object_get(b->root, "program"));
}

/* Does the view have this wrapper? */
static bool
has_wrapper(const struct stack_view_options *view, const char *glob)
{
	for (unsigned i = 0; i < view->wrapper_count; i++)
		if (strcmp(view->wrappers[i], glob) == 0)
			return true;
	return false;
}

/* Is the glob one of the baseline's wrappers? */
static bool
lists_wrapper(const json_t *wrappers, const char *glob)
{
	for (size_t i = 0; i < json_array_size(wrappers); i++)
		if (strcmp(json_string_value(json_array_get(wrappers, i)),
			   glob) == 0)
			return true;
	return false;
}

/* Are the wrappers of the view, in any order, those of the baseline? */
static bool
has_equal_wrappers(const struct stack_view_options *view,
		   const json_t *wrappers)
{
	for (unsigned i = 0; i < view->wrapper_count; i++)
		if (!lists_wrapper(wrappers, view->wrappers[i]))
			return false;
	for (size_t i = 0; i < json_array_size(wrappers); i++)
		if (!has_wrapper(view, json_string_value(
					       json_array_get(wrappers, i))))
			return false;
	return true;
}

bool
baseline_fit_view(const struct baseline *b, struct stack_view_options *view)
{
	const json_t *const wrappers = json_object_get(b->root, "wrappers");
	const bool is_raw =
		json_is_true(json_object_get(b->root, "raw_stacks"));

	if (view->is_raw && !is_raw)
		return refuse(b->path,
			      "made without --raw-stacks: omit this option, or "
			      "write a new baseline with --update",
			      NULL);
	view->is_raw = is_raw;
	if (view->wrapper_count != 0) {
		if (has_equal_wrappers(view, wrappers))
			return true;
		return refuse(
			b->path,
			"made with other wrappers: give the wrappers of "
			"the baseline (with --wrapper or in the file of "
			"--limits), or give none, or write a new baseline "
			"with --update",
			NULL);
	}
	for (size_t i = 0; i < json_array_size(wrappers); i++)
		if (!stack_view_add_wrapper(
			    view, b->path,
			    json_string_value(json_array_get(wrappers, i))))
			return false;
	return true;
}

/*
 * Store the value of run number 'run' in '*n_ret'.  'value' is an array with a
 * number for each run, one number for all runs, or NULL, which stands for 0.
 * Return false if 'value' has another form.
 */
static bool
take_value(const json_t *value, unsigned run, unsigned runs, uint64_t *n_ret)
{
	*n_ret = 0;
	if (value == NULL)
		return true;
	if (json_is_array(value)) {
		if (json_array_size(value) != runs)
			return false;
		value = json_array_get(value, run);
	}
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*n_ret = (uint64_t)json_integer_value(value);
	return true;
}

/* Is 'row' an object in which each key is the name of a measure? */
static bool
has_measures(json_t *row)
{
	const char *key;
	json_t *value;

	if (!json_is_object(row))
		return false;
	json_object_foreach(row, key, value)
	{
		int i = 0;

		while (i < MEASURE_COUNT && strcmp(key, measure_words[i]) != 0)
			i++;
		if (i == MEASURE_COUNT)
			return false;
	}
	return true;
}

/*
 * Put the values of a row into the comparison, once for each run of the
 * baseline.  'name' is NULL for the total.
 */
static bool
put_row(const struct baseline *b, struct comparison *c, const char *name,
	json_t *row)
{
	char escaped[COMPARISON_NAME_NBYTES];

	if (!has_measures(row))
		return refuse(b->path, "not an object with measures",
			      name != NULL ? name : "total");
	if (name != NULL)
		escape_text(name, escaped, sizeof(escaped));
	for (unsigned run = 0; run < b->runs; run++) {
		struct measured m;

		for (int i = 0; i < MEASURE_COUNT; i++)
			if (!take_value(json_object_get(row, measure_words[i]),
					run, b->runs, &m.values[i]))
				return refuse(b->path,
					      "a measure is neither one number "
					      "nor one for each run",
					      name != NULL ? name : "total");
		if (!comparison_put(c, name != NULL ? escaped : NULL, run, &m))
			return refuse(b->path, hatf_status_text(HATF_NO_MEMORY),
				      NULL);
	}
	return true;
}

bool
baseline_put(const struct baseline *b, struct comparison *c)
{
	json_t *const rows = json_object_get(b->root, "rows");
	const char *name;
	json_t *row;

	if (!put_row(b, c, NULL, json_object_get(b->root, "total")))
		return false;
	json_object_foreach(rows, name,
			    row) if (!put_row(b, c, name, row)) return false;
	return true;
}

/* ------------------------------------------------------------------ writing */

/*
 * Return the values of a measure as JSON: an array with a number for each run,
 * or a single number if it is the same in all runs.
 */
static json_t *
json_values(const struct comparison *c, const struct comparison_row *row,
	    int measure)
{
	json_t *const list = json_array();
	bool differs = false;

	for (unsigned i = 0; i < c->new_count; i++) {
		const uint64_t n = row->runs[i].values[measure];

		/* jansson's integers have 63 bits, enough for any heap. */
		json_array_append_new(
			list, json_integer((json_int_t)(n & INT64_MAX)));
		differs |= n != row->runs[0].values[measure];
	}
	if (!differs) {
		json_decref(list);
		return json_integer(
			(json_int_t)(row->runs[0].values[measure] & INT64_MAX));
	}
	return list;
}

/* Return the largest value that a measure of the row has in any run. */
static uint64_t
largest(const struct comparison *c, const struct comparison_row *row,
	int measure)
{
	uint64_t max = 0;

	for (unsigned i = 0; i < c->new_count; i++)
		if (row->runs[i].values[measure] > max)
			max = row->runs[i].values[measure];
	return max;
}

/* Is at least one measure so large that the row must be written? */
static bool
is_kept(const struct comparison *c, const struct comparison_row *row)
{
	for (int i = 0; i < MEASURE_COUNT; i++) {
		const uint64_t n = largest(c, row, i);

		if (n != 0 && n >= largest(c, &c->total, i) / PART_MIN)
			return true;
	}
	return false;
}

/* Write {"peak": 1, ...}.  Return false if there is no memory. */
static bool
write_row(FILE *f, const struct comparison *c, const struct comparison_row *row)
{
	json_t *const object = json_object();
	char *text;

	for (int i = 0; i < MEASURE_COUNT; i++)
		if (largest(c, row, i) != 0)
			json_object_set_new(object, measure_words[i],
					    json_values(c, row, i));
	text = json_dumps(object, 0);
	json_decref(object);
	if (text == NULL)
		return false;
	fputs(text, f);
	free(text);
	return true;
}

/* Write "NAME": {...}.  Return false if there is no memory. */
static bool
write_named(FILE *f, const struct comparison *c,
	    const struct comparison_row *row)
{
	json_t *const name = json_text(row->name);
	char *const text = json_dumps(name, JSON_ENCODE_ANY);
	bool ok = text != NULL;

	if (ok) {
		fprintf(f, "%s: ", text);
		ok = write_row(f, c, row);
	}
	free(text);
	json_decref(name);
	return ok;
}

static int
compare_names(const void *a, const void *b, void *ctx)
{
	const struct comparison *const c = *(const struct comparison **)ctx;

	return strcmp(c->rows[*(const uint32_t *)a].name,
		      c->rows[*(const uint32_t *)b].name);
}

/* Write the rows that are large enough, in the order of their names. */
static bool
write_rows(FILE *f, const struct comparison *c)
{
	uint32_t *const order = malloc((c->count + 1) * sizeof(*order));
	bool ok = order != NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; ok && i < c->count; i++)
		if (is_kept(c, &c->rows[i]))
			order[n++] = i;
	if (n > 1)
		qsort_r(order, n, sizeof(*order), compare_names, &c);
	for (uint32_t i = 0; ok && i < n; i++) {
		ok = write_named(f, c, &c->rows[order[i]]);
		fputs(i + 1 < n ? ",\n" : "\n", f);
	}
	free(order);
	return ok;
}

/*
 * Write KEY: VALUE and release the value.  Return false if there is no memory,
 * or if 'value' is NULL because its creation ran out of memory.
 */
static bool
write_value(FILE *f, const char *key, json_t *value)
{
	char *const text = json_dumps(value, JSON_ENCODE_ANY);
	const bool ok = text != NULL;

	json_decref(value);
	if (ok)
		fprintf(f, "%s: %s", key, text);
	free(text);
	return ok;
}

/* Write the program, and the options on which the names of rows depend. */
static bool
write_options(FILE *f, const char *program,
	      const struct stack_view_options *view)
{
	json_t *const wrappers = json_array();
	bool ok = program == NULL ||
		  write_value(f, ", \"program\"", json_text(program));

	for (unsigned i = 0; i < view->wrapper_count; i++)
		json_array_append_new(wrappers, json_text(view->wrappers[i]));
	if (ok && view->wrapper_count != 0)
		ok = json_array_size(wrappers) == view->wrapper_count &&
		     write_value(f, ",\n\"wrappers\"", json_incref(wrappers));
	json_decref(wrappers);
	if (view->is_raw)
		fputs(",\n\"raw_stacks\": true", f);
	return ok;
}

bool
baseline_write(const char *path, const struct comparison *c,
	       const char *program, const struct stack_view_options *view)
{
	char *text = NULL;
	size_t nbytes;
	FILE *const f = open_memstream(&text, &nbytes);
	bool ok = f != NULL;

	if (ok) {
		fprintf(f,
			"{\"hatf_baseline\": %d, \"by\": \"%s\", "
			"\"runs\": %u",
			VERSION, c->has_stacks ? "site" : "lane", c->new_count);
		ok = write_options(f, program, view);
		fputs(",\n\"total\": ", f);
		ok = ok && write_row(f, c, &c->total);
		fputs(",\n\"rows\": {\n", f);
		ok = ok && write_rows(f, c);
		fputs("}}\n", f);
		ok = fclose(f) == 0 && ok;
	}
	if (!ok)
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	ok = ok && output_file_write(path, text, nbytes);
	free(text);
	return ok;
}
