#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# full.sh - no room in a ring, on the disk or in the descriptor table
. "$(dirname "$0")/lib.sh"
EVENTS=2000000

# cut_off WHAT FILE TEXT: the program ran as it does bare, one line with TEXT
# says why the trace ends early, and the trace has no other defect.
cut_off()
{
	check "$1: status" "$status" 0
	check "$1: lines of output" "$(wc -l <out)" 10
	check "$1: lines on stderr" "$(wc -l <err)" 1
	grep -q "^hatftrace: .*$3" err || fail "$1: stderr: $(cat err)"
	[ -s "$2" ] || { fail "$1: no trace"; return; }
	check "$1: verify" "$("$HATF" verify "$2" >/dev/null 2>&1; echo $?)" 1
	check "$1: violations" "$("$HATF" verify --json "$2" 2>/dev/null |
		sed -n 's/.*"violations": *\([0-9]*\).*/\1/p')" 0
	check "$1: complete" "$(info "$2" complete)" false
	check_ge "$1: events" "$(info "$2" events)" 1000
}

# Wait: however small the ring, no event is lost, and the trailer counts the
# waits.
HATFTRACE_BUFFER=4K trace_tallied small "$PROGS/torture" 20 10 5000 4
check "small ring: status" $? 0
clean small.traces/*
compare_tallies small
waits=0
for trace in small.traces/*; do
	waits=$((waits + $(trailer "$trace" waits)))
done
check_ge "small ring: waits" "$waits" 1

# Drop: the trace counts each lost event.
HATFTRACE_BUFFER=4K HATFTRACE_FULL=drop trace_tallied drop \
	"$PROGS/longrun" $EVENTS >/dev/null
check "drop: status" $? 0
trace=drop.traces/t.$(ls drop).hatf.gz
lost=$(info "$trace" lost)
check_ge "drop: lost" "$lost" 1
check "drop: events and lost" "$(($(info "$trace" events) + lost))" \
	"$(counted drop/*)"
check "drop: lost, by the trailer" "$(trailer "$trace" lost)" "$lost"
check "drop: lost, by the notes" "$(plain "$trace" |
	grep -a -A 3 'HATF lost$' |
	awk -F = '/^count=/ { n += $2 } END { print n + 0 }')" "$lost"
check "drop: header" "$(header "$trace" full)" drop
check "drop: verify" "$("$HATF" verify "$trace" >/dev/null 2>&1; echo $?)" 1

for stacks in off on on:frees; do
	dir=drop-threads-$stacks
	HATFTRACE_STACKS=$stacks HATFTRACE_BUFFER=4K HATFTRACE_FULL=drop \
		trace_tallied "$dir" "$PROGS/torture" 20 10 5000 4 >/dev/null
	check "drop, threads, stacks $stacks: status" $? 0
	for tally in "$dir"/*; do
		trace=$dir.traces/t.${tally##*/}.hatf.gz
		check "drop, threads, stacks $stacks: events and lost" \
			"$(($(info "$trace" events) + $(info "$trace" lost)))" \
			"$(counted "$tally")"
	done
done

# A limit on the size of files: SIGXFSZ must not reach the program because of a
# write of the recorder.
(ulimit -f 1024 && trace limit.gz "$PROGS/longrun" $EVENTS) >out 2>err
status=$?
cut_off "file size limit" limit.gz "file size limit"

# A full disk.
if [ "$(id -u)" -eq 0 ] && mkdir -p disk &&
	mount -t tmpfs -o size=1m none disk 2>/dev/null; then
	trap 'umount -l "$TMP/disk"' EXIT
	for compress in gzip none; do
		rm -f disk/*
		HATFTRACE_COMPRESS=$compress trace "$TMP/disk/t.gz" \
			"$PROGS/longrun" $EVENTS >out 2>err
		status=$?
		cut_off "full disk, $compress" disk/t.gz "no space"
	done
	# Not even a header fits.
	rm -f disk/*
	head -c 2000000 /dev/zero >disk/zeros 2>/dev/null
	trace "$TMP/disk/t.gz" "$PROGS/longrun" $EVENTS >out 2>err
	check "no room at all: status" $? 0
	check "no room at all: lines of output" "$(wc -l <out)" 10
	check "no room at all: lines on stderr" "$(wc -l <err)" 1
	# The children of a process whose trace failed run as well.
	trace "$TMP/disk/t.gz" "$PROGS/torture" 10 5 1000 5 >out 2>err
	check "no room for children: status" $? 0
else
	echo "no tmpfs: a full disk was not tried"
fi
trace /dev/full "$PROGS/longrun" $EVENTS >out 2>err
check "/dev/full: status" $? 0
check "/dev/full: lines of output" "$(wc -l <out)" 10

# A program closes every descriptor it does not know, and uses the numbers.
cat >closing.py <<'EOT'
import os
os.closerange(3, 70000)
files = [open("/dev/null") for _ in range(200)]
assert [f.fileno() for f in files] == list(range(3, 203))
text = [str(i) * 10 for i in range(100000)]
print(len("".join(text)))
EOT
PYTHONMALLOC=malloc trace closing.gz "$PYTHON" -S -E closing.py >out 2>err
check "closed descriptors: status" $? 0
[ -s err ] && fail "closed descriptors: $(cat err)"
PYTHONMALLOC=malloc "$PYTHON" -S -E closing.py >bare
cmp -s out bare || fail "closed descriptors: output"
clean closing.gz

# A program that may open few files can use all of them.
(ulimit -n 20 && trace few.gz "$PYTHON" -S -E -c 'import os
fds = []
try:
    while True: fds.append(os.open("/dev/null", 0))
except OSError: print(len(fds), max(fds))') >few
(ulimit -n 20 && "$PYTHON" -S -E -c 'import os
fds = []
try:
    while True: fds.append(os.open("/dev/null", 0))
except OSError: print(len(fds), max(fds))') >bare
check "few descriptors" "$(cat few)" "$(cat bare)"
clean few.gz
finish
