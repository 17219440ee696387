/* SPDX-License-Identifier: MIT */
/* page_map.c - see page_map.h */
#include "tools/report/page_map.h"

#include "tools/report/page_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * A gap of more than this many rows that never had a live block ends a region
 * of the map.
 */
#define GAP_ROWS 4

static unsigned
chunk_shift(const struct page_map *m)
{
	return PAGE_MAP_SHIFT + m->wider;
}

/* ----------------------------------------------------------------- chunks */

/*
 * In one column, add up the live bytes of the chunks that were merged.
 * 'row_of' maps old rows to new rows; 'count' is the number of new rows.
 */
static bool
merge_live(struct page_column *c, const uint32_t *row_of, uint32_t count)
{
	uint64_t *const merged = calloc(count + 1, sizeof(*merged));

	if (merged == NULL)
		return false;
	for (uint32_t i = 0; i < c->count; i++)
		merged[row_of[i]] += c->live[i];
	free(c->live);
	c->live = merged;
	c->count = count;
	return true;
}

/* Double the size of chunks, and merge neighbours. */
static void
widen_chunks(struct page_map *m)
{
	uint32_t row_of[PAGE_MAP_CHUNKS];
	struct id_rows rows = { 0 };
	uint64_t live[PAGE_MAP_CHUNKS] = { 0 };

	for (uint32_t i = 0; i < m->rows.count; i++) {
		const uint64_t number = m->numbers[i] / 2;

		row_of[i] = id_rows_find(&rows, number);
		if (row_of[i] == ID_ROWS_NONE)
			row_of[i] = id_rows_add(&rows, number);
		if (row_of[i] == ID_ROWS_NONE) {
			m->no_memory = true;
			break;
		}
		/*
		 * The new row of a chunk is at or before its old row, so no
		 * unread row is overwritten.
		 */
		m->numbers[row_of[i]] = number;
		live[row_of[i]] += m->live[i];
	}
	for (uint32_t i = 0; i < m->column_count && !m->no_memory; i++)
		if (!merge_live(&m->columns[i], row_of, rows.count))
			m->no_memory = true;
	memcpy(m->live, live, sizeof(live));
	id_rows_free(&m->rows);
	m->rows = rows;
	m->wider++;
}

/*
 * Return the row of the chunk that contains this address.  If the chunk has no
 * row yet, add one.  Return 0 if there is no memory.
 */
static uint32_t
find_chunk(struct page_map *m, uint64_t address)
{
	uint32_t row = id_rows_find(&m->rows, address >> chunk_shift(m));

	while (row == ID_ROWS_NONE && !m->no_memory) {
		if (m->rows.count == PAGE_MAP_CHUNKS) {
			widen_chunks(m);
			row = id_rows_find(&m->rows, address >> chunk_shift(m));
			continue;
		}
		row = id_rows_add(&m->rows, address >> chunk_shift(m));
		if (row == ID_ROWS_NONE) {
			m->no_memory = true;
			break;
		}
		m->numbers[row] = address >> chunk_shift(m);
		m->live[row] = 0;
	}
	return m->no_memory ? 0 : row;
}

/*
 * Return how many of the 'left' bytes from 'address' on are in the chunk that
 * contains 'address'.
 */
static uint64_t
take_part(const struct page_map *m, uint64_t address, uint64_t left)
{
	const uint64_t size = (uint64_t)1 << chunk_shift(m);
	const uint64_t room = size - (address & (size - 1));

	return left < room ? left : room;
}

/* Return 'nbytes', reduced if the block would exceed the address space. */
static uint64_t
clamp(uint64_t address, uint64_t nbytes)
{
	return nbytes <= UINT64_MAX - address ? nbytes : UINT64_MAX - address;
}

