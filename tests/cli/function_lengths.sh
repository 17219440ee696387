#!/bin/bash
# SPDX-License-Identifier: MIT
#
# function_lengths.sh - the check of lengths finds long functions and files
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

check=$(realpath "$CLI/../../scripts/check-functions.sh")

# functions COUNT LINES: print COUNT functions with LINES lines each.
functions()
{
	local i

	for ((i = 0; i < $1; i++)); do
		printf 'void\nf%d_%d(void)\n{\n' "$2" "$i"
		yes $'\ttwo(lines);' | head -n "$2"
		printf '}\n\n'
	done
}

# passes FILE SAID, fails FILE SAID: the last line of the output is SAID.
passes()
{
	local said

	said=$("$check" "$PWD/$1") || fail "$1: status $?: $said"
	[[ $(tail -n 1 <<<"$said") == "$2" ]] || fail "$1: $said"
}

fails()
{
	local said

	said=$("$check" "$PWD/$1") && fail "$1 passes: $said"
	[[ $(tail -n 1 <<<"$said") == "$2" ]] || fail "$1: $said"
}

# The median, here the fifth of nine, and the longest.
{
	functions 5 14
	functions 4 15
} >median.c
passes median.c '9 functions: median 14 lines, p90 15, longest 15'
{
	functions 4 14
	functions 5 15
} >median.c
fails median.c '9 functions: median 15 lines, p90 15, longest 15'

# Of ten functions, the ninth is p90.
{
	functions 9 3
	functions 1 64
} >tenth.c
passes tenth.c '10 functions: median 3 lines, p90 3, longest 64'
{
	functions 8 3
	functions 2 30
} >tenth.c
fails tenth.c '10 functions: median 3 lines, p90 30, longest 30'

# One function of 65 lines is too many; the check names its place.
{
	functions 20 1
	functions 1 65
} >longest.c
fails longest.c '21 functions: median 1 lines, p90 1, longest 65'
"$check" "$PWD/longest.c" | grep -qx \
	"$PWD/longest.c:123: a function of 65 lines, limit 64" ||
	fail "place: $("$check" "$PWD/longest.c")"

# Braces within a function do not end it, and a struct is no function.
printf 'struct s {\n%s\n};\n' "$(yes $'\tint a;' | head -n 99)" >nested.c
printf 'void\nf(void)\n{\n\tif (1) {\n\t}\n\tg();\n}\n' >>nested.c
passes nested.c '1 functions: median 3 lines, p90 3, longest 3'

echo >none.c
fails none.c 'no functions found'

# A file of 701 lines is too long.
{
	functions 1 3
	yes '' | head -n 692
} >file.c
passes file.c '1 functions: median 3 lines, p90 3, longest 3'
echo >>file.c
fails file.c "$PWD/file.c: more than 700 lines"

# The tree itself.
"$check" >said || fail "this tree: $(cat said)"

finish
