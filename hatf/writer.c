/* SPDX-License-Identifier: MIT */
/*
 * writer.c - hatf_writer: records into a file
 *
 * One buffer holds the block that is being filled.  When it has BLOCK_NBYTES it
 * is ended, compressed into one gzip member, and written.  A bare trace has no
 * block comments and no trailer; only its first block gets metadata, and what
 * is written out then is just a piece of the stream.
 */
#include "hatf.h"

#include "deflate.h"
#include "encoder.h"
#include "pairing.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Small enough to seek by, large enough for a compressor's window of 32 KiB. */
#define BLOCK_NBYTES (256 * 1024)

/* What a buffer may hold beyond that: a record, then a block or trailer. */
#define BUF_NBYTES (BLOCK_NBYTES + 2 * ENCODER_RECORD_MAX_NBYTES)

/* The text of a trailer: 8 keys, and values of at most 20 digits. */
#define TRAILER_MAX 512

#define PRODUCER "libhatf " HATF_VERSION

struct hatf_writer {
	int fd;
	bool fd_is_ours, plain, bare, in_block;
	int level;
	struct encoder encoder;
	struct pairing pairing;
	uint64_t event_count, lost_count, thread_count, time;
	uint64_t file_nbytes;
	struct hatf_error error;
	uint8_t *buf;	 /* BUF_NBYTES */
	uint8_t *member; /* deflate_bound(BUF_NBYTES); NULL if plain */
	void *work;	 /* for deflate_member(); NULL if plain */
};

static enum hatf_status
fail(struct hatf_writer *w, enum hatf_status status, int sys_errno,
     const char *field)
{
	w->error.status = status;
	w->error.sys_errno = sys_errno;
	w->error.offset = w->encoder.stream_nbytes + w->encoder.used;
	w->error.file_offset = w->file_nbytes;
	w->error.record = encoder_data_records(&w->encoder);
	w->error.field = field;
	return status;
}

