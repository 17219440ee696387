/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - the name of a function as in its source
 */
#ifndef TOOLS_DEMANGLE_H
#define TOOLS_DEMANGLE_H

/*
 * Demangle a name of OCaml or, if the build has libiberty, of C++, Rust or D.
 * The caller frees the result.  Return NULL if the name is not mangled, or if
 * there is no memory.
 */
char *demangle(const char *name);

#endif /* TOOLS_DEMANGLE_H */
