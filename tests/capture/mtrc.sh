#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# mtrc.sh - mptrace reads the converted recordings with the same figures
#
# mptrace computes the same figures as hatf from converted traces of real
# programs.  Round trips through mpatrol's format and through mptrace's text
# lose nothing that these formats have.
. "$(dirname "$0")/lib.sh"
need perl sqlite3 gawk

# figure KEY: print a number from 'hatf info'.
figure()
{
	"$HATF" info --json t.hatf.gz | sed -nE "s/.*\"$1\":([0-9]+).*/\1/p"
}

# printed NAME: print count and bytes, as mptrace printed them.
printed()
{
	sed -nE "s/^$1: +([0-9]+) \(([0-9]+) bytes?\)/\1 \2/p" print
}

# records FILE [COLUMN]: print the records that the format can hold.  It has an
# alloc or a free in place of a realloc from or to nothing, which the trace has
# beside the realloc, and it has no failed calls.
records()
{
	"$HATF" convert --drop time,heap,attributes,comment"${2:+,$2}" \
		--to ascii --plain "$1" records.ascii 2>err
	gawk '$1 == 10 || $1 == 4 || $1 == 5 || $1 > 5 { next }
		($1 == 0 && $3 == "0x0") || ($1 == 2 && $4 == "0x0") { next }
		{ print }' records.ascii
}

# through COMMAND...: record it, convert the trace and compare.
through()
{
	rm -f t.hatf.gz
	HATFTRACE_OUT=t.hatf.gz LD_PRELOAD=$SO "$@" >out 2>&1 </dev/null
	"$HATF" convert t.hatf.gz t.mtrc 2>err || fail "$1: $(cat err)"
	"$PYTHON" "$CAPTURE/../cli/mptrace.py" stats t.mtrc >print ||
		fail "$1: mptrace"
	check "$1: peak" "$(printed peak)" \
		"$(figure peak_live_objects) $(figure peak_live_bytes)"
	check "$1: unfreed" "$(printed unfreed | cut -d ' ' -f 1)" \
		"$(figure end_live_objects)"
	records t.hatf.gz >want
	[ -s want ] || fail "$1: nothing recorded"
	"$HATF" convert t.mtrc back.hatf.gz || fail "$1: back"
	records back.hatf.gz | cmp - want || fail "$1: mtrc: other records"
	check "$1: violations" \
		"$("$HATF" verify back.hatf.gz | grep -c violations)" 0
	# A second conversion makes the same file, byte for byte.
	"$HATF" convert back.hatf.gz again.mtrc
	cmp t.mtrc again.mtrc || fail "$1: mtrc: another file"

	"$HATF" convert t.hatf.gz t.mptrace 2>err || fail "$1: $(cat err)"
	"$HATF" convert t.mptrace text.hatf.gz || fail "$1: text back"
	records t.hatf.gz thread >want
	records text.hatf.gz thread | cmp - want ||
		fail "$1: text: other records"
}

through "$PYTHON" -c '
import json, threading
def work(n):
    json.dumps([{str(i): [i] * 5} for i in range(n)])
threads = [threading.Thread(target=work, args=(500,)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()'
through perl -e '$x{$_ % 777} .= "x$_" for 1 .. 20000; print scalar keys %x'
text='create table t(a); with recursive c(x) as'
text+=' (select 1 union all select x + 1 from c where x < 3000)'
text+=' insert into t select hex(x) from c; select count(distinct a) from t'
through sqlite3 :memory: "$text"
through gawk 'BEGIN { for (i = 0; i < 5000; i++) a[i % 500] = a[i % 500] i }'
through sort /etc/passwd /etc/group
through ls -lR /etc

finish
