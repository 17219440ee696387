#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# forks.sh - a forked child has a trace of its own, which names its parent
. "$(dirname "$0")/lib.sh"

# events_until_mark FILE SIZE: count the logical events up to the first free
# that follows an allocation of SIZE, including that free.
events_until_mark()
{
	events "$1" | awk -v size="$2" '
	skip > 0 { skip--; next }
	{ n++ }
	$1 == "reallocAllocFree" { skip = 2 }
	$1 == "reallocAlloc" || $1 == "reallocFree" { skip = 1 }
	seen { print n; exit }
	$1 == "alloc" && $2 == size { seen = 1 }'
}

# live_after FILE N: count the blocks that are live after N logical events, by
# awk alone.
live_after()
{
	"$HATF" dump "$1" | awk -v want="$2" '
	$2 !~ /^(alloc|free|realloc)/ { next }
	skip == 0 && count == want { exit }
	{
		v["old"] = v["addr"] = ""
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
	}
	$2 == "free" && (v["addr"] in live) { n--; delete live[v["addr"]] }
	$2 == "alloc" && v["addr"] != "0x0" { n++; live[v["addr"]] }
	skip > 0 { skip--; next }
	{ count++ }
	$2 == "reallocAllocFree" { skip = 2 }
	$2 == "reallocAlloc" || $2 == "reallocFree" { skip = 1 }
	END { print n + 0 }'
}

