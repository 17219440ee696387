/* SPDX-License-Identifier: MIT */
/*
 * tally.c - an oracle: count what reaches the allocator
 *
 * Preloaded after the recorder, so that every call that the recorder passes on
 * comes through here, it counts them in a file of 8 byte numbers (events, bytes
 * asked for) per process image, TALLY_DIR/PID, .1, .2, ..., which is a shared
 * mapping and so needs no way of exit.  An event is one call of any function
 * below, except free(NULL).  It calls glibc's functions by their __libc names,
 * so that it needs no dlsym(), and it has nothing in common with the recorder.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct tally {
	_Atomic uint64_t event_count, size_nbytes;
};

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *__libc_valloc(size_t);
void *__libc_pvalloc(size_t);
void __libc_free(void *);

static struct tally at_start; /* until the constructor has run */
static struct tally *tally = &at_start;

static void
count(size_t nbytes)
{
	atomic_fetch_add_explicit(&tally->event_count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&tally->size_nbytes, nbytes,
				  memory_order_relaxed);
}

void *
malloc(size_t n)
{
	count(n);
	return __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	count(n * size);
	return __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	count(n);
	return __libc_realloc(p, n);
}

void *
reallocarray(void *p, size_t n, size_t size)
{
	size_t nbytes;

	count(n * size);
	if (__builtin_mul_overflow(n, size, &nbytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, nbytes);
}

void *
memalign(size_t alignment, size_t n)
{
	count(n);
	return __libc_memalign(alignment, n);
}

void *
aligned_alloc(size_t alignment, size_t n)
{
	count(n);
	return __libc_memalign(alignment, n);
}

int
posix_memalign(void **p, size_t alignment, size_t n)
{
	const int saved_errno = errno;
	void *mem;

	count(n);
	if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
		return EINVAL;
	mem = __libc_memalign(alignment, n);
	errno = saved_errno;
	if (mem == NULL)
		return ENOMEM;
	*p = mem;
	return 0;
}

void *
valloc(size_t n)
{
	count(n);
	return __libc_valloc(n);
}

void *
pvalloc(size_t n)
{
	count(n);
	return __libc_pvalloc(n);
}

void
free(void *p)
{
	if (p != NULL)
		count(0);
	__libc_free(p);
}

static int
open_tally(const char *dir)
{
	char path[4096];
	int fd, n = 0;

	snprintf(path, sizeof(path), "%s/%d", dir, (int)getpid());
	while ((fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0 &&
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
	void *p;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return;
	if (tally == &at_start)
		*(struct tally *)p = at_start;
	tally = p;
}

__attribute__((constructor)) static void
begin(void)
{
	map_tally();
	pthread_atfork(NULL, NULL, map_tally);
}
