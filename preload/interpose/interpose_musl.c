/* SPDX-License-Identifier: MIT */
/*
 * interpose_musl.c - have musl's loader leave us alone
 *
 * A traced program may execute a program that is linked with musl, whose
 * LD_PRELOAD then names us.  Nothing of ours works there, and musl's loader
 * ends a program when a preloaded library needs functions that only glibc has.
 * But the loader skips a library that it takes for another libc: one that
 * defines both of these symbols.  (It then goes on as if its own "libc.so" had
 * been named instead.)
 *
 * No other loader must find the two.  scripts/hide-symbols.sh marks them as
 * hidden in the finished library: glibc skips hidden symbols, and musl ignores
 * the mark.  The linker cannot do that, since it leaves out symbols that are
 * hidden in an object.
 */

#include "preload/sys/export.h"

extern const char musl_mark_stdin __asm__("stdin");
extern const char musl_mark_start __asm__("__libc_start_main");

EXPORT const char musl_mark_stdin = 0;
EXPORT const char musl_mark_start = 0;
