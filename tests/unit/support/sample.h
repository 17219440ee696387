/* SPDX-License-Identifier: MIT */
/*
 * sample.h - how much of an exhaustive loop runs under a sanitizer
 *
 * Some tests do the same to every byte of a file: truncate it there, or damage
 * it.  The plain build does so at every byte.  A sanitizer makes each try up to
 * twenty times slower, and needs fewer tries to find an error of memory.  So
 * under a sanitizer such a loop begins at SAMPLE_FIRST and takes every
 * SAMPLE_STEPth position.  gcc and clang begin at different positions.
 *
 * SAMPLE_IS_TSAN is 1 under ThreadSanitizer, else 0.  ThreadSanitizer finds
 * races, so a long test that uses one thread can be skipped under it.
 */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SAMPLE_STEP 7
#endif
#if __has_feature(thread_sanitizer)
#define SAMPLE_IS_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define SAMPLE_STEP    7
#define SAMPLE_IS_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define SAMPLE_STEP 7
#endif

#ifndef SAMPLE_STEP
#define SAMPLE_STEP 1
#endif

#ifndef SAMPLE_IS_TSAN
#define SAMPLE_IS_TSAN 0
#endif

#ifdef __clang__
#define SAMPLE_FIRST (SAMPLE_STEP / 2)
#else
#define SAMPLE_FIRST 0
#endif

#endif
