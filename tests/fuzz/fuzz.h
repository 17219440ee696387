/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - functions that all fuzz targets share
 *
 * A target is one file fuzz_NAME.c with LLVMFuzzerTestOneInput(), which
 * libFuzzer, AFL++ or replay.c calls with the bytes of one input; an error ends
 * the process with abort().  An input has the same effect each time: nothing
 * depends on a clock, a random number, or the previous input.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The targets' one function; it returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

/* An assertion that every build checks. */
#define fuzz_check(condition)                                              \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, \
				__LINE__, #condition);                     \
			abort();                                           \
		}                                                          \
	} while (0)

/* Return a nameless file, which the caller closes. */
static inline int
fuzz_file(void)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_check(fd >= 0);
	return fd;
}

static inline void
fuzz_append(int fd, const uint8_t *bytes, size_t nbytes)
{
	while (nbytes > 0) {
		const ssize_t n = write(fd, bytes, nbytes);

		fuzz_check(n > 0);
		bytes += n;
		nbytes -= (size_t)n;
	}
}

/* FNV-1a: a number that changes with every byte. */
static inline uint64_t
fuzz_hash(uint64_t hash, const void *bytes, size_t nbytes)
{
	const uint8_t *const p = bytes;

	for (size_t i = 0; i < nbytes; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif /* TESTS_FUZZ_H */
