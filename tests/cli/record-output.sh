#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record-output.sh - where 'hatf record' writes traces, and its messages
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD/libhatftrace.so" ] || skip 'no libhatftrace.so'
top=$PWD

# summary WHAT PATTERN...: the last line that the last run wrote to stderr
# matches PATTERN.  Several words are one pattern.
summary()
{
	local what=$1 pattern

	shift
	pattern="$*"
	# shellcheck disable=SC2254 # the text is a pattern
	case $(tail -1 err) in
	'hatf record: '$pattern) ;;
	*) fail "$what: '$(tail -1 err)', want '$pattern'" ;;
	esac
}

# The default output is in the directory in which 'hatf record' was started.
run "$HATF" record -- sh -c 'cd / && echo $$'
check_status default 0
pid=$(cat out)
summary default "*.$pid.hatf.gz: * events*, * bytes/event," \
	'no events lost'
ls ./*".$pid.hatf.gz" >/dev/null 2>&1 || fail "default: $(ls)"
run "$HATF" verify ./*".$pid.hatf.gz"
check_status 'default: verify' 0
check 'default: mode' "$(stat -c %a ./*".$pid.hatf.gz")" 600

# The summary has the figures of 'hatf info'.
run "$HATF" record -o f.hatf.gz -- ls
said=$(sed -nE 's/.*: ([0-9 ]+) events.*/\1/p' err | tr -d ' ')
check 'figures' "$said" "$("$HATF" info --json f.hatf.gz |
	sed -E 's/.*"events":([0-9]+).*/\1/')"

# A line says that the name of the trace was taken.
# taken WHAT [LINE]: what the last run printed on stderr before the summary.
taken()
{
	check "$1" "$(grep -v '[0-9] events' err)" "${2-}"
}

taken 'a new name'
for i in 1 2; do
	run "$HATF" record -o f.hatf.gz -- ls
	summary "taken $i" "f.hatf.gz.$i: * events*"
	taken "taken $i" "hatf record: f.hatf.gz exists already, so the trace \
is f.hatf.gz.$i"
done
run "$HATF" record -o '%e.%n.hatf' -- sh -c :
taken 'a running number'
run "$HATF" record -o '%e.hatf' -- ls
run "$HATF" record -o '%e.hatf' -- ls
taken 'taken, %e' "hatf record: ls.hatf exists already, so the trace is \
ls.hatf.1"
# The other traces of the same run do not count, nor does a file with a shorter
# name.
run "$HATF" record -o e.hatf -- sh -c 'ls; exec ls'
summary 'an exec' 'e.hatf.[12]: * events*'
taken 'an exec'
: >g.hatf
run "$HATF" record -o g.hatf.1 -- ls
taken 'a name with a number'
run "$HATF" record -r 64K -o r.hatf -- ls
taken 'segments'
run "$HATF" record -r 64K -o r.hatf -- ls
taken 'taken, segments' "hatf record: r.s0000.hatf exists already, so the \
trace is r.s0000.hatf.1"

