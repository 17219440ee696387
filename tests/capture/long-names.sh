#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# long-names.sh - paths near PATH_MAX, of line ends and escapes, record and read
#
# Whatever the path of a trace is, 'hatf ctl' shows it in one line, recovery
# finds it, and an error has its reason after the path.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

control_folder
# 250 bytes, which take 1000 when they are shown
component=$(printf '\n%.0s' {1..120}; printf '\e%.0s' {1..129}; printf x)

# below NBYTES: make and enter a folder whose name has this many bytes.
below()
{
	mkdir -p "${component:0:$1}" && cd "${component:0:$1}" || exit 1
}

# enter LENGTH: go to a folder below $TMP whose path has this many bytes.
enter()
{
	local left
	cd "$TMP" || exit 1
	while left=$(($1 - ${#PWD})) && [ "$left" -gt 300 ]; do
		below 200
	done
	below $((left / 2 - 1))
	below $((left - left / 2 - 1))
	check 'length of the folder' "${#PWD}" "$1"
}

# one_line WHAT STATUS REASON COMMAND...: the command ends with STATUS and one
# line on standard error, which ends in REASON.
one_line()
{
	local what=$1 want=$2 reason=$3
	shift 3
	"$@" >"$TMP/out" 2>"$TMP/err"
	check "$what: exit status" "$?" "$want"
	check "$what: lines" "$(wc -l <"$TMP/err")" 1
	case $(cat "$TMP/err") in
	*"$reason") ;;
	*) fail "$what: '$(tail -c 200 "$TMP/err")', want '$reason'" ;;
	esac
}

# record_at LENGTH: a program whose trace has a path of LENGTH bytes is asked
# for its state, killed, and recovered.
record_at()
{
	local folder trace
	enter $(($1 - 20))
	folder=$PWD
	trace=$folder/yyyyyyyyyyy.hatf.gz
	check 'length of the path' "${#trace}" "$1"
	HATFTRACE_OUT=$trace HATFTRACE_BEGIN=now LD_PRELOAD=$SO "$PYTHON" -c '
import time
keep = [bytearray(1000 + i) for i in range(500)]
time.sleep(60)' &
	pid=$!
	await_socket "$pid"
	ctl --json "$pid" flush >"$TMP/flush.json" || fail "$1: flush"
	check "$1: trace in JSON" \
		"$("$PYTHON" -c 'import json, sys
print(json.load(sys.stdin)["trace"])' <"$TMP/flush.json")" "$trace"
	check "$1: lines of the state" "$(ctl "$pid" status | wc -l)" 1
	ctl "$pid" snapshot -o "$TMP/snapshot.$1.gz" >/dev/null ||
		fail "$1: snapshot"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	rm -f "$sockets/$pid.sock"
	clean_but_cut "$trace"
	"$HATF" recover "$folder" >"$TMP/out" 2>&1 ||
		fail "$1: recover: $(tail -c 200 "$TMP/out")"
	check "$1: lines of recover" "$(wc -l <"$TMP/out")" 1
	clean "$trace" "$TMP/snapshot.$1.gz"
	one_line "$1: no such file" 1 ': No such file or directory' \
		"$HATF" info "$folder/none"
	one_line "$1: no such ring file" 1 ': No such file or directory' \
		"$HATF" recover "$folder/none.rings"
	cd "$TMP" || exit 1
	rm -rf "${folder:?}"
}

# 'hatf record' reads such a name in its notes, and completes the trace.
complete_at()
{
	local trace
	enter $(($1 - 20))
	trace=$PWD/yyyyyyyyyyy.hatf.gz
	HATFTRACE_BEGIN=now "$HATF" record -o "$trace" -- \
		sh -c 'kill -KILL $$' 2>"$TMP/err"
	check "$1: status of record" "$?" 137
	check "$1: lines of record" "$(wc -l <"$TMP/err")" 1
	# gzip takes no name as long as this.
	check "$1: record" "$(trailer /dev/stdin end <"$trace")" killed
	clean "$trace"
	cd "$TMP" || exit 1
}

complete_at 4070
record_at 2050
# The ring file's name has six bytes more.
record_at 4089

# reached_from LENGTH: the path of $XDG_RUNTIME_DIR has this many bytes.  The
# address of a socket has 108: the socket may have to be in another folder.
reached_from()
{
	local XDG_RUNTIME_DIR=$TMP/r i
	XDG_RUNTIME_DIR+=$(printf 'r%.0s' $(seq $(($1 - ${#TMP} - 2))))
	mkdir -m 700 "$XDG_RUNTIME_DIR" || fail "no folder of $1 bytes"
	HATFTRACE_OUT=$TMP/reached.$1.gz HATFTRACE_BEGIN=now LD_PRELOAD=$SO \
		sleep 60 &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		ctl "$pid" status >"$TMP/out" 2>"$TMP/err" && break
		sleep 0.05
	done
	grep -q "^$pid: recording" "$TMP/out" ||
		fail "a runtime folder of $1 bytes: $(cat out err)"
	ctl "$pid" stop >/dev/null || fail "$1: stop"
	kill "$pid"
	wait "$pid" 2>/dev/null
	# Another order removes the dead socket.
	ctl $$ status >/dev/null 2>&1
	clean "reached.$1.gz"
}

cd "$TMP" || exit 1
for length in 80 90 98 107 108 150 250; do
	reached_from $length
done

# The name of an executable may take all of a file's name.
name=$(printf 'e%.0s' {1..255})
cp "$(type -P true)" "$name"
mkdir names
trace "$TMP/names/%e.%p.hatf.gz" "./$name" || fail 'a long executable name'
clean names/e*.hatf.gz
check 'traces of a long executable name' "$(count names/*)" 1

# A file whose path is longer than PATH_MAX can be reached by other names only.
enter 3900
folder=$PWD
cp "$TMP/snapshot.2050.gz" "$(printf 'z%.0s' {1..250})"
one_line 'a path that is too long' 1 ': File name too long' \
	"$HATF" recover "$folder"
cd "$TMP" || exit 1
finish
