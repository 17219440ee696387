/* SPDX-License-Identifier: MIT */
/*
 * guest.c - a program that looks for traces of the recorder in its process
 *
 * Linked with -rdynamic: it exports functions with the names of libc's and of
 * common libraries'.  Each one does what it should and counts the calls that
 * the program did not make itself.  Prints what a program can see of itself;
 * lines that begin with '@' may differ under the recorder.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static __thread int mine __attribute__((tls_model("initial-exec")));
static _Atomic int foreign_count, create_count;
static const char *_Atomic foreign_name;

static void
count(const char *name)
{
	if (mine)
		return;
	foreign_count++;
	foreign_name = name;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Functions that only the program has. */
#define OWN(name)             \
	int name(void)        \
	{                     \
		count(#name); \
		return 0;     \
	}

OWN(deflate)
OWN(deflateInit2_)
OWN(crc32)
OWN(adler32)
OWN(unw_step)
OWN(unw_getcontext)
OWN(isal_deflate)
OWN(hatf_reader_open)
OWN(ring_init)
OWN(sandbox)

/* Functions that interpose those of libc. */
#define AGAIN(type, name, parameters, arguments)                            \
	type name parameters                                                \
	{                                                                   \
		static type(*next) parameters;                              \
		count(#name);                                               \
		if (next == NULL)                                           \
			next = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
		return next arguments;                                      \
	}

AGAIN(int, clock_gettime, (clockid_t id, struct timespec *ts), (id, ts))
AGAIN(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t off),
      (p, n, prot, flags, fd, off))
AGAIN(int, munmap, (void *p, size_t n), (p, n))
AGAIN(int, madvise, (void *p, size_t n, int advice), (p, n, advice))
AGAIN(int, getrlimit, (__rlimit_resource_t what, struct rlimit *limit),
      (what, limit))
AGAIN(int, lstat, (const char *path, struct stat *st), (path, st))
AGAIN(int, fstat, (int fd, struct stat *st), (fd, st))
AGAIN(int, uname, (struct utsname * name), (name))
AGAIN(int, sched_yield, (void), ())
AGAIN(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
AGAIN(ssize_t, pread, (int fd, void *p, size_t n, off_t off), (fd, p, n, off))
AGAIN(int, fallocate, (int fd, int mode, off_t off, off_t n),
      (fd, mode, off, n))
AGAIN(int, ftruncate, (int fd, off_t n), (fd, n))
AGAIN(int, nanosleep, (const struct timespec *a, struct timespec *b), (a, b))
AGAIN(int, sigprocmask, (int how, const sigset_t *a, sigset_t *b), (how, a, b))
AGAIN(pid_t, getpid, (void), ())

long
syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list list;

	count("syscall");
	if (next == NULL)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr,
	       void *(*start)(void *), void *argument)
{
	create_count++;
	return NEXT(pthread_create)(thread, attr, start, argument);
}

static void
show_folder(const char *path, const char *mark)
{
	DIR *const dir = opendir(path);
	int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	printf("%s%s: %d\n", mark, path, n - 2);
	if (dir != NULL)
		closedir(dir);
}

static void
show_status(void)
{
	char line[256];
	FILE *const f = fopen("/proc/self/status", "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "Sig", 3) == 0 && line[3] != 'Q' ||
		    strncmp(line, "ShdPnd", 6) == 0 ||
		    strncmp(line, "Umask", 5) == 0 ||
		    strncmp(line, "NoNewPrivs", 10) == 0)
			fputs(line, stdout);
	if (f != NULL)
		fclose(f);
}

static void
show_environment(char **env)
{
	for (; *env != NULL; env++)
		if (strncmp(*env, "HATFTRACE_OUT=", 14) != 0 &&
		    strncmp(*env, "LD_PRELOAD=", 11) != 0 &&
		    strncmp(*env, "_=", 2) != 0)
			puts(*env);
}

static void *
thread_main(void *argument)
{
	free(malloc(1000));
	return argument;
}

static int
errno_survives(void)
{
	int bad = 0;

	for (int i = 0; i < 100000; i++) {
		errno = i;
		void *p = malloc((size_t)i % 5000);
		bad += errno != i;
		errno = i;
		p = realloc(p, (size_t)i % 3000 + 1);
		bad += errno != i;
		errno = i;
		free(p);
		bad += errno != i;
	}
	return bad == 0;
}

int
main(int argc, char **argv, char **env)
{
	pthread_t thread;
	char cwd[4096];

	(void)argv;
	mine = 1;
	show_environment(env);
	show_folder("/proc/self/fd", "");
	show_folder("/proc/self/task", "@");
	show_status();
	printf("cwd: %s\n", getcwd(cwd, sizeof(cwd)));
	mine = 0;
	printf("errno survives: %d\n", errno_survives());
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	mine = 1;
	printf("pthread_create: %d\n", create_count);
	printf("calls by others: %d %s\n", foreign_count,
	       foreign_count > 0 ? foreign_name : "");
	show_folder("/proc/self/fd", "");
	show_status();
	if (argc > 1) { /* what an exec'd program would see */
		for (int fd = 3; fd < 5000; fd++)
			if (fcntl(fd, F_GETFD) >= 0)
				printf("open: %d\n", fd);
	}
	fflush(stdout);
	mine = 0;
	return 0;
}
