/* SPDX-License-Identifier: MIT */
/*
 * input.c - see input.h
 *
 * input.c calls inflate() again and again, each time with room for output,
 * until inflate() makes no progress.  By then, inflate() has returned all data
 * that its input determines.  So a truncated member yields all of its data that
 * can be recovered, wherever it is cut.
 *
 * If a member that input.c decompresses as a whole is damaged, input_read() has
 * returned none of its data yet.  input.c then sets 'ignores_lengths', and
 * zlib's streams read this member again from its start, and also all members
 * after it: first those in the queue 'ahead', then the rest of the buffer and
 * of the file.
 */
#include "hatf/io/input.h"

#include "hatf/io/inflate.h"
#include "hatf/io/inflate_ahead.h"
#include "hatf/io/try_again.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * GZIP_ID1 and GZIP_ID2 begin a gzip member (RFC 1952).  GZIP_WINDOW_BITS are
 * zlib's window bits for "only gzip, any window".
 */
#define GZIP_ID1	 0x1f
#define GZIP_ID2	 0x8b
#define GZIP_WINDOW_BITS (16 + MAX_WBITS)

/*
 * Maximum number of bytes that one read() asks for: few enough that they are
 * still in the cache when the caller uses them.
 */
#define READ_NBYTES (128 * 1024)

/*
 * The limits of FORMAT "Limits".  The first BOMB_NBYTES of data are always
 * accepted.  Longer data may be at most BOMB_RATIO times as long as the part of
 * the file that has been consumed; with zstd and lz4, BOMB_RATIO_FRAMES times.
 * BOMB_RATIO_FRAMES is also the limit for formats that compress parts of a file
 * (input_may_unpack()), because the whole file may be compressed once more.
 * Data beyond these limits was made to keep a reader busy.  Deflate reaches at
 * most 1032 to 1, and far less for real data.  zstd reaches 14000 to 1 for the
 * log of a program in a tight loop where nothing changes.  It reaches 32768 to
 * 1 only for a single repeated byte.
 */
#define BOMB_RATIO	  1000
#define BOMB_RATIO_FRAMES 20000
#define BOMB_NBYTES	  ((uint64_t)256 << 20)

/*
 * Like read(), but wait for data even if the descriptor is non-blocking.  If
 * read() fails, set 'sys_errno' and return -1.
 */
static ssize_t
read_some(struct input *in, uint8_t *to, size_t nbytes)
{
	for (;;) {
		const ssize_t got = read(in->fd, to, nbytes);

		if (got >= 0)
			return got;
		if (!try_again(in->fd, POLLIN)) {
			in->sys_errno = errno;
			return -1;
		}
	}
}

/*
 * Read into 'to', and add the number of bytes to 'file_nbytes'.  At the end of
 * the file, or if read() fails, return 0 and set 'status'.
 */
static size_t
read_file(struct input *in, uint8_t *to, size_t nbytes)
{
	const uint64_t left = in->limit - in->file_nbytes;
	ssize_t got;

	if (nbytes > READ_NBYTES)
		nbytes = READ_NBYTES;
	if (nbytes > left)
		nbytes = (size_t)left;
	got = nbytes != 0 ? read_some(in, to, nbytes) : 0;
	if (got > 0) {
		in->file_nbytes += (uint64_t)got;
		return (size_t)got;
	}
	in->file_ended = true;
	in->status = got < 0 ? HATF_IO : HATF_END;
	return 0;
}

/*
 * Read until the buffer has at least 'nbytes' bytes or the file ends.  Return
 * how many bytes the buffer has.
 */
static size_t
fill(struct input *in, size_t nbytes)
{
	size_t used = (size_t)(in->end - in->buf);

	/* Call read() again, because a pipe may deliver one byte at a time. */
	while (used < nbytes && !in->file_ended)
		used += read_file(in, in->buf + used, INPUT_BUF_NBYTES - used);
	in->end = in->buf + used;
	return used;
}

/*
 * Recognize the kind of frames.  Skippable frames may come first, but have the
 * same form for zstd and lz4.  So look for the first other frame that begins in
 * the buffer.  Consume nothing.
 */
