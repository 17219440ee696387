#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# stacks.sh - stacks, names and lines survive each conversion
#
# Each format returns the call stacks, names and lines of real programs' traces,
# as far as the format keeps them.
#
# The traces are those of six programs, which heaptrack records with their
# stacks, and mpatrol's traces with places in the source.  The test compares the
# result call by call, and by heaptrack's own sums.
. "$(dirname "$0")/lib.sh"
need heaptrack heaptrack_print perl sqlite3 gawk

data=$CAPTURE/../data/foreign/mtrc
names=

# record NAME COMMAND...: record it with heaptrack.
record()
{
	local name=$1

	shift
	heaptrack -o "$name" "$@" >said 2>&1 </dev/null
	"$HATF" convert "$name".zst "$name.hatf" 2>err ||
		fail "$name: $(cat said err)"
	names+=" $name"
}

record awk gawk 'BEGIN { for (i = 0; i < 500; i++) a[i % 50] = a[i % 50] i }'
record perl perl -e '$x{$_ % 77} .= "x$_" for 1 .. 2000; print scalar keys %x'
text='create table t(a); insert into t values (1), (2);'
record sqlite sqlite3 :memory: "$text select sum(a) from t"
# Sorted runs are merged: this needs many blocks with any sort.
seq 20000 >numbers
record sort sort -r -S 64K numbers
record ls ls -l /etc
record python "$PYTHON" -S -E -c 'print(sorted(str(i) for i in range(200))[0])'
for name in cfrac-64le p2-64le-threads p3-64le-namecache; do
	gzip -dcf "$data/$name".trace* >"$name.trace"
	"$HATF" convert "$name.trace" "$name.hatf" || fail "$name: hatf"
	names+=" $name"
done

# sums FILE: print heaptrack's figures for each place, except the memory of the
# system.
sums()
{
	heaptrack_print --print-leaks 1 -n 1000000 -s 1000000 "$1" 2>err |
		sed -E '/^(reading file|peak RSS|total runtime)/d
			s/^((calls to|temporary).*) \([0-9.e+]+\/s\)/\1/' | sort
}

"$HATF" formats --json | "$PYTHON" -c 'import json, sys
for line in sys.stdin:
    f = json.loads(line)
    if f["reads"] and f["writes"] and not f["foreign"]:
        print(f["name"])' >ours
check_ge 'formats of ours' "$(wc -l <ours)" 8

# told FILE: print its records and the definitions of stacks, without those
# comments that differ between files.
told()
{
	"$HATF" dump --meta --format json "$1" |
		grep -v '"text":"HATF \(1.0\|block\|end\)\\n'
}

# through NAME FORMAT: convert to FORMAT and back.
through()
{
	"$HATF" convert --to "$2" "$1.hatf" there 2>err ||
		fail "$1 through $2: $(cat err)"
	"$HATF" convert --from "$2" there back.hatf 2>err ||
		fail "$1 through $2, back: $(cat err)"
	"$HATF" verify back.hatf >err 2>&1 || fail "$1 through $2: $(cat err)"
	told back.hatf >after
}

for name in $names; do
	"$HATF" verify "$name.hatf" >err || fail "$name: $(cat err)"
	told "$name.hatf" >before
	while read -r format; do
		through "$name" "$format"
		cmp -s before after || fail "$name through $format: differs"
	done <ours
	others='memtrace heaptrack'
	[ ! -e "$name.trace" ] || others+=' mtrc'
	for format in $others; do
		through "$name" "$format"
		"$PYTHON" "$CAPTURE/shared/kept_stacks.py" "$format" \
			before after >said ||
			fail "$name through $format: $(cut -c 1-400 said)"
		check_ge "$name through $format: stacks" "$(cat said)" 9
	done
	if [ -e "$name.zst" ]; then
		"$HATF" convert --to heaptrack "$name.hatf" there 2>err
		sums "$name.zst" >want
		[ -s want ] || fail "$name: $(cat err)"
		sums there | diff want - >said ||
			fail "$name: heaptrack's sums: $(head -5 said)"
	fi
done
finish
