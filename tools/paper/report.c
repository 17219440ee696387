/* SPDX-License-Identifier: MIT */
/* report.c - see report.h */
#include "tools/paper/report.h"

#include "tools/paper/paper.h"
#include "tools/ui/message.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Index of the column ASCII/Perl, which is not in enum encoding. */
#define PERL ENCODING_COUNT

static const char *const sizes[] = { "uncompressed", "compressed", NULL };
static const char *const times[] = { "read", "write", NULL };
static const char bytes_unit[] = "bytes/data record";
static const char time_unit[] = "ns/data record";

/*
 * Averages over all traces, for each encoding.  Table 11 has ratios of these.
 */
struct averages {
	double nbytes[ENCODING_COUNT + 1][2];
	double plain_ns[ENCODING_COUNT + 1][2];
	double packed_ns[ENCODING_COUNT + 1][2];
};

static double
per_record(uint64_t nbytes, uint64_t records)
{
	if (nbytes == SIZING_UNKNOWN || records == 0)
		return NAN;
	return (double)nbytes / (double)records;
}

/* Where to print the tables, and in which format. */
struct page {
	struct out *out;
	enum table_format format;
};

/*
 * Print a table and free it.  If memory ran out while the table was filled,
 * print nothing and return false.
 */
static bool
finish(struct table *g, const struct page *page)
{
	const bool is_whole = !g->no_memory;

	if (is_whole)
		table_print(g, page->out, page->format);
	table_free(g);
	return is_whole;
}

/*
 * Add a row of the paper's figures, multiplied by 'scale'.  There are 'count'
 * columns, each a pair of figures.
 */
static void
add_paper(struct table *g, const char *name, const double (*figures)[2],
	  size_t count, double scale)
{
	struct table_row *const row = table_add(g, TABLE_PAPER, name);

	for (size_t c = 0; c < count; c++)
		for (size_t p = 0; p < 2; p++)
			row->figures[c][p] = figures[c][p] * scale;
}

/* ----------------------------------------------------------------- table 3 */

static bool
print_table3(const struct report *r, const struct page *page)
{
	static const char *const columns[] = {
		"allocs/1000",	    "reallocs/1000",
		"frees/1000",	    "bytes/1000",
		"max objects/1000", "max bytes/1000",
		"avg bytes",	    NULL,
	};
	struct table g = {
		.key = "3",
		.title = "allocation behaviour of the programs",
		.columns = columns,
	};

	for (size_t i = 0; i < r->count; i++) {
		const struct measured *const m = &r->traces[i];
		const struct table3 *const c = &m->table3;
		const double figures[] = {
			(double)c->alloc_count / 1e3,
			(double)c->realloc_count / 1e3,
			(double)c->free_count / 1e3,
			c->nbytes / 1e3,
			(double)c->max_objects / 1e3,
			(double)c->max_nbytes / 1e3,
			c->alloc_count == 0
				? NAN
				: c->nbytes / (double)c->alloc_count,
		};
		struct table_row *const row =
			table_add(&g, TABLE_MEASURED, m->name);

		for (size_t k = 0; k < COUNT(figures); k++)
			row->figures[k][0] = figures[k];
	}
	for (size_t i = 0; i < PAPER_PROGRAMS; i++) {
		struct table_row *const row =
			table_add(&g, TABLE_PAPER, paper_rows[i]);

		for (size_t k = 0; k < COUNT(paper_table3[i]); k++)
			row->figures[k][0] = paper_table3[i][k];
	}
	return finish(&g, page);
}

/* ---------------------------------------------------------- tables 4, 7, 8 */

/*
 * Add a row for each trace and a row with the averages.  Column c of the table
 * has the sizes in encodings[c].  Also store the averages in '*averages'.
 */
static void
add_sizes(struct table *g, const struct report *r,
	  const enum encoding *encodings, struct averages *averages)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct measured *const m = &r->traces[i];
		struct table_row *const row =
			table_add(g, TABLE_MEASURED, m->name);

		for (size_t c = 0; g->columns[c] != NULL; c++)
			for (size_t p = 0; p < 2; p++)
				row->figures[c][p] = per_record(
					m->sizing.nbytes[encodings[c]][p],
					m->table3.data_records);
	}

	const struct table_row *const average =
		table_add_average(g, TABLE_MEASURED, "average");

	for (size_t c = 0; g->columns[c] != NULL; c++)
		for (size_t p = 0; p < 2; p++)
			averages->nbytes[encodings[c]][p] =
				average->figures[c][p];
}

