/* SPDX-License-Identifier: MIT */
/* waste.c - see waste.h */
#include "tools/summary/waste.h"

#include <string.h>

void
waste_init(struct waste *w)
{
	memset(w, 0, sizeof(*w));
	size_tables_init(&w->tables);
	for (unsigned row = 0; row <= WASTE_SMALL / 8; row++)
		for (unsigned i = 0; i < SIZE_TABLE_COUNT; i++)
			w->small[row][i] = (uint32_t)size_table_taken(
				&w->tables, (enum size_table)i, 8 * row);
}

static uint64_t
taken(const struct waste *w, unsigned table, uint64_t size)
{
	return size <= WASTE_SMALL
		       ? w->small[(size + 7) / 8][table]
		       : size_table_taken(&w->tables, (enum size_table)table,
					  size);
}

/*
 * Save 'live' if a peak has occurred since the last change.  Call this before
 * 'live' changes.
 */
static void
touch(struct waste *w, uint64_t epoch)
{
	if (w->epoch == epoch)
		return;
	for (unsigned i = 0; i < SIZE_TABLE_COUNT; i++)
		w->sums[i].saved = w->sums[i].live;
	w->epoch = epoch;
}

void
waste_begin(struct waste *w, uint64_t epoch, uint64_t size, bool is_event)
{
	touch(w, epoch);
	for (unsigned i = 0; i < SIZE_TABLE_COUNT; i++) {
		const uint64_t nbytes = taken(w, i, size);

		w->sums[i].live += nbytes;
		if (is_event)
			w->sums[i].allocated += nbytes;
	}
}

void
waste_end(struct waste *w, uint64_t epoch, uint64_t size)
{
	touch(w, epoch);
	for (unsigned i = 0; i < SIZE_TABLE_COUNT; i++)
		w->sums[i].live -= taken(w, i, size);
}

void
waste_restart(struct waste *w)
{
	for (unsigned i = 0; i < SIZE_TABLE_COUNT; i++)
		w->sums[i] = (struct waste_sum){ .live = w->sums[i].live };
	w->epoch = 0;
}

uint64_t
waste_at_peak(const struct waste *w, enum size_table table, uint64_t epoch)
{
	return w->epoch == epoch ? w->sums[table].saved : w->sums[table].live;
}
