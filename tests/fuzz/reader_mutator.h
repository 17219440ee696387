/* SPDX-License-Identifier: MIT */
/*
 * reader_mutator.h - mutations that keep gzip members valid
 *
 * Nearly every change of compressed bytes is found by inflate() or the
 * checksum, so the code after them would not be tested.  Therefore libFuzzer's
 * mutations usually change the contents of a member.  AFL++ does without.
 */
#ifndef TESTS_READER_MUTATOR_H
#define TESTS_READER_MUTATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return whether the bytes begin like a gzip member. */
bool is_gzip(const uint8_t *bytes, size_t nbytes);

/*
 * Inflate gzip members into out[0, cap) as far as they and zlib go; return how
 * many bytes came out.
 */
size_t mutator_inflate(const uint8_t *data, size_t nbytes, uint8_t *out,
		       size_t cap);

/*
 * libFuzzer's hook: change data[0, nbytes) of 'cap' bytes, return its length.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t nbytes, size_t cap,
			       unsigned seed);

#endif /* TESTS_READER_MUTATOR_H */
