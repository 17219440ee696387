#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# stack-walks.sh - walks of the stack find what libunwind finds
#
# A library (shared/unwound.c) with the recorder's code for walks is preloaded
# into real programs, and compares each stack with that of unw_backtrace().
#
#	WALKS=N		run each program until it has made N captures
#	VERBOSE=1	print what each program has made
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "the recorder takes stacks on x86-64 only"
need perl sqlite3
wanted=${WALKS:-0}

root=$CAPTURE/../..
walks=$root/preload/stacks
cc=${CC:-cc}
echo '#include <libunwind.h>' | $cc -E - >/dev/null 2>&1 ||
	skip "no libunwind-dev"
$cc -std=gnu11 -O2 -g -fPIC -shared -D_GNU_SOURCE -I"$root" \
	-fno-builtin-malloc -o unwound.so "$CAPTURE/shared/unwound.c" \
	"$walks"/{walk,path_cache,unwind_rule,cfi,cfi_expression}.c \
	"$walks"/{code_object,stack_memory}.c \
	"$root"/preload/sys/{elf_lookup,elf_dynamic}.c -lunwind -ldl ||
	fail "cannot build unwound.so"
for flags in '-O0' '-O2' '-O2 -fno-omit-frame-pointer' '-O3 -flto'; do
	# shellcheck disable=SC2086 # several flags
	${CXX:-c++} -std=c++14 $flags -pthread -o "unwinds${flags// /}" \
		"$CAPTURE/shared/unwinds.cc" || fail "cannot build unwinds"
done

# Two files with and without frame pointers call each other.
halves()
{
	local name=$1 compiler=$2

	shift 2
	"$compiler" "$@" -fno-omit-frame-pointer -DMAIN -DHERE=with \
		-DTHERE=without -c -o with.o "$CAPTURE/shared/walked.c" &&
		"$compiler" "$@" -fomit-frame-pointer -DHERE=without \
			-DTHERE=with -c -o without.o \
			"$CAPTURE/shared/walked.c" &&
		"$compiler" "$@" -o "halves-$name" with.o without.o ||
		fail "cannot build halves-$name"
}

halves O1 "$cc" -O1
halves O2 "$cc" -O2
halves lto "$cc" -O3 -flto
! command -v clang >/dev/null || halves clang clang -O2
for flags in '-O0' '-O2' '-O3 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086 # several flags
	${CXX:-c++} -std=c++20 -fcoroutines $flags -pthread \
		-o "coroutines${flags// /}" "$CAPTURE/shared/coroutines.cc" \
		2>said || {
		grep -q 'coroutine' said || fail "coroutines: $(head -3 said)"
		break
	}
done
if command -v rustc >/dev/null; then
	rustc -O -o rust-O "$CAPTURE/shared/walked.rs" 2>said &&
		rustc -g -C force-frame-pointers=yes -o rust-g \
			"$CAPTURE/shared/walked.rs" 2>said ||
		fail "rustc: $(head -3 said)"
fi

# sum FIELD: the total of a number in the reports of all processes.
sum()
{
	awk -v field="$1" '$1 == "captures" {
			for (i = 1; i < NF; i += 2)
				if ($i == field)
					n += $(i + 1)
		}
		END { print n + 0 }' report
}

# check_walks NAME LEAST: judge the report.
check_walks()
{
	check_ge "$1: captures" "$(sum captures)" "$2"
	check "$1: differences" "$(sum differences)" 0
	# Walks that end where libunwind goes on, at most one in 5 000.
	check_ge "$1: a 5000th of the captures, and early ends" \
		"$(($(sum captures) / 5000))" "$(sum sooner)"
	check_ge "$1: paths" "$(sum paths)" $(($(sum captures) / 20))
	[ "$(sum differences)" = 0 ] || head -n 40 report >&2
	[ -z "${VERBOSE:-}" ] ||
		echo "$1: $(sum captures) captures, $(sum differences)" \
			"differences, $(sum lost) lost, $(sum cut) cut," \
			"$(sum walked) frames walked," \
			"$(sum verified) verified, $(sum paths) paths found"
}

