/* SPDX-License-Identifier: MIT */
/*
 * threads.c - threads that begin and end in every way
 *
 * Each thread allocates a block of a unique size, by which the script finds its
 * number in the trace.  Prints a line for each thread:
 *
 *	thread KIND SIZE TID START PARENT-SIZE END
 *
 * PARENT-SIZE is the size of the thread that made it (0: the initial one),
 * START is 0 if the recorder cannot know it, and END is 'ended', 'alive' (at
 * the end of the process), or 'raw' (ends unseen by libc).
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#define KIDS_MAX   64
#define FIRST_SIZE 10000
#define NOW_SIZE   20004

struct kid {
	const char *kind, *end;
	size_t size, parent_size;
	pid_t tid;
	uintptr_t start;
	sem_t begun, done;
};

static struct kid kids[KIDS_MAX];
static _Atomic int kid_count;
static pthread_key_t late_key;
static _Atomic int late_round_count;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

/* Set the key again in each round, so that libc calls the destructor again. */
static void
late_destructor(void *p)
{
	free(p);
	if (++late_round_count < 3)
		pthread_setspecific(late_key, malloc(20001));
}

static struct kid *
new_kid(const char *kind, const char *end, void *(*start)(void *),
	size_t parent_size)
{
	const int i = kid_count++;
	struct kid *const kid = &kids[i];

	kid->kind = kind;
	kid->end = end;
	kid->size = FIRST_SIZE + (size_t)i;
	kid->parent_size = parent_size;
	memcpy(&kid->start, &start, sizeof(start));
	sem_init(&kid->begun, 0, 0);
	sem_init(&kid->done, 0, 0);
	return kid;
}

static void
begin(struct kid *kid)
{
	kid->tid = (pid_t)syscall(SYS_gettid);
	free(malloc(kid->size));
	sem_post(&kid->begun);
}

static void *
start_return(void *arg)
{
	begin(arg);
	return NULL;
}

static void *
start_exit(void *arg)
{
	begin(arg);
	pthread_exit(arg);
}

static void
cleanup(void *p)
{
	free(p);
	free(malloc(30));
}

static void *
start_cancelled(void *arg)
{
	struct kid *const kid = arg;

	begin(kid);
	pthread_cleanup_push(cleanup, malloc(31));
	for (;;)
		pause();
	pthread_cleanup_pop(1);
	return NULL;
}

static void *
start_cancelled_async(void *arg)
{
	int old;

	begin(arg);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	for (;;)
		sched_yield();
	return NULL;
}

static void *
start_detached(void *arg)
{
	struct kid *const kid = arg;

	begin(kid);
	sem_post(&kid->done);
	return NULL;
}

static void *
start_late(void *arg)
{
	begin(arg);
	pthread_setspecific(late_key, malloc(20000));
	return NULL;
}

/* C++ 'thread_local' objects with destructors use this function. */
int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;

static void
tls_destructor(void *p)
{
	free(p);
	free(malloc(20003));
}

static void *
start_tls(void *arg)
{
	begin(arg);
	__cxa_thread_atexit_impl(tls_destructor, malloc(20002), &__dso_handle);
	return NULL;
}

static void *
start_named(void *arg)
{
	pthread_setname_np(pthread_self(), "early bird");
	begin(arg);
	pthread_setname_np(pthread_self(), "renamed");
	return NULL;
}

static void *
start_silent(void *arg)
{
	/* This thread makes no allocation of its own. */
	((struct kid *)arg)->tid = (pid_t)syscall(SYS_gettid);
	return NULL;
}

static void *
start_alive(void *arg)
{
	begin(arg);
	for (;;)
		pause();
	return NULL;
}

static void
make(pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *),
     struct kid *kid)
{
	if (pthread_create(t, attr, start, kid) != 0)
		die("pthread_create");
}

static void *
start_nesting(void *arg)
{
	struct kid *const kid = arg;
	pthread_t t;

	begin(kid);
	make(&t, NULL, start_return,
	     new_kid("nested", "ended", start_return, kid->size));
	pthread_join(t, NULL);
	return NULL;
}

static int
start_c11(void *arg)
{
	begin(arg);
	return 0;
}

static void
run_joined(const char *kind, void *(*start)(void *), const pthread_attr_t *attr)
{
	pthread_t t;

	make(&t, attr, start, new_kid(kind, "ended", start, 0));
	pthread_join(t, NULL);
}

