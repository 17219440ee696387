/* SPDX-License-Identifier: MIT */
/*
 * witness.c - a program that logs its own allocations, to be killed
 *
 *	witness DIR THREADS LIFE FORKS
 *
 * THREADS threads at a time exchange blocks on a board, reallocate and free
 * them, also those of other threads.  Each one writes every call that has
 * returned, with its pointers, into a log of its own, DIR/log.PID.TID, before
 * it continues.  The log is a shared mapping of a file, which survives a kill.
 * After LIFE calls (0: never) a thread ends and another takes its place.  FORKS
 * children do the same.  Only a signal ends the program.
 *
 * The log is a sequence of entries of four words: what (1 malloc, 2 free, 3
 * realloc), old pointer, new pointer, size.  Sizes requested here are 7 modulo
 * 16, which distinguishes them from libc's own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOTS	    256
#define ENTRIES_MAX (1u << 20)

struct entry {
	_Atomic uint64_t what; /* written last: then it is whole */
	uint64_t old, new, size;
};

static _Atomic(void *) board[SLOTS];
static const char *dir;
static unsigned life;

static struct entry *
open_log(void)
{
	char path[4096];
	const size_t nbytes = ENTRIES_MAX * sizeof(struct entry);
	struct entry *log;
	int fd;

	snprintf(path, sizeof(path), "%s/log.%d.%ld", dir, (int)getpid(),
		 syscall(SYS_gettid));
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)nbytes) != 0)
		_exit(70);
	log = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log == MAP_FAILED)
		_exit(71);
	close(fd);
	return log;
}

static struct entry *
note(struct entry *e, uint64_t what, const void *old, const void *new,
     size_t size)
{
	e->old = (uintptr_t)old;
	e->new = (uintptr_t) new;
	e->size = size;
	atomic_store_explicit(&e->what, what, memory_order_release);
	return e + 1;
}

static void *
work(void *unused)
{
	struct entry *const log = open_log();
	struct entry *e = log;
	uint64_t seed = (uint64_t)syscall(SYS_gettid) * 0x9e3779b97f4a7c15ull;

	(void)unused;
	while (e + 3 < log + ENTRIES_MAX && (life == 0 || e < log + life)) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;

		const size_t size = (seed >> 40) % 128 * 16 + 7;
		void *p = malloc(size);
		void *old;

		e = note(e, 1, NULL, p, size);
		p = atomic_exchange(&board[(seed >> 32) % SLOTS], p);
		if (p != NULL && (seed & 3 << 20) == 0) {
			old = p;
			p = realloc(p, size + 512);
			e = note(e, 3, old, p, size + 512);
		}
		if (p != NULL) {
			free(p);
			e = note(e, 2, p, NULL, 0);
		}
	}
	munmap(log, ENTRIES_MAX * sizeof(*log));
	if (life == 0)
		pause();
	return NULL;
}

static void
keep_working(unsigned threads)
{
	pthread_t ids[64];
	unsigned oldest = 0;

	for (unsigned i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, work, NULL);
	for (;;) {
		pthread_join(ids[oldest], NULL);
		pthread_create(&ids[oldest], NULL, work, NULL);
		oldest = (oldest + 1) % threads;
	}
}

int
main(int argc, char **argv)
{
	if (argc != 5 || atoi(argv[2]) < 1 || atoi(argv[2]) > 64)
		return 2;
	dir = argv[1];
	life = (unsigned)atoi(argv[3]);
	for (int i = atoi(argv[4]); i > 0; i--)
		if (fork() == 0)
			break;
	keep_working((unsigned)atoi(argv[2]));
}
