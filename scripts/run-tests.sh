#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run-tests.sh - run tests, one line each, and count them
#
# usage: scripts/run-tests.sh [-b BUILD] [TEST...]
#
# A test is an executable: a unit test of BUILD/tests/unit (default
# build/plain), a fuzz target of BUILD/tests/fuzz, which replays its corpus, or a
# script tests/{cli,capture,faults}/*.sh or scripts/check-*.sh.  Without arguments all of them run.  A test gets BUILD
# (absolute) and TMP (a fresh folder that is gone afterwards) and runs in the
# top directory.  Exit status 0 is passed, 77 skipped, anything else failed;
# the output of a failed test is shown, a skipped one's last line.
#
# TEST_TIMEOUT is what one test may take, in seconds (default 300, three times
# what the longest takes on two busy processors).
set -u
cd "$(dirname "$0")/.." || exit 2

BUILD=$PWD/build/plain
if [ "${1-}" = -b ]; then
	BUILD=$(realpath "$2")
	shift 2
fi
export BUILD
limit=${TEST_TIMEOUT:-300}
# Check gives a test 4 seconds, too few beside a sanitizer or a busy neighbour.
export CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT:-120}
work=$(mktemp -d "${TMPDIR:-/tmp}/hatf-tests.XXXXXX") || exit 2
chmod 711 "$work" # a test may want to be another user
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

tests=("$@")
if [ $# -eq 0 ]; then
	# Built ones of which the source is gone are not tests any more.
	for source in tests/unit/test_*.c tests/fuzz/fuzz_*.c; do
		[ -e "$source" ] && tests+=("$BUILD/${source%.c}")
	done
	for script in scripts/check-{includes,symbols,hardening,install}.sh \
		tests/cli/*.sh tests/capture/*.sh tests/faults/*.sh; do
		[ -x "$script" ] && tests+=("$script")
	done
fi

passed=0 failed=0 skipped=0
for test in "${tests[@]}"; do
	name=${test#"$BUILD"/}
	name=${name#build/*/}
	export TMP=$work/tmp
	mkdir -m 755 "$TMP"
	start=$SECONDS
	TMPDIR=$TMP timeout -k 10 "$limit" "$test" \
		>"$work/output" 2>&1 </dev/null &
	wait $!
	status=$?
	# 'timeout' leads a process group: end what the test left behind.
	kill -KILL -- -$! 2>/dev/null
	took=$((SECONDS - start))
	case $status in
	0) word=ok passed=$((passed + 1)) ;;
	77) word=SKIP skipped=$((skipped + 1)) ;;
	124 | 137) word=TIMEOUT failed=$((failed + 1)) ;;
	*) word="FAILED ($status)" failed=$((failed + 1)) ;;
	esac
	printf '%-44s %s  %ds\n' "$name" "$word" "$took"
	case $word in
	ok) ;;
	SKIP) tail -n 1 "$work/output" | sed 's/^/    /' ;;
	*) tail -n 100 "$work/output" | sed 's/^/    /' ;;
	esac
	chmod -R u+rwx "$TMP" 2>/dev/null
	rm -rf "$TMP" "$work/output"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
