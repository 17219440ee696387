/* SPDX-License-Identifier: MIT */
/*
 * sized_heap.c - a library to preload that logs what glibc's malloc gives
 *
 * Writes to the file $SIZED_HEAP_LOG, for each block that malloc, calloc,
 * realloc or memalign returns, 8 bytes each: the size asked for, the usable
 * size, and how far the block is from the first one, or 0 if it has a mapping
 * of its own.  The first number of the file is how many bytes are in use, the
 * second the most bytes that glibc has had from the kernel, as seen after every
 * 64th block, and the third the address of the first block.  For one thread.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOG_NBYTES ((size_t)1 << 28)

extern void *__libc_malloc(size_t nbytes);
extern void *__libc_calloc(size_t count, size_t nbytes);
extern void *__libc_realloc(void *p, size_t nbytes);
extern void *__libc_memalign(size_t alignment, size_t nbytes);
extern void __libc_free(void *p);

/* In the word before a block: it has a mapping of its own. */
#define IS_MAPPED 2
/* The bits of that word that are not part of the size of the block. */
#define FLAGS 7

static uint64_t *words;

static void
open_log(void)
{
	const char *const path = getenv("SIZED_HEAP_LOG");
	const int fd = path != NULL ? open(path, O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0 || ftruncate(fd, LOG_NBYTES) != 0)
		_exit(99);
	words = mmap(NULL, LOG_NBYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     0);
	if (words == MAP_FAILED)
		_exit(99);
	close(fd);
	words[0] = 3 * sizeof(*words);
	/* The file may have the log of an earlier run. */
	words[1] = 0;
	words[2] = 0;
}

/*
 * glibc's malloc_usable_size().  A program that is linked with another
 * allocator, such as redis-server, would find that one's function.
 */
size_t
malloc_usable_size(void *p)
{
	const uint64_t head = p != NULL ? ((const uint64_t *)p)[-1] : 0;

	if (p == NULL)
		return 0;
	return (head & ~(uint64_t)FLAGS) - (head & IS_MAPPED ? 16 : 8);
}

static void *
logged(void *p, uint64_t size)
{
	struct mallinfo2 info;
	uint64_t at;

	if (words == NULL)
		open_log();
	at = words[0] / sizeof(*words);
	if (p == NULL || words[0] + 3 * sizeof(*words) > LOG_NBYTES)
		return p;
	if (words[2] == 0)
		words[2] = (uint64_t)(uintptr_t)p;
	words[at] = size;
	words[at + 1] = malloc_usable_size(p);
	words[at + 2] = ((const uint64_t *)p)[-1] & IS_MAPPED
				? 0
				: (uint64_t)(uintptr_t)p - words[2];
	words[0] += 3 * sizeof(*words);
	if (at % 192 == 0) {
		info = mallinfo2();
		if (info.arena + info.hblkhd > words[1])
			words[1] = info.arena + info.hblkhd;
	}
	return p;
}

void *
malloc(size_t nbytes)
{
	return logged(__libc_malloc(nbytes), nbytes);
}

void *
calloc(size_t count, size_t nbytes)
{
	return logged(__libc_calloc(count, nbytes), count * nbytes);
}

void *
realloc(void *p, size_t nbytes)
{
	return logged(__libc_realloc(p, nbytes), nbytes);
}

void *
memalign(size_t alignment, size_t nbytes)
{
	return logged(__libc_memalign(alignment, nbytes), nbytes);
}

void *
aligned_alloc(size_t alignment, size_t nbytes)
{
	return memalign(alignment, nbytes);
}

int
posix_memalign(void **p, size_t alignment, size_t nbytes)
{
	*p = memalign(alignment, nbytes);
	return *p != NULL ? 0 : 12;
}

void
free(void *p)
{
	__libc_free(p);
}
