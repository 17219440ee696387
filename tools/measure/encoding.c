/* SPDX-License-Identifier: MIT */
/* encoding.c - see encoding.h */
#include "tools/measure/encoding.h"

#include "tools/trace/rewrite.h"
#include "tools/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define BATCH 1024

/* The fields and records that the paper's traces lack. */
#define PAPER_DROP                                            \
	(HATF_DROP_TIME | HATF_DROP_THREAD | HATF_DROP_HEAP | \
	 HATF_DROP_ATTRIBUTES | HATF_DROP_COMMENTS)

/* Release the memory of written bytes in steps of at least this size. */
#define DISCARD_NBYTES (1 << 20)

static const struct {
	const char *format, *placement;
} formats[ENCODING_COUNT] = {
	[ENCODING_BINARY] = { "binary", NULL },
	[ENCODING_ASCII] = { "ascii", NULL },
	[ENCODING_NAIVE] = { "hatf", "naive" },
	[ENCODING_BEST] = { "hatf", "best" },
	[ENCODING_SPLIT] = { "split", NULL },
	[ENCODING_SPLITADDR] = { "splitaddr", NULL },
	[ENCODING_ONLINE] = { "hatf", "online" },
	[ENCODING_OPTIMUM] = { "hatf", "optimum" },
	[ENCODING_SMALL_SIZE] = { "hatf", "small-size" },
	[ENCODING_SAME_SIZE] = { "hatf", "same-size" },
	[ENCODING_COMBINED_SIZE] = { "hatf", "combined-size" },
	[ENCODING_BASE_OFFSET_1] = { "hatf", "base-offset-1" },
	[ENCODING_BASE_OFFSET_2] = { "hatf", "base-offset-2" },
	[ENCODING_BEST_BASE_OFFSET] = { "hatf", "best-base-offset" },
	[ENCODING_STRIDE] = { "hatf", "stride" },
	[ENCODING_LITERAL] = { "hatf", "literal" },
	[ENCODING_XML] = { "xml", NULL },
	[ENCODING_METATF_SPLITADDR] = { "metatf-splitaddr", NULL },
	[ENCODING_BEST_SPLIT] = { "hatf", "best" },
};

bool
encoding_is_placed(enum encoding e)
{
	return formats[e].placement != NULL;
}

enum hatf_status
encoding_open(enum encoding e, unsigned flags, int fd,
	      const struct hatf_record *first, struct hatf_writer **writer_ret,
	      struct hatf_error *err)
{
	const bool is_plain =
		(flags & (ENCODING_COMPRESSED | ENCODING_FAST)) == 0;
	const unsigned drop = (flags & ENCODING_WHOLE) != 0 ? 0 : PAPER_DROP;
	char *const header = first != NULL ? rewrite_header(first, drop) : NULL;
	const struct hatf_writer_options options = {
		.struct_nbytes = sizeof(options),
		.fd = fd,
		.plain = is_plain,
		.level =
			(flags & ENCODING_COMPRESSED) != 0 ? ENCODING_LEVEL : 0,
		.bare = (flags & ENCODING_BARE) != 0,
		.drop = drop,
		.header = header,
		.format = formats[e].format,
		.placement = formats[e].placement,
	};
	enum hatf_status status = HATF_NO_MEMORY;

	if (first == NULL || header != NULL)
		status = hatf_writer_open(NULL, &options, writer_ret, err);
	else
		*err = (struct hatf_error){ .status = HATF_NO_MEMORY };
	free(header);
	return status;
}

/*
 * If 'fd' has grown by at least DISCARD_NBYTES since the last release, release
 * the memory of all bytes written so far.  '*nbytes' is the length of the file
 * at the last release.
 */
static void
discard_written(int fd, uint64_t *nbytes)
{
	struct stat st;

	if (fstat(fd, &st) != 0 ||
	    (uint64_t)st.st_size - *nbytes < DISCARD_NBYTES)
		return;
	*nbytes = (uint64_t)st.st_size;
	/* Ignore a failure, after which the file only takes more memory. */
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		  st.st_size);
}

