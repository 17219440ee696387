#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# sandbox.sh - fault table: filters on system calls
#
# shellcheck disable=SC2317 # functions are called by fault
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

within()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" self "$2"
}

threads_within()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" threads 10000
}

before()
{
	local kind=$1
	shift
	"$FAULTS/filters" "$kind" exec "${RUN[@]}" "$@"
}

[ -x "$FAULTS/filters" ] || fail "no $FAULTS/filters"
"$FAULTS/filters" container exec true 2>/dev/null || {
	untried "seccomp" "filters" "the kernel has none"
	finish
}

# The filter is there from the start: the recorder starts and works without the
# calls that the filter refuses.
for kind in service container old pretend; do
	TALLY=1 fault "seccomp: $kind" "filter from before the start" \
		complete before $kind "$STRESS" work 100000
done
# The program must survive a message of the writer thread.
short_of_room()
{
	{
		(ulimit -f 32 && before service "$STRESS" work 100000) 2>&1 \
			>&3 | cat >&2
		return "${PIPESTATUS[0]}"
	} 3>&1 | cat
	return "${PIPESTATUS[0]}"
}
fault "seccomp: service, and a limit" "the same, ulimit -f 32" \
	ended short_of_room
# The recorder reads the limit that the program sets.
few_files()
{
	before service bash -c 'ulimit -n 40; ulimit -n'
}
TALLY=1 fault "seccomp: service, then a limit" "the same, ulimit -n 40" \
	complete few_files

# The program installs a filter while it runs.  If the filter allows the
# recorder's calls, recording continues.
for kind in privsep service container old no-exit pretend; do
	TALLY=1 fault "seccomp: $kind" "filter that the program puts on" \
		complete within $kind 100000
