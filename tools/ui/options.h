/* SPDX-License-Identifier: MIT */
/*
 * options.h - options and help of the subcommands (prefix: opt_)
 *
 * A subcommand declares its options once, in a 'struct opt_page'.  The tables
 * for getopt_long() and the text of --help are both made from the page, so they
 * always agree.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opt {
	const char *name; /* long name, without dashes */
	char letter;	  /* short name, or '\0' */
	/* name of the argument; NULL: the option takes none */
	const char *arg;
	const char *help; /* '\n' separates lines */
};

/* Maximum number of options of a page. */
#define OPT_MAX 24

struct opt_page {
	const char *command; /* such as "hatf info" */
	/* operands in the usage line, such as "[OPTIONS] FILE..." */
	const char *usage;
	const char *about; /* what the command does; lines end in '\n' */
	/* shown after the options; lines end in '\n'; NULL: none */
	const char *notes;
	/* options end at the first operand, which begins another command */
	bool stop_at_operand;
	/* ends in a NULL name; without --help, which opt_parse() adds */
	const struct opt *opts;
};

/*
 * Called for each option on the command line: 'idx' is its index in the page.
 * If 'value' is wrong, report this and return false.
 */
typedef bool opt_take(unsigned idx, const char *value, void *ctx);

/*
 * Parse 'argv'.  Return the index of the first operand.  Return -1 if the
 * command must exit with '*exit_ret': --help was given and printed, or the
 * usage was wrong and has been reported.
 */
int opt_parse(const struct opt_page *page, int argc, char **argv,
	      opt_take *take, void *ctx, int *exit_ret);

/*
 * Report wrong usage in one line on standard error.  Return EXIT_USAGE, which
 * is 2.
 *
 * If a value is wrong, the functions opt_parse_...() below print a message and
 * return false.
 */
int opt_complain(const struct opt_page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Parse an unsigned decimal number without a sign or blanks. */
bool opt_parse_u64(const char *option, const char *text, uint64_t *n_ret);

/* Parse a number such as 2.5, from 0 to 'max'. */
bool opt_parse_decimal(const char *option, const char *text, double max,
		       double *n_ret);

/* Parse a number of bytes, such as 4096, 64K, 2M or 1G. */
bool opt_parse_nbytes(const char *option, const char *text,
		      uint64_t *nbytes_ret);

/*
 * Parse the argument of "--placement", one of the names that
 * hatf_writer_placement() returns.
 */
bool opt_parse_placement(const char *text, const char **placement_ret);

/* Parse the argument of "--jobs", for struct hatf_reader_options. */
bool opt_parse_jobs(const char *text, unsigned *jobs_ret);

/* Accept one of 'words', which ends in NULL. */
bool opt_parse_word(const char *option, const char *text,
		    const char *const *words);

/*
 * Write 'words', which ends in NULL, to 'buf' with commas between them.
 * Truncate the list to 'nbytes' bytes.  Return 'buf'.
 */
char *opt_list_words(const char *const *words, char *buf, size_t nbytes);

/* Like opt_parse_word(), but store the index of the word. */
bool opt_parse_choice(const char *option, const char *text,
		      const char *const *words, unsigned *idx_ret);

/*
 * Accept the name of a format that libhatf reads or, if 'writes', writes.  If
 * 'other' is not NULL, accept this word, too.
 */
bool opt_parse_format(const char *option, const char *text, const char *other,
		      bool writes, const char **format_ret);

#endif /* OPTIONS_H */
