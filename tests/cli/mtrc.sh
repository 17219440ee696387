#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mtrc.sh - mpatrol traces and their HATF text agree with mptrace
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'
data=$CLI/../data/foreign/mtrc

# mptrace WHAT FILE: print what mptrace reads.
mptrace()
{
	python3 "$CLI/mptrace.py" "$@"
}

# Remove the allocation indexes, which HATF's records do not have.
without_index()
{
	tr -s ' ' | sed -E 's/^ ?([0-9]+ (alloc|realloc|free)) [0-9]+ /\1 - /'
}

# rows.py WORD_BITS: print mptrace's table of the events from hatf's JSON.
cat >rows.py <<'END'
import json, sys

frames, stacks = {}, {}
blocks = {}
live = [0, 0]
events = 0
wide = int(sys.argv[1]) // 4


def lines(text):
    return dict(line.split("=", 1) for line in text.split("\n")[1:-1])


def stack(attributes):
    octets = bytes.fromhex(attributes)
    assert octets[0] == 0x45
    return sum((o & 0x7F) << 7 * i for i, o in enumerate(octets[1:]))


def where(rec):
    text = " thread %d" % rec["thread"] if rec["thread"] else ""
    if rec.get("attributes"):
        frame = frames[stacks[stack(rec["attributes"])]["frame"]]
        if "function" in frame:
            text += " in " + frame["function"]
        if "file" in frame and "line" in frame:
            text += " at %s line %s" % (frame["file"], frame["line"])
    if text:
        print(text)


def row(kind, address, rest):
    print("%d %s - 0x%0*X %s" % (events, kind, wide, address, rest))


def change(address, size):
    old = blocks.pop(address, None)
    if old is not None:
        live[0] -= 1
        live[1] -= old
    if size is not None:
        blocks[address] = size
        live[0] += 1
        live[1] += size
    return old


skipped = 0
for line in sys.stdin:
    rec = json.loads(line)
    tag = rec["tag"]
    if tag == "comment":
        kind = rec["text"].split("\n")[0]
        if kind == "HATF frame":
            frames[lines(rec["text"])["frame"]] = lines(rec["text"])
        elif kind == "HATF stack":
            stacks[int(lines(rec["text"])["stack"])] = lines(rec["text"])
        elif kind == "HATF system":
            values = lines(rec["text"])
            use = values["use"].replace("heap", "reserve")
            print(" %s 0x%0*X %d" % (use, wide, int(values["address"], 16),
                                     int(values["size"])))
        continue
    if skipped:
        skipped -= 1
        continue
    address = int(rec["address"], 16)
    events += 1
    if tag == "alloc":
        change(address, rec["size"])
        row("alloc", address, "%d %d %d" % (rec["size"], *live))
    elif tag == "free":
        size = change(address, None)
        row("free", address, "%d - %d %d" % (size, *live))
    else:
        change(int(rec["old_address"], 16), None)
        change(address, rec["size"])
        row("realloc", address, "%d %d %d" % (rec["size"], *live))
        skipped = 2 * (tag == "reallocAllocFree")
    where(rec)
END

# Reduce the table to what rows.py prints: remove the ages, which mptrace counts
# from the first use of an index.
rows_of_table()
{
	sed '1,2d; /^$/,$d' | without_index |
		sed -E 's/^([0-9]+ free .*) [0-9]+( [0-9]+ [0-9]+)$/\1 -\2/'
}

# value FILE NAME: print an entry "count nbytes" of mptrace's statistics.
value()
{
	sed -nE "s/^$2: +([0-9]+) \(([0-9]+) bytes?\)/\1 \2/p" "$1"
}

