#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# file-lag.sh - the file is at most a second behind, also when idle
#
# Once there is a writer thread, the file is at most a second behind, even if
# the program makes no further calls.  A program allocates and then sleeps.  One
# second later, the file has every event that another library counted, although
# the block was not full.
. "$(dirname "$0")/lib.sh"
need python3 jq

cat >sleeper.py <<'EOT'
import os, sys, threading, time

def work(n):
    return [bytearray(i % 500 + 1) for i in range(n)]

def sleeper():
    work(1000)
    time.sleep(30)

if sys.argv[1] == "threads":
    for i in range(5):
        threading.Thread(target=sleeper, daemon=True).start()
    time.sleep(0.2)
kept = work(3000)
os.write(1, b"ready\n")
time.sleep(30)
EOT

build_shared tally
for clock in auto us; do
	for how in alone threads; do
		dir=$clock-$how
		mkfifo "$dir.pipe"
		mkdir "$dir" "$dir.traces"
		env TALLY_DIR="$TMP/$dir" HATFTRACE_CLOCK=$clock \
			HATFTRACE_BEGIN=now \
			HATFTRACE_OUT="$TMP/$dir.traces/t.hatf.gz" \
			LD_PRELOAD="$SO:$TMP/tally.so" "$PYTHON" \
			sleeper.py $how >"$dir.pipe" &
		program=$!
		read -r _ <"$dir.pipe"
		# Wait a little longer than a second, because this shell takes
		# time, too.
		sleep 1
		file=("$dir.traces"/*.hatf.gz)
		cp "${file[0]}" seen.gz
		check "$dir: events after a second" "$("$HATF" info --json \
			seen.gz 2>/dev/null | jq .events)" "$(counted "$dir"/*)"
		clean_but_cut seen.gz
		kill "$program"
		wait "$program" 2>/dev/null
	done
done
finish
