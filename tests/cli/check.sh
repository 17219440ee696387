#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check.sh - 'hatf check' finds what exceeds a limit, and nothing else
#
# limits.py compares it with a slow count of traces of real programs.
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

# --------------------------------------- each limit, just below and just above
seq 1 2000 >numbers
record sort.hatf sort -n numbers
record sed.hatf sed -n 's/1/2/p' numbers
record python.hatf "$PYTHON" -S -c '
import threading
x = [str(i) for i in range(300)]
t = threading.Thread(target=lambda: x.append("y" * 5000))
t.start()
t.join()'
for trace in sort python; do
	run "$PYTHON" "$CLI/limits.py" "$HATF" $trace.hatf
	check_status "limits of $trace: $(head -5 err)" 0
done
run "$PYTHON" "$CLI/limits.py" "$HATF" sort.hatf sed.hatf python.hatf
check_status "limits of three processes: $(head -5 err)" 0

# -------------------------------------------------------------- a tree, a place
cat >program.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *kept[100];
__attribute__((noinline)) void
keep(int n)
{
	for (int i = 0; i < n; i++)
		kept[i] = malloc(1000);
}
__attribute__((noinline)) void
churn(int n)
{
	for (int i = 0; i < n; i++)
		free(malloc(100));
}
int
main(int argc, char **argv)
{
	const int depth = argc > 1 ? atoi(argv[1]) : 0;

	churn(50);
	keep(5);
	if (depth > 0 && fork() == 0) {
		/* The child inherits 5 blocks, and leaves 3 of its own. */
		keep(3);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END
gcc -g -O1 -fno-builtin -o program program.c || fail 'gcc failed'
mkdir tree
"$HATF" record -o tree/%p.hatf ./program 1 2>err || fail "$(cat err)"

# judge STATUS OPTION...: check the tree, with this exit status
judge()
{
	local want=$1
	shift
	run "$HATF" check "$@" tree
	check_status "check $*: $(cat err)" "$want"
}
judge 0 --max-live-at-end 5000
judge 3 --max-live-at-end 4999
judge 0 --limit 'tree live-at-end 8000'
judge 3 --limit 'tree live-at-end 7999'
judge 0 --max-temporary-ratio 91%
judge 3 --max-temporary-ratio 90%
judge 0 --max-allocs 55
judge 3 --max-allocs 54
judge 0 --max-single 1000
judge 3 --max-single 999
judge 3 --max-allocated 9999
judge 0 --max-allocated 10000
judge 3 --max-peak 4999
judge 0 --max-peak 5000

# Each kind of row and a glob, just below and just above: the parent has
# 50 blocks of churn() and 5 of keep(), the child 3 of keep().
# bounds SCOPE MEASURE LARGEST BELOW: the largest value of a process or row, and
# the next one below it.
bounds()
{
	judge 0 --limit "$1 $2 $3"
	judge 3 --limit "$1 $2 $4"
}
for scope in 'function keep' 'function ke?p' 'site keep' 'site k*p' \
	'process p?ogram site k*p' 'process * function keep'; do
	for measure in peak live-at-end allocated; do
		bounds "$scope" $measure 5000 4999
	done
	bounds "$scope" allocs 5 4
	judge 0 --limit "$scope temporary-ratio 0%"
done
for scope in 'function churn' 'site churn'; do
	bounds "$scope" allocs 50 49
	bounds "$scope" allocated 5000 4999
	bounds "$scope" temporary-ratio 100% 99.9999%
	judge 0 --limit "$scope live-at-end 0"
done
for scope in 'file program.c' 'file p*.c' 'module program' \
	'module */program' 'thread 0' 'heap 0' 'process prog*' process \
	'process program thread 0' 'process program file p*.c'; do
	for measure in peak live-at-end; do
		bounds "$scope" $measure 5000 4999
	done
	bounds "$scope" allocated 10000 9999
	bounds "$scope" allocs 55 54
	bounds "$scope" temporary-ratio 90.9091% 90.909%
done
bounds 'process p?ogram' single 1000 999
bounds tree peak 8000 7999
bounds tree allocated 13000 12999
bounds tree allocs 58 57
bounds tree single 1000 999
bounds tree temporary-ratio 86.2069% 86.2068%

judge 3 --limit 'site keep live-at-end 4K'
cat >want <<'END'
exceeded  site keep live-at-end 4K             by 1 site
            keep (program.c) in program (tree/PID.hatf): 4.9 KiB live at the end, limit 4.0 KiB; largest part: keep (program.c:9)
1 limit, 1 exceeded; 2 processes
END
sed -i "s| ([^ ]*/program.c:9)| (program.c:9)|; s|tree/[0-9]*|tree/PID|" out
check_text 'text' out <want

# Anonymized traces do not name their process: each is one.
mkdir public
for trace in tree/*; do
	run "$HATF" convert --anonymize "$trace" "public/${trace##*/}"
done
"$HATF" convert --anonymize sed.hatf public/sed.hatf
run "$HATF" check --max-live-at-end 1G public tree
check_silent 'anonymized traces'
check 'anonymized traces' "$(tail -1 out)" '1 limit, 0 exceeded; 5 processes'
run "$HATF" check --limit 'tree live-at-end 8000' public/[0-9]*
check_status "anonymized traces: $(cat out)" 0
run "$HATF" check --limit 'tree live-at-end 7999' public/[0-9]*
check_status "anonymized traces: $(cat out)" 3

# The sum of one process.
run "$HATF" check --limit 'tree allocated 1' sed.hatf
check_status 'one process' 3
grep -q ' by the sum of 1 process$' out || fail "one process: $(cat out)"

# The process with the largest share of what the tree has.
judge 3 --limit 'tree live-at-end 4K' --limit 'tree temporary-ratio 1%'
cat >want <<'END'
exceeded  tree live-at-end 4K                  by the sum of 2 processes
            all processes: 7.8 KiB live at the end, limit 4.0 KiB; largest part: keep (program.c:9) in program (tree/PID.hatf)
exceeded  tree temporary-ratio 1%              by the sum of 2 processes
            all processes: 86.21 % temporary allocations, limit 1 %; largest part: churn (program.c:15) in program (tree/PID.hatf)
2 limits, 2 exceeded; 2 processes
END
sed -i "s| ([^ ]*/program.c:| (program.c:|; s|tree/[0-9]*|tree/PID|" out
check_text 'the largest share' out <want

# A value that rounds to the limit is printed in full.
judge 3 --max-allocated 9999 --max-temporary-ratio 90.909%
grep -q '^ *program (.*): 10 000 B allocated, limit 9 999 B' out ||
	fail "rounded bytes: $(cat out)"
grep -q ': 90.9091 % temporary allocations, limit 90.9090 %' out ||
	fail "rounded ratio: $(cat out)"

# Markdown shows the largest value, also if other rows are below the limit.
judge 3 --markdown --limit 'site * live-at-end 9' --limit 'site k|`* allocs 0'
# shellcheck disable=SC2016 # code in Markdown
check 'Markdown' "$(sed -n 's/^| `/`/p' out)" \
	'`site * live-at-end 9` | **exceeded** | 4.9 KiB |
`` site k\|`* allocs 0 `` | unused |  |'

# A glob that matches nothing is told, and is not exceeded.
judge 0 --limit 'site nothing live-at-end 0'
grep -q '^unused .* nothing matches$' out || fail "unused: $(cat out)"
judge 3 --fail-unused --limit 'site nothing live-at-end 0' --max-peak 1G \
	--junit unused.xml --sarif unused.sarif
cat >want <<'END'
exceeded  site nothing live-at-end 0           nothing matches
ok        peak 1G                              4.9 KiB in program
2 limits, 1 exceeded; 2 processes
END
check_text '--fail-unused' out <want
grep -q '<failure message="nothing matches: site nothing live-at-end 0"' \
	unused.xml || fail "--fail-unused: $(cat unused.xml)"
grep -q '"text": "nothing matches: site nothing' unused.sarif ||
	fail "--fail-unused: $(cat unused.sarif)"
judge 0 --fail-unused --limit 'site keep live-at-end 1G'
judge 0 --limit 'process other* peak 0'
judge 0 --limit 'process other* site * peak 0'
grep -q '^unused ' out || fail "rows of no process: $(cat out)"
judge 3 --limit 'process prog* peak 0'
judge 3 --limit 'function ke?p allocs 2'
judge 3 --limit 'file program.c allocs 2'
judge 3 --limit 'module program allocs 2'
judge 3 --limit 'heap 0 allocs 2'
judge 3 --limit 'thread 0 allocs 2'

# ---------------------------------------------------- a program's own malloc
cat >wrapped.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void *
xmalloc(size_t n)
{
	void *p = malloc(n);

	if (p == NULL)
		abort();
	return p;
}
__attribute__((noinline)) void *
xcalloc(size_t n)
{
	void *p = xmalloc(n);

	for (size_t i = 0; i < n; i++)
		((char *)p)[i] = 0;
	return p;
}
__attribute__((noinline)) void *
parse(void)
{
	return xcalloc(100);
}
__attribute__((noinline)) void *
print(void)
{
	return xmalloc(10);
}
int
main(void)
{
	void *kept[3] = { parse(), parse(), print() };

	free(kept[LEAKED]);
	return 0;
}
END
mkdir wrapped
for leaked in 1 2; do
	gcc -g -O1 -fno-builtin -fno-optimize-sibling-calls -DLEAKED=$leaked \
		-o wrapped/$leaked wrapped.c || fail 'gcc failed'
	record wrapped.$leaked.hatf wrapped/$leaked
done
# sites PATTERN COMMAND...: what of the output matches, without the callers that
# 'hatf report' names beside a site
sites()
{
	local pattern=$1
	shift
	run "$HATF" "$@"
	sed 's/ <\(\.\.\)\{0,1\} .*//' out |
		grep -o "$pattern" | sort -u | xargs
}
all='parse\|print\|xmalloc\|xcalloc'
for command in report leaks stat 'plot --by site --format svg -o -'; do
	# shellcheck disable=SC2086 # a command and its options
	check "$command" "$(sites "$all" $command wrapped.1.hatf)" xmalloc
	# shellcheck disable=SC2086
	check "$command --wrapper" "$(sites "$all" $command --wrapper xmalloc \
		--wrapper 'xc*' wrapped.1.hatf)" 'parse print'
	# The functions of one wrapper only.
	# shellcheck disable=SC2086
	check "$command --wrapper xmalloc" "$(sites "$all" $command \
		--wrapper xmalloc wrapped.1.hatf)" 'print xcalloc'
done
wrappers=(--wrapper 'x?alloc' --wrapper xmalloc)
check 'diff' "$(sites "$all" diff "${wrappers[@]}" wrapped.1.hatf \
	wrapped.2.hatf)" 'parse print'
printf 'site parse live-at-end 100\nwrapper "x*alloc"  # own\n' >own.limits
run "$HATF" check --limits own.limits wrapped.1.hatf
check_status "wrappers: $(cat out err)" 0
run "$HATF" check --limits own.limits wrapped.2.hatf
check_status 'wrappers, exceeded' 3
grep -q 'largest part: parse ' out || fail "wrappers: $(cat out)"
run "$HATF" check --wrapper 'x*' --limit 'site xmalloc peak 0' wrapped.1.hatf
check_status 'a wrapper is no site' 0
run "$HATF" check "${wrappers[@]}" --baseline own.base --update wrapped.1.hatf
run "$HATF" check "${wrappers[@]}" --baseline own.base wrapped.2.hatf
check_status 'baseline with wrappers' 3
grep -q 'live at the end grew by 100 B, from .* in parse (wrapped.c)' out ||
	fail "baseline with wrappers: $(cat out)"
run "$HATF" record --check own.limits -o r.hatf wrapped/2
check_status 'record --check with wrappers' 3

# -------------------------------------------------------------- a rotated trace
cat >rotated.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void *
early(void)
{
	return malloc(3000000);
}
__attribute__((noinline)) void *
late(unsigned *seed)
{
	return malloc((size_t)rand_r(seed) % 2000);
}
int
main(void)
{
	unsigned seed = 1, last = 0;
	void *kept[100] = { early() };

	/* No block is temporary: a temporary block may lie in two segments. */
	for (int i = 0; i < 100000; i++) {
		unsigned slot = rand_r(&seed) % 100;

		if (slot == last)
			slot = (slot + 1) % 100;
		free(kept[slot]);
		kept[slot] = late(&seed);
		last = slot;
	}
	return 0;
}
END
gcc -g -O1 -fno-builtin -o rotated rotated.c || fail 'gcc failed'
mkdir parts
HATFTRACE_ROTATE=64K "$HATF" record -o parts/r.hatf ./rotated 2>err
record whole.hatf ./rotated
[ "$(find parts -name '*.hatf' | wc -l)" -gt 2 ] || fail 'no segments'
for limit in peak live-at-end allocated allocs single; do
	for trace in parts whole.hatf; do
		run "$HATF" check --json --limit "$limit 1" \
			--limit "tree $limit 1" $trace
		check_status "$trace: $limit" 3
		"$PYTHON" -c '
import json
for limit in json.load(open("out"))["limits"]:
    print(limit["findings"][0]["value"])' >$limit.$trace
	done
	cmp -s $limit.parts $limit.whole.hatf ||
		fail "$limit: $(cat $limit.parts $limit.whole.hatf)"
	value=$(head -1 $limit.parts)
	for trace in parts whole.hatf; do
		run "$HATF" check --limit "$limit $value" $trace
		check_status "$trace: $limit $value" 0
		run "$HATF" check --limit "$limit $((value - 1))" $trace
		check_status "$trace: $limit below $value" 3
	done
done
# So is each site, also for 'hatf diff'.
for site in early late; do
	for measure in peak live-at-end allocated allocs temporary-ratio; do
		amount=1
		[ $measure != temporary-ratio ] || amount=0.0001%
		for trace in parts whole.hatf; do
			run "$HATF" check --json \
				--limit "site $site $measure $amount" $trace
			sed -n 's/^ *"value": //p' out | sort -u >value.$trace
		done
		cmp -s value.parts value.whole.hatf ||
			fail "site $site $measure: $(cat value.parts)," \
				"$(cat value.whole.hatf)"
	done
done
record whole.2.hatf ./rotated
run "$HATF" diff --fail-on any --all --floor 0 parts whole.hatf
check_status "diff of segments: $(cat out err)" 0
run "$HATF" diff --fail-on any --floor 0 --by size whole.hatf whole.2.hatf -- \
	parts parts
check_status "diff of segments by size: $(cat out err)" 0
# Segments that are listed one by one are one run, too, in any order.
segments=()
for segment in parts/*; do
	segments=("$segment" "${segments[@]}")
done
run "$HATF" diff --fail-on any --all --floor 0 whole.hatf -- "${segments[@]}"
check_status "diff of listed segments: $(cat out err)" 0
mkdir parts.2
HATFTRACE_ROTATE=64K "$HATF" record -o parts.2/r.hatf ./rotated 2>err
run "$HATF" diff --fail-on any --floor 0 --json parts/* parts.2/* whole.hatf \
	-- whole.hatf whole.2.hatf
check_status "diff of two lists: $(cat out err)" 0
"$PYTHON" -c '
import json, os
diff = json.load(open("out"))
assert len(diff["old"]) == 1 + sum(
    len(os.listdir(name)) for name in ("parts", "parts.2")), diff["old"]
' || fail "files of a diff of segments: $(head -20 out)"
run "$HATF" check --baseline parts.base --update parts/* parts.2/*
check 'a baseline of listed segments' "$(cat out)" \
	'parts.base: written, with 2 runs'
run "$HATF" check --baseline parts.base --floor 0 whole.hatf
check_status "a baseline of segments: $(cat out err)" 0
run "$HATF" diff tree whole.hatf
check_status 'diff of two processes' 1
check_one_line 'diff of two processes' \
	'hatf diff: tree: has traces of 2 processes, but a run is one *'
# The block of early() made the peak, in a segment that is not the last.
run "$HATF" check --max-peak 1 parts
grep -q 'largest part: late' out && fail "a wrong site: $(cat out)"
run "$HATF" check --max-live-at-end 1 parts
grep -q 'largest part: late' out || fail "no site: $(cat out)"

# ------------------------------------------------------------ a file of limits
cat >heap.limits <<'END'
# what the program may have
peak		1M
live-at-end	1M	# leaks

site "keep" live-at-end 4K
  tree allocs 10K
temporary-ratio 95.5%
END
judge 3 --limits heap.limits --junit junit.xml --sarif out.sarif --annotations
check 'lines' "$(grep -c '^ok ' out)" 4
check 'annotations' "$(sed -n 's/^::error //p' out | cut -d : -f 1)" \
	"file=program.c,line=9,title=site \"keep\" live-at-end 4K"
run "$HATF" check --limits - --json tree <heap.limits
check_status 'without any limit' 2
run "$HATF" check --limits heap.limits --json tree
check_status 'JSON' 3
fits()
{
	command -v xmllint >/dev/null || return 0
	xmllint --noout --schema "$CLI/../data/junit.xsd" "$1" 2>err ||
		fail "$1 against the schema: $(cat err)"
}
fits junit.xml
"$PYTHON" - junit.xml out.sarif <<'END' || fail 'JUnit or SARIF'
import json
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
suite = root.find('testsuite')
cases = suite.findall('testcase')
assert [c.get('name') for c in cases] == [
    'peak 1M', 'live-at-end 1M', 'site "keep" live-at-end 4K',
    'tree allocs 10K', 'temporary-ratio 95.5%', 'the traces are complete']
assert cases[2].get('classname') == 'heap.limits:5', cases[2].attrib
assert [len(c) for c in cases] == [0, 0, 1, 0, 0, 0]
assert cases[2][0].tag == 'failure'
for node in root, suite:
    assert (node.get('tests'), node.get('failures'),
            node.get('errors')) == ('6', '1', '0')
with open(sys.argv[2]) as f:
    sarif = json.load(f)
assert sarif['version'] == '2.1.0'
run, = sarif['runs']
result, = run['results']
ids = [rule['id'] for rule in run['tool']['driver']['rules']]
assert ids == ['peak', 'live-at-end', 'site "keep" live-at-end',
               'tree allocs', 'temporary-ratio'], ids
assert result['ruleId'] == ids[2]
place = result['locations'][0]['physicalLocation']
assert place == {'artifactLocation': {'uri': 'program.c'},
                 'region': {'startLine': 9}}, place
END

# The path of a source as seen from here: built below the project, and a library
# whose sources are elsewhere.
mkdir -p project/build project/src elsewhere
cp program.c project/src
(cd project/build && gcc -g -O1 -fno-builtin -o out ../src/program.c) ||
	fail 'gcc failed'
record project/out.hatf project/build/out
cd project || exit 1
run "$HATF" check --limits ../heap.limits --annotations --sarif out.sarif \
	out.hatf
check_status 'built in a folder' 3
check 'built in a folder' "$(sed -n 's/^::error \([^,]*\),.*/\1/p' out)" \
	'file=src/program.c'
grep -q '"uri": "src/program.c"' out.sarif || fail "SARIF: $(cat out.sarif)"
mkdir -p part/build part/src
cp src/program.c part/src
(cd part/build && gcc -g -O1 -fno-builtin -o out ../src/program.c) ||
	fail 'gcc failed'
record part.hatf part/build/out
run "$HATF" check --limits ../heap.limits --annotations part.hatf
check 'built in a folder of a part' \
	"$(sed -n 's/^::error \([^,]*\),.*/\1/p' out)" 'file=part/src/program.c'
# A build that hides its directory has relative paths.
(cd build && gcc -g -O1 -fno-builtin "-ffile-prefix-map=$PWD=." -o mapped \
	../src/program.c) || fail 'gcc failed'
record mapped.hatf build/mapped
run "$HATF" check --limits ../heap.limits --annotations mapped.hatf
check 'a hidden directory' "$(sed -n 's/^::error \([^,]*\),.*/\1/p' out)" \
	'file=src/program.c'
cd ../elsewhere || exit 1
run "$HATF" check --limits ../heap.limits --annotations ../project/out.hatf
check 'no such source' "$(sed -n 's/^::error \([^:]*\)::.*/\1/p' out)" \
	'file=../heap.limits,line=5,title=site "keep" live-at-end 4K'
cd .. || exit 1

# ------------------------------------------------------------ an incomplete one
head -c 600 sort.hatf >cut.hatf
run "$HATF" check --max-peak 1G --junit cut.xml cut.hatf
check_status 'incomplete' 4
fits cut.xml
grep -q '<error message="cut.hatf: ' cut.xml || fail "JUnit: $(cat cut.xml)"
grep -q ', 1 incomplete$' out || fail "summary: $(cat out)"
run "$HATF" check --max-peak 1 cut.hatf sed.hatf
check_status 'incomplete and exceeded' 4
grep -q '^exceeded ' out || fail 'an incomplete trace hides a finding'

# Without stacks, sites are not known.
"$HATF" record -G -o bare.hatf ./program 2>err
run "$HATF" check --limit 'site keep peak 1G' bare.hatf
check_status 'no stacks' 1
check_one_line 'no stacks' 'hatf check: bare.hatf: no call stacks, *'
# Only the processes of the limit need call stacks.
run "$HATF" check --limit 'process sed site * peak 1' bare.hatf sed.hatf
check_status "no stacks, another process: $(cat err)" 3
grep ' in ' out | grep -v ' in sed: ' && fail 'sites of another process'

# -------------------------------------------------------------------- baselines
mkdir new
sed 's/keep(5)/keep(6)/' program.c >new/program.c
gcc -g -O1 -fno-builtin -o grown new/program.c || fail 'gcc failed'
for i in 1 2 3; do
	record old.$i.hatf ./program
	record new.$i.hatf ./grown
done
run "$HATF" check --baseline heap.base --update old.?.hatf
check_status 'update' 0
run "$HATF" check --baseline heap.base old.1.hatf
check_status "the same: $(cat out)" 0
run "$HATF" check --baseline heap.base --fail-on 'live>999' new.?.hatf
check_status 'grown' 3
grep -q 'live at the end grew by 1000 B, from 4.9 KiB to 5.9 KiB in' out ||
	fail "grown: $(cat out)"
# "any" names all measures that grew, also in JUnit's file.
run "$HATF" check --baseline heap.base --junit any.xml new.?.hatf
check_status 'any' 3
grown='peak grew by [^;]*; bytes live at the end grew by 1000 B, '
grown+='from 4.9 KiB to 5.9 KiB; bytes allocated grew by 1000 B, [^;]*; '
grown+='allocations grew by 1, from [0-9]* to [0-9]* in the program'
grep -q "^ *$grown\$" out || fail "any: $(cat out)"
grep -q "$grown" any.xml || fail "any: $(cat any.xml)"
run "$HATF" check --baseline heap.base --fail-on 'live>1000' new.?.hatf
check_status 'not above the limit' 0
run "$HATF" check --baseline heap.base --floor 20 new.1.hatf
check_status 'below the floor' 0
# The same names, and the values of each run.
"$PYTHON" -c '
import json
with open("heap.base") as f:
    base = json.load(f)
assert base["runs"] == 3 and base["by"] == "site"
assert base["total"]["live"] == 5000
assert base["rows"]["keep (program.c)"] == {
    "peak": 5000, "live": 5000, "allocated": 5000, "allocations": 5}
' || fail "baseline: $(cat heap.base)"
# The place of what grew, or the baseline.
run "$HATF" check --baseline heap.base --fail-on 'site.live>0,live>0' \
	--annotations --sarif grown.sarif --junit grown.xml new.1.hatf
check_status 'the place of a growth' 3
fits grown.xml
check 'annotations of a baseline' \
	"$(sed -n 's/^::error \([^:]*\)::.*/\1/p' out)" \
	'file=new/program.c,line=9,title=baseline%3A site.live>0
file=heap.base,title=baseline%3A live>0'
grep -q 'largest part: keep (' out || fail "no place: $(cat out)"

# GitHub refuses a SARIF result without a location.
run "$HATF" check --max-peak 1 --limit 'tree peak 1' \
	--limit 'thread * peak 1' --sarif option.sarif new.1.hatf
check_status 'limits of options' 3
run "$HATF" check --limit 'tree peak 1' --max-peak 1 --sarif bare.sarif \
	bare.hatf
check_status 'no stacks, and limits of options' 3
for file in grown option bare; do
	"$PYTHON" -c '
import json, sys
with open(sys.argv[1]) as f:
    run, = json.load(f)["runs"]
rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
assert run["results"]
for result in run["results"]:
    assert result["ruleId"] in rules
    place, = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"]
' $file.sarif || fail "SARIF: $(cat $file.sarif)"
done
mkdir empty
run "$HATF" check --baseline heap.base empty
check_status 'a folder without traces' 1

"$PYTHON" -c '
import json
with open("grown.sarif") as f:
    run, = json.load(f)["runs"]
assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
    "baseline: site.live>0", "baseline: live>0"]
' || fail "rules of a baseline: $(cat grown.sarif)"
run "$HATF" check --max-peak 1 --limit 'peak 2' --sarif twice.sarif new.1.hatf
check 'one rule for two amounts' "$(grep -c '"id"' twice.sarif)" 1

# An incomplete trace makes no baseline.
cp heap.base before
run "$HATF" check --baseline heap.base --update cut.hatf
check_status 'update from an incomplete trace' 4
cmp -s heap.base before || fail 'an incomplete trace changed the baseline'
run "$HATF" check --baseline heap.base bare.hatf
check_status 'a baseline with stacks, a trace without' 1

# ---------------------------------------------------------------- hatf record
run "$HATF" record --check heap.limits -o r.hatf ./program
check_status 'record --check' 3
grep -q '^exceeded  site "keep"' err || fail "record --check: $(cat err)"
echo 'peak 1M' >fine.limits
run "$HATF" record --check fine.limits -o r.hatf ./program
check_status 'record --check, fine' 0
run "$HATF" record --check heap.limits --junit r.xml --sarif r.sarif \
	-o junit.hatf ./program
check_status 'record --check --junit --sarif' 3
"$HATF" check --limits heap.limits --junit want.xml --sarif want.sarif \
	"$PWD/junit.hatf" >/dev/null 2>&1
cmp -s r.xml want.xml || fail "record --junit: $(diff r.xml want.xml)"
cmp -s r.sarif want.sarif || fail "record --sarif: $(diff r.sarif want.sarif)"
for option in junit sarif; do
	run "$HATF" record "--$option" none.out -o r.hatf ./program
	check_status "record --$option without --check" 2
	check_one_line "record --$option without --check" \
		"hatf record: --$option needs --check*"
done
for text in '' '# nothing\n' 'wrapper x\n'; do
	# shellcheck disable=SC2059
	printf "$text" >none.limits
	run "$HATF" record --check none.limits -o r.hatf ./program
	check_status 'record --check without a limit' 2
	check_one_line 'record --check without a limit' \
		'hatf record: --check: the file contains no limits*'
done
rm none.limits
run "$HATF" record --check heap.limits -o r.hatf sh -c './program; exit 7'
check_status 'the status of the command' 7

# ------------------------------------------- files that are not what they seem
# A damaged trace of a folder is not passed over; other files are.
mkdir folder
cp tree/* folder
echo noise >folder/log
: >folder/empty.txt
mkfifo folder/fifo.hatf
run "$HATF" check --max-peak 1G folder
check_status "other files: $(cat err)" 0
: >folder/empty.hatf
run "$HATF" check --max-peak 1G folder
check_status 'an empty trace' 1
check_one_line 'an empty trace' 'hatf check: folder/empty.hatf: *'
mv folder/empty.hatf folder/empty
echo noise >folder/noise.hatf.gz
run "$HATF" check --max-peak 1G folder
check_status 'a damaged trace' 1
check_one_line 'a damaged trace' 'hatf check: folder/noise.hatf.gz: *'

# A pipe gives its header once.
run "$HATF" check --max-peak 1G <(cat r.hatf) <(cat junit.hatf)
check_status "pipes: $(cat err)" 0
grep -q '^ok  *peak' out || fail "pipes: $(cat out)"

# No output replaces a file that is read.
cp heap.base before
cp sort.hatf copy.hatf
ln copy.hatf link.hatf
for options in '--junit copy.hatf' '--sarif link.hatf' \
	'--baseline copy.hatf --update' '--baseline heap.base --junit heap.base'
do
	# shellcheck disable=SC2086 # options
	run "$HATF" check --max-peak 1G $options copy.hatf
	check_status "$options" 1
	check_one_line "$options" \
		'hatf check: *: input and output are the same file'
done
cmp -s copy.hatf sort.hatf || fail 'a trace was overwritten'
cmp -s heap.base before || fail 'the baseline was overwritten'
run "$HATF" check --max-peak 1G --junit one --sarif one copy.hatf
check_status 'two outputs' 1
run "$HATF" check --max-peak 1G --junit /dev/null --sarif - copy.hatf
check_status "two outputs that are no files: $(cat err)" 0
finish