# known NAME: test a trace of tests/data/foreign/mtrc.
known()
{
	local name=$1 word=64 want=0 nbytes

	case $name in *32?e* | cc1 | gcc) word=32 ;; esac
	case $name in *-notrailer) want=1 ;; esac
	zcat -f "$data/$name".trace* >"$name.trace"
	zcat "$data/$name.vs.txt.gz" >want.table
	zcat "$data/$name.hatf.gz" >want.hatf

	# mptrace.py prints what the real program printed.
	mptrace table "$name.trace" >got 2>/dev/null
	cmp got want.table >&2 || fail "$name: mptrace.py: table"
	mptrace hatf "$name.trace" "$name.hatf" >got 2>/dev/null
	cmp got want.hatf >&2 || fail "$name: mptrace.py: HATF"

	# hatf reads the events of the table.
	"$HATF" dump --meta --format json "$name.trace" 2>err |
		python3 rows.py "$word" >got
	rows_of_table <want.table | diff -u - got >&2 || fail "$name: rows"
	run "$HATF" info --json "$name.trace"
	check_status "$name: info" "$want"
	mv out info
	if [ "$want" = 0 ]; then
		check_silent "$name: info"
		check "$name: peak" "$(value want.table peak)" \
			"$(json peak_live_objects) $(json peak_live_bytes)"
		check "$name: unfreed" \
			"$(value want.table unfreed | cut -d " " -f 1)" \
			"$(json end_live_objects)"
	else
		check_one_line "$name: info" \
			"hatf info: $name.trace: offset 0x4ff*: thread: *"
	fi

	# mptrace's text has the same events, without threads and places.
	bare "$name.trace" >from_trace
	check "$name: bare" $? "$want"
	bare want.hatf >from_text
	check "$name: text" $? 0
	cmp from_trace from_text >&2 || fail "$name: text"

	# hatf writes the same text as mptrace, byte for byte, and reads it.
	run "$HATF" convert --to mptrace "$name.trace" "$name.hatf"
	check_status "$name: to mptrace" "$want"
	cmp "$name.hatf" want.hatf >&2 || fail "$name: text"
	mkdir -p again
	run "$HATF" convert "$name.hatf" again/x.hatf.gz
	check_status "$name: from mptrace" 0
	check_silent "$name: from mptrace"
	run "$HATF" convert --to mptrace again/x.hatf.gz again/y
	check_status "$name: to mptrace again" 0
	cmp "$name.hatf" again/y >&2 || fail "$name: text, there and back"

	# A conversion to HATF and back changes nothing for mptrace and hatf.
	run "$HATF" convert "$name.trace" x.hatf.gz
	check_status "$name: to hatf" "$want"
	run "$HATF" convert --to mptrace x.hatf.gz "$name.hatf"
	cmp "$name.hatf" want.hatf >&2 || fail "$name: text of HATF"
	run "$HATF" convert x.hatf.gz x.mtrc
	check_status "$name: back" "$want"
	# The bytes are the same, up to the truncated record: indexes, names and
	# their places.
	if [ "$want" = 0 ]; then
		cmp "$name.trace" x.mtrc >&2 ||
			fail "$name: back: other bytes"
	else
		nbytes=$(stat -c %s x.mtrc)
		cmp -n "$nbytes" "$name.trace" x.mtrc >&2 ||
			fail "$name: back: other bytes"
		check "$name: bytes missing" \
			"$(($(stat -c %s "$name.trace") - nbytes))" 5
	fi
	run "$HATF" convert x.mtrc y.hatf.gz
	run "$HATF" convert y.hatf.gz y.mtrc
	cmp x.mtrc y.mtrc >&2 || fail "$name: a second time"
	[ "$want" = 1 ] || {
		run "$HATF" verify x.hatf.gz
		check_status "$name: verify" 0
	}
}

# bare FILE: print the records without the fields that the text lacks.
bare()
{
	"$HATF" convert --drop thread,attributes,comment --to ascii --plain \
		"$1" out.ascii 2>err
	local status=$?

	grep -v '^10 HATF' out.ascii
	return $status
}

# json KEY: print a number of 'hatf info'.
json()
{
	sed -nE "s/.*\"$1\":([0-9]+).*/\1/p" info
}

for trace in "$data"/*.trace*; do
	name=${trace##*/}
	known "${name%.trace*}"
done

