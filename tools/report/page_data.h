/* SPDX-License-Identifier: MIT */
/* page_data.h - the data block of a trace (page/DATA.md) */
#ifndef PAGE_DATA_H
#define PAGE_DATA_H

#include "tools/report/page_sights.h"
#include "tools/summary/gather.h"
#include "tools/ui/out.h"

/* Write the object of a trace that has been read.  False: no memory. */
bool page_data_write(struct out *o, const struct gathering *g,
		     struct page_sights *sights);

#endif /* PAGE_DATA_H */
