#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# stacks.sh - stacks, names and lines survive each conversion
#
# Call stacks, names and lines of real programs' traces come through each
# format as they were, as far as it keeps them.
#
# heaptrack records six programs with their stacks, and mpatrol's traces have
# places in the source.  What comes back is compared call by call, and by
# heaptrack's own sums.
. "$(dirname "$0")/lib.sh"
need heaptrack heaptrack_print perl sqlite3 gawk

data=$CAPTURE/../data/foreign/mtrc
names=

# record NAME COMMAND...: by heaptrack
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
record sqlite sqlite3 :memory: 'create table t(a); insert into t values (1), (2); select sum(a) from t'
# Runs that are merged: many blocks, whatever libraries the machine's sort has.
seq 20000 >numbers
record sort sort -r -S 64K numbers
record ls ls -l /etc
record python "$PYTHON" -S -E -c 'print(sorted(str(i) for i in range(200))[0])'
for name in cfrac-64le p2-64le-threads p3-64le-namecache; do
	gzip -dcf "$data/$name".trace* >"$name.trace"
	"$HATF" convert "$name.trace" "$name.hatf" || fail "$name: hatf"
	names+=" $name"
done

# sums FILE: what heaptrack says of each place, but for the memory that the
# system gave
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

# told FILE: its records and what defines stacks, but not what each file has
# anew
told()
{
	"$HATF" dump --meta --format json "$1" |
		grep -v '"text":"HATF \(1.0\|block\|end\)\\n'
}

# through NAME FORMAT: to FORMAT and back
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
		"$PYTHON" "$CAPTURE/shared/kept_stacks.py" "$format" before after \
			>said || fail "$name through $format: $(cut -c 1-400 said)"
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
