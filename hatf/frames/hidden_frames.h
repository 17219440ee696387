/* SPDX-License-Identifier: MIT */
/*
 * hidden_frames.h - find the frames that are not the program's own code
 *
 * The functions are pure: any thread may call them.
 */
#ifndef HIDDEN_FRAMES_H
#define HIDDEN_FRAMES_H

#include "hatf/hatf.h"

#include <stdbool.h>

/*
 * 'object' is the path of a program or library.  If the file name in this path
 * begins like the file name of the recorder or of a known allocator, return the
 * common beginning, such as "libjemalloc.so" (static).  Otherwise return NULL.
 */
const char *hidden_frames_find_library(const char *object);

/* Does the frame belong to the recorder? */
bool hidden_frames_is_recorder(const struct hatf_frame *frame);

/* Does the frame belong to the recorder or to an allocator? */
bool hidden_frames_is_allocator(const struct hatf_frame *frame);

/*
 * Like hidden_frames_find_library(), but for the standard libraries of C and
 * C++, and for the dynamic loader: return a beginning such as "libc.so.".
 * Functions of these libraries, such as strdup(), allocate for their callers.
 */
const char *hidden_frames_find_std_library(const char *object);

/*
 * Does the frame belong to the standard library of C, of C++ (operator new and
 * operator delete are part of it) or of Rust?
 */
bool hidden_frames_is_std(const struct hatf_frame *frame);

/*
 * Does the frame stand for missing frames (FORMAT.md, "Stacks")?
 * hidden_frames_is_cut_off(): for frames that the writer of the trace left out.
 * hidden_frames_is_unknown_caller(): for frames that the writer could not find.
 * hidden_frames_is_missing(): for either kind.
 */
bool hidden_frames_is_cut_off(const struct hatf_frame *frame);
bool hidden_frames_is_unknown_caller(const struct hatf_frame *frame);
bool hidden_frames_is_missing(const struct hatf_frame *frame);

/* Does the frame belong to operator new or operator new[]? */
bool hidden_frames_is_new(const struct hatf_frame *frame);

#endif /* HIDDEN_FRAMES_H */
