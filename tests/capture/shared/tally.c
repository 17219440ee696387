/* SPDX-License-Identifier: MIT */
/*
 * tally.c - count and note the calls that reach the allocator
 *
 * Preloaded after the recorder, so that it receives every call that the
 * recorder passes on.  It counts them in a file for each process image,
 * TALLY_DIR/PID, .1, .2, ...; the file is a shared mapping, so the process may
 * end in any way.  An event is one call of any function below, except
 * free(NULL).  The file is
 *
 *	the number of events, the bytes requested	8 bytes each
 *	the first JOURNAL events	4 words of 8 bytes each:
 *		what (enum), size, old address, new address
 *
 * It calls glibc's functions by their __libc names, so it does not need
 * dlsym().  It shares no code with the recorder.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JOURNAL	      1000000 /* events in the file, which is sparse */
#define JOURNAL_EARLY 1000

enum {
	ALLOC = 1,
	FREE = 2,
	REALLOC = 3
};

struct note {
	uint64_t what, size;
	const void *old, *address;
};

struct tally {
	_Atomic uint64_t event_count, size_nbytes;
	struct note notes[];
};

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *__libc_valloc(size_t);
void *__libc_pvalloc(size_t);
void __libc_free(void *);

/* Used until the constructor has run. */
static _Alignas(16) char early[sizeof(struct tally) +
			       JOURNAL_EARLY * sizeof(struct note)];
static struct tally *tally = (struct tally *)early;
static uint64_t room = JOURNAL_EARLY;

static void *
count(int what, size_t nbytes, const void *old, void *address)
{
	const uint64_t i = atomic_fetch_add_explicit(&tally->event_count, 1,
						     memory_order_relaxed);

	atomic_fetch_add_explicit(&tally->size_nbytes, nbytes,
				  memory_order_relaxed);
	if (i < room)
		tally->notes[i] =
			(struct note){ (uint64_t)what, nbytes, old, address };
	return address;
}

void *
malloc(size_t n)
{
	return count(ALLOC, n, NULL, __libc_malloc(n));
}

void *
calloc(size_t n, size_t size)
{
	return count(ALLOC, n * size, NULL, __libc_calloc(n, size));
}

void *
realloc(void *p, size_t n)
{
	return count(REALLOC, n, p, __libc_realloc(p, n));
}

void *
reallocarray(void *p, size_t n, size_t size)
{
	size_t nbytes;

	if (__builtin_mul_overflow(n, size, &nbytes)) {
		errno = ENOMEM;
		return count(REALLOC, SIZE_MAX, p, NULL);
	}
	return realloc(p, nbytes);
}

void *
memalign(size_t alignment, size_t n)
{
	return count(ALLOC, n, NULL, __libc_memalign(alignment, n));
}

void *
aligned_alloc(size_t alignment, size_t n)
{
	return count(ALLOC, n, NULL, __libc_memalign(alignment, n));
}

int
posix_memalign(void **p, size_t alignment, size_t n)
{
	const int saved_errno = errno;
	void *mem;

	if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
		count(ALLOC, n, NULL, NULL);
		return EINVAL;
	}
	mem = count(ALLOC, n, NULL, __libc_memalign(alignment, n));
	errno = saved_errno;
	if (mem == NULL)
		return ENOMEM;
	*p = mem;
	return 0;
}

void *
valloc(size_t n)
{
	return count(ALLOC, n, NULL, __libc_valloc(n));
}

void *
pvalloc(size_t n)
{
	return count(ALLOC, n, NULL, __libc_pvalloc(n));
}

void
free(void *p)
{
	if (p != NULL)
		count(FREE, 0, p, NULL);
	__libc_free(p);
}

static int
open_tally(const char *dir)
{
	char path[4096];
	int fd, n = 0;

	snprintf(path, sizeof(path), "%s/%d", dir, (int)getpid());
	while ((fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) <
		       0 &&
	       errno == EEXIST)
		snprintf(path, sizeof(path), "%s/%d.%d", dir, (int)getpid(),
			 ++n);
	return fd;
}

static void
map_tally(void)
{
	const char *const dir = getenv("TALLY_DIR");
	const int fd = dir != NULL ? open_tally(dir) : -1;
	const size_t nbytes =
		sizeof(struct tally) + JOURNAL * sizeof(struct note);
	void *p;

	if (fd < 0 || ftruncate(fd, (off_t)nbytes) != 0)
		return;
	p = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return;
	if (tally == (struct tally *)early)
		memcpy(p, early, sizeof(early));
	tally = p;
	room = JOURNAL;
}

__attribute__((constructor)) static void
begin(void)
{
	map_tally();
	pthread_atfork(NULL, NULL, map_tally);
}