/*
 * Add the row of the authors' talk.  The columns are those of print_table4().
 */
static void
add_talk(struct table *g)
{
	struct table_row *const row = table_add(g, TABLE_PAPER, "the talk");

	row->figures[0][0] = paper_talk_binary;
	row->figures[1][0] = paper_talk_ascii;
	row->figures[10][0] = paper_talk_xml;
}

static const char table4_note[] =
	"Simple Binary takes 16 bytes for a record, or 32 in a section of 4096 "
	"records that has a\n"
	"number above 32 bits.  HATF (naive) stores an address as a 4-byte "
	"offset from one base.\n"
	"HATF (literal) stores a whole address, in 4 bytes or, if necessary, "
	"in 8.  HATF SplitAddr\n"
	"stores indices into a table of addresses.  HATF (optimum) has no "
	"such table, so it can be\n"
	"larger.  HATF SplitAddr (paper) is HATF (best) with the 4-byte and "
	"8-byte addresses in a\n"
	"separate stream.  Meta-TF SplitAddr has all addresses in a separate "
	"section, no table, and\n"
	"contains its DTD: compare it with HATF SplitAddr (paper), not with "
	"HATF SplitAddr.  The row\n"
	"'the talk' is from the authors' talk, which does not say what it "
	"measures for XML.";

static bool
print_table4(const struct report *r, const struct page *page,
	     struct averages *averages)
{
	static const char *const columns[] = {
		"Simple Binary",
		"ASCII",
		"HATF (naive)",
		"HATF (best)",
		"Split Stream",
		"HATF SplitAddr",
		"HATF (online)",
		"HATF (optimum)",
		"HATF (literal)",
		"HATF SplitAddr (paper)",
		"XML",
		"Meta-TF SplitAddr",
		NULL,
	};
	static const enum encoding encodings[] = {
		ENCODING_BINARY,  ENCODING_ASCII,
		ENCODING_NAIVE,	  ENCODING_BEST,
		ENCODING_SPLIT,	  ENCODING_SPLITADDR,
		ENCODING_ONLINE,  ENCODING_OPTIMUM,
		ENCODING_LITERAL, ENCODING_BEST_SPLIT,
		ENCODING_XML,	  ENCODING_METATF_SPLITADDR,
	};
	struct table g = {
		.key = "4",
		.title = "size of the traces by encoding",
		.unit = bytes_unit,
		.note = table4_note,
		.columns = columns,
		.parts = sizes,
	};

	add_sizes(&g, r, encodings, averages);
	for (size_t i = 0; i < PAPER_ROWS; i++)
		add_paper(&g, paper_rows[i], paper_table4[i], 6, 1);
	add_talk(&g);
	return finish(&g, page);
}

static bool
print_table7(const struct report *r, const struct page *page,
	     struct averages *averages)
{
	static const char *const columns[] = {
		"Naive",	 "Small Size",	   "Same Size", "Combined Size",
		"HATF (online)", "HATF (optimum)", NULL,
	};
	static const enum encoding encodings[] = {
		ENCODING_NAIVE,		ENCODING_SMALL_SIZE, ENCODING_SAME_SIZE,
		ENCODING_COMBINED_SIZE, ENCODING_ONLINE,     ENCODING_OPTIMUM,
	};
	struct table g = {
		.key = "7",
		.title = "effectiveness of size encodings",
		.unit = bytes_unit,
		.columns = columns,
		.parts = sizes,
	};

	add_sizes(&g, r, encodings, averages);
	for (size_t i = 0; i < PAPER_ROWS; i++)
		add_paper(&g, paper_rows[i], paper_table7[i], 4, 1);
	return finish(&g, page);
}

static bool
print_table8(const struct report *r, const struct page *page,
	     struct averages *averages)
{
	static const char *const columns[] = {
		"BaseOffset 1-byte", "BaseOffset 2-bytes",
		"Best BaseOffset",   "Stride",
		"HATF (best)",	     "HATF (online)",
		"HATF (optimum)",    NULL,
	};
	static const enum encoding encodings[] = {
		ENCODING_BASE_OFFSET_1,
		ENCODING_BASE_OFFSET_2,
		ENCODING_BEST_BASE_OFFSET,
		ENCODING_STRIDE,
		ENCODING_BEST,
		ENCODING_ONLINE,
		ENCODING_OPTIMUM,
	};
	struct table g = {
		.key = "8",
		.title = "effectiveness of address encodings",
		.unit = bytes_unit,
		.columns = columns,
		.parts = sizes,
	};

