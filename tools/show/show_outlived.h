/* SPDX-License-Identifier: MIT */
/*
 * show_outlived.h - show the blocks that were live when their thread ended
 *
 * The groups must have been made with BY_THREAD.
 */
#ifndef SHOW_OUTLIVED_H
#define SHOW_OUTLIVED_H

#include "tools/show/show.h"

/*
 * If some threads ended before all their blocks were freed, write an empty line
 * and a table of up to 'top' of these threads, or of all if 'top' is 0.  The
 * thread with the most bytes in such blocks comes first.  Return false if there
 * is no memory.
 */
bool show_outlived(struct out *o, const struct groups *all, uint64_t top);

/*
 * Return an object for the blocks that were live when the thread of the group
 * 'row' ended.
 */
json_t *show_json_outlived(const struct groups *all, uint32_t row);

#endif /* SHOW_OUTLIVED_H */
