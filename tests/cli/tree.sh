#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tree.sh - 'hatf tree' on headers that are complete, incomplete, or wrong
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# process FILE END EVENTS LINE...: write a trace without events, whose trailer
# states EVENTS events, of a process on $host.
process()
{
	local file=$1 end=$2 events=$3 text='records=1\nlost=0\n'
	shift 3
	header "host=${host-h}" exe=/bin/x unit=us "$@" >"$file"
	[ "$end" = - ] && return
	comment "HATF end\ncomplete=1\nend=$end\nevents=$events\n$text" \
		>>"$file"
}

# tree WHAT [OPTION...] OPERAND...: 'hatf tree' prints the text on standard
# input.
tree()
{
	local what=$1
	shift
	run "$HATF" tree "$@"
	check_text "$what" out
}

mkdir t
cd t || exit 1
process a exit 100 pid=10 pid_start=5 start_monotonic=1000 start_time=1000 \
	command=make
process b exec 20 pid=11 pid_start=6 start_monotonic=1100 start_time=1100 \
	parent_pid=10 parent_trace=/gone/a parent_event=40 \
	parent_event_exact=1 command=make
process c _exit 30 pid=11 pid_start=6 start_monotonic=1200 start_time=1200 \
	'ancestors=10@5 1@1' command=cc
# Started by way of two untraced processes, by the program that process 11 ran
# then.
process d abort 40 pid=12 pid_start=7 start_monotonic=1300 start_time=1300 \
	'ancestors=99@1 98@1 11@6' command=as\\\\x20x
# Later another process got the id of a's process, and has a child.
process e exit 50 pid=10 pid_start=9 start_monotonic=2000 start_time=2000 \
	command=other
process f exit 60 pid=13 pid_start=10 start_monotonic=2100 start_time=2100 \
	ancestors=10@9 command=child
process g - 0 pid=14 pid_start=11 start_monotonic=2200 start_time=2200 \
	parent_pid=77 parent_trace=/x/77 parent_event=3 \
	parent_event_exact=0 command=lost
# Segments without the first one; the order of their names is not their order.
process z2 rotate 7 pid=15 pid_start=12 start_monotonic=2300 start_time=2300 \
	segment=2 events_before=100 command=long
process z1 exit 8 pid=15 pid_start=12 start_monotonic=2300 start_time=2300 \
	segment=3 events_before=107 command=long
cp a copy
echo noise >noise
mkdir sub
mkfifo fifo
cd .. || exit 1

tree all t <<'END'
10 exit, 100 events (t/a): make
`- 11 fork at event 40, exec, 20 events (t/b)
   `- 11 exec, _exit, 30 events (t/c): cc
      `- 12 started through 2 untraced processes, abort, 40 events (t/d): as x
10 exit, 50 events (t/e): other
`- 13 started, exit, 60 events (t/f): child
14 fork about event 3 of process 77, whose trace is missing, no trailer, at least 0 events (t/g): lost
15 exit, 115 events, segments from 2 on (t/z2): long
END
check_status all 0
check_one_line all 'hatf tree: t/copy: ignored: the same trace as t/a'
rm t/copy

