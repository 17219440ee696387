/* SPDX-License-Identifier: MIT */
/* encoding.c - see encoding.h */
#include "encoding.h"

#include "speak.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define BATCH 1024

/* What the paper's traces do not have. */
#define PAPER_DROP                                            \
	(HATF_DROP_TIME | HATF_DROP_THREAD | HATF_DROP_HEAP | \
	 HATF_DROP_ATTRIBUTES | HATF_DROP_COMMENTS)

/* How much of what is not wanted may pile up. */
#define DISCARD_NBYTES (1 << 20)

static const struct {
	const char *format, *placement;
} rows[ENCODING_COUNT] = {
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
};

bool
encoding_is_placed(enum encoding e)
{
	return rows[e].placement != NULL;
}

enum hatf_status
encoding_open(enum encoding e, unsigned flags, int fd,
	      struct hatf_writer **writer_ret, struct hatf_error *err)
{
	const bool is_plain = (flags & (ENCODING_PACKED | ENCODING_FAST)) == 0;
	const struct hatf_writer_options options = {
		.plain = is_plain,
		.level = (flags & ENCODING_PACKED) != 0 ? ENCODING_LEVEL : 0,
		.drop = (flags & ENCODING_WHOLE) != 0 ? 0 : PAPER_DROP,
		.format = rows[e].format,
		.placement = rows[e].placement,
	};

	return hatf_writer_open_fd(fd, &options, writer_ret, err);
}

/* How much has been written to 'fd', and give back the memory of it. */
static void
discard_written(int fd, uint64_t *nbytes)
{
	struct stat st;

	if (fstat(fd, &st) != 0 ||
	    (uint64_t)st.st_size - *nbytes < DISCARD_NBYTES)
		return;
	*nbytes = (uint64_t)st.st_size;
	/* If it cannot be given back, there is more of it. */
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		  st.st_size);
}

static enum hatf_status
write_records(struct hatf_reader *reader, struct hatf_writer *writer, int fd,
	      bool discard)
{
	struct hatf_record *const batch = calloc(BATCH, sizeof(*batch));
	enum hatf_status status = HATF_OK;
	uint64_t nbytes = 0;
	size_t n;

	if (batch == NULL)
		return HATF_NO_MEMORY;
	/* How the trace ends is told elsewhere; it ends here. */
	while (status == HATF_OK &&
	       hatf_reader_read(reader, batch, BATCH, &n) == HATF_OK) {
		status = hatf_writer_write(writer, batch, n);
		if (discard)
			discard_written(fd, &nbytes);
	}
	free(batch);
	return status;
}

static enum hatf_status
no_memory(struct hatf_error *err)
{
	*err = (struct hatf_error){ .status = HATF_NO_MEMORY };
	return HATF_NO_MEMORY;
}

enum hatf_status
encoding_write(const struct spool *trace, enum encoding e, unsigned flags,
	       int fd, bool discard, uint64_t *nbytes_ret,
	       struct hatf_error *err)
{
	struct hatf_reader *reader;
	struct hatf_writer *writer;
	enum hatf_status status = spool_reader(trace, 0, &reader, err);
	enum hatf_status written;
	struct stat st;

	if (status != HATF_OK)
		return status;
	status = encoding_open(e, flags, fd, &writer, err);
	if (status != HATF_OK) {
		hatf_reader_close(reader);
		return status;
	}
	written = write_records(reader, writer, fd, discard);
	hatf_reader_close(reader);
	status = hatf_writer_close(writer, err);
	if (written == HATF_NO_MEMORY)
		return no_memory(err);
	if (status == HATF_OK && fstat(fd, &st) == 0)
		*nbytes_ret = (uint64_t)st.st_size;
	return status;
}

void
encoding_complain(const char *path, enum encoding e,
		  const struct hatf_error *err)
{
	const bool is_placed = rows[e].placement != NULL;
	char text[256];

	if (err->status == HATF_LIMIT)
		return;
	speak("%s: as %s%s%s: %s", speak_path(path), rows[e].format,
	      is_placed ? ", " : "", is_placed ? rows[e].placement : "",
	      speak_error_text(err, text, sizeof(text)));
}
