#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# longrun.sh - memory does not grow with the length of the trace
#
# This is true for the traced program and for the commands that read the trace.
# HATF_LONG=1 makes 500 million events and takes some minutes; HATF_LONG=N makes
# N million.
. "$(dirname "$0")/lib.sh"
case ${HATF_LONG:-5} in
1) events=500000000 ;;
*) events=${HATF_LONG:-5}000000 ;;
esac
BASE_KB=$((17 * 1024)) # what the recorder may take beyond the bare program
READER_KB=$((64 * 1024))

# peak_kb COMMAND...: print its peak memory; its output goes to 'out'.
peak_kb()
{
	local peak
	peak=$("$PYTHON" -c 'import resource, subprocess, sys
with open("out", "w") as out:
	status = subprocess.call(sys.argv[1:], stdout=out)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)' "$@") || fail "$*: status $?"
	echo "$peak"
}

"$PROGS/longrun" 1000000 >bare || fail "bare run"
bare=$(awk '{ if ($6 > most) most = $6 } END { print most }' bare)
SECONDS=0
trace trace.gz "$PROGS/longrun" "$events" >out || fail "traced run"
echo "recorded $events events in $SECONDS s"
cat out
check "reports" "$(wc -l <out)" 10
# From the second report on, only the thread's buffer may grow, if the writer is
# starved: to 4 MiB, while the writer still reads the old one of half that size.
second=$(awk 'NR == 2 { print $6 }' out)
last=$(awk 'END { print $6 }' out)
check_le "peak memory at the end (kB)" "$last" "$((second + 8192))"
check_le "added memory (kB)" "$((last - bare))" "$BASE_KB"

SECONDS=0
peak=$(peak_kb "$HATF" info --json trace.gz)
echo "info: $SECONDS s, $peak kB; trace: $(stat -c %s trace.gz) bytes"
check_le "memory of hatf info (kB)" "$peak" "$READER_KB"
check events "$(sed -n 's/.*"events": *\([0-9]*\).*/\1/p' out)" \
	"$events"
SECONDS=0
peak=$(peak_kb "$HATF" verify trace.gz)
echo "verify: $SECONDS s, $peak kB; $(cat out)"
check_le "memory of hatf verify (kB)" "$peak" "$READER_KB"
finish
