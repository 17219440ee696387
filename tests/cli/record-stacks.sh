#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record-stacks.sh - 'hatf record' leaves traces with functions and lines
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v eu-addr2line >/dev/null || skip 'no eu-addr2line'
command -v jq >/dev/null || skip 'no jq'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'

cat >leaky.c <<'END'
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

void *volatile kept;

__attribute__((noinline)) static void
leak_here(void)
{
	kept = malloc(4242);
}

int
main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1 && fork() == 0) {
		leak_here();
		return 0;
	}
	leak_here();
	wait(NULL);
	return argc > 2;
}
END
gcc -g -O1 -o leaky leaky.c || fail 'gcc failed'
line=$(grep -n 'malloc(4242)' leaky.c | cut -d : -f 1)

# Print the comments of a trace.
comments()
{
	gzip -dc "$1" | tr '\n' '|' | tr -c '[:print:]' '\n'
}

# check_named TRACE: the site is in the trace, with its file and line.
check_named()
{
	comments "$1" |
		grep "|line=$line|.*|function=leak_here|" |
		grep -q '|file=[^|]*leaky.c|' ||
		fail "$1: the site has no function, file and line"
	"$HATF" verify "$1" >/dev/null || fail "$1 is not a good trace"
	check "$1: mode" "$(stat -c %a "$1")" 600
}

run "$HATF" record -o plain.hatf.gz ./leaky
check_status record 0
check 'record: lines on stderr' "$(wc -l <err)" 1
check_named plain.hatf.gz
# The program can be removed now: the trace does not need it any more.
check 'sites that allocated 4242 bytes' \
	"$("$HATF" convert -t folded plain.hatf.gz - 2>/dev/null |
		grep -c 'main;leak_here.* 4242$')" 1

run "$HATF" record -o 'all.%p.hatf.gz' ./leaky fork
check_status 'record a fork' 0
check 'traces of two processes' "$(printf '%s\n' all.*.gz | wc -l)" 2
for trace in all.*.gz; do
	check_named "$trace"
done

# The exit status is the program's, whatever symbolizing does.
run "$HATF" record -o status.hatf.gz ./leaky fork 1
check_status 'record: status of the program' 1
check_named status.hatf.gz

run "$HATF" record --no-symbols -o bare.hatf.gz ./leaky
check_status 'record --no-symbols' 0
comments bare.hatf.gz | grep -q 'HATF stacks' ||
	fail '--no-symbols: no stacks'
comments bare.hatf.gz | grep -q 'function=leak_here' &&
	fail '--no-symbols: symbols'

for how in -G '-g off'; do
	# shellcheck disable=SC2086  # two words
	run "$HATF" record $how -o none.hatf.gz ./leaky
	check_status "record $how" 0
	comments none.hatf.gz | grep -q 'HATF frame' &&
		fail "$how: there are frames"
done
HATFTRACE_STACKS=off run "$HATF" record -o env.hatf.gz ./leaky
check_status 'record with HATFTRACE_STACKS=off' 0
comments env.hatf.gz | grep -q 'HATF frame' &&
	fail 'HATFTRACE_STACKS=off: there are frames'

# A trace under a killed 'hatf symbolize' stays as it is, and nothing is left.
mkdir kills
cp bare.hatf.gz kills/a.hatf.gz
sum=$(md5sum <kills/a.hatf.gz)
for signal in HUP INT TERM; do
	for delay in 0 0.005 0.01 0.02; do
		timeout -s "$signal" "$delay" "$HATF" symbolize \
			kills/a.hatf.gz >/dev/null 2>&1
		check "files after SIG$signal" "$(ls kills)" a.hatf.gz
		cp bare.hatf.gz kills/a.hatf.gz
	done
done
check 'the trace that others were copied from' "$(md5sum <bare.hatf.gz)" "$sum"

