/* SPDX-License-Identifier: MIT */
/*
 * template.h - names of output files, as HATFTRACE_OUT has them
 *
 * A template is a path in which %p stands for the process id, %e for the name
 * of the executable, %h for the host, %n for a running number, %s for that of the
 * segment and %% for '%'.
 * libhatftrace.so expands it; 'hatf record' checks it beforehand and looks for
 * the files afterwards.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* When neither -o nor HATFTRACE_OUT says anything. */
#define TEMPLATE_DEFAULT "%e.%p.hatf.gz"

/* Are all conversions known, and is there a file name?  If not, says so. */
bool template_check(const char *option, const char *text);

/* 'text' as an absolute template, to be freed; NULL (and said) if the working
 * directory or memory is missing. */
char *template_absolute(const char *text);

/*
 * Can files be made there?  Tries it, without leaving anything behind, in the
 * directory of the absolute template 'text', as far as it is the same for every
 * process.  If not, says why.
 */
bool template_directory_writable(const char *text);

/* That directory, as an O_PATH descriptor; -1 if there is none. */
int template_directory_open(const char *text);

/* Which directory that is now; false if there is none. */
bool template_directory_stat(const char *text, struct stat *st_ret);

/*
 * A pattern for glob(3) that matches what the absolute template 'text' expands
 * to, without the number that is appended to a name that is taken: for the
 * process 'pid', or for all if that is 0; with 'segments', those files that have
 * the number of a segment in their name without being told to.  To be freed; NULL
 * without memory.
 */
char *template_pattern(const char *text, pid_t pid, bool segments);

/* A path in the working directory is shown without that. */
const char *template_short(const char *path);

#endif /* TEMPLATE_H */
