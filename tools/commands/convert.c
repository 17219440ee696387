/* SPDX-License-Identifier: MIT */
/*
 * convert.c - hatf convert: write a trace in another format or without some
 * fields
 */
#include "hatf/hatf.h"
#include "tools/commands/commands.h"
#include "tools/privacy/anonymizer.h"
#include "tools/sites/site_options.h"
#include "tools/trace/rewrite.h"
#include "tools/ui/message.h"
#include "tools/ui/options.h"
#include "tools/ui/output_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_FROM,
	OPT_TO,
	OPT_GZIP,
	OPT_PLAIN,
	OPT_LEVEL,
	OPT_DROP,
	OPT_PLACEMENT,
	OPT_JOBS,
	OPT_TAGS,
	OPT_ANONYMIZE,
	OPT_NAMES,
	OPT_SITES, /* the first option of enum site_option */
};

static const struct opt options[] = {
	{ "from", 'f', "FORMAT",
	  "the format of IN; refuse IN if its content is in\n"
	  "another format" },
	{ "to", 't', "FORMAT",
	  "the format of OUT (default: by OUT's name).  The name\n"
	  "may also end in .gz or, except for hatf, split and\n"
	  "splitaddr, in .zst or .lz4" },
	{ "gzip", 'z', NULL,
	  "compress with gzip (default: if OUT ends in .gz)" },
	{ "plain", 'p', NULL, "do not compress" },
	{ "level", 'l', "N",
	  "compress with level N: hatf 1 (fast) to 12 (small),\n"
	  "other formats 1 to 9" },
	{ "drop", 'd', "LIST",
	  "omit these fields, separated by commas: time, thread,\nheap, "
	  "attributes, comment" },
	{ "placement", 'm', "NAME",
	  "hatf: how to place metadata: online (default),\n"
	  "optimum, smallest, or a technique of the paper" },
	{ "jobs", 'w', "N",
	  "decompress the input with N more threads (default 0)" },
	{ "tags", 'g', "KIND",
	  "hummingbird: what to write as tags: address (default)\n"
	  "or sequence, the number of the allocation" },
	{ "anonymize", 'a', NULL,
	  "leave out host, user, paths, arguments and the date, and\n"
	  "replace names by pseudonyms; figures stay the same" },
	{ "names", 'n', "FILE",
	  "write each pseudonym and the real name to FILE, and\n"
	  "use the pseudonyms that FILE already contains" },
	SITE_OPTIONS,
	{ NULL, 0, NULL, NULL },
};

static const struct opt_page page = {
	"hatf convert",
	"[OPTIONS] IN OUT",
	"Write the trace IN as OUT: in another format, compressed or not,\n"
	"or without some of its fields.  'hatf formats' lists the formats.\n"
	"The format of IN is detected; a few formats need --from.  '-' is\n"
	"standard input or output.\n",
	"A line reports what OUT's format cannot store.  Another line\n"
	"reports how many calls in IN are in an impossible order, as in\n"
	"logs of several threads.  If IN is incomplete, OUT is marked as "
	"incomplete.\n"
	"Exit status: 0 if all is well, 1 if the trace is bad or\n"
	"incomplete, 2 for wrong usage.\n",
	false,
	options
};

struct convert {
	struct rewrite rewrite;
	bool gzip, plain, has_level;
	/* Compression that the name of OUT stands for; NULL: none. */
	const char *name_compression;
	struct site_options sites;
	struct site_choice choice;
	bool is_choice_open;
	bool shows_stacks; /* write stacks without their hidden frames */
	bool anonymize;
	const char *names; /* argument of --names, or NULL */
	struct anonymizer *anonymizer;
};

/* Parse words separated by commas. */
static bool
parse_drop(const char *text, unsigned *drop_ret)
{
	static const char *const words[] = { "time",	   "thread",  "heap",
					     "attributes", "comment", NULL };
	static const unsigned bits[] = { HATF_DROP_TIME, HATF_DROP_THREAD,
					 HATF_DROP_HEAP, HATF_DROP_ATTRIBUTES,
					 HATF_DROP_COMMENTS };

	for (;;) {
		const size_t nbytes = strcspn(text, ",");
		char word[32];
		unsigned i = 0;

		/* Truncating is safe, because no valid word is that long. */
		memset(word, 0, sizeof(word));
		memcpy(word, text,
		       nbytes < sizeof(word) ? nbytes : sizeof(word) - 1);
		if (!opt_parse_word("--drop", word, words))
			return false;
		while (strcmp(word, words[i]) != 0)
			i++;
		*drop_ret |= bits[i];
		if (text[nbytes] == '\0')
			return true;
		text += nbytes + 1;
	}
}

