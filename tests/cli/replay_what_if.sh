#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_what_if.sh - 'hatf replay --what-if' changes a trace as it says
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

timeout 200 python3 "$CLI/replay_what_if.py" "$HATF" 80 ||
	fail 'a changed trace'

first_line='10 HATF ascii thread heap time attributes'
printf '%s\n' "$first_line" '8 1 0 0 4200' '0 100 0x1000 0 0 1' \
	'1 0x1000 1 0 2' '0 30 0x2000 1 0 3' >two.ascii
run "$HATF" replay -r 2 -a glibc -a glibc:X=1 -w merge:threads \
	-w sizes:round=64 two.ascii
check_status 'a table' 0
check_silent 'a table'
check 'tables' "$(grep -c '^allocator ' out)" 2
grep -q '^two.ascii: 3 calls, 2 threads (2 at once), 1 hand-over' out ||
	fail "the original: $(cat out)"
grep -q '^two.ascii: 3 calls, 1 thread, 0 hand-overs' out ||
	fail "the changed one: $(cat out)"
grep -q '^What if merge:threads sizes:round=64:$' out || fail "$(cat out)"
grep -qx '  calls: the same; most live bytes: 28 B more (+28.0 %)' out ||
	fail "$(cat out)"
check 'rows of savings' "$(grep -c '^  glibc.*: time .*; peak RSS ' out)" 2
run "$HATF" replay -m -r 1 -a glibc -w sizes:round=64 two.ascii
check 'Markdown' "$(grep -c '^|' out)" 6

# With a window, blocks from before it are changed, too.
run "$HATF" replay --json -r 1 -a glibc -w sizes:round=64 --from 1 two.ascii
check 'a window' "$(jq -c '[.begin_bytes, .end_bytes]' out)" '[128,64]'

run "$HATF" replay -r 1 -a glibc -w drop:site=x two.ascii
check_status 'no stacks' 0
check_one_line 'no stacks' \
	'*two.ascii: the trace has no call stacks, which drop:site and *'
grep -qx '  no difference: --what-if changes no call of the trace' out ||
	fail "no stacks: $(cat out)"
! grep -q ': time .*; peak RSS ' out || fail "no stacks: $(cat out)"

# One allocation with the stack of the function "work".
cat >site.ascii <<'END'
10 HATF ascii thread heap time attributes
10 HATF frame\x0aframe=1\x0afunction=work\x0a
10 HATF stack\x0astack=1\x0aframe=1\x0a
0 100 0x1000 0 0 1 4501
0 30 0x2000 0 0 2
END
for change in drop pool; do
	run "$HATF" replay -r 1 -a glibc -w "$change:site=nosuch*" site.ascii
	check_status "$change: no such site" 0
	check_one_line "$change: no such site" 'hatf replay: site.ascii:' \
		"$change:site has no effect: no block*" \
		'was allocated at a matching site; *'
	grep -q '^  no difference: --what-if changes no call' out ||
		fail "$change: no such site: $(cat out)"
	run "$HATF" replay -r 1 -a glibc -w "$change:site=work" site.ascii
	check_silent "$change: a site"
	grep -q '^  glibc: time ' out || fail "$change: a site: $(cat out)"
	grep -qx '  (1 run, so the spread is unknown)' out ||
		fail "$change: 1 run: $(cat out)"
	run "$HATF" replay -r 2 -a glibc -w "$change:site=work" site.ascii
	! grep -q '1 run, so' out || fail "$change: 2 runs: $(cat out)"
done
# The site of a C++ program is its own function only with --fold-std, and the
# message says so.
cat >new.ascii <<'END'
10 HATF ascii thread heap time attributes
10 HATF frame\x0aframe=1\x0afunction=work\x0a
10 HATF frame\x0aframe=2\x0afunction=operator new(unsigned long)\x0a
10 HATF stack\x0astack=1\x0aframe=1\x0a
10 HATF stack\x0astack=2\x0aparent=1\x0aframe=2\x0a
0 100 0x1000 0 0 1 4502
0 20000 0x8000 0 0 2 4502
0 30 0x2000 0 0 3
END
for change in drop pool; do
	run "$HATF" replay -r 1 -a glibc -w "$change:site=work" new.ascii
	check_status "$change: no --fold-std" 0
	check_one_line "$change: no --fold-std" 'hatf replay: new.ascii:' \
		"$change:site has no effect: no block*" \
		'was allocated at a matching site; to match the sites that' \
		"'hatf stat' and 'hatf leaks' show, add --fold-std"
	for option in -F --fold-std; do
		run "$HATF" replay -r 1 -a glibc $option \
			-w "$change:site=work" new.ascii
		check_silent "$change: $option"
		grep -q '^  glibc: time ' out || fail "$change: $(cat out)"
	done
	run "$HATF" replay -F -r 1 -a glibc -w "$change:site=x" new.ascii
	check_one_line "$change: -F, no such site" '*at a matching site'
done
run "$HATF" replay -F -M first-fit -j -w drop:site=work new.ascii
check 'a model and --fold-std' "$(jq .calls out)" 1
# The site matches, but its blocks are too large for the pool.
sed 's/^0 100 .*/0 20000 0x1000 0 0 1 4502/' new.ascii >large.ascii
run "$HATF" replay -r 1 -a glibc -w 'pool:site=operator new' large.ascii
check_one_line 'large blocks' '*: no block of at most 16 KiB was allocated*' \
	'matching site'

for text in x sizes:round= sizes:round=0 sizes:round=1x sizes:round=-1 \
	drop:site= pool: merge:thread ''; do
	run "$HATF" replay -w "$text" two.ascii
	check_status "--what-if '$text'" 2
	check_one_line "--what-if '$text'" \
		'hatf replay: --what-if: invalid change *'
done
# A pipe can be read only once, and standard input keeps its position.
replay="'$HATF' replay --json -r 1 -a glibc -w merge:threads"
for source in "cat two.ascii | $replay -" "$replay - <two.ascii" \
	"$replay <(cat two.ascii)"; do
	run bash -c "$source"
	check_status "$source" 0
	check_silent "$source"
	check "$source" "$(jq -c '[.threads, .what_if.original.threads]' out)" \
		'[1,2]'
done
run "$HATF" replay --check -w merge:threads two.ascii
check_status '--check --what-if' 2
finish