static enum frame_kind
recognize_frames(struct input *in)
{
	uint64_t off = 0, nbytes;
	size_t used = fill(in, FRAME_PREFIX_NBYTES);
	enum frame_kind kind = frame_kind_recognize(in->buf, used);

	while ((nbytes = frame_skip_nbytes(in->buf + off, used - off)) != 0) {
		off += nbytes;
		if (off > INPUT_BUF_NBYTES - FRAME_PREFIX_NBYTES)
			break;
		used = fill(in, off + FRAME_PREFIX_NBYTES);
		if (used <= off)
			break;
		kind = frame_kind_recognize(in->buf + off, used - off);
	}
	return kind != FRAME_NONE ? kind : frame_kind_recognize(in->buf, used);
}

/*
 * Prepare both ways to read gzip members: as a whole, and by zlib's stream.
 * Return false if there is no memory.
 */
static bool
init_compressed(struct input *in)
{
	if (inflateInit2(&in->zlib, GZIP_WINDOW_BITS) != Z_OK)
		return false;
	in->zlib_in_use = true;
	in->inflate = inflate_open();
	in->data = malloc(INFLATE_AHEAD_MEMBER_NBYTES);
	return in->inflate != NULL && in->data != NULL;
}

/*
 * Return how many bytes a regular file has after its present position, or
 * UINT64_MAX if this number is not known.  A 'size' of 0 may be wrong: the
 * files in /proc have the size 0, but are not empty.
 */
static uint64_t
remaining_nbytes(int fd, off_t size)
{
	const off_t at = lseek(fd, 0, SEEK_CUR);

	if (at < 0 || size == 0)
		return UINT64_MAX;
	return size > at ? (uint64_t)(size - at) : 0;
}

enum hatf_status
input_init(struct input *in, int fd, unsigned jobs)
{
	struct stat st;
	size_t used;

	*in = (struct input){ .fd = fd, .jobs = jobs };
	in->buf = malloc(INPUT_BUF_NBYTES);
	if (in->buf == NULL)
		return in->status = HATF_NO_MEMORY;
	in->is_regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	in->limit =
		in->is_regular ? remaining_nbytes(fd, st.st_size) : UINT64_MAX;
	in->next = in->end = in->buf;
	in->kind = recognize_frames(in);
	used = (size_t)(in->end - in->buf);
	in->compressed =
		in->kind != FRAME_NONE ||
		(used >= 2 && in->buf[0] == GZIP_ID1 && in->buf[1] == GZIP_ID2);
	if (in->kind != FRAME_NONE) {
		const enum hatf_status status =
			frame_reader_open(in->kind, &in->frame_reader);

		if (status != HATF_OK)
			return in->status = status;
	} else if (in->compressed && !init_compressed(in)) {
		return in->status = HATF_NO_MEMORY;
	}
	if (in->status == HATF_IO && used == 0)
		return HATF_IO;
	/*
	 * If reading failed after some bytes, let the caller consume these
	 * bytes first.  input_read() then reports the failure.
	 */
	return HATF_OK;
}

static size_t
read_plain(struct input *in, uint8_t *to, size_t nbytes)
{
	const size_t left = (size_t)(in->end - in->next);
	const size_t n = nbytes < left ? nbytes : left;

	if (left == 0)
		return in->file_ended ? 0 : read_file(in, to, nbytes);
	memcpy(to, in->next, n);
	in->next += n;
	return n;
}

/* ---------------------------------------------------------- whole members */

/* Would read() block, because there is no data yet? */
static bool
would_block(const struct input *in)
{
	struct pollfd fd = { .fd = in->fd, .events = POLLIN };

	return !in->is_regular && poll(&fd, 1, 0) == 0;
}

/*
 * Read until the buffer has at least 'nbytes' bytes from 'next' on (at most
 * INPUT_BUF_NBYTES).  Return false if the file ends or read() fails before
 * that.  If 'may_block' is false, also return false where read() would block.
 */
