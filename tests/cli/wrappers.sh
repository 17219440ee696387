#!/bin/bash
# SPDX-License-Identifier: MIT
#
# wrappers.sh - the callers of a program's own allocation functions are shown
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v jq >/dev/null || skip 'no jq'

# frame ID LINE..., stack ID PARENT FRAME: definitions.
frame()
{
	local text

	text=$(printf '%s\\n' "${@:2}")
	comment "HATF frame\nframe=$1\n$text"
}
stack()
{
	comment "HATF stack\nstack=$1\nparent=$2\nframe=$3\n"
}

# A library without symbols allocates for two functions, in two places.  A
# thread began in a frame of the recorder.
{
	header unit=us
	layout
	text='HATF object\nobject=/lib/libdb.so.0\nbase=0x0\naddress=0x1000\n'
	comment "${text}size=900000\noffset=0x1000\n"
	frame 1 function=main file=app.c line=9
	frame 2 function=sort file=app.c line=5
	frame 3 function=load file=app.c line=3
	frame 4 object=/lib/libdb.so.0 address=0xa7504
	frame 5 object=/lib/libdb.so.0 address=0xa74b9
	frame 6 function=thread_main file=/src/interpose_thread.c line=105 \
		object=/lib/libhatftrace.so
	frame 7 function=clone object=/lib/libc.so.6
	stack 1 0 7
	stack 2 1 6
	stack 3 2 1
	stack 4 3 2
	stack 5 4 4
	stack 6 3 3
	stack 7 6 4
	stack 8 6 5
	alloc 570 0x1000 0 0 10 '\x45\x05'
	alloc 30 0x2000 0 0 20 '\x45\x07'
	alloc 400 0x3000 0 0 30 '\x45\x08'
} >db.hatf
trailer db.hatf 3 20

# sites OPTION...: the sites by their live bytes, with these bytes.
sites()
{
	run "$HATF" stat --json --at-end "$@" db.hatf
	check_status "stat $*" 0
	jq -r '.rows[] | "\(.at_end.bytes) \(.name)"' out
}
callers=$(printf '%s\n' '570 sort (app.c:5)' '430 load (app.c:3)')
for glob in 'libdb*' '/lib/libdb.so.0+0xa7*' '*libdb*'; do
	check "--wrapper '$glob'" "$(sites --wrapper "$glob")" "$callers"
	check_silent "--wrapper '$glob'"
done
check 'one place' "$(sites --wrapper 'libdb.so.0+0xa7504')" \
	"$(printf '%s\n' '570 sort (app.c:5)' '400 /lib/libdb.so.0+0xa74b9' \
		'30 load (app.c:3)')"

# A wrapper that hides nothing is said, by each command.
for command in stat report leaks 'plot --by site -o x.svg' \
	'report --html x.html'; do
	# shellcheck disable=SC2086 # several words
	run "$HATF" $command --wrapper 'libdb*' --wrapper 'lidb*' db.hatf
	check_status "$command, nothing hidden" 0
	check_one_line "$command, nothing hidden" \
		"hatf ${command%% *}: db.hatf: --wrapper 'lidb\*'" \
		'hides no frame'
done
for options in '--by thread' --raw-stacks; do
	# shellcheck disable=SC2086 # several words
	run "$HATF" stat $options --wrapper x db.hatf
	check_silent "stat $options --wrapper x"
done

# The frames of the recorder are not the program's.
# frames OPTION...: the functions of the stack of the largest block.
frames()
{
	"$HATF" "$@" db.hatf | sed -n '/libdb.so.0+0xa7504$/,/clone$/p' |
		grep -oE '(sort|main|thread_main|clone)( |$)' | head -n 4 |
		xargs
}
for command in leaks dump; do
	check "$command --stacks" "$(frames $command --stacks |
		cut -d ' ' -f 1-3)" 'sort main clone'
	check "$command --stacks --raw-stacks" \
		"$(frames $command --stacks --raw-stacks)" \
		'sort main thread_main clone'
done

for format in folded dhat pprof heaptrack; do
	for option in '' --raw-stacks --fold-std; do
		# shellcheck disable=SC2086 # no option
		run "$HATF" convert --to $format $option db.hatf converted
		python3 - converted >names <<'END'
import gzip, sys
data = open(sys.argv[1], "rb").read()
data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
print(*(name for name in ("sort", "load", "thread_main")
        if name.encode() in data))
END
		want='sort load'
		[ "$option" != --raw-stacks ] || want="$want thread_main"
		check "--to $format $option" "$(cat names)" "$want"
	done
done
run "$HATF" convert --to folded db.hatf -
check 'folded' "$(grep sort out)" 'clone;main;sort;/lib/libdb.so.0+0xa7504 570'
run "$HATF" report --html page.html db.hatf
check 'the page' "$(grep -oE '"(sort|load|thread_main)"' page.html | sort -u |
	xargs)" 'load sort'