	add_sizes(&g, r, encodings, averages);
	for (size_t i = 0; i < PAPER_ROWS; i++)
		add_paper(&g, paper_rows[i], paper_table8[i], 5, 1);
	return finish(&g, page);
}

/* ------------------------------------------------------------ tables 5, 6 */

static void
add_times(struct table *g, const struct report *r, const unsigned *encodings,
	  bool packed, double (*averages)[2])
{
	for (size_t i = 0; i < r->count; i++) {
		const struct timing *const t = &r->traces[i].timing;
		struct table_row *const row =
			table_add(g, TABLE_MEASURED, r->traces[i].name);

		for (size_t c = 0; g->columns[c] != NULL; c++)
			for (size_t p = 0; p < 2; p++)
				row->figures[c][p] =
					encodings[c] == PERL
						? t->perl_ns[p]
						: t->ns[encodings[c]][packed]
						       [p];
	}

	const struct table_row *const average =
		table_add_average(g, TABLE_MEASURED, "average");

	for (size_t c = 0; g->columns[c] != NULL; c++)
		for (size_t p = 0; p < 2; p++)
			averages[encodings[c]][p] = average->figures[c][p];
}

/*
 * Write the note that is printed below a table of times.  The note says how the
 * times were measured.
 */
static void
put_time_note(char *buf, size_t nbytes, const struct report *r)
{
	if (r->runs == 0) {
		snprintf(buf, nbytes, "Not measured.");
		return;
	}
	snprintf(buf, nbytes,
		 "Median of %u runs over at most the first %" PRIu64
		 " records of each trace: CPU time of\none thread that reads "
		 "from memory and writes to memory.  The paper's figures are "
		 "from\na 500 MHz Pentium III that read from a disk and wrote "
		 "to a disk.",
		 r->runs, r->timed_max);
}

static bool
print_table5(const struct report *r, const struct page *page,
	     struct averages *averages)
{
	static const char *const columns[] = {
		"Simple Binary",  "ASCII",
		"HATF (naive)",	  "HATF (best)",
		"Split Stream",	  "HATF SplitAddr",
		"ASCII/Perl",	  "HATF (online)",
		"HATF (optimum)", NULL,
	};
	static const unsigned encodings[] = {
		ENCODING_BINARY,
		ENCODING_ASCII,
		ENCODING_NAIVE,
		ENCODING_BEST,
		ENCODING_SPLIT,
		ENCODING_SPLITADDR,
		PERL,
		ENCODING_ONLINE,
		ENCODING_OPTIMUM,
	};
	char note[256];
	struct table g = {
		.key = "5",
		.title = "time to process uncompressed traces",
		.unit = time_unit,
		.note = note,
		.columns = columns,
		.parts = times,
	};

	put_time_note(note, sizeof(note), r);
	add_times(&g, r, encodings, false, averages->plain_ns);
	for (size_t i = 0; i < PAPER_ROWS; i++)
		add_paper(&g, paper_rows[i], paper_table5[i], 7, 1e3);
	return finish(&g, page);
}

static bool
print_table6(const struct report *r, const struct page *page,
	     struct averages *averages)
{
	static const char *const columns[] = {
		"Simple Binary", "ASCII",	   "HATF (naive)",
		"HATF (best)",	 "Split Stream",   "HATF SplitAddr",
		"HATF (online)", "HATF (optimum)", NULL,
	};
	static const unsigned encodings[] = {
		ENCODING_BINARY, ENCODING_ASCII,   ENCODING_NAIVE,
		ENCODING_BEST,	 ENCODING_SPLIT,   ENCODING_SPLITADDR,
		ENCODING_ONLINE, ENCODING_OPTIMUM,
	};
	char note[256];
	struct table g = {
		.key = "6",
		.title = "time to process gzip compressed traces",
		.unit = time_unit,
		.note = note,
		.columns = columns,
		.parts = times,
	};
	struct table_row *row;

	put_time_note(note, sizeof(note), r);
	add_times(&g, r, encodings, true, averages->packed_ns);
	row = table_add(&g, TABLE_MEASURED, "average difference");
	for (size_t c = 0; columns[c] != NULL; c++)
		for (size_t p = 0; p < 2; p++)
			row->figures[c][p] =
				averages->packed_ns[encodings[c]][p] -
				averages->plain_ns[encodings[c]][p];
	for (size_t i = 0; i < PAPER_ROWS; i++)
		add_paper(&g, paper_rows[i], paper_table6[i], 6, 1e3);
	add_paper(&g, "average difference", paper_table6_difference, 6, 1e3);
	return finish(&g, page);
}

