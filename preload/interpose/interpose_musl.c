/* SPDX-License-Identifier: MIT */
/*
 * interpose_musl.c - two symbols that make musl's loader skip this library
 *
 * A traced program may execute a program that is linked with musl.  LD_PRELOAD
 * then names our library for that program, too.  Our library does not work with
 * musl. musl's loader ends a program if a preloaded library needs functions
 * that only glibc has.  But the loader skips a library that defines both
 * symbols below, since it takes that library for another libc.  (It goes on as
 * if LD_PRELOAD had named its own "libc.so" instead.)
 *
 * Other loaders must not find the symbols.  scripts/hide-symbols.sh marks them
 * as hidden in the linked library: glibc skips hidden symbols, and musl ignores
 * the mark.  The linker cannot mark them, since it leaves out symbols that are
 * hidden in an object file.
 */

#include "preload/sys/export.h"

extern const char musl_mark_stdin __asm__("stdin");
extern const char musl_mark_start __asm__("__libc_start_main");

EXPORT const char musl_mark_stdin = 0;
EXPORT const char musl_mark_start = 0;
