/* SPDX-License-Identifier: MIT */
/*
 * fuzz_reader.c - any bytes as a trace
 *
 * Reading the input as a file must give records and one status, which further
 * calls repeat.  Then the target checks:
 *
 *   - If the reader detects uncompressed HATF, the decoder of
 *     tests/unit/support/mini.h must give the same records, up to the same
 *     one.
 *   - Another form of the same bytes must give the same records, error and
 *     place of the error: see 'forms' below.  The input's hash chooses the
 *     form and the number of records at a time, so an input costs two
 *     readings and a corpus tries all forms.
 *   - The event stage must accept whatever the reader delivers.
 */
#include "fuzz.h"
#include "hatf/codec/layout.h"
#include "hatf/deflate/deflate.h"
#include "hatf/hatf.h"
#include "hatf/io/frame_reader.h"
#include "reader_mutator.h"
#include "tests/unit/support/streams.h"

#include <setjmp.h>
#include <stdbool.h>

static jmp_buf illegal;
#define mini_check(condition)                \
	do {                                 \
		if (!(condition))            \
			longjmp(illegal, 1); \
	} while (0)
#include "tests/unit/support/mini.h"

/* A small file can hold a large trace: read no more than this. */
#define RECORD_MAX 20000

#define BATCH_MAX 256

/* The result of reading a file. */
struct outcome {
	enum hatf_status opened; /* nothing below counts unless HATF_OK */
	const char *format;	 /* static */
	struct hatf_reader_stats stats;
	struct hatf_error err; /* status HATF_OK: stopped at RECORD_MAX */
	size_t n;	       /* records */
	uint64_t hashes[RECORD_MAX];
};

static uint64_t
hash_record(const struct hatf_record *r, uint64_t shift)
{
	const uint64_t numbers[] = {
		r->tag,
		r->size,
		r->address,
		r->old_address,
		r->time,
		r->thread,
		r->heap,
		r->attributes_nbytes,
		r->offset - shift,
	};
	const uint64_t hash = fuzz_hash(UINT64_C(0xcbf29ce484222325), numbers,
					sizeof(numbers));

	return fuzz_hash(hash, r->attributes, r->attributes_nbytes);
}

/* All fields of a record are in range, whatever the bytes were. */
static void
check_record(const struct hatf_record *r)
{
	const unsigned fields = layout_tag_fields(r->tag);

	fuzz_check(r->tag <= HATF_COMMENT);
	fuzz_check(r->attributes_nbytes <= UINT16_MAX);
	fuzz_check(r->attributes != NULL || r->attributes_nbytes == 0);
	/* Fields that the tag does not have are 0. */
	fuzz_check(fields & 1u << HATF_FIELD_SIZE || r->size == 0);
	fuzz_check(fields & 1u << HATF_FIELD_ADDRESS || r->address == 0);
	fuzz_check((r->tag >= HATF_REALLOC_NO_ALLOC &&
		    r->tag <= HATF_REALLOC_FREE) ||
		   r->old_address == 0);
	fuzz_check(fields & 1u << HATF_FIELD_TIME || r->time == 0);
	fuzz_check(fields & 1u << HATF_FIELD_THREAD || r->thread == 0);
	fuzz_check(fields & 1u << HATF_FIELD_HEAP || r->heap == 0);
	fuzz_check(r->metadata.op == 0);
}

/* Call once more than necessary: an error is sticky. */
static void
finish(struct hatf_reader *reader, enum hatf_status status, struct outcome *out)
{
	struct hatf_record record;
	char text[512];
	size_t n;

	fuzz_check(hatf_reader_read(reader, &record, 1, &n) == status);
	fuzz_check(n == 0);
	out->err = *hatf_reader_error(reader);
	fuzz_check(status == HATF_END || out->err.status == status);
	out->err.status = status;
	if (status != HATF_END)
		hatf_error_text(&out->err, text, sizeof(text));
}

/*
 * Read the file 'fd' from its beginning, 'batch' records at a time.  Do not
 * count the first 'skip' of them, which take 'shift' bytes.
 */
static void
read_file(int fd, unsigned jobs, size_t batch, size_t skip, uint64_t shift,
	  struct outcome *out)
{
	const struct hatf_reader_options options = { .jobs = jobs };
	struct hatf_record records[BATCH_MAX];
	struct hatf_reader *reader;
	enum hatf_status status;
	size_t n;

	out->n = 0;
	fuzz_check(lseek(fd, 0, SEEK_SET) == 0);
	out->opened = reader_with(fd, options, &reader, &out->err);
	fuzz_check(out->err.status == out->opened);
	if (out->opened != HATF_OK)
		return;
	while (out->n < RECORD_MAX) {
		const size_t room = skip + RECORD_MAX - out->n;

		status = hatf_reader_read(reader, records,
					  batch < room ? batch : room, &n);
		fuzz_check((status == HATF_OK) == (n > 0));
		if (status != HATF_OK) {
			finish(reader, status, out);
			break;
		}
		for (size_t i = 0; i < n; i++) {
			check_record(&records[i]);
			if (skip > 0)
				skip--;
			else
				out->hashes[out->n++] =
					hash_record(&records[i], shift);
		}
	}
	out->format = hatf_reader_format(reader);
	out->stats.struct_nbytes = sizeof(out->stats);
	hatf_reader_get_stats(reader, &out->stats);
	hatf_reader_close(reader);
}

