/* SPDX-License-Identifier: MIT */
/* formats.c - hatf formats: list the formats and the fields that they keep */
#include "hatf/hatf.h"
#include "tools/commands/commands.h"
#include "tools/trace/kept_fields.h"
#include "tools/ui/json.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/out.h"

#include <stdlib.h>

enum {
	OPT_JSON,
};

static const struct opt options[] = {
	{ "json", 'j', NULL,
	  "print a line with a JSON object for each format" },
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf formats",
	"[--json]",
	"List the trace formats: the name, the file suffix, whether hatf\n"
	"reads and writes the format, its origin, and which content of a\n"
	"trace it keeps and drops.  'site' is the place of a call, 'stacks'\n"
	"are whole call stacks, 'symbols' are the names in them.\n",
	"Exit status: 0 if all is well, 2 for wrong usage.\n",
	false,
	options
};

/* Print "    keeps  size, address\n" for the bits that are set, if any. */
static void
print_list(struct out *o, const char *title, unsigned bits)
{
	const char *between = "  ";

	if (bits == 0)
		return;
	out_printf(o, "    %s", title);
	for (unsigned bit = 0; bit < HATF_KEEPS_COUNT; bit++) {
		if ((bits >> bit & 1) == 0)
			continue;
		out_printf(o, "%s%s", between, kept_fields_name(bit));
		between = ", ";
	}
	out_str(o, "\n");
}

static unsigned
drops(const struct hatf_format *f)
{
	return ~f->keeps & ((1u << HATF_KEEPS_COUNT) - 1);
}

static void
print_text(struct out *o, const struct hatf_format *f)
{
	out_printf(o, "%-12s %-12s %s%s\n", f->name,
		   f->suffix == NULL ? "-" : f->suffix,
		   !f->writes  ? "read only"
		   : !f->reads ? "write only"
			       : "read, write",
		   f->by_name ? ", needs --from" : "");
	out_printf(o, "    %s\n", f->about);
	if (drops(f) == 0)
		out_str(o, "    keeps  everything\n");
	else
		print_list(o, "keeps", f->keeps);
	print_list(o, "drops", drops(f));
}

static json_t *
json_list(unsigned bits)
{
	json_t *const list = json_array();

	for (unsigned bit = 0; bit < HATF_KEEPS_COUNT; bit++)
		if (bits >> bit & 1)
			json_array_append_new(
				list, json_string(kept_fields_name(bit)));
	if (json_array_size(list) == (size_t)__builtin_popcount(bits))
		return list;
	json_decref(list);
	return NULL;
}

static json_t *
other_suffixes(const struct hatf_format *f)
{
	json_t *const list = json_array();

	for (const char *const *end = f->other_suffixes;
	     end != NULL && *end != NULL; end++)
		json_array_append_new(list, json_string(*end));
	return list;
}

static bool
print_json(struct out *o, const struct hatf_format *f)
{
	json_t *const object = json_object();

	json_object_set_new(object, "name", json_string(f->name));
	json_object_set_new(object, "suffix", json_text(f->suffix));
	json_object_set_new(object, "other_suffixes", other_suffixes(f));
	json_object_set_new(object, "about", json_string(f->about));
	json_object_set_new(object, "reads", json_boolean(f->reads));
	json_object_set_new(object, "writes", json_boolean(f->writes));
	json_object_set_new(object, "by_name", json_boolean(f->by_name));
	json_object_set_new(object, "foreign", json_boolean(f->foreign));
	json_object_set_new(object, "keeps", json_list(f->keeps));
	json_object_set_new(object, "drops", json_list(drops(f)));
	return json_print(o, object, 10);
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	bool *const json = ctx;

	(void)idx;
	(void)value;
	*json = true;
	return true;
}

int
command_formats(int argc, char **argv)
{
	bool json = false;
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &json, &exit_status);
	struct out *const o = out_stdout();
	struct hatf_format f = { .struct_nbytes = sizeof(f) };

	if (first < 0)
		return exit_status;
	if (first != argc)
		return opt_complain(&page, "unexpected argument");
	for (unsigned i = 0; hatf_format_get(i, &f); i++) {
		if (!json)
			print_text(o, &f);
		else if (!print_json(o, &f))
			exit_status = EXIT_BAD_INPUT;
	}
	return out_finish(o, exit_status);
}
