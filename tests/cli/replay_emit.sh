#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_emit.sh - 'hatf replay --emit-c' writes a program with the same calls
#
# A trace of the program is compiled to the same program again.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

programs=$BUILD/tests/capture/programs
first_line='10 HATF ascii thread heap time attributes'
PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'

# build NAME: compile NAME.c without a warning.
build()
{
	local compiler

	for compiler in clang "${CC:-cc}"; do
		command -v "$compiler" >/dev/null || continue
		"$compiler" -O1 -Wall -Wextra -Werror -pthread -o "$1" "$1.c" ||
			fail "$1.c has warnings with $compiler"
	done
}

# record NAME COMMAND...
record()
{
	local name=$1

	shift
	"$HATF" record --follow none -G -o "$name.hatf.gz" -- "$@" \
		>/dev/null 2>err || fail "$name: $(cat err)"
}

# again NAME [OPTION...]: the program of NAME.hatf.gz makes the same calls.
again()
{
	local name=$1

	shift
	run "$HATF" replay --emit-c "$name.c" "$@" "$name.hatf.gz"
	check_status "$name: $(cat err)" 0
	check_silent "$name"
	check "$name: mode" "$(stat -c %a "$name.c")" 600
	build "$name"
	record "$name-again" "./$name"
	run "$HATF" replay -e - "$name-again.hatf.gz"
	diff <(grep 'block\[.*(.*);' out) \
		<(grep 'block\[.*(.*);' "$name.c") >difference ||
		fail "$name: $(head -5 difference)"
}

# shellcheck disable=SC2016 # not for this shell
record perl perl -e 'my %h; $h{$_} = "x" x ($_ % 300) for (1..300)'
again perl
PYTHONMALLOC=malloc record python "$PYTHON" -S -c 'x = list(range(9000))'
events=$("$HATF" info --json python.hatf.gz | jq .events)
again python --from $((events - 3000)) --to $((events - 10))

# Alignments, failures, empty blocks; the name of the trace ends no comment.
printf '%s\n' "$first_line" '0 100 0x1000 0 0 1 414020' '0 0 0x2000 0 0 1' \
	'4 20 0x0 0x3000 0 0 1' '0 20 0x3000 0 0 1' '0 10 0x4000 0 0 1 01' \
	'0 10 0x0 0 0 1' '1 0x2000 0 0 1' >'*\?.ascii'
run "$HATF" replay -e hand.c './*\?.ascii'
check_status 'by hand' 0
build hand
./hand || fail 'the program by hand fails'
check 'memalign' "$(grep -c 'memalign(64u, 100u)' hand.c)" 1

# Threads: the same number of them, and no call before the one it waits for.
record torture "$programs/torture" 12 4 12 0
run "$HATF" replay -e torture.c torture.hatf.gz
check_status 'threads' 0
build torture
for _ in 1 2 3 4 5; do
	timeout 60 ./torture || fail 'a program with threads fails'
done
record torture-again ./torture
check 'number of threads' "$(
	"$HATF" replay --json -a glibc -r 1 torture-again.hatf.gz | jq .threads
)" "$("$HATF" replay --json -a glibc -r 1 torture.hatf.gz | jq .threads)"
run "$HATF" replay -e window.c --from 100 torture.hatf.gz
check_status 'a window' 0
build window
timeout 60 ./window || fail 'a program of a window fails'

awk -v first="$first_line" 'BEGIN {
	print first
	for (i = 1; i < 100002; i++)
		printf("0 8 0x%x 0 0 1\n", 16 * i)
}' >long.ascii
run "$HATF" replay -e long.c long.ascii
check_status 'too long' 1
check_one_line 'too long' 'hatf replay: long.ascii: more than 100000 calls*'
printf '%s\n' "$first_line" '0 9223372036854775808 0x1000 0 0 1' >huge.ascii
run "$HATF" replay -e huge.c huge.ascii
check_status 'a huge block' 1
check_one_line 'a huge block' 'hatf replay: huge.ascii:' \
	'a block has more bytes than an object in C can have'
[ ! -e huge.c ] || fail 'a program with a huge block'
run "$HATF" replay -e no/such/place.c torture.hatf.gz
check_status 'no such folder' 1
run "$HATF" replay -e x.c -M first-fit torture.hatf.gz
check_status '--emit-c --model' 2
finish
