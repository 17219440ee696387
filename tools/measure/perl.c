/* SPDX-License-Identifier: MIT */
/*
 * perl.c - how long Perl takes for an ASCII trace: see timing.h
 *
 * The script measures its own CPU time, so the time to start the interpreter
 * does not count.  To save memory, the script reads and writes the records in
 * batches: Perl needs several hundred bytes per record.
 */
#include "tools/measure/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The script converts fields to numbers and back to text, as a C program does.
 */
static const char script[] =
	"use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);"
	"my @address = ([1], [0], ([1, 2]) x 4);"
	"my @format = ('%d %d 0x%x', '%d 0x%x', ('%d %d 0x%x 0x%x') x 4);"
	"my ($n, $read, $write) = (0, 0, 0);"
	"open(my $null, '>', '/dev/null') or die;"
	"for (;;) {"
	"  my @records;"
	"  my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);"
	"  while (@records < 4096 && defined(my $line = <STDIN>)) {"
	"    next if $line !~ /^[0-5] /;"
	"    my ($tag, @fields) = split(' ', $line);"
	"    $_ = hex($_) for (@fields[@{$address[$tag]}]);"
	"    push(@records, [$tag, @fields]);"
	"  }"
	"  my $middle = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);"
	"  printf $null \"$format[$_->[0]]\\n\", @$_ for (@records);"
	"  my $end = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);"
	"  last if !@records;"
	"  $read += $middle - $start;"
	"  $write += $end - $middle;"
	"  $n += @records;"
	"}"
	"printf(\"%.0f %.0f %d\\n\", 1e9 * $read, 1e9 * $write, $n);";

/*
 * Execute the script in the child process.  'in' must not be descriptor 0, and
 * 'out' must be neither 0 nor 1: dup2() of a descriptor to itself leaves
 * O_CLOEXEC set, and the first dup2() replaces descriptor 0.
 */
static void
exec_perl(int in, int out)
{
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execlp("perl", "perl", "-e", script, (char *)NULL);
	_exit(127);
}

/*
 * Read the script's answer from the pipe, at most as much as fits into the
 * buffer.
 */
static void
read_answer(int fd, char *buf, size_t cap)
{
	size_t used = 0;
	ssize_t n;

	do {
		n = read(fd, buf + used, cap - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && used < cap - 1) || (n < 0 && errno == EINTR));
	buf[used] = '\0';
}

/* Run the script with the trace 'in' as its input.  Return false on failure. */
static bool
run(int in, char *answer, size_t cap)
{
	int fds[2], wait_status = -1;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	pid = fork();
	if (pid == 0)
		exec_perl(in, fds[1]);
	close(fds[1]);
	if (pid > 0) {
		read_answer(fds[0], answer, cap);
		while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
			continue;
	}
	close(fds[0]);
	return wait_status == 0;
}

bool
timing_perl(int fd, size_t count, double ns_ret[2])
{
	char path[64], answer[128], *end;
	bool is_fine;
	int in;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return false;
	is_fine = run(in, answer, sizeof(answer));
	close(in);
	if (!is_fine)
		return false;
	ns_ret[TIMING_READ] = strtod(answer, &end);
	ns_ret[TIMING_WRITE] = strtod(end, &end);
	/* Perl must have parsed every record. */
	return strtoull(end, NULL, 10) == count;
}
