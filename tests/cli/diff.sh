#!/bin/bash
# SPDX-License-Identifier: MIT
#
# diff.sh - 'hatf diff' compares as a slow, obvious comparison does
#
# contrast.py compares pairs of traces of real programs, by site and by size.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# The interpreter itself: 'python3' may be a script that runs other programs.
PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'

record()
{
	local trace=$1
	shift
	"$HATF" record --follow none -o "$trace" "$@" </dev/null >/dev/null \
		2>err || fail "record $*: $(cat err)"
}

# contrast NAME OLD... -- NEW...
contrast()
{
	local what=$1
	shift
	run "$PYTHON" "$CLI/contrast.py" "$HATF" "$@"
	check_status "$what: $(head -5 err)" 0
}

# ------------------------------------------------------- ten pairs of programs
seq 1 3000 >numbers
seq 1 3300 >longer
tr 1-5 a-e <numbers >words
pairs=0
# pair NAME OLD NEW COMMAND...: @ in the command is OLD and NEW in turn.
pair()
{
	local name=$1 old=$2 new=$3
	shift 3
	record "$name.old.hatf" "${@//@/$old}"
	record "$name.new.hatf" "${@//@/$new}"
	contrast "$name" "$name.old.hatf" -- "$name.new.hatf"
	pairs=$((pairs + 1))
}
pair sort numbers longer sort -n @
pair grep a 'a.*b\|c.d' grep -c @ words
pair sed 's/a/b/p' 's/\(a\|b\)*c/x\1/gp' sed -n @ words
pair awk '{ n[$1 % 7]++ }' 'm[$1]++ < 9 { n[$1]++ }' awk @ numbers
# shellcheck disable=SC2016 # not for this shell
pair perl 100 400 perl -e 'my %h; $h{$_} = 1 for (1..@)'
pair python 200 900 "$PYTHON" -c 'x = [str(i) for i in range(@)]'
pair find 1 2 find /usr -maxdepth @ -name bin
pair ls /etc /usr ls -l @
pair tar numbers words tar cf @.tar numbers @
# shellcheck disable=SC2016
pair bash 20 90 bash -c 'x=(); for i in {1..@}; do x+=("$i$i"); done'
check 'pairs of programs' "$pairs" 10

# Several runs a side, with hash seeds that differ.
for i in 1 2 3; do
	for n in 100 200; do
		PYTHONHASHSEED=$((10 * i + n)) record "seed.$n.$i.hatf" \
			"$PYTHON" -c "
import json
json.dumps({str(i): {str(k): k for k in range(9)} for i in range($n)})"
	done
done
contrast 'three runs a side' seed.100.?.hatf -- seed.200.?.hatf
contrast 'runs and themselves' seed.100.?.hatf -- seed.100.?.hatf

# ------------------------------------------------------ what a change is called
cat >program.cc <<'END'
#include <stdlib.h>
#include <string>
#include <vector>
static void *kept[1000];
static int count;
#ifdef NEW
// These lines move all that follows.


__attribute__((noinline)) void
brand_new()
{
	kept[count++] = malloc(50000);
}
#endif
__attribute__((noinline)) void
leak(int n)
{
	for (int i = 0; i < n; i++)
		kept[count++] = malloc(1000);
}
__attribute__((noinline)) void
steady()
{
	std::vector<std::string> v;
	for (int i = 0; i < 100; i++)
		v.push_back(std::string(100, 'x'));
	kept[count++] = malloc(v.size());
}
int
main()
{
	steady();
#ifdef NEW
	brand_new();
	leak(105);
#else
	kept[count++] = malloc(20000);
	leak(100);
#endif
	return 0;
}
END
mkdir old new
cp program.cc old/app.cc
cp program.cc new/app.cc
(cd old && g++ -g -O1 -fno-builtin -o app app.cc) || fail 'g++ failed'
(cd new && g++ -g -O1 -fno-builtin -DNEW -o app app.cc) || fail 'g++ failed'
record old.hatf.gz old/app
record new.hatf.gz new/app

run "$HATF" diff old.hatf.gz new.hatf.gz
check_status 'diff' 0
sed -n '/ site$/,$p' out >got
check_text 'rows' got <<'END'
    at peak      at end   allocated allocations   temporary      site
  +48.8 KiB   +48.8 KiB   +48.8 KiB          +1             new  brand_new() (app.cc)
  -19.5 KiB   -19.5 KiB   -19.5 KiB          -1             gone main (app.cc)
   +4.9 KiB    +4.9 KiB    +4.9 KiB          +5                  leak(int) (app.cc)