static void
run_cancelled(const char *kind, void *(*start)(void *))
{
	struct kid *const kid = new_kid(kind, "ended", start, 0);
	pthread_t t;
	void *result;

	make(&t, NULL, start, kid);
	sem_wait(&kid->begun);
	pthread_cancel(t);
	pthread_join(t, &result);
	if (result != PTHREAD_CANCELED)
		die("not cancelled");
}

static void
wait_until_gone(const struct kid *kid)
{
	while (syscall(SYS_tgkill, getpid(), kid->tid, 0) == 0)
		usleep(1000);
}

static void
run_detached(void)
{
	struct kid *const kid = new_kid("detached", "ended", start_detached, 0);
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	make(&t, &attr, start_detached, kid);
	pthread_attr_destroy(&attr);
	sem_wait(&kid->done);
	wait_until_gone(kid);
}

static void
run_small_stack(void)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	run_joined("small-stack", start_return, &attr);
	pthread_attr_destroy(&attr);
}

/* pthread_create() fails: the trace must have no such thread. */
static void
run_failing(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)1 << 46);
	if (pthread_create(&t, &attr, start_return, NULL) != EAGAIN)
		die("a thread with too large a stack came to be");
	pthread_attr_destroy(&attr);
}

static void
run_c11(void)
{
	struct kid *const kid = new_kid("c11", "ended", NULL, 0);
	thrd_t t;

	if (thrd_create(&t, start_c11, kid) != thrd_success)
		die("thrd_create");
	thrd_join(t, NULL);
}

#ifdef __x86_64__
static int
start_raw(void *arg)
{
	begin(arg);
	syscall(SYS_exit, 0);
	return 0;
}

/*
 * A thread that libc did not make, with a TLS area of its own, because malloc()
 * needs one.  The ABI fixes the first 24 bytes of the area; the words at 0x28
 * and 0x30 are the guards.
 */
static void
run_raw(void)
{
	static char stack[65536] __attribute__((aligned(4096)));
	struct kid *const kid = new_kid("raw", "raw", NULL, 0);
	void *const sym = dlsym(RTLD_DEFAULT, "_dl_allocate_tls");
	void *(*allocate_tls)(void *);
	static volatile pid_t ctid = 1;
	uintptr_t *tls, *self;

	memcpy(&allocate_tls, &sym, sizeof(sym));
	if (sym == NULL || (tls = allocate_tls(NULL)) == NULL) {
		kid_count--;
		return;
	}
	__asm__("mov %%fs:0, %0" : "=r"(self));
	tls[0] = tls[2] = (uintptr_t)tls;
	tls[5] = self[5];
	tls[6] = self[6];
	if (clone(start_raw, stack + sizeof(stack),
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			  CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
			  CLONE_CHILD_CLEARTID,
		  kid, NULL, tls, &ctid) < 0)
		die("clone");
	while (ctid != 0)
		usleep(1000);
}
#else
static void
run_raw(void)
{
}
#endif

static void
run_many(void)
{
	pthread_t t[8];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 8; i++)
			make(&t[i], NULL, start_return,
			     new_kid("many", "ended", start_return, 0));
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
	}
}

int
main(void)
{
	pthread_t alive;
	struct kid *kid;

	pthread_key_create(&late_key, late_destructor);
	run_joined("return", start_return, NULL);
	run_joined("exit", start_exit, NULL);
	run_cancelled("cancelled", start_cancelled);
	run_cancelled("cancelled-async", start_cancelled_async);
	/* By now the recorder knows that those threads have ended. */
	usleep(300000);
	free(malloc(NOW_SIZE));
	run_detached();
	run_joined("late", start_late, NULL);
	run_joined("tls", start_tls, NULL);
	run_joined("named", start_named, NULL);
	run_joined("nesting", start_nesting, NULL);
	run_small_stack();
	run_failing();
	run_c11();
	run_raw();
	run_many();
	run_joined("silent", start_silent, NULL);
	kid = new_kid("alive", "alive", start_alive, 0);
	make(&alive, NULL, start_alive, kid);
	sem_wait(&kid->begun);
	for (int i = 0; i < kid_count; i++)
		printf("thread %s %zu %d 0x%zx %zu %s\n", kids[i].kind,
		       kids[i].size, kids[i].tid, (size_t)kids[i].start,
		       kids[i].parent_size, kids[i].end);
	return 0;
}
