/* SPDX-License-Identifier: MIT */
/*
 * crc32c.h - the checksum of the bytes of a stream (FORMAT "Sums")
 *
 * CRC-32C: the polynomial 0x1edc6f41, bits reflected, all ones before and after.
 * Processors have an instruction for it; a table stands in where they do not.
 *
 * Runs where encoder.h runs, from any thread.
 */
#ifndef HATF_CRC32C_H
#define HATF_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The sum of some bytes and 'nbytes' more behind them; 'crc' is that of the bytes
 * before, 0 for none.
 */
uint32_t crc32c_add(uint32_t crc, const uint8_t *bytes, size_t nbytes);

/* The same by the table alone, for tests. */
uint32_t crc32c_add_slowly(uint32_t crc, const uint8_t *bytes, size_t nbytes);

#endif /* HATF_CRC32C_H */
