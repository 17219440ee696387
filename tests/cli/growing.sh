#!/bin/bash
# SPDX-License-Identifier: MIT
#
# growing.sh - a command reads what a growing trace has when the command begins
#
# A program can append to its trace faster than a command reads.  The command
# ends nevertheless, as for a trace that ends there.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# half COMMAND...: the trace has its first half when COMMAND begins to print,
# and then gets its second half.
half()
{
	head -c $((nbytes / 2)) "$whole" >growing
	"$@" growing >lines 2>err &
	exec 3<lines
	read -r first <&3
	tail -c +$((nbytes / 2 + 1)) "$whole" >>growing
	{
		echo "$first"
		cat <&3
	} >got
	exec 3<&-
	wait $!
}

mkfifo lines
"$HATF" record -G -o trace.hatf -- \
	perl -e '@a = map { "x" x $_ } 1..9 for 1..20000' 2>/dev/null
gzip -dc <trace.hatf >plain.hatf || fail 'not compressed'
gzip -c plain.hatf >stream.hatf.gz
for whole in plain.hatf trace.hatf stream.hatf.gz; do
	nbytes=$(stat -c %s "$whole")
	head -c $((nbytes / 2)) "$whole" >shorter
	"$HATF" dump shorter >want 2>/dev/null
	check "$whole: half" $? 1
	[ "$(wc -l <want)" -ge 20000 ] || fail "$whole: $(wc -l <want) lines"
	half "$HATF" dump
	check "$whole: status" $? 1
	cmp -s want got || fail "$whole: $(wc -l <want) lines, $(wc -l <got)"
done
finish
