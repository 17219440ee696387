/* SPDX-License-Identifier: MIT */
/*
 * options.h - options and help of the subcommands
 *
 * A subcommand describes itself once, in a 'struct opt_page'; getopt_long's
 * tables and the text of --help are both made from that, so that neither can
 * know an option that the other does not.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct opt {
	const char *name; /* long, without dashes */
	char letter;	  /* short, or '\0' */
	const char *arg;  /* what its argument is called; NULL: takes none */
	const char *help; /* lines after the first are indented by the caller */
};

/* The most options a page may have. */
#define OPT_MAX 16

struct opt_page {
	const char *command;	/* "hatf info" */
	const char *usage;	/* what follows it: "[OPTIONS] FILE..." */
	const char *about;	/* what it does; lines end in '\n' */
	const char *notes;	/* after the options; lines end in '\n' */
	bool stop_at_operand;	/* what follows the first operand is not ours */
	const struct opt *opts; /* up to a NULL name; --help is added */
};

/* One option was seen: number 'idx' of the page.  False: the value is wrong,
 * and that has been said. */
typedef bool opt_take(unsigned idx, const char *value, void *ctx);

/*
 * Parse 'argv'.  Returns the index of the first operand, or -1 if the command
 * is to end with '*exit_ret': --help was asked for and printed, or the usage
 * was wrong and has been complained about.
 */
int opt_parse(const struct opt_page *page, int argc, char **argv,
	      opt_take *take, void *ctx, int *exit_ret);

/* Say what is wrong with the usage, in one line.  Returns 2. */
int opt_complain(const struct opt_page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A plain decimal number. */
bool opt_parse_u64(const char *option, const char *text, uint64_t *n_ret);

/* Bytes: 4096, 64K, 2M, 1G. */
bool opt_parse_nbytes(const char *option, const char *text,
		      uint64_t *nbytes_ret);

/* Of "--placement": one of hatf_writer_placement(). */
bool opt_parse_placement(const char *text, const char **placement_ret);

/* Of "--jobs": a number for struct hatf_reader_options. */
bool opt_parse_jobs(const char *text, unsigned *jobs_ret);

/* One of 'words', which ends in NULL. */
bool opt_parse_word(const char *option, const char *text,
		    const char *const *words);

/* A format of libhatf that can be read or, if 'writes', written; or 'other', a word
 * that is none of them, unless it is NULL. */
bool opt_parse_format(const char *option, const char *text, const char *other,
		      bool writes, const char **format_ret);

#endif /* OPTIONS_H */
