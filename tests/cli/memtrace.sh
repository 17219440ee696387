#!/bin/bash
# SPDX-License-Identifier: MIT
#
# memtrace.sh - Memtrace traces are read as dump_trace reads them
#
# hatf reads the same names, sizes, stacks and order of events as Memtrace's own
# dump_trace.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'
data=$CLI/../data/foreign/memtrace
count=0

# near WHAT WANT: the numbers on standard input are those in WANT, apart from
# rounding: a thousand sites are rounded one by one, and the rate to two digits.
near()
{
	awk -v want="$2" '
		function off(a, b) { return a > b ? a - b : b - a }
		NR == 1 {
			n = split(want, w, " ")
			for (i = 1; i <= n; i++)
				if (off($i, w[i]) > 1 + w[i] / 50)
					bad = 1
			if (NF != n) bad = 1
		}
		{ print }
		END { exit bad || NR != 1 }' >got ||
		fail "$1: got $(cat got), want $2"
}

for trace in "$data"/*.ctf.gz; do
	name=$(basename "$trace" .ctf.gz)
	count=$((count + 1))
	zcat "$data/$name.dump.txt.gz" | "$CLI/memtrace.py" dump >want
	"$HATF" dump --meta --format json "$trace" |
		"$CLI/memtrace.py" hatf >got
	check "$name: events" "$(wc -l <got)" \
		"$(zcat "$data/$name.dump.txt.gz" | wc -l)"
	cmp -s want got ||
		fail "$name: $(diff want got | head -3 | cut -c 1-200)"
	run "$HATF" verify "$trace"
	check_status "$name: verify" 0

	# The header has the facts about the process.
	"$HATF" convert "$trace" t.hatf 2>err || fail "$name: $(cat err)"
	"$HATF" dump --meta t.hatf | head -1 >header
	facts=$data/$name.identify.txt
	of=$(sed -n 's/^ *of //p' "$facts")
	pid=$(sed -nE 's/.*pid ([0-9]+),.*/\1/p' "$facts")
	host=$(sed -nE 's/^ *on host ([^ ]*) .*/\1/p' "$facts")
	for line in "exe=$of" "pid=$pid" "host=$host" source=memtrace unit=us \
		word_size=8; do
		grep -qF "$line\\n" header ||
			fail "$name: no $line in the header"
	done
	rate=$(sed -nE 's/.*sample rate ([^ ]*)$/\1/p' "$facts")
	check "$name: sample rate" \
		"$(sed -nE 's/.*\\nsample_rate=([^\\]*)\\n.*/\1/p' header |
			awk '{ printf "%.1e", $1 }')" "$rate"

	# A conversion to HATF loses nothing.
	"$HATF" dump --meta --format json t.hatf |
		"$CLI/memtrace.py" hatf | cmp -s - want ||
		fail "$name: through HATF"

	# The commands say that the trace is a sample.
	run "$HATF" convert "$trace" t.heaptrack
	check "$name: says so" \
		"$(grep -c ' (about 1 in [0-9 ]* allocated words): ' err)" \
		1
	"$HATF" info t.hatf | grep -q '^  sampled  *about 1 in ' ||
		fail "$name: info does not say so"
	"$HATF" info --json t.hatf | sed -E 's/.*"sample_rate":([^,}]*).*/\1/' |
		awk '{ printf "%.1e\n", $1 }' >got
	check_text "$name: info --json" got <<<"$rate"

	# Profiles estimate the sums of all blocks.  The number of words of 8
	# bytes is the number of samples divided by the rate.  The number of
	# blocks is that of words divided by the words of a block, header
	# included.
	zcat "$data/$name.dump.txt.gz" | awk -v rate="$rate" '
		$3 ~ /^alloc/ {
			split($5, len, "="); words = $4 / rate
			n += words / (len[2] + 1); t += 8 * words
			samples[$2] = words; size[$2] = len[2]
		}
		$3 == "collect" { delete samples[$2] }
		END {
			for (i in samples) {
				left += 8 * samples[i]
				left_n += samples[i] / (size[i] + 1)
			}
			print n + 0, t + 0, left_n + 0, left + 0
		}' >sums
	for to in folded dhat pb.gz; do
		run "$HATF" convert t.hatf t.$to
		check_status "$name: $to" 0
		check "$name: $to says so" "$(grep -c \
			'the output contains estimates for all blocks$' err)" 1
	done
	awk '{ n += $NF } END { print n }' t.folded |
		near "$name: folded" "$(cut -d ' ' -f 2 sums)"
	command -v jq >/dev/null && jq -r '[.pps | (map(.tbk) | add),
		(map(.tb) | add), (map(.ebk) | add), (map(.eb) | add)] |
		join(" ")' t.dhat | near "$name: dhat" "$(cat sums)"
	python3 "$CLI/pprof.py" t.pb.gz | awk '$1 ~ /^[0-9]/ {
		a += $1; b += $2; c += $3; d += $4 } END { print a, b, c, d }' |
		near "$name: pprof" "$(cat sums)"
	python3 "$CLI/pprof.py" t.pb.gz | sed -n 's/^period //p' |
		near "$name: period" \
		"$(awk -v rate="$rate" 'BEGIN { print 8 / rate }')"

	# A conversion to Memtrace's format loses nothing: the process, objects
	# and their samples, domains, promotions, the places of each code.
	"$HATF" convert --to memtrace t.hatf t.ctf 2>err ||
		fail "$name: $(cat err)"
	run "$HATF" verify t.ctf
	check_status "$name: written, verify" 0
	"$HATF" dump --meta --format json t.ctf |
		"$CLI/memtrace.py" hatf >got
	cmp -s want got ||
		fail "$name: written: $(diff want got | head -3 | cut -c 1-200)"
	"$HATF" convert t.ctf again.hatf 2>err || fail "$name: $(cat err)"
	version='s/memtrace_version=1/memtrace_version=2/'
	"$HATF" dump --meta again.hatf | head -1 | sed "$version" >got
	sed "$version" header | cmp -s - got ||
		fail "$name: written: another header"