# start WAY: run it, wait for all its descendants, check every trace.
start()
{
	rm -rf tally tally.traces
	{
		trace_tallied tally "$PROGS/lifecycle" "$1" 9>&1 >out 2>err
		echo $? >status
	} | cat
	check "$1: status" "$(cat status)" 0
	[ -s err ] && fail "$1: stderr: $(cat err)"
	clean tally.traces/*
	compare_tallies tally
}

# Split the traces into the first ancestor's, 'parent', and its 'children'.
sort_traces()
{
	local trace
	parent=
	children=()
	for trace in tally.traces/*; do
		if [ -n "$(header "$trace" parent_pid)" ]; then
			children+=("$trace")
		else
			parent=$trace
		fi
	done
}

# one_child WAY EXACT EVENTS: one child of a process that does nothing else
# meanwhile.
one_child()
{
	local way=$1 exact=$2 child forked
	start "$way"
	sort_traces
	check "$way: children" "${#children[@]}" 1
	child=${children[0]:-none}
	check "$way: parent_pid" "$(header "$child" parent_pid)" \
		"$(header "$parent" pid)"
	check "$way: parent_trace" "$(basename "$(header "$child" \
		parent_trace)")" "$(basename "$parent")"
	forked=$(events_until_mark "$parent" 30001)
	check "$way: parent_event" "$(header "$child" parent_event)" "$forked"
	[ -z "$exact" ] || check "$way: parent_event_exact" \
		"$(header "$child" parent_event_exact)" "$exact"
	check "$way: child's events" "$(info "$child" events)" "$3"
}

# noted WAY: the parent's trace has a note of the fork, with the number that the
# child has.
noted()
{
	local note
	note=$(plain "$parent" | grep -a -A 5 'HATF fork$' | tr -d '\0')
	check "$1: forks noted" "$(grep -a -c '^forked=1$' <<<"$note")" 1
	check "$1: numbers" "$(sed -n 's/^fork=//p' <<<"$note" | tr '\n' ' ')" \
		"1 1 "
	check "$1: number in the child" \
		"$(header "${children[0]}" parent_fork)" 1
	check "$1: event in the note" \
		"$(sed -n 's/^event=//p' <<<"$note" | head -n 1)" \
		"$(header "${children[0]}" parent_event)"
}

one_child fork 1 500
noted fork
# The child makes 500 events of its own; the destructor makes 10.
one_child fork-exit 1 510
one_child daemon 1 510
one_child fork-in-thread '' 500
noted fork-in-thread

# A clone() by its number runs no handlers, neither the recorder's nor those of
# 'tally', but it calls syscall(), which the recorder interposes.
rm -rf tally tally.traces
mkdir tally.traces
trace "$TMP/tally.traces/t.%p.hatf.gz" "$PROGS/lifecycle" fork-raw
check "fork-raw: status" $? 0
clean tally.traces/*
sort_traces
child=${children[0]:-none}
check "fork-raw: parent's events" "$(info "$parent" events)" 1004
check "fork-raw: child's events" "$(info "$child" events)" 500
check "fork-raw: parent_pid" "$(header "$child" parent_pid)" \
	"$(header "$parent" pid)"
check "fork-raw: parent_event_exact" "$(header "$child" parent_event_exact)" 1
check "fork-raw: parent_event" "$(header "$child" parent_event)" 1002

# _Fork() runs no handlers either; the recorder interposes it, too.
rm -rf tally.traces
mkdir tally.traces
trace "$TMP/tally.traces/t.%p.hatf.gz" "$PROGS/lifecycle" fork-async
check "fork-async: status" $? 0
clean tally.traces/*
sort_traces
child=${children[0]:-none}
check "fork-async: parent's events" "$(info "$parent" events)" 1014
check "fork-async: child's events" "$(info "$child" events)" 500
check "fork-async: parent_event" "$(header "$child" parent_event)" 1002
check "fork-async: heritage" "$(info "$child" heritage)" exact
noted fork-async

start fork-silent
sort_traces
check "fork-silent: traces of children" "${#children[@]}" 0

start fork-threads
sort_traces
check "fork-threads: threads of the child" \
	"$(info "${children[0]:-none}" threads)" 2

# The child frees blocks that it inherited, which is no violation.
start fork-inherit
sort_traces
check "fork-inherit: inherited" \
	"$("$HATF" verify --json "${children[0]:-none}" |
		sed -n 's/.*"inherited": *\([0-9]*\).*/\1/p')" 1000
check "fork-inherit: heritage" "$(info "${children[0]:-none}" heritage)" exact
check "fork-inherit: live at the start" \
	"$(info "${children[0]:-none}" start_live_objects)" \
	"$(live_after "$parent" \
		"$(header "${children[0]:-none}" parent_event)")"

start fork-double
sort_traces
check "fork-double: children" "${#children[@]}" 2

start fork-storm
sort_traces
check "fork-storm: children" "${#children[@]}" 70

start fork-thread-storm
sort_traces
check "fork-thread-storm: children" "${#children[@]}" 40
# A child without events passes on its parent's state, dormant or not.  A child
# of a process that could not be traced may be traced, however it was forked.
${CC:-cc} -O1 -fno-builtin -o forkline "$CAPTURE/shared/forkline.c" ||
	fail 'cannot build forkline'
for ways in f r ff fr rf fff; do
	mkdir "line-$ways" "asleep-$ways"
	trace "$TMP/line-$ways/%p.hatf.gz" ./forkline $ways made-$ways ||
		fail "forkline $ways: status"
	check "forkline $ways: traces" \
		"$(find "line-$ways" -name '*.gz' | wc -l)" 2
	HATFTRACE_START=off trace "$TMP/asleep-$ways/%p.hatf.gz" \
		./forkline $ways made-$ways || fail "forkline $ways: status"
	check "forkline $ways, dormant: files" \
		"$(find "asleep-$ways" -type f | wc -l)" 0
	# The folder of the trace does not exist when the trace begins.
	HATFTRACE_BEGIN=now trace "$TMP/late-$ways/%p.hatf.gz" \
		./forkline $ways late-$ways \
		2>late.err || fail "forkline $ways: status"
	check "forkline $ways, untraced: traces" \
		"$(find "late-$ways" -name '*.gz' | wc -l)" 1
	clean "line-$ways"/*.gz "late-$ways"/*.gz
done

# A handler interrupts a fork, and forks.
${CC:-cc} -O1 -fno-builtin -o reforkers "$CAPTURE/shared/reforkers.c" ||
	fail 'cannot build reforkers'
mkdir reforkers.traces
trace "$TMP/reforkers.traces/%p.hatf.gz" timeout -s KILL 100 ./reforkers >out
check "reforkers: status" "$?" 0
check "reforkers: output" "$(cat out)" "done"
clean reforkers.traces/*
finish