done
for kind in strict nothing renderer no-figures no-stat unknown; do
	fault "seccomp: $kind" "filter that the program puts on" cut \
		within $kind 100000
	for trace in traced/*; do
		check "$kind: end" "$(trailer "$trace" end)" sandbox
	done
done

# The same after a second thread has ended: the recorder must not look how many
# threads there are.
joined_within()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" joined 1000
}
for kind in strict nothing; do
	fault "seccomp: $kind, after a thread" \
		"filter that the program puts on after a thread has ended" cut \
		joined_within $kind
done

# The program that is executed under the filter does not know of it: it runs
# without the recorder, whose start could end it.
executed()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" exec "$STRESS" work 1000
}
for kind in no-fstat no-prctl no-pid no-figures unknown misdeed; do
	fault "seccomp: $kind, exec" "filter that the program puts on, exec" \
		"complete|cut" executed $kind
done
# Other libraries stay preloaded.
build_shared tally
recorder
for list in "$SO" "$TMP/tally.so:$SO $TMP/tally.so"; do
	check "preloaded under no-fstat" "$("${RUN[@]}" LD_PRELOAD="$list" \
		"$FAULTS/filters" no-fstat exec env |
		sed -n 's/^LD_PRELOAD=//p' | tr -d ':')" \
		"$(tr -d : <<<"${list//"$SO"/}")"
done
# A filter that does no harm stays unnoticed.
TALLY=1 fault "seccomp: container, exec" "the same" complete executed container
check 'container, exec: traces' "$(count traced/*)" 2

# A filter that ends the thread on a forbidden call ends a process with one
# thread by a signal.  The writer thread must not change this.
caught()
{
	timeout -s KILL 20 "${RUN[@]}" "$FAULTS/filters" "$1" self "$2"
}
for kind in misdeed misdeed-open; do
	ONLY_STATUS=1 fault "seccomp: $kind" \
		"filter that ends the program's only thread" \
		complete caught $kind 100000
	for trace in traced/*; do
		check "$kind: end" "$(trailer "$trace" end)" killed
	done
done

# In a program of several threads the recorder makes more system calls.
for kind in no-actions no-signals; do
	TALLY=1 fault "seccomp: $kind" "filter, in a program of threads" \
		complete threads_within $kind
done

# With a second filter, the first one still applies.
again_within()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" again 10000
}
TALLY=1 fault "seccomp: service, again" "the same" complete \
	again_within service
fault "seccomp: no-open, again" "filter twice, in a program of threads" \
	"complete|cut" again_within no-open
# The writer cannot create the next segment, and the filter kills for a message.
WITH=HATFTRACE_ROTATE=64K fault "seccomp: no-fstat, segments" \
	"filter that kills for a message" "complete|cut" within no-fstat 300000
# In this case the memory for new threads' buffers has no name.
crowd_within()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" crowd 10000
}
twice_within()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" twice 10000
}
fault "seccomp: no-prctl, twice" "filter, and another that ends the trace" \
	cut twice_within no-prctl
WITH=HATFTRACE_RINGS=none TALLY=1 fault "seccomp: no-prctl" \
	"filter, then several threads" complete crowd_within no-prctl

# A filter that the recorder does not see ends only the writer thread: the
# program does not wait for the dead writer.
hidden()
{
	timeout -k 1 20 "${RUN[@]}" "$FAULTS/filters" "$1" self "$2"
}
for kind in unseen unseen-all; do
	ONLY_STATUS=1 fault "seccomp: $kind, young" \
		"filter by no function, ends a thread" none hidden $kind 100
done
ONLY_STATUS=1 fault "seccomp: unseen" "the same, with a writer" complete \
	hidden unseen 200000
rm -rf traced
mkdir -m 777 traced
recorder
hidden unseen-all 200000 >out 2>err
check 'seccomp: unseen-all: status' $? 5
grep -q 'the writer thread was killed; nothing is recorded' err ||
	fail "seccomp: unseen-all: $(cat err)"
# The filter may have killed the writer just after the trailer.
for trace in traced/*.hatf.gz; do
	if [ -e "$trace.rings" ]; then
		"$HATF" recover "$trace" >out 2>&1
		grep -q 'was complete\| lost, not complete' out ||
			fail "seccomp: unseen-all: recovered: $(cat out)"
	else
		"$HATF" verify "$trace" >out 2>&1 ||
			fail "seccomp: unseen-all: $(cat out)"
	fi
done

# A forked child inherits the filter.
children_within()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" children 100000
}
fault "seccomp: no-pid" "filter, then a fork" cut children_within no-pid
WITH=HATFTRACE_START=off fault "seccomp: no-pid, dormant" \
	"filter, then a fork" unsaid children_within no-pid

# A child shares its parent's memory until its exec; its filter is not the
# parent's.
shared()
{
	"${RUN[@]}" "$FAULTS/filters" "$1" vfork 100000
}
TALLY=1 fault "seccomp: vfork" "filter of a child before its exec" \
	complete shared pid-fails

# Calls that the kernel refuses change nothing.
TALLY=1 fault "seccomp: ask" "calls that ask for filters and fail" \
	complete within ask 100000

# The kernel turns system calls of the program's thread into a signal, and those
# of the recorder, too.
dispatched()
{
	"${RUN[@]}" "$FAULTS/dispatch" "$1" "${2:-100000}"
}
"$FAULTS/dispatch" asked 1 >out
case $? in
5)
	for rounds in 100000 1; do
		fault "dispatch: $rounds" "system calls become signals" cut \
			dispatched asked $rounds
		for trace in traced/*; do
			check "dispatch: end" "$(trailer "$trace" end)" sandbox
		done
		grep -q '/traced/t.*\.gz: the program diverts' err ||
			fail "dispatch: $rounds: $(cat err)"
	done
	WITH=HATFTRACE_START=off fault "dispatch, dormant" \
		"system calls become signals" unsaid dispatched asked
	TALLY=1 fault "dispatch: refused" "the kernel refuses the call" \
		complete dispatched refused
	;;
77) untried "dispatch" "system calls become signals" "the kernel has none" ;;
*) fail "dispatch: $(cat out)" ;;
esac

# Without close_range() the writer thread still keeps no descriptor open: if the
# program closes its output, the reader of the pipe sees the end at once.
closing()
{
	"$FAULTS/filters" old exec "${RUN[@]}" bash -c \
		'echo out; exec >&-; sleep 2; date +%s%N >closed' | cat
	date +%s%N >seen
	wait
	sleep 2.2
	[ "$(cat seen)" -lt "$(cat closed)" ] && echo in time
}
fault "no close_range()" "ENOSYS, a pipe that the program closes" complete \
	closing
finish
