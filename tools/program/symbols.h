/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - the names in the symbol tables of an ELF file
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>

/* One symbol.  True: no more of them. */
typedef bool symbols_fn(const char *name, bool is_defined_function,
			void *context);

/*
 * Call 'fn' for each symbol of the ELF file open as 'fd', or for those alone
 * that the dynamic loader sees.  A file that is none, or is damaged, has fewer.
 */
void symbols_visit(int fd, bool dynamic_only, symbols_fn *fn, void *context);

#endif /* SYMBOLS_H */
