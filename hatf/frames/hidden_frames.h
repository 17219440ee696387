/* SPDX-License-Identifier: MIT */
/*
 * hidden_frames.h - which frames say nothing about who allocates
 *
 * Pure functions; any thread may call them.
 */
#ifndef HIDDEN_FRAMES_H
#define HIDDEN_FRAMES_H

#include "hatf/hatf.h"

#include <stdbool.h>

/*
 * Return how the name of this program or library begins if it is the recorder
 * or an allocator, "libjemalloc.so"; else NULL.  Static.
 */
const char *hidden_frames_find_library(const char *object);

/* Does the frame belong to the recorder or to an allocator? */
bool hidden_frames_is_allocator(const struct hatf_frame *frame);

/*
 * Does the frame belong to operator new, to the standard containers of C++ and
 * their allocators, or to Rust's alloc and core?
 */
bool hidden_frames_is_std(const struct hatf_frame *frame);

/* Does the frame belong to operator new or operator new[]? */
bool hidden_frames_is_new(const struct hatf_frame *frame);

#endif /* HIDDEN_FRAMES_H */