/* ----------------------------------------------------------------- table 9 */

/*
 * Each cell of table 9 has one figure for each placement of metadata.  Fill in
 * figure 'p' of all cells in a row.  The figures come from breakdown 'p'.
 */
static void
put_breakdown(struct table_row *row, const struct measured *m, size_t p)
{
	static const enum hatf_field fields[] = {
		HATF_FIELD_SIZE,   HATF_FIELD_ADDRESS, HATF_FIELD_TIME,
		HATF_FIELD_THREAD, HATF_FIELD_HEAP,    HATF_FIELD_ATTRIBUTES,
	};
	const struct breakdown *const b = &m->sizing.breakdowns[p];
	const uint64_t records = m->table3.all_records;

	if (!b->is_known)
		return;
	row->figures[0][p] = per_record(b->tag_nbytes, records);
	for (size_t f = 0; f < COUNT(fields); f++)
		row->figures[1 + f][p] =
			per_record(b->field_nbytes[fields[f]], records);
	row->figures[7][p] = per_record(b->comment_nbytes, records);
	row->figures[8][p] = per_record(b->total_nbytes, records);
	row->figures[9][p] = per_record(b->file_nbytes, records);
}

static bool
print_table9(const struct report *r, const struct page *page,
	     double average_ret[2])
{
	static const char *const columns[] = {
		"tag",	  "size",	"address",    "time",
		"thread", "heap",	"attributes", "comments",
		"total",  "compressed", NULL,
	};
	static const char *const parts[] = { "naive", "online", "optimum",
					     NULL };
	struct table g = {
		.key = "9",
		.title = "size of whole traces by field (not in the paper)",
		.unit = bytes_unit,
		.note = "With thread, heap, time, attributes and comments.  "
			"The metadata of a field counts with\nthe field.  "
			"'compressed' is at level 10, the default of 'hatf "
			"convert' and the library;\nthe recorder compresses "
			"less, to save time.",
		.columns = columns,
		.parts = parts,
	};

	for (size_t i = 0; i < r->count; i++) {
		struct table_row *const row =
			table_add(&g, TABLE_MEASURED, r->traces[i].name);

		for (size_t p = 0; p < SIZING_BREAKDOWNS; p++)
			put_breakdown(row, &r->traces[i], p);
	}

	const struct table_row *const average =
		table_add_average(&g, TABLE_MEASURED, "average");

	average_ret[0] = average->figures[8][1];
	average_ret[1] = average->figures[8][2];
	return finish(&g, page);
}

/* ---------------------------------------------------------------- table 10 */

static bool
print_table10(const struct report *r, const struct page *page,
	      double average_ret[3])
{
	static const char *const columns[] = { "zlib inflates", "read",
					       "read with 2 jobs", NULL };
	struct table g = {
		.key = "10",
		.title = "time to read compressed traces as they are (not in "
			 "the paper)",
		.unit = time_unit,
		.note = "Wall time to read whole traces from their files.  In "
			"the first column, zlib inflates the\nfile, but "
			"nothing decodes records.",
		.columns = columns,
	};
	_Static_assert(REREAD_JOBS == 2, "the column title says 2 jobs");

	for (size_t i = 0; i < r->count; i++) {
		const struct measured *const m = &r->traces[i];
		const double records = (double)m->table3.all_records;
		struct table_row *const row =
			table_add(&g, TABLE_MEASURED, m->name);

		row->figures[0][0] = m->reread.inflate_ns / records;
		row->figures[1][0] = m->reread.read_ns / records;
		row->figures[2][0] = m->reread.jobs_ns / records;
	}

	const struct table_row *const average =
		table_add_average(&g, TABLE_MEASURED, "average");

	for (size_t c = 0; c < 3; c++)
		average_ret[c] = average->figures[c][0];
	return finish(&g, page);
}

/* ---------------------------------------------------------------- table 11 */

/*
 * For each trace, divide the uncompressed size with placement "optimum" by the
 * smallest uncompressed size with another placement.  Return the largest of
 * these ratios; NAN if there is no trace, or if a ratio is unknown.
 */
