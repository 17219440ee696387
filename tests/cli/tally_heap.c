/* SPDX-License-Identifier: MIT */
/*
 * tally_heap.c - a library to preload that counts calls and checks blocks
 *
 * Counts in the file $TALLY: calls of malloc and calloc, of free, of realloc,
 * and the bytes that they ask for, as four 8-byte numbers.  A block that is
 * freed or resized must be live: if not, the process aborts.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIVE UINT64_C(0x5ec0de5ec0de5ec0)

extern void *__libc_malloc(size_t nbytes);
extern void __libc_free(void *p);

struct tally {
	_Atomic uint64_t allocs, frees, reallocs, nbytes;
};

/* Before each block. */
struct head {
	uint64_t mark, nbytes;
};

static struct tally unseen;
static struct tally *tally = &unseen;

static __attribute__((constructor)) void
open_tally(void)
{
	const char *const path = getenv("TALLY");
	const int fd = path != NULL ? open(path, O_RDWR | O_CREAT, 0600) : -1;
	void *map;

	if (fd < 0 || ftruncate(fd, sizeof(*tally)) != 0)
		return;
	map = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   0);
	close(fd);
	if (map != MAP_FAILED)
		tally = map;
}

static void *
give(size_t nbytes)
{
	struct head *const head = __libc_malloc(nbytes + sizeof(*head));

	if (head == NULL)
		return NULL;
	*head = (struct head){ LIVE, nbytes };
	return head + 1;
}

/* Return the head of a live block, which is not live any more. */
static struct head *
take(void *p)
{
	struct head *const head = (struct head *)p - 1;

	if (head->mark != LIVE)
		abort();
	head->mark = 0;
	return head;
}

void *
malloc(size_t nbytes)
{
	tally->allocs++;
	tally->nbytes += nbytes;
	return give(nbytes);
}

void *
calloc(size_t count, size_t nbytes)
{
	void *const p = malloc(count * nbytes);

	return p != NULL ? memset(p, 0, count * nbytes) : NULL;
}

void *
aligned_alloc(size_t alignment, size_t nbytes)
{
	return alignment <= sizeof(struct head) ? malloc(nbytes) : NULL;
}

void
free(void *p)
{
	if (p == NULL)
		return;
	tally->frees++;
	__libc_free(take(p));
}

void *
realloc(void *p, size_t nbytes)
{
	struct head *old;
	void *new;

	if (p == NULL)
		return malloc(nbytes);
	tally->reallocs++;
	tally->nbytes += nbytes;
	old = take(p);
	new = give(nbytes);
	if (new != NULL)
		memcpy(new, p, old->nbytes < nbytes ? old->nbytes : nbytes);
	__libc_free(old);
	return new;
}
