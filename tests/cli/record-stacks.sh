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
