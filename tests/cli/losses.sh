#!/bin/bash
# SPDX-License-Identifier: MIT
#
# losses.sh - 'hatf convert' reports exactly what the output format loses
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$CLI/../data
{
	header unit=us
	layout
	alloc 24 0x1000 0 0 1
	thread_event 8 1 2
	resize 2 48 0x1000 0x1000 1 0 3
	free 0x1000 1 0 4
} >good.hatf
trailer good.hatf 3 5 complete=1 end=exit lost=0 threads=2

# says OUT PATTERN [OPTION...]: the conversion to OUT reports a loss in one
# line.
says()
{
	local out=$1 pattern=$2
	shift 2
	run "$HATF" convert "$@" good.hatf "$out"
	check_status "$out" 0
	check_one_line "$out" "hatf convert: $out: $pattern"
}
says x.hummingbird \
	'format hummingbird does not keep: old_address, realloc, thread, time'
says x.hummingbird 'format hummingbird does not keep: address, old_address, '\
'realloc, thread, time' --tags sequence
says x.mtrace 'format mtrace does not keep: thread, time'
for format in folded dhat pprof; do
	text='keeps sums for each call stack, not single events'
	says x.$format "format $format $text"
done

# There is no message about comments that the format can store.
zcat -f "$data"/foreign/mtrc/cc1.trace* >cc1.trace
run "$HATF" convert cc1.trace cc1.hatf
check_status 'mtrc' 0
run "$HATF" convert cc1.hatf cc1.mtrc
check_status 'mtrc: back' 0
check_silent 'mtrc: back'

# The loss of the comment about the clock is part of the loss of times.
cat >clock.ascii <<'END'
10 HATF ascii time
10 HATF clock\x0aclock=stamped\x0atime=3\x0a
0 8 0x10 5
END
run "$HATF" convert clock.ascii clock.mtrace
check_status 'clock' 0
check_one_line 'clock' \
	'hatf convert: clock.mtrace: format mtrace does not keep: time'

# The sizes of gperftools are numbers of words.
run "$HATF" convert "$data/foreign/gperftools/thr.raw.gz" thr.hatf
check_status 'rounded' 0
check_one_line 'rounded' 'hatf convert: */thr.raw.gz:' \
	'sizes are rounded up to words, the unit of format gperftools'
run "$HATF" convert thr.hatf thr.csv
check_silent 'rounded once'

# If a format cannot express that a trace is incomplete, 'hatf convert' says so.
{
	header unit=us
	layout
	alloc 24 0x1000 0 0 1
} >cut.hatf
for format in hummingbird mtrace android heaptrack mptrace folded pprof dhat; do
	run "$HATF" convert --drop time cut.hatf cut.$format
	check_status "cut: $format" 1
	check "cut: $format: said" "$(grep -c 'the trailer is missing' err)" 1
	text="format $format cannot express that the trace is incomplete"
	check "cut: $format: cannot tell" \
		"$(grep -c ": cut.$format: $text$" err)" 1
done
for format in mtrc csv json xml binary split; do
	run "$HATF" convert cut.hatf --to $format cut.$format
	check_status "cut: $format" 1
	check "cut: $format: cannot tell" "$(grep -c 'cannot tell' err)" 0
	run "$HATF" convert cut.$format --to csv cut.csv2
	check_status "cut: $format: read" 1
done

# 'hatf formats' has one line about each format.
run "$HATF" formats
check_status 'formats' 0
check 'formats: lines' "$(grep -cE '^    [^ ].*' out)" \
	"$(($(grep -cE '^[^ ]' out) + $(grep -cE '^    (keeps|drops)  ' out)))"
check 'formats: lines each' "$(awk '/^[^ ]/ {
	getline
	if ($0 !~ /^    [^ ]/ || /^    (keeps|drops)  /) print
}' out)" ''
run "$HATF" formats --json
about='"about":"[^"]' suffixes='"other_suffixes":\['
check 'formats --json' "$(grep -c "$about.*$suffixes\|$suffixes.*$about" out)" \
	"$(wc -l <out)"
check 'formats: other suffixes' \
	"$(grep -c "$suffixes\".jsonl\",\".ndjson\"\]" out)" 1

finish
