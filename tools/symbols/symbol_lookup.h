/* SPDX-License-Identifier: MIT */
/*
 * symbol_lookup.h - find the function, file and line of an address in a program
 *
 * A lookup uses libdw, a library of elfutils.  It reads the debug information
 * in the program's file or in a separate file.  Without debug information, it
 * reads the symbol table.  Paths come from untrusted traces, so a lookup opens
 * only regular files.
 *
 * Only one thread at a time may use a lookup.
 */
#ifndef SYMBOL_LOOKUP_H
#define SYMBOL_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_lookup;

struct symbol_lookup_options {
	/* Another folder in which to look for separate debug files; or NULL. */
	const char *debug_dir;
	bool use_debuginfod; /* ask the servers of $DEBUGINFOD_URLS, too */
};

/*
 * A function and its source line.  Names are demangled.  NULL or 0: unknown.
 * The strings live as long as the lookup.
 */
struct symbol_lookup_name {
	const char *function, *file;
	uint64_t line, column;
};

/*
 * Maximum number of functions, inlined into each other, that one address can
 * have.  The outer ones beyond this number are omitted.
 */
#define SYMBOL_LOOKUP_NAMES_MAX 64

/*
 * Open a lookup.  Return NULL if there is no memory, or if the build lacks
 * libdw (errno is ENOSYS).
 */
struct symbol_lookup *
symbol_lookup_open(const struct symbol_lookup_options *options);
void symbol_lookup_close(struct symbol_lookup *lookup);

/*
 * Return the number of the object with this path and build id (hexadecimal, ""
 * if unknown), or -1 if there is no memory.  The first symbol_lookup_find()
 * opens the file.
 */
int symbol_lookup_object(struct symbol_lookup *lookup, const char *path,
			 const char *build_id);

/*
 * Store the functions at 'address', an address in the object's file.  The
 * innermost inlined function comes first; the last one is the function that
 * contains the code.  Return their number; 0 if nothing is known.
 */
size_t symbol_lookup_find(
	struct symbol_lookup *lookup, int object, uint64_t address,
	struct symbol_lookup_name names_ret[SYMBOL_LOOKUP_NAMES_MAX]);

/*
 * Print a line for each object whose file cannot be read, is of another build,
 * or has no debug information that can be used.  Leave out the objects in which
 * no address was looked up.  If 'path' is not NULL, leave out the objects with
 * other paths, too.  Return the number of lines.
 */
unsigned symbol_lookup_report(const struct symbol_lookup *lookup,
			      const char *path);

#endif /* SYMBOL_LOOKUP_H */