/* ------------------------------------------------------------------ judges */

/* mini.h stops where the reader did, and has the same records before. */
static void
judge(const uint8_t *data, size_t nbytes, const struct outcome *got)
{
	static struct mini mini;
	static volatile size_t n;
	struct hatf_record record;

	mini_init(&mini, data, nbytes);
	mini.lenient = true;
	n = 0;
	if (setjmp(illegal) != 0) {
		fuzz_check(n == got->n);
		fuzz_check(got->err.status != HATF_END &&
			   got->err.status != HATF_NO_TRAILER);
		return;
	}
	while (n < got->n) {
		if (!mini_read(&mini, &record))
			break;
		fuzz_check(hash_record(&record, 0) == got->hashes[n]);
		n++;
	}
	fuzz_check(n == got->n);
	/* That decoder does not check framing, but the rest of the file. */
	if (got->err.status == HATF_OK || got->err.status == HATF_BAD_COMMENT)
		return;
	fuzz_check(!mini_read(&mini, &record));
	fuzz_check(got->err.status == HATF_END ||
		   got->err.status == HATF_NO_TRAILER);
}

static void
check_same(const struct outcome *a, const struct outcome *b, uint64_t shift)
{
	fuzz_check(a->n == b->n);
	fuzz_check(memcmp(a->hashes, b->hashes, a->n * sizeof(a->hashes[0])) ==
		   0);
	fuzz_check(a->err.status == b->err.status);
	if (a->err.status == HATF_OK || a->err.status == HATF_END)
		return;
	fuzz_check(a->err.offset + shift == b->err.offset);
	fuzz_check((a->err.field == NULL) == (b->err.field == NULL));
	if (a->err.field != NULL)
		fuzz_check(strcmp(a->err.field, b->err.field) == 0);
}

/* ------------------------------------------------------------------- forms */

static int
make_plain(const uint8_t *data, size_t nbytes)
{
	const int fd = fuzz_file();

	fuzz_append(fd, data, nbytes);
	return fd;
}

/* Make members like those of the recorder, cut anywhere. */
static int
make_members(const uint8_t *data, size_t nbytes, uint64_t seed)
{
	static uint8_t work[512 * 1024] __attribute__((aligned(64)));
	static uint8_t member[256 * 1024];
	const size_t piece = 1 + seed % (nbytes / 2 + 64);
	const int fd = fuzz_file();

	fuzz_check(deflate_work_nbytes(1) <= sizeof(work));
	do {
		const size_t n = nbytes < piece ? nbytes : piece;
		const int level = seed >> 60 < 8 ? 1 : DEFLATE_LEVEL_STORED;

		fuzz_check(deflate_bound(n) <= sizeof(member));
		fuzz_append(fd, member,
			    deflate_member(level, work, data, n, member,
					   sizeof(member)));
		data += n;
		nbytes -= n;
	} while (nbytes > 0);
	return fd;
}

/*
 * Put comments in front, so that the input lies across the end of a window or
 * of a buffer.  Return their number.
 */
static size_t
put_comments(int fd, uint64_t shift)
{
	static uint8_t comment[3 + UINT16_MAX];
	size_t n = 0;

	while (shift > 0) {
		const uint64_t most =
			shift < sizeof(comment) ? shift : sizeof(comment);
		/* Leave three bytes for the last one. */
		const uint64_t nbytes =
			shift - most > 0 && shift - most < 3 ? most - 3 : most;

		comment[0] = HATF_COMMENT;
		comment[1] = (uint8_t)((nbytes - 3) >> 8);
		comment[2] = (uint8_t)(nbytes - 3);
		fuzz_append(fd, comment, nbytes);
		shift -= nbytes;
		n++;
	}
	return n;
}

static void
check_shifted(const uint8_t *data, size_t nbytes, uint64_t seed,
	      const struct outcome *plain, struct outcome *other)
{
	const uint64_t ends[] = { 64 * 1024, 256 * 1024, 512 * 1024 };
	const uint64_t shift = ends[seed % 3] - seed / 3 % (nbytes + 1);
	const int fd = fuzz_file();
	size_t skip;

	skip = put_comments(fd, shift);
	fuzz_append(fd, data, nbytes);
	read_file(fd, 0, BATCH_MAX, skip, shift, other);
	close(fd);
	fuzz_check(other->opened == HATF_OK);
	check_same(plain, other, shift);
}

static void
check_compressed(const uint8_t *data, size_t nbytes, uint64_t seed,
		 const struct outcome *plain, struct outcome *other)
{
	static const size_t batches[] = { 1, 3, BATCH_MAX };
	const int fd = make_members(data, nbytes, seed);

	read_file(fd, seed >> 8 & 2, batches[seed % 3], 0, 0, other);
	close(fd);
	fuzz_check(other->opened == plain->opened);
	if (plain->opened == HATF_OK)
		check_same(plain, other, 0);
}