void
page_map_add(struct page_map *m, uint64_t address, uint64_t nbytes)
{
	uint64_t left = clamp(address, nbytes);

	while (left > 0 && !m->no_memory) {
		const uint32_t row = find_chunk(m, address);
		const uint64_t part = take_part(m, address, left);

		m->live[row] += part;
		address += part;
		left -= part;
	}
}

void
page_map_remove(struct page_map *m, uint64_t address, uint64_t nbytes)
{
	uint64_t left = clamp(address, nbytes);

	/*
	 * Before page_map_add() adds a block, it enlarges the chunks until the
	 * block fits into PAGE_MAP_CHUNKS of them.  A block that takes more
	 * chunks was therefore never added.
	 */
	if (left >> chunk_shift(m) > PAGE_MAP_CHUNKS)
		return;
	while (left > 0) {
		const uint64_t number = address >> chunk_shift(m);
		const uint32_t row = id_rows_find(&m->rows, number);
		const uint64_t part = take_part(m, address, left);

		if (row != ID_ROWS_NONE)
			m->live[row] -=
				part < m->live[row] ? part : m->live[row];
		address += part;
		left -= part;
	}
}

/* ---------------------------------------------------------------- columns */

/*
 * Double the width of columns.  Of two columns that become one, keep the later.
 */
static void
widen_columns(struct page_map *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->column_count; i++) {
		m->columns[i].number /= 2;
		if (n > 0 && m->columns[n - 1].number == m->columns[i].number)
			free(m->columns[--n].live);
		m->columns[n++] = m->columns[i];
	}
	m->column_count = n;
	m->column_shift++;
}

/* Store the live bytes of each chunk as column 'number'. */
static void
store_column(struct page_map *m, uint64_t number)
{
	const size_t nbytes = m->rows.count * sizeof(uint64_t);
	uint64_t *const live = malloc(nbytes + 1);

	if (live == NULL) {
		m->no_memory = true;
		return;
	}
	memcpy(live, m->live, nbytes);
	if (m->column_count > 0 &&
	    m->columns[m->column_count - 1].number == number)
		free(m->columns[--m->column_count].live);
	m->columns[m->column_count++] = (struct page_column){
		.number = number,
		.live = live,
		.count = m->rows.count,
	};
}

void
page_map_end_column(struct page_map *m, uint64_t at)
{
	if (m->now_end != 0)
		store_column(m, (m->now_end - 1) >> m->column_shift);
	while (at >> m->column_shift >= PAGE_MAP_COLUMNS)
		widen_columns(m);
	m->now_end = ((at >> m->column_shift) + 1) << m->column_shift;
}

/* ---------------------------------------------------------------- writing */

/* A chunk, for sorting by address. */
struct place {
	uint64_t number;
	uint32_t row;
};

static int
compare_places(const void *a, const void *b)
{
	const struct place *const x = a;
	const struct place *const y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * A region begins at places[i] and ends at the next gap.  Return the number of
 * rows of the region, each of 2^shift chunks.  Set '*end_ret' to the index of
 * the first place after the gap.
 */
static uint64_t
region_rows(const struct place *places, uint32_t count, uint32_t i,
	    unsigned shift, uint32_t *end_ret)
{
	const uint64_t first = places[i].number >> shift;
	uint64_t last = first;

	for (i++; i < count; i++) {
		const uint64_t row = places[i].number >> shift;

		if (row - last > GAP_ROWS + 1)
			break;
		last = row;
	}
	*end_ret = i;
	return last - first + 1;
}

/*
 * A row of the map is 2^shift chunks.  Return the smallest shift for which all
 * regions together have at most PAGE_MAP_ROWS rows.
 */
static unsigned
choose_shift(const struct place *places, uint32_t count)
{
	unsigned shift = 0;

	for (;; shift++) {
		uint64_t rows = 0;

		for (uint32_t i = 0; i < count;)
			rows += region_rows(places, count, i, shift, &i);
		if (rows <= PAGE_MAP_ROWS)
			return shift;
	}
}

/*
 * Write a row of the map: for each column, a digit of base 36 that tells how
 * full the row is.
 */
static void
write_row(const struct page_map *m, struct out *o, const struct place *places,
	  uint32_t count, unsigned shift)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	const double whole = (double)((uint64_t)1 << shift) *
			     (double)((uint64_t)1 << chunk_shift(m));
	uint64_t number = 0;
	int last = 0;

	out_str(o, "\"");
	for (uint32_t c = 0; c < m->column_count; c++) {
		double live = 0;
		int digit;

		for (uint32_t i = 0; i < count; i++)
			if (places[i].row < m->columns[c].count)
				live += (double)m->columns[c]
						.live[places[i].row];
		digit = (int)(live / whole * 35);
		if (digit == 0 && live > 0)
			digit = 1;
		if (digit > 35)
			digit = 35; /* more than full, because blocks overlap */
		/* For columns without events, repeat the previous digit. */
		for (; number < m->columns[c].number; number++)
			out_bytes(o, &digits[last], 1);
		out_bytes(o, &digits[digit], 1);
		number++;
		last = digit;
	}
	out_str(o, "\"");
}

