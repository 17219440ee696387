/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - the names in the symbol tables of an ELF file
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>

/* Called for each symbol.  Return true to stop. */
typedef bool symbols_fn(const char *name, bool is_defined_function,
			void *context);

/*
 * Call 'fn' for each symbol of the ELF file open as 'fd' or, with
 * 'dynamic_only', for each dynamic symbol.  Skip damaged parts.  For a file
 * that is not ELF, or that has a different word size from this program, call
 * 'fn' for no symbol.
 */
void symbols_visit(int fd, bool dynamic_only, symbols_fn *fn, void *context);

#endif /* SYMBOLS_H */
