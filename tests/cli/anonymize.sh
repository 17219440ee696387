#!/bin/bash
# SPDX-License-Identifier: MIT
#
# anonymize.sh - an anonymized trace has the figures and none of the names
#
# anonymize.py compares an anonymized trace with the original one.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
data=$CLI/../data

# same TRACE [LEAST]: anonymize a trace and compare, which finds at least LEAST
# names.
same()
{
	run "$HATF" convert --anonymize "$1" same.hatf
	run "$PYTHON" "$CLI/anonymize.py" "$HATF" "$1" same.hatf
	check_status "$1: $(cat err)" 0
	[ "$(cat out)" -ge "${2:-0}" ] || fail "$1: only $(cat out) names"
}

# ------------------------------------------------- a name in every known place
m=mArKeR
frame()
{
	local text="HATF frame\nframe=$1\nfunction=$2\nfile=/$m/9/$m-10.c\n"
	comment "${text}line=7\nobject=/$m/11/$m-12.so\naddress=0x55$1\n"
	comment "HATF stack\nstack=$1\nframe=$1\n"
}
{
	header clock=us unit=us start_time=1700000000123456789 \
		start_monotonic=4242 pid=31337 ppid=31336 pid_start=123454321 \
		ancestors=31336@123451234 exe=/home/$m/1/app cwd=/home/$m/2 \
		host=$m-host command="app --$m $m" rings=/run/$m \
		page_size=4096 \
		arch=$m allocator=/opt/$m/libc.so full=$m segment=$m \
		previous=$m-3 live=$m source=$m tracename=$m author=$m date=$m \
		description=$m runtime=$m context=$m dtd=$m page_count=777777 \
		parent_pid=31336 parent_trace=$m-4 "$m=$m" snapshot_=$m
	object="object=/$m/5.so\naddress=0x5500\nsize=4096\nbase=0x5500\n"
	comment "HATF object\n${object}build_id=deadbeef0042\n$m=$m\n"
	frame 1 "$m::parse_line(int)"
	frame 2 malloc
	frame 3 "std::vector<$m>::push_back($m&&)"
	frame 4 'operator new(unsigned long)'
	comment "HATF thread\nthread=0\nname=$m-thread\n"
	comment "HATF mark\nthread=0\ntime=3\ntext=$m begins\n"
	comment "HATF $m\n$m=1\n"
	comment "HATF suppression\ntext=$m\ntime=0\n"
	comment "HATF system\nuse=$m\naddress=0x1000\nsize=4096\n"
	comment "HATF lost\nthread=0\ncount=1\nfrom=$m\nto=1\n"
	comment "$m without a kind"
	comment "HATF frame\nframe=9\nline=$m\nfunction=f9\n"
	layout
	thread_event 8 1 4 "\x81\x08$m-t\x43\xb9\xf4\x01\x82\x06$m"
	heap_event 6 1 0 5 "\x81\x08$m-h"
	alloc 24 0x5581a0 1 0 6 "\x45\x01\x82\x06$m"
	alloc 48 0x558200 0 0 7 '\x45\x02'
	alloc 48 0x558240 0 0 8 '\x45\x03'
	alloc 48 0x558280 0 1 9 '\x45\x04'
	free 0x5581a0 1 0 10 "\x82\x06$m"
} >places.hatf
trailer places.hatf 5 25 complete=0 end=error lost=1 threads=2 \
	"error=write /home/$m: No space" "missed=calls of $m" "$m=$m"
strings -a places.hatf | grep -c $m >count
[ "$(cat count)" -gt 20 ] || fail 'the trace has no names'
run "$HATF" convert --anonymize places.hatf anonymous.hatf
check_status 'an incomplete trace' 1
text='left out 3 comments that may identify the owner'
grep -q "^hatf convert: anonymous.hatf: $text\$" err ||
	fail "left out: $(cat err)"
for secret in $m 31337 31336 1700000000 123454321 deadbeef0042 777777 4242; do
	strings -a anonymous.hatf | grep -q -- "$secret" &&
		fail "$secret is in the anonymized trace"
done
same places.hatf 10
# What is hidden in sites stays hidden.
run "$HATF" dump -m anonymous.hatf
for want in 'function=function_1\\n' 'function=malloc\\n' \
	'function=std::function_2\\n' 'function=operator new(function_3)\\n' \
	'parent_pid=1\\n' 'anonymized=1\\n' \
	'name=thread_1\\n' 'text=mark_1\\n'; do
	grep -q "$want" out || fail "no $want in the anonymized trace"
done

# In each format, all that is written is anonymous.
for format in hatf ascii csv json xml binary split splitaddr hummingbird \
	mtrace android folded dhat pprof heaptrack memtrace mtrc mptrace; do
	run "$HATF" convert --anonymize -p -t $format places.hatf out.$format
	[ -s out.$format ] || {
		fail "nothing in $format: $(cat err)"
		continue
	}
	strings -a out.$format | grep -q $m && fail "$format has the name"
	grep -qa $m out.$format && fail "$format has the name"
done

# ----------------------------------------------- traces of systems and versions
count=0
for trace in "$data"/golden/*.hatf "$data"/formats/* "$data"/foreign/*/*; do
	"$HATF" info "$trace" >/dev/null 2>&1 || continue
	same "$trace"
	count=$((count + 1))
done
[ "$count" -gt 20 ] || fail "only $count traces"

# ------------------------------------------------------------ recorded programs
"$HATF" record -o python.hatf.gz "$PYTHON" -S -c '
import threading
x = [str(i) for i in range(300)]
t = threading.Thread(target=lambda: x.append("y" * 5000), name="secret")
t.start()
t.join()' 2>err || fail "$(cat err)"
same python.hatf.gz 20
mkdir tree
"$HATF" record -o tree/%e.%p.hatf "$BASH" -c \
	'(echo "$(ls /)" | sort) >/dev/null' 2>err || fail "$(cat err)"
