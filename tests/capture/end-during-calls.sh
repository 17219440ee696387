#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# end-during-calls.sh - a trace is right however its process ends
#
# Whatever the process is doing when it ends, its trace says how it ended and
# has every event that reached the allocator.
. "$(dirname "$0")/lib.sh"

# image TRACE TALLY SLACK END: compare one trace with what 'tally' counted
# between recorder and allocator.  Up to SLACK calls may be under way at the
# end: only one side has these.
image()
{
	local got want
	clean "$1"
	check "$way: end" "$(trailer "$1" end)" "$4"
	check "$way: complete" "$(info "$1" complete)" true
	got=$(info "$1" events)
	want=$(counted "$2")
	check_ge "$way: events" "$got" $((want - $3))
	check_le "$way: events" "$got" $((want + $3))
}

# ends WAY STATUS END SLACK [TIMES]
ends()
{
	local pid trace
	way=$1
	for _ in $(seq "${5:-1}"); do
		rm -rf tally tally.traces
		trace_tallied tally "$PROGS/end_during_calls" "$1" >out 2>err
		check "$way: status" $? "$2"
		grep hatftrace: err && fail "$way: stderr"
		for trace in tally.traces/*.gz; do
			case $(header "$trace" command) in
			*end_during_calls*) pid=$(header "$trace" pid) ;;
			esac
		done
		image "tally.traces/t.$pid.hatf.gz" "tally/$pid" "$4" "$3"
	done
}

# A handler ends the process during one call: only 'tally' may have counted it.
ends handler-exit 21 exit 1 5
ends handler-_exit 22 _exit 1 5
ends handler-quick_exit 23 quick_exit 1 5
ends handler-abort 134 abort 1 5
ends handler-exec 0 exec 1 5

# By a direct system call.
ends syscall-exit 28 _exit 0
ends syscall-exec 0 exec 0

# A second way to end begins during the first one.
ends atexit-abort 134 abort 0
ends destructor-abort 134 abort 0
ends atexit-_exit 22 _exit 0
ends atexit-exec 0 exec 0
ends at_quick_exit-abort 134 abort 0
# libc writes its message after the trailer, and allocates a buffer whose size
# depends on the names.
ends assert 134 abort 8
ends err 24 exit 0

# Other threads run until the kernel stops them: after the trailer, each one can
# finish one call in the allocator; further calls wait for ever.  If two threads
# call exit(), one may be in the program's handler, which makes 10 events, while
# the other has come to the recorder's.
ends exit-twice 25 exit 10 5

# libc calls a handler, and the handler comes late to registering itself again:
# meanwhile the other thread calls exit().
cat >late.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int ends;
static pthread_barrier_t barrier;

/* The recorder calls these two functions in place of libc's. */
int
__cxa_atexit(void (*f)(void *), void *argument, void *dso)
{
	int (*const real)(void (*)(void *), void *, void *) =
		dlsym(RTLD_NEXT, "__cxa_atexit");

	if (ends)
		usleep(100000);
	return real(f, argument, dso);
}

int
__cxa_at_quick_exit(void (*f)(void *), void *dso)
{
	int (*const real)(void (*)(void *), void *) =
		dlsym(RTLD_NEXT, "__cxa_at_quick_exit");

	if (ends)
		usleep(100000);
	return real(f, dso);
}

static void *
end(void *how)
{
	pthread_barrier_wait(&barrier);
	ends = 1;
	if (strcmp(how, "exit") == 0)
		exit(25);
	quick_exit(25);
}

int
main(int argc, char **argv)
{
	pthread_t t;

	(void)argc;
	for (int i = 0; i < 1000; i++)
		free(malloc((size_t)i));
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, end, argv[1]);
	end(argv[1]);
}
END
cc -O0 -fno-builtin -D_GNU_SOURCE -rdynamic -o late late.c -pthread -ldl ||
	fail 'late.c'
for way in exit quick_exit; do
	rm -rf traces
	mkdir traces
	trace "$TMP/traces/t.gz" ./late $way
	check "late $way: status" $? 25
	clean traces/t.gz
	check "late $way: end" "$(trailer traces/t.gz end)" $way
	check_ge "late $way: events" "$(info traces/t.gz events)" 2000