3 of 5 sites changed
END
run "$HATF" diff --sort allocations --top 1 old.hatf.gz new.hatf.gz
grep -A 1 ' site$' out | grep -q 'leak(int)' || fail "--sort: $(cat out)"
cp out sorted
run "$HATF" diff --sort allocs --top 1 old.hatf.gz new.hatf.gz
check_text '--sort allocs' out <sorted
grep -qx "and 2 more ('--top 0' prints all)" out || fail "--top: $(cat out)"
run "$HATF" diff --all old.hatf.gz new.hatf.gz
grep -q 'steady() (app.cc)' out || fail "--all: $(cat out)"
run "$HATF" diff --floor 6 old.hatf.gz new.hatf.gz
grep -q 'leak(int)' out && fail '--floor 6: 5 percent are reported'

# Limits, each just below and just above the growth.
limit()
{
	run "$HATF" diff --fail-on "$2" old.hatf.gz new.hatf.gz
	check_status "--fail-on $2" "$1"
	check "--fail-on $2: a line" "$(grep -c '^exceeded: ' out)" \
		"$((${3:-$1} / 3))"
}
limit 3 'site.live>4K' 6
limit 0 'site.live>49K,site.temporary>0'
limit 3 'site.live>0, site.live>49K' 6
limit 3 'new.allocated>40K'
limit 0 'new.allocated>49K'
growth=$("$HATF" diff --json old.hatf.gz new.hatf.gz | "$PYTHON" -c '
import json, sys
peak = json.load(sys.stdin)["total"]["peak"]
print(peak["new"]["median"] - peak["old"]["median"])')
check 'growth of the peak' "$growth" 35000
limit 3 "peak>$((growth - 1))"
limit 0 "peak>$growth"
limit 3 'site.live>4%' 6
run "$HATF" diff --fail-on 'peak>0,site.live>49K,new.allocations>0' \
	old.hatf.gz new.hatf.gz
grep '^exceeded: ' out >got
check_text 'what grew' got <<'END'
exceeded: peak>0: peak grew by 34.2 KiB, from 188.3 KiB to 222.5 KiB in the program
exceeded: new.allocations>0: allocations grew by 1, from 0 to 1 in brand_new() (app.cc)
END
# "any" names each measure that grew, in the order of --json, in one line a row.
run "$HATF" diff --fail-on any old.hatf.gz new.hatf.gz
grep -Eq '^exceeded: any: peak grew by [^;]*; bytes live at the end grew by '\
'[^;]*; bytes allocated grew by [^;]*; allocations grew by .* in the program$' \
	out || fail "any: $(cat out)"
"$HATF" diff --fail-on any --json old.hatf.gz new.hatf.gz | "$PYTHON" -c '
import json, sys
found = json.load(sys.stdin)["exceeded"][0]
assert found["name"] is None and found["condition"] == "any", found
assert found["measures"][:4] == ["peak", "live", "allocated", "allocations"], \
    found
assert found["measure"] == "peak", found
' || fail 'any: --json'
# Each name of a measure.
limit 3 'site.live-at-end>4K' 6
limit 0 'site.live-at-end>49K,site.allocs>5'
limit 3 'new.allocs>0 , site.allocs>4' 6
limit 0 'site.live>60%'
run "$HATF" diff --fail-on any old.hatf.gz old.hatf.gz
check_status 'a trace and itself' 0
grep -q '^0 of 4 sites changed$' out || fail "itself: $(cat out)"

# Threads of one name are one row: their numbers vary from run to run.
cat >threads.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
static void *
work(void *arg)
{
	const int kind = *(int *)arg;

	pthread_setname_np(pthread_self(), kind == 0 ? "reader" : "writer");
	for (int i = 0; i < 50; i++)
		free(malloc(kind == 0 ? 1000 : WRITTEN));
	return NULL;
}
int
main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 4; i++) {
		int kind = (argc > 1) ^ (i % 2);
		pthread_t thread;

		pthread_create(&thread, NULL, work, &kind);
		pthread_join(thread, NULL);
	}
	return 0;
}
END
for n in 2000 3000; do
	gcc -g -O1 -fno-builtin -pthread -DWRITTEN=$n -o threads.$n \
		threads.c || fail 'gcc failed'
	record threads.$n.hatf ./threads.$n
	record swapped.$n.hatf ./threads.$n swapped
