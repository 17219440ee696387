#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-functions.sh - no function and no file of code is too long
#
# usage: scripts/check-functions.sh [FILE...]
#
# The default is each file of code of hatf, preload and tools.  The length of a
# function is the number of lines between its braces.  Half of the functions may
# have at most 14 lines, nine tenths at most 29, and none more than 64.  No file
# may have more than 700 lines.
set -u
cd "$(dirname "$0")/.." || exit 2

# lengths FILE...: print the length and the place of each function.  The house
# layout puts both braces of a function in the first column.
lengths()
{
	awk '
	FNR == 1 { open = 0 }
	$0 == "{" { open = FNR }
	$0 == "}" && open {
		print FNR - open - 1, FILENAME ":" open
		open = 0
	}' "$@"
}

# check_files FILE...: print each file above 700 lines; fail if there is one.
check_files()
{
	awk '
	FNR == 701 {
		print FILENAME ": more than 700 lines"
		bad = 1
	}
	END { exit bad }' "$@"
}

[ $# -gt 0 ] || mapfile -t files < <(find hatf preload tools -name '*.[ch]' |
	sort)
check_files "$@" ${files[@]+"${files[@]}"} || exit 1
lengths "$@" ${files[@]+"${files[@]}"} | sort -n | awk '
	{ length_of[NR] = $1 }
	$1 > 64 { print $2 ": a function of " $1 " lines, limit 64"; bad = 1 }
	END {
		if (NR == 0) {
			print "no functions found"
			exit 1
		}
		median = length_of[int((NR + 1) / 2)]
		tenth = length_of[int((NR * 9 + 9) / 10)]
		print NR " functions: median " median " lines, p90 " tenth \
			", longest " length_of[NR]
		exit bad || median > 14 || tenth > 29
	}'
