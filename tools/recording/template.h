/* SPDX-License-Identifier: MIT */
/*
 * template.h - templates for the names of output files (HATFTRACE_OUT)
 *
 * A template is a path with conversions: %p is the process id, %e the name of
 * the executable, %h the host, %n a running number, %s the number of the
 * segment, and %% is '%'.  libhatftrace.so expands a template; 'hatf record'
 * checks it before the command runs, and searches for the files afterwards.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The template if neither -o nor HATFTRACE_OUT is given. */
#define TEMPLATE_DEFAULT "%e.%p.hatf.gz"

/*
 * Check that all conversions are known, that %s is not in the name of a
 * directory, and that there is a file name.  If not, print an error message
 * that starts with 'option' and return false.
 */
bool template_check(const char *option, const char *text);

/*
 * Return 'text' as an absolute template, which the caller frees.  If there is
 * no working directory or no memory, print an error message and return NULL.
 */
char *template_absolute(const char *text);

/*
 * Check that files can be created in the directory of the absolute template
 * 'text', by creating a test file and removing it.  If the path of the
 * directory has conversions, check the last directory before the first
 * conversion: for "/tmp/%e/%p.gz", check "/tmp".  If 'text' has no conversions
 * at all, check also that it is not the path of an existing directory or
 * special file.  On failure print an error message and return false.
 */
bool template_directory_writable(const char *text);

/*
 * Open the directory that template_directory_writable() checks, as an O_PATH
 * descriptor; -1 on failure.
 */
int template_directory_open(const char *text);

/*
 * stat() the directory that template_directory_writable() checks.  Return false
 * on failure.
 */
bool template_directory_stat(const char *text, struct stat *st_ret);

/*
 * Return a glob(3) pattern that matches the expansions of the absolute template
 * 'text'.  The pattern does not allow for the number that the recorder appends
 * if a name is taken.  Unless 'pid' is 0, %p matches only this process id.
 * With 'segments', match only names to which the recorder added the number of a
 * segment because the template has no %s.  The caller frees the pattern.  NULL
 * if out of memory.
 */
char *template_pattern(const char *text, pid_t pid, bool segments);

/*
 * If 'path' is below the working directory, return the part of 'path' below it.
 * Otherwise return 'path'.
 */
const char *template_short(const char *path);

#endif /* TEMPLATE_H */
