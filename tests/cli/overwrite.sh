#!/bin/bash
# SPDX-License-Identifier: MIT
#
# overwrite.sh - no page, picture or program takes the place of its own trace
#
# 'hatf convert' has this test in convert.sh, 'hatf check' in check.sh.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

printf '%s\n' '10 HATF ascii thread heap time attributes' \
	'0 100 0x1000 0 0 1' >trace.ascii
cp trace.ascii copy
ln -s trace.ascii link
ln trace.ascii hard

# refused FILE COMMAND...: the command would write to FILE, but does not.
refused()
{
	local file=$1

	shift
	run "$HATF" "$@"
	check_status "$*" 2
	check_one_line "$*" "hatf *: $file: input and output are the same file"
	cmp -s copy trace.ascii || fail "$*: the trace has changed"
	cp copy trace.ascii
}

for file in trace.ascii ./trace.ascii link hard; do
	refused "$file" replay --emit-c "$file" trace.ascii
	refused "$file" replay -r 1 -a glibc --html "$file" trace.ascii
	refused "$file" report --html "$file" trace.ascii
	refused "$file" plot --format svg -o "$file" trace.ascii
done
refused link report --html link copy trace.ascii

# Standard output is the trace.
for command in 'replay -e' 'replay -a glibc -r 1 -H' 'report -H' \
	'plot --format svg -o'; do
	# shellcheck disable=SC2086 # words
	"$HATF" $command - trace.ascii 2>err 1<>trace.ascii
	check "$command -" $? 2
	cmp -s copy trace.ascii || fail "$command -: the trace has changed"
	cp copy trace.ascii
done

# Another file, and a device, can be overwritten.
echo old >page
run "$HATF" report --html page trace.ascii
check_status 'another file' 0
run "$HATF" report --html /dev/null trace.ascii
check_status 'a device' 0
finish
