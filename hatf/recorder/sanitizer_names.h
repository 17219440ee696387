/* SPDX-License-Identifier: MIT */
/*
 * sanitizer_names.h - symbols that show that a program has the run-time library
 * of a sanitizer
 *
 * The recorder looks for these symbols in the loaded objects.  'hatf record'
 * looks for them in the file of the command.
 */
#ifndef SANITIZER_NAMES_H
#define SANITIZER_NAMES_H

/*
 * Each run-time library that is a shared library defines one of these
 * functions, and so do most run-time libraries that are linked statically.
 * AddressSanitizer comes first, because it contains LeakSanitizer.
 */
static const struct {
	const char *init, *name;
} sanitizer_inits[] = {
	{ "__asan_init", "AddressSanitizer" },
	{ "__tsan_init", "ThreadSanitizer" },
	{ "__msan_init", "MemorySanitizer" },
	{ "__hwasan_init", "HWAddressSanitizer" },
	{ "__lsan_init", "LeakSanitizer" },
};
#define SANITIZER_COUNT (sizeof(sanitizer_inits) / sizeof(*sanitizer_inits))

/*
 * If gcc links a run-time library statically, the program exports only the
 * functions that the library intercepts.  A program that exports all functions
 * of this list has such a library.
 */
static const char *const sanitizer_intercepted[] = { "malloc", "pthread_create",
						     "sigaction", "_exit" };
#define SANITIZER_INTERCEPTED_COUNT \
	(sizeof(sanitizer_intercepted) / sizeof(*sanitizer_intercepted))

#endif /* SANITIZER_NAMES_H */