# The order of the arguments does not matter; a part of the files is enough.
run "$HATF" tree t/
cp out want
# Of a trace and a truncated copy, 'hatf tree' uses the whole one, whatever
# their names are.
head -c $(($(stat -c %s t/a) - 5)) t/a >t/0cut
run "$HATF" tree t/
check_status 'a cut copy' 0
check_one_line 'a cut copy' 'hatf tree: t/0cut: ignored: the same trace as t/a'
check_text 'a cut copy' out <want
rm t/0cut
run "$HATF" tree t/z1 t/g t/f t/e t/d t/c t/b t/a t/z2 t/a
sed 's,//*,/,' want | tree 'files' t/z1 t/g t/f t/e t/d t/c t/b t/a t/z2 t/a
check_silent files
tree part t/d t/c <<'END'
11 _exit, 30 events (t/c): cc
`- 12 started through 2 untraced processes, abort, 40 events (t/d): as x
END

# Without /proc, the headers have only numbers and times.
mkdir n
process n/a exec 1 pid=10 start_monotonic=1000 start_time=1 command=a
process n/b exit 2 pid=10 start_monotonic=2000 start_time=2 command=b
process n/c exit 3 pid=11 ppid=10 start_monotonic=3000 start_time=3 command=c
process n/d exit 4 pid=10 start_monotonic=4000 start_time=4 command=d
tree 'no /proc' n <<'END'
10 exec, 1 event (n/a): a
`- 10 exec, exit, 2 events (n/b): b
   `- 11 started, exit, 3 events (n/c): c
10 exit, 4 events (n/d): d
END

# Anonymized traces do not name their process: nothing links them.
mkdir anonymous
for name in a b c; do
	{
		header anonymized=1
		comment 'HATF end\ncomplete=1\nend=exec\nevents=1\nrecords=1\n'
	} >anonymous/$name
done
tree 'anonymous' anonymous anonymous/b <<'END'
? exec, 1 event (anonymous/a)
? exec, 1 event (anonymous/b)
? exec, 1 event (anonymous/c)
END
check_silent anonymous

run "$HATF" tree --json t
check_status json 0
check "json: lines" "$(wc -l <out)" 8
sed -n 2p out >got
check_text "json: fork" got <<'END'
{"file":"t/b","files":["t/b"],"depth":1,"parent":"t/a","origin":"fork","untraced":0,"pid":11,"ppid":0,"parent_pid":10,"parent_event":40,"parent_segment":null,"parent_event_exact":true,"host":"h","exe":"/bin/x","command":"make","start_time":1100,"end":"exec","complete":true,"events":20,"lost":0,"peak_live_bytes":null}
END
check "json: segments" \
	"$(sed -n 's/.*"files":\(\[[^]]*z[^]]*\]\).*/\1/p' out)" \
	'["t/z2","t/z1"]'
check "json: orphan" \
	"$(grep -c '"origin":"orphan".*"end":"none","complete":false' out)" 1

# Forks of a parent that had no trace then: it may have one now, or an ancestor
# may have one.
mkdir d
process d/a exit 1 pid=10 pid_start=5 start_monotonic=1000 start_time=1 \
	command=a
process d/b exit 2 pid=11 pid_start=6 start_monotonic=1100 start_time=2 \
	start=late parent_pid=10 ancestors=10@5 command=a
process d/c exit 3 pid=12 pid_start=7 start_monotonic=1200 start_time=3 \
	start=late parent_pid=9 'ancestors=9@1 10@5' command=c
process d/d exit 4 pid=13 pid_start=8 start_monotonic=1300 start_time=4 \
	start=late parent_pid=8 'ancestors=8@1 7@1' command=d
tree 'dormant' d <<'END'
10 exit, 1 event (d/a): a
|- 11 fork, exit, 2 events (d/b)
`- 12 started through 1 untraced process, exit, 3 events (d/c): c
13 fork of process 8, whose trace is missing, exit, 4 events (d/d): d
END

# --sort puts first the child and the root with the largest figure in its
# subtree.
tree 'sorted by start' --sort start d <<'END'
10 exit, 1 event (d/a): a
|- 11 fork, exit, 2 events (d/b)
`- 12 started through 1 untraced process, exit, 3 events (d/c): c
13 fork of process 8, whose trace is missing, exit, 4 events (d/d): d
END
tree 'sorted by events' --sort events d <<'END'
13 fork of process 8, whose trace is missing, exit, 4 events (d/d): d
10 exit, 1 event (d/a): a
|- 12 started through 1 untraced process, exit, 3 events (d/c): c
`- 11 fork, exit, 2 events (d/b)
END

# Of a running process, only the last image runs, whatever its children are.
mkdir x
clk_tck=$(getconf CLK_TCK)
ticks=$(cut -d ' ' -f 22 /proc/$$/stat)
self=("host=$(uname -n)" unit=us "pid=$$"
	"pid_start=$((ticks * (1000000000 / clk_tck)))")
header "${self[@]}" start_monotonic=1 start_time=1 command=a >x/a
host=$(uname -n) process x/b exit 5 pid=12 pid_start=1 start_monotonic=2 \
	start_time=2 "parent_pid=$$" parent_trace=a parent_event=0 command=b
