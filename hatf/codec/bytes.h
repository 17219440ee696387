/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - convert stored bytes into numbers and back
 *
 * HATF is big-endian (FORMAT "Conventions"); gzip members and some foreign
 * formats are little-endian.  No pointer needs to be aligned.  The functions
 * use only the bytes at 'p', so any thread may call them.
 */
#ifndef HATF_BYTES_H
#define HATF_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTES_HOST_IS_LITTLE 1
#else
#define BYTES_HOST_IS_LITTLE 0
#endif

static inline uint16_t
get_be16(const uint8_t *p)
{
	return (uint16_t)((unsigned)p[0] << 8 | p[1]);
}

static inline uint32_t
get_be32(const uint8_t *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return BYTES_HOST_IS_LITTLE ? __builtin_bswap32(n) : n;
}

static inline uint64_t
get_be64(const uint8_t *p)
{
	uint64_t n;

	memcpy(&n, p, sizeof(n));
	return BYTES_HOST_IS_LITTLE ? __builtin_bswap64(n) : n;
}

static inline void
put_be16(uint8_t *p, uint16_t n)
{
	p[0] = (uint8_t)(n >> 8);
	p[1] = (uint8_t)n;
}

static inline void
put_be32(uint8_t *p, uint32_t n)
{
	n = BYTES_HOST_IS_LITTLE ? __builtin_bswap32(n) : n;
	memcpy(p, &n, sizeof(n));
}

static inline void
put_be64(uint8_t *p, uint64_t n)
{
	n = BYTES_HOST_IS_LITTLE ? __builtin_bswap64(n) : n;
	memcpy(p, &n, sizeof(n));
}

static inline uint16_t
get_le16(const uint8_t *p)
{
	return (uint16_t)((unsigned)p[1] << 8 | p[0]);
}

static inline uint32_t
get_le32(const uint8_t *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return BYTES_HOST_IS_LITTLE ? n : __builtin_bswap32(n);
}

static inline uint64_t
get_le64(const uint8_t *p)
{
	uint64_t n;

	memcpy(&n, p, sizeof(n));
	return BYTES_HOST_IS_LITTLE ? n : __builtin_bswap64(n);
}

static inline void
put_le16(uint8_t *p, uint16_t n)
{
	p[0] = (uint8_t)n;
	p[1] = (uint8_t)(n >> 8);
}

static inline void
put_le32(uint8_t *p, uint32_t n)
{
	n = BYTES_HOST_IS_LITTLE ? n : __builtin_bswap32(n);
	memcpy(p, &n, sizeof(n));
}

#endif /* HATF_BYTES_H */