/* The state while records are copied from a reader to a writer. */
struct copy {
	struct hatf_reader *reader;
	int fd;
	bool discards;
	uint64_t nbytes; /* number of bytes released so far */
	struct hatf_record batch[BATCH];
};

/*
 * Copy the records, beginning with the 'n' records in c->batch.  'status' is
 * the result of the call that has read these records.  If the trace is
 * incomplete, mark the output as incomplete.
 */
static void
write_records(struct copy *c, struct hatf_writer *writer,
	      enum hatf_status status, size_t n)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	while (status == HATF_OK &&
	       hatf_writer_write(writer, c->batch, n) == HATF_OK) {
		if (c->discards)
			discard_written(c->fd, &c->nbytes);
		status = hatf_reader_read(c->reader, c->batch, BATCH, &n);
	}
	/*
	 * If the trace is damaged, end the copy without a message, because the
	 * command also reads the trace in table3_take(), which reports the
	 * damage.
	 */
	hatf_reader_get_stats(c->reader, &stats);
	if (status != HATF_END || !stats.complete)
		hatf_writer_set_incomplete(writer);
}

static enum hatf_status
copy_trace(struct copy *c, enum encoding e, unsigned flags,
	   struct hatf_error *err)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_writer *writer;
	size_t n = 0;
	const enum hatf_status first =
		hatf_reader_read(c->reader, c->batch, BATCH, &n);
	enum hatf_status status;

	hatf_reader_get_stats(c->reader, &stats);
	if (!stats.ours)
		flags |= ENCODING_BARE;
	status = encoding_open(e, flags, c->fd, n > 0 ? c->batch : NULL,
			       &writer, err);
	if (status != HATF_OK)
		return status;
	write_records(c, writer, first, n);
	return hatf_writer_close(writer, err);
}

static enum hatf_status
open_and_copy(const struct spool *trace, enum encoding e, unsigned flags,
	      int fd, bool discards, struct hatf_error *err)
{
	struct copy *const c = calloc(1, sizeof(*c));
	enum hatf_status status;

	if (c == NULL) {
		*err = (struct hatf_error){ .status = HATF_NO_MEMORY };
		return HATF_NO_MEMORY;
	}
	c->fd = fd;
	c->discards = discards;
	status = spool_reader(trace, 0, &c->reader, err);
	if (status == HATF_OK) {
		status = copy_trace(c, e, flags, err);
		hatf_reader_close(c->reader);
	}
	free(c);
	return status;
}

enum hatf_status
encoding_write(const struct spool *trace, enum encoding e, unsigned flags,
	       int fd, struct hatf_error *err)
{
	return open_and_copy(trace, e, flags, fd, false, err);
}

enum hatf_status
encoding_measure(const struct spool *trace, enum encoding e, unsigned flags,
		 int fd, uint64_t *nbytes_ret, struct hatf_error *err)
{
	const enum hatf_status status =
		open_and_copy(trace, e, flags, fd, true, err);
	struct stat st;

	if (status != HATF_OK)
		return status;
	if (fstat(fd, &st) != 0) {
		*err = (struct hatf_error){ .status = HATF_IO,
					    .sys_errno = errno };
		return HATF_IO;
	}
	*nbytes_ret = (uint64_t)st.st_size;
	return HATF_OK;
}

void
encoding_report_error(const char *path, enum encoding e,
		      const struct hatf_error *err)
{
	const bool is_placed = formats[e].placement != NULL;
	char text[256];

	if (err->status == HATF_BAD_OPTION)
		return;
	message_print("%s: converting to %s%s%s: %s", message_path(path),
		      formats[e].format, is_placed ? ", " : "",
		      is_placed ? formats[e].placement : "",
		      message_error_text(err, text, sizeof(text)));
}