header "${self[@]}" start_monotonic=3 start_time=3 command=c >x/c
tree running --sort start x <<END
$$ no trailer, at least 0 events (x/a): a
|- 12 fork, exit, 5 events (x/b): b
\`- $$ exec, running, at least 0 events (x/c): c
END

# allocating FILE SIZE LINE...: write a trace with one block of SIZE bytes.
allocating()
{
	{
		header host=h unit=us "${@:3}"
		layout
		alloc "$2" 0x1000 0 0 1
	} >"$1"
	trailer "$1" 1 1
}
mkdir p
allocating p/a 10 pid=10 start_monotonic=1 start_time=1 command=a
allocating p/b 20 pid=11 start_monotonic=2 start_time=2 ppid=10 command=b
allocating p/c 30 pid=12 start_monotonic=3 start_time=3 ppid=10 command=c
allocating p/d 40 pid=13 start_monotonic=4 start_time=4 ppid=11 command=d
allocating p/e 20 pid=14 start_monotonic=5 start_time=5 ppid=11 command=e
allocating p/f 20 pid=15 start_monotonic=6 start_time=6 ppid=11 command=f
allocating p/g 35 pid=16 start_monotonic=7 start_time=7 command=g
allocating p/h 50 pid=17 start_monotonic=8 start_time=8 ppid=16 command=h
tree 'sorted by peak' --sort peak p <<'END'
16 exit, 1 event, peak 35 B (p/g): g
`- 17 started, exit, 1 event, peak 50 B (p/h): h
10 exit, 1 event, peak 10 B (p/a): a
|- 11 started, exit, 1 event, peak 20 B (p/b): b
|  |- 13 started, exit, 1 event, peak 40 B (p/d): d
|  |- 14 started, exit, 1 event, peak 20 B (p/e): e
|  `- 15 started, exit, 1 event, peak 20 B (p/f): f
`- 12 started, exit, 1 event, peak 30 B (p/c): c
END
check_silent 'sorted by peak'
run "$HATF" tree --json --sort peak p
check 'sorted, JSON' "$(sed 's/.*"peak_live_bytes":\(.*\)}/\1/' out | xargs)" \
	'35 50 10 20 40 20 20 30'
run "$HATF" tree --sort size p
check_status 'an unknown key' 2