static bool
fill_from_next(struct input *in, size_t nbytes, bool may_block)
{
	const size_t left = (size_t)(in->end - in->next);

	if (left >= nbytes)
		return true;
	if ((size_t)(in->buf + INPUT_BUF_NBYTES - in->next) < nbytes) {
		memmove(in->buf, in->next, left);
		in->next = in->buf;
		in->end = in->buf + left;
	}
	while ((size_t)(in->end - in->next) < nbytes) {
		uint8_t *const to = in->buf + (in->end - in->buf);

		if (in->file_ended || (!may_block && would_block(in)))
			return false;
		in->end += read_file(in, to,
				     (size_t)(in->buf + INPUT_BUF_NBYTES - to));
	}
	return true;
}

/*
 * Read the next member into the buffer.  Return its length, and set
 * '*data_nbytes_ret' to the length of its data.  Return 0 if the member cannot
 * be decompressed as a whole, or if 'may_block' is false and the member has not
 * arrived completely.
 */
static size_t
whole_member(struct input *in, bool may_block, size_t *data_nbytes_ret)
{
	size_t nbytes;

	if (!fill_from_next(in, INFLATE_HEADER_NBYTES, may_block))
		return 0;
	nbytes = inflate_member_nbytes(in->next);
	if (nbytes == 0 || nbytes > INFLATE_AHEAD_MEMBER_NBYTES ||
	    !fill_from_next(in, nbytes, may_block))
		return 0;
	*data_nbytes_ret = inflate_data_nbytes(in->next, nbytes);
	return *data_nbytes_ret <= INFLATE_AHEAD_MEMBER_NBYTES ? nbytes : 0;
}

/*
 * Copy members to the queue 'ahead' until the queue is full or whole_member()
 * returns 0.
 */
static void
feed_ahead(struct input *in)
{
	struct inflate_ahead_member *m;

	while ((m = inflate_ahead_room(in->ahead)) != NULL) {
		/*
		 * Wait for input only if the queue is empty.  Otherwise the
		 * caller need not wait, because a member in the queue is
		 * decompressed already, or soon will be.
		 */
		m->in_nbytes = whole_member(
			in, inflate_ahead_is_empty(in->ahead), &m->out_nbytes);
		if (m->in_nbytes == 0)
			break;
		memcpy(m->in, in->next, m->in_nbytes);
		in->next += m->in_nbytes;
		m->file_end = in->file_nbytes - (uint64_t)(in->end - in->next);
		inflate_ahead_put(in->ahead);
	}
}

/* Let zlib read the bytes of the member at the front of 'ahead'. */
static void
read_front(struct input *in, const struct inflate_ahead_member *m)
{
	in->next = m->in;
	in->end = m->in + m->in_nbytes;
}

/*
 * Take the member at the front of 'ahead', and let 'data_next' point to its
 * data.  Return false if there is no member.  If the member is damaged, let
 * 'next' point to its compressed bytes, and return false.
 */
static bool
take_ahead(struct input *in)
{
	const struct inflate_ahead_member *m;

	feed_ahead(in);
	m = inflate_ahead_front(in->ahead);
	if (m == NULL)
		return false;
	in->from_ahead = true;
	if (m->good) {
		in->data_next = m->out;
		in->data_end = m->out + m->out_nbytes;
		return true;
	}
	in->ignores_lengths = true;
	in->buf_next = in->next;
	in->buf_end = in->end;
	read_front(in, m);
	return false;
}

/*
 * Remove the used member at the front of 'ahead'.  If 'ignores_lengths' is set,
 * let zlib's streams go on with the next member in 'ahead' or, if there is
 * none, with the rest of 'buf'.
 */
static void
drop_ahead(struct input *in)
{
	const struct inflate_ahead_member *m;

	inflate_ahead_drop(in->ahead);
	in->from_ahead = false;
	if (!in->ignores_lengths)
		return;
	m = inflate_ahead_front(in->ahead);
	in->from_ahead = m != NULL;
	if (m != NULL) {
		read_front(in, m);
	} else {
		in->next = in->buf_next;
		in->end = in->buf_end;
	}
}