# A relative name refers to the starting directory, whose own name may contain
# '%' and blanks.
mkdir 'a b%p%' 'a b%p%/traces'
cd 'a b%p%' || exit 1
run "$HATF" record -z none -o traces/%e-%n%%.hatf -- ls /
check_status relative 0
summary relative 'traces/ls-*%.hatf: * no events lost'
check 'relative: files' "$(find . -type f | wc -l)" 3
run "$HATF" dump --count 1 traces/*
check_status 'relative: plain HATF' 0
cd "$top" || exit 1

# An existing file is not overwritten, and the summary has the new file's name.
echo mine >taken.hatf.gz
run "$HATF" record -o taken.hatf.gz -- sh -c 'echo; ls >/dev/null; exit 0'
check 'taken' "$(cat taken.hatf.gz)" mine
summary taken 'taken.hatf.gz.1: * (+ 1 trace of child processes,' \
	'no events lost in these)'
# Old traces are not counted.
run "$HATF" record -o taken.hatf.gz -- sh -c 'echo; exit 0'
summary 'taken again' 'taken.hatf.gz.3: * no events lost'

# The summary counts the traces before an exec, and those of children and
# grandchildren.
run "$HATF" record -o tree.%e.%p.hatf.gz -- sh -c 'sh -c "ls; ls; :"; exec ls'
check_status tree 0
summary tree 'tree.ls.*: * (+ 1 trace before exec,' \
	'3 traces of child processes, no events lost in these)'
check 'tree: files' "$(find . -name 'tree.*' | wc -l)" 5
run "$HATF" verify tree.*
check_status 'tree: verify' 0

# The command moves or removes the trace or its directory.  With BEGIN=now the
# file exists from the first event on.
mkdir moved
export HATFTRACE_BEGIN=now
run "$HATF" record -o moved/m.hatf.gz -- mv moved away
check_status moved 1
check_one_line moved 'hatf record: mv left no trace:' \
	"the directory of moved/m.hatf.gz was moved to $PWD/away"
run "$HATF" verify away/m.hatf.gz
check_status 'moved: verify' 0
run "$HATF" record -o gone.hatf.gz -- rm gone.hatf.gz
check_status gone 1
summary gone 'rm left no trace: gone.hatf.gz was removed while the program ran'

mkdir removed
run "$HATF" record -o removed/m.hatf.gz -- rm -r removed
check_status removed 1
summary removed 'rm left no trace: m.hatf.gz was removed while the program ran'
run "$HATF" record -o before.hatf.gz -- mv before.hatf.gz after.hatf.gz
check_status renamed 1
summary renamed \
	'mv left no trace: before.hatf.gz was moved while the program ran'
unset HATFTRACE_BEGIN
run bash -c 'ulimit -v 30000; exec "$@"' bash "$HATF" record -G \
	-o small.hatf.gz -- true
check_status 'little memory' 1
summary 'little memory' 'true left no trace:' \
	'libhatftrace.so printed the reason above, or *'
check 'little memory: the reason' "$(head -1 err)" \
	"hatftrace: RLIMIT_AS or RLIMIT_DATA leaves too little memory; not\
 tracing"
run bash -c 'ulimit -v 30000; exec "$@"' bash "$HATF" record \
	-o small.hatf.gz -- sh -c 'kill -9 $$'
check_status 'killed untraced' 137
summary 'killed untraced' \
	'sh left no trace: a signal ended it before it had begun a trace'

# The executable's name is too long for the name of the trace.
long=$(printf 'x%.0s' {1..250})
wide=$(printf '\303\251%.0s' {1..125})
for name in "$long" "$wide"; do
	cp "$(type -P true)" "$name"
	for option in -v -r64K; do
		run "$HATF" record "$option" "./$name"
		check_status "long name $option" 0
		summary "long name $option" '* events* no events lost'
		summary "long name $option: has whole characters" \
			"${name:0:200}*"
	done
	run "$HATF" record -o '%e-%e.%p.hatf' "./$name"
	check_status 'long name twice' 0
	rm "$name"
done
check 'long names: whole characters' \
	"$(find . -name '*.hatf*' | iconv -f UTF-8 -t UTF-8 2>&1 | wc -l)" \
	"$(find . -name '*.hatf*' | wc -l)"

# Other preloaded libraries are kept.
LD_PRELOAD=libc.so.6 run "$HATF" record -o l.hatf.gz -- printenv LD_PRELOAD
check LD_PRELOAD "$(cat out)" "$(realpath "$BUILD")/libhatftrace.so:libc.so.6"

# refused WHAT PATTERN OPTION...: 'hatf record' cannot write the trace and does
# not run the command.
refused()
{
	local what=$1 pattern=$2
	shift 2
	rm -f ran
	run "$HATF" record "$@" -- touch ran
	check_status "$what" 1
	check_one_line "$what" "hatf record: $pattern"
	[ -e ran ] && fail "$what: the command was run"
}

refused 'no directory' 'cannot write to directory */none: No such file*' \
	-o none/x.hatf.gz
refused 'a file for a directory' 'cannot write to directory */f.hatf.gz: Not*' \
	-o f.hatf.gz/x
refused 'a directory for a file' 'cannot write to *: Is a directory' \
	-o 'a b%%p%%'
refused 'a device' 'cannot write to */dev*: *' -o /dev/null
# Directories in which not even root can make a file.
refused 'procfs' 'cannot write to directory /proc: *' -o /proc/x
refused 'procfs, a template' 'cannot write to directory /proc: *' \
	-o /proc/%e.%p
