#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# mtrace.sh - our trace is, event by event, what libc's own mtrace(3) logs
. "$(dirname "$0")/lib.sh"
PRELOAD=libc_malloc_debug.so.0
LD_PRELOAD=$PRELOAD true 2>&1 | grep -q . && skip "no $PRELOAD"

MALLOC_TRACE=$TMP/log trace trace.gz "$PROGS/mtraced"
check status $? 0
clean trace.gz

# "@ caller + 0xADDRESS 0xSIZE", "-", and "<" with ">" for a realloc.
awk '/^@/ { $1 = $2 = ""; sub(/^ +/, ""); print }' log |
	sed -n '/ 0x76aae9$/,/ 0x76aaea$/p' >theirs
# An event of ours that announces others stands for them.
events trace.gz | awk '
function hex(n) { return n == 0 ? "0" : sprintf("%#x", n) }
skip > 0 { skip--; next }
$1 == "alloc" { print "+", $3, hex($2) }
$1 == "free" { print "-", $3 }
$1 == "reallocNoAlloc" { print "<", $4; print ">", $3, hex($2) }
$1 == "reallocAllocFree" { print "<", $4; print ">", $3, hex($2); skip = 2 }
$1 == "reallocAlloc" { print "+", $3, hex($2); skip = 1 }
$1 == "reallocFree" { print "-", $4; skip = 1 }' |
	sed -n '/ 0x76aae9$/,/ 0x76aaea$/p' >ours
check_ge "events compared" "$(wc -l <theirs)" 3000
diff theirs ours >difference ||
	fail "differs from mtrace: $(head -n 10 difference)"
finish
