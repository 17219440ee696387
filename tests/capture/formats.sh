#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# formats.sh - a real trace survives each format and the way back
#
# A conversion to a format and back returns the fields that the format keeps.
# The conversion reports the fields that the format does not keep.
. "$(dirname "$0")/lib.sh"
need perl awk sort sqlite3 gzip

# The traces must fit into each format: a thread or two, reallocations, a few
# megabytes.
seq 1 3000 | awk '{ print $1 * 7919 % 3001, $1 }' >numbers
record()
{
	local name=$1

	shift
	trace "$name.hatf" "$@" >/dev/null 2>&1
	[ -s "$name.hatf" ] || fail "$name: no trace"
}
export HATFTRACE_CLOCK=us
record awk awk '{ a[$1] = a[$1] $2 } END { print length(a) }' numbers
record sort sort -n numbers
record perl perl -e 'push @a, "x" x ($_ % 300) for 1..5000; print scalar @a'
record sqlite sqlite3 :memory: 'create table t(a, b);
	with recursive c(i) as
		(select 1 union all select i + 1 from c where i < 2000)
	insert into t select i, hex(randomblob(i % 90)) from c;
	select sum(length(b)) from t;'
record ls ls -lR /etc
record python "$PYTHON" -c 'import threading, json
def work():
    for i in range(200): json.dumps({"k": list(range(i))})
ts = [threading.Thread(target=work) for i in range(3)]
[t.start() for t in ts]; [t.join() for t in ts]'
unset HATFTRACE_CLOCK

# Formats that hatf reads and writes: "NAME foreign KEEPS".
"$HATF" formats --json | "$PYTHON" -c 'import json, sys
for line in sys.stdin:
    f = json.loads(line)
    if f["reads"] and f["writes"]:
        print(f["name"], int(f["foreign"]), ",".join(f["keeps"]))' >formats
check_ge 'formats' "$(wc -l <formats)" 8

# unit TRACE: print the unit of its times.
unit()
{
	"$HATF" dump --meta --count 1 "$1" | grep -o 'unit=[a-z]*' |
		cut -d = -f 2
}

for trace in awk sort perl sqlite ls python; do
	"$HATF" dump --format json "$trace.hatf" >before.json
	while read -r format foreign keeps; do
		what="$trace through $format"
		"$HATF" convert --to "$format" "$trace.hatf" there 2>err ||
			fail "$what: $(cat err)"
		"$HATF" convert --from "$format" there back.hatf 2>err.back ||
			fail "$what, back: $(cat err.back)"
		"$HATF" dump --format json back.hatf >after.json
		if [ "$foreign" = 0 ]; then
			[ -s err ] && fail "$what: $(cat err)"
			cmp -s before.json after.json || fail "$what: differs"
			continue
		fi
		# 'android' keeps all fields of these programs but the
		# attributes.
		if [ "$format" != android ] ||
			grep -q '"attributes"' before.json; then
			check "$what: lines said" "$(wc -l <err)" 1
			grep -q "there: format $format does not keep: " err ||
				fail "$what: $(cat err)"
		fi
		"$PYTHON" "$CAPTURE/shared/kept.py" "$keeps" before.json \
			after.json "$(unit back.hatf)" >said ||
			fail "$what: $(cat said)"
	done <formats
done
finish
