/* SPDX-License-Identifier: MIT */
/*
 * jemalloc.h - record what goes through jemalloc's own functions
 */
#ifndef OUR_JEMALLOC_H
#define OUR_JEMALLOC_H

/* Where there is a jemalloc; once, when all libraries of the start are loaded. */
void jemalloc_patch(void);

#endif /* OUR_JEMALLOC_H */