[ "$(stat -f -c %T /sys/kernel 2>/dev/null)" = sysfs ] &&
	refused 'sysfs' 'cannot write to directory /sys/kernel: *' \
		-o /sys/kernel/x
HATFTRACE_OUT=none/%p refused 'from the environment' 'cannot write to *'
HATFTRACE_LIB=none.so refused 'no library' 'HATFTRACE_LIB: none.so: No such*'
HATFTRACE_LIB=/dev/null refused 'a device as the library' \
	'/dev/null: cannot be loaded as a library'
mkdir 'with blank'
cp "$BUILD/libhatftrace.so" 'with blank/'
HATFTRACE_LIB='with blank/libhatftrace.so' refused 'a blank in its path' \
	'*: LD_PRELOAD cannot hold a path with a blank or a colon'
if [ "$(id -u)" -ne 0 ]; then
	mkdir -m 555 readonly
	refused 'read-only' 'cannot write to directory *: Permission denied' \
		-o readonly/x
fi

# If the disk is full at the start, 'hatf record' says so and does not run the
# command.  If the disk fills up during the recording, the program goes on
# unharmed, and the trace up to there is readable.
mkdir full
if [ "$(id -u)" -eq 0 ] &&
	mount -t tmpfs -o size=1m none full 2>/dev/null; then
	seq 150000 >numbers
	# The trailer takes some hundred bytes.  If the last block ends less
	# than that before the end of a page, no trailer fits on the full disk.
	# Another run ends its blocks elsewhere.
	for _ in 1 2 3 4; do
		rm -f full/x.hatf
		# shellcheck disable=SC2016 # awk's
		run "$HATF" record -z none -o full/x.hatf -- \
			awk '{ a[$1] = $1 } END { print length(a) }' numbers
		grep -q 'the trailer is missing' err || break
	done
	check_status 'disk filled' 1
	check 'disk filled: output' "$(cat out)" 150000
	summary 'disk filled' 'full/x.hatf: * bytes/event,' \
		'ended early (no space left on device): * events LOST by' \
		'then; later events are not counted'
	grep -q '^hatftrace: .*no space left' err ||
		fail "disk filled: no message of the recorder: $(cat err)"
	head -c 1M /dev/zero >full/rest 2>/dev/null
	refused 'disk full' 'cannot write to directory *: No space left*' \
		-o full/y.hatf
	umount full
fi

# The exit status is 1 if the trace is incomplete and the command succeeds.
# short WHAT STATUS ARGUMENT...: run 'hatf record ARGUMENT...' with a small
# limit on the size of files.
short()
{
	local what=$1 want=$2
	shift 2
	run bash -c 'ulimit -f 32 && exec "$@"' bash "$HATF" record -z none "$@"
	check_status "$what" "$want"
}

# shellcheck disable=SC2016 # perl's
fill='$a{$_} = [1] for 1 .. 20000;'
short 'file size limit' 1 -o limit.hatf -- perl -e "$fill"
summary 'file size limit' \
	'limit.hatf: * ended early (file size limit exceeded):' \
	'* events LOST by then; later events are not counted'
run "$HATF" info limit.hatf
check_status 'file size limit: info' 1
short 'file size limit, and 3' 3 -o limit3.hatf -- perl -e "$fill exit 3"
short 'file size limit before exec' 1 -o 'exec.%e.hatf' -- \
	perl -e "$fill exec 'true'"
text='hatf record: exec.perl.hatf: NOT COMPLETE: ended early (file size'
grep -q "^$text" err || fail "file size limit before exec: $(cat err)"
run "$HATF" record -f drop -b 4K -o drop.hatf.gz -- perl -e "$fill" -e "$fill"
case $(tail -1 err) in
*' events LOST') check_status 'drop' 1 ;;
*) check_status 'drop, no events lost' 0 ;;
esac

# A statically linked program cannot be traced.
if command -v "${CC:-cc}" >/dev/null &&
	echo 'int main(void) { return 0; }' >s.c &&
	"${CC:-cc}" -static -o static s.c 2>/dev/null; then
	run "$HATF" record -o static.hatf.gz -- ./static
	check_status static 1
	check_one_line static \
		'hatf record: ./static is statically linked: it runs untraced'
fi

finish
