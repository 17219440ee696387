/* SPDX-License-Identifier: MIT */
/*
 * codec.c - the library's time per record, in ns
 *
 *   codec SCRATCH [TRACE]
 *
 * Takes up to four million records of TRACE, or makes up as many, and times
 * each use of the library: into blocks, into gzip members at each level, into a
 * file, and back, as records and as events, alone and with threads.  SCRATCH is
 * the name of a file that the program makes and removes.  Prints a row of a
 * Markdown table for each use, the median of five runs, and PASS or MISS for
 * each bar.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

#include "hatf/codec/encoder.h"
#include "hatf/decoder/decoder.h"
#include "hatf/deflate/deflate.h"
#include "hatf/hatf.h"
#include "hatf/io/gzip_best.h"
#include "hatf/io/inflate.h"

#define RECORDS_MAX   4000000
#define BATCH_RECORDS 1024
#define BLOCK_NBYTES  (256 << 10) /* what the recorder and hatf_writer use */
#define RUNS	      5
#define LIVE_COUNT    4096

/* The medians that have bars, in ns per record. */
static double encode_ns, decode_ns, binary_ns, plain_ns, zlib_ns, gzip_ns,
	jobs_ns;

static struct hatf_record *records;
static size_t record_count;
static const char *scratch;

static uint8_t *block, *packed, *work, *span;
static struct gzip_best *squeeze; /* for levels beyond the recorder's */
static size_t block_cap, packed_cap;

