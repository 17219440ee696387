/* SPDX-License-Identifier: MIT */
/* options.c - see options.h */
#include "tools/ui/options.h"

#include "hatf/hatf.h"
#include "tools/ui/message.h"
#include "tools/ui/out.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The value that getopt_long() returns for a long option is VAL_FIRST, which is
 * above every letter, plus the option's index in the page.
 */
#define VAL_FIRST 256
#define VAL_HELP  (VAL_FIRST + OPT_MAX)

/* Upper bound of the number of placements, whose names a message lists. */
#define NAMES_MAX 64

/* Column of --help at which the explanation of an option begins. */
#define HELP_COLUMN 24

static void
print_option(struct out *o, const struct opt *opt)
{
	char left[128];
	int n;

	n = snprintf(left, sizeof(left), "  %c%c%s--%s%s%s",
		     opt->letter != '\0' ? '-' : ' ',
		     opt->letter != '\0' ? opt->letter : ' ',
		     opt->letter != '\0' ? ", " : "  ", opt->name,
		     opt->arg != NULL ? " " : "",
		     opt->arg != NULL ? opt->arg : "");
	if (n >= HELP_COLUMN - 1)
		out_printf(o, "%s\n%*s", left, HELP_COLUMN, "");
	else
		out_printf(o, "%-*s", HELP_COLUMN, left);
	for (const char *line = opt->help; line != NULL;) {
		const char *const end = strchr(line, '\n');
		const int len =
			end != NULL ? (int)(end - line) : (int)strlen(line);

		if (line != opt->help)
			out_printf(o, "%*s", HELP_COLUMN, "");
		out_printf(o, "%.*s\n", len, line);
		line = end != NULL ? end + 1 : NULL;
	}
}

static int
print_help(const struct opt_page *page)
{
	static const struct opt help = { "help", 'h', NULL, "print this" };
	struct out *const o = out_stdout();

	out_printf(o, "Usage: %s %s\n\n%s\nOptions:\n", page->command,
		   page->usage, page->about);
	for (const struct opt *opt = page->opts; opt->name != NULL; opt++)
		print_option(o, opt);
	print_option(o, &help);
	if (page->notes != NULL)
		out_printf(o, "\n%s", page->notes);
	return out_finish(o, EXIT_FINE);
}

int
opt_complain(const struct opt_page *page, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	message_print("%s (see '%s --help')", text, page->command);
	return EXIT_USAGE;
}

struct tables {
	char letters[2 * OPT_MAX + 8];
	struct option longs[OPT_MAX + 2];
};

static void
make_tables(const struct opt_page *page, struct tables *t)
{
	size_t n = 0;
	char *letter = t->letters;

	memset(t, 0, sizeof(*t));
	/*
	 * '+' makes getopt_long() stop at the first operand; ':' keeps it from
	 * printing messages.
	 */
	if (page->stop_at_operand)
		*letter++ = '+';
	*letter++ = ':';
	*letter++ = 'h';
	for (; page->opts[n].name != NULL && n < OPT_MAX; n++) {
		const struct opt *const opt = &page->opts[n];

		t->longs[n].name = opt->name;
		t->longs[n].has_arg = opt->arg != NULL;
		t->longs[n].val = VAL_FIRST + (int)n;
		if (opt->letter == '\0')
			continue;
		*letter++ = opt->letter;
		if (opt->arg != NULL)
			*letter++ = ':';
	}
	t->longs[n].name = "help";
	t->longs[n].val = VAL_HELP;
}

/* Return the index in the page of the option that getopt_long() returned. */
static unsigned
option_index(const struct opt_page *page, int val)
{
	unsigned idx = 0;

	if (val >= VAL_FIRST)
		return (unsigned)(val - VAL_FIRST);
	while (page->opts[idx].letter != val)
		idx++;
	return idx;
}

/* Report the error for which getopt_long() returned '?' or ':'. */
static int
complain_option(const struct opt_page *page, char **argv, int val)
{
	const char *const word = argv[optind - 1];

	if (val == ':')
		return opt_complain(page, "%s needs an argument", word);
	/*
	 * If optopt stands for a long option, this option takes no argument,
	 * but got one.
	 */
	if (optopt >= VAL_FIRST)
		return opt_complain(page, "%s: the option takes no argument",
				    word);
	if (optopt != 0)
		return opt_complain(page, "unknown option '-%c'", optopt);
	return opt_complain(page, "unknown or ambiguous option '%s'", word);
}

int
opt_parse(const struct opt_page *page, int argc, char **argv, opt_take *take,
	  void *ctx, int *exit_ret)
{
	struct tables t;

	make_tables(page, &t);
	opterr = 0;
	optind = 1;
	for (;;) {
		const int val =
			getopt_long(argc, argv, t.letters, t.longs, NULL);

		if (val == -1)
			return optind;
		if (val == '?' || val == ':') {
			*exit_ret = complain_option(page, argv, val);
			return -1;
		}
		if (val == 'h' || val == VAL_HELP) {
			*exit_ret = print_help(page);
			return -1;
		}
		if (!take(option_index(page, val), optarg, ctx)) {
			*exit_ret = EXIT_USAGE;
			return -1;
		}
	}
}

