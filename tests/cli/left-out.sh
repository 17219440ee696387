#!/bin/bash
# SPDX-License-Identifier: MIT
#
# left-out.sh - conversion counts the records a format had to leave out
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# loses WHAT FILE WANT FORMAT...: a conversion of FILE to each of these formats
# reports that it left out WANT.
loses()
{
	local what=$1 file=$2 want=$3 format
	shift 3
	for format; do
		# shellcheck disable=SC2086 # the format may have options
		run "$HATF" convert --to $format "$file" out.$$
		check_status "$what: $format" 0
		grep -h ': left out: ' err >said
		check_text "$what: $format" said <<-END
			${want:+hatf convert: out.$$: left out: $want}
		END
	done
}

# loses_nothing WHAT FILE FORMAT...: the conversions report nothing.
loses_nothing()
{
	local what=$1 file=$2 format
	shift 2
	for format; do
		run "$HATF" convert --to "$format" "$file" out.$$
		check_status "$what: $format" 0
		grep -q 'left out' err && fail "$what: $format: $(cat err)"
	done
}

cat >unknown.ascii <<'END'
10 HATF ascii
0 8 0x10
1 0x10
1 0x20
2 0 0x30 0
5 0 0x40 0
1 0x40
1 0
END
loses 'unknown blocks' unknown.ascii \
	'frees of unknown blocks (2), failed calls (1)' \
	android heaptrack memtrace mtrc 'hummingbird --tags sequence'
loses 'failed calls' unknown.ascii 'failed calls (1)' mptrace hummingbird
loses_nothing 'all calls' unknown.ascii mtrace hatf

# mtrc stores places as names, not as addresses.
cat >places.mtrace <<'END'
= Start
@ ./a.out:[0x1234] + 0x10 0x8
@ ./a.out:(f+0x4)[0x1238] + 0x20 0x8
@ ./a.out:[0x123c] - 0x10
= End
END
loses 'places' places.mtrace 'call sites without names (2)' mtrc
loses_nothing 'places' places.mtrace heaptrack memtrace

# A name above mtrc's limit.
name=$(printf '%01100d' 0)
cat >name.ascii <<END
10 HATF ascii attributes
10 HATF frame\x0aframe=1\x0afunction=$name\x0a
10 HATF stack\x0astack=1\x0aparent=0\x0aframe=1\x0a
0 8 0x10 4501
END
loses 'a name' name.ascii 'ends of long names (1)' mtrc
loses_nothing 'a name' name.ascii heaptrack json

# Every format accepts a trace with wrong definitions; some leave these out.
cat >wrong.ascii <<'END'
10 HATF ascii attributes
10 HATF frame\x0aframe=1\x0afunction=f\x0a
10 HATF frame\x0aframe=1\x0afunction=g\x0a
10 HATF stack\x0astack=1\x0aparent=0\x0aframe=1\x0a
10 HATF stack\x0astack=2\x0aparent=7\x0aframe=1\x0a
10 HATF stack\x0astack=x\x0a
0 8 0x10 4501
0 8 0x20 4502
0 8 0x30 4509
1 0x30
END
loses 'definitions' wrong.ascii 'malformed definitions of stacks (3)' \
	mtrace folded dhat pprof heaptrack memtrace
loses 'definitions' wrong.ascii \
	'malformed definitions of stacks (3)' mtrc
loses_nothing 'definitions' wrong.ascii hatf binary split splitaddr ascii csv \
	xml json mptrace hummingbird android
run "$HATF" convert --to folded wrong.ascii -
check 'definitions: the first one counts' "$(head -1 out)" 'f 8'

# Two concatenated traces with different columns.
printf '10 HATF ascii thread heap time\n0 1 0x10 1 0 3\n' >one.ascii
printf '10 HATF ascii time thread\n0 1 0x20 33 2\n' >two.ascii
cat one.ascii two.ascii >both.ascii
run "$HATF" convert --to ascii --drop heap both.ascii -
check_status 'columns' 0
grep '^0' out >got
check_text 'columns' got <<'END'
0 1 0x10 1 3
0 1 0x20 2 33
END
# A comment whose text looks like a line of columns remains a comment.
printf '10 \\x48ATF ascii time\n0 1 0x10\n' >text.ascii
run "$HATF" convert --to ascii text.ascii text2.ascii
check_text 'columns: a comment' text2.ascii <<'END'
10 HATF ascii thread heap time attributes
10 \x48ATF ascii time
0 1 0x10 0 0 0
END
# A malformed line of columns is reported.
printf '10 HATF ascii\n0 1 0x10\n10 HATF ascii size\n' >bad.ascii
run "$HATF" dump bad.ascii
check_status 'columns: bad' 1
check_one_line 'columns: bad' \
	'hatf dump: bad.ascii: line 3, offset 0x17*: columns: malformed'

finish
