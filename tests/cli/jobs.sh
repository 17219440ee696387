#!/bin/bash
# SPDX-License-Identifier: MIT
#
# jobs.sh - threads that inflate ahead change neither output nor errors
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A trace of several blocks, whose sizes do not compress well.
{
	echo '10 HATF ascii'
	awk 'BEGIN {
		srand(1)
		for (i = 1; i <= 300000; i++) {
			printf "0 %d 0x%x\n", 65536 * rand(), 4096 + 16 * i
			if (i % 3 == 0)
				printf "1 0x%x\n", 4096 + 16 * (i - 1)
		}
	}'
} >trace.ascii
"$HATF" convert trace.ascii whole.hatf.gz || fail 'convert'
nbytes=$(stat -c %s whole.hatf.gz)
[ "$nbytes" -gt 500000 ] || fail "only $nbytes bytes"
head -c $((nbytes / 2)) whole.hatf.gz >cut.hatf.gz
{
	cat cut.hatf.gz
	printf 'xyzzy'
	tail -c +$((nbytes / 2 + 6)) whole.hatf.gz
} >bad.hatf.gz
gzip -dc whole.hatf.gz >plain.hatf
gzip -c plain.hatf >foreign.hatf.gz

# same NAME COMMAND...: output, errors and exit status do not depend on --jobs,
# nor on whether the input is a pipe.
same()
{
	local name=$1 status jobs
	shift

	"$HATF" "$@" "$name" >want 2>want.err
	status=$?
	for jobs in 1 2 5; do
		run "$HATF" "$@" --jobs "$jobs" "$name"
		check_status "$name $* $jobs" "$status"
		cmp -s want out || fail "$name $* $jobs: another output"
		cmp -s want.err err || fail "$name $* $jobs: another error"
	done
	# shellcheck disable=SC2002 # this tests a pipe
	cat "$name" | "$HATF" "$@" --jobs 2 - >out 2>err
	check "$name $* pipe" "${PIPESTATUS[1]}" "$status"
	[ "$1" != dump ] || cmp -s want out || fail "$name $* pipe"
}

for name in whole cut bad foreign; do
	same $name.hatf.gz dump
	same $name.hatf.gz info --json
	same $name.hatf.gz verify
done
same plain.hatf verify

# The reader of the output may close the pipe early.
"$HATF" dump --jobs 3 whole.hatf.gz | head -3 >out
check 'early end' "$(wc -l <out)" 3

finish
