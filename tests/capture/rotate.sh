#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# rotate.sh - a trace in segments says what a trace in one file says
#
# Each segment verifies alone and continues the one before.  Together they have
# the program's events.  Retention keeps the files within its bounds.  A kill at
# any moment leaves readable files.
. "$(dirname "$0")/lib.sh"
need python3 jq

# sum KEY FILE...: print the sum over the traces.
sum()
{
	local key=$1
	shift
	"$HATF" info --json "$@" | jq -s "map(.$key) | add"
}

# row WHAT FILE...: each file verifies alone and continues the one before.
row()
{
	local what=$1 file want=0
	shift
	clean "$@"
	for file; do
		check "$what: $file: events before" \
			"$(header "$file" events_before)" "$want"
		want=$((want + $(info "$file" events)))
	done
	"$HATF" verify --json "$@" >row.json || fail "$what: verify"
	check "$what: segments that do not go on" \
		"$(jq -c .goes_on row.json | tail -n +2 | sort -u)" true
}

# segments DIR LEAST: put its files into 'files', in order; there must be LEAST.
segments()
{
	files=("$1"/*.s[0-9]*.hatf.gz)
	check_ge "segments in $1" "${#files[@]}" "$2"
}

# Another library counts the events, in one process and in threads.
export HATFTRACE_ROTATE=64K
for program in "longrun 1000000" "torture 20 10 20000 0"; do
	name=${program%% *}
	# shellcheck disable=SC2086 # words
	trace_tallied "$name" "$PROGS"/$program >out || fail "$name: status"
	segments "$name.traces" 3
	row "$name" "${files[@]}"
	check "$name: events" "$(sum events "${files[@]}")" \
		"$(counted "$name"/*)"
done

# A segment's claims about the whole trace are true: sizes, loss, names.
last=${files[-1]}
check "bytes before" "$(header "$last" bytes_before)" \
	"$(stat -c %s "${files[@]}" | awk '{ n += $1 } END { print n }
	' | awk -v last="$(stat -c %s "$last")" '{ print $1 - last }')"
check "lost before" "$(header "$last" lost_before)" 0
check "previous" "$(header "$last" previous)" "$(basename "${files[-2]}")"
check "end of the last" "$(trailer "$last" end)" exit
check "end of the others" "$(trailer "${files[0]}" end)" rotate
check "start of all" "$(for f in "${files[@]}"; do
	header "$f" start_time
done | sort -u | wc -l)" 1

# A child names the segment that was current at the fork, and the event in it;
# the child's own segments continue each other.
mkdir forks
trace "$TMP/forks/f.%p.hatf.gz" "$PROGS/torture" 20 10 20000 6 >out ||
	fail "forks: status"
"$HATF" verify forks/* >row.out ||
	fail "forks: $(grep -v ': ok' row.out | head -n 5)"
children=0
for file in forks/*; do
	parent=$(header "$file" parent_trace)
	if [ -z "$parent" ] || [ "$(header "$file" segment)" != 0 ]; then
		continue
	fi
	children=$((children + 1))
	[ -e "$parent" ] || { fail "$file: no $parent"; continue; }
	# The event is inexact if the writer was starved.
	[ "$(header "$file" parent_event_exact)" = 1 ] || continue
	at=$(header "$file" parent_event)
	check_ge "$file: the fork at $at in $parent" \
		"$(plain "$parent" | grep -a -A 4 'HATF fork$' |
			grep -ac "^event=$at$")" 1
done
check "children" "$children" 6
segments=$(for file in forks/*; do header "$file" parent_trace; done |
	sort -u | wc -l)
check_ge "segments with forks" "$segments" 2

# Segments of children: each one knows the blocks inherited from the parent, by
# means of earlier segments and the parent's trace.
mkdir prefork
PYTHONMALLOC=malloc trace "$TMP/prefork/%e.%p.hatf.gz" "$PYTHON" -c '
import os
kept = [bytearray(i % 700) for i in range(20000)]
pids = []
for child in range(2):
	pid = os.fork()
	if pid == 0:
		for i in range(15):
			kept[i * 100 : i * 100 + 100] = [bytearray(i)] * 100
			x = [bytearray(j) for j in range(3000)]
		os._exit(0)
	pids.append(pid)
for pid in pids:
	os.waitpid(pid, 0)' || fail "prefork: status"
"$HATF" verify prefork/* >row.out || fail "prefork: $(grep -v ': ok' row.out)"
check "prefork: children whose heritage is not known" \
	"$(grep -c 'not known' row.out)" 0
check_ge "prefork: segments that have something from the parent" \
	"$(grep -c 'inherited from the parent' row.out)" 6

# Segments end although some fork is always under way.  A child whose fork began
# in one segment and ended in the next can be told from the others.
${CC:-cc} -O1 -fno-builtin -pthread -o forkers "$CAPTURE/shared/forkers.c" ||
	fail 'cannot build forkers'
mkdir forkers.traces
HATFTRACE_ROTATE=64K,1s trace "$TMP/forkers.traces/f.%p.hatf.gz" ./forkers \
	>out || fail "forkers: status"
check "forkers: largest segment" "$(find forkers.traces -size +2M | wc -l)" 0
check_ge "forkers: segments" \
	"$(find forkers.traces -name '*.s0002.hatf.gz' | wc -l)" 1
"$HATF" verify forkers.traces/* >row.out ||
	fail "forkers: $(grep -v ': ok' row.out | head -n 5)"
unset HATFTRACE_ROTATE

# 'hatf record' finds the segments of its command.
mkdir record && cd record || exit 1
"$HATF" record -r 64K -o 'x.%e.hatf.gz' -- "$PROGS/longrun" 1000000 \
	>out 2>err || fail "record: status"
n=$(find . -name 'x.*' | wc -l)
text="x.longrun.s$(printf %04d $((n - 1))).hatf.gz: 1 000 000 events in .*"
grep -q "$text in $n of $n segments, .*no events lost" \
	err || fail "record: $(cat err)"

# 'hatf record' distinguishes segments that somebody removed from those that
# --keep removed.
remove='import glob, os
for i in range(5):
	x = [bytes(600) for j in range(200000)]
	if i == 2:
		os.unlink(sorted(glob.glob("r.*.s0000.hatf"))[0])'
"$HATF" record -r 64K -z none -o 'r.%e.hatf' -- "$PYTHON" -c "$remove" \
	2>err || fail "removed: status"
grep -q ' segments, .*, 1 segment is GONE' err || fail "removed: $(cat err)"
rm -f r.*
"$HATF" record -r 64K -k 3 -z none -o 'r.%e.hatf' -- \
	"$PROGS/longrun" 1000000 >out 2>err || fail "kept: status"
grep -q ' in 3 of .* segments, .*, no events lost' err ||
	fail "kept: $(cat err)"

# The last segment may have only carried blocks; the reported duration is that
# of all segments.
"$HATF" record -r 64K -z none -o 'k.%e.hatf' -- "$PYTHON" -c "${remove%if*}
import signal
os.kill(os.getpid(), signal.SIGKILL)" 2>err
grep -q ' in 0 ns' err && fail "killed: $(cat err)"
cd ..

# Flight recorders: by number, by bytes; the bound holds at every moment.
watch_size()
{
	local most=0 now
	while kill -0 "$1" 2>/dev/null; do
		now=$(find "$2" -name '*.hatf.gz' -printf '%s\n' 2>/dev/null |
			awk '{ n += $1 } END { print n + 0 }')
		[ "$now" -le "$most" ] || most=$now
	done
	echo "$most"
}
mkdir keep3 keep512K
touch "keep3/k.s0001.hatf.gz" # a stranger's file in the way, not touched
for keep in 3 512K; do
	HATFTRACE_ROTATE=64K HATFTRACE_KEEP=$keep \
		trace "$TMP/keep$keep/k.hatf.gz" "$PROGS/longrun" 3000000 >out &
	most=$(watch_size $! keep$keep)
	wait $! || fail "keep $keep: status"
	rm -f keep3/k.s0001.hatf.gz
	echo "keep $keep: at most $most bytes"
	files=(keep"$keep"/*.hatf.gz*)
	row_files=("${files[@]}")
	clean "${row_files[@]}"
	"$HATF" verify --json "${row_files[@]}" >row.json
	check "keep $keep: goes on" \
		"$(jq -c .goes_on row.json | tail -n +2 | sort -u)" true
	check "keep $keep: events of all" "$(($(header "${files[-1]}" \
		events_before) + $(info "${files[-1]}" events)))" 3000000
	# The current block may exceed the bound.
	[ $keep = 3 ] || check_le "bytes kept" "$most" $(((512 + 128) * 1024))
	[ $keep = 512K ] || check "segments kept" "${#files[@]}" 3
done
finish
