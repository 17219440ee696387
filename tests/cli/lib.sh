# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh - functions that the tests of the command share; tests source this file
#
# A test runs in an empty directory of its own ($TMP).  The functions below
# write traces byte by byte and do not use libhatf.  So the tests also find a
# mistake that its reader and its writer have in common.

set -u
export LC_ALL=C
: "${BUILD:?the build directory}" "${TMP:?an empty directory}"

# shellcheck disable=SC2034 # used by the tests
CLI=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034
HATF=$BUILD/hatf
failures=0
cd "$TMP" || exit 1
unset HATFTRACE_OUT HATFTRACE_CLOCK HATFTRACE_COMPRESS HATFTRACE_FULL \
	HATFTRACE_FOLLOW HATFTRACE_BUFFER HATFTRACE_ROTATE HATFTRACE_KEEP \
	HATFTRACE_RINGS HATFTRACE_START HATFTRACE_BEGIN HATFTRACE_CONTROL \
	HATFTRACE_NOTES HATFTRACE_STACKS \
	HATFTRACE_VERBOSE HATFTRACE_LIB LD_PRELOAD

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

finish()
{
	[ "$failures" -eq 0 ] || echo "$failures failures" >&2
	exit "$((failures > 0))"
}

# run COMMAND...: write its output to 'out' and 'err', set $status to its exit
# status.
run()
{
	"$@" >out 2>err </dev/null
	status=$?
}

# check WHAT GOT WANT...: fail unless GOT is WANT.  Several words WANT are one
# text, with a blank between two words.
check()
{
	local what=$1 got=$2

	shift 2
	[ "$got" = "$*" ] || fail "$what: got '$got', want '$*'"
}

# check_status WHAT WANT: the exit status of the last 'run' is WANT.
check_status()
{
	check "$1: exit status" "$status" "$2"
}

# check_one_line WHAT PATTERN...: the last 'run' wrote one line to stderr, and
# the line matches PATTERN.  Several words PATTERN are one pattern, with a blank
# between two words.
check_one_line()
{
	local what=$1 pattern

	shift
	pattern="$*"
	check "$what: lines on stderr" "$(wc -l <err)" 1
	# shellcheck disable=SC2254 # the text is a pattern
	case $(cat err) in
	$pattern) ;;
	*) fail "$what: stderr is '$(cat err)', want '$pattern'" ;;
	esac
}

# check_silent WHAT: the last 'run' wrote nothing to stderr.
check_silent()
{
	[ -s err ] && fail "$1: stderr is '$(cat err)', want nothing"
}

# check_text WHAT FILE: FILE has the text that standard input has.
check_text()
{
	diff -u --label "$1: want" --label "$1: got" - "$2" >&2 ||
		fail "$1: differs"
}

# ------------------------------------------------- HATF, byte by byte
# Codes of the fields and of the interpretations.
size=0 address=1 time=2 thread=3 heap=4 attributes=5
# shellcheck disable=SC2034
none=0 default=1 base_offset=2 delta=3 stride=4

# u NBYTES VALUE: write a big-endian number.  Start no process, because tests
# write thousands of numbers.
u()
{
	local i byte bytes=

	for ((i = 8 * ($1 - 1); i >= 0; i -= 8)); do
		printf -v byte '\\x%02x' "$(($2 >> i & 255))"
		bytes+=$byte
	done
	# shellcheck disable=SC2059
	printf "$bytes"
}

# width FIELD CODE
width()
{
	u 1 11
	u 1 1
	u 1 "$1"
	u 1 "$2"
}

