/* SPDX-License-Identifier: MIT */
/* reread.c - see reread.h */
#include "tools/measure/reread.h"

#include "tools/measure/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Sizes of batches and buffers, which fit into the caches of the processor. */
#define BATCH	   256
#define IN_NBYTES  65536
#define OUT_NBYTES 262144

/* Value for inflateInit2(): a gzip file, whatever its window size. */
#define GZIP_WINDOW_BITS (16 + MAX_WBITS)

struct buffers {
	uint8_t in[IN_NBYTES], out[OUT_NBYTES];
	struct hatf_record records[BATCH];
};

/*
 * Inflate the 'nbytes' bytes in b->in.  '*status_ret' is zlib's last status;
 * pass it unchanged to the next call.
 */
static bool
inflate_piece(z_stream *z, struct buffers *b, size_t nbytes, int *status_ret)
{
	z->next_in = b->in;
	z->avail_in = (uInt)nbytes;
	do {
		/* At the end of a gzip member, continue with the next one. */
		if (*status_ret == Z_STREAM_END && inflateReset(z) != Z_OK)
			return false;
		z->next_out = b->out;
		z->avail_out = OUT_NBYTES;
		*status_ret = inflate(z, Z_NO_FLUSH);
		if (*status_ret != Z_OK && *status_ret != Z_STREAM_END &&
		    *status_ret != Z_BUF_ERROR)
			return false;
	} while (z->avail_in > 0 || z->avail_out == 0);
	return true;
}

/*
 * Inflate the whole file.  Return false if the file is not gzip, is damaged or
 * truncated, or cannot be read, or if there is no memory.
 */
static bool
inflate_file(const struct spool *trace, struct buffers *b)
{
	z_stream z = { .next_in = NULL };
	int status = Z_OK;
	uint64_t offset = 0;
	ssize_t n = 0;
	bool is_fine = true;

	if (inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK)
		return false;
	while (is_fine &&
	       (n = pread(trace->fd, b->in, IN_NBYTES, (off_t)offset)) > 0) {
		is_fine = inflate_piece(&z, b, (size_t)n, &status);
		offset += (uint64_t)n;
	}
	inflateEnd(&z);
	return is_fine && n == 0 && status == Z_STREAM_END;
}

static bool
read_file(const struct spool *trace, unsigned jobs, struct buffers *b)
{
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n;

	if (spool_reader(trace, jobs, &reader, NULL) != HATF_OK)
		return false;
	do
		status = hatf_reader_read(reader, b->records, BATCH, &n);
	while (status == HATF_OK);
	hatf_reader_close(reader);
	return status == HATF_END;
}

static bool
take_run(const struct spool *trace, struct buffers *b, struct samples *samples)
{
	double start = samples_clock();

	if (!inflate_file(trace, b))
		return false;
	samples_add(&samples[0], samples_clock() - start);
	start = samples_clock();
	if (!read_file(trace, 0, b))
		return false;
	samples_add(&samples[1], samples_clock() - start);
	start = samples_clock();
	if (!read_file(trace, REREAD_JOBS, b))
		return false;
	samples_add(&samples[2], samples_clock() - start);
	return true;
}

void
reread_take(struct reread *r, const struct spool *trace, unsigned runs)
{
	struct buffers *const b = malloc(sizeof(*b));
	struct samples samples[3] = { { .count = 0 } };
	bool is_fine = b != NULL;

	for (unsigned i = 0; i < runs && is_fine; i++)
		is_fine = take_run(trace, b, samples);
	free(b);
	r->inflate_ns = is_fine ? samples_median(&samples[0]) : NAN;
	r->read_ns = is_fine ? samples_median(&samples[1]) : NAN;
	r->jobs_ns = is_fine ? samples_median(&samples[2]) : NAN;
}
