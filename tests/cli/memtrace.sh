#!/bin/bash
# SPDX-License-Identifier: MIT
#
# memtrace.sh - traces of Memtrace are read as its own dump_trace reads them: names,
# sizes, stacks and order of every event
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'
data=$CLI/../data/foreign/memtrace
count=0

# plainly: without samples, domains, promotions, codes and the numbers of objects, and
# with no more frames of a stack than are written
plainly()
{
	awk '$2 == "promote" { next }
		{ if (!($3 in n)) n[$3] = count++; $3 = n[$3] }
		$2 == "alloc" { $5 = $7 = 0; if (NF > 7 + 3200) NF = 7 + 3200 }
		{ gsub(/ \$[0-9]+/, " $"); print }'
}

for trace in "$data"/*.ctf.gz; do
	name=$(basename "$trace" .ctf.gz)
	count=$((count + 1))
	zcat "$data/$name.dump.txt.gz" | "$CLI/memtrace.py" dump >want
	"$HATF" dump --meta --format json "$trace" |
		"$CLI/memtrace.py" hatf >got
	check "$name: events" "$(wc -l <got)" \
		"$(zcat "$data/$name.dump.txt.gz" | wc -l)"
	cmp -s want got || fail "$name: $(diff want got | head -3 | cut -c 1-200)"
	run "$HATF" verify "$trace"
	check_status "$name: verify" 0

	# What it says of the process.
	"$HATF" convert "$trace" t.hatf 2>err || fail "$name: $(cat err)"
	"$HATF" dump --meta t.hatf | head -1 >header
	of=$(sed -n 's/^ *of //p' "$data/$name.identify.txt")
	pid=$(sed -nE 's/.*pid ([0-9]+),.*/\1/p' "$data/$name.identify.txt")
	host=$(sed -nE 's/^ *on host ([^ ]*) .*/\1/p' "$data/$name.identify.txt")
	for line in "exe=$of" "pid=$pid" "host=$host" source=memtrace unit=us \
		word_size=8; do
		grep -qF "$line\\n" header || fail "$name: no $line in the header"
	done
	rate=$(sed -nE 's/.*sample rate ([^ ]*)$/\1/p' "$data/$name.identify.txt")
	check "$name: sample rate" \
		"$(sed -nE 's/.*\\nsample_rate=([^\\]*)\\n.*/\1/p' header |
			awk '{ printf "%.1e", $1 }')" "$rate"

	# Through HATF, nothing is lost.
	"$HATF" dump --meta --format json t.hatf |
		"$CLI/memtrace.py" hatf | cmp -s - want ||
		fail "$name: through HATF"

	# Written again, it has every block as a sample, and no domains.
	"$HATF" convert --to memtrace t.hatf t.ctf 2>err ||
		fail "$name: $(cat err)"
	run "$HATF" verify t.ctf
	check_status "$name: written, verify" 0
	"$HATF" dump --meta --format json t.ctf |
		"$CLI/memtrace.py" hatf | plainly >got
	plainly <want | cmp -s - got || fail "$name: written"
done
check files $count 6

# A packet that is cut off is left out, and told.
zcat "$data/lists-v2.ctf.gz" | head -c 5000 >cut.ctf
run "$HATF" dump cut.ctf
check_status cut 1
check_one_line cut 'hatf dump: cut.ctf: offset 0x*: packet: the trace is cut off here'

finish
