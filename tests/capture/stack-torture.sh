#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# stack-torture.sh - walks of stacks that mislead them do no harm
#
# shared/stack_torture.c runs to its end, or until it is killed, and its trace
# is whole.  It also runs with only the recorder's code for stacks, which has
# AddressSanitizer then.
#
#	SECONDS_LONG=N	how long each run takes (default 3)
#	ROUNDS=N	kills (default 5)
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "the recorder takes stacks on x86-64 only"
need "$PYTHON" nm objdump
shared=$CAPTURE/shared

# Split stacks take a compiler and a linker that know them.
split=-fsplit-stack linker=-fuse-ld=gold
echo 'int main(void) { return 0; }' >try.c
if ! ${CC:-cc} $split $linker -o try try.c 2>said || ! ./try; then
	split='' linker=''
fi
# build SOURCE FLAG...
build()
{
	${CC:-cc} -O2 -g -pthread "${@:2}" -c \
		-o "${1%.c}.o" "$shared/$1" || fail "cannot build $1"
}

build stack_torture.c
build stack_generated.c
build stack_split.c $split
${CC:-cc} -g -pthread $split $linker \
	-o stack_torture stack_{torture,generated,split}.o -ldl ||
	fail "cannot build stack_torture"
# Two functions make the same calls, but from different places.
printf '%s\n' 'void CALL(void (*f)(void)) { f(); __asm__("" ::: "memory"); }' \
	'#ifdef LARGE' 'void call(void (*f)(void))' \
	'{ volatile char a[200]; a[0] = 1; f(); a[1] = 1; }' '#else' \
	'void call(void (*f)(void)) { CALL(f); __asm__("" ::: "memory"); }' \
	'#endif' >library.c
${CC:-cc} -O2 -shared -fPIC -o one.so library.c
${CC:-cc} -O2 -shared -fPIC -DLARGE -o two.so library.c

# Code outside the program calls these functions.
entries='main torture be_small handle allocate wrong_frame_pointers descend
	stack_split_initialize_thread'
# These functions have no unwind rules that lead to their callers.
vague='run_away without_rules on_stack on_stack_by_rbx'

# check_stacks WHAT TRACE: each allocation has a stack that the trace defines,
# and that the program can be on.
check_stacks()
{
	"$HATF" info "$2" | grep -E '^  without a stack +' >lacking
	check "$1: without a stack" "$(awk '{ print $4 }' lacking)" 0
	sed -E 's/.* of ([0-9 ]+) allocations.*/\1/; s/ //g' lacking >count
	check_ge "$1: allocations" "$(cat count)" 100
	# A long run has hundreds of millions of events.  Keep one a stack.
	"$HATF" dump --meta --format json "$2" 2>err | awk '
		/"tag":"comment"/ { print; next }
		match($0, /"attributes":"[0-9a-f]*"/) {
			if (!seen[substr($0, RSTART, RLENGTH)]++)
				print
		}' >dump.json
	# shellcheck disable=SC2086 # many words
	"$PYTHON" "$shared/legal_stacks.py" stack_torture dump.json \
		$entries -- $vague >said 2>&1 ||
		fail "$1: $(cut -c 1-600 said)"
	check_ge "$1: stacks" "$(tail -n 1 said)" 10
}

# A return address may lie in memory that cannot be read.
${CC:-cc} -O2 -shared -fPIC -Wl,-z,max-page-size=0x200000 -Wl,-z,separate-code \
	-o gap.so library.c || fail 'cannot build gap.so'
${CC:-cc} -O2 -o stack_gap "$shared/stack_gap.c" -ldl ||
	fail 'cannot build stack_gap'
./stack_gap ./gap.so >out
case $? in
0)
	HATFTRACE_STACKS=on trace gap.hatf ./stack_gap ./gap.so >out
	check 'a return address between two segments' $? 0
	clean gap.hatf
	;;
77) echo 'a loader that leaves no gaps between segments' >&2 ;;
*) fail "stack_gap: $(cat out)" ;;
esac

HATFTRACE_STACKS=on:frees trace whole.hatf ./stack_torture \
	"${SECONDS_LONG:-3}" ./one.so ./two.so >out 2>err
check 'status' $? 0
[ -s err ] && fail "stderr: $(head -n 3 err)"
clean whole.hatf
check_stacks whole whole.hatf
"$HATF" dump --meta --format json whole.hatf | grep -a 'HATF object' >objects
# Each time a library is loaded it is a new object, even at the address of an
# earlier one.
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
	# On a busy machine the trace begins late.
	for _ in {1..400}; do
		[ -e killed.hatf ] && break
		sleep 0.05
	done
	sleep "0.$((RANDOM % 9 + 1))"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	check "round $round: status" $? 137
	"$HATF" recover killed.hatf >said 2>err ||
		fail "round $round: recover: $(cat said err)"
	clean killed.hatf
	check_stacks "round $round" killed.hatf
done

# shared/stack_captures.c is the recorder's code for stacks.  Only the
# recorder's own files are instrumented.
torture_with_asan()
{
	local root=$CAPTURE/../.. asan=-fsanitize=address n numbered
	local flags=(-std=gnu11 -O1 -g -fPIC -ftls-model=initial-exec
		-D_GNU_SOURCE -I"$root")

	${CC:-cc} "${flags[@]}" -c "$shared/stack_captures.c" &&
		${CC:-cc} "${flags[@]}" $asan -shared -o captures.so \
			stack_captures.o "$root"/preload/stacks/*.c \
			"$root"/preload/sys/{elf_lookup,elf_dynamic,filter}.c \
			-ldl &&
		${CC:-cc} -g -pthread $asan $split $linker -o torture_asan \
			stack_{torture,generated,split}.o -ldl ||
		fail 'cannot build with AddressSanitizer'
	ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:use_sigaltstack=0 \
		CAPTURES=count LD_PRELOAD=$PWD/captures.so ./torture_asan \
		"${SECONDS_LONG:-3}" ./one.so ./two.so >said 2>err
	check 'AddressSanitizer: status' $? 0
	grep -q 'ERROR: AddressSanitizer' err && fail "$(head -n 20 err)"
	read -r n numbered <count
	check_ge 'AddressSanitizer: captures' "$n" 1000
	check 'AddressSanitizer: stacks with a number' "$numbered" "$n"
}

if ${CC:-cc} -fsanitize=address -o try try.c 2>said && ./try; then
	torture_with_asan
else
	echo 'a compiler without AddressSanitizer' >&2
fi
finish
