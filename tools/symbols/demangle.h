/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - the name of a function as in its source
 */
#ifndef TOOLS_DEMANGLE_H
#define TOOLS_DEMANGLE_H

/*
 * Demangle a name of OCaml, and of C++, Rust or D as far as the build has
 * libiberty.  The caller frees the result.  NULL: the name is not mangled, or
 * there is no memory.
 */
char *demangle(const char *name);

#endif /* TOOLS_DEMANGLE_H */
