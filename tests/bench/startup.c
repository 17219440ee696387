/* SPDX-License-Identifier: MIT */
/*
 * startup.c - what it costs to begin and to end a process
 *
 *   startup ROUNDS NAME[,VARIABLE=VALUE]... ... -- COMMAND [ARGUMENT]...
 *
 * Runs COMMAND ROUNDS times under each NAME, one after the other, so that a
 * slow moment of the machine hits all alike, and in another order each round,
 * so that no NAME always follows one that leaves the caches cold.  Each run is
 * a vfork() and a wait: there is no shell, and nothing of this program is
 * copied. A NAME's variables come on top of the environment; COMMAND's output
 * goes to /dev/null.
 *
 * Prints a line for each NAME: wall time and CPU time (user and system) in
 * microseconds, each as median, 10th and 90th percentile, and the median of the
 * rounds' differences to the first NAME, wall and CPU.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VARIANTS_MAX  16
#define VARIABLES_MAX 16

struct variant {
	const char *name;
	char **environment;
	double *wall_us, *cpu_us; /* of each round */
};

extern char **environ;
static struct variant variants[VARIANTS_MAX];
static unsigned variant_count;
static unsigned round_count;

static __attribute__((noreturn)) void
fail(const char *what)
{
	fprintf(stderr, "startup: %s\n", what);
	exit(2);
}

static void *
need(size_t n, size_t nbytes)
{
	void *const p = calloc(n, nbytes);

	if (p == NULL)
		fail("out of memory");
	return p;
}

static void
add_variant(char *words)
{
	struct variant *const v = &variants[variant_count];
	size_t n = 0;

	if (variant_count++ == VARIANTS_MAX)
		fail("too many variants");
	v->wall_us = need(round_count, sizeof(double));
	v->cpu_us = need(round_count, sizeof(double));
	while (environ[n] != NULL)
		n++;
	v->environment = need(n + VARIABLES_MAX + 1, sizeof(char *));
	v->name = strtok(words, ",");
	n = 0;
	/* If a name occurs twice, the first value counts. */
	for (char *word; (word = strtok(NULL, ",")) != NULL;) {
		if (n == VARIABLES_MAX)
			fail("too many variables");
		v->environment[n++] = word;
	}
	for (char **e = environ; *e != NULL; e++)
		v->environment[n++] = *e;
}

static double
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double
timeval_us(const struct timeval *tv)
{
	return (double)tv->tv_sec * 1e6 + (double)tv->tv_usec;
}

static void
run(struct variant *v, unsigned round, char **command)
{
	const double start_us = now_us();
	const pid_t child = vfork();
	struct rusage usage;
	int status;

	if (child == 0) {
		execve(command[0], command, v->environment);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		fail("cannot run the command");
	v->wall_us[round] = now_us() - start_us;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail("the command failed");
	v->cpu_us[round] =
		timeval_us(&usage.ru_utime) + timeval_us(&usage.ru_stime);
}

/* Put 'order' into another order, the same in each run of this program. */
static void
shuffle(unsigned *order)
{
	static uint32_t state = 1;

	for (unsigned n = variant_count; n > 1; n--) {
		state = state * 1664525u + 1013904223u;

		const unsigned i = (state >> 16) % n, last = order[n - 1];

		order[n - 1] = order[i];
		order[i] = last;
	}
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return the value that 'hundredths' of the rounds do not exceed. */
static double
percentile(const double *figures, unsigned hundredths)
{
	double *const sorted = need(round_count, sizeof(double));
	double found;

	memcpy(sorted, figures, round_count * sizeof(double));
	qsort(sorted, round_count, sizeof(double), compare);
	found = sorted[(round_count - 1) * hundredths / 100];
	free(sorted);
	return found;
}

static double
added(const double *figures, const double *bare)
{
	double *const more = need(round_count, sizeof(double));
	double median;

	for (unsigned i = 0; i < round_count; i++)
		more[i] = figures[i] - bare[i];
	median = percentile(more, 50);
	free(more);
	return median;
}

static void
print(const struct variant *v)
{
	printf("%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", v->name,
	       percentile(v->wall_us, 50), percentile(v->wall_us, 10),
	       percentile(v->wall_us, 90), percentile(v->cpu_us, 50),
	       percentile(v->cpu_us, 10), percentile(v->cpu_us, 90),
	       added(v->wall_us, variants[0].wall_us),
	       added(v->cpu_us, variants[0].cpu_us));
}

int
main(int argc, char **argv)
{
	unsigned order[VARIANTS_MAX];
	int i = 2;

	if (argc > 1)
		round_count = (unsigned)strtoul(argv[1], NULL, 10);
	for (; i < argc && strcmp(argv[i], "--") != 0; i++)
		add_variant(argv[i]);
	if (round_count == 0 || variant_count == 0 || i + 1 >= argc) {
		fprintf(stderr, "usage: startup ROUNDS "
				"NAME[,VARIABLE=VALUE]... -- COMMAND\n");
		return 2;
	}
	for (unsigned n = 0; n < variant_count; n++)
		order[n] = n;
	const int null = open("/dev/null", O_WRONLY);

	for (unsigned round = 0; round < round_count; round++) {
		const int out = dup(STDOUT_FILENO);

		dup2(null, STDOUT_FILENO);
		shuffle(order);
		for (unsigned n = 0; n < variant_count; n++)
			run(&variants[order[n]], round, argv + i + 1);
		dup2(out, STDOUT_FILENO);
		close(out);
	}
	for (unsigned n = 0; n < variant_count; n++)
		print(&variants[n]);
	return 0;
}
