#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# process.sh - fault table: descriptors, memory, rights, threads, signals, time
#
# shellcheck disable=SC2317 # functions are called by fault
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

stress()
{
	"${RUN[@]}" "$STRESS" "$@"
}

# under LIMIT VALUE COMMAND...: run it under this limit.
under()
{
	local limit=$1 value=$2
	shift 2
	(ulimit -S "$limit" "$value" && "$@")
}

export TALLY=1
for how in loop range from dup2; do
	fault "descriptors closed, $how" "all from 3 up by $how" \
		complete stress close $how
done
# With 3, not even the loader can open a file.
for n in 4 5 8; do
	TALLY='' fault "RLIMIT_NOFILE $n" "ulimit -n $n" complete \
		under -n $n stress work 100000
done

# Memory: the recorder works with what it gets.
TALLY=''
for kib in 8192 16384; do
	fault "RLIMIT_AS $((kib / 1024)) MiB" "ulimit -v $kib" none \
		under -v $kib stress work 100000
done
for kib in 65536 200000; do
	fault "RLIMIT_AS $((kib / 1024)) MiB" "ulimit -v $kib" complete \
		under -v $kib stress work 100000
done
for kib in 8192 65536; do
	fault "RLIMIT_DATA $((kib / 1024)) MiB" "ulimit -d $kib" \
		"complete|lost|none" under -d $kib stress work 100000
done
# There is no memory for the rings of all threads: events without a ring are
# counted as lost.
fault "no memory for more threads" "ulimit -v 150000, 64 threads at once" \
	"complete|lost" under -v 150000 stress crowd 64
export TALLY=1
WITH="HATFTRACE_BUFFER=64M HATFTRACE_RINGS=none" \
	fault "no memory for most threads' rings" \
	"ulimit -v 700000, buffers of 64 MiB" lost \
	under -v 700000 stress crowd 64
# A thread that never got a ring is not in the trace.
for trace in traced/*; do
	check "no memory for most threads' rings: threads of $trace" \
		"$(trailer "$trace" threads)" \
		"$((1 + $("$HATF" dump "$trace" 2>/dev/null |
			grep -c '^[0-9]* createThread')))"
done
TALLY=''
fault "all memory taken" "ulimit -v 300000, malloc until NULL" \
	"complete" under -v 300000 stress fail 100000
# With call stacks: as long as there is memory for their tables, and without
# them otherwise.  Once, a process that was not traced said that its events were
# recorded without stacks.
for kib in 8192 300000 1000000; do
	want=complete
	[ $kib != 8192 ] || want=none
	WITH=HATFTRACE_STACKS=on \
		fault "all of $((kib / 1024)) MiB taken, call stacks" \
		"ulimit -v $kib, malloc until NULL" $want \
		under -v $kib stress fail 100000
done
export TALLY=1
fault "RLIMIT_MEMLOCK 0" "ulimit -l 0" complete under -l 0 stress work 100000
fault "RLIMIT_STACK" "ulimit -s 64 (KiB)" complete \
	under -s 64 stress work 100000
one_processor()
{
	taskset -c 0 "${RUN[@]}" "$STRESS" threads 200
}
fault "one processor" "taskset -c 0" complete one_processor

# No thread can be created; this limit does not apply to root.
if is_root && command -v setpriv >/dev/null; then
	for_all=$(reachable "$STRESS")
	few_processes()
	{
		chmod 777 "$TMP" "$TMP/traced"
		setpriv --reuid 54321 --clear-groups \
			prlimit --nproc=1:1 "${RUN[@]}" "$for_all" work 100000
	}
	TALLY='' SO=$(reachable "$SO") fault "RLIMIT_NPROC" \
		"1, of a user with 1 process" none few_processes
fi

# The kernel lets no thread with this policy make another one.
deadline()
{
	chrt -d -T 5000000 -D 10000000 -P 10000000 0 "$@"
}
under_deadline()
{
	deadline "${RUN[@]}" "$STRESS" work 100000
}
if deadline true 2>/dev/null; then
	TALLY='' fault "SCHED_DEADLINE" "chrt -d" none under_deadline
	grep -q 'the writer thread: .* SCHED_DEADLINE .*; not tracing' err ||
		fail "SCHED_DEADLINE: $(cat err)"
else
	untried "SCHED_DEADLINE" "chrt -d" \
		"needs chrt, root and the kernel's help"
fi

fault "tiny stacks, short lives" "4000 threads of PTHREAD_STACK_MIN" \
	complete stress threads 4000
ONLY_STATUS=1 fault "signal storm" \
	"400 signals whose handler allocates, a timer of 10 kHz" complete \
	stress storm 400
fault "fork bomb" "31 processes, 4 deep" complete stress bomb 4
ONLY_STATUS=1 fault "suspended" "20 times SIGSTOP, 30 ms, SIGCONT" complete \
	stress stop 200
if is_root; then
	fault "setuid, capabilities dropped" "setuid(65534), capset(none)" \
		complete stress rights 100000
	mkdir -p "$TMP/root"
	fault "chroot" "chroot to an empty folder" complete \
		stress chroot "$TMP/root" 100000
else
	untried "setuid, capabilities dropped" "setuid(65534), capset(none)" \
		"needs root"
	untried "chroot" "chroot to an empty folder" "needs root"
fi
# libc's clocks jump.
${CC:-cc} -O1 -fPIC -shared -D_GNU_SOURCE -o timejump.so \
	"$CAPTURE/../faults/shared/timejump.c" ||
	fail "cannot build timejump.so"
jumping()
{
	env TIMEJUMP=1 "${RUN[@]}" "$STRESS" clock 20000
}
PRELOAD=$TMP/timejump.so fault "time jumps" \
	"clock_gettime() goes back an hour at every second call" complete \
	jumping
for trace in traced/*; do
	check_le "time jumps: duration" "$(trailer "$trace" time)" 20000000
done
later()
{
	unshare -T --monotonic 1000000 --boottime 1000000 "${RUN[@]}" \
		"$STRESS" bomb 2
}
if is_root && unshare -T true 2>/dev/null; then
	fault "another monotonic clock" "time namespace, 11 days on" complete \
		later
else
	untried "another monotonic clock" "time namespace" \
		"needs root and the kernel's help"
fi
finish
