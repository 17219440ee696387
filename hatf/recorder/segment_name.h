/* SPDX-License-Identifier: MIT */
/*
 * segment_name.h - where to insert a segment's number into the name of a trace
 *
 * The recorder uses this function to name the segments of a trace, and 'hatf
 * record' uses it to find them.  The function runs in a traced program: it
 * allocates nothing, takes no lock and leaves errno alone.
 */
#ifndef SEGMENT_NAME_H
#define SEGMENT_NAME_H

/*
 * Return the position in 'path' (a path or a template without %s) where
 * ".sNNNN" is inserted.  The position is before the last ".hatf" of the file's
 * name.  If the name has no ".hatf", the position is before ".gz" at the end of
 * the name, or else at the end.
 */
const char *segment_name_place(const char *path);

#endif /* SEGMENT_NAME_H */
