/* SPDX-License-Identifier: MIT */
/*
 * gzip_members.c - see gzip_members.h
 */
#include "hatf/io/gzip_members.h"

#include "hatf/deflate/deflate_backend.h"

#include <stdlib.h>

#define ZLIB_CONST /* make zlib's next_in a pointer to const */
#include <zlib.h>

#define MEMORY_LEVEL 8 /* the default of zlib */

static size_t
no_work(int level)
{
	(void)level;
	return 0;
}

/*
 * Compress the data.  Return 0 on failure; deflate_member_by() then writes
 * stored blocks, which are not compressed.
 */
static size_t
compress_raw(int level, void *work, const uint8_t *in, size_t in_nbytes,
	     uint8_t *out, size_t out_cap)
{
	z_stream z = { .next_in = in,
		       .avail_in = (uInt)in_nbytes,
		       .next_out = out,
		       .avail_out = (uInt)out_cap };
	size_t nbytes = 0;

	(void)work;
	if (deflateInit2(&z, level, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	if (deflate(&z, Z_FINISH) == Z_STREAM_END)
		nbytes = out_cap - z.avail_out;
	deflateEnd(&z);
	return nbytes;
}

static uint32_t
crc32_of(const uint8_t *in, size_t in_nbytes)
{
	return (uint32_t)crc32_z(0, in, in_nbytes);
}

static const struct deflate_backend backend = {
	.name = "zlib",
	.work_nbytes = no_work,
	.compress = compress_raw,
	.crc32 = crc32_of,
};

size_t
gzip_members_pack(struct gzip_members *pack, int level, const uint8_t *bytes,
		  size_t nbytes)
{
	const size_t bound = deflate_bound(nbytes);

	if (bound > pack->cap) {
		free(pack->bytes);
		pack->bytes = malloc(bound);
		pack->cap = pack->bytes == NULL ? 0 : bound;
	}
	if (pack->bytes == NULL)
		return 0;
	return deflate_member_by(&backend, level, NULL, bytes, nbytes,
				 pack->bytes, pack->cap);
}

void
gzip_members_fini(struct gzip_members *pack)
{
	free(pack->bytes);
}
