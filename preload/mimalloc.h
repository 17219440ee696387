/* SPDX-License-Identifier: MIT */
/*
 * mimalloc.h - record what goes through mimalloc's own functions
 */
#ifndef OUR_MIMALLOC_H
#define OUR_MIMALLOC_H

/* Where there is a mimalloc; once, when all libraries of the start are loaded. */
void mimalloc_patch(void);

#endif /* OUR_MIMALLOC_H */
