#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mtrc.sh - mpatrol's traces and mptrace's HATF text are what mptrace makes of them
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'
data=$CLI/../data/foreign/mtrc

# mptrace WHAT FILE: as that program reads it
mptrace()
{
	python3 "$CLI/mptrace.py" "$@"
}

# Without the allocation indexes, of which only that they are different counts.
without_index()
{
	tr -s ' ' | sed -E 's/^ ?([0-9]+ (alloc|realloc|free)) [0-9]+ /\1 - /'
}

# And without the ages, which mptrace counts from the first use of an index.
without_age()
{
	without_index | sed -E 's/^([0-9]+ free .*) [0-9]+( [0-9]+ [0-9]+)$/\1 -\2/'
}

# What mptrace's table says of each event, out of our JSON.
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

# The part of the table that rows.py prints.
rows_of_table()
{
	sed '1,2d; /^$/,$d' | without_age
}

# value FILE NAME: a number of mptrace's statistics, "count nbytes"
value()
{
	sed -nE "s/^$2: +([0-9]+) \(([0-9]+) bytes?\)/\1 \2/p" "$1"
}

# known NAME: one of the traces
known()
{
	local name=$1 word=64 want=0

	case $name in *32?e* | cc1 | gcc) word=32 ;; esac
	case $name in *-notrailer) want=1 ;; esac
	zcat -f "$data/$name".trace* >"$name.trace"
	zcat "$data/$name.vs.txt.gz" >want.table
	zcat "$data/$name.hatf.gz" >want.hatf

	# The judge says what the real program said.
	mptrace table "$name.trace" >got 2>/dev/null
	cmp got want.table >&2 || fail "$name: mptrace.py: table"
	mptrace hatf "$name.trace" "$name.hatf" >got 2>/dev/null
	cmp got want.hatf >&2 || fail "$name: mptrace.py: HATF"

	# Our reading is the table.
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
		check "$name: unfreed" "$(value want.table unfreed | cut -d " " -f 1)" \
			"$(json end_live_objects)"
	else
		check_one_line "$name: info" "hatf info: $name.trace: offset 0x4ff*: thread: *"
	fi

	# mptrace's text says the same, but for threads and places.
	bare "$name.trace" >from_trace
	check "$name: bare" $? "$want"
	bare want.hatf >from_text
	check "$name: text" $? 0
	cmp from_trace from_text >&2 || fail "$name: text"
}

# bare FILE: its records without what the text has no room for
bare()
{
	"$HATF" convert --drop thread,attributes,comment --to ascii --plain \
		"$1" out.ascii 2>err
	local status=$?

	grep -v '^10 HATF' out.ascii
	return $status
}

# json KEY: a number of 'info'
json()
{
	sed -nE "s/.*\"$1\":([0-9]+).*/\1/p" info
}

for trace in "$data"/*.trace*; do
	name=${trace##*/}
	known "${name%.trace*}"
done

finish
