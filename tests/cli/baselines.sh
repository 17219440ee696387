#!/bin/bash
# SPDX-License-Identifier: MIT
#
# baselines.sh - a baseline is compared with runs of its program, seen alike
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'

cat >app.c <<'END'
#include <stdlib.h>
static void *kept[1000];
__attribute__((noinline)) void *
xmalloc(size_t n)
{
	void *p = malloc(n);

	if (p == NULL)
		abort();
	return p;
}
__attribute__((noinline)) void
parse(int n)
{
	for (int i = 0; i < n; i++)
		kept[i] = xmalloc(100);
}
int
main(int argc, char **argv)
{
	parse(argc > 1 ? atoi(argv[1]) : 10);
	return 0;
}
END
mkdir bin
for name in app helper 'a b"c'; do
	gcc -g -O1 -fno-builtin -o "bin/$name" app.c || fail 'gcc failed'
done
# record TRACE PROGRAM [N]
record()
{
	local trace=$1 program=$2

	shift 2
	"$HATF" record --follow none -o "$trace" "bin/$program" "$@" 2>err ||
		fail "record $program: $(cat err)"
}
for i in 1 2 3; do
	record old.$i.hatf app
done
record leak.hatf app 20
record helper.hatf helper 500

# ------------------------------------------------------------- its own malloc
run "$HATF" check --wrapper xmalloc --wrapper 'xc*' --baseline w.base \
	--update old.?.hatf
check_status 'update' 0
"$PYTHON" -c '
import json
base = json.load(open("w.base"))
assert base["wrappers"] == ["xmalloc", "xc*"], base
assert base["program"] == "app", base
assert "raw_stacks" not in base
' || fail "baseline: $(cat w.base)"
# The baseline remembers the wrappers; the same ones may be given, in any order.
for wrappers in '' '--wrapper xc* --wrapper xmalloc'; do
	# shellcheck disable=SC2086 # options
	run "$HATF" check $wrappers --baseline w.base leak.hatf
	check_status "wrappers '$wrappers'" 3
	grep -q 'live at the end grew by 1000 B, .* in parse (app.c)' out ||
		fail "wrappers '$wrappers': $(cat out err)"
	# shellcheck disable=SC2086
	run "$HATF" check $wrappers --baseline w.base old.1.hatf
	check_status "wrappers '$wrappers': $(cat out err)" 0
done
# They are also those of the limits on the same command line.
run "$HATF" check --baseline w.base --limit 'site parse allocations 9' \
	old.1.hatf
check_status 'wrappers of a baseline and a limit' 3
# Others are refused.
for wrapper in xmalloc 'x*'; do
	run "$HATF" check --wrapper "$wrapper" --baseline w.base leak.hatf
	check_status "other wrapper $wrapper" 1
	check_one_line "other wrapper $wrapper" \
		'hatf check: w.base: made with other wrappers: give the *'
done
run "$HATF" check --baseline plain.base --update old.?.hatf
grep -q wrappers plain.base && fail "wrappers in $(cat plain.base)"
echo 'wrapper xmalloc' >own.limits
for option in --wrapper=xmalloc --limits=own.limits; do
	run "$HATF" check "$option" --baseline plain.base leak.hatf
	check_status "$option, made without" 1
	check_one_line "$option, made without" \
		'hatf check: plain.base: made with other wrappers: *'
done
run "$HATF" check --baseline plain.base leak.hatf
grep -q 'live at the end grew .* in xmalloc (app.c)' out ||
	fail "plain: $(cat out)"

# The same for stacks with all frames.
run "$HATF" check --raw-stacks --baseline plain.base leak.hatf
check_status 'made without --raw-stacks' 1
check_one_line 'made without --raw-stacks' \
	'hatf check: plain.base: made without --raw-stacks: *'
run "$HATF" check --raw-stacks --baseline raw.base --update old.?.hatf
for option in '' --raw-stacks; do
	# shellcheck disable=SC2086
	run "$HATF" check $option --baseline raw.base old.1.hatf
	check_status "raw '$option': $(cat out err)" 0
done