/*
 * Parse the argument of --tags: are the tags of a file in the format
 * hummingbird addresses or sequence numbers?  A tag links an Allocate to its
 * Free.
 */
static bool
parse_tags(const char *text, struct rewrite *r)
{
	static const char *const words[] = { "address", "sequence", NULL };

	if (!opt_parse_word("--tags", text, words))
		return false;
	r->options.sequence_tags = strcmp(text, "sequence") == 0;
	if (r->options.sequence_tags)
		r->reading.flags |= HATF_READER_SEQUENCE_TAGS;
	return true;
}

static bool
take_option(unsigned idx, const char *value, void *ctx)
{
	struct convert *const c = ctx;
	struct hatf_writer_options *const o = &c->rewrite.options;
	uint64_t n;

	switch (idx) {
	case OPT_FROM:
		return opt_parse_format("--from", value, NULL, false,
					&c->rewrite.reading.format);
	case OPT_TO:
		return opt_parse_format("--to", value, NULL, true, &o->format);
	case OPT_GZIP:
		c->gzip = true;
		return true;
	case OPT_PLAIN:
		c->plain = true;
		return true;
	case OPT_LEVEL:
		if (!opt_parse_u64("--level", value, &n))
			return false;
		o->level = n < INT_MAX ? (int)n : INT_MAX;
		c->has_level = true;
		return true;
	case OPT_TAGS:
		return parse_tags(value, &c->rewrite);
	case OPT_PLACEMENT:
		return opt_parse_placement(value, &o->placement);
	case OPT_ANONYMIZE:
		c->anonymize = true;
		return true;
	case OPT_NAMES:
		c->names = value;
		return true;
	case OPT_JOBS:
		return opt_parse_jobs(value, &c->rewrite.reading.jobs);
	case OPT_DROP:
		return parse_drop(value, &o->drop);
	default:
		return site_options_take(&c->sites, idx - OPT_SITES, value);
	}
}

/*
 * Set the format and the compression by OUT's name, unless options set them.
 * Return false if no option sets the format and the name implies none.
 */
static bool
complete_options(struct convert *c)
{
	struct hatf_writer_options *const o = &c->rewrite.options;
	const char *const format =
		hatf_format_of_path(c->rewrite.out, &o->compression);

	if (o->format == NULL)
		o->format = format;
	c->name_compression = o->compression;
	o->plain = c->plain || (o->compression == NULL && !c->gzip);
	if (c->gzip)
		o->compression = "gzip";
	return o->format != NULL;
}

/* Does the format have its own compression? */
static bool
packs_itself(const char *format)
{
	return strcmp(format, "hatf") == 0 || strcmp(format, "split") == 0 ||
	       strcmp(format, "splitaddr") == 0;
}

/* Refuse options that the format does not support.  Return the exit status. */
static int
check_options(const struct convert *c)
{
	const struct hatf_writer_options *const o = &c->rewrite.options;
	const bool is_hatf = strcmp(o->format, "hatf") == 0;
	const int level_max = is_hatf ? 12 : 9;

	if (o->placement != NULL && !is_hatf)
		return opt_complain(&page,
				    "--placement does not apply to format %s",
				    o->format);
	if (o->sequence_tags && strcmp(o->format, "hummingbird") != 0)
		return opt_complain(&page, "--tags does not apply to format %s",
				    o->format);
	if (!o->plain && o->compression != NULL &&
	    strcmp(o->compression, "gzip") != 0 && packs_itself(o->format))
		return opt_complain(&page,
				    "format %s cannot be compressed by %s, "
				    "only by gzip",
				    o->format, o->compression);
	if (!c->has_level)
		return EXIT_FINE;
	if (o->plain)
		return opt_complain(&page,
				    "--level: OUT is not compressed (see "
				    "--gzip and --plain)");
	if (o->level < 1 || o->level > level_max)
		return opt_complain(&page,
				    "--level must be 1 to %d for format %s",
				    level_max, o->format);
	return EXIT_FINE;
}

/* ------------------------------------------------------------------ records */

/*
 * Open 'choice', which selects blocks and frames.  rewrite_trace() calls this
 * function before each copy of the trace.  If this is the second copy, first
 * close the 'choice' of the first copy.
 */
static bool
begin_choice(void *context)
{
	struct convert *const c = context;

	if (c->is_choice_open)
		site_choice_close(&c->choice);
	c->is_choice_open = true;
	return site_choice_open(&c->choice, &c->sites);
}

/*
 * Change a record as the options require.  Set '*is_kept_ret' to false if the
 * record must be omitted.
 */
