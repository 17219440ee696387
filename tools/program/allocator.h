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

/*
 * The sanitizer that the program in the ELF file open as 'fd' is built with, if
 * that is one with an allocator of its own: "AddressSanitizer", or "a
 * sanitizer" if the file does not tell which.  Static; NULL: none.
 */
const char *allocator_sanitizer(int fd);

#endif /* ALLOCATOR_H */