/*
 * Decompress the next member as a whole.  If its data fits into to[0, room),
 * store the data there, and set '*got_ret' to its length.  Otherwise, store the
 * data in in->data, from which return_data() copies it later.  Return false if
 * the member cannot be decompressed as a whole, or if it is damaged.
 */
static bool
take_member(struct input *in, uint8_t *to, size_t room, size_t *got_ret)
{
	size_t data_nbytes;
	const size_t nbytes = whole_member(in, true, &data_nbytes);

	if (nbytes == 0)
		return false;

	uint8_t *const out = data_nbytes <= room ? to : in->data;

	if (!inflate_member(in->inflate, in->next, nbytes, out, data_nbytes)) {
		in->ignores_lengths = true;
		return false;
	}
	in->next += nbytes;
	if (out == to) {
		*got_ret = data_nbytes;
	} else {
		in->data_next = in->data;
		in->data_end = in->data + data_nbytes;
	}
	return true;
}

/* ----------------------------------------------------------- zlib's streams */

/*
 * Call inflate() once; return false if it cannot continue.  Data that inflate()
 * returns together with an error is valid, because the data precedes the
 * damage.
 */
static bool
inflate_some(struct input *in)
{
	z_stream *const z = &in->zlib;
	int result;

	z->next_in = in->next;
	z->avail_in = (uInt)(in->end - in->next);
	result = inflate(z, Z_SYNC_FLUSH);
	in->next = z->next_in;
	if (result == Z_STREAM_END) {
		in->in_member = false;
		result = inflateReset(z);
	}
	if (result == Z_OK || result == Z_BUF_ERROR)
		return true;
	in->status =
		result == Z_MEM_ERROR ? HATF_NO_MEMORY : HATF_BAD_COMPRESSION;
	return false;
}

/*
 * If all bytes are consumed, go to the next member of 'ahead', or read more of
 * the file.  Return false if no bytes are left at the end of the file.
 */
static bool
refill(struct input *in)
{
	while (in->from_ahead && in->next == in->end)
		drop_ahead(in);
	if (in->next != in->end)
		return true;
	if (in->file_ended)
		return false;
	in->next = in->end = in->buf;
	in->end += read_file(in, in->buf, INPUT_BUF_NBYTES);
	return in->next != in->end;
}

/* Start a member; return false if there is none. */
static bool
begin_member(struct input *in)
{
	if (!refill(in))
		return false;
	/*
	 * If the next byte does not begin a member, zeros or other data follow
	 * the last member.  Check this here, because zlib would notice it only
	 * at the second byte, which may be missing.
	 */
	if (*in->next != GZIP_ID1) {
		in->status = HATF_BAD_COMPRESSION;
		return false;
	}
	in->in_member = true;
	return true;
}

/*
 * Continue a member until there is data in 'to' or the member ends.  Return the
 * length of the data.  Set '*more_ret' to false if nothing more can be read.
 */
static size_t
read_member(struct input *in, uint8_t *to, uInt room, bool *more_ret)
{
	bool more = true, goes_on = true;

	in->zlib.next_out = to;
	in->zlib.avail_out = room;
	while (goes_on && in->in_member && in->zlib.avail_out == room) {
		more = refill(in);
		/*
		 * Call inflate() even without input, because zlib may have
		 * output that it has not returned.
		 */
		goes_on = inflate_some(in);
		if (goes_on && !more && in->zlib.avail_out == room &&
		    in->in_member) {
			if (in->status == HATF_END)
				in->status = HATF_TRUNCATED;
			goes_on = false;
		}
	}
	*more_ret = goes_on;
	return room - in->zlib.avail_out;
}

/* ------------------------------------------------------------------ frames */

static size_t
read_frames(struct input *in, uint8_t *to, size_t room)
{
	for (;;) {
		const bool more = refill(in);
		enum hatf_status status;
		const size_t got =
			frame_reader_read(in->frame_reader, &in->next, in->end,
					  to, room, &status);

		if (status != HATF_OK) {
			in->status = status;
			return 0;
		}
		if (got != 0)
			return got;
		if (more)
			continue;
		if (in->status == HATF_END &&
		    frame_reader_is_inside(in->frame_reader))
			in->status = HATF_TRUNCATED;
		return 0;
	}
}