# ------------------------------------------------------------ several programs
mkdir test
cp helper.hatf leak.hatf test
run "$HATF" check --baseline plain.base test
check_status 'a folder of a test run' 3
compared='(1 of 2 processes compared)'
grep -q "^exceeded  baseline: any .* by [1-9][0-9]* findings $compared\$" out ||
	fail "a folder of a test run: $(cat out)"
grep -q 'grew by 1000 B' out || fail "a folder of a test run: $(cat out)"
grep -q 'grew by 4' out && fail "another program is compared: $(cat out)"
# Limits are about all of them.
run "$HATF" check --baseline plain.base --max-allocs 21 old.1.hatf helper.hatf
check_status 'limits of another program' 3
cat >want <<'END'
exceeded  allocs 21                            by 1 process
            helper: 500 allocations, limit 21; largest part: xmalloc (app.c:6)
ok        baseline: any                        no such growth (1 of 2 processes compared)
2 limits, 1 exceeded; 2 processes
END
sed -i 's| ([^ ]*/app.c:| (app.c:|' out
check_text 'limits of another program' out <want
# Runs of another program alone may be a renamed build.
run "$HATF" check --baseline plain.base helper.hatf
check_status 'a renamed build' 3
check_one_line 'a renamed build' \
	'hatf check: plain.base: this baseline is for app, but the traces *'
cp helper.hatf bin.hatf
record other.hatf 'a b"c'
run "$HATF" check --baseline plain.base helper.hatf other.hatf
check_status 'two other programs' 1
check_one_line 'two other programs' \
	'hatf check: plain.base: this baseline is for app, but no trace *'
cp plain.base before
run "$HATF" check --baseline plain.base --update test
check_status 'a baseline of two programs' 1
check_one_line 'a baseline of two programs' \
	'hatf check: plain.base: a baseline is for one program, *(*, *, ...): *'
cmp -s plain.base before || fail 'the baseline was written'
run "$HATF" check --baseline name.base --update other.hatf
check_status 'a name with special characters' 0
run "$HATF" check --baseline name.base other.hatf helper.hatf
check_status "a name with special characters: $(cat err)" 0

# ---------------------------------------------------------------- what it says
run "$HATF" check --baseline plain.base --markdown leak.hatf
# shellcheck disable=SC2016 # code in Markdown
grep -qx '| `baseline: any` | \*\*exceeded\*\* | +1000 B |' out ||
	fail "Markdown: $(cat out)"

# A full disk leaves the old baseline as it is; no file is left beside it.
mkdir keep
cp plain.base keep/heap.base
chmod 640 keep/heap.base
run bash -o pipefail -c "(ulimit -f 0; trap '' XFSZ
	exec '$HATF' check --baseline keep/heap.base --update old.?.hatf 2>&1
	) | cat >&2"
check_status 'a full disk' 1
check_one_line 'a full disk' 'hatf check: keep/heap.base: File too large'
check 'files after a full disk' "$(ls keep)" heap.base
cmp -s keep/heap.base plain.base || fail 'the old baseline is lost'
run "$HATF" check --baseline keep/heap.base --update leak.hatf
check_status 'a baseline that is there' 0
check 'mode' "$(stat -c %a keep/heap.base)" 640
check 'files' "$(ls keep)" heap.base
# A link stays a link; other names of a file see the change.
ln -s heap.base keep/link.base
ln keep/heap.base keep/name.base
run "$HATF" check --baseline keep/link.base --update old.?.hatf
check_status 'a link' 0
[ -L keep/link.base ] || fail 'the link is gone'
cmp -s keep/name.base plain.base || fail 'another name has the old content'
rm keep/name.base
run "$HATF" check --baseline keep/link.base --update leak.hatf
[ -L keep/link.base ] || fail 'the link is gone'
grep -q '"runs": 1' keep/heap.base || fail "a link: $(cat keep/heap.base)"

