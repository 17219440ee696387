#!/bin/bash
# SPDX-License-Identifier: MIT
#
# jobs.sh - how many commands four jobs take, beside what other tools take
#
# usage: tests/bench/jobs.sh [--sources DIR]
#
# The jobs: find a leak, find who allocates at the peak, draw the heap over
# time, and watch a server.  The programs are xmlwf of expat, zopfli and jq,
# each with a leak (parts/sources.sh), and three servers as Debian ships them.
# The other tools are heaptrack, and memcheck, DHAT and massif of valgrind.
#
# A step is one command, or one action in a graphical program that is needed to
# see the answer.  The script runs all commands; it counts the actions of
# dh_view without doing them.  After the last step it looks for the answer in
# the output.  For a leak and the peak, the answer is a function with its file
# and line.  An answer that does not name them counts as none.  The exit status
# is 1 if hatf has no answer, or if another tool has one in fewer steps.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
# shellcheck source=tests/bench/parts/sources.sh disable=SC1091
. tests/bench/parts/sources.sh
sources=''
if [ $# -eq 2 ] && [ "$1" = --sources ]; then
	sources=$(realpath "$2")
elif [ $# -ne 0 ]; then
	sed -n '/^# usage/s/^# //p' "$0" >&2
	exit 2
fi
for tool in "$HATF" heaptrack heaptrack_print valgrind ms_print vgdb python3; do
	have "$tool" || die "no $tool"
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
OUT=$work
missed=0
on_screen='on the screen' # the answer after an action that is not done here

# step COMMAND...: do a step of the job, and keep what it prints in 'out'.
step()
{
	steps=$((steps + 1))
	"$@" >out 2>&1 </dev/null
}

# by_hand N: count N actions that this script cannot do.
by_hand()
{
	steps=$((steps + $1))
}

# ------------------------------------------------------------ the tools' steps
# TOOL_JOB: do the job for the program "${load[@]}", and leave the answer in
# 'out'.

hatf_record()
{
	rm -f t.hatf*
	# On a terminal, hatf prints this summary without being asked.
	step "$HATF" record --summary always ${wrapper:+--wrapper "$wrapper"} \
		-o t.hatf "${load[@]}"
}

hatf_leak()
{
	hatf_record
	sed -i -n '/^  at the end /p' out
}

hatf_peak()
{
	hatf_record
	sed -i -n '/^  peak /p' out
}

hatf_picture()
{
	hatf_record
	step "$HATF" plot -o out.svg t.hatf
	mv out.svg out
}

hatf_watch()
{
	rm -f t.hatf*
	start "$HATF" record -o t.hatf "${load[@]}"
	step "$HATF" top -n 1 "$(child)"
}

heaptrack_run()
{
	rm -f t.ht.*
	step heaptrack -o t.ht "${load[@]}"
}

heaptrack_leak()
{
	heaptrack_run
	step heaptrack_print -l 1 -p 0 -a 0 -T 0 -f t.ht.*
	sed -i -n '/^MEMORY LEAKS/,/^$/p' out
}

heaptrack_peak()
{
	heaptrack_run
	step heaptrack_print -p 1 -a 0 -T 0 -f t.ht.*
	sed -i -n '/^PEAK MEMORY/,/^$/p' out
}

# On a desktop, heaptrack opens heaptrack_gui, which has a tab for the picture.
heaptrack_picture()
{
	heaptrack_run
	by_hand 1 # click on the tab "Consumed"
	echo "$on_screen" >out
}

memcheck_leak()
{
	step valgrind --leak-check=full "${load[@]}"
	# The last record has the most bytes.
	# shellcheck disable=SC2016 # '${' is sed's
	sed -i -n '/definitely lost in/h; //!H; ${x; p}' out
	sed -i '/SUMMARY/,$d' out
}

# dhat MEASURE: the stack of the row with most of it, as dh_view shows it.
dhat()
{
	step valgrind --tool=dhat --dhat-out-file=t.dhat "${load[@]}"
	by_hand 2 # open dh_view.html, load the file
	python3 - t.dhat "$1" >out <<'PY'
import json
import sys

with open(sys.argv[1]) as file:
    data = json.load(file)
row = max(data["pps"], key=lambda row: row[sys.argv[2]])
print("\n".join(data["ftbl"][frame] for frame in row["fs"]))
PY
}

dhat_leak()
{
	dhat eb
}

dhat_peak()
{
	dhat gb
}

massif_run()
{
	step valgrind --tool=massif --massif-out-file=t.massif "${load[@]}"
}

# The last snapshot.
massif_leak()
{
	massif_run
	step ms_print t.massif
	# shellcheck disable=SC2016 # '${' is sed's
	sed -i -n '/^-----/h; //!H; ${x; p}' out
}

# The row that is marked as the peak, and the tree below it.
massif_peak()
{
	massif_run
	step ms_print t.massif
	python3 - >answer <<'PY'
import re

text = open("out").read()
peak = re.search(r"(\d+) \(peak\)", text).group(1)
rows = re.split(r"(?m)^ +(?=\d+ +[\d,]+ )", text)
print("".join(row for row in rows if row.startswith(peak + " ")))
PY
	mv answer out
}

massif_picture()
{
	massif_run
	step ms_print t.massif
}

massif_watch()
{
	start valgrind --tool=massif "${load[@]}"
	step vgdb --pid="$(child)" detailed_snapshot "$work/t.massif"
	step ms_print t.massif
	sed -i -n '/useful-heap/,$p' out
}

# ------------------------------------------------------------------ the server

# start COMMAND...: begin a server in the background, and wait for its port.
start()
{
	steps=$((steps + 1))
	"$@" >server.out 2>&1 </dev/null &
	server=$!
	for _ in $(seq 300); do
		(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
		sleep 0.1
	done
	# Some load, which its sites come from.
	for _ in $(seq 100); do
		(printf 'get a\r\n' >"/dev/tcp/127.0.0.1/$port") 2>/dev/null
	done
	sleep 1
}

# Print the process id of the server: it is the child of 'hatf record', but
# runs in the same process as valgrind.
child()
{
	local pid

	pid=$(ps -o pid= --ppid "$server" | head -n 1)
	echo $((pid != 0 ? pid : server))
}

stop()
{
	[ -n "$server" ] || return
	kill "$(child)" && wait "$server"
	server=''
}

# ------------------------------------------------------------------- the table

# cell TOOL JOB WANTED: the number of steps, if the output matches.
cell()
{
	steps=0 server=''
	rm -f out
	declare -F "$1_$2" >/dev/null || {
		echo -
		return
	}
	"$1_$2"
	# The stack that the tool names first; its innermost frame is malloc's.
	if head -n 12 out | tr '\n' ' ' | grep -qE "$3"; then
		echo "$steps"
	else
		echo "$steps, no answer"
		cp out "no.$1.$2"
	fi
	stop 2>/dev/null >&2
}

# row JOB NAME WANTED: a row of the table.
row()
{
	local tool got ours=0 best=99 line="| $1 | $2 |"

	for tool in hatf heaptrack memcheck dhat massif; do
		got=$(cell $tool "$1" "$3")
		line+=" $got |"
		[ $tool = hatf ] && ours=$got
		case $got in
		-* | *answer*) ;;
		*) [ "$got" -ge "$best" ] || best=$got ;;
		esac
	done
	echo "$line"
	[ "$ours" = "$best" ] || missed=$((missed + 1))
}

find_sources && copy_sources || exit 1
make_inputs
for name in expat zopfli jq; do
	leak_$name $name && build_$name $name $name.bin || exit 1
done
{
	print_machine
	heaptrack --version
	valgrind --version
} | sed 's/^[^-]/- &/'
echo
echo '| job | program | hatf | heaptrack | memcheck | DHAT | massif |'
echo '|---|---|---:|---:|---:|---:|---:|'
for job in leak peak picture; do
	load=(./expat.bin -n in.xml) wrapper=
	case $job in
	leak) site='addBinding.*xmlparse\.c:[0-9]' ;;
	peak) site='XML_GetBuffer.*xmlparse\.c:[0-9]' ;;
	picture) site="<svg|[KM]B.*\\^|$on_screen" ;;
	esac
	row $job xmlwf "$site"
	load=(./zopfli.bin --i1 -c in.txt)
	[ $job = picture ] || site='ZopfliInitCache.*cache\.c:[0-9]'
	row $job zopfli "$site"
	# All allocations of jq go through functions of its own.
	load=(./jq.bin '.name | length' in.json) wrapper='jv_mem_*'
	case $job in
	leak) site='jvp_string_alloc.*jv\.c:[0-9]' ;;
	peak) site='inst_new.*compile\.c:[0-9]' ;;
	esac
	row $job jq "$site"
done
port=6399
load=(redis-server --port "$port" --save '')
row watch redis-server 'live|useful-heap'
load=(memcached -u nobody -p "$port" -U 0)
row watch memcached 'live|useful-heap'
load=(/usr/bin/python3 -m http.server "$port")
row watch http.server 'live|useful-heap'
echo
echo "jobs.sh: $missed rows in which hatf has no answer or is beaten"
[ $missed -eq 0 ]
