/* SPDX-License-Identifier: MIT */
/*
 * interpose_musl.c - have musl's loader leave us alone
 *
 * A child of a traced program may be one of musl's, and has our name in its
 * LD_PRELOAD.  Nothing in us works there, and musl ends a program that is to be
 * given a library with functions in it that only glibc has.  But it skips a library
 * that it takes for another libc: one that defines both of these symbols.  (It then
 * goes on as if its own "libc.so" had been named instead.)
 *
 * Nobody else may find them.  scripts/hide-symbols.sh marks them hidden in the
 * finished library, and glibc skips hidden symbols, which musl does not look at.  The
 * linker cannot be asked for that: what is hidden in an object, it leaves out.
 */

#include "export.h"

extern const char musl_mark_stdin __asm__("stdin");
extern const char musl_mark_start __asm__("__libc_start_main");

EXPORT const char musl_mark_stdin = 0;
EXPORT const char musl_mark_start = 0;