__attribute__((format(printf, 1, 2), noreturn)) static void
die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("codec: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static void *
xmalloc(size_t nbytes)
{
	void *const p = aligned_alloc(64, (nbytes + 63) & ~(size_t)63);

	if (p == NULL)
		die("out of memory");
	return p;
}

static double
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* ------------------------------------------------------------------ input */

/* Omit comments: the encoder makes its own. */
static void
keep_record(const struct hatf_record *rec)
{
	if (rec->tag == HATF_COMMENT)
		return;

	struct hatf_record *const kept = &records[record_count++];

	*kept = *rec;
	if (rec->attributes_nbytes == 0)
		return;

	/* The reader's bytes are valid only until the next batch. */
	uint8_t *const copy = xmalloc(rec->attributes_nbytes);

	memcpy(copy, rec->attributes, rec->attributes_nbytes);
	kept->attributes = copy;
}

static void
load_records(const char *path)
{
	static struct hatf_record batch[BATCH_RECORDS];
	struct hatf_reader *reader;
	struct hatf_error err;
	size_t n;

	if (hatf_reader_open(path, NULL, &reader, &err) != HATF_OK)
		die("%s: %s", path, hatf_status_text(err.status));
	while (record_count + BATCH_RECORDS <= RECORDS_MAX &&
	       hatf_reader_read(reader, batch, BATCH_RECORDS, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			keep_record(&batch[i]);
	hatf_reader_close(reader);
}

/* A program with a random live set whose allocator reuses the freed address. */
static void
make_records(void)
{
	static struct hatf_record live[LIVE_COUNT];
	uint64_t seed = 88172645463325252u, top = 0x555555560000;
	uint64_t time = 0;

	while (record_count + 2 <= RECORDS_MAX) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;

		struct hatf_record *const slot = &live[seed % LIVE_COUNT];
		const uint64_t size_nbytes = 16 + (seed >> 40) % 1009;

		time += (seed >> 20) % 4 == 0;
		if (slot->address != 0) {
			records[record_count] = *slot;
			records[record_count].tag = HATF_FREE;
			records[record_count].size = 0;
			records[record_count++].time = time;
		} else {
			slot->address = top;
			top += 1040;
		}
		slot->tag = HATF_ALLOC;
		slot->size = size_nbytes;
		slot->time = time;
		records[record_count++] = *slot;
	}
}

/* --------------------------------------------------------------- measured */

static uint64_t
finish_block(struct encoder *e, int level)
{
	uint64_t nbytes;

	encoder_end(e);
	nbytes = e->used;
	if (level > DEFLATE_LEVEL_MAX)
		nbytes = gzip_best_member(squeeze, e->buf, e->used, packed,
					  packed_cap);
	else if (level != 0)
		nbytes = deflate_member(level, work, e->buf, e->used, packed,
					packed_cap);
	encoder_reset(e);
	return nbytes;
}

/* Write as the recorder does; 'level' 0: uncompressed.  Return the bytes. */
static uint64_t
encode(int level)
{
	static struct encoder e;
	uint64_t nbytes = 0;

	encoder_init(&e, block, block_cap, NULL, span);
	for (size_t i = 0; i < record_count; i++) {
		if (e.used == 0)
			encoder_begin(&e, i, records[i].time);
		if (!encoder_put(&e, &records[i]))
			die("record %zu cannot be encoded", i);
		if (encoder_is_full(&e, BLOCK_NBYTES))
			nbytes += finish_block(&e, level);
	}
	if (e.used != 0)
		nbytes += finish_block(&e, level);
	return nbytes;
}

static uint64_t
write_format(int level, const char *format)
{
	const struct hatf_writer_options options = { .struct_nbytes =
							     sizeof(options),
						     .plain = level == 0,
						     .level = level,
						     .format = format };
	struct hatf_writer *writer;
	struct hatf_error err;

	if (hatf_writer_open(scratch, &options, &writer, &err) != HATF_OK)
		die("%s: %s", scratch, hatf_status_text(err.status));
	for (size_t i = 0; i < record_count; i += BATCH_RECORDS) {
		const size_t left = record_count - i;

		hatf_writer_write(writer, records + i,
				  left < BATCH_RECORDS ? left : BATCH_RECORDS);
	}
	if (hatf_writer_close(writer, &err) != HATF_OK)
		die("%s: %s", scratch, hatf_status_text(err.status));
	return 0;
}

static uint64_t
write_file(int level)
{
	return write_format(level, "hatf");
}

static uint64_t
write_binary(int unused)
{
	(void)unused;
	return write_format(0, "binary");
}

static struct hatf_reader *
open_scratch(int jobs)
{
	const struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
		.jobs = (unsigned)jobs,
	};
	struct hatf_reader *reader;
	struct hatf_error err;

	if (hatf_reader_open(scratch, &options, &reader, &err) != HATF_OK)
		die("%s: %s", scratch, hatf_status_text(err.status));
	return reader;
}

/* Read the last file that was written. */
static uint64_t
read_records(int jobs)
{
	static struct hatf_record batch[BATCH_RECORDS];
	struct hatf_reader *const reader = open_scratch(jobs);
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	size_t n;

	while (hatf_reader_read(reader, batch, BATCH_RECORDS, &n) == HATF_OK)
		;
	hatf_reader_get_stats(reader, &stats);
	if (!stats.complete)
		die("%s did not read to its end", scratch);
	hatf_reader_close(reader);
	return stats.file_nbytes;
}

static uint64_t
read_events(int jobs)
{
	static struct hatf_event batch[BATCH_RECORDS];
	struct hatf_reader *const reader = open_scratch(jobs);
	struct hatf_events *events;
	size_t n;

	if (hatf_events_open(reader, &events) != HATF_OK)
		die("out of memory");
	while (hatf_events_read(events, batch, BATCH_RECORDS, &n) == HATF_OK)
		;
	hatf_events_close(events);
	hatf_reader_close(reader);
	return 0;
}

/* The last file that was written, in memory. */
static uint8_t *file;
static size_t file_nbytes;

static void
load_file(void)
{
	FILE *const f = fopen(scratch, "rb");

	if (f == NULL || fseek(f, 0, SEEK_END) != 0)
		die("%s cannot be read", scratch);
	file_nbytes = (size_t)ftell(f);
	rewind(f);
	free(file);
	file = xmalloc(file_nbytes);
	if (fread(file, 1, file_nbytes, f) != file_nbytes)
		die("%s cannot be read", scratch);
	fclose(f);
}

/* Use the decoder alone. */
static uint64_t
decode(int unused)
{
	static struct hatf_record batch[BATCH_RECORDS];
	static struct decoder d;
	const uint8_t *next = file;

	(void)unused;
	decoder_init(&d, false);
	do
		decoder_decode(&d, &next, file + file_nbytes, batch,
			       BATCH_RECORDS);
	while (d.stop == DECODER_FULL || d.stop == DECODER_COMMENT);
	return 0;
}

/* Inflate only: the least work of any reader that uses zlib. */
static uint64_t
inflate_alone(int unused)
{
	static uint8_t out[BLOCK_NBYTES];
	z_stream z = { .next_in = file, .avail_in = (uInt)file_nbytes };
	int result = inflateInit2(&z, 16 + MAX_WBITS);

	(void)unused;
	while (result == Z_OK) {
		z.next_out = out;
		z.avail_out = sizeof(out);
		result = inflate(&z, Z_SYNC_FLUSH);
		if (result == Z_STREAM_END && z.avail_in != 0)
			result = inflateReset(&z);
	}
	inflateEnd(&z);
	if (result != Z_STREAM_END)
		die("zlib cannot inflate the file");
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return the median, in ns per record. */
static double
measure(const char *what, uint64_t (*run)(int), int level)
{
	double ns[RUNS];
	uint64_t nbytes = 0;

	for (int i = 0; i < RUNS; i++) {
		const double start_ns = now_ns();

		nbytes = run(level);
		ns[i] = (now_ns() - start_ns) / (double)record_count;
	}
	qsort(ns, RUNS, sizeof(*ns), compare);
	printf("| %s | %.1f | %.1f–%.1f | %.1f |", what, ns[RUNS / 2], ns[0],
	       ns[RUNS - 1], 1e3 / ns[RUNS / 2]);
	if (nbytes != 0)
		printf(" %.2f |\n", (double)nbytes / (double)record_count);
	else
		printf(" |\n");
	fflush(stdout);
	return ns[RUNS / 2];
}

static void
print_bar(const char *what, double value, double most)
{
	printf("%s %s: %.2f, at most %.2f\n", value <= most ? "PASS" : "MISS",
	       what, value, most);
}

static void
measure_encoding(void)
{
	char what[32];

	encode_ns = measure("encode", encode, 0);
	for (int level = 1; level <= GZIP_BEST_LEVEL_MAX; level++) {
		/* zlib's levels are slow, and much alike. */
		if (level > DEFLATE_LEVEL_MAX && level != 6 && level < 10)
			continue;
		squeeze = gzip_best_open(level);
		if (squeeze == NULL)
			die("out of memory");
		snprintf(what, sizeof(what), "encode, gzip %d", level);
		measure(what, encode, level);
		gzip_best_close(squeeze);
	}
}

static void
measure_plain(void)
{
	measure("write Simple Binary", write_binary, 0);
	binary_ns = measure("read it as records", read_records, 0);
	measure("write a plain file", write_file, 0);
	load_file();
	decode_ns = measure("decode it in memory", decode, 0);
	plain_ns = measure("read it as records", read_records, 0);
	measure("read it as events", read_events, 0);
}

static void
measure_compressed(void)
{
	measure("write a gzip file", write_file, DEFLATE_LEVEL_DEFAULT);
	load_file();
	zlib_ns = measure("inflate it, zlib alone", inflate_alone, 0);
	gzip_ns = measure("read it as records", read_records, 0);
	measure("the same with 1 job", read_records, 1);
	jobs_ns = measure("the same with 2 jobs", read_records, 2);
	measure("read it as events", read_events, 0);
	measure("the same with 2 jobs", read_events, 2);
}

int
main(int argc, char **argv)
{
	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: codec SCRATCH [TRACE]\n");
		return 2;
	}
	scratch = argv[1];
	records = xmalloc(RECORDS_MAX * sizeof(*records));
	memset(records, 0, RECORDS_MAX * sizeof(*records));
	if (argc == 3)
		load_records(argv[2]);
	else
		make_records();
	if (record_count == 0)
		die("no records");
	deflate_load();
	block_cap = BLOCK_NBYTES + encoder_room_nbytes(NULL);
	block = xmalloc(block_cap);
	span = xmalloc(encoder_memory_nbytes(NULL));
	packed_cap = deflate_bound(block_cap);
	packed = xmalloc(packed_cap);
	work = xmalloc(deflate_work_nbytes(DEFLATE_LEVEL_MAX));

	printf("| %zu records (%s, %s) | ns a record | range | million/s |"
	       " bytes |\n|---|---:|---:|---:|---:|\n",
	       record_count, deflate_name(), inflate_name());
	measure_encoding();
	measure_plain();
	measure_compressed();
	printf("\n");
	print_bar("encode, ns", encode_ns, 25);
	print_bar("decode, ns", decode_ns, 10);
	print_bar("read HATF / Simple Binary", plain_ns / binary_ns, 2.5);
	print_bar("read gzip / zlib alone", gzip_ns / zlib_ns, 1.3);
	print_bar("read gzip with 2 jobs / zlib alone", jobs_ns / zlib_ns, 0.7);
	unlink(scratch);
	return 0;
}