static double
worst_optimum(const struct report *r)
{
	double worst = r->count == 0 ? NAN : 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct sizing *const s = &r->traces[i].sizing;
		uint64_t least = SIZING_UNKNOWN;

		for (unsigned e = 0; e < ENCODING_COUNT; e++)
			if (encoding_is_placed(e) && e != ENCODING_OPTIMUM &&
			    s->nbytes[e][0] < least)
				least = s->nbytes[e][0];

		const double ratio =
			per_record(s->nbytes[ENCODING_OPTIMUM][0], 1) /
			per_record(least, 1);

		/* If a ratio is unknown, so is the largest. */
		if (isnan(ratio))
			return NAN;
		if (ratio > worst)
			worst = ratio;
	}
	return worst;
}

static void
add_ratio(struct table *g, const char *name, double measured, double paper)
{
	struct table_row *const row = table_add(g, TABLE_MEASURED, name);

	row->figures[0][0] = measured;
	row->figures[1][0] = paper;
}

/* Add rows with ratios of read times: our ratios, and those of the paper. */
static void
add_time_ratios(struct table *g, const struct averages *a)
{
	const double(*const plain)[2] = a->plain_ns;
	const double(*const packed)[2] = a->packed_ns;
	const double(*const p5)[2] = paper_table5[PAPER_PROGRAMS];
	const double(*const p6)[2] = paper_table6[PAPER_PROGRAMS];

	add_ratio(g, "read time: HATF (best) / Simple Binary",
		  plain[ENCODING_BEST][0] / plain[ENCODING_BINARY][0],
		  p5[3][0] / p5[0][0]);
	add_ratio(g, "compressed read time: HATF (best) / Simple Binary",
		  packed[ENCODING_BEST][0] / packed[ENCODING_BINARY][0],
		  p6[3][0] / p6[0][0]);
	add_ratio(g, "compressed read time: HATF SplitAddr / Simple Binary",
		  packed[ENCODING_SPLITADDR][0] / packed[ENCODING_BINARY][0],
		  p6[5][0] / p6[0][0]);
}

static bool
print_table11(const struct report *r, const struct page *page,
	      const struct averages *a, const double whole[2],
	      const double reread[3])
{
	static const char *const columns[] = { "here", "paper", NULL };
	struct table g = {
		.key = "11",
		.title = "ratios of the averages",
		.row_title = "ratio",
		.columns = columns,
		.paper_column = 1,
	};
	const double(*const bytes)[2] = a->nbytes;
	/* The row of averages in the paper's table 4. */
	const double(*const p4)[2] = paper_table4[PAPER_PROGRAMS];

	add_ratio(&g, "bytes: HATF (best) / HATF (naive)",
		  bytes[ENCODING_BEST][0] / bytes[ENCODING_NAIVE][0],
		  p4[3][0] / p4[2][0]);
	add_ratio(&g, "compressed bytes: HATF (best) / HATF (naive)",
		  bytes[ENCODING_BEST][1] / bytes[ENCODING_NAIVE][1],
		  p4[3][1] / p4[2][1]);
	add_ratio(&g, "compressed bytes: HATF SplitAddr / ASCII",
		  bytes[ENCODING_SPLITADDR][1] / bytes[ENCODING_ASCII][1],
		  p4[5][1] / p4[1][1]);
	add_ratio(&g, "bytes: HATF (online) / HATF (optimum)",
		  bytes[ENCODING_ONLINE][0] / bytes[ENCODING_OPTIMUM][0], NAN);
	add_ratio(&g, "bytes of whole traces: HATF (online) / HATF (optimum)",
		  whole[0] / whole[1], NAN);
	add_ratio(&g, "largest ratio: HATF (optimum) / best other placement",
		  worst_optimum(r), NAN);
	add_time_ratios(&g, a);
	add_ratio(&g, "time: reading / inflating by zlib",
		  reread[1] / reread[0], NAN);
	add_ratio(&g, "time: reading with 2 jobs / inflating by zlib",
		  reread[2] / reread[0], NAN);
	return finish(&g, page);
}

bool
report_print(const struct report *r, enum table_format format, struct out *o)
{
	const struct page page = { .out = o, .format = format };
	struct averages a;
	double whole[2], reread[3];

	if (format == TABLE_CSV)
		out_str(o, TABLE_CSV_HEADER);
	if (print_table3(r, &page) && print_table4(r, &page, &a) &&
	    print_table5(r, &page, &a) && print_table6(r, &page, &a) &&
	    print_table7(r, &page, &a) && print_table8(r, &page, &a) &&
	    print_table9(r, &page, whole) && print_table10(r, &page, reread) &&
	    print_table11(r, &page, &a, whole, reread))
		return true;
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}
