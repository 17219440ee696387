/* SPDX-License-Identifier: MIT */
/*
 * segment_name.h - where the number of a segment goes in the name of a trace
 *
 * The recorder names the segments of a trace by this rule, and 'hatf record'
 * finds them by it.  The function runs in a traced program: it allocates
 * nothing, takes no lock and leaves errno alone.
 */
#ifndef SEGMENT_NAME_H
#define SEGMENT_NAME_H

/*
 * The place in 'path', a path or a template of one, in front of which ".sNNNN"
 * goes when the path has no %s: the last ".hatf" of the file's name, else ".gz"
 * at its end, else its end.
 */
const char *segment_name_place(const char *path);

#endif /* SEGMENT_NAME_H */