# walks NAME LEAST COMMAND...: make at least LEAST captures, or as many as
# wanted, without a difference.
walks()
{
	local name=$1 least=$2 before=-1

	shift 2
	: >report
	chmod 666 report
	while [ "$(sum captures)" -gt "$before" ]; do
		before=$(sum captures)
		env UNWOUND="$TMP/report" LD_PRELOAD="$TMP/unwound.so" "$@" \
			>said 2>&1 <"${input:-/dev/null}" ||
			fail "$name: status $?: $(head -3 said)"
		[ "$(sum captures)" -lt "$wanted" ] || break
	done
	check_walks "$name" "$least"
}

for program in unwinds-*; do
	walks "$program" 300000 "./$program" 700
done
for program in halves-*; do
	walks "$program" 50000 "./$program" 1000
done
for program in coroutines-*; do
	[ ! -e "$program" ] || walks "$program" 50000 "./$program" 500
done
for program in rust-*; do
	[ ! -e "$program" ] || walks "$program" 50000 "./$program" 500
done
$cc -O1 -o two_ways "$CAPTURE/shared/two_ways.c" ||
	fail "cannot build two_ways"
walks two_ways 100000 ./two_ways 100
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

# redis CLIENT...: a server and its clients
redis_walks()
{
	local least=$1 pid

	: >report
	UNWOUND=$TMP/report LD_PRELOAD=$TMP/unwound.so redis-server --port 0 \
		--unixsocket "$TMP/s" --save '' --appendonly no >said 2>&1 &
	pid=$!
	for _ in {1..100}; do
		redis-cli -s "$TMP/s" ping >/dev/null 2>&1 && break
		sleep 0.05
	done
	redis-benchmark -s "$TMP/s" -P 16 -c 10 -r 1000 -q \
		-n $((wanted / 8 + 4000)) >benchmark 2>&1 ||
		fail "redis-benchmark: $(tail -n 3 benchmark)"
	redis-cli -s "$TMP/s" eval 'local t = {}
		for i = 1, 1000 do t[i] = cjson.encode({ i, tostring(i) }) end
		return #t' 0 >/dev/null 2>&1
	redis-cli -s "$TMP/s" shutdown nosave >/dev/null 2>&1
	wait $pid || fail "redis-server: status $?: $(tail -n 3 said)"
	[ "$least" -ge "$wanted" ] || least=$wanted
	check_walks redis "$least"
}

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null
then
	redis_walks 20000
fi

# PostgreSQL's server does not run as root.
postgres=$(command -v postgres ||
	find /usr/lib/postgresql -name postgres 2>/dev/null | tail -n 1)
initdb=${postgres:+$(dirname "$(realpath "$postgres")")/initdb}
as_nobody=()
if [ "$(id -u)" = 0 ]; then
	as_nobody=(setpriv --reuid nobody --regid nogroup --clear-groups)
fi
if [ -x "$initdb" ] && mkdir -m 777 database &&
	"${as_nobody[@]}" "$initdb" -D database/data -A trust -N >said 2>&1
then
	cat >queries <<'END'
create table t(a int, b text);
insert into t select i, md5(i::text) from generate_series(1, 20000) i;
create index on t(b);
select count(*), max(upper(b)) from t where b like '%a%' group by a % 7;
with recursive r(n) as (select 1 union all select n + 1 from r where n < 500)
	select sum(n) from r;
select t.a, u.b from t join t u on t.b = u.b order by u.b desc limit 100;
do $$ begin for i in 1..300 loop begin perform 1 / (i % 3);
	exception when others then null; end; end loop; end $$;
drop table t;
END
	tr '\n' ' ' <queries | sed 's/; /;\n/g' >lines
	# Write the do block in one line, because the server reads lines.
	input=lines walks postgres 2000 "${as_nobody[@]}" "$postgres" --single \
		-D database/data postgres
fi
finish
