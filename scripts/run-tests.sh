#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run-tests.sh - run tests in parallel, print a line for each, and count them
#
# usage: scripts/run-tests.sh [-b BUILD] [-j JOBS] [TEST...]
#
# A test is an executable: a unit test below BUILD/tests/unit (default
# build/plain), a fuzz target of BUILD/tests/fuzz, which replays its corpus, or
# a script tests/{cli,capture,faults,page}/*.sh or scripts/check-*.sh.  Without
# arguments all of them run.  A test gets BUILD (absolute) and TMP (a fresh
# folder that is removed afterwards) and runs in the top directory.  A program
# of another build than BUILD gets that build.  Exit status 0 is passed, 77
# skipped, anything else failed.  A line tells a test's result, its time and its
# purpose.  The output of a failed test follows its line, and the last line of a
# skipped test.
#
# JOBS tests run at a time.  The default is two per processor, since most tests
# wait longer than they compute.  A test with a comment "runs early: REASON"
# runs before the others.  A test with "runs alone: REASON" runs after them,
# when no other test does.
#
# TEST_TIMEOUT limits each test, in seconds.  The default is 600, twice what
# the longest test takes on two slow processors.
set -u
cd "$(dirname "$0")/.." || exit 2

BUILD=$PWD/build/plain
jobs=$((2 * $(nproc)))
while getopts b:j: option; do
	case $option in
	b) BUILD=$(realpath "$OPTARG") ;;
	j) jobs=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
export BUILD
limit=${TEST_TIMEOUT:-600}
# Check's default limit of 4 seconds is too short under a sanitizer or on a busy
# machine.
export CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT:-240}
# Tests leave no __pycache__ in the tree.
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d "${TMPDIR:-/tmp}/hatf-tests.XXXXXX") || exit 2
chmod 711 "$work" # a test may run programs as another user
# A launcher of python3, such as pyenv's, takes longer than most of what the
# tests do in Python.  Let the tests find python3 itself.
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null); then
	mkdir -m 755 "$work/bin"
	ln -s "$python" "$work/bin/python3"
	PATH=$work/bin:$PATH
fi
declare -A running=() # test's index -> process that runs it

clean_up()
{
	[ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null
	wait
	rm -rf "$work"
}

trap clean_up EXIT
trap 'exit 1' HUP INT TERM

tests=("$@")
if [ $# -eq 0 ]; then
	# Start the scripts first, since they take longest.
	for script in tests/{faults,capture,cli,page}/*.sh \
		scripts/check-{includes,symbols,abi,hardening,install}.sh; do
		[ -x "$script" ] && tests+=("$script")
	done
	# Skip programs in BUILD whose sources were removed.
	while read -r source; do
		tests+=("$BUILD/${source%.c}")
	done < <(find tests/unit tests/fuzz -name 'test_*.c' -o \
		-name 'fuzz_*.c' | sort)
fi

# source_of TEST: print the name of the file that states TEST's purpose.
source_of()
{
	case $1 in
	*.sh) echo "$1" ;;
	*) echo "tests/${1##*/tests/}.c" ;;
	esac
}

# purpose_of TEST: print the rest of the source's line "NAME - PURPOSE", and the
# lines after it up to an empty one or a directive of shellcheck.
purpose_of()
{
	local file

	file=$(source_of "$1")
	awk -v name="${file##*/} - " '
		{
			line = $0
			gsub(/^[#\/ ]*\*? */, "", line)
			sub(/ *\*\/$/, "", line)
		}
		line ~ /^shellcheck / { line = "" }
		said && (line == "" || /^[^#\/ ]/) { exit }
		said { text = text " " line }
		index(line, name) == 1 {
			said = 1
			text = substr(line, length(name) + 1)
		}
		/\*\/$/ && said { exit }
		END { print text }' "$file" 2>/dev/null
}

# run INDEX: run a test; write its output and result to $work/INDEX.*.
run()
{
	local test=${tests[$1]} output=$work/$1.output child status
	local start=${EPOCHREALTIME/./} tenths

	[[ $test != */tests/@(unit|fuzz)/* ]] ||
		BUILD=$(realpath "${test%/tests/*}")
	export TMP=$work/$1.tmp
	mkdir -m 755 "$TMP"
	TMPDIR=$TMP timeout -k 10 "$limit" "$test" >"$output" 2>&1 </dev/null &
	child=$!
	trap 'kill $child' TERM
	wait $child
	status=$?
	# 'timeout' leads a process group: kill what the test left running.
	kill -KILL -- -$child 2>/dev/null
	tenths=$(((${EPOCHREALTIME/./} - start) / 100000))
	echo "$status $tenths" >"$work/$1.status"
	chmod -R u+rwx "$TMP" 2>/dev/null
	rm -rf "$TMP"
}

passed=0 failed=0 skipped=0
# report INDEX: print the line of an ended test, and count the test.
report()
{
	local test=${tests[$1]} name word status tenths

	read -r status tenths <"$work/$1.status"
	name=${test#"$BUILD"/}
	name=${name#build/plain/}
	case $status in
	0) word=ok passed=$((passed + 1)) ;;
	77) word=SKIP skipped=$((skipped + 1)) ;;
	124 | 137) word=TIMEOUT failed=$((failed + 1)) ;;
	*) word="FAILED ($status)" failed=$((failed + 1)) ;;
	esac
	printf '%-50s %s %3d.%d s  %s\n' "$name" "$word" $((tenths / 10)) \
		$((tenths % 10)) "$(purpose_of "$test")"
	case $word in
	ok) ;;
	SKIP) tail -n 1 "$work/$1.output" | sed 's/^/    /' ;;
	*) tail -n 100 "$work/$1.output" | sed 's/^/    /' ;;
	esac
	rm -f "$work/$1.output"
	printf '%d %s\n' "$tenths" "$name" >>"$work/times"
}

# report_ended: report the tests in 'running' that have ended.
report_ended()
{
	local index

	for index in "${!running[@]}"; do
		[ -e "$work/$index.status" ] || continue
		wait "${running[$index]}"
		unset "running[$index]"
		report "$index"
	done
}

# run_all JOBS INDEX...: run these tests, JOBS at a time.
run_all()
{
	local width=$1 index

	shift
	for index; do
		run "$index" &
		running[$index]=$!
		while [ ${#running[@]} -ge "$width" ]; do
			wait -n "${running[@]}"
			report_ended
		done
	done
	while [ ${#running[@]} -gt 0 ]; do
		wait -n "${running[@]}"
		report_ended
	done
}

# when_to_run TEST: print "early" or "alone" if the test says so.
when_to_run()
{
	sed -nE 's/^( \*|#) runs (early|alone): .*/\2/p' "$(source_of "$1")" \
		2>/dev/null
}

early=() together=() alone=()
for index in "${!tests[@]}"; do
	case $(when_to_run "${tests[$index]}") in
	early) early+=("$index") ;;
	alone) alone+=("$index") ;;
	*) together+=("$index") ;;
	esac
done
begin=$SECONDS
run_all "$jobs" ${early[@]+"${early[@]}"} ${together[@]+"${together[@]}"}
run_all 1 ${alone[@]+"${alone[@]}"}
if [ "${#tests[@]}" -gt 20 ]; then
	echo 'the slowest:'
	sort -rn "$work/times" | head -n 10 |
		awk '{ printf "%6.1f s  %s\n", $1 / 10, $2 }'
fi
echo "$passed passed, $failed failed, $skipped skipped" \
	"in $((SECONDS - begin)) s"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
