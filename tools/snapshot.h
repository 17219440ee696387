/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the blocks that live at a point of a trace, as a trace
 *
 * Of a trace that may still be written.  The snapshot has the header of the trace,
 * no events, and carried blocks (FORMAT "Segments"), so that it can be read alone.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Read the first 'event_count' events of the trace 'from', or as far as it goes,
 * and write 'to'.  '*count_ret' and
 * '*nbytes_ret' tell of the blocks.  On failure says what is wrong and returns
 * false.
 */
bool snapshot_write(const char *from, uint64_t event_count, const char *to,
		    uint64_t *count_ret, uint64_t *nbytes_ret);

#endif /* SNAPSHOT_H */
