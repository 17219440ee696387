/* SPDX-License-Identifier: MIT */
/*
 * late.h - allocators that are loaded while the program runs
 *
 * What a program loads by dlopen(3) it finds by dlsym(3): a function of the library
 * itself, or the one of a plug-in that calls it.  So the places from which objects call
 * dlsym() are changed to call ours (see patch.h), which sees whether objects have
 * come since, and gives what stands in front of a function instead of it.  dlopen()
 * is not touched: what it does depends on where it is called from.
 */
#ifndef LATE_H
#define LATE_H

/* Once, when the allocators of the start have been looked for. */
void late_patch(void);

#endif /* LATE_H */
