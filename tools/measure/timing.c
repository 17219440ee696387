/* SPDX-License-Identifier: MIT */
/* timing.c - see timing.h */
#include "tools/measure/timing.h"

#include "tools/measure/samples.h"
#include "tools/ui/message.h"
#include "tools/ui/progress.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Records per call.  Batches to read fit into the L1 cache.  Batches to write
 * are so large that the time to read the clock is negligible.
 */
#define READ_BATCH  256
#define WRITE_BATCH 1024

struct bench {
	const struct excerpt *excerpt;
	const char *path;
	int fd; /* anonymous file in memory */
	bool failed;
	/* the library lacks the encoding, or its measurement failed */
	bool is_missing[ENCODING_TIMED_COUNT][2];
	struct samples samples[ENCODING_TIMED_COUNT][2][2];
	struct samples perl[2];
	struct hatf_record batch[WRITE_BATCH];
};

/*
 * Write all records.  Set '*ns_ret' to the time that this takes, without the
 * time to convert the records of the excerpt to struct hatf_record.
 */
static enum hatf_status
write_once(struct bench *b, enum encoding e, unsigned flags, double *ns_ret,
	   struct hatf_error *err)
{
	const struct excerpt *const x = b->excerpt;
	struct hatf_writer *writer;
	double start = samples_cpu_clock(), ns;
	enum hatf_status status =
		encoding_open(e, flags, b->fd, NULL, &writer, err);

	if (status != HATF_OK)
		return status;
	ns = samples_cpu_clock() - start;
	for (size_t i = 0; i < x->count && status == HATF_OK;
	     i += WRITE_BATCH) {
		const size_t left = x->count - i;
		const size_t n = left < WRITE_BATCH ? left : WRITE_BATCH;

		excerpt_get(x, i, n, b->batch);
		start = samples_cpu_clock();
		status = hatf_writer_write(writer, b->batch, n);
		ns += samples_cpu_clock() - start;
	}
	start = samples_cpu_clock();
	status = hatf_writer_close(writer, err);
	*ns_ret = ns + samples_cpu_clock() - start;
	return status;
}

/*
 * Read the file to its end.  '*ns_ret' includes the time for opening and
 * closing.
 */
static enum hatf_status
read_once(struct bench *b, double *ns_ret, struct hatf_error *err)
{
	const double start = samples_cpu_clock();
	struct hatf_reader *reader;
	enum hatf_status status = spool_reader_of(b->fd, 0, &reader, err);
	size_t n;

	if (status != HATF_OK)
		return status;
	do
		status = hatf_reader_read(reader, b->batch, READ_BATCH, &n);
	while (status == HATF_OK);
	if (status != HATF_END)
		*err = *hatf_reader_error(reader);
	hatf_reader_close(reader);
	*ns_ret = samples_cpu_clock() - start;
	return status == HATF_END ? HATF_OK : status;
}

/*
 * Return whether the reader returns the records that were written.  The time of
 * this check does not count.
 */
static bool
reads_back(struct bench *b)
{
	struct hatf_reader *reader;
	bool is_same = true;
	size_t n, done = 0;

	if (spool_reader_of(b->fd, 0, &reader, NULL) != HATF_OK)
		return false;
	while (is_same &&
	       hatf_reader_read(reader, b->batch, READ_BATCH, &n) == HATF_OK) {
		for (size_t i = 0; i < n && is_same; i++)
			if (b->batch[i].tag != HATF_COMMENT)
				is_same = excerpt_has(b->excerpt, done++,
						      &b->batch[i]);
	}
	hatf_reader_close(reader);
	return is_same && done == b->excerpt->count;
}

static void
note_failure(struct bench *b, enum encoding e, bool packed,
	     const struct hatf_error *err)
{
	b->is_missing[e][packed] = true;
	if (err->status == HATF_BAD_OPTION)
		return;
	b->failed = true;
	encoding_report_error(b->path, e, err);
}

static void
time_perl(struct bench *b)
{
	double ns[2];

	if (!timing_perl(b->fd, b->excerpt->count, ns))
		return;
	samples_add(&b->perl[TIMING_READ], ns[TIMING_READ]);
	samples_add(&b->perl[TIMING_WRITE], ns[TIMING_WRITE]);
}

static void
time_encoding(struct bench *b, enum encoding e, bool packed, bool first)
{
	struct samples *const samples = b->samples[e][packed];
	struct hatf_error err = { .status = HATF_OK };
	double write_ns, read_ns;

	if (ftruncate(b->fd, 0) != 0 || lseek(b->fd, 0, SEEK_SET) != 0)
		err = (struct hatf_error){ .status = HATF_IO,
					   .sys_errno = errno };
	if (err.status != HATF_OK ||
	    write_once(b, e, packed ? ENCODING_COMPRESSED : 0, &write_ns,
		       &err) != HATF_OK ||
	    read_once(b, &read_ns, &err) != HATF_OK) {
		note_failure(b, e, packed, &err);
		return;
	}
	if (first && !reads_back(b)) {
		err.status = HATF_BAD_RECORD;
		note_failure(b, e, packed, &err);
		return;
	}
	samples_add(&samples[TIMING_WRITE], write_ns);
	samples_add(&samples[TIMING_READ], read_ns);
	if (e == ENCODING_ASCII && !packed)
		time_perl(b);
}

static void
time_all(struct bench *b, unsigned runs)
{
	struct progress progress;

	progress_begin(&progress, b->path, false);
	for (unsigned run = 0; run < runs; run++) {
		progress_step(&progress, "timing runs", run, runs);
		for (unsigned i = 0; i < ENCODING_TIMED_COUNT; i++) {
			const enum encoding e =
				(run + i) % ENCODING_TIMED_COUNT;

			for (unsigned packed = 0; packed < 2; packed++)
				if (!b->is_missing[e][packed])
					time_encoding(b, e, packed != 0,
						      run == 0);
		}
	}
	progress_end(&progress);
}

bool
timing_take(struct timing *timing, const struct excerpt *x, unsigned runs,
	    const char *path)
{
	struct bench *const b = calloc(1, sizeof(*b));
	/*
	 * If 'count' is 0, there are no samples, and each median is NAN.  A
	 * division of NAN by 0 does no harm.
	 */
	const double count = (double)x->count;
	bool is_fine;

	if (b == NULL) {
		message_print("%s", hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	b->excerpt = x;
	b->path = path;
	b->fd = spool_memory();
	if (b->fd < 0) {
		message_print("cannot create a file in memory: %s",
			      strerror(errno));
		b->failed = true;
	} else {
		if (x->count > 0)
			time_all(b, runs);
		close(b->fd);
	}
	is_fine = !b->failed;
	for (unsigned e = 0; e < ENCODING_TIMED_COUNT; e++)
		for (unsigned i = 0; i < 4; i++)
			timing->ns[e][i / 2][i % 2] =
				b->is_missing[e][i / 2]
					? NAN
					: samples_median(&b->samples[e][i / 2]
								    [i % 2]) /
						  count;
	for (unsigned way = 0; way < 2; way++)
		timing->perl_ns[way] = samples_median(&b->perl[way]) / count;
	free(b);
	return is_fine;
}
