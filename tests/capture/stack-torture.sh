#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# stack-torture.sh - walks of stacks where they can go astray harm nobody
#
# shared/stack_torture.c runs to its end, or until it is killed, and its trace
# is whole.
#
#	SECONDS_LONG=N	how long (default 3)
#	ROUNDS=N	kills (default 5)
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "the recorder takes stacks on x86-64 only"
need "$PYTHON"
shared=$CAPTURE/shared

${CC:-cc} -O2 -g -pthread -o stack_torture "$shared/stack_torture.c" -ldl ||
	fail "cannot build stack_torture"
# One calls as the other does, but from another place.
printf '%s\n' 'void CALL(void (*f)(void)) { f(); __asm__("" ::: "memory"); }' \
	'#ifdef LARGE' 'void call(void (*f)(void))' \
	'{ volatile char a[200]; a[0] = 1; f(); a[1] = 1; }' '#else' \
	'void call(void (*f)(void)) { CALL(f); __asm__("" ::: "memory"); }' \
	'#endif' >library.c
${CC:-cc} -O2 -shared -fPIC -o one.so library.c
${CC:-cc} -O2 -shared -fPIC -DLARGE -o two.so library.c

# check_stacks WHAT TRACE: each allocation has a stack that the trace defines.
check_stacks()
{
	"$HATF" info "$2" | grep -E '^  without a stack +' >lacking
	check "$1: without a stack" "$(awk '{ print $4 }' lacking)" 0
	sed -E 's/.* of ([0-9 ]+) allocations.*/\1/; s/ //g' lacking >count
	check_ge "$1: allocations" "$(cat count)" 100
}

HATFTRACE_STACKS=on:frees trace whole.hatf ./stack_torture \
	"${SECONDS_LONG:-3}" ./one.so ./two.so >out 2>err
check 'status' $? 0
[ -s err ] && fail "stderr: $(head -n 3 err)"
clean whole.hatf
check_stacks whole whole.hatf
"$HATF" dump --meta --format json whole.hatf | grep -a 'HATF object' >objects
# Each time that a library comes it is another object, also where one was.
n=$(sed -n "s/.*[eo]\.so.naddress=\([0-9a-fx]*\).*/\1/p" objects | sort |
	uniq -c | sort -n | awk "END { print \$1 }")
check_ge "objects in one place" "$n" 4
check_ge 'objects one.so' "$(grep -c 'one\.so' objects)" 2
check_ge 'objects two.so' "$(grep -c 'two\.so' objects)" 2

for ((round = 1; round <= ${ROUNDS:-5}; round++)); do
	rm -f killed*
	HATFTRACE_STACKS=on HATFTRACE_OUT=killed.hatf LD_PRELOAD=$SO \
		./stack_torture 1000 ./one.so ./two.so >said 2>&1 &
	pid=$!
	sleep "0.$((RANDOM % 9 + 1))"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	check "round $round: status" $? 137
	"$HATF" recover killed.hatf >said 2>err ||
		fail "round $round: recover: $(cat said err)"
	clean killed.hatf
	check_stacks "round $round" killed.hatf
done
finish