/* ----------------------------------------------------------------- reading */

/* Return more data of a member that was decompressed as a whole. */
static size_t
return_data(struct input *in, uint8_t *to, size_t room)
{
	const size_t left = (size_t)(in->data_end - in->data_next);
	const size_t n = room < left ? room : left;

	memcpy(to, in->data_next, n);
	in->data_next += n;
	return n;
}

/*
 * Decompress the next member as a whole.  Call this when all data of the
 * previous member has been returned.  After the call, the new data is in 'to'
 * ('*got_ret' bytes) or at 'data_next'.  Return false if no member can be
 * decompressed as a whole.
 */
static bool
take_whole(struct input *in, uint8_t *to, size_t room, size_t *got_ret)
{
	if (in->ignores_lengths)
		return false;
	if (in->from_ahead)
		drop_ahead(in);
	if (in->jobs != 0 && in->ahead == NULL) {
		in->ahead = inflate_ahead_open(in->jobs);
		if (in->ahead == NULL)
			in->jobs = 0;
	}
	if (in->jobs == 0)
		return take_member(in, to, room, got_ret);
	return take_ahead(in);
}

/*
 * Are 'nbytes' bytes of data more than BOMB_NBYTES, and more than 'ratio' times
 * as many as the bytes of the file that have been consumed?
 */
static bool
is_implausible(const struct input *in, uint64_t nbytes, uint64_t ratio)
{
	return nbytes > BOMB_NBYTES && nbytes / ratio > input_consumed(in);
}

static bool
is_bomb(const struct input *in)
{
	return is_implausible(in, in->out_nbytes,
			      in->frame_reader != NULL ? BOMB_RATIO_FRAMES
						       : BOMB_RATIO);
}

bool
input_may_unpack(const struct input *in, uint64_t nbytes)
{
	return !is_implausible(in, nbytes, BOMB_RATIO_FRAMES);
}

static size_t
read_compressed(struct input *in, uint8_t *to, size_t nbytes)
{
	const uInt room = nbytes < INT32_MAX ? (uInt)nbytes : INT32_MAX;
	bool more = true;
	size_t got = 0;

	if (in->frame_reader != NULL)
		got = read_frames(in, to, nbytes);
	while (got == 0 && more && in->frame_reader == NULL) {
		if (in->data_next != in->data_end)
			got = return_data(in, to, room);
		else if (in->in_member)
			got = read_member(in, to, room, &more);
		else if (!take_whole(in, to, room, &got))
			more = begin_member(in);
	}
	in->out_nbytes += got;
	if (is_bomb(in))
		in->status = HATF_LIMIT;
	return got;
}

size_t
input_read(struct input *in, uint8_t *to, size_t nbytes)
{
	if (!in->compressed)
		return read_plain(in, to, nbytes);
	if (in->status != HATF_OK && in->status != HATF_END &&
	    in->status != HATF_IO)
		return 0;
	return read_compressed(in, to, nbytes);
}

const char *
input_compression(const struct input *in)
{
	if (in->kind != FRAME_NONE)
		return frame_kind_name(in->kind);
	return in->compressed ? "gzip" : NULL;
}

uint64_t
input_consumed(const struct input *in)
{
	const uint64_t left = (uint64_t)(in->end - in->next);

	if (in->ahead == NULL || inflate_ahead_is_empty(in->ahead))
		return in->file_nbytes - left;
	/*
	 * The members after the front of 'ahead' are read, but not yet
	 * consumed, so do not count them.
	 */
	return inflate_ahead_front(in->ahead)->file_end -
	       (in->ignores_lengths ? left : 0);
}

void
input_fini(struct input *in)
{
	inflate_ahead_close(in->ahead);
	inflate_close(in->inflate);
	frame_reader_close(in->frame_reader);
	if (in->zlib_in_use)
		inflateEnd(&in->zlib);
	free(in->data);
	free(in->buf);
	in->buf = NULL;
}