for trace in tree/*.hatf; do
	same "$trace" 1
	run "$HATF" verify same.hatf
	check_status "verify $trace: $(cat err)" 0
done
HATFTRACE_BEGIN=now "$HATF" record -o killed.hatf "$PYTHON" -S -c '
import os, signal
x = [str(i) for i in range(300)]
os.kill(os.getpid(), signal.SIGKILL)' 2>err &
wait $! 2>/dev/null
same killed.hatf 5

# A program's own events: each stays, without its text.
cat >events.c <<'END'
#include <hatftrace.h>
#include <stdlib.h>
int
main(void)
{
	for (int i = 0; i < 50; i++) {
		free(malloc(100));
		hatftrace_event("mArKeR", "path=/mArKeR/%d\n", i);
	}
	return 0;
}
END
gcc -I "$CLI/../../preload" -fno-builtin -o events events.c ||
	fail 'gcc failed'
"$HATF" record -o events.hatf ./events 2>err || fail "$(cat err)"
check 'events' "$("$HATF" dump events.hatf | grep -c $m)" 50
run "$HATF" convert --anonymize -p events.hatf anonymous.hatf
check_status "events: $(cat err)" 0
grep -qa $m anonymous.hatf && fail 'the text of an event is left'
check 'anonymous events' "$("$HATF" dump anonymous.hatf |
	grep -c 'event thread')" 50

# ------------------------------------------------------------- a file of names
run "$HATF" convert --anonymize --names names python.hatf.gz one.hatf
check_status 'a new file of names' 0
check 'mode of the file' "$(stat -c %a names)" 600
cp names before
run "$HATF" convert --anonymize --names names python.hatf.gz two.hatf
cmp -s names before || fail 'known names are written anew'
cmp -s one.hatf two.hatf || fail 'pseudonyms differ from run to run'
"$HATF" record -o other.hatf "$PYTHON" -S -c 'x = [0] * 100' 2>err
run "$HATF" convert --anonymize --names names other.hatf three.hatf
head -n "$(wc -l <before)" names | cmp -s - before || fail 'old names are lost'
run "$HATF" diff one.hatf three.hatf
check_status 'diff of anonymized traces' 0
if [ "$(uname -m)" = x86_64 ]; then
	line=$(grep -m 1 '^module_[0-9]* .*python' names)
	[ -n "$line" ] || fail 'the file of names lacks the program'
fi
printf 'function_1 main\nfile_x y\n' >names
run "$HATF" convert --anonymize --names names other.hatf four.hatf
check_status 'a wrong file of names' 1
check_one_line 'a wrong file of names' \
	"hatf convert: names:2: not a pseudonym and a name (*'function_1 main')"
[ -e four.hatf ] && fail 'a wrong file of names has an output'
run "$HATF" convert --names names other.hatf four.hatf
check_status '--names alone' 2

# If the new names do not fit on the disk, the old file stays as it is.
cp before names
chmod 640 names
(
	trap '' XFSZ
	ulimit -f 1
	exec "$HATF" convert --anonymize -t hatf --names names other.hatf -
) 2>err | cat >five.hatf
check 'no space' "$(cat err)" 'hatf convert: names: File too large'
cmp -s names before || fail 'no space: the old names are damaged'
check 'no space' "$(echo names*)" names
ln -s names link
run "$HATF" convert --anonymize --names link events.hatf five.hatf
check_status 'a link to names' 0
[ -L link ] || fail 'the link to the names is gone'
[ "$(wc -l <names)" -gt "$(wc -l <before)" ] || fail 'a link: no new names'
check 'mode of old names' "$(stat -c %a names)" 640

# refused STATUS MESSAGE NAMES: a file of names that is refused before anything
# is written.
refused()
{
	rm -f six.hatf
	run "$HATF" convert --anonymize --names "$3" other.hatf six.hatf
	check_status "$2" "$1"
	check_one_line "$2" "hatf convert: $2"
	[ -e six.hatf ] && fail "$2: there is an output"
}
refused 1 '/dev/zero: not a regular file' /dev/zero
refused 1 '.: not a regular file' .
mkfifo pipe
refused 1 'pipe: not a regular file' pipe
truncate -s 3G endless
refused 1 'endless:1: the line has a zero byte' endless
{
	printf 'function_1 '
	head -c 300000 /dev/zero | tr '\0' x
} >long
refused 1 'long:1: the line is too long' long
printf 'function_1 a\nfunction_2 a\0b\n' >zero
refused 1 'zero:2: the line has a zero byte' zero
printf 'function_1 a\nfile_1 a\nfunction_1 b\n' >twice
refused 1 'twice: function_1 stands for more than one name' twice
refused 1 'nowhere/names: No such file or directory' nowhere/names
run "$HATF" convert --anonymize --names new.names nothing.hatf six.hatf
check_status 'no trace' 1
[ -e new.names ] && fail 'no trace, but a file of names'
for same in six.hatf ./six.hatf; do
	rm -f six.hatf
	run "$HATF" convert --anonymize --names $same other.hatf six.hatf
	check_status 'names in the output' 2
	[ -e six.hatf ] && fail 'names in the output: there is an output'
done
run "$HATF" convert --anonymize --names - other.hatf six.hatf
check_status 'names on standard output' 2
run "$HATF" convert --anonymize --names names other.hatf six.hatf
ln -f names six.names
cp names before
run "$HATF" convert --anonymize --names names -t hatf other.hatf six.names
check_status 'names linked to the output' 2
cmp -s names before || fail 'names linked to the output: names are lost'
finish