done
run "$HATF" diff --by thread --fail-on any threads.2000.hatf swapped.2000.hatf
check_status "threads in another order: $(cat out)" 0
run "$HATF" diff --by thread threads.2000.hatf swapped.3000.hatf
check 'a thread that grew' "$(grep -c 'thread (reader)' out)" 0
grep -q '+97.7 KiB .* thread (writer)$' out || fail "a thread: $(cat out)"

# Places in the source cannot be compared with nothing.
record bare.hatf.gz --stacks=off old/app
run "$HATF" diff old.hatf.gz bare.hatf.gz
check_status 'a trace without call stacks' 1
check_one_line 'a trace without call stacks' \
	'hatf diff: some of the traces have call stacks, others have none: *'
run "$HATF" diff --by size --fail-on any old.hatf.gz bare.hatf.gz
check_status "by size: $(cat out err)" 0
run "$HATF" diff --fail-on any bare.hatf.gz bare.hatf.gz
check_status 'two traces without call stacks' 0

# Markdown: names are code, and a bar does not end a cell.
{
	header
	comment 'HATF frame\nframe=1\nfunction=operator|(`a`, <b>)\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	layout
	alloc 24 0x5581a0 0 0 0 '\x45\x01'
} >bar.hatf
run "$HATF" diff --markdown new.hatf.gz bar.hatf
# shellcheck disable=SC2016
grep -qF '| `operator\|('"'a'"', <b>)`' out || fail "Markdown: $(cat out)"

# If all frames of a stack are hidden, the site is a function if the program has
# its code, and else the library: its functions have other names without debug
# information.
# hidden SIZE NAME: a trace with three blocks of this size.
hidden()
{
	header
	comment 'HATF frame\nframe=1\nfunction=std::f<A>()\nobject=/bin/x\n'
	comment 'HATF frame\nframe=2\nfunction=std::f<B>()\nobject=/bin/x\n'
	comment "HATF frame\nframe=3\nfunction=$2\nobject=/lib/libc.so.6\n"
	for n in 1 2 3; do
		comment "HATF stack\nstack=$n\nframe=$n\n"
	done
	layout
	for n in 1 2 3; do
		alloc "$1" $((0x5581a0 + 4096 * n)) 0 0 0 "\\x45\\x0$n"
	done
}
hidden 24 strdup >small.hatf
hidden 2400 __GI___strdup >large.hatf
run "$HATF" diff --json --top 0 small.hatf large.hatf
check 'hidden sites' "$(jq -r '.rows[].name' out | sort | xargs)" \
	'libc.so std::f<A>() std::f<B>()'

# ----------------------------------------------------------------- wrong input
wrong()
{
	local want=$1
	shift
	run "$HATF" diff "$@"
	check_status "diff $*" 2
	check_one_line "diff $*" "$want"
}
wrong 'hatf diff: an OLD and a NEW trace are needed*'
wrong 'hatf diff: an OLD and a NEW trace are needed*' old.hatf.gz
wrong 'hatf diff: an OLD and a NEW trace are needed*' old.hatf.gz --
wrong "hatf diff: '--' must separate *" a b c
for expr in peak 'peak>' 'peak>x' 'peak>-1' 'peak>1T' 'size>1' 'site>1' \
	'peak>1,,live>1' 'any>1' 'peak>nan' 'peak>0x10' 'peak>1e999'; do
	wrong 'hatf diff: --fail-on: *' --fail-on "$expr" old.hatf.gz \
		new.hatf.gz
done
# A pipe can be read only once.
run "$HATF" diff --json old.hatf.gz new.hatf.gz
cp out files.json
run "$HATF" diff --json <(cat old.hatf.gz) <(cat new.hatf.gz)
check_status "pipes: $(cat err)" 0
check 'rows of pipes' "$(jq -c '[.total, .rows]' out)" \
	"$(jq -c '[.total, .rows]' files.json)"

head -c 200 new.hatf.gz >cut.hatf.gz
run "$HATF" diff --fail-on any old.hatf.gz cut.hatf.gz
check_status 'an incomplete trace' 4
run "$HATF" diff old.hatf.gz none.hatf
check_status 'no such file' 1
finish
