/* SPDX-License-Identifier: MIT */
/* writer_state.c - see writer_state.h */

#include "preload/writer/writer_state.h"

struct writer *writer;

bool
writer_is_prepared(void)
{
	return writer->is_prepared;
}

uint64_t
writer_start_ns(void)
{
	return writer->trace.narrator.timeline.start_ns;
}