done
check files $count 6

# A truncated packet is left out, and reported.
zcat "$data/lists-v2.ctf.gz" | head -c 5000 >cut.ctf
run "$HATF" dump cut.ctf
check_status cut 1
check_one_line cut \
	'hatf dump: cut.ctf: offset 0x*: packet: the trace is truncated'

# A stack that is too large for a packet loses its innermost frames, and the
# next stack extends the part that was written.  Memtrace itself does not write
# such stacks.
python3 - >deep.json <<'END'
import json


count = 0


def say(**record):
    global count
    print(json.dumps(record))
    count += 1


def comment(text):
    say(tag="comment", text="HATF " + text)


comment("1.0\nproducer=test\nunit=us\npid=7\n")
for i in range(1, 5001):
    comment("frame\nframe=%d\nfunction=f%d\nfile=a.c\nline=%d\n" % (i, i, i))
    comment("stack\nstack=%d\nparent=%d\nframe=%d\n" % (i, i - 1, i))
# And a function that calls itself.
for i in range(5001, 15001):
    comment("stack\nstack=%d\nparent=%d\nframe=7\n" % (i, 0 if i == 5001 else i - 1))


def alloc(n, stack):
    octets = b"\x45"
    while stack >= 0x80:
        octets += bytes([stack & 0x7F | 0x80])
        stack >>= 7
    octets += bytes([stack])
    say(tag="alloc", size=9, address=hex(16 * n), thread=n % 3, heap=0, time=n,
        attributes=octets.hex())


for n, stack in enumerate([5000, 4999, 100, 15000, 101, 5000, 5000], 1):
    alloc(n, stack)
comment("end\ncomplete=1\nlost=0\nevents=7\nrecords=%d\n" % count)
END
run "$HATF" convert --to memtrace deep.json deep.ctf
check_status deep 0
run "$HATF" verify deep.ctf
check_status 'deep: verify' 0
"$HATF" dump --meta --format json deep.ctf | "$CLI/memtrace.py" hatf |
	awk '{ print NF - 7, $8, $NF }' >got
check_text deep got <<'END'
3265 f1@a.c:1:0-0 f3265@a.c:3265:0-0
4999 f1@a.c:1:0-0 f4999@a.c:4999:0-0
100 f1@a.c:1:0-0 f100@a.c:100:0-0
10000 f7@a.c:7:0-0 f7@a.c:7:0-0
101 f1@a.c:1:0-0 f101@a.c:101:0-0
5000 f1@a.c:1:0-0 f5000@a.c:5000:0-0
5000 f1@a.c:1:0-0 f5000@a.c:5000:0-0
END

# The header claims that Memtrace is the source, but the addresses are not of
# Memtrace: several have the same low bits.
{
	header source=memtrace memtrace_version=3 sample_rate=1 word_size=8
	layout
	comment 'HATF frame\nframe=1\naddress=0x2000000000000000\n'
	comment 'HATF frame\nframe=2\naddress=0x4000000000000000\nline=5\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	comment 'HATF stack\nstack=2\nframe=2\n'
	alloc 8 0x1 9 0 10 '\x45\x01'
	alloc 8 0x1001 0 0 10 '\x45\x02'
	comment 'HATF promote\naddress=0x1001\nthread=9\ntime=11\n'
	comment 'HATF promote\naddress=0x1001\nthread=0\ntime=12\n'
	comment 'HATF promote\naddress=0x0\nthread=0\ntime=12\n'
	comment 'HATF promote\naddress=16\n'
	free 0x1001 9 0 13
} >odd.hatf
trailer odd.hatf 3 12
run "$HATF" convert --to memtrace odd.hatf odd.ctf
check_status odd 0
"$HATF" dump --meta odd.ctf | grep -v 'stack=\|trace_version' >got
check 'odd: promotions' "$(grep -c 'HATF promote.*0x1001.nthread=0' got)" 1
check 'odd: all' "$("$HATF" verify odd.ctf)" 'odd.ctf: ok, 3 events'

finish