/*
 * Threads that inflate may change only how far the file has been read when an
 * error is found.
 */
static void
check_jobs(int fd, const struct outcome *got, struct outcome *other)
{
	read_file(fd, 2, BATCH_MAX, 0, 0, other);
	fuzz_check(other->opened == got->opened);
	if (got->opened != HATF_OK)
		return;
	check_same(got, other, 0);
}

/*
 * The bytes that zlib alone inflates are the trace: the same records, and the
 * same end unless it is an error of the compression.
 */
static void
check_inflated(const uint8_t *data, size_t nbytes, const struct outcome *got,
	       struct outcome *other)
{
	static uint8_t inflated[1024 * 1024];
	const size_t n =
		mutator_inflate(data, nbytes, inflated, sizeof(inflated));
	int fd;

	/*
	 * A trace that is compressed twice is refused; inflated once, it is
	 * read.
	 */
	if (n == sizeof(inflated) || (n > 1 && get_be16(inflated) == 0x1f8b) ||
	    frame_kind_recognize(inflated, n) != FRAME_NONE)
		return;
	fd = make_plain(inflated, n);
	read_file(fd, 0, BATCH_MAX, 0, 0, other);
	close(fd);
	if (got->err.status == HATF_BAD_COMPRESSION ||
	    got->err.status == HATF_TRUNCATED) {
		/* If either was not opened, the numbers may differ. */
		fuzz_check(got->opened != HATF_OK || other->opened != HATF_OK ||
			   got->n == other->n);
		return;
	}
	if (other->opened != got->opened) {
		/*
		 * Compressed bytes that are no trace may be refused later, as
		 * damaged.
		 */
		fuzz_check(got->opened == HATF_OK && got->n == 0 &&
			   got->err.status != HATF_OK);
		return;
	}
	if (got->opened == HATF_OK)
		check_same(other, got, 0);
}

/* Deliver metadata, too, in small steps: the other records stay the same. */
static void
check_metadata(int fd, uint64_t seed, const struct outcome *plain)
{
	struct hatf_record records[16];
	struct hatf_reader *reader;
	size_t n, count = 0;

	fuzz_check(lseek(fd, 0, SEEK_SET) == 0);
	fuzz_check(reader_of_fd(fd, HATF_READER_METADATA, &reader, NULL) ==
		   HATF_OK);
	while (count < plain->n &&
	       hatf_reader_read(reader, records, 1 + seed % 16, &n) == HATF_OK)
		for (size_t i = 0; i < n && count < plain->n; i++) {
			if (records[i].tag == HATF_METADATA)
				continue;
			fuzz_check(hash_record(&records[i], 0) ==
				   plain->hashes[count]);
			count++;
		}
	fuzz_check(count == plain->n);
	hatf_reader_close(reader);
}

static void
check_events(int fd)
{
	struct hatf_event events[64];
	struct hatf_events_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_reader *reader;
	struct hatf_events *stage;
	size_t n, count = 0;

	fuzz_check(lseek(fd, 0, SEEK_SET) == 0);
	fuzz_check(reader_of_fd(fd, 0, &reader, NULL) == HATF_OK);
	fuzz_check(hatf_events_open(reader, &stage) == HATF_OK);
	while (count < RECORD_MAX &&
	       hatf_events_read(stage, events, 64, &n) == HATF_OK)
		count += n;
	hatf_events_get_stats(stage, &stats);
	hatf_events_close(stage);
	hatf_reader_close(reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static struct outcome plain, other;
	const uint64_t hash =
		fuzz_hash(UINT64_C(0xcbf29ce484222325), data, nbytes);
	/* The low bits of FNV are the best. */
	const uint64_t seed = hash >> 3;
	const int fd = make_plain(data, nbytes);

	read_file(fd, 0, BATCH_MAX, 0, 0, &plain);
	const bool is_plain_hatf = plain.opened == HATF_OK &&
				   !plain.stats.compressed &&
				   strcmp(plain.format, "hatf") == 0;

	if (is_plain_hatf)
		judge(data, nbytes, &plain);
	if (is_gzip(data, nbytes) && hash % 4 < 2)
		check_inflated(data, nbytes, &plain, &other);
	else if (is_gzip(data, nbytes) && hash % 4 == 2)
		check_jobs(fd, &plain, &other);
	else if (hash % 4 < 2 &&
		 frame_kind_recognize(data, nbytes) == FRAME_NONE)
		check_compressed(data, nbytes, seed, &plain, &other);
	else if (is_plain_hatf && !plain.stats.ours && hash % 8 == 7)
		check_shifted(data, nbytes, seed, &plain, &other);
	else if (plain.opened == HATF_OK && hash % 4 == 2)
		check_metadata(fd, seed, &plain);
	else if (plain.opened == HATF_OK)
		check_events(fd);
	close(fd);
	return 0;
}
