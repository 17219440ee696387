#!/bin/bash
# SPDX-License-Identifier: MIT
#
# doubt.sh - leaks and stat say why figures are doubtful, and --fail-over does
# not let such a trace pass
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# doubts NAME COUNT PATTERN TRACE: leaks and stat print COUNT lines of doubt
# about the trace, and one of them matches the extended regular expression.
doubts()
{
	local command

	for command in leaks stat; do
		run "$HATF" "$command" "$4"
		check_status "$1: $command" 0
		check_silent "$1: $command"
		check "$1: lines of $command" \
			"$(grep -c '^doubtful: ' out)" "$2"
		[ "$2" -eq 0 ] || grep -qE "^doubtful: $3" out ||
			fail "$1: $command: $(cat out)"
	done
}

# judged NAME STATUS OPTION...: the exit status of leaks with --fail-over.
judged()
{
	local name=$1 want=$2

	shift 2
	run "$HATF" leaks "$@"
	check_status "$name: $*" "$want"
	[ "$want" -ne 1 ] ||
		check_one_line "$name: $*" \
			'hatf leaks: *: --fail-over cannot judge *'
}

# ------------------------------------------------------------- nothing doubtful
{
	header
	layout
	alloc 24 0x1000 0 0 0
	alloc 24 0x2000 0 0 0
	free 0x2000 0 0 0
} >sound.hatf
trailer sound.hatf 3 4
doubts sound 0 '' sound.hatf
judged sound 0 --fail-over 24 sound.hatf
judged sound 3 --fail-over 23 sound.hatf

# ------------------------------------------------------------- a contradiction
{
	header
	layout
	alloc 24 0x1000 0 0 0
	free 0x1000 0 0 0
	free 0x1000 0 0 0
} >twice.hatf
trailer twice.hatf 3 4
doubts 'a double free' 2 'events that contradict others .*: 1$' twice.hatf
judged 'a double free' 1 --fail-over 1G twice.hatf
judged 'a double free' 0 twice.hatf
judged "a double free" 1 --fail-over 0 twice.hatf

# ----------------------------------------------- a sum that no number can hold
{
	echo '10 HATF ascii'
	for i in 1 2; do
		printf '0 9223372036854775808 0x%x0000000000\n' $i
	done
	echo '0 10 0x1000'
} >vast.ascii
doubts 'a sum' 1 'blocks whose size made a sum overflow' vast.ascii
judged 'a sum' 1 --fail-over 1G vast.ascii

# ------------------------------------------------------ a trace that began late
# Its header says that older blocks are unknown, so their frees are expected.
{
	header start=late
	layout
	alloc 24 0x1000 0 0 0
	free 0x9000 0 0 0
} >late.hatf
trailer late.hatf 2 3
doubts 'late' 0 '' late.hatf
judged 'late' 0 --fail-over 1G late.hatf
late='the trace began while the program was running, and lacks the blocks that'
late+=' were live then'
for command in leaks stat; do
	run "$HATF" $command late.hatf
	check "late: $command" "$(grep -c "^note: $late\$" out)" 1
	run "$HATF" $command twice.hatf
	check "not late: $command" "$(grep -c "$late" out)" 0
done
run "$HATF" report late.hatf
check 'late: report' "$(grep -c "^  $late\$" out)" 1
grep -q '^  frees of blocks from before the trace: 1$' out ||
	fail "late: report: $(cat out)"
run "$HATF" report --html late.html late.hatf
check 'late: page' "$(grep -c "${late^}" late.html)" 1

# ------------------------------------------------- a child without its parent
{
	header parent_trace=gone.hatf parent_pid=1 parent_event=5 \
		parent_event_exact=1 pid=2
	layout
	free 0x9000 0 0 0
	alloc 24 0x1000 0 0 0
} >child.hatf
trailer child.hatf 2 3
doubts 'a child' 2 'blocks of the parent process: ' child.hatf
grep -q '^doubtful: frees of unknown blocks: 1$' out ||
	fail "a child: $(cat out)"
judged 'a child' 1 --fail-over 1G child.hatf
judged 'a child' 0 --no-parent --fail-over 1G child.hatf

finish
