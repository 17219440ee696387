/* SPDX-License-Identifier: MIT */
/*
 * deflate.c - see deflate.h; the member's form is FORMAT "Compression"
 */
#include "hatf/deflate/deflate_backend.h"

#include <stdatomic.h>

#include "hatf/codec/bytes.h"

/*
 * The parts of a member: offset, bytes in hexadecimal, and meaning.
 *
 *   0  1f 8b  magic          10  08 00        length of the extra field
 *   2  08     deflate        12  48 54 04 00  subfield "HT", 4 bytes
 *   3  04     has extra      16               length of the member, LE
 *   4  00 (4) no time        20               raw deflate
 *   8  00     no hint        end - 8          CRC-32 of the input, LE
 *   9  ff     system unknown end - 4          length of the input, LE
 */
enum {
	HEADER_NBYTES = 20,
	LENGTH_OFF = 16,
	TRAILER_NBYTES = 8,
	STORED_MAX = 65535, /* maximum input of a stored block, in bytes */
	STORED_HEADER_NBYTES = 5,
};

static const uint8_t header[LENGTH_OFF] = {
	0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 8, 0, 'H', 'T', 4, 0,
};

/*
 * The default is zlib, which is linked in; deflate_load() may replace it by
 * isa-l.
 */
static const struct deflate_backend *_Atomic chosen = &deflate_zlib;

void
deflate_load(void)
{
#ifdef HAVE_ISAL
	static _Atomic bool is_tried;

	/*
	 * Both accesses are relaxed, because no thread waits for the result of
	 * the search.  A thread that calls this while another thread searches
	 * for isa-l goes on with zlib, and so does a child that is forked
	 * during the search.
	 */
	if (atomic_load_explicit(&is_tried, memory_order_relaxed) ||
	    atomic_exchange_explicit(&is_tried, true, memory_order_relaxed))
		return;
	/* release: pairs with the acquire in backend(). */
	if (deflate_isal_load())
		atomic_store_explicit(&chosen, &deflate_isal,
				      memory_order_release);
#endif
}

static const struct deflate_backend *
backend(void)
{
	return atomic_load_explicit(&chosen, memory_order_acquire);
}

/*
 * Return the size of the largest work area that any library needs at 'level',
 * since isa-l may be loaded after the call.
 */
size_t
deflate_work_nbytes(int level)
{
	size_t nbytes = deflate_zlib.work_nbytes(level);

#ifdef HAVE_ISAL
	if (level >= DEFLATE_LEVEL_MIN && level <= DEFLATE_LEVEL_MAX &&
	    deflate_isal.work_nbytes(level) > nbytes)
		nbytes = deflate_isal.work_nbytes(level);
#endif
	return nbytes;
}

size_t
deflate_bound(size_t nbytes)
{
	const size_t blocks = nbytes / STORED_MAX + 1;

	return HEADER_NBYTES + nbytes + blocks * STORED_HEADER_NBYTES +
	       TRAILER_NBYTES;
}

/*
 * Write the input as stored blocks, that is, not compressed.  Return the length
 * of the blocks.
 */
static size_t
store(const uint8_t *in, size_t in_nbytes, uint8_t *out)
{
	uint8_t *p = out;
	size_t left = in_nbytes;

	do {
		const size_t nbytes = left < STORED_MAX ? left : STORED_MAX;

		/*
		 * Bit 0 is set in the last block.  The other bits are 0, which
		 * means "stored".
		 */
		p[0] = left == nbytes;
		put_le16(p + 1, (uint16_t)nbytes);
		put_le16(p + 3, (uint16_t)~nbytes);
		p += STORED_HEADER_NBYTES;
		if (nbytes != 0)
			memcpy(p, in, nbytes);
		p += nbytes;
		in += nbytes;
		left -= nbytes;
	} while (left != 0);
	return (size_t)(p - out);
}

size_t
deflate_member_by(const struct deflate_backend *by, int level, void *work,
		  const uint8_t *in, size_t in_nbytes, uint8_t *out,
		  size_t out_cap)
{
	/*
	 * Give the library only as many bytes as stored blocks would take.  If
	 * the compressed data needs more, compress() fails, and store() writes
	 * the input uncompressed.
	 */
	const size_t bound = deflate_bound(in_nbytes);
	const size_t cap = (out_cap < bound ? out_cap : bound) - HEADER_NBYTES -
			   TRAILER_NBYTES;
	uint8_t *const body = out + HEADER_NBYTES;
	size_t body_nbytes = 0;

	if (level != DEFLATE_LEVEL_STORED)
		body_nbytes =
			by->compress(level, work, in, in_nbytes, body, cap);

	if (body_nbytes == 0)
		body_nbytes = store(in, in_nbytes, body);

	const size_t nbytes = HEADER_NBYTES + body_nbytes + TRAILER_NBYTES;

	memcpy(out, header, sizeof(header));
	put_le32(out + LENGTH_OFF, (uint32_t)nbytes);
	put_le32(body + body_nbytes, by->crc32(in, in_nbytes));
	put_le32(body + body_nbytes + 4, (uint32_t)in_nbytes);
	return nbytes;
}

size_t
deflate_member(int level, void *work, const uint8_t *in, size_t in_nbytes,
	       uint8_t *out, size_t out_cap)
{
	const struct deflate_backend *const by =
		level > DEFLATE_LEVEL_MAX ? &deflate_zlib : backend();

	return deflate_member_by(by, level, work, in, in_nbytes, out, out_cap);
}

const char *
deflate_name(void)
{
	return backend()->name;
}
