#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# threads.sh - threads are in the trace as they were in the program
. "$(dirname "$0")/lib.sh"

# threads_of FILE: print a line for each thread of interest:
#
#	SIZE NUMBER TID START PARENT FIRST LAST CREATED DESTROYED
#
# FIRST and LAST are the numbers of its first and last heap records.
threads_of()
{
	"$HATF" dump "$1" | awk '
	{
		delete v
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
		t = v["thread"]
	}
	$2 == "createThread" {
		created[t] = $1
		tid[t] = v["tid"]
		start[t] = "start" in v ? v["start"] : "0x0"
		parent[t] = "parent" in v ? v["parent"] : "-"
		next
	}
	$2 == "destroyThread" { destroyed[t] = $1; next }
	{
		if (!(t in first)) first[t] = $1
		last[t] = $1
	}
	$2 == "alloc" && v["size"] >= 10000 && v["size"] < 10100 {
		size[t] = v["size"]
	}
	END {
		for (t in created)
			print (t in size ? size[t] : "-"), t, tid[t], start[t],
				parent[t], first[t], last[t], created[t],
				(t in destroyed ? destroyed[t] : "-")
	}'
}

# field SIZE N: print a field of the thread that allocated SIZE, from
# 'threads.got'.
field()
{
	awk -v size="$1" -v n="$2" '$1 == size { print $n }' threads.got
}

number_of()
{
	if [ "$1" = 0 ]; then
		echo 0
	else
		field "$1" 2
	fi
}

rm -f trace.gz*
trace trace.gz "$PROGS/threads" >threads.want
check status $? 0
clean trace.gz
threads_of trace.gz >threads.got
want=$(wc -l <threads.want)
check "createThread records" "$(wc -l <threads.got)" "$want"
check "threads" "$(info trace.gz threads)" "$((want + 1))"
check "numbers are 1, 2, ..." "$(cut -d ' ' -f 2 threads.got | sort -n |
	tr '\n' ' ')" "$(seq -s ' ' "$want") "
# The program allocates this 0.3 s after it joined the first few threads.
now=$("$HATF" dump trace.gz | awk '/alloc size=20004 / { print $1 }')
while read -r _ kind size tid start parent_size end; do
	what="thread '$kind'"
	if [ "$kind" = silent ]; then
		check "$what: records" "$(awk -v tid="$tid" -v start="$start" \
			'$3 == tid && $4 == start && $9 != "-"' threads.got |
			wc -l)" 1
		continue
	fi
	[ -n "$(field "$size" 2)" ] || {
		fail "$what is not in the trace"
		continue
	}
	check "$what: tid" "$(field "$size" 3)" "$tid"
	case $kind in
	c11 | raw) ;;
	*)
		check "$what: start" "$(field "$size" 4)" "$start"
		check "$what: parent" "$(field "$size" 5)" \
			"$(number_of "$parent_size")"
		;;
	esac
	check_le "$what: created before its first event" \
		"$(field "$size" 8)" "$(field "$size" 6)"
	case $kind in
	return | exit | cancelled*)
		check_le "$what: known to have ended soon" \
			"$(field "$size" 9 | tr - 999999)" "$now" ;;
	esac
	case $end in
	ended) check_ge "$what: destroyed after its last event" \
		"$(field "$size" 9 | tr - 0)" "$(field "$size" 7)" ;;
	alive) check "$what: destroyed" "$(field "$size" 9)" - ;;
	esac
done <threads.want

# The trace has the events of late destructors, each with its thread.
late=$(awk '$2 == "late" { print $3 }' threads.want)
tls=$(awk '$2 == "tls" { print $3 }' threads.want)
late_events()
{
	"$HATF" dump trace.gz | grep -c "alloc size=$1 .*thread=$2 "
}
check "late allocation" "$(late_events 20000 "$(field "$late" 2)")" 1
check "late rounds" "$(late_events 20001 "$(field "$late" 2)")" 2
check "TLS allocation" "$(late_events 20002 "$(field "$tls" 2)")" 1
check "TLS destructor" "$(late_events 20003 "$(field "$tls" 2)")" 1

# Names are comments: HATF thread, then thread= and name=.
named=$(field "$(awk '$2 == "named" { print $3 }' threads.want)" 2)
plain trace.gz | grep -a -A 2 'HATF thread$' >names
grep -q "^thread=$named\$" names || fail "no name of thread $named"
check "first name" "$(grep -a -c '^name=early bird' names)" 1
check "second name" "$(grep -a -c '^name=renamed' names)" 1

# With each clock, the trace has exactly the calls that reached the allocator.
for clock in auto off coarse us ns; do
	HATFTRACE_CLOCK=$clock trace_tallied "tally-$clock" \
		"$PROGS/threads" >/dev/null
	check "status, clock $clock" $? 0
	clean "tally-$clock.traces"/*
	compare_tallies "tally-$clock"
done
finish
