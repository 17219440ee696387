#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# interrupted-segments.sh - segments, interrupted by kills, losses and renames
#
# Segments that end by time, a kill at any moment, dropped events, and a folder
# that is renamed, read-only or removed: each file can be read, its claims are
# true, and the program does not notice.
. "$(dirname "$0")/lib.sh"
need python3 jq

# violations FILE: of a trace that may be cut off or have lost events.
violations()
{
	"$HATF" verify --no-parent --json "$1" 2>/dev/null | jq .violations
}

# A segment ends by time if there are events: three seconds of work, then three
# of sleep.
mkdir timed
HATFTRACE_ROTATE=1s trace "$TMP/timed/t.hatf.gz" "$PYTHON" -c '
import time
end = time.time() + 3.5
while time.time() < end:
	x = [bytearray(100) for i in range(100)]
	time.sleep(0.01)
time.sleep(3)' || fail "timed: status"
files=(timed/*)
"$HATF" verify "${files[@]}" >out || fail "timed: $(cat out)"
check_ge "segments in 3.5 s" ${#files[@]} 3
check_le "segments in 3.5 s and 3 s of sleep" ${#files[@]} 6

# The file name has the segment's number at the requested place.
mkdir named
HATFTRACE_ROTATE=64K trace "$TMP/named/%s-%e.gz" "$PROGS/longrun" 500000 \
	>out || fail "named: status"
check names "$(cd named && printf '%s ' 0000-* 0001-*)" \
	"0000-longrun.gz 0001-longrun.gz "

# Killed at any moment, also while a segment ends.
mkdir killed
for ((i = 0; i < 15; i++)); do
	env HATFTRACE_ROTATE=64K HATFTRACE_KEEP=4 HATFTRACE_RINGS=none \
		HATFTRACE_OUT="$TMP/killed/k$i.hatf.gz" LD_PRELOAD="$SO" \
		"$PROGS/torture" 200 8 100000 0 >out 2>&1 &
	victim=$!
	sleep "0.$((3 + RANDOM % 6))$((RANDOM % 10))"
	kill -KILL $victim
	wait $victim 2>/dev/null
	files=(killed/k"$i".*)
	for ((n = 0; n < ${#files[@]}; n++)); do
		# Of the last two segments, one may be unfinished, and one may
		# have no content.
		[ $n -ge $((${#files[@]} - 2)) ] || clean "${files[n]}"
		[ ! -s "${files[n]}" ] || check "${files[n]}: violations" \
			"$(violations "${files[n]}")" 0
	done
	check_le "k$i: kept" ${#files[@]} 5
done

# With ring files nothing is lost: after recovery all segments are whole, and
# each continues the one before.  Once, the last one lacked the stacks of events
# whose definitions were in the rings before it began.
unsaved=0
stacks=(off on)
for ((i = 0; i < 12; i++)); do
	mkdir "saved$i"
	env HATFTRACE_ROTATE=64K HATFTRACE_KEEP=6 \
		HATFTRACE_STACKS="${stacks[i % 2]}" \
		HATFTRACE_OUT="$TMP/saved$i/k.hatf.gz" LD_PRELOAD="$SO" \
		"$PROGS/torture" 200 8 100000 0 >out 2>&1 &
	victim=$!
	sleep "0.$((3 + RANDOM % 6))$((RANDOM % 10))"
	kill -KILL $victim
	wait $victim 2>/dev/null
	# If the machine is busy, a new thread may get no ring in the file;
	# recovery then says that the trace is not complete.
	"$HATF" recover "saved$i" >out 2>&1 || {
		grep -q 'not complete' out || fail "saved$i: $(cat out)"
		echo "saved$i: $(cat out)"
		unsaved=$((unsaved + 1))
		continue
	}
	"$HATF" verify "saved$i"/*.hatf.gz >out 2>&1 ||
		fail "saved$i: $(grep -v ': ok' out)"
	check "saved$i: that do not go on" \
		"$(tail -n +2 out | grep -cv 'continues the file before it')" 0
	check "saved$i: ring files" "$(find "saved$i" -name '*.rings')" ""
done
check_le "saved: not complete" "$unsaved" 3

# Lost events make later segments uncertain, but not wrong.
mkdir lossy
PYTHONMALLOC=malloc HATFTRACE_COMPRESS=none HATFTRACE_FULL=drop \
	HATFTRACE_BUFFER=32K HATFTRACE_ROTATE=64K \
	trace "$TMP/lossy/l.hatf" "$PYTHON" -c '
import time
kept = [bytearray(i) for i in range(300)]
for i in range(300000):
	x = bytearray(10)
for i in range(800):
	kept[i % 300] = bytearray(i)
	x = [bytearray(j) for j in range(40)]
	time.sleep(0.004)' >out || fail "lossy: status"
doubtful=0
for file in lossy/*; do
	[ "$(trailer "$file" lost)" = 0 ] || continue
	check "$file: violations" "$(violations "$file")" 0
	[ "$(header "$file" lost_before)" = 0 ] ||
		[ "$(header "$file" live)" = uncertain ] ||
		fail "$file: claims that its live blocks are certain"
	doubtful=$((doubtful + 1))
done
last=$(printf '%s\n' lossy/* | tail -n 1)
lost=$(($(header "$last" lost_before) + $(trailer "$last" lost)))
echo "lossy: $lost events lost, $doubtful segments without loss"
check_ge "lossy: events lost" "$lost" 1
check_ge "lossy: segments without loss" "$doubtful" 1
check "lost by all" "$lost" "$(for file in lossy/*; do
	trailer "$file" lost
done | awk '{ n += $1 } END { print n }')"

# slow DIR: run a program that allocates while this shell changes the
# directory.  The shell then creates DIR.go; the program ends 1.5 s later.
slow()
{
	PYTHONMALLOC=malloc HATFTRACE_ROTATE=64K HATFTRACE_COMPRESS=none \
		trace "$TMP/$1/s.hatf" "$PYTHON" -c '
import os, sys, time
def work(rounds):
	for i in range(rounds):
		x = [bytearray(j % 100) for j in range(3000)]
		time.sleep(0.05)
work(10)
os.write(1, b"ready\n")
while not os.path.exists(sys.argv[1]):
	work(1)
work(30)
print("done")' "$TMP/$1.go" >"$1.out" 2>"$1.err" &
	program=$!
	for ((tries = 0; tries < 100; tries++)); do
		[ -s "$1.out" ] && break
		sleep 0.05
	done
}

# Renamed: the trace continues in the same directory.
mkdir before
slow before
mv before after
count=$(find after -type f -name '*.hatf' | wc -l)
touch before.go
wait $program || fail "renamed: status"
check "renamed: output" "$(tail -n 1 before.out)" "done"
[ ! -e before ] || fail "renamed: the old name is back"
files=(after/*.hatf)
check_ge "renamed: segments" ${#files[@]} $((count + 1))
"$HATF" verify "${files[@]}" >out || fail "renamed: $(cat out)"
check "renamed: stderr" "$(cat before.err)" ""

# The folder becomes read-only: the trace continues in the current file, and one
# line says so.
mkdir closed
chmod 777 closed
slow closed
# A line on standard error must never get into a trace.
for ((i = 0; i < 20; i++)); do
	for fd in /proc/{$program,"$(pgrep -P $program)"}/task/*/fd/[012]; do
		[[ $(readlink "$fd") != *.hatf ]] ||
			fail "closed: a trace for standard error"
	done
	sleep 0.02
done
if [ "$(id -u)" = 0 ] && command -v chattr >/dev/null &&
	chattr +i closed 2>/dev/null; then
	touch closed.go
	wait $program || fail "closed: status"
	chattr -i closed
	files=(closed/*.hatf)
	"$HATF" verify "${files[@]}" >out || fail "closed: $(cat out)"
	check "closed: lines" "$(grep -c 'the trace continues in' closed.err)" 1
	check "closed: all lines" "$(wc -l <closed.err)" 1
else
	touch closed.go
	wait $program
fi

# Removed, with all files in it: one line says that the trace ends, and nothing
# else happens.  The recorder may begin a segment while rm works.  If rm removes
# that segment before the folder, another line says which events are lost.
mkdir gone
slow gone
# A new segment may appear while rm works.
until rm -rf gone 2>/dev/null; do
	:
done
touch gone.go
wait $program || fail "gone: status"
check "gone: output" "$(tail -n 1 gone.out)" "done"
check "gone: ends" "$(grep -c '^hatftrace: .*s.s[0-9]*.hatf: .*the trace ends' \
	gone.err)" 1
check "gone: other lines" "$(grep -v 'the trace ends' gone.err |
	grep -cv '^hatftrace: .*s.s[0-9]*.hatf: the file has been removed; ')" 0
check_le "gone: lines" "$(wc -l <gone.err)" 2
finish
