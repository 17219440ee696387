#!/bin/bash
# SPDX-License-Identifier: MIT
#
# packing.sh - an output's name selects its format and compression
#
# gzip, zstd and lz4 unpack the same bytes that hatf writes without compression.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

"$HATF" record -o perl.hatf -- \
	perl -e '$h{$_} = "x" x $_ for 1 .. 3000' 2>err ||
	fail "record: $(cat err)"

# told NAME FORMAT: the name selects the format.
told()
{
	rm -f "$1"
	run "$HATF" convert perl.hatf "$1"
	check_status "$1" 0
	"$HATF" convert --plain --to "$2" perl.hatf want 2>err
	cmp -s "$1" want || fail "$1: not what --to $2 writes"
}
told x.jsonl json
told x.ndjson json
told x.json json
told x.pprof pprof
told x.pb pprof
told x.ctf memtrace
told x.memtrace memtrace
told x.folded folded
told x.folded.txt folded
told x.collapsed folded
told x.dhat dhat
told x.dhat.json dhat
told x.heaptrack heaptrack
told x.mtrace mtrace
told x.mtrc mtrc
told x.hummingbird hummingbird
told x.android android
told x.xml xml

# packed SUFFIX PROGRAM COMPRESSION: the suffix selects the compression of text
# and binary formats, and PROGRAM unpacks it.
packed()
{
	local name
	command -v "$2" >/dev/null || return
	for name in x.csv x.ascii x.json x.xml x.bin x.heaptrack x.mtrace \
		x.mtrc x.pb x.ctf x.folded x.dhat x.android; do
		"$HATF" convert perl.hatf $name 2>err
		run "$HATF" convert perl.hatf "$name$1"
		check_status "$name$1" 0
		"$2" -dc "$name$1" | cmp -s - $name ||
			fail "$name$1: $2 unpacks something else"
	done
	# The suffix works without a name of a format, too.
	run "$HATF" convert --to csv perl.hatf "y$1"
	check_status "y$1" 0
	"$2" -dc "y$1" | cmp -s - x.csv || fail "y$1: not x.csv"
	run "$HATF" convert --to csv --level 1 perl.hatf "y$1"
	check_status "y$1: level" 0
	"$2" -dc "y$1" | cmp -s - x.csv || fail "y$1: level 1: not x.csv"
	run "$HATF" convert --plain perl.hatf "x.csv$1"
	check_status "x.csv$1: plain" 0
	cmp -s "x.csv$1" x.csv || fail "x.csv$1: --plain is compressed"

	"$HATF" convert perl.hatf "x.csv$1"
	check "x.csv$1: info" "$("$HATF" info "x.csv$1" | head -1)" \
		"x.csv$1: csv, $3, complete"
	"$HATF" dump x.csv >want
	"$HATF" dump "x.csv$1" >got
	cmp -s want got || fail "x.csv$1: other records"
	# A full disk is an error.
	run "$HATF" convert --to "csv" perl.hatf /dev/full
	check_status 'full' 1
}
packed .gz gzip gzip
packed .zst zstd zstd
packed .lz4 lz4 lz4

# heaptrack's own files are compressed by zstd.
if command -v heaptrack_print >/dev/null && command -v zstd >/dev/null; then
	heaptrack_print x.heaptrack >want 2>/dev/null
	heaptrack_print x.heaptrack.zst >got 2>/dev/null
	grep -q 'calls to allocation functions' got ||
		fail "heaptrack_print: $(head got)"
	sed -i '/^reading file/d' want got
	check_text 'heaptrack_print' got <want
fi

# HATF's blocks are members of gzip, so other compression is refused.
run "$HATF" convert perl.hatf x.hatf.zst
check_status 'hatf.zst' 2
run "$HATF" convert --to hatf perl.hatf x.zst
check_status 'hatf: zst' 2
check_one_line 'hatf: zst' \
	'hatf convert: format hatf cannot be compressed by zstd, only by gzip *'

finish
