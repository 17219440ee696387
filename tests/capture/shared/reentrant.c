/* SPDX-License-Identifier: MIT */
/*
 * reentrant.c - an allocator that may be called from a signal handler
 *
 * POSIX forbids malloc() in a handler that interrupted malloc(), so a program
 * with glibc's cannot test how the recorder handles this case.  With this
 * allocator it can: one atomic operation on a bitmap allocates or frees a
 * block, whatever it interrupts.  Freed blocks are allocated again at once,
 * lowest first, so a recorder that swaps two events shows a block that is live
 * twice. reentrant_count() counts the calls, without those of free(NULL), and
 * the blocks allocated and freed.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_NBYTES 4096 /* the largest request; all blocks have this size */
#define WORDS	     256  /* of 64 blocks each */

static _Alignas(4096) char arena[(size_t)WORDS * 64 * BLOCK_NBYTES];
static _Atomic uint64_t taken[WORDS];
static _Atomic uint64_t call_count, taken_count, given_count;

void
reentrant_count(uint64_t count[3])
{
	count[0] = atomic_load(&call_count);
	count[1] = atomic_load(&taken_count);
	count[2] = atomic_load(&given_count);
}

static void *
take(size_t n)
{
	for (size_t w = 0; n <= BLOCK_NBYTES && w < WORDS; w++) {
		uint64_t old = atomic_load(&taken[w]);

		while (old != UINT64_MAX) {
			const int bit = __builtin_ctzll(~old);

			if (atomic_compare_exchange_weak(&taken[w], &old,
							 old | 1ULL << bit)) {
				atomic_fetch_add(&taken_count, 1);
				return arena +
				       (w * 64 + (size_t)bit) * BLOCK_NBYTES;
			}
		}
	}
	errno = ENOMEM;
	return NULL;
}

static void
give_back(void *p)
{
	const size_t block = (size_t)((char *)p - arena) / BLOCK_NBYTES;

	atomic_fetch_add(&given_count, 1);
	atomic_fetch_and(&taken[block / 64], ~(1ULL << block % 64));
}

void *
malloc(size_t n)
{
	atomic_fetch_add(&call_count, 1);
	return take(n);
}

void
free(void *p)
{
	if (p == NULL)
		return;
	atomic_fetch_add(&call_count, 1);
	give_back(p);
}

void *
calloc(size_t n, size_t size)
{
	size_t nbytes;
	void *p;

	atomic_fetch_add(&call_count, 1);
	if (__builtin_mul_overflow(n, size, &nbytes)) {
		errno = ENOMEM;
		return NULL;
	}
	p = take(nbytes);
	return p != NULL ? memset(p, 0, nbytes) : NULL;
}

/* Always move, so that the recorder has an old block to record. */
void *
realloc(void *p, size_t n)
{
	void *const q = take(n);

	atomic_fetch_add(&call_count, 1);
	if (q != NULL && p != NULL) {
		memcpy(q, p, n);
		give_back(p);
	}
	return q;
}

void *
reallocarray(void *p, size_t n, size_t size)
{
	return realloc(p, n * size);
}

void *
memalign(size_t alignment, size_t n)
{
	atomic_fetch_add(&call_count, 1);
	return alignment <= BLOCK_NBYTES ? take(n) : NULL;
}

void *
aligned_alloc(size_t alignment, size_t n)
{
	return memalign(alignment, n);
}

int
posix_memalign(void **p, size_t alignment, size_t n)
{
	*p = memalign(alignment, n);
	return *p != NULL ? 0 : ENOMEM;
}