/* All of the bytes, however many calls it takes. */
static enum hatf_status
write_all(struct hatf_writer *w, const uint8_t *p, size_t nbytes)
{
	while (nbytes != 0) {
		const ssize_t n = write(w->fd, p, nbytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(w, HATF_IO, errno, NULL);
		p += n;
		nbytes -= (size_t)n;
		w->file_nbytes += (uint64_t)n;
	}
	return HATF_OK;
}

/* Write what the buffer holds, as one member unless the trace is plain. */
static enum hatf_status
flush(struct hatf_writer *w)
{
	struct encoder *const e = &w->encoder;
	enum hatf_status status;

	if (e->used == 0)
		return HATF_OK;
	encoder_end(e);
	if (w->plain) {
		status = write_all(w, e->buf, e->used);
	} else {
		const size_t nbytes =
			deflate_member(w->level, w->work, e->buf, e->used,
				       w->member, deflate_bound(BUF_NBYTES));

		status = write_all(w, w->member, nbytes);
	}
	if (status != HATF_OK)
		return status;
	encoder_reset(e);
	w->in_block = w->bare && w->in_block;
	return HATF_OK;
}

/* The first line of a comment that the writer makes itself? */
static bool
is_framing(const struct hatf_record *rec)
{
	static const char *const kinds[] = { "HATF 1.0", "HATF block",
					     "HATF end" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const size_t nbytes = strlen(kinds[i]);

		if (rec->attributes_nbytes >= nbytes &&
		    memcmp(rec->attributes, kinds[i], nbytes) == 0 &&
		    (rec->attributes_nbytes == nbytes ||
		     rec->attributes[nbytes] == '\n'))
			return true;
	}
	return false;
}

/* Begin a block for 'rec', unless there is one. */
static void
open_block(struct hatf_writer *w, const struct hatf_record *rec)
{
	struct encoder *const e = &w->encoder;

	if (w->in_block)
		return;
	w->in_block = true;
	if (w->bare)
		encoder_place(e, rec->time, rec->thread);
	else
		encoder_begin(e, w->event_count, rec->time, rec->thread);
}

static void
count(struct hatf_writer *w, const struct hatf_record *rec)
{
	const char *const text = (const char *)rec->attributes;
	uint64_t lost;

	w->event_count += pairing_role(&w->pairing, rec) == PAIRING_EVENT;
	w->thread_count += rec->tag == HATF_CREATE_THREAD;
	if (rec->tag != HATF_COMMENT)
		w->time = rec->time;
	else if (rec->attributes_nbytes > 10 &&
		 memcmp(text, "HATF lost\n", 10) == 0 &&
		 text_find_u64(text, rec->attributes_nbytes, "count", &lost))
		w->lost_count += lost;
}

static enum hatf_status
write_record(struct hatf_writer *w, const struct hatf_record *rec)
{
	struct hatf_record timed = *rec;

	if (rec->tag > HATF_COMMENT)
		return fail(w, HATF_BAD_RECORD, 0, "tag");
	if (rec->attributes_nbytes > UINT16_MAX)
		return fail(w, HATF_BAD_RECORD, 0, "attributes");
	if (rec->tag == HATF_COMMENT && !w->bare && is_framing(rec))
		return HATF_OK;
	/* A comment has no time of its own: the block has the last one. */
	if (rec->tag == HATF_COMMENT)
		timed.time = w->time;
	open_block(w, &timed);
	encoder_put(&w->encoder, rec);
	count(w, rec);
	return w->encoder.used < BLOCK_NBYTES ? HATF_OK : flush(w);
}

enum hatf_status
hatf_writer_write(struct hatf_writer *w, const struct hatf_record *records,
		  size_t n)
{
	for (size_t i = 0; i < n && w->error.status == HATF_OK; i++)
		write_record(w, &records[i]);
	return w->error.status;
}

const struct hatf_error *
hatf_writer_error(const struct hatf_writer *w)
{
	return &w->error;
}

/* The header comment; false if the caller's lines make it too long. */
static bool
put_header(struct hatf_writer *w, const char *lines)
{
	/* The buffer is empty, and its end is far behind the header's place. */
	char *const scratch = (char *)w->buf + BUF_NBYTES - UINT16_MAX;
	struct text t;

	text_init(&t, scratch, UINT16_MAX);
	text_str(&t, "HATF 1.0\n");
	if (lines == NULL ||
	    text_find(lines, strlen(lines), "producer", NULL, 0) < 0)
		text_line(&t, "producer", PRODUCER, strlen(PRODUCER));
	if (lines != NULL)
		text_str(&t, lines);
	return !t.full && encoder_comment(&w->encoder, scratch, t.used);
}

static enum hatf_status
put_trailer(struct hatf_writer *w)
{
	struct encoder *const e = &w->encoder;
	char buf[TRAILER_MAX];
	struct text t;

	text_init(&t, buf, sizeof(buf));
	text_str(&t, "HATF end\n");
	text_line_u64(&t, "complete", 1);
	text_line(&t, "end", "exit", 4);
	text_line_u64(&t, "events", w->event_count);
	text_line_u64(&t, "records", encoder_data_records(e));
	text_line_u64(&t, "lost", w->lost_count);
	text_line_u64(&t, "threads", w->thread_count + 1);
	text_line_u64(&t, "time", w->time);
	text_line_u64(&t, "hatf_bytes", e->stream_nbytes + e->used);
	encoder_comment(e, buf, t.used);
	return flush(w);
}

static enum hatf_status
allocate(struct hatf_writer *w)
{
	w->buf = malloc(BUF_NBYTES);
	if (w->buf == NULL)
		return fail(w, HATF_NO_MEMORY, 0, NULL);
	encoder_init(&w->encoder, w->buf, BUF_NBYTES);
	if (w->plain)
		return HATF_OK;
	deflate_load();
	w->member = malloc(deflate_bound(BUF_NBYTES));
	w->work = aligned_alloc(64,
				(deflate_work_nbytes(w->level) + 63) / 64 * 64);
	if (w->member == NULL || w->work == NULL)
		return fail(w, HATF_NO_MEMORY, 0, NULL);
	return HATF_OK;
}

static enum hatf_status
open_file(struct hatf_writer *w, const char *path)
{
	if (strcmp(path, "-") == 0) {
		w->fd = STDOUT_FILENO;
		return HATF_OK;
	}
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (w->fd < 0)
		return fail(w, HATF_IO, errno, NULL);
	w->fd_is_ours = true;
	return HATF_OK;
}

static void
writer_free(struct hatf_writer *w)
{
	free(w->buf);
	free(w->member);
	free(w->work);
	free(w);
}

enum hatf_status
hatf_writer_open(const char *path, const struct hatf_writer_options *options,
		 struct hatf_writer **writer_ret, struct hatf_error *err)
{
	static const struct hatf_writer_options defaults;
	const struct hatf_writer_options *const o =
		options == NULL ? &defaults : options;
	struct hatf_writer *const w = calloc(1, sizeof(*w));
	enum hatf_status status;

	if (w == NULL) {
		if (err != NULL)
			*err = (struct hatf_error){ .status = HATF_NO_MEMORY };
		return HATF_NO_MEMORY;
	}
	w->fd = -1;
	w->plain = o->plain;
	w->bare = o->bare;
	w->level = o->level == 0 ? DEFLATE_LEVEL_DEFAULT : o->level;
	if (w->level < DEFLATE_LEVEL_MIN || w->level > DEFLATE_LEVEL_MAX) {
		status = fail(w, HATF_LIMIT, 0, "level");
		goto out_free;
	}
	status = allocate(w);
	if (status != HATF_OK)
		goto out_free;
	if (!w->bare && !put_header(w, o->header)) {
		status = fail(w, HATF_LIMIT, 0, "header");
		goto out_free;
	}
	status = open_file(w, path);
	if (status != HATF_OK)
		goto out_free;
	*writer_ret = w;
	return HATF_OK;

out_free:
	if (err != NULL)
		*err = w->error;
	writer_free(w);
	return status;
}

enum hatf_status
hatf_writer_close(struct hatf_writer *w, struct hatf_error *err)
{
	enum hatf_status status;

	if (w == NULL)
		return HATF_OK;
	if (w->error.status == HATF_OK) {
		if (w->bare)
			flush(w);
		else
			put_trailer(w);
	}
	if (w->fd_is_ours && close(w->fd) != 0 && w->error.status == HATF_OK)
		fail(w, HATF_IO, errno, NULL);
	status = w->error.status;
	if (err != NULL)
		*err = w->error;
	writer_free(w);
	return status;
}
