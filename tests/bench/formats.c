/* SPDX-License-Identifier: MIT */
/*
 * formats.c - how fast each format is written and read
 *
 *   formats SCRATCH [TRACE...]
 *
 * Takes up to two million records of the TRACEs, or makes up as many.  For each
 * format it writes them to a file and reads them back, and prints a row of a
 * Markdown table: millions of logical events per second of CPU time, the median
 * of five runs, uncompressed; the ratio to 'binary'; and PASS or MISS.  The
 * bars are 2 million events per second for text formats, 10 million for
 * others.  SCRATCH is the name of a file that the program makes and removes.
 * The last line is the peak memory, which includes the records themselves.
 */
#include "hatf/formats/common/tally.h"
#include "hatf/hatf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define RECORDS_MAX ((size_t)2000000)
#define BATCH	    512
#define RUNS	    5
#define LIVE_COUNT  4096

#define TEXT_BAR   2.0
#define BINARY_BAR 10.0

static struct hatf_record *records;
static size_t record_count;
static uint64_t event_count;

static void
die(const char *what, const struct hatf_error *err)
{
	char text[256];

	fprintf(stderr, "formats: %s: %s\n", what,
		hatf_error_text(err, text, sizeof(text)));
	exit(1);
}

static double
now(void)
{
	struct timespec ts;

	/* CPU time, so that other processes do not count. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ------------------------------------------------------------------- input */

/*
 * Prepare a record for a new trace: drop the comments of its source, and copy
 * its bytes.
 */
static void
keep(const struct hatf_record *rec)
{
	struct hatf_record *const kept = &records[record_count];

	if (rec->tag == HATF_COMMENT || record_count == RECORDS_MAX)
		return;
	*kept = *rec;
	record_count++;
	if (rec->attributes_nbytes == 0)
		return;

	uint8_t *const copy = malloc(rec->attributes_nbytes);

	if (copy == NULL)
		exit(1);
	memcpy(copy, rec->attributes, rec->attributes_nbytes);
	kept->attributes = copy;
}

static void
load(const char *path)
{
	struct hatf_record batch[BATCH];
	struct hatf_reader *reader;
	struct hatf_error err;
	size_t n;

	if (hatf_reader_open(path, NULL, &reader, &err) != HATF_OK)
		die(path, &err);
	while (hatf_reader_read(reader, batch, BATCH, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			keep(&batch[i]);
	hatf_reader_close(reader);
}

/* A program with a random live set whose allocator reuses the freed address. */
static void
make_up(void)
{
	static struct hatf_record live[LIVE_COUNT];
	uint64_t seed = 88172645463325252, time = 0;

	while (record_count + 2 <= RECORDS_MAX) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;

		struct hatf_record *const slot = &live[seed % LIVE_COUNT];
		struct hatf_record freed = *slot;

		time += (seed >> 20) % 4 == 0;
		freed.tag = HATF_FREE;
		freed.size = 0;
		freed.time = time;
		if (slot->address != 0)
			keep(&freed);
		slot->address = 0x555555560000 + (uint64_t)(slot - live) * 1040;
		slot->tag = HATF_ALLOC;
		slot->size = 16 + (seed >> 40) % 1009;
		slot->time = time;
		keep(slot);
	}
}

static void
count_events(void)
{
	struct tally tally = { .record_count = 0 };

	for (size_t i = 0; i < record_count; i++)
		tally_note(&tally, &records[i]);
	event_count = tally.event_count;
}

/* ---------------------------------------------------------------- measured */

static double
write_all(const char *path, const struct hatf_format *f)
{
	const struct hatf_writer_options options = { .struct_nbytes =
							     sizeof(options),
						     .plain = true,
						     .header = "unit=us\n",
						     .format = f->name };
	const double start = now();
	struct hatf_writer *writer;
	struct hatf_error err;

	if (hatf_writer_open(path, &options, &writer, &err) != HATF_OK)
		die(f->name, &err);
	for (size_t i = 0; i < record_count; i += BATCH)
		hatf_writer_write(writer, records + i,
				  record_count - i < BATCH ? record_count - i
							   : BATCH);
	if (hatf_writer_close(writer, &err) != HATF_OK)
		die(f->name, &err);
	return now() - start;
}

static double
read_all(const char *path, const struct hatf_format *f)
{
	const struct hatf_reader_options options = {
		.struct_nbytes = sizeof(options),
		.format = f->name,
	};
	const double start = now();
	struct hatf_record batch[BATCH];
	struct hatf_reader *reader;
	struct hatf_error err;
	size_t n;

	if (hatf_reader_open(path, &options, &reader, &err) != HATF_OK)
		die(f->name, &err);
	while (hatf_reader_read(reader, batch, BATCH, &n) == HATF_OK)
		;
	if (hatf_reader_error(reader)->status != HATF_OK)
		die(f->name, hatf_reader_error(reader));
	hatf_reader_close(reader);
	return now() - start;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return whether the file is lines of text, which decides its bar. */
static bool
is_text(const char *path)
{
	uint8_t bytes[4096];
	FILE *const file = fopen(path, "r");
	const size_t n = file == NULL ? 0 : fread(bytes, 1, 4096, file);

	if (file != NULL)
		fclose(file);
	for (size_t i = 0; i < n; i++)
		if (bytes[i] < 0x20 && strchr("\t\n\r", bytes[i]) == NULL)
			return false;
	return memchr(bytes, 0, n) == NULL;
}

/*
 * Print the cells of the table; return false if the bar was missed.  '*first'
 * is the rate of the first format, 'binary', in this run: rates differ between
 * machines, ratios hardly do.
 */
static bool
print_rate(double *seconds, double bar, double *first)
{
	double rate;

	qsort(seconds, RUNS, sizeof(*seconds), compare);
	rate = (double)event_count / seconds[RUNS / 2] / 1e6;
	if (*first == 0)
		*first = rate;
	printf(" %.1f | %.2f | %s |", rate, rate / *first,
	       rate >= bar ? "PASS" : "MISS");
	return rate >= bar;
}

static bool
measure(const char *path, const struct hatf_format *f)
{
	static double first_written, first_read;
	double written[RUNS], read[RUNS];
	bool good;

	for (unsigned i = 0; i < RUNS; i++) {
		written[i] = write_all(path, f);
		read[i] = f->reads ? read_all(path, f) : 0;
	}

	const double bar = is_text(path) ? TEXT_BAR : BINARY_BAR;

	printf("| %s | %.0f |", f->name, bar);
	good = print_rate(written, bar, &first_written);
	if (f->reads)
		good &= print_rate(read, bar, &first_read);
	else
		printf(" - | - | - |");
	printf("\n");
	fflush(stdout);
	unlink(path);
	return good;
}

int
main(int argc, char **argv)
{
	struct hatf_format f = { .struct_nbytes = sizeof(f) };
	struct rusage use;
	bool good = true;

	records = malloc(RECORDS_MAX * sizeof(*records));
	if (argc < 2 || records == NULL) {
		fputs("usage: formats SCRATCH [TRACE...]\n", stderr);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		load(argv[i]);
	if (argc == 2)
		make_up();
	count_events();
	printf("| format | bar | write, M events/s | to binary | | "
	       "read, M events/s | to binary | |\n"
	       "|---|--:|--:|--:|---|--:|--:|---|\n");
	for (unsigned i = 0; hatf_format_get(i, &f); i++)
		if (f.writes)
			good &= measure(argv[1], &f);
	getrusage(RUSAGE_SELF, &use);
	printf("\n%zu records, %llu events; memory at most %ld MiB, of which "
	       "%zu are the records\n",
	       record_count, (unsigned long long)event_count,
	       use.ru_maxrss / 1024, record_count * sizeof(*records) >> 20);
	return good ? 0 : 1;
}
