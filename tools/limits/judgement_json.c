/* SPDX-License-Identifier: MIT */
/* judgement_json.c - see judgement_output.h: JSON and SARIF */
#include "tools/limits/judgement_output.h"

#include "tools/ui/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Write an object and release it.  Return false if there is no memory. */
static bool
print_object(FILE *f, json_t *object)
{
	char *const text =
		object != NULL ? json_dumps(object, JSON_INDENT(2)) : NULL;

	json_decref(object);
	if (text == NULL)
		return false;
	fputs(text, f);
	fputc('\n', f);
	free(text);
	return true;
}

/* --------------------------------------------------------------------- JSON */

/* Return a JSON string or, for NULL, null. */
static json_t *
text_or_null(const char *text)
{
	return text != NULL ? json_text(text) : json_null();
}

static json_t *
json_finding(const struct finding *f)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process",
		text_or_null(f->process), "trace", text_or_null(f->trace),
		"row", text_or_null(f->row), "site",
		text_or_null(f->place.site), "file",
		text_or_null(f->place.file), "line",
		f->place.line != 0 ? json_u64(f->place.line) : json_null(),
		"value", json_u64(f->value), "message", json_text(f->message));
}

static json_t *
json_rule(const struct rule *r)
{
	json_t *const findings = json_array();

	for (size_t i = 0; i < r->finding_count; i++)
		json_array_append_new(findings, json_finding(&r->findings[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "limit",
			 json_text(r->text), "origin", text_or_null(r->origin),
			 "exceeded", json_u64(r->exceeded_count), "closest",
			 r->has_worst ? json_finding(&r->worst) : json_null(),
			 "findings", findings);
}

static json_t *
json_faults(const struct judgement *j)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < j->fault_count; i++)
		json_array_append_new(list, json_text(j->faults[i]));
	return list;
}

bool
judgement_print_json(FILE *f, const struct judgement *j)
{
	json_t *const limits = json_array();

	for (size_t i = 0; i < j->rule_count; i++)
		json_array_append_new(limits, json_rule(&j->rules[i]));
	return print_object(
		f, json_pack("{s:o, s:o, s:o, s:o}", "limits", limits,
			     "exceeded", json_u64(judgement_exceeded(j)),
			     "processes", json_u64(j->process_count),
			     "incomplete", json_faults(j)));
}

/* -------------------------------------------------------------------- spots */

/*
 * If 'origin' has the form "FILE:LINE", set the spot to that line and return
 * true.
 */
static bool
take_origin(const char *origin, struct judgement_spot *spot)
{
	const char *const colon = origin != NULL ? strrchr(origin, ':') : NULL;

	if (colon == NULL || !isdigit((unsigned char)colon[1]) ||
	    (size_t)(colon - origin) >= sizeof(spot->file))
		return false;
	memcpy(spot->file, origin, (size_t)(colon - origin));
	spot->file[colon - origin] = '\0';
	spot->line = strtoull(colon + 1, NULL, 10);
	return true;
}

/* Set the spot to a file as a whole. */
static bool
take_file(const char *file, struct judgement_spot *spot)
{
	if (file == NULL || strlen(file) >= sizeof(spot->file))
		return false;
	memcpy(spot->file, file, strlen(file) + 1);
	spot->line = 0;
	return true;
}

/*
 * If 'path' is a file below the current directory, set the spot to this file,
 * with its path relative to that directory.
 */
static bool
take_source(const char *path, struct judgement_spot *spot)
{
	char *const file = realpath(path, NULL);
	char *const here = realpath(".", NULL);
	/*
	 * The root is the only directory whose path ends in '/'.  Take 0 as the
	 * length of this path, so that file[n] is a '/' for the root, too.
	 */
	size_t n = here != NULL && here[1] != '\0' ? strlen(here) : 0;
	const bool is_below = file != NULL && here != NULL &&
			      strncmp(file, here, n) == 0 && file[n] == '/' &&
			      take_file(file + n + 1, spot);

	free(file);
	free(here);
	return is_below;
}

/*
 * Find a source file below the current directory.  'path' comes from the debug
 * information.  It is usually absolute.  In builds that hide their directory,
 * it is the path that the compiler got, often relative to a build folder, such
 * as "../src/parse.c".  Therefore try 'path' as it is, and then again after the
 * removal of each leading "../" or "./".
 */
static bool
find_source(const char *path, struct judgement_spot *spot)
{
	while (!take_source(path, spot)) {
		if (strncmp(path, "../", 3) != 0 && strncmp(path, "./", 2) != 0)
			return false;
		path = strchr(path, '/') + 1;
	}
	return true;
}

