# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh - functions that the capture tests share; to be sourced
#
# A test runs in an empty directory of its own ($TMP) and looks at the recorder
# from outside: it preloads $SO into a program and reads the trace with 'hatf'
# or with gzip and awk alone.

set -u
export LC_ALL=C
: "${BUILD:?the build directory}" "${TMP:?an empty directory}"

CAPTURE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SO=$BUILD/libhatftrace.so
HATF=$BUILD/hatf
# shellcheck disable=SC2034 # used by the tests
PROGS=$BUILD/tests/capture/programs
# The real interpreter: a version manager's is a script that runs another
# program.
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || PYTHON=$(command -v python3)
PRELOAD=            # further objects to preload after ours, ':' between them
failures=0
cd "$TMP" || exit 1
unset HATFTRACE_OUT HATFTRACE_CLOCK HATFTRACE_COMPRESS HATFTRACE_FULL \
	HATFTRACE_FOLLOW HATFTRACE_BUFFER HATFTRACE_ROTATE HATFTRACE_KEEP \
	HATFTRACE_RINGS HATFTRACE_START HATFTRACE_BEGIN HATFTRACE_CONTROL \
	HATFTRACE_NOTES HATFTRACE_STACKS HATFTRACE_VERBOSE

fail()
{
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

skip()
{
	echo "skipped: $*" >&2
	exit 77
}

need()
{
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "no $tool"
	done
}

finish()
{
	[ "$failures" -eq 0 ] || echo "$failures failures" >&2
	exit "$((failures > 0))"
}

# check WHAT GOT WANT
check()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# check_ge WHAT GOT LEAST
check_ge()
{
	[ "$2" -ge "$3" ] || fail "$1: got $2, want at least $3"
}

# check_le WHAT GOT MOST
check_le()
{
	[ "$2" -le "$3" ] || fail "$1: got $2, want at most $3"
}

# trace FILE COMMAND...: run it traced; return the command's status.
trace()
{
	local out=$1
	shift
	env HATFTRACE_OUT="$out" LD_PRELOAD="$SO${PRELOAD:+:$PRELOAD}" "$@"
}

# info FILE KEY: print one value of 'hatf info --json'.
info()
{
	"$HATF" info --json "$1" |
		sed -n "s/.*\"$2\": *\"\\{0,1\\}\\([^,\"}]*\\).*/\\1/p" |
		head -n 1
}

# plain FILE: print the stream, compressed or not.
plain()
{
	gzip -dcf "$1"
}

# header FILE KEY, trailer FILE KEY: read the bytes without hatf's own reader.
header()
{
	plain "$1" 2>/dev/null | head -c 65536 | grep -a -m 1 "^$2=" |
		cut -d = -f 2-
}

trailer()
{
	plain "$1" 2>/dev/null | tail -c 2000 | sed -n '/HATF end$/,$p' |
		grep -a "^$2=" | tail -n 1 | cut -d = -f 2-
}

# events FILE: print its heap records in the form that notes.h prints:
#
#	TAG SIZE ADDRESS OLD ALIGNMENT ZEROED
events()
{
	"$HATF" dump "$1" | awk '
	$2 ~ /^(alloc|free|realloc)/ {
		v["size"] = v["alignment"] = v["zeroed"] = 0
		v["addr"] = v["old"] = "0x0"
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
		print $2, v["size"], v["addr"], v["old"], v["alignment"],
			v["zeroed"]
	}'
}

# clean FILE...: 'hatf verify' must accept each one.
clean()
{
	local file
	for file; do
		[ -s "$file" ] || { fail "no trace $file"; continue; }
		"$HATF" verify "$file" >verify.out 2>&1 ||
			fail "verify $file: $(head -n 5 verify.out)"
	done
}

# clean_but_cut FILE...: each has no violation and no trailer.
clean_but_cut()
{
	local file
	for file; do
		[ -s "$file" ] || { fail "no trace $file"; continue; }
		check "$file: complete" "$(info "$file" complete)" false
		check "$file: violations" "$("$HATF" verify --json "$file" \
			2>/dev/null |
			sed -n 's/.*"violations": *\([0-9]*\).*/\1/p')" 0
	done
}

