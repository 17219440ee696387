/* SPDX-License-Identifier: MIT */
/*
 * inflate.h - one whole gzip member of ours into bytes
 *
 * The counterpart of deflate.h: a member that tells its own length (FORMAT
 * "Compression") and lies in memory is inflated at once, by libdeflate if the
 * build has it, which takes half of the time that zlib's streams take.  It is
 * all or nothing: what is damaged, cut off or of another form is for zlib's
 * inflate() to read, as far as it goes.
 */
#ifndef HATF_INFLATE_H
#define HATF_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As many bytes tell whether a member has our form, and how long it is. */
#define INFLATE_HEADER_NBYTES 20

/* A library's state; used by one thread at a time. */
struct inflate;

/* NULL: there is no memory. */
struct inflate *inflate_open(void);

/* NULL is allowed. */
void inflate_close(struct inflate *state);

/*
 * The length of the member whose first INFLATE_HEADER_NBYTES bytes are at 'p', by
 * its own word, or 0 if it is none of ours.  At least header and trailer.
 */
size_t inflate_member_nbytes(const uint8_t *p);

/* The length of its data, by the last bytes of the member in[0, in_nbytes). */
size_t inflate_data_nbytes(const uint8_t *in, size_t in_nbytes);

/*
 * Inflate the member in[0, in_nbytes), with in_nbytes as its header says, into
 * out[0, out_nbytes), with out_nbytes as its trailer says.  False if anything is
 * not right: the data does not end where the trailer begins, or differs from its
 * length or CRC-32; 'out' may have been written to then.
 */
bool inflate_member(struct inflate *state, const uint8_t *in, size_t in_nbytes,
		    uint8_t *out, size_t out_nbytes);

/* "libdeflate" or "zlib"; static. */
const char *inflate_name(void);

#endif /* HATF_INFLATE_H */
