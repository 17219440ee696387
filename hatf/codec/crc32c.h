/* SPDX-License-Identifier: MIT */
/*
 * crc32c.h - the checksum of the bytes of a stream (FORMAT "Sums")
 *
 * CRC-32C: the polynomial 0x1edc6f41, bits reflected, initial value and final
 * XOR all ones.  crc32c_add() uses the processor's instruction if the processor
 * has one, else a table.
 *
 * The functions keep the rules of encoder.h for code in traced programs, and
 * any thread may call them.
 */
#ifndef HATF_CRC32C_H
#define HATF_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * Extend the checksum 'crc' by the 'nbytes' bytes at 'bytes', and return the
 * new checksum.  At the start of a stream, 'crc' is 0.
 */
uint32_t crc32c_add(uint32_t crc, const uint8_t *bytes, size_t nbytes);

/* Like crc32c_add(), but always with the table: for tests. */
uint32_t crc32c_add_by_table(uint32_t crc, const uint8_t *bytes, size_t nbytes);

/* The number of hexadecimal digits of a checksum as text. */
#define CRC32C_DIGITS 8

/*
 * Write the hexadecimal digits of 'crc' in lower case, the most significant
 * first, without a NUL.
 */
static inline void
crc32c_write(uint32_t crc, uint8_t digits[CRC32C_DIGITS])
{
	for (unsigned i = CRC32C_DIGITS; i-- > 0; crc >>= 4)
		digits[i] = (uint8_t)("0123456789abcdef"[crc & 15]);
}

#endif /* HATF_CRC32C_H */