# ------------------------------------------------------------------- sinks
# A HATF trace with everything that mpatrol's format cannot store.
long=$(printf 'x%.0s' {1..1100})
{
	header pid=4242
	layout
	comment 'HATF frame\nframe=1\nfunction=main\nfile=a.c\nline=7\n'
	comment 'HATF frame\nframe=2\nfunction='"$long"'\nobject=/bin/app\n'
	comment 'HATF frame\nframe=3\nfunction=main\nfile=a.c\nline=8\n'
	comment 'HATF stack\nstack=1\nparent=0\nframe=1\n'
	comment 'HATF stack\nstack=2\nparent=1\nframe=2\n'
	comment 'HATF stack\nstack=3\nparent=2\nframe=3\n'
	alloc 24 0x1000 0 0 1 '\x45\x01'
	alloc 0 0x2000 0 0 2 '\x01\x45\x02'
	alloc 4294967295 0 0 0 3
	thread_event 8 1 4 '\x42\x00\x81\x02a"'
	resize 2 32 0x1000 0x1000 1 0 5 '\x45\x03'
	resize 2 99 0x1000 0 1 0 6
	resize 3 48 0x1000 0x3000 1 0 7 '\x45\x03'
	alloc 48 0x3000 1 0 7
	free 0x1000 1 0 7
	resize 4 7 0 0x1000 1 0 8
	alloc 7 0x1000 1 0 8
	comment 'odd'
	free 0x9000 0 0 9
	resize 2 5 0x9100 0x9100 0 0 9
	free 0x9100 0 0 9
	heap_event 6 3 0 10
	alloc 8 0x3000 0 3 10
	alloc 9 0x7000 0 3 10
	heap_event 7 3 0 11
	resize 5 0 0x1000 0 0 0 12
	free 0x1000 0 0 12
	thread_event 9 1 13
	free 0x3000 0 0 14 '\x45\x01'
} >ours.hatf
trailer ours.hatf 14 30 complete=1 end=exit lost=0 threads=2
run "$HATF" convert ours.hatf ours.mtrc
check_status 'ours: to mtrc' 0
mptrace table ours.mtrc >table || fail 'ours: mptrace'
# The output lacks failed calls, frees of unknown blocks, and a pool's block
# inside another one.  A name above mptrace's limit is truncated.
sed '1,2d; /^$/,$d' table | tr -s ' ' | sed "s/${long:77}\$/.../" >got
check_text 'ours: table' got <<'END'
 1 alloc 1 0x0000000000001000 24 1 24
 in main at a.c line 7
 2 alloc 2 0x0000000000002000 0 2 24
 in ...
 3 realloc 1 0x0000000000001000 32 2 32
 thread 1 in main at a.c line 8
 4 realloc 1 0x0000000000003000 48 2 48
 thread 1 in main at a.c line 8
 5 alloc 3 0x0000000000001000 7 3 55
 thread 1
 6 alloc 4 0x0000000000009100 5 4 60
 7 free 4 0x0000000000009100 5 1 3 55
 8 alloc 5 0x0000000000007000 9 4 64
 9 free 5 0x0000000000007000 9 1 3 55
 10 free 3 0x0000000000001000 7 5 2 48
 11 free 1 0x0000000000003000 48 10 1 0
 in main at a.c line 7
END
run "$HATF" convert --drop attributes,comment --to ascii ours.mtrc -
check_text 'ours: back' <(grep -v '^10 ' out) <<'END'
0 24 0x1000 0 0 0
0 0 0x2000 0 0 0
2 32 0x1000 0x1000 1 0 0
3 48 0x1000 0x3000 1 0 0
0 48 0x3000 1 0 0
1 0x1000 1 0 0
0 7 0x1000 1 0 0
0 5 0x9100 0 0 0
1 0x9100 0 0 0
0 9 0x7000 0 0 0
1 0x7000 0 0 0
1 0x1000 0 0 0
1 0x3000 0 0 0
END
run "$HATF" convert ours.hatf ours.mptrace
check_status 'ours: to mptrace' 0
check_text 'ours: text' ours.mptrace <<'END'
## Tracename: ours.mptrace
## Author: Unknown
## Date: Unknown
## DTDURL: hatf.dtd
## Description: Converted to HATF by hatf 0.1.0.

1 24 0x1000
1 0 0x2000
4 32 0x1000 0x1000
4 48 0x1000 0x3000
1 7 0x1000
2 0x9000
4 5 0x9100 0x9100
2 0x9100
1 9 0x7000
2 0x7000
2 0x1000
2 0x3000
END

# chosen VERSION: print the indexes of blocks in a trace whose comments request
# indexes.  A request is ignored if the index is not above all earlier ones, is
# in use, or leaves none for later blocks.  Early versions may use an index
# again.
chosen()
{
	{
		header "mtrc_version=$1"
		layout
		comment 'HATF mtrc\nindex=5\n'
		alloc 1 0x1000 0 0 1
		comment 'HATF mtrc\nindex=5\n'
		alloc 1 0x2000 0 0 1
		comment 'HATF mtrc\nindex=18446744073709551615\n'
		alloc 1 0x3000 0 0 1
		comment 'HATF mtrc\nindex=six\n'
		free 0x2000 0 0 1
		comment 'HATF mtrc\nindex=6\n'
		comment 'remark'
		alloc 1 0x2000 0 0 1
		comment 'HATF mtrc\nindex=6\n'
		alloc 1 0x4000 0 0 1
		comment 'HATF mtrc\nindex=9\n'
		free 0x2000 0 0 1
		alloc 1 0x2000 0 0 1
	} >chosen.hatf
	trailer chosen.hatf 8 17
	run "$HATF" convert chosen.hatf chosen.mtrc
	check_status "chosen $1" 0
	mptrace table chosen.mtrc | sed '1,2d; /^$/,$d' |
		awk '{ printf("%s%s ", substr($2, 1, 1), $3) }'
}
check 'chosen' "$(chosen 10501)" 'a5 a6 a7 f6 a8 a9 f8 a10 '
check 'chosen, early' "$(chosen 10300)" 'a5 a6 a7 f6 a6 a8 f6 a9 '

