/* SPDX-License-Identifier: MIT */
/*
 * crc32c.h - the checksum of the bytes of a stream (FORMAT "Sums")
 *
 * CRC-32C: the polynomial 0x1edc6f41, bits reflected, all ones before and
 * after.  Processors have an instruction for it; a table stands in where they
 * do not.
 *
 * Runs where encoder.h runs, from any thread.
 */
#ifndef HATF_CRC32C_H
#define HATF_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The sum of bytes of which the last 'nbytes' are at 'bytes'; 'crc' is the sum
 * of all bytes before those, 0 if there are none.
 */
uint32_t crc32c_add(uint32_t crc, const uint8_t *bytes, size_t nbytes);

/* The same by the table alone, for tests. */
uint32_t crc32c_add_by_table(uint32_t crc, const uint8_t *bytes, size_t nbytes);

/* A sum as text: so many hexadecimal digits, the most significant first. */
#define CRC32C_DIGITS 8

static inline void
crc32c_write(uint32_t crc, uint8_t digits[CRC32C_DIGITS])
{
	for (unsigned i = CRC32C_DIGITS; i-- > 0; crc >>= 4)
		digits[i] = (uint8_t)("0123456789abcdef"[crc & 15]);
}

#endif /* HATF_CRC32C_H */
