/* SPDX-License-Identifier: MIT */
/*
 * allocator.h - detect an allocator that is part of a program, because
 * LD_PRELOAD cannot replace such an allocator
 */
#ifndef ALLOCATOR_H
#define ALLOCATOR_H

/*
 * Search the symbols of the ELF file open as 'fd' for a defined entry point of
 * an allocator ("malloc", "je_malloc").  Calls of such an entry point from
 * inside the program bypass a preloaded library.  Return the name of the entry
 * point, which is a static string.  Return NULL if the file has no such symbol.
 */
const char *allocator_inside(int fd);

/*
 * If the ELF file open as 'fd' is built with a sanitizer that has its own
 * allocator, return the sanitizer's name, such as "AddressSanitizer", or "a
 * sanitizer" if its kind is unknown.  The string is static.  Otherwise return
 * NULL.
 */
const char *allocator_sanitizer(int fd);

#endif /* ALLOCATOR_H */
