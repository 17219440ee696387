#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metatf-formats.sh - the DTDs of hatf/metatf/dtd have sample traces
#
# Simple Binary, Johnstone's events, Hummingbird and MTRC are made from a
# recorded perl, by the programs in samples/, which use generated writers; the
# collector's by a program with Boehm's collector.  The universal reader and the
# generated ones must find what metatf_samples.py finds without Meta-TF.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 perl >/dev/null || skip 'no python3 or perl'
dtds=$CLI/../../hatf/metatf/dtd
PYTHON=$(python3 -c 'import sys; print(sys.executable)')

# build NAME [LIBRARY]: make the code of a DTD, the program of its sample, and
# one that copies its traces.
build()
{
	local name=$1 library=${2-}

	"$HATF" metatf gen "$dtds/$name.dtd" >/dev/null &&
		"$HATF" metatf gen --lang python "$dtds/$name.dtd" >/dev/null ||
		fail "gen $name"
	"$PYTHON" "$CLI/metatf_copy.py" "$name" <"$name.h" >"copy_$name.c"
	cc -std=gnu11 -O1 -Wall -Wextra -Werror -I. -o "$name" \
		"$CLI/samples/$name.c" "$name.c" ${library:+"$library"} &&
		cc -std=gnu11 -O0 -fsanitize=address,undefined \
			-fno-sanitize-recover=all -o "copy_$name" \
			"copy_$name.c" "$name.c" || fail "cc $name"
}

# alike NAME TRACE: all readers find the same in a trace; leave that in
# TRACE.json.
alike()
{
	local name=$1 trace=$2 flags

	"$HATF" metatf dump --json "$trace" >"$trace.json" ||
		fail "$trace: dump"
	"$PYTHON" "$name.py" "$trace" >python.json &&
		"$PYTHON" "$CLI/metatf_compare.py" "$trace.json" python.json ||
		fail "$trace: the generated Python reads something else"
	for flags in 0 3; do
		"./copy_$name" "$trace" copy.mtf $flags 64 &&
			"$HATF" metatf dump --json copy.mtf >copy.json &&
			"$PYTHON" "$CLI/metatf_compare.py" "$trace.json" \
				copy.json ||
			fail "$trace: the generated C reads something else"
	done
}

# sample NAME LINES [SOURCE]: make a trace from lines; it has what its source
# has.
sample()
{
	local name=$1 flags

	build "$name"
	for flags in 0 3; do
		"./$name" "$name.mtf" $flags <"$2" || fail "make $name.mtf"
		alike "$name" "$name.mtf"
		"$PYTHON" "$CLI/metatf_samples.py" want "$name" "${3-$2}" \
			>want.json || fail "want $name"
		"$PYTHON" "$CLI/metatf_compare.py" want.json "$name.mtf.json" ||
			fail "$name: not what $2 has"
	done
	[ "$(wc -l <want.json)" -gt 1000 ] || fail "$name: a small sample"
}

run "$HATF" record -o perl.hatf -- perl -e 'for $i (1 .. 400) {
	$h{$i % 70} = "x" x ($i % 97); push @a, $i }'
check_status record 0
for format in ascii mtrace hummingbird mtrc; do
	"$HATF" convert perl.hatf perl.$format 2>/dev/null ||
		fail "perl.$format"
done
"$PYTHON" "$CLI/metatf_samples.py" lines perl.mtrc >perl.lines || fail 'lines'

sample simple_binary perl.ascii
sample johnstone perl.mtrace
sample hummingbird perl.hummingbird
sample mtrc perl.lines perl.mtrc
cut -f 7 perl.lines | grep -q . || fail 'mtrc: no names of functions'

# Whose records are named as HATF's are is a trace for every command.
drop=time,thread,heap,attributes,comment
"$HATF" convert --drop $drop perl.hatf want.ascii 2>/dev/null &&
	"$HATF" convert --drop $drop simple_binary.mtf got.ascii ||
	fail 'simple_binary'
cmp <(grep -v ^10 want.ascii) <(grep -v ^10 got.ascii) ||
	fail 'simple_binary: another trace'
"$HATF" convert hummingbird.mtf got.hummingbird 2>/dev/null &&
	cmp perl.hummingbird got.hummingbird ||
	fail 'hummingbird: another trace'

# What the paper says of the size: 16 bytes a record, plus what widens fields.
# An address of more than 4 bytes takes 4 more.
plain=$(awk '$1 < 6 { n += 20 + 4 * ($1 > 1) } END { print n }' perl.ascii)
got=$(stat -c %s simple_binary.mtf)
[ "$got" -ge "$plain" ] && [ "$got" -le $((plain + 4096)) ] ||
	fail "simple_binary: $got bytes for $plain bytes of records"

# collected WHAT [generational]: the collector's figures are those of the trace.
collected()
{
	local what=$1 figures

	shift
	figures=$(./collector "$what.mtf" 0 1500 "$@") || fail "$what"
	alike collector "$what.mtf"
	check "$what: objects, collections, deaths" "$("$PYTHON" \
		"$CLI/metatf_samples.py" collect "$what.mtf.json") 0" "$figures"
}

build collector -lgc
collected full
collected old generational

finish
