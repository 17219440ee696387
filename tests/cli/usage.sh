#!/bin/bash
# SPDX-License-Identifier: MIT
#
# usage.sh - wrong usage: one line on stderr, nothing on stdout, exit 2
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# wrong PATTERN ARGUMENT...: 'hatf ARGUMENT...' is a wrong usage, and its
# message matches PATTERN.
wrong()
{
	local pattern=$1
	shift
	run "$HATF" "$@"
	check_status "hatf $*" 2
	check_one_line "hatf $*" "$pattern"
	[ -s out ] && fail "hatf $*: something on stdout"
}

wrong "hatf: a command is missing (see 'hatf --help')"
wrong "hatf: unknown command 'frobnicate' *" frobnicate
# A command with a similar name.
for pair in leak:leaks reprot:report optimise:optimize sym:symbolize \
	staat:stat; do
	similar="did you mean '${pair#*:}'[?] (see 'hatf --help')"
	wrong "hatf: unknown command '${pair%:*}'; $similar" "${pair%:*}"
done
for name in xy '' l "$(printf 'leaks%.0s' $(seq 999))"; do
	wrong "hatf: unknown command '$name' (see 'hatf --help')" "$name"
done
wrong "hatf: unknown option '--frobnicate' *" --frobnicate
for command in record report leaks stat plot info dump tables verify; do
	see="(see 'hatf $command --help')"
	wrong "hatf $command: unknown * '--frobnicate' $see" \
		"$command" --frobnicate x
	wrong "hatf $command: unknown option '-Q' *" "$command" -Q x
	wrong "hatf $command: a * is missing *" "$command"
done
wrong 'hatf info: --json=x: the option takes no argument *' info --json=x x
wrong 'hatf dump: one FILE at a time *' dump a b
wrong "hatf dump: --from: not a number from 0 to 2^64 - 1: '-1'" \
	dump --from -1 a
wrong "hatf dump: --from: not a number from 0 to 2^64 - 1: '12x'" \
	dump --from=12x a
wrong "hatf dump: --count: not a number from 0 to 2^64 - 1: ''" dump -n '' a
wrong "hatf dump: --count: not a number from 0 to *: '18446744073709551616'" \
	dump --count 18446744073709551616 a
wrong 'hatf dump: --count needs an argument *' dump --count
wrong "hatf dump: --format: unknown value 'yaml' (want one of text, * hatf)" \
	dump --format yaml a
wrong "hatf leaks: --fail-over: not a * '-1' *" leaks --fail-over=-1 a
wrong "hatf stat: --by: unknown value 'colour' (want one of site, * time)" \
	stat --by colour a
wrong "hatf stat: --sort: unknown value 'name' (want one of peak, * freed)" \
	stat --sort name a
for when in 1.5.2s s 1.5x -1s 0x1s 1e5s '1 s' 99999999999h; do
	wrong "hatf stat: --from: n* '$when'*" stat --from "$when" a
done
wrong 'hatf stat: --at-peak and --at-end exclude each other *' \
	stat --at-peak --at-end a
wrong 'hatf stat: --by time cannot be combined with --at-peak *' \
	stat --by time --at-end a
wrong 'hatf plot: one FILE at a time *' plot -o a.svg a b
wrong 'hatf plot: -o PICTURE is missing *' plot a
wrong 'hatf plot: a.gif: neither .svg nor .png: give --format *' \
	plot -o a.gif a
wrong 'hatf plot: -: neither .svg nor .png*' plot -o - a
wrong "hatf plot: --format: unknown value 'gif' (want one of svg, png)" \
	plot --format gif a
wrong "hatf plot: --by: unknown value 'heap' (want one of total, * size)" \
	plot --by heap a
wrong "hatf plot: --top: out of range: '0' (want 1 to 9)" plot --top 0 a
wrong "hatf plot: --width: out of range: '10' (want 320 to 8192)" \
	plot --width 10 a
wrong 'hatf plot: --height must be at least 360 with layers *' \
	plot --height 300 --by size -o a.svg a
wrong "hatf plot: --height: out of range: '9999' (want 240 to 8192)" \
	plot --height 9999 a
wrong "hatf verify: --max: not a number from 0 to 2^64 - 1: 'all'" \
	verify --max all a
for command in info verify dump; do
	wrong "hatf $command: --jobs: not a number from 0 to 2^64 - 1: '-1'" \
		"$command" --jobs -1 a
	wrong "hatf $command: --jobs: too many: '65' (want 0 to 64)" \
		"$command" --jobs 65 a
done
wrong "hatf tables: --format: unknown value 'html' (want one of text, *" \
	tables --format html a
wrong "hatf tables: --runs must be at most 99 *" tables --runs 100 a
wrong "hatf tables: --jobs must be at least 1 *" tables --jobs 0 a
wrong "hatf record: --clock: wrong value 'sun' (want auto, off, *" \
	record --clock sun true
wrong "hatf record: --compress: wrong value 'gzip:4' *" record -z gzip:4 true
wrong "hatf record: --full: wrong value 'maybe' *" record --full maybe true
wrong "hatf record: --buffer: not a number of bytes below 2^64: '1T' *" \
	record -b 1T true
wrong "hatf record: --buffer: wrong value '1' *" record -b 1 true
wrong "hatf record: --buffer: wrong value '2147483648' *" record -b 2G true
for value in 0 1 4097 8000000000000 64K 2x 8G9 -3 ''; do
	wrong "hatf record: --keep: wrong value '$value' *" \
		record -k "$value" true
done
for value in 0 64 32K 0M 1x 64M,32M 1h,2h '64M,' 64M,1h,1h 1000001h; do
	wrong "hatf record: --rotate: wrong value '$value' *" \
		record -r "$value" true
done
HATFTRACE_KEEP=1 wrong "hatf record: HATFTRACE_KEEP: wrong value '1' *" \
	record true
HATFTRACE_ROTATE=1 wrong "hatf record: HATFTRACE_ROTATE: wrong value '1' *" \
	record true
for name in CLOCK COMPRESS FULL BUFFER FOLLOW START BEGIN CONTROL VERBOSE; do
	(
		export "HATFTRACE_$name=bogus"
		wrong "hatf record: HATFTRACE_$name: wrong value 'bogus' *" \
			record true
		exit "$((failures > 0))"
	) || fail "a wrong HATFTRACE_$name"
done
HATFTRACE_RINGS=there wrong \
	"hatf record: HATFTRACE_RINGS: wrong value 'there' *" record true
wrong "hatf record: --output: unknown conversion '%x' *" record -o %x true
wrong "hatf record: --output: unknown conversion '%' *" record -o 100% true
wrong "hatf record: --output: not a file name: ''" record -o '' true
wrong "hatf record: --output: not a file name: 'd/'" record -o d/ true
HATFTRACE_OUT=%x wrong "hatf record: HATFTRACE_OUT: unknown conversion *" \
	record true

# Control characters in an argument are escaped.
wrong "hatf: unknown command '\\\\x1b[[]2J' *" $'\x1b[2J'

run "$HATF" --version
check version "$status $(cat out)" "0 hatf $(sed -n \
	's/^#define HATF_VERSION "\(.*\)"/\1/p' "$CLI/../../hatf/hatf.h")"
"$HATF" --help >/dev/full 2>err
status=$?
check_status 'help to a full disk' 1
check_one_line 'help to a full disk' 'hatf: standard output: *'

finish
