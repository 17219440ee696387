/* SPDX-License-Identifier: MIT */
/*
 * unwinder.h - let C++ exceptions run clean-ups in our frames
 *
 * Include this where an exception must run the clean-up of a variable.  The
 * compiler then refers to two functions of libgcc_s, the unwinder's library.  A
 * program that uses exceptions has loaded libgcc_s.  Any other program would
 * load libgcc_s only because of the recorder, and the loading would take a
 * tenth of a millisecond.  The references are therefore weak, and bound only if
 * libgcc_s is loaded at the program's start.  If a library that is loaded later
 * brings libgcc_s, our frames run no clean-up.  If that library calls operator
 * new and the call fails, the trace lacks this call.
 */
#ifndef UNWINDER_H
#define UNWINDER_H

__asm__(".weak _Unwind_Resume\n\t.weak __gcc_personality_v0");

#endif /* UNWINDER_H */
