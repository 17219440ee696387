/* SPDX-License-Identifier: MIT */
/*
 * unwinder.h - what C++ exceptions may pass through
 *
 * To be included where a variable has a clean-up that an exception is to run.
 * The compiler then refers to two functions of the unwinder's library,
 * libgcc_s.  A program in which there are exceptions has loaded that; into any
 * other we would bring it, at a tenth of a millisecond for each start.  Weak,
 * the names are bound if they are there when the program starts.  Where they
 * come only later, with a library that is loaded then, our frames have nothing
 * to run: an operator new of that library's that fails is not in the trace.
 */
#ifndef UNWINDER_H
#define UNWINDER_H

__asm__(".weak _Unwind_Resume\n\t.weak __gcc_personality_v0");

#endif /* UNWINDER_H */
