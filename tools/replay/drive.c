/* SPDX-License-Identifier: MIT */
/* drive.c - see drive.h */
#include "tools/replay/drive.h"

#include "tools/replay/watch.h"
#include "tools/trace/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Set LD_PRELOAD and the variables of an allocator. */
static void
set_environment(const struct allocator *a)
{
	char *const copy = strdup(a != NULL ? a->environment : "");
	char *save = NULL;

	if (a != NULL && a->library[0] != '\0')
		setenv("LD_PRELOAD", a->library, 1);
	else
		unsetenv("LD_PRELOAD");
	for (char *item = copy != NULL ? strtok_r(copy, " ", &save) : NULL;
	     item != NULL; item = strtok_r(NULL, " ", &save)) {
		char *const value = strchr(item, '=');

		if (value == NULL)
			continue;
		*value = '\0';
		setenv(item, value + 1, 1);
	}
	free(copy);
}

/* Execute the driver in this process. */
static _Noreturn void
execute_driver(const struct allocator *a, int words_fd, int run_fd,
	       const struct watch *watch)
{
	char words[16], shared[16];
	char *const argv[] = { (char[]){ "hatf" },
			       (char[]){ "replay" },
			       (char[]){ DRIVER_WORD },
			       words,
			       shared,
			       NULL };

	/*
	 * Redirect standard output to standard error, because what an allocator
	 * prints must not mix with the results.
	 */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	/*
	 * Pass duplicates of the descriptors, because the originals close at
	 * exec.
	 */
	snprintf(words, sizeof(words), "%d", dup(words_fd));
	snprintf(shared, sizeof(shared), "%d", dup(run_fd));
	set_environment(a);
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &watch->before, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* Write why a run has no result. */
static void
describe_end(const struct driver_run *run, int status, char *fault)
{
	const char *text = "the replay was killed by signal";
	const int n =
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);

	if (run->message[0] != '\0')
		snprintf(fault, DRIVE_FAULT_NBYTES, "%.*s",
			 (int)sizeof(run->message), run->message);
	else if (WIFSIGNALED(status))
		snprintf(fault, DRIVE_FAULT_NBYTES, "%s %d (%s)%s", text, n,
			 strsignal(n),
			 n == SIGKILL ? ", perhaps for lack of memory" : "");
	else if (n == DRIVER_UNSHARED)
		snprintf(fault, DRIVE_FAULT_NBYTES,
			 "the allocator's library closed descriptors of the "
			 "replay before main(), so no call was made");
	else
		snprintf(
			fault, DRIVE_FAULT_NBYTES,
			"the replay exited with status %d before its last call",
			n);
}

/*
 * Did 'malloc' come from the library of 'a'?  Compare the paths, because a
 * loader that cannot preload a library prints a message, but starts the program
 * without the library.
 */
static bool
was_preloaded(const struct allocator *a, const struct driver_run *run)
{
	char path[PATH_MAX];

	return a == NULL || a->library[0] == '\0' ||
	       (realpath(run->library, path) != NULL &&
		strcmp(path, a->library) == 0);
}

/*
 * End all strings with a NUL, because the allocator can overwrite the NUL that
 * the driver stored.
 */
static void
end_strings(struct driver_run *run)
{
	run->message[sizeof(run->message) - 1] = '\0';
	run->library[sizeof(run->library) - 1] = '\0';
	run->own_source[sizeof(run->own_source) - 1] = '\0';
}

static bool
run_driver(const struct allocator *a, struct watch *watch, int run_fd,
	   struct driver_run *run, char *fault)
{
	bool is_alone;
	int status = 0;

	watch_begin(watch);
	watch->pid = fork();
	if (watch->pid == 0)
		execute_driver(a, watch->compiled->file.fd, run_fd, watch);
	if (watch->pid < 0) {
		watch_cancel(watch);
		snprintf(fault, DRIVE_FAULT_NBYTES,
			 "cannot start a process: %s", strerror(errno));
		return false;
	}
	is_alone = watch_wait(watch, &status, fault, DRIVE_FAULT_NBYTES);
	end_strings(run);
	if (fault[0] != '\0')
		return false;
	if (run->phase > DRIVER_ENDS)
		snprintf(fault, DRIVE_FAULT_NBYTES,
			 "the allocator wrote to the memory of the replay");
	else if (!run->is_done)
		describe_end(run, status, fault);
	else if (!was_preloaded(a, run))
		snprintf(fault, DRIVE_FAULT_NBYTES,
			 "%.*s could not be preloaded, or has no malloc",
			 DRIVE_FAULT_NBYTES - 64, a->library);
	else if (!is_alone)
		snprintf(fault, DRIVE_FAULT_NBYTES,
			 "the allocator started a process that outlived the "
			 "run (now killed)");
	return fault[0] == '\0';
}

bool
drive_once(const struct allocator *a, const struct compiled *compiled,
	   uint64_t limit_ms, struct driver_run *run, char *fault)
{
	const size_t nbytes = driver_run_nbytes(compiled->file.stream_count);
	struct driver_run *shared = MAP_FAILED;
	const int fd = spool_memory();
	bool ok = false;

	fault[0] = '\0';
	if (fd >= 0 && ftruncate(fd, (off_t)nbytes) == 0)
		shared = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
	if (shared == MAP_FAILED) {
		snprintf(fault, DRIVE_FAULT_NBYTES, "no memory for a run: %s",
			 strerror(errno));
	} else {
		struct watch watch = { .run = shared,
				       .compiled = compiled,
				       .limit_ms = limit_ms };

		memcpy(shared, run, sizeof(*run));
		ok = run_driver(a, &watch, fd, shared, fault);
		memcpy(run, shared, sizeof(*run));
		munmap(shared, nbytes);
	}
	if (fd >= 0)
		close(fd);
	return ok;
}
