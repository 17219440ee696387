#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# stack-walks.sh - walks of the stack find what libunwind finds
#
# A library (shared/unwound.c) with the recorder's code for walks is preloaded
# into real programs, and compares each stack with that of unw_backtrace().
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "the recorder takes stacks on x86-64 only"
need perl sqlite3

root=$CAPTURE/../..
walks=$root/preload/stacks
cc=${CC:-cc}
echo '#include <libunwind.h>' | $cc -E - >/dev/null 2>&1 ||
	skip "no libunwind-dev"
$cc -std=gnu11 -O2 -g -fPIC -shared -D_GNU_SOURCE -I"$root" \
	-fno-builtin-malloc -o unwound.so "$CAPTURE/shared/unwound.c" \
	"$walks"/{walk,unwind_rule,cfi,cfi_expression}.c \
	"$walks"/{code_object,stack_memory}.c \
	"$root"/preload/sys/{elf_lookup,elf_dynamic}.c -lunwind -ldl ||
	fail "cannot build unwound.so"
for flags in '-O0' '-O2' '-O2 -fno-omit-frame-pointer' '-O3 -flto'; do
	# shellcheck disable=SC2086 # several flags
	${CXX:-c++} -std=c++14 $flags -pthread -o "unwinds${flags// /}" \
		"$CAPTURE/shared/unwinds.cc" || fail "cannot build unwinds"
done

# walks NAME LEAST COMMAND...: make at least LEAST captures, without a
# difference.
walks()
{
	local name=$1 least=$2 n

	shift 2
	rm -f report
	UNWOUND=$TMP/report LD_PRELOAD=$TMP/unwound.so "$@" \
		>said 2>&1 </dev/null ||
		fail "$name: status $?: $(head -3 said)"
	[ -e report ] || { fail "$name: no report"; return; }
	n=$(awk '$1 == "captures" { n += $2 } END { print n + 0 }' report)
	check_ge "$name: captures" "$n" "$least"
	n=$(awk '$3 == "differences" { n += $4 } END { print n + 0 }' report)
	check "$name: differences" "$n" 0
	[ "$n" = 0 ] || head -n 40 report >&2
	[ -z "${VERBOSE:-}" ] || echo "$name: $(tail -n 1 report)"
}

for program in unwinds-*; do
	walks "$program" 300000 "./$program" 700
done
walks perl 15000 perl -e '
	sub deep { my $n = shift; return [] if $n == 0; return [deep($n - 1)] }
	$x{$_ % 777} .= "x$_" for 1 .. 30000;
	deep($_ % 100) for 1 .. 300; print sort { $a <=> $b } keys %x'
walks python 60000 "$PYTHON" -S -E -c '
import json, re
def deep(n):
    return [bytearray(600)] + deep(n - 1) if n else []
for i in range(100):
    deep(i)
    json.loads(json.dumps({str(j): ["x" * 600] * 3 for j in range(90)}))
    sorted(re.findall("[a-z]+", "the quick brown fox " * 50), key=lambda s: s)'
walks sqlite 20000 sqlite3 :memory: 'create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c
		limit 9000) insert into t select x, hex(randomblob(50)) from c;
	create index i on t(b); select count(*) from t where b like "%A%";
	select sum(length(b)) from (select b from t order by b desc);'
cc1=$($cc -print-prog-name=cc1)
if [ -x "$cc1" ]; then
	$cc -E -D_GNU_SOURCE "$CAPTURE/programs/threads.c" >unit.i
	walks cc1 30000 "$cc1" -quiet -O2 -fpreprocessed unit.i -o unit.s
fi
if command -v node >/dev/null; then
	walks node 5000 node -e '
		let a = {};
		for (let i = 0; i < 30000; i++) a["k" + i % 999] = i;
		JSON.parse(JSON.stringify(a)); [3, 1, 2].sort()'
fi
finish