# Forks of a trace in segments.  Some segments are missing, or have other names.
mkdir s
# part FILE NUMBER EVENTS_BEFORE LOST_BEFORE LOST: write a segment.
part()
{
	process "s/$1" rotate 10 pid=10 start_monotonic=1 start_time=1 \
		command=p "segment=$2" "events_before=$3" "lost_before=$4"
	sed -bi "s/^lost=0/lost=$5/" "s/$1"
}
# child FILE PID LINE...: write the trace of a child.
child()
{
	process "s/$1" exit 1 "pid=$2" "start_monotonic=$2" "start_time=$2" \
		command=p "${@:3}"
}
part p.s0002.hatf 2 200 3 4
part p.s0005.hatf 5 500 9 1
part renamed 6 510 10 0
exact=parent_event_exact=1
child a 11 parent_pid=10 parent_trace=/x/p.s0005.hatf parent_event=7 $exact
child b 12 parent_pid=10 parent_trace=/x/p.s0003.hatf parent_event=7 $exact
child c 13 parent_pid=10 parent_trace=/x/p.s0003.hatf parent_event=7
child d 14 parent_pid=10 parent_trace=/x/p.s0003.hatf parent_event=0
child e 15 parent_pid=10 parent_trace=/x/p.s0003.hatf parent_event=0 $exact
child f 16 parent_pid=10 parent_trace=/x/p.s0002.hatf parent_event=0
child g 17 parent_pid=10 parent_trace=/x/p.s0000.hatf parent_event=8 $exact
child h 18 parent_pid=10 parent_trace=/x/p.s0006.hatf parent_event=1 $exact
child i 19 parent_pid=10 parent_trace=/x/0003-p parent_event=1 $exact
child j 20 parent_pid=9 parent_trace=/x/o.s0012.hatf.gz.1 parent_event=1 $exact
child k 21 parent_pid=9 parent_trace=/x/o.s0012.hatf parent_event=0
child l 22 parent_pid=9 parent_trace=/x/o.hatf parent_event=0
child m 23 parent_pid=9 parent_trace=/x/o.s0000.hatf parent_event=2 $exact
tree segments s <<'END'
10 rotate, 520 events, 10 LOST, segments from 2 on with gaps (s/p.s0002.hatf): p
|- 11 fork at event 507, exit, 1 event (s/a)
|- 12 fork at event 7 in segment 3, exit, 1 event (s/b)
|- 13 fork about event 7 in segment 3, exit, 1 event (s/c)
|- 14 fork in segment 3, exit, 1 event (s/d)
|- 15 fork at event 0 in segment 3, exit, 1 event (s/e)
|- 16 fork about event 200, exit, 1 event (s/f)
|- 17 fork at event 8, exit, 1 event (s/g)
|- 18 fork at event 511, exit, 1 event (s/h)
`- 19 fork, exit, 1 event (s/i)
20 fork at event 1 in segment 12 of process 9, whose trace is missing, exit, 1 event (s/j): p
21 fork in segment 12 of process 9, whose trace is missing, exit, 1 event (s/k): p
22 fork of process 9, whose trace is missing, exit, 1 event (s/l): p
23 fork at event 2 of process 9, whose trace is missing, exit, 1 event (s/m): p
END
run "$HATF" tree --json s
check "segments: events" "$(sed -n 's/.*"parent_event":\([^,]*\),.*/\1/p' out |
	tr '\n' ' ')" 'null 507 7 7 null 0 200 8 511 null 1 null null 2 '
numbers=$(sed -n 's/.*"parent_segment":\([^,]*\),.*/\1/p' out | tr '\n' ' ')
check "segments: numbers" "$numbers" \
	'null null 3 3 3 3 null null null null 12 12 null null '

tree 'no sort of nothing' --sort events t/a <<'END'
10 exit, 100 events (t/a): make
END

# Wrong headers: a cycle of two, a process that is its own parent, escape
# sequences for a terminal.
mkdir lies
process lies/a exit 1 pid=10 start_monotonic=5 parent_pid=11 parent_trace=b \
	parent_event=1
process lies/b exit 1 pid=11 start_monotonic=5 parent_pid=10 parent_trace=a \
	parent_event=1
process lies/c exit 1 pid=12 start_monotonic=5 parent_pid=12 parent_trace=c \
	parent_event=99999999999999999999999
process lies/d "$(printf '\\\\x1b[2J')" 1 pid=13 start_monotonic=6 \
	'command=\\x1b[2Jred' 'ancestors=@@ 1@ x'
process lies/e exit 1 pid=14 segment=18446744073709551615 start_monotonic=7 \
	events_before=18446744073709551615 ancestors=13@
process lies/f exit 1 pid=x ppid=-1 ancestors=
process lies/g exit 1 pid=15 start_monotonic=8 parent_pid=13 \
	parent_trace=.s99999999999999999999999 parent_event=1
run timeout 20 "$HATF" tree lies
check_status lies 0
check "lies: lines" "$(wc -l <out)" 7
grep -q "$(printf '\033')" out && fail "lies: an escape sequence"
run timeout 20 "$HATF" tree --json lies
check "lies: JSON" "$(wc -l <out)" 7

# More generations of processes than real programs have.
mkdir deep
process deep/1000 exit 1 pid=1000 start_monotonic=1000 ppid=0999 command=deep
for i in $(seq 1001 1300); do
	sed -b "s/pid=1000/pid=$i/; s/=1000/=$i/; s/ppid=0999/ppid=$((i - 1))/
		s/records=1/records=1/" deep/1000 >"deep/$i"
done
run timeout 20 "$HATF" tree deep
check_status deep 0
check "deep: lines" "$(wc -l <out)" 301
check "deep: depth" "$(tail -n 1 out | cut -c 1-24)" "... 300 deep: 1300 start"

run timeout 20 "$HATF" tree --sort events deep
check_status 'deep, sorted' 0
check 'deep, sorted: lines' "$(wc -l <out)" 301

# Files that are no traces, or do not exist.
run "$HATF" tree noise t
check_status 'not there' 1
run "$HATF" tree t/noise
check_status noise 1
mkdir empty
run "$HATF" tree empty
check_status empty 1
check_one_line empty 'hatf tree: empty: contains no trace (*'
run "$HATF" tree
check_status usage 2
finish