bool
opt_parse_u64(const char *option, const char *text, uint64_t *n_ret)
{
	/*
	 * Check the first character, because strtoumax() skips blanks and
	 * accepts a minus sign.
	 */
	if (text[0] < '0' || text[0] > '9')
		goto bad;

	char *end;

	errno = 0;
	*n_ret = strtoumax(text, &end, 10);
	if (errno == 0 && *end == '\0')
		return true;
bad:
	message_print("%s: not a number from 0 to 2^64 - 1: '%s'", option,
		      text);
	return false;
}

bool
opt_parse_jobs(const char *text, unsigned *jobs_ret)
{
	uint64_t jobs;

	if (!opt_parse_u64("--jobs", text, &jobs))
		return false;
	if (jobs > HATF_READER_JOBS_MAX) {
		message_print("--jobs: too many: '%s' (want 0 to %d)", text,
			      HATF_READER_JOBS_MAX);
		return false;
	}
	*jobs_ret = (unsigned)jobs;
	return true;
}

bool
opt_parse_decimal(const char *option, const char *text, double max,
		  double *n_ret)
{
	char *end;

	/*
	 * Check the characters first, because strtod() accepts blanks, signs
	 * and hexadecimal numbers.
	 */
	if (text[strspn(text, "0123456789.")] == '\0' && text[0] != '\0') {
		*n_ret = strtod(text, &end);
		if (*end == '\0' && end != text && *n_ret <= max)
			return true;
	}
	message_print("%s: not a number from 0 to %g: '%s'", option, max, text);
	return false;
}

static unsigned
suffix_shift(char suffix)
{
	switch (suffix) {
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	default:
		return 0;
	}
}

bool
opt_parse_nbytes(const char *option, const char *text, uint64_t *nbytes_ret)
{
	if (text[0] < '0' || text[0] > '9')
		goto bad;

	char *end;

	errno = 0;
	const uintmax_t n = strtoumax(text, &end, 10);
	const unsigned shift = suffix_shift(*end);

	if (shift != 0)
		end++;
	if (*end != '\0' || errno != 0 || n > UINT64_MAX >> shift)
		goto bad;
	*nbytes_ret = n << shift;
	return true;
bad:
	message_print("%s: not a number of bytes below 2^64: '%s' (write, for "
		      "example, 4096, 64K, 2M or 1G)",
		      option, text);
	return false;
}

char *
opt_list_words(const char *const *words, char *buf, size_t nbytes)
{
	size_t used = 0;

	buf[0] = '\0';
	for (; *words != NULL; words++, used = strlen(buf))
		snprintf(buf + used, nbytes - used, "%s%s",
			 used == 0 ? "" : ", ", *words);
	return buf;
}

bool
opt_parse_word(const char *option, const char *text, const char *const *words)
{
	char list[1024];

	for (const char *const *word = words; *word != NULL; word++)
		if (strcmp(text, *word) == 0)
			return true;
	message_print("%s: unknown value '%s' (want one of %s)", option, text,
		      opt_list_words(words, list, sizeof(list)));
	return false;
}

bool
opt_parse_choice(const char *option, const char *text, const char *const *words,
		 unsigned *idx_ret)
{
	if (!opt_parse_word(option, text, words))
		return false;
	for (*idx_ret = 0; strcmp(words[*idx_ret], text) != 0;)
		++*idx_ret;
	return true;
}

bool
opt_parse_format(const char *option, const char *text, const char *other,
		 bool writes, const char **format_ret)
{
	char list[1024];
	struct hatf_format f = { .struct_nbytes = sizeof(f) };
	size_t used = (size_t)snprintf(list, sizeof(list), "%s",
				       other == NULL ? "" : other);

	*format_ret = text;
	if (other != NULL && strcmp(text, other) == 0)
		return true;
	for (unsigned i = 0; hatf_format_get(i, &f); i++) {
		if (strcmp(f.name, text) == 0) {
			if (writes ? f.writes : f.reads)
				return true;
			message_print("%s: format %s can only be %s", option,
				      text, writes ? "read" : "written");
			return false;
		}
		if ((writes ? f.writes : f.reads) && used < sizeof(list))
			used += (size_t)snprintf(list + used,
						 sizeof(list) - used, "%s%s",
						 used == 0 ? "" : ", ", f.name);
	}
	message_print("%s: unknown value '%s' (want one of %s)", option, text,
		      list);
	return false;
}

bool
opt_parse_placement(const char *text, const char **placement_ret)
{
	const char *names[NAMES_MAX + 1] = { NULL };

	for (unsigned i = 0; i < NAMES_MAX; i++)
		names[i] = hatf_writer_placement(i);
	*placement_ret = text;
	return opt_parse_word("--placement", text, names);
}
