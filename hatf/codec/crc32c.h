/* SPDX-License-Identifier: MIT */
/*
 * crc32c.h - the checksum of the bytes of a stream (FORMAT "Sums")
 *
 * CRC-32C: the polynomial 0x1edc6f41, bits reflected, initial value and final
 * XOR all ones.  It uses the processor's instruction if there is one, else a
 * table.
 *
 * These functions may run where encoder.h runs, in any thread.
 */
#ifndef HATF_CRC32C_H
#define HATF_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * Return the sum of the bytes so far followed by the 'nbytes' at 'bytes'.
 * 'crc' is the sum of the bytes so far, 0 at the start.
 */
uint32_t crc32c_add(uint32_t crc, const uint8_t *bytes, size_t nbytes);

/* The same, but always with the table: for tests. */
uint32_t crc32c_add_by_table(uint32_t crc, const uint8_t *bytes, size_t nbytes);

/* The hexadecimal digits of a sum as text, the most significant first. */
#define CRC32C_DIGITS 8

/* Write the digits of 'crc', in lower case, without a NUL. */
static inline void
crc32c_write(uint32_t crc, uint8_t digits[CRC32C_DIGITS])
{
	for (unsigned i = CRC32C_DIGITS; i-- > 0; crc >>= 4)
		digits[i] = (uint8_t)("0123456789abcdef"[crc & 15]);
}

#endif /* HATF_CRC32C_H */
