/* SPDX-License-Identifier: MIT */
/* page_data.h - write the data block of a trace (page/DATA.md) */
#ifndef PAGE_DATA_H
#define PAGE_DATA_H

#include "tools/report/page_sights.h"
#include "tools/summary/gather.h"
#include "tools/ui/out.h"

/*
 * Write the JSON object of a trace, which gather_open() must have read.  The
 * sites and their names take about 'room' bytes; sites that do not fit are
 * added up.  Return false if there is no memory.
 */
bool page_data_write(struct out *o, const struct gathering *g,
		     struct page_sights *sights, uint64_t room);

#endif /* PAGE_DATA_H */