done

for how in "exit 21 exit" "_exit 22 _exit" "quick_exit 23 quick_exit" \
	"abort 134 abort" "exec 0 exec"; do
	# shellcheck disable=SC2086 # three words
	set -- $how
	rm -rf traces
	mkdir traces
	trace "$TMP/traces/t.gz" "$PROGS/end_during_calls" "busy-$1" 2>err
	check "busy-$1: status" $? "$2"
	clean traces/t.gz
	check "busy-$1: end" "$(trailer traces/t.gz end)" "$3"
done
# The same, but the process takes long to end: the busy threads need room
# meanwhile.
cat >slow.c <<'E_SLOW'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
void abort(void)
{
	void (*real)(void) = (void (*)(void))dlsym(RTLD_NEXT, "abort");
	usleep(300000);
	real();
	__builtin_unreachable();
}
int execve(const char *path, char *const argv[], char *const envp[])
{
	int (*real)(const char *, char *const[], char *const[]) =
		(int (*)(const char *, char *const[], char *const[]))dlsym(
			RTLD_NEXT, "execve");
	usleep(300000);
	return real(path, argv, envp);
}
E_SLOW
${CC:-cc} -O1 -shared -fPIC -w -o slow.so slow.c || fail 'cannot build slow.so'
for how in "abort 134" "exec 0"; do
	# shellcheck disable=SC2086 # two words
	set -- $how
	rm -rf traces
	mkdir traces
	PRELOAD=$TMP/slow.so trace "$TMP/traces/%e.gz" \
		"$PROGS/end_during_calls" "busy-$1" 2>err
	check "slow busy-$1: status" $? "$2"
	clean traces/end_during_calls.gz
	check "slow busy-$1: end" \
		"$(trailer traces/end_during_calls.gz end)" "$1"
done
rm -rf traces
mkdir traces
trace "$TMP/traces/t.gz" "$PROGS/end_during_calls" busy-exec-fails
check "busy-exec-fails: status" $? 26
clean traces/t.gz
check "busy-exec-fails: end" "$(trailer traces/t.gz end)" exit

ends all-leave 0 exit 0
ends main-cancelled 0 exit 0

# Children share the memory of their parent: their events are in its trace.
ends vm-children 27 exit 0

# child WAY STATUS END: a forked child ends in this WAY, and its parent's trace
# is complete.  END '-' means that nobody can write a trailer.
child()
{
	local trace parent=0 found=0
	rm -rf traces
	mkdir traces
	trace "$TMP/traces/t.%p.gz" "$PROGS/end_during_calls" "fork-$1" \
		2>/dev/null
	check "fork-$1: status" $? "$2"
	for trace in traces/*.gz; do
		if [ -z "$(header "$trace" parent_pid)" ]; then
			parent=$((parent + 1))
			clean "$trace"
		else
			found=$((found + 1))
			check "fork-$1: end" "$(trailer "$trace" end)" \
				"${3#-}"
			[ "$3" = - ] || clean "$trace"
		fi
	done
	check "fork-$1: traces" "$parent $found" "1 1"
}

child return 0 exit
child err 24 exit
child handler-exit 21 exit
child handler-_exit 22 _exit
child handler-abort 134 abort
child atexit-abort 134 abort
child assert 134 abort
child busy-exit 21 exit
child all-leave 0 exit

# Record from the first event on.
export HATFTRACE_BEGIN=now
# Nobody can write a trailer: the program dies as it does bare.  'hatf recover'
# completes the trace if its rings are in a file, as by default.
child segv 139 -
child term 143 -
child raw-exit 9 -
if "$HATF" --help | grep -q '^  recover '; then
	for way in segv term raw-exit; do
		rm -rf traces
		mkdir traces
		trace "$TMP/traces/t.gz" "$PROGS/end_during_calls" $way \
			2>/dev/null
		"$HATF" recover traces/t.gz >out 2>err ||
			fail "$way: recover: $(cat err)"
		clean traces/t.gz
		# churn() makes 1000; libc adds some at the start.
		check_ge "$way: events" "$(info traces/t.gz events)" 1000
	done
fi
finish