bool
judgement_find_spot(const struct rule *r, const struct finding *f,
		    struct judgement_spot *spot)
{
	const char *const file = f->place.file;

	if (file != NULL && find_source(file, spot)) {
		spot->line = f->place.line;
		return true;
	}
	return take_origin(r->origin, spot) || take_file(r->baseline, spot) ||
	       take_file(file, spot);
}

/* -------------------------------------------------------------------- SARIF */

/* Return a file as a URI reference (RFC 3986): relative, or "file:///...". */
static json_t *
json_uri(const char *file)
{
	static const char plain[] = "-._~/";
	char *const uri = malloc(3 * strlen(file) + sizeof("file://"));
	json_t *string;
	char *p = uri;

	if (uri == NULL)
		return NULL;
	if (file[0] == '/')
		p = stpcpy(p, "file://");
	for (; *file != '\0'; file++) {
		const unsigned char c = (unsigned char)*file;

		if ((c < 0x80 && isalnum(c)) || strchr(plain, c) != NULL)
			*p++ = (char)c;
		else
			p += sprintf(p, "%%%02X", c);
	}
	*p = '\0';
	string = json_string(uri);
	free(uri);
	return string;
}

static json_t *
json_locations(const struct judgement *j, const struct rule *r,
	       const struct finding *f)
{
	struct judgement_spot spot;
	json_t *place;

	if (!judgement_find_spot(r, f, &spot) && !take_file(f->trace, &spot) &&
	    !take_file(j->trace, &spot))
		return json_array();
	place = json_pack("{s:{s:o}}", "artifactLocation", "uri",
			  json_uri(spot.file));
	if (spot.line != 0 && place != NULL)
		json_object_set_new(
			place, "region",
			json_pack("{s:o}", "startLine", json_u64(spot.line)));
	return json_pack("[{s:o}]", "physicalLocation", place);
}

/*
 * Return the length of a rule's id.  The id of a limit is its text without the
 * amount, so that a CI system shows the same alert after the amount changes.
 * The id of a condition is its whole text.
 */
static size_t
id_nbytes(const struct rule *r)
{
	const char *const blank = strrchr(r->text, ' ');

	return r->baseline != NULL || blank == NULL ? strlen(r->text)
						    : (size_t)(blank - r->text);
}

static json_t *
json_id(const struct rule *r)
{
	char *const id = strndup(r->text, id_nbytes(r));
	json_t *const string = id != NULL ? json_text(id) : NULL;

	free(id);
	return string;
}

static json_t *
json_result(const struct judgement *j, const struct rule *r,
	    const struct finding *f)
{
	return json_pack("{s:o, s:s, s:{s:o}, s:o}", "ruleId", json_id(r),
			 "level", "error", "message", "text",
			 json_text(f->message), "locations",
			 json_locations(j, r, f));
}

/* Does an earlier rule have the same id? */
static bool
is_repeated(const struct judgement *j, size_t idx)
{
	const struct rule *const r = &j->rules[idx];
	const size_t n = id_nbytes(r);

	for (size_t i = 0; i < idx; i++)
		if (id_nbytes(&j->rules[i]) == n &&
		    memcmp(j->rules[i].text, r->text, n) == 0)
			return true;
	return false;
}

static json_t *
json_rules(const struct judgement *j)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < j->rule_count; i++)
		if (!is_repeated(j, i))
			json_array_append_new(
				list, json_pack("{s:o, s:{s:o}}", "id",
						json_id(&j->rules[i]),
						"shortDescription", "text",
						json_id(&j->rules[i])));
	return list;
}

static json_t *
json_notes(const struct judgement *j)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < j->fault_count; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:{s:o}}", "level",
						"error", "message", "text",
						json_text(j->faults[i])));
	return list;
}

bool
judgement_print_sarif(FILE *f, const struct judgement *j)
{
	json_t *const results = json_array();

	for (size_t i = 0; i < j->rule_count; i++)
		for (size_t k = 0; k < j->rules[i].finding_count; k++)
			json_array_append_new(
				results, json_result(j, &j->rules[i],
						     &j->rules[i].findings[k]));
	return print_object(
		f,
		json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o, "
			  "s:[{s:b, s:o}]}]}",
			  "$schema",
			  "https://json.schemastore.org/sarif-2.1.0.json",
			  "version", "2.1.0", "runs", "tool", "driver", "name",
			  "hatf check", "version", HATF_VERSION, "rules",
			  json_rules(j), "results", results, "invocations",
			  "executionSuccessful", j->fault_count == 0,
			  "toolExecutionNotifications", json_notes(j)));
}