# bad WANT OLD NEW: a baseline in which OLD is NEW is refused.
bad()
{
	sed "s/$2/$3/" w.base >bad.base
	cmp -s bad.base w.base && fail "nothing changed by $3"
	run "$HATF" check --baseline bad.base leak.hatf
	check_status "baseline with $3" 1
	check_one_line "baseline with $3" "hatf check: bad.base: $1"
}
bad "'program' is not a string" '"app"' 7
bad "'wrappers' is not a list of at most 64 globs" '\["xmalloc", "xc\*"\]' '"x"'
bad "'wrappers' is not a list of at most 64 globs" '"xc\*"' 7
bad "'wrappers' is not a list of at most 64 globs" '"xc\*"' '""'
many=$(seq -f '"f%g"' -s ', ' 65)
bad "'wrappers' is not a list of at most 64 globs" '"xc\*"' "$many"
bad "'raw_stacks' is neither true nor false" '"wrappers"' \
	'"raw_stacks": 1, "wrappers"'
run "$HATF" check --baseline none.base leak.hatf
check_status 'no baseline' 1
check_one_line 'no baseline' 'hatf check: none.base: No such file or' \
	'directory (--update makes a baseline)'
run "$HATF" check --baseline bin leak.hatf
check_status 'a folder as a baseline' 1
check_one_line 'a folder as a baseline' 'hatf check: bin: Is a directory'
echo 'peak 1M' >heap.limits
run "$HATF" check --baseline heap.limits leak.hatf
check_status 'limits as a baseline' 1
check_one_line 'limits as a baseline' \
	"hatf check: heap.limits:1: not a baseline of 'hatf check' *: *"

# ------------------------------------------- the peak comes at another moment
cat >moments.c <<'END'
#include <stdlib.h>
#define USE __attribute__((noinline)) void
USE one(void) { free(malloc(50000)); __asm__ volatile(""); }
USE two(void) { free(malloc(50000)); __asm__ volatile(""); }
int
main(int argc, char **argv)
{
	void *p = malloc(1000);

	(argc > 1 ? two : one)();
	free(p);
	(argc > 1 ? one : two)();
	return 0;
}
END
gcc -g -O1 -fno-builtin -o bin/moments moments.c || fail 'gcc failed'
record one.hatf moments
record two.hatf moments x
# The site of the peak is another one, but the peak is as high as before.
run "$HATF" check --baseline m.base --update one.hatf
check_status 'moments: update' 0
run "$HATF" check --baseline m.base two.hatf
check_status 'moments: check' 0
run "$HATF" diff --fail-on any one.hatf two.hatf
check_status 'moments: diff' 0
run "$HATF" diff --fail-on 'site.peak>10K' one.hatf two.hatf
check_status 'moments: a limit of its own' 3

# ----------------------------------------------------------- a damaged baseline
# refused WANT TEXT: a baseline of this text is refused.
refused()
{
	printf '%s' "$2" >bad.base
	run "$HATF" check --baseline bad.base old.1.hatf
	check_status "baseline $2" 1
	check_one_line "baseline $2" "hatf check: bad.base$1"
}
refused ': not a baseline*' '{}'
refused ':1: *' '{'
refused ': made by another version of hatf: *--update' '{"hatf_baseline": 2}'
head='{"hatf_baseline": 1, "by": "site"'
for runs in 0 99999999999; do
	refused ": 'runs' is missing, below 1 or too large" \
		"$head, \"runs\": $runs}"
done
refused ": 'total' or 'rows' is missing" "$head, \"runs\": 1}"
head+=', "runs": 2, "total": {}, "rows": {"a": {"peak":'
for value in '"x"' '[1]' '-1' '1.5' 'null' '[1,2,3]'; do
	refused ': a measure is neither one number nor *: a' "$head $value}}}"
done
head='{"hatf_baseline": 1, "by": "site", "runs": 1'
refused ': not an object with measures: total' \
	"$head, \"total\": {\"peek\": 1}, \"rows\": {}}"
refused ': not an object with measures: a' \
	"$head, \"total\": {}, \"rows\": {\"a\": 3}}"
size=$(stat -c %s w.base)
for ((n = 0; n < size; n++)); do
	head -c "$n" w.base >cut.base
	run "$HATF" check --baseline cut.base old.1.hatf
	# Without the last newline the file is whole.
	[ "$status" -eq "$((n < size - 1))" ] ||
		fail "a baseline of $n bytes: status $status"
done
finish
