/* SPDX-License-Identifier: MIT */
/*
 * stress.c - programs under faults; the output is the same without the recorder
 *
 *   stress work N [PAUSE]    N rounds of allocations, with a pause of PAUSE
 *                            milliseconds after each thousand
 *   stress close HOW         close every descriptor from 3 up by 'loop',
 *                            'range' (close_range), 'from' (closefrom) or
 *                            'dup2' (of standard output onto each), then work
 *   stress threads N         N threads one after another, 8 at a time, each on
 *                            the smallest possible stack
 *   stress fail N            allocate until there is no memory, then free it
 *                            and work for N rounds
 *   stress storm N           work while timers' handlers allocate, N times
 *   stress bomb DEPTH        a process forks two that fork two, DEPTH times
 *   stress stop N            work; a child stops and continues the process
 *   stress rights N          change from root to nobody, drop all capabilities,
 *                            then work
 *   stress chroot DIR N      make DIR the root directory, then work
 *   stress gone DIR N        work, remove DIR and its files, work
 *   stress renamed FROM TO N work, rename FROM to TO, work
 *   stress clock N           work and read the clock, again and again
 *   stress crowd N           N threads at once; all work while all exist
 *   stress forks N           work, wait for a second, then fork three children
 *                            one after another, each of which works for a while
 *
 * Prints a sum that depends on the contents of the allocations.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 200

static uint64_t sum;

static void
sleep_ms(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void
put(unsigned char **slot, size_t nbytes)
{
	unsigned char *const p = realloc(*slot, nbytes);

	if (p == NULL)
		return;
	*slot = p;
	p[0] = (unsigned char)nbytes;
	p[nbytes - 1] = (unsigned char)(nbytes >> 3);
}

static uint64_t
work(long rounds, long pause_ms)
{
	unsigned char *slots[SLOTS] = { NULL };
	uint64_t random = 1, total = 0;

	for (long i = 0; i < rounds; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		unsigned char **const slot = &slots[random >> 40 & 127];

		switch (random >> 60) {
		case 0:
		case 1:
			put(slot, 1 + (random >> 50 & 4095));
			break;
		default:
			if (*slot != NULL)
				total += (*slot)[0];
			free(*slot);
			*slot = malloc(1 + (random >> 50 & 511));
			if (*slot != NULL)
				(*slot)[0] = (unsigned char)i;
		}
		if (pause_ms > 0 && i % 1000 == 999)
			sleep_ms(pause_ms);
	}
	for (size_t i = 0; i < SLOTS; i++)
		free(slots[i]);
	return total;
}

static int
close_all(const char *how)
{
	if (strcmp(how, "loop") == 0)
		for (int fd = 3; fd < 70000; fd++)
			close(fd);
	else if (strcmp(how, "range") == 0)
		close_range(3, ~0u, 0);
	else if (strcmp(how, "from") == 0)
		closefrom(3);
	else
		for (int fd = 3; fd < 2100; fd++)
			dup2(1, fd);
	sum = work(200000, 0);
	/*
	 * The lowest free number belongs to the program, not to the recorder.
	 */
	const int fd = open("/dev/null", O_RDONLY);

	printf("%d\n", fd);
	return 0;
}

static _Atomic uint64_t threads_sum;

static void *
thread_work(void *unused)
{
	(void)unused;
	threads_sum += work(50, 0);
	return NULL;
}

static int
threads(long n)
{
	pthread_t thread[8];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (long i = 0; i < n; i += 8) {
		for (int k = 0; k < 8; k++) {
			const int e = pthread_create(&thread[k], &attr,
						     thread_work, NULL);

			if (e != 0) {
				printf("thread: %s\n", strerror(e));
				return 1;
			}
		}
		for (int k = 0; k < 8; k++)
			pthread_join(thread[k], NULL);
	}
	sum = threads_sum;
	return 0;
}

static int
fail(long n)
{
	enum {
		CHUNK = 1 << 20
	};
	static void *chunks[1 << 16];
	size_t got = 0;

	while (got < sizeof(chunks) / sizeof(chunks[0])) {
		chunks[got] = malloc(CHUNK);
		if (chunks[got] == NULL)
			break;
		memset(chunks[got++], 1, 1);
	}
	/* The number depends on what else is in the address space. */
	const int error = errno;

	while (got > 0)
		free(chunks[--got]);
	sum = work(n, 0);
	printf("%s\n", strerror(error));
	return 0;
}

static volatile sig_atomic_t signals_left;

static void
on_timer(int number)
{
	(void)number;
	if (signals_left <= 0)
		return;
	signals_left--;
	/* The handler may have interrupted malloc(): it must not call it. */
}

static _Atomic int storm_over;

/* Threads that do not allocate receive the signals whose handlers do. */
static void
on_allocating(int number)
{
	(void)number;
	free(malloc(100));
	signals_left--;
}

static void *
be_stormed(void *unused)
{
	(void)unused;
	while (!storm_over)
		sched_yield();
	return NULL;
}