static enum hatf_status
edit_record(struct convert *c, struct hatf_record *rec, bool *is_kept_ret)
{
	static uint8_t attributes[UINT16_MAX];

	*is_kept_ret = true;
	if (c->shows_stacks && rec->tag == HATF_COMMENT)
		site_choice_show_caller(&c->choice, rec, attributes);
	if (c->is_choice_open) {
		if (rec->tag != HATF_METADATA &&
		    !site_choice_keeps(&c->choice, rec)) {
			*is_kept_ret = false;
			return HATF_OK;
		}
		if (c->shows_stacks && rec->tag <= HATF_REALLOC_FREE)
			site_choice_show(&c->choice, rec, attributes,
					 sizeof(attributes));
	}
	return c->anonymizer == NULL
		       ? HATF_OK
		       : anonymizer_edit(c->anonymizer, rec, is_kept_ret);
}

static enum hatf_status
write_edited(void *context, const struct hatf_record *rec,
	     struct hatf_writer *writer)
{
	struct hatf_record edited = *rec;
	bool is_kept;
	const enum hatf_status status = edit_record(context, &edited, &is_kept);

	return status == HATF_OK && is_kept
		       ? hatf_writer_write(writer, &edited, 1)
		       : status;
}

static char *
edit_header(void *context, const struct hatf_reader *reader, char *header)
{
	const struct convert *const c = context;

	return anonymizer_edit_header(c->anonymizer, reader, header);
}

/*
 * Is this a format for tools that show call sites?  Such a format gets stacks
 * without hidden frames.
 */
static bool
is_profile(const char *format)
{
	static const char *const names[] = { "folded", "dhat", "pprof",
					     "heaptrack" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(format, names[i]) == 0)
			return true;
	return false;
}

/*
 * Copy the trace.  Then report options that had no effect, and finish the
 * anonymization.
 */
static int
convert_edited(struct convert *c)
{
	struct rewrite *const r = &c->rewrite;
	int exit_status = rewrite_trace(r);

	if (c->is_choice_open) {
		if (!site_choice_report(&c->choice, r->in))
			exit_status = EXIT_BAD_INPUT;
		site_choice_close(&c->choice);
	}
	if (c->anonymizer != NULL && r->is_written &&
	    !anonymizer_finish(c->anonymizer, r->out))
		exit_status = EXIT_BAD_INPUT;
	return exit_status;
}

/* Convert as the options require. */
static int
convert(struct convert *c)
{
	struct rewrite *const r = &c->rewrite;
	int exit_status;

	r->is_filtered = block_filter_is_needed(&c->sites.filter);
	c->sites.view.hides_new = is_profile(r->options.format);
	c->shows_stacks = c->sites.view.fold_std ||
			  (c->sites.view.hides_new && !c->sites.view.is_raw);
	r->context = c;
	if (r->is_filtered || c->shows_stacks)
		r->begin = begin_choice;
	if (c->anonymize) {
		c->anonymizer = anonymizer_open(c->names);
		if (c->anonymizer == NULL)
			return EXIT_BAD_INPUT;
		r->edit_header = edit_header;
	}
	if (r->begin != NULL || c->anonymize)
		r->write = write_edited;
	exit_status = convert_edited(c);
	anonymizer_close(c->anonymizer);
	return exit_status;
}

int
command_convert(int argc, char **argv)
{
	struct convert c = {
		.rewrite.reading.flags = HATF_READER_DISORDER,
	};
	int exit_status = EXIT_FINE;
	const int first =
		opt_parse(&page, argc, argv, take_option, &c, &exit_status);

	if (first < 0)
		return exit_status;
	if (argc - first != 2)
		return opt_complain(&page, "IN and OUT are needed");
	if (c.gzip && c.plain)
		return opt_complain(&page,
				    "--gzip and --plain exclude each other");
	if (c.names != NULL && !c.anonymize)
		return opt_complain(&page, "--names needs --anonymize");
	c.rewrite.in = argv[first];
	c.rewrite.out = argv[first + 1];
	if (!complete_options(&c))
		return opt_complain(&page,
				    "'%s' does not imply a format: use --to",
				    c.rewrite.out);
	if (c.gzip && c.name_compression != NULL &&
	    strcmp(c.name_compression, "gzip") != 0)
		return opt_complain(&page,
				    "--gzip contradicts the name '%s', which "
				    "implies compression by %s",
				    c.rewrite.out, c.name_compression);
	if (c.names != NULL && strcmp(c.names, "-") == 0)
		return opt_complain(&page, "--names: needs a file, not '-'");
	if (c.names != NULL && output_file_is_same(c.names, c.rewrite.out))
		return opt_complain(&page, "--names: '%s' is OUT", c.names);
	exit_status = check_options(&c);
	return exit_status == EXIT_FINE ? convert(&c) : exit_status;
}
