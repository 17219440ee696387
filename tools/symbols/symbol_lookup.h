/* SPDX-License-Identifier: MIT */
/*
 * symbol_lookup.h - which function, file and line an address in a program is of
 *
 * By elfutils' libdw, from the debug information of the file itself or of a
 * separate file, else from its symbol table.  Paths come from traces, which
 * anybody may have written: only regular files are opened.
 *
 * One thread uses a lookup at a time.
 */
#ifndef SYMBOL_LOOKUP_H
#define SYMBOL_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_lookup;

struct symbol_lookup_options {
	const char *debug_dir; /* more separate debug files are here; or NULL */
	bool use_debuginfod;   /* ask the servers of $DEBUGINFOD_URLS, too */
};

/*
 * A function at a place in the code.  Names are demangled; NULL or 0: unknown.
 * The strings live as long as the lookup.
 */
struct symbol_lookup_name {
	const char *function, *file;
	uint64_t line, column;
};

/* Functions inlined into each other beyond this are left out. */
#define SYMBOL_LOOKUP_NAMES_MAX 64

/* NULL: no memory, or built without libdw (errno is ENOSYS). */
struct symbol_lookup *
symbol_lookup_open(const struct symbol_lookup_options *options);
void symbol_lookup_close(struct symbol_lookup *lookup);

/*
 * Find an object by path and build id (hexadecimal, "" if unknown): return its
 * number.  The first symbol_lookup_find() opens the file.  -1: no memory.
 */
int symbol_lookup_object(struct symbol_lookup *lookup, const char *path,
			 const char *build_id);

/*
 * Store what is at 'address' of the object, an address as in its file: the
 * function that was inlined innermost first, the one that holds the code last.
 * Return how many; 0: unknown.
 */
size_t symbol_lookup_find(
	struct symbol_lookup *lookup, int object, uint64_t address,
	struct symbol_lookup_name names_ret[SYMBOL_LOOKUP_NAMES_MAX]);

/*
 * Print one line for each object of which something is missing.  Return how
 * many there are.
 */
unsigned symbol_lookup_report(const struct symbol_lookup *lookup);

#endif /* SYMBOL_LOOKUP_H */