# An incomplete trace has no trailer; an empty one is a header and a trailer.
head -c 900 ours.hatf >cut.hatf
run "$HATF" convert cut.hatf cut.mtrc
check_status 'cut' 1
run "$HATF" info cut.mtrc
check_status 'cut: info' 1
check_one_line 'cut: info' '*: the trailer is missing: *'
header >empty.hatf
trailer empty.hatf 0 1
run "$HATF" convert empty.hatf empty.mtrc
check_status 'empty' 0
check 'empty' "$(od -An -tx1 -v empty.mtrc | tr -d ' \n')" \
	4d54524301000000000000000529000000000000'4d545243'
run "$HATF" info empty.mtrc
check_status 'empty: info' 0

# ------------------------------------------------------------- mptrace's text
# said PATTERN TEXT: 'hatf info' reports the malformed TEXT.
said()
{
	# shellcheck disable=SC2059
	printf "## Tracename: x\n\n$2" >bad.mptrace
	run "$HATF" info bad.mptrace
	check_status "$2" 1
	check_one_line "$2" \
		"hatf info: bad.mptrace: line 3, offset 0x11, record 0: $1"
}
said 'tag: malformed' '0 1 0x10\n'
said 'tag: malformed' '7\n'
said 'tag: malformed' 'x\n'
said 'size: malformed' '1\n'
said 'size: malformed' '1 -1 0x10\n'
said 'address: malformed' '1 1 0x10000000000000000\n'
said 'address: malformed' '4 1 0x10\n'
said 'old_address: malformed' '4 1 x 0x10\n'
said 'line: malformed' '2 0x10 0x20\n'
said '*the trace is truncated*' '2 0x10'

# Each realloc of Meta-TF 1.2, with and without the records that it announces.
{
	echo '## Author: A. Nobody'
	echo '## Tracename: by hand'
	echo '## DTDURL: no.dtd'
	echo '1 8 16'
	echo '3 9 0x10 0x10'
	echo '4 10 0x10 0x20'
	echo '1 10 0x20'
	echo '2 0x10'
	echo '# a remark'
	echo '5 1 0 0x10'
	printf '3 7 0x10 0\r\n'
	echo '6 0 0x10 0'
	echo '2 0x10'
	echo '4 11 0x20 0x20'
	echo '2 0x20'
} >hand.mptrace
bare hand.mptrace >got
check_text 'by hand' got <<'END'
0 8 0x10 0 0
2 9 0x10 0x10 0 0
3 10 0x10 0x20 0 0
0 10 0x20 0 0
1 0x10 0 0
4 1 0x0 0x10 0 0
0 1 0x10 0 0
2 7 0x10 0x0 0 0
5 0 0x10 0x0 0 0
1 0x10 0 0
2 11 0x20 0x20 0 0
1 0x20 0 0
END
run "$HATF" convert hand.mptrace hand.hatf
run "$HATF" verify hand.hatf
check_status 'by hand: verify' 0
run "$HATF" convert --to mptrace hand.hatf -
check_text 'by hand: again' out <<'END'
## Tracename: by hand
## Author: A. Nobody
## Date: Unknown
## DTDURL: no.dtd
## Description: Converted to HATF by hatf 0.1.0.

1 8 0x10
4 9 0x10 0x10
4 10 0x10 0x20
1 1 0x10
2 0x10
4 11 0x20 0x20
2 0x20
END

# A block that is freed twice, and a free of an unknown index.
{
	printf 'MTRC\1\0\0\0\0\0\0\0\x05\x29\0\0\0\0\0\0'
	printf 'A\1\x10\5\0\0\0\0F\1\0\0\0\0F\1\0\0\0\0F\7\0\0\0\0'
	printf 'A\2\x20\5\0\0\0\0MTRC'
} >unknown.mtrc
run "$HATF" convert unknown.mtrc unknown.hatf
check_status 'unknown index' 0
check_one_line 'unknown index' \
	'hatf convert: unknown.mtrc: 2 calls in an impossible order' \
	'(first at record 2, offset 0x22: free of an unallocated address);' \
	"see 'hatf verify'"
run "$HATF" verify unknown.mtrc
check 'unknown index: verify' "$(tail -1 out)" \
	'unknown.mtrc: not ok, 5 events, 2 violations'
run "$HATF" dump unknown.hatf
check 'unknown index: the address' \
	"$(grep -o 'addr=0x8[^ ]*' out | tr '\n' ' ')" \
	'addr=0x8000000000000001 addr=0x8000000000000007 '

finish