static void
write_region(const struct page_map *m, struct out *o,
	     const struct place *places, uint32_t count, unsigned shift)
{
	const unsigned log2_nbytes = shift + chunk_shift(m);
	uint64_t row = places[0].number >> shift;

	out_printf(o, "{\"name\":0,\"start\":\"%" PRIx64 "\",\"step\":",
		   row << log2_nbytes);
	out_u64(o, (uint64_t)1 << log2_nbytes);
	out_str(o, ",\"rows\":[");
	for (uint32_t i = 0; i < count; row++) {
		uint32_t end = i;

		while (end < count && places[end].number >> shift == row)
			end++;
		if (i != 0)
			out_str(o, ",");
		write_row(m, o, places + i, end - i, shift);
		i = end;
	}
	out_str(o, "]}");
}

/* Return the sum of the live bytes of all chunks after the last event. */
static uint64_t
count_live(const struct page_map *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->rows.count; i++)
		sum += m->live[i];
	return sum;
}

static void
write_times(const struct page_map *m, struct out *o, uint64_t end,
	    void (*put_time)(struct out *o, const void *ctx, uint64_t at),
	    const void *ctx)
{
	const uint64_t count = m->columns[m->column_count - 1].number + 1;

	out_str(o, "{\"time\":[");
	for (uint64_t i = 0; i < count; i++) {
		if (i != 0)
			out_str(o, ",");
		put_time(o, ctx,
			 i + 1 < count ? (i + 1) << m->column_shift : end);
	}
	out_str(o, "],\"live\":");
	out_u64(o, count_live(m));
	out_str(o, ",\"regions\":[");
}

void
page_map_write(struct page_map *m, struct out *o, uint64_t end,
	       void (*put_time)(struct out *o, const void *ctx, uint64_t at),
	       const void *ctx)
{
	struct place places[PAGE_MAP_CHUNKS];
	const uint32_t count = m->rows.count;
	unsigned shift;

	if (count == 0 || m->no_memory)
		return;
	store_column(m, (m->now_end - 1) >> m->column_shift);
	for (uint32_t i = 0; i < count; i++)
		places[i] = (struct place){ m->numbers[i], i };
	qsort(places, count, sizeof(places[0]), compare_places);
	shift = choose_shift(places, count);
	page_put_key(o, false, "addresses");
	write_times(m, o, end, put_time, ctx);
	for (uint32_t i = 0; i < count;) {
		uint32_t next;

		region_rows(places, count, i, shift, &next);
		if (i != 0)
			out_str(o, ",");
		write_region(m, o, places + i, next - i, shift);
		i = next;
	}
	out_str(o, "]}");
}

void
page_map_free(struct page_map *m)
{
	for (uint32_t i = 0; i < m->column_count; i++)
		free(m->columns[i].live);
	id_rows_free(&m->rows);
}