# A signal ends the search for names, not the summary.  strace makes the search
# slow: it delays the end of each rename().
if strace -o /dev/null -e inject=rename:delay_exit=1 true 2>/dev/null; then
	mkdir slow
	strace -f -o /dev/null -e trace=rename \
		-e inject=rename:delay_exit=1000000 "$HATF" record \
		-o slow/%p.hatf.gz sh -c './leaky; ./leaky; ./leaky; ./leaky' \
		2>err &
	strace=$!
	for _ in $(seq 400); do
		for trace in slow/*.hatf.gz; do
			[ -e "$trace" ] &&
				comments "$trace" | grep -q '|function=' &&
				break 2
		done
		sleep 0.05
	done
	pkill -TERM -P $strace hatf
	wait $strace
	check 'interrupted: status' $? 0
	grep -q "^hatf record: interrupted: functions and lines were not added \
to [34] traces; 'hatf symbolize FILE' adds them\$" err ||
		fail "interrupted: $(cat err)"
	grep -q 'no events lost' err || fail "interrupted: $(cat err)"
	for trace in slow/*.hatf.gz; do
		"$HATF" verify "$trace" >/dev/null || fail "$trace: verify"
	done
fi

# A symbolic link stays a link, and the file to which it leads gets the names.
ln -s "$PWD/bare.hatf.gz" link.hatf.gz
run "$HATF" symbolize link.hatf.gz
check_status 'symbolize a link' 0
[ -L link.hatf.gz ] || fail 'the link has become a file'
check_named bare.hatf.gz

# A trace that has its end, but lacks events, gets the names, too.
cat >busy.c <<'END'
#include <stdlib.h>

void *volatile kept;

__attribute__((noinline)) static void
leak_often(void)
{
	for (int i = 0; i < 300000; i++)
		kept = malloc(16);
}

int
main(void)
{
	leak_often();
	return 0;
}
END
gcc -g -O1 -o busy busy.c || fail 'gcc failed'
# events TRACE: its events, without their stacks.
events()
{
	"$HATF" dump "$1" 2>/dev/null | sed 's/^[0-9]* //; s/ stack=.*//'
}
for option in --symbols --no-symbols; do
	set --
	[ $option = --symbols ] || set -- $option
	HATFTRACE_FULL=drop HATFTRACE_BUFFER=4K run "$HATF" record "$@" \
		-o "lost$option.hatf.gz" ./busy
	check_status "events lost: record $option" 1
	check_one_line "events lost: record $option" '* events LOST'
done
events lost--no-symbols.hatf.gz >want
lost=$("$HATF" info --json lost--no-symbols.hatf.gz 2>/dev/null | jq .lost)
for option in '-o copy.hatf.gz' ''; do
	# shellcheck disable=SC2086  # two words, or none
	run "$HATF" symbolize $option lost--no-symbols.hatf.gz
	check_status "events lost: symbolize $option" 0
	check_one_line "events lost: symbolize $option" \
		"hatf symbolize: *: $lost events were lost while recording"
done
for trace in lost--symbols lost--no-symbols copy; do
	comments $trace.hatf.gz | grep -q '|function=leak_often|' ||
		fail "events lost: $trace: no names"
	run "$HATF" leaks $trace.hatf.gz
	! grep -q 'no function names' out || fail "events lost: $trace: a note"
done
for trace in lost--no-symbols copy; do
	events $trace.hatf.gz >got
	cmp -s want got || fail "events lost: $trace: other events"
	check "events lost: $trace: the end" "$("$HATF" info --json \
		$trace.hatf.gz 2>/dev/null | jq -c '[.complete, .lost]')" \
		"[false,$lost]"
done

# A copy of a trace that is cut off, or whose end says more than a copy can say,
# would lack something.  The trace stays as it is, and the note of other
# commands says so.
cat >other.ascii <<'END'
10 HATF ascii thread heap time attributes
10 HATF 1.0\x0aproducer=x\x0a
10 HATF frame\x0aframe=1\x0aobject=/lib/a.so\x0aaddress=0x1234\x0a
10 HATF stack\x0astack=1\x0aframe=1\x0a
0 100 0x1000 0 0 1 4501
END
end='10 HATF end\x0acomplete=0\x0aend=exit\x0aevents=1\x0arecords=4'
printf '%s\n' "$end\\x0alost=0\\x0amissed=calls of malloc\\x0a" |
	cat other.ascii - >missed.ascii
printf '%s\n' "$end\\x0alost=0\\x0aerror=write: No space left\\x0a" |
	cat other.ascii - >error.ascii
printf '%s\n' "$end\\x0alost=0\\x0a" | cat other.ascii - >plain.ascii
for trace in other missed error; do
	cp $trace.ascii before
	run "$HATF" symbolize $trace.ascii
	check_status "$trace: symbolize" 1
	grep -q 'not changed, .* use -o$' err || fail "$trace: $(cat err)"
	cmp -s before $trace.ascii || fail "$trace: it was changed"
	run "$HATF" leaks $trace.ascii
	check "$trace: the note" "$(tail -n 1 out)" "note: no function names: \
'hatf symbolize -o NEW FILE' writes a copy with them"
done
run "$HATF" leaks plain.ascii
check 'plain: the note' "$(tail -n 1 out)" \
	"note: no function names: 'hatf symbolize FILE' adds them"
run "$HATF" symbolize plain.ascii
check_status 'plain: symbolize' 0

# A program in C++ has one leak: what libstdc++ keeps for itself is none.
cat >leak.cc <<'END'
int *kept;
int main() { kept = new int[25]; kept = nullptr; }
END
g++ -g -O0 -o leak leak.cc || fail 'g++ failed'
run "$HATF" record -o leak.hatf.gz ./leak
run "$HATF" leaks --json --fail-over 100 leak.hatf.gz
check_status 'leaks of a program in C++' 0
check 'leaks of a program in C++' "$(jq -c '[.sites[] | .bytes, .name]' out |
	sed 's,(/[^)]*/leak,(leak,')" '[100,"main (leak.cc:2)"]'
check 'blocks of libstdc++' "$(jq .startup.blocks out)" 1

finish
