/* SPDX-License-Identifier: MIT */
/*
 * inflate.h - decompress one complete gzip member that contains its length
 *
 * The counterpart of deflate.h.  FORMAT "Compression" defines the form of such
 * a member.  If the member is completely in memory, one call decompresses it.
 * If the build has libdeflate, this call takes half the time that zlib's
 * inflate() takes.  inflate_member() gives no partial result, so input.c uses
 * zlib's inflate() for members that are damaged, truncated or of another form.
 */
#ifndef HATF_INFLATE_H
#define HATF_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first INFLATE_HEADER_NBYTES bytes of a member show whether it has the
 * form of FORMAT "Compression", and how long it is.
 */
#define INFLATE_HEADER_NBYTES 20

/* A decompressor of libdeflate or zlib.  Used by one thread at a time. */
struct inflate;

/* Make a decompressor; NULL if there is no memory. */
struct inflate *inflate_open(void);

/* Free the decompressor.  'state' may be NULL. */
void inflate_close(struct inflate *state);

/*
 * Return the length of the member whose first INFLATE_HEADER_NBYTES bytes are
 * at 'p', as its header states it; 0 if the member does not have the form of
 * FORMAT "Compression".  A result other than 0 is at least the length of header
 * and trailer together.
 */
size_t inflate_member_nbytes(const uint8_t *p);

/*
 * Return the length of the decompressed data, as the last 4 bytes of the member
 * in[0, in_nbytes) state it.
 */
size_t inflate_data_nbytes(const uint8_t *in, size_t in_nbytes);

/*
 * Decompress the member in[0, in_nbytes) into out[0, out_nbytes).  'in_nbytes'
 * is the result of inflate_member_nbytes(), 'out_nbytes' that of
 * inflate_data_nbytes().  Return false if the member is damaged in any way; for
 * instance, if its CRC-32 is wrong.  'out' may be changed even then.
 */
bool inflate_member(struct inflate *state, const uint8_t *in, size_t in_nbytes,
		    uint8_t *out, size_t out_nbytes);

/* Return "libdeflate" or "zlib", the library in use.  The string is static. */
const char *inflate_name(void);

#endif /* HATF_INFLATE_H */