# reachable FILE: make a copy for other users, who may not reach the build (for
# example in /root); print its path.
reachable()
{
	local copy=$TMP/${1##*/}
	cp "$1" "$copy" && chmod 755 "$copy" && echo "$copy"
}

# control_folder: put sockets into $sockets from now on; begin with none.
control_folder()
{
	export XDG_RUNTIME_DIR=$TMP/run
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	sockets=$XDG_RUNTIME_DIR/hatftrace
}

# left: print the files of single processes beside the sockets.  The file of
# bells belongs to all processes, and stays.
left()
{
	find "$sockets" -mindepth 1 ! -name bells-1 -printf '%f\n' 2>/dev/null |
		sort -n
}

ctl()
{
	"$HATF" ctl "$@"
}

# write_order PID NUMBER: write the order into the slot of the process; add the
# upper bits of the PID (hatf/recorder/bells.h).
write_order()
{
	"$PYTHON" -S -c '
import os, struct, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
pid, order = int(sys.argv[2]), int(sys.argv[3])
os.pwrite(fd, struct.pack("=Q", order | pid // 65536 << 58), pid % 65536 * 8)
' "$sockets/bells-1" "$1" "$2"
}

# await_socket PID: wait until the process has a socket.
await_socket()
{
	local i
	for ((i = 0; i < 200; i++)); do
		[ -S "$sockets/$1.sock" ] && return
		sleep 0.02
	done
	fail "no socket of $1"
}

# count FILE...: print how many of them exist.
count()
{
	local n=0 file
	for file; do
		[ -e "$file" ] && n=$((n + 1))
	done
	echo $n
}

# build_shared NAME: build $TMP/NAME.so from shared/NAME.c.
build_shared()
{
	${CC:-cc} -O2 -fPIC -shared -D_GNU_SOURCE -fno-builtin -o "$TMP/$1.so" \
		"$CAPTURE/shared/$1.c" -ldl || fail "cannot build $1.so"
}

# operators LIBRARY [FLAG...]: C++'s new and delete take and return blocks of a
# heap.
operators()
{
	# With optimization, the compiler may omit a new and its delete.
	${CXX:-c++} -O0 -o operators "${@:2}" \
		"$CAPTURE/shared/heapnew.cc" -Wl,--no-as-needed "$1" ||
		fail 'cannot build operators'
	rm -f operators.gz
	trace "$TMP/operators.gz" ./operators || fail 'operators: exit status'
	clean operators.gz
	for what in alloc free; do
		check "operators: $what" "$("$HATF" dump operators.gz |
			grep -c " $what .*heap=1 ")" 400
	done
}

# counted FILE: print the number of events that shared/tally.c counted in one
# process image.
counted()
{
	od -An -t u8 -N 8 "$1" | tr -d ' '
}

# compare_tallies DIR: 'tally' made a file in DIR for each process image (PID,
# PID.1, ...).  Each one must have a trace t.PID.hatf.gz, t.PID.hatf.gz.1, ...
# with exactly as many events, or none if it has no events.
compare_tallies()
{
	local tally pid trace want
	for tally in "$1"/*; do
		pid=${tally##*/}
		case $pid in
		*.*) trace=$1.traces/t.${pid%%.*}.hatf.gz.${pid#*.} ;;
		*) trace=$1.traces/t.$pid.hatf.gz ;;
		esac
		want=$(counted "$tally")
		if [ -e "$trace" ]; then
			check "events of $trace ($(header "$trace" command))" \
				"$(info "$trace" events)" "$want"
			check "lost of $trace" "$(info "$trace" lost)" 0
		elif [ "$want" != 0 ]; then
			fail "no $trace, but $want events"
		fi
	done
}

# trace_tallied DIR COMMAND...: run it traced, with 'tally' between the recorder
# and the allocator to count the events.
trace_tallied()
{
	local dir=$1
	shift
	[ -e "$TMP/tally.so" ] || build_shared tally
	mkdir -p "$dir" "$dir.traces"
	env TALLY_DIR="$TMP/$dir" \
		HATFTRACE_OUT="$TMP/$dir.traces/t.%p.hatf.gz" \
		LD_PRELOAD="$SO:$TMP/tally.so" "$@"
}