static int
storm(long n)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa = { .sa_handler = on_timer,
				.sa_flags = SA_RESTART };
	pthread_t thread;

	signals_left = (sig_atomic_t)n;
	sigaction(SIGALRM, &sa, NULL);
	sa.sa_handler = on_allocating;
	sigaction(SIGUSR1, &sa, NULL);
	pthread_create(&thread, NULL, be_stormed, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals_left > 0) {
		pthread_kill(thread, SIGUSR1);
		sum = work(100, 0);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	storm_over = 1;
	pthread_join(thread, NULL);
	return 0;
}

static void
bomb(long depth)
{
	pid_t child[2] = { -1, -1 };
	int status;

	sum = work(1000, 0);
	for (int i = 0; i < 2 && depth > 0; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			bomb(depth - 1);
			exit(sum == 0);
		}
	}
	for (int i = 0; i < 2; i++)
		if (child[i] > 0 &&
		    (waitpid(child[i], &status, 0) < 0 || status != 0))
			exit(3);
}

static void
stop(long n)
{
	const pid_t parent = getpid(), child = fork();

	if (child == 0) {
		for (int i = 0; i < 20; i++) {
			kill(parent, SIGSTOP);
			sleep_ms(30);
			kill(parent, SIGCONT);
			sleep_ms(5);
		}
		_exit(0);
	}
	while (waitpid(child, NULL, WNOHANG) == 0)
		sum = work(n, 0);
}

static int
rights(long n)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const struct __user_cap_data_struct none[2] = { { 0, 0, 0 },
							{ 0, 0, 0 } };

	sum = work(n, 0);
	if (setgroups(0, NULL) != 0 || setgid(65534) != 0 ||
	    setuid(65534) != 0 || syscall(SYS_capset, &header, none) != 0)
		return 1;
	printf("%d %d\n", (int)getuid(), setuid(0));
	sleep_ms(600);
	sum += work(n, 0);
	return 0;
}

static void
ask_time(long n)
{
	struct timespec now, later;

	for (int i = 0; i < 50; i++) {
		clock_gettime(CLOCK_REALTIME, &now);
		clock_gettime(CLOCK_MONOTONIC, &later);
		sum += work(n, 0);
		sleep_ms(1);
	}
}

static pthread_barrier_t all_there;

static void *
crowd_work(void *unused)
{
	pthread_barrier_wait(&all_there);
	threads_sum += work(1000, 0);
	pthread_barrier_wait(&all_there);
	return unused;
}

static int
crowd(long n)
{
	static pthread_t thread[1000];
	pthread_attr_t attr;

	/*
	 * Each further arena of libc takes 64 MiB of address space if possible,
	 * and leaves less for other threads: near a limit, it would be random
	 * which allocations fail.
	 */
	mallopt(M_ARENA_MAX, 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	pthread_barrier_init(&all_there, NULL, (unsigned)n);
	for (long i = 0; i < n; i++)
		if (pthread_create(&thread[i], &attr, crowd_work, NULL) != 0)
			return 1;
	for (long i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	sum = threads_sum;
	return 0;
}

static int
forks(long n)
{
	int status, failed = 0;

	sum = work(n, 0);
	sleep_ms(1000);
	for (int i = 0; i < 3; i++) {
		const pid_t pid = fork();

		if (pid == 0) {
			sum = work(1000, 0);
			_exit(0);
		}
		failed |= waitpid(pid, &status, 0) != pid || status != 0;
	}
	return failed;
}

static void
remove_all(const char *dir)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command) != 0)
		puts("cannot remove");
}

int
main(int argc, char **argv)
{
	const char *const what = argc > 2 ? argv[1] : "";
	const long n = argc > 2 ? atol(argv[argc - 1]) : 0;
	int status = 0;

	if (strcmp(what, "work") == 0) {
		sum = work(atol(argv[2]), argc > 3 ? n : 0);
	} else if (strcmp(what, "close") == 0) {
		status = close_all(argv[2]);
	} else if (strcmp(what, "threads") == 0) {
		status = threads(n);
	} else if (strcmp(what, "fail") == 0) {
		status = fail(n);
	} else if (strcmp(what, "storm") == 0) {
		status = storm(n);
	} else if (strcmp(what, "bomb") == 0) {
		bomb(n);
	} else if (strcmp(what, "stop") == 0) {
		stop(n);
	} else if (strcmp(what, "rights") == 0) {
		status = rights(n);
	} else if (strcmp(what, "clock") == 0) {
		ask_time(n);
	} else if (strcmp(what, "crowd") == 0 && n <= 1000) {
		status = crowd(n);
	} else if (strcmp(what, "forks") == 0) {
		status = forks(n);
	} else if (strcmp(what, "chroot") == 0 && argc > 3) {
		status = chroot(argv[2]) != 0 || chdir("/") != 0;
		sleep_ms(600);
		sum = work(n, 0);
	} else if (strcmp(what, "gone") == 0 && argc > 3) {
		sum = work(n, 0);
		remove_all(argv[2]);
		sum += work(n, 0);
	} else if (strcmp(what, "renamed") == 0 && argc > 4) {
		sum = work(n, 0);
		status = rename(argv[2], argv[3]) != 0;
		sum += work(n, 0);
	} else {
		return 2;
	}
	printf("%llu\n", (unsigned long long)sum);
	return status;
}
