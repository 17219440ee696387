#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# heaptrack.sh - heaptrack_print reads the converted recordings
#
# heaptrack_print computes the same figures as hatf from converted traces of
# real programs.  A round trip through heaptrack's format loses nothing that the
# format has.
. "$(dirname "$0")/lib.sh"
need heaptrack_print perl sqlite3 gawk

# figure KEY: print a number from 'hatf info'.
figure()
{
	"$HATF" info --json t.hatf.gz | sed -nE "s/.*\"$1\":([0-9]+).*/\1/p"
}

# nbytes N: print N as heaptrack_print does.
nbytes()
{
	awk -v n="$1" 'BEGIN {
		split("B K M G", unit, " ")
		for (u = 1; n >= 1000 && u < 4; u++) n /= 1000
		printf(u == 1 ? "%d%s\n" : "%.2f%s\n", n, unit[u]) }'
}

printed()
{
	sed -nE "s/^$1: ([^ ]*).*/\1/p" print
}

# events FILE: print each block's birth and death, by its size, in order.
events()
{
	"$HATF" dump --format ascii "$1" 2>err | awk '
		$1 == 0 { print "+", $2; size[$3] = $2 }
		$1 == 1 && $2 in size { print "-", size[$2]; delete size[$2] }'
}

# logical: the same for a trace of the recorder, where a realloc is one event.
logical()
{
	"$HATF" dump --format ascii t.hatf.gz | awk '
		function die(a) {
			if (a in size) print "-", size[a]
			delete size[a]
		}
		function live(a, n) { print "+", n; size[a] = n }
		$1 >= 2 && $1 <= 5 {
			new = $4; old = $3; parts = ($1 != 2) + ($1 == 3)
		}
		$1 == 2 && $4 != "0x0" { die($3); live($4, $2) }
		$1 == 3 || $1 == 4 { die($3); live($4, $2) }
		$1 == 5 { die($3) }
		$1 == 0 && parts && $3 == new { parts--; next }
		$1 == 1 && parts && $2 == old { parts--; next }
		$1 == 0 && $3 != "0x0" { live($3, $2) }
		$1 == 1 { die($2) }'
}

# through COMMAND...: record it, and check what heaptrack_print reads.
through()
{
	rm -f t.hatf.gz
	HATFTRACE_OUT=t.hatf.gz LD_PRELOAD=$SO "$@" >out 2>&1 </dev/null
	"$HATF" convert t.hatf.gz t.heaptrack.gz 2>err ||
		fail "$1: $(cat err)"
	heaptrack_print t.heaptrack.gz >print 2>err || fail "$1: $(cat err)"
	check "$1: command" "$(sed -n 's/^Debuggee command was: //p' print)" \
		"$("$HATF" info t.hatf.gz | sed -n 's/^  command  *//p')"
	check "$1: calls" "$(printed 'calls to allocation functions')" \
		"$(logical | grep -c '^+')"
	check "$1: peak" "$(printed 'peak heap memory consumption')" \
		"$(nbytes "$(figure peak_live_bytes)")"
	check "$1: leaked" "$(printed 'total memory leaked')" "$(nbytes \
		"$(logical | awk '{ n += $1 $2 } END { print n + 0 }')")"
	# Convert back: sizes and order are the same.
	"$HATF" convert t.heaptrack.gz back.hatf 2>err || fail "$1: $(cat err)"
	logical >want
	[ -s want ] || fail "$1: nothing recorded"
	events back.hatf | cmp -s - want || fail "$1: other events come back"
	check "$1: violations" \
		"$("$HATF" verify back.hatf | grep -c violations)" 0
}

text='[{str(i): [i] * 5} for i in range(2000)]'
through "$PYTHON" -c "import json; print(len(json.dumps($text)))"
through perl -e '$x{$_ % 777} .= "x$_" for 1 .. 20000; print scalar keys %x'
text='create table t(a); with recursive c(x) as'
text+=' (select 1 union all select x + 1 from c where x < 3000)'
text+=' insert into t select hex(x) from c; select count(distinct a) from t'
through sqlite3 :memory: "$text"
through gawk 'BEGIN { for (i = 0; i < 5000; i++) a[i % 500] = a[i % 500] i }'
through sort /etc/passwd /etc/group
through ls -lR /etc

finish
