/* SPDX-License-Identifier: MIT */
/*
 * allocator.h - has this program an allocator that nobody can stand in front of?
 */
#ifndef ALLOCATOR_H
#define ALLOCATOR_H

/*
 * Look through the symbols of the ELF file open as 'fd' and return the name of an
 * allocator's entry point that is defined in it ("malloc", "je_malloc"): calls of
 * it from within do not come by a preloaded library.  Static; NULL: there is
 * none, or the file does not tell.
 */
const char *allocator_inside(int fd);

#endif /* ALLOCATOR_H */