# interpret FIELD CODE [VALUE [STRIDE]]
interpret()
{
	u 1 11
	u 1 2
	u 1 "$1"
	u 1 "$2"
	shift 2
	while [ $# -gt 0 ]; do
		u 8 "$1"
		shift
	done
}

# u_length NBYTES TEXT: write the length of TEXT, in NBYTES bytes.  TEXT may
# contain \\, \n, \t, \xHH and \OOO.
u_length()
{
	local rest=${2//\\\\/.}

	rest=${rest//\\x[[:xdigit:]][[:xdigit:]]/.}
	rest=${rest//\\[0-7][0-7][0-7]/.}
	rest=${rest//\\[nt]/.}
	case $rest in
	*[\\%]*) fail "not a text of a trace: '$2'" ;;
	esac
	u "$1" "${#rest}"
}

# comment TEXT: TEXT may contain what u_length() says.
comment()
{
	u 1 10
	u_length 2 "$1"
	# shellcheck disable=SC2059
	printf "$1"
}

# Write the layout of the records below: attributes are v1.  A trace begins with
# "default 0" for all fields but sizes and addresses.
layout()
{
	local field
	for field in $time $thread $heap $attributes; do
		interpret "$field" $none
	done
	width $size 4
	width $address 8
	width $time 4
	width $thread 1
	width $heap 1
	width $attributes 9
}

# attribute_bytes [ATTRIBUTES]
attribute_bytes()
{
	u_length 1 "${1-}"
	# shellcheck disable=SC2059
	printf "${1-}"
}

# tail_fields THREAD HEAP TIME [ATTRIBUTES]
tail_fields()
{
	u 1 "$1"
	u 1 "$2"
	u 4 "$3"
	attribute_bytes "${4-}"
}

# alloc SIZE ADDRESS THREAD HEAP TIME [ATTRIBUTES]
alloc()
{
	u 1 0
	u 4 "$1"
	u 8 "$2"
	shift 2
	tail_fields "$@"
}

# free ADDRESS THREAD HEAP TIME [ATTRIBUTES]
free()
{
	u 1 1
	u 8 "$1"
	shift
	tail_fields "$@"
}

# resize TAG SIZE OLD NEW THREAD HEAP TIME [ATTRIBUTES]
resize()
{
	u 1 "$1"
	u 4 "$2"
	u 8 "$3"
	u 8 "$4"
	shift 4
	tail_fields "$@"
}

# heap_event TAG HEAP THREAD TIME [ATTRIBUTES]: create or destroy a heap.
heap_event()
{
	u 1 "$1"
	u 1 "$2"
	u 1 "$3"
	u 4 "$4"
	attribute_bytes "${5-}"
}

# thread_event TAG THREAD TIME [ATTRIBUTES]: create or destroy a thread.
thread_event()
{
	u 1 "$1"
	u 1 "$2"
	u 4 "$3"
	attribute_bytes "${4-}"
}

# header [LINE...]
header()
{
	local text='HATF 1.0\nproducer=test\n' line
	for line; do
		text+="$line\n"
	done
	comment "$text"
}

# trailer FILE EVENTS RECORDS [LINE...]: append a trailer to FILE, which has
# EVENTS events in RECORDS records.
trailer()
{
	local file=$1 text
	text="HATF end\nevents=$2\nrecords=$3\nhatf_bytes=$(stat -c %s "$1")\n"
	shift 3
	[ $# -gt 0 ] || set -- complete=1 end=exit lost=0 threads=1
	while [ $# -gt 0 ]; do
		text+="$1\n"
		shift
	done
	comment "$text" >>"$file"
}

# Write a record of each tag but comment and destroyThread.  The first ones need
# a live block at 0x5581c0.
other_tags()
{
	resize 2 32 0x5581c0 0x5581c0 0 0 19
	resize 3 100 0x5581c0 0x559000 0 0 20
	alloc 100 0x559000 0 0 20
	free 0x5581c0 0 0 20
	thread_event 8 1 21 '\x42\x00\x81\x02a"'
	resize 4 7 0 0x6000 1 0 22
	alloc 7 0x6000 1 0 22
	heap_event 6 3 1 23
	alloc 8 0x7000 1 3 24
	free 0x7000 1 3 25
	heap_event 7 3 1 26
	resize 5 0 0x6000 0 1 0 27
	free 0x6000 1 0 27
}
