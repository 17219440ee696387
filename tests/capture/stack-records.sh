#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# stack-records.sh - each allocation of a trace has the stack that it came from
#
# shared/callers.c allocates on call paths that can be told from the sizes: on
# threads, in the child of a fork, over segments of a trace, and until it is
# killed.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "the recorder takes stacks on x86-64 only"
need nm "$PYTHON"

${CC:-cc} -O2 -g -pthread -o callers "$CAPTURE/shared/callers.c" ||
	fail "cannot build callers"

# stacks WHAT LEAST FILE [DEPTH [frees]]: at least so many, all right
stacks()
{
	local what=$1 least=$2 file=$3

	shift 3
	"$HATF" dump --meta --format json "$file" >dump.json 2>err
	"$PYTHON" "$CAPTURE/shared/recorded_stacks.py" callers dump.json "$@" \
		>said 2>&1 || {
		fail "$what: $(tail -n 1 said | cut -c 1-600)"
		return
	}
	check_ge "$what: stacks" "$(cat said)" "$least"
}

HATFTRACE_STACKS=on trace on.hatf ./callers 50 || fail "status $?"
clean on.hatf
stacks 'on' 400 on.hatf
HATFTRACE_STACKS=caller trace caller.hatf ./callers 50
clean caller.hatf
stacks 'caller' 400 caller.hatf 1
HATFTRACE_STACKS=5 trace five.hatf ./callers 50
clean five.hatf
stacks 'depth 5' 400 five.hatf 5
HATFTRACE_STACKS=on:frees trace frees.hatf ./callers 50
clean frees.hatf
stacks 'frees' 700 frees.hatf 256 frees
# Events of a thread that is alone with an awake writer take a fast path, and
# those with stacks another one.
for clock in auto us; do
	HATFTRACE_BEGIN=now HATFTRACE_CLOCK=$clock HATFTRACE_STACKS=on \
		trace "$clock.hatf" ./callers 60
	clean "$clock.hatf"
	stacks "alone, clock $clock" 480 "$clock.hatf"
	HATFTRACE_BEGIN=now HATFTRACE_CLOCK=$clock HATFTRACE_STACKS=on:frees \
		trace "$clock-frees.hatf" ./callers 60
	clean "$clock-frees.hatf"
	stacks "alone with frees, clock $clock" 840 "$clock-frees.hatf" \
		256 frees
done
HATFTRACE_STACKS=off trace off.hatf ./callers 5
"$HATF" dump --meta --format json off.hatf | grep -q 'HATF stack' &&
	fail "stacks that nobody asked for"

for clock in auto off ns; do
	HATFTRACE_CLOCK=$clock HATFTRACE_STACKS=on trace threads.hatf \
		./callers 300 4 || fail "threads: status $?"
	clean threads.hatf
	stacks "threads, clock $clock" 12000 threads.hatf
done
HATFTRACE_BUFFER=4K HATFTRACE_STACKS=on trace small.hatf ./callers 300 4
clean small.hatf
stacks 'small rings' 12000 small.hatf

# If a full ring drops events, no other event gets the stack of a dropped one.
HATFTRACE_BUFFER=4K HATFTRACE_FULL=drop HATFTRACE_STACKS=on \
	trace full.hatf ./callers 4000 4 || fail "full rings: status $?"
check_ge 'full rings: lost' "$(info full.hatf lost)" 1
stacks 'full rings' 1000 full.hatf 0

mkdir forks
HATFTRACE_STACKS=on:frees trace forks/f.%p.hatf ./callers 200 2 fork ||
	fail "fork: status $?"
check 'fork: traces' "$(count forks/*)" 2
for file in forks/*; do
	clean "$file"
	stacks "fork: $file" 1600 "$file" 256 frees
done

# segments WHAT PROGRAM...: each segment has the definitions of its stacks.
segments()
{
	local what=$1 file

	shift
	mkdir "$what"
	HATFTRACE_ROTATE=64K HATFTRACE_STACKS=on trace "$what/s.%n.hatf" "$@"
	check_ge "$what: segments" "$(count "$what"/*)" 3
	for file in "$what"/*; do
		clean "$file"
		stacks "segment $file" 1 "$file"
	done
}

segments threads ./callers 80000 2
# The blocks that a segment carries from the one before have their stacks, too.
for file in threads/*; do
	"$HATF" dump --format json "$file"
done | grep -c '"alloc".*"attributes":"0245' >carried
check_ge 'carried blocks with a stack' "$(cat carried)" 1
HATFTRACE_COMPRESS=none segments alone ./callers 10000

# killed WHAT PAUSE PROGRAM...: killed PAUSE seconds after its trace has begun,
# and recovered from what is left
killed()
{
	local what=$1 pause=$2 pid i

	shift 2
	rm -f killed*
	HATFTRACE_STACKS=on HATFTRACE_OUT=killed.hatf LD_PRELOAD=$SO \
		"$@" >said 2>&1 &
	pid=$!
	for ((i = 0; i < 500; i++)); do
		[ -s killed.hatf ] && break
		sleep 0.01
	done
	sleep "$pause"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	"$HATF" recover killed.hatf >said 2>err ||
		fail "$what, killed after $pause: recover: $(cat said err)"
	clean killed.hatf
	stacks "$what, killed after $pause" 1 killed.hatf
}

for pause in 0.05 0.1 0.2 0.3 0.5; do
	killed threads $pause ./callers 10000000 2
done
# Nearly each event has a new stack.
for pause in 0.01 0.02 0.03 0.04 0.05; do
	HATFTRACE_BEGIN=now killed 'new stacks' $pause ./callers 0 0 ways
done
finish