run "$HATF" report --raw-stacks --html page.html db.hatf
check 'the page, --raw-stacks' "$(grep -c '"thread_main"' page.html)" 1
run "$HATF" convert --fold-std db.hatf folded.hatf
run "$HATF" verify folded.hatf
check_status 'verify of a trace without frames of the recorder' 0

# 'report' names the main caller of a site whose stacks divide, by the figure of
# the list, and how to list the callers.
run "$HATF" report db.hatf
sed -n '/^Live at the peak/,/^Live at/p; /^Most all/,/%/p' out | grep '^  ' >got
check_text 'report' got <<'END'
       600 B            2   60 %  /lib/libdb.so.0+0xa7504 < sort
       400 B            1   40 %  /lib/libdb.so.0+0xa74b9
  to list callers instead of this function: --wrapper 'libdb.so.0+0xa7504'
       600 B            2   67 %  /lib/libdb.so.0+0xa7504 < load
END
run "$HATF" report --wrapper 'libdb*' db.hatf
grep -E ' < | to list ' out && fail 'report: a caller where no stacks divide'
run "$HATF" report --json db.hatf
check 'report --json' "$(jq -c '[.at_peak[].caller, .by_count[0].caller]' \
	out)" '["sort",null,"load"]'
# So does 'leaks', but not if it prints whole stacks or hides no frames.
run "$HATF" leaks db.hatf
hint="  to list callers instead of this function: --wrapper"
grep -qx "$hint 'libdb.so.0+0xa7504'" out || fail "leaks: $(cat out)"
for option in 'leaks --stacks' 'leaks --wrapper libdb*' 'leaks --raw-stacks' \
	'report --raw-stacks'; do
	# shellcheck disable=SC2086 # a command and its options
	run "$HATF" $option db.hatf
	! grep ' to list ' out || fail "$option"
done
# Stacks that divide further out.  A name that a shell would not take as it is
# is in no advice.
{
	header unit=us
	layout
	frame 1 "function=a';ls"
	frame 2 'function=get(int)'
	frame 3 function=parse
	frame 4 function=print
	stack 1 0 3
	stack 2 0 4
	stack 3 1 2
	stack 4 2 2
	stack 5 3 1
	stack 6 4 1
	alloc 10 0x1000 0 0 0 '\x45\x05'
	alloc 20 0x2000 0 0 0 '\x45\x06'
} >far.hatf
trailer far.hatf 2 13
run "$HATF" report far.hatf
check_silent 'far'
sed -n '/^Live at the peak/,/^Live at/p' out | grep '^  ' >got
check_text 'far' got <<'END'
        30 B            2  100 %  a';ls <.. print
  to list callers instead: --wrapper GLOB
END

# Commands that read several traces name a wrapper that hides nothing in any of
# them: 'libdb*' hides frames of one trace, and 'a*' of the other.
cat >own.limits <<'END'
wrapper a*
wrapper lidb*	# a typing error
peak 1G
END
printf 'wrapper %s\n' 'libdb*' 'a*' >right.limits
several()
{
	local line=$1

	shift
	run "$HATF" "$@" db.hatf far.hatf
	check_status "$*: $(cat out)" 0
	check "$*" "$(cat err)" "hatf ${1%% *}: $line"
}
several "--wrapper 'lidb*' hides no frame" \
	diff --wrapper 'libdb*' --wrapper 'lidb*' --wrapper 'a*'
several "--wrapper 'lidb*' hides no frame" \
	check --wrapper 'libdb*' --wrapper 'lidb*' --wrapper 'a*' --max-peak 1G
several "own.limits:2: wrapper 'lidb*' hides no frame" \
	check --wrapper 'libdb*' --limits own.limits
several "own.limits:2: wrapper 'lidb*' hides no frame" \
	check --limits own.limits --limit 'site get peak 1G'
for options in 'diff --by thread --wrapper x' 'diff --raw-stacks --wrapper x' \
	'diff --wrapper libdb* --wrapper a*' \
	'check --raw-stacks --wrapper x --max-peak 1G' \
	'check --limits right.limits --max-peak 1G'; do
	# shellcheck disable=SC2086 # several words
	run "$HATF" $options db.hatf far.hatf
	check_status "$options" 0
	check_silent "$options"
done
# The wrapper comes from the baseline.
run "$HATF" check --wrapper 'libdb*' --baseline db.base --update db.hatf
check_silent 'update'
run "$HATF" check --baseline db.base far.hatf
check_one_line 'a wrapper of the baseline' \
	"hatf check: db.base: wrapper 'libdb\*' hides no frame"
finish
