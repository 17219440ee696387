#!/bin/bash
# SPDX-License-Identifier: MIT
#
# gperftools.sh - gperftools traces are read as its own reader reads them
#
# hatf reads the same events in the same order as gperftools' 'postprocess'.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$CLI/../data/foreign/gperftools
trace=$data/thr.raw.gz

run "$HATF" verify "$trace"
check_status verify 0

# A token is an address minus 1.  An alloc and a free follow the realloc that
# announces them.
"$HATF" dump --format ascii "$trace" | awk '
	BEGIN { last = -1 }
	function token(address) { return strtonum(address) - 1 }
	function turn(thread)
	{
		if (thread != last)
			print "SwitchThread(" thread ")"
		last = thread
	}
	$1 == 8 || $1 == 9 || $1 == 10 { next }
	skip > 0 { skip--; next }
	$1 == 0 && NF == 6 {
		turn($4)
		printf("Malloc(%d, %d)\n", token($3), $2)
	}
	# The attribute ALIGNMENT, a number of one or two bytes.
	$1 == 0 && NF == 7 {
		turn($4)
		n = strtonum("0x" substr($7, 3, 2))
		if (length($7) > 4)
			n = n % 128 + 128 * strtonum("0x" substr($7, 5, 2))
		printf("Memalign(%d, %d, %d)\n", token($3), $2, n)
	}
	$1 == 1 { turn($3); printf("Free(%d)\n", token($2)) }
	$1 == 3 {
		turn($5)
		printf("Realloc(%d, %d, %d)\n", token($3), token($4), $2)
		skip = 2
	}' >got
zcat "$data/thr.serialized.txt.gz" |
	grep -vE '^(SetTS|Barrier|KillCurrentThread)' | check_text order got
check events "$(grep -vc Switch got)" 3506
check 'ends of threads' \
	"$("$HATF" info "$trace" | awk '$2 == "destroyThread" { print $1 }')" \
	"$(zcat "$data/thr.serialized.txt.gz" | grep -c Kill)"

# The counts of 'postprocess'.
counted()
{
	sed -n "s/^$1 = //p" "$data/thr.post.txt"
}
check mallocs "$(grep -c Malloc got)" "$(counted mallocs)"
check frees "$(grep -c Free got)" "$(counted frees)"
check reallocs "$(grep -c Realloc got)" "$(counted reallocs)"
check memaligns "$(grep -c Memalign got)" "$(counted memaligns)"
check left "$("$HATF" info --json "$trace" |
	grep -oE '"end_live_objects":[0-9]+')" \
	"\"end_live_objects\":$(counted 'left allocated')"

# A truncated trace is reported, and its whole events are read.
zcat "$trace" | head -c 3000 >cut.raw
run "$HATF" convert cut.raw cut.hatf
check_status cut 1
rounded=': sizes are rounded up to words, the unit of format gperftools'
check 'cut: rounded' "$(grep -c "$rounded\$" err)" 1
sed -i '/: sizes are rounded/d' err
check_one_line cut 'hatf convert: cut.raw: offset *: event: the trace *'

# gperftools compresses its traces with LZ4.
"$HATF" dump "$trace" >want
"$HATF" dump "$data/thr.raw.lz4" | check_text lz4 want

# hatf cannot write this format.
run "$HATF" convert --to gperftools "$trace" out
check_status 'to gperftools' 2

finish
