#!/bin/bash
# SPDX-License-Identifier: MIT
#
# real-suites.sh - run real test suites without and with the recorder
#
# usage: scripts/real-suites.sh [-b BUILD] [-q] [-n PATTERN] [-s STACKS]
#                               [SUITE...]
#
# SUITE is one of python, perl, stress, redis, postgres, and guests, a hundred
# programs at small jobs (guests.sh); the default is all.  The script installs
# the packages that they need (scripts/setup.sh suites, or guests).  Each part
# of a suite runs twice, without the recorder and with it.  Both runs must have
# the same results, and every trace must verify.  Only the trace of a killed
# process may lack its trailer; the script runs 'hatf recover' on it.  At least
# one trace of a part must have events.
#
# -q leaves out the parts that take minutes.  -n leaves out the rows whose names
# do not match PATTERN ('chromium*').  -s records call stacks: STACKS is a value
# of HATFTRACE_STACKS ('on', 'on:frees', 'caller', a number, 'off').  Without -s
# and without HATFTRACE_STACKS in the environment, only the rows that run 'hatf
# record' have call stacks.
#
# The script prints a table in Markdown.  Everything else goes to standard error
# and to the folder SUITES_DIR, which is kept if the user sets it.  Exit status
# 1: something differs.
#
# The user may be root.  PostgreSQL, which refuses root, then runs as user
# postgres.
set -u
cd "$(dirname "$0")/.." || exit 2
top=$PWD
build=$top/build/plain
quick=
only='*'
while getopts b:qn:s: option; do
	case $option in
	b) build=$(realpath "$OPTARG") ;;
	q) quick=1 ;;
	n) only=$OPTARG ;;
	s) export HATFTRACE_STACKS=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- python perl stress redis postgres guests

[ "$*" = guests ] || scripts/setup.sh suites >&2 || exit 2
[[ " $* " != *' guests '* ]] || scripts/setup.sh guests >&2 || exit 2
[ -e "$build/libhatftrace.so" ] || make -j"$(nproc)" >&2 || exit 2
if [ -n "${SUITES_DIR-}" ]; then
	mkdir -p "$SUITES_DIR"
	work=$(realpath "$SUITES_DIR")
else
	work=$(mktemp -d) || exit 2
	trap 'rm -rf "$work"' EXIT
fi
chmod 711 "$work"
export LC_ALL=C
status=0
table=()
pre=()      # words before the command of the program, which set the recorder
folder=     # the folder in which the part runs

# mode bare|traced NAME: set 'pre' and 'folder'.
mode()
{
	folder=$work/${2//[^a-zA-Z0-9_-]/_}.$1
	rm -rf "$folder"
	mkdir -p "$folder/traces"
	chmod 777 "$folder" "$folder/traces"
	pre=()
	[ "$1" = bare ] || pre=(env
		"HATFTRACE_OUT=$folder/traces/%e.%p.hatf.gz"
		"LD_PRELOAD=$build/libhatftrace.so")
}

# look_at TRACES: verify the traces in this folder; set 'judged' to a summary
# and 'bad' to the number of faulty ones.
look_at()
{
	local trace out n=0 whole=0 cut=0 recovered=0 events=0 one

	bad=0
	for trace in "$1"/*; do
		case $trace in *.rings | */'*') continue ;; esac
		n=$((n + 1))
		if [ -e "$trace.rings" ]; then
			"$build/hatf" recover "$trace" >/dev/null 2>&1 &&
				recovered=$((recovered + 1))
		fi
		# An empty file: a kill came before the header was written.
		if [ ! -s "$trace" ]; then
			cut=$((cut + 1))
			continue
		fi
		out=$("$build/hatf" verify --json "$trace" 2>/dev/null)
		one=$(sed -n 's/.*"events": *\([0-9]*\).*/\1/p' <<<"$out" |
			head -n 1)
		events=$((events + ${one:-0}))
		case $out in
		*'"ok": true'* | *'"ok":true'*) whole=$((whole + 1)) ;;
		*'"violations": 0'* | *'"violations":0'*) cut=$((cut + 1)) ;;
		*)
			bad=$((bad + 1))
			echo "$trace: $("$build/hatf" verify "$trace" 2>&1 |
				head -n 2)" >&2
			;;
		esac
	done
	judged="$n traces, $events events: $whole whole"
	[ $cut -eq 0 ] || judged+=", $cut end early"
	[ $recovered -eq 0 ] || judged+=", $recovered recovered"
	if [ $whole -gt 0 ] && [ $events -eq 0 ]; then
		bad=$((bad + 1))
		judged+=', all EMPTY'
	fi
	[ $bad -eq 0 ] || judged+=", $bad WRONG"
}

# row NAME BARE TRACED TIMES: add a row to the table; BARE and TRACED are the
# results of the two runs, one line each.
row()
{
	local same='the same' result=$2

	look_at "$folder/traces"
	if [ "$2" != "$3" ]; then
		same=DIFFERENT result="$2 / $3"
		status=1
		if [ -e "$folder/err" ]; then
			head -n 5 "$folder/err" | cut -c 1-300 >&2
		fi
	fi
	# A suite that cannot run fails in the same way each time.
	case $2 in
	"status ${expected:-0},"*) ;;
	'' | 'status '[1-9]* | '0 '*)
		same="$same, but it FAILED without, too"
		status=1
		;;
	esac
	[ "$bad" -eq 0 ] || status=1
	table+=("| $1 | $result | $same | $judged | $4 |")
	echo "$1: $result; $same; $judged; $4" >&2
}

# both_in MODE NAME FUNCTION [ARGUMENT]...: run the function, which prints a
# result, once bare and once traced.  MODE is a function that sets 'folder',
# where it runs, and 'pre'.
both_in()
{
	local set_mode=$1 name=$2 times='' result=() start m
	shift 2

	# shellcheck disable=SC2053 # a pattern
	[[ $name == $only ]] || return 0
	for m in bare traced; do
		"$set_mode" $m "$name"
		start=$(date +%s%N)
		result+=("$(cd "$folder" && "$@")")
		times+="${times:+, }$((($(date +%s%N) - start) / 1000000)) ms"
	done
	row "$name" "${result[0]}" "${result[1]}" "$times"
}

both()
{
	both_in mode "$@"
}

# ------------------------------------------------------------------- suites

python_module()
{
	timeout 900 "${pre[@]}" /usr/bin/python3 -m test -v "$1" \
		>out 2>&1 </dev/null
	echo "status $?, $(sed -n 's/^\(Ran [0-9]* tests\) in .*/\1/p' out |
		tail -n 1), $(grep -E '^(OK|FAILED)' out | tail -n 1)"
}

suite_python()
{
	local module modules='threading thread subprocess signal os'

	[ -n "$quick" ] ||
		modules+=' multiprocessing_fork multiprocessing_spawn'
	for module in $modules; do
		both "python3 test_$module" python_module "test_$module"
	done
}

# source_of PACKAGE: unpack its Debian source in "$work/PACKAGE-source".
source_of()
{
	local package=$1

	[ -d "$work/$package-source" ] && return
	mkdir -p "$work/apt/lists/partial" "$work/$package-source"
	echo "deb-src http://deb.debian.org/debian $(
		. /etc/os-release
		echo "$VERSION_CODENAME"
	) main" >"$work/apt/sources.list"
	set -- -q -o "Dir::Etc::SourceList=$work/apt/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$work/apt/lists" \
		-o APT::Sandbox::User=root
	(cd "$work/apt" && apt-get "$@" update &&
		apt-get "$@" source --download-only "$package" &&
		tar -xf "$package"_*.orig.tar.[gx]z \
			-C "$work/$package-source" --strip-components 1) >&2
}

# Unpack perl's core tests, and link the library of the installed perl to where
# the tests look for it.
perl_source()
{
	local lib=$work/perl-source/lib dir

	source_of perl || return
	[ ! -e "$lib/installed" ] || return 0
	rm -rf "$lib"
	mkdir "$lib"
	for dir in $(perl -e 'print "$_\n" for grep { -d } @INC'); do
		dir=$(realpath "$dir") && cp -rs "$dir/." "$lib/" 2>/dev/null
	done
	touch "$lib/installed"
}

perl_tests()
{
	cp -rs "$work/perl-source/." . && cd t || return
	ln -sf /usr/bin/perl perl
	# shellcheck disable=SC2086
	timeout 1500 "${pre[@]}" prove -j2 $1 >../out 2>/dev/null </dev/null
	echo "$(grep -c '\.\. ok$' ../out) files ok, $(grep -E \
		'\.\. (skipped|Dubious|Failed|No sub|All)|^op|^re' ../out |
		grep -vc '\.\. ok$') not or not here; md5 $(
		grep -E '^[a-z]+/.*\.t \.\.' ../out | sort | md5sum |
			cut -c 1-8)"
}

# Run inserts, indices, joins, groups and text functions; print a digest of the
# results.
sqlite_work()
{
	"${pre[@]}" sqlite3 -cmd '.parameter set :rounds 2' :memory: \
		<"$top/tests/bench/workloads/sqlite.sql" >out 2>&1
	echo "status $?, $(wc -l <out) lines, md5 $(md5sum <out | cut -c 1-8)"
}

suite_perl()
{
	local files='base/*.t cmd/*.t mro/*.t '

	both sqlite3 sqlite_work
	perl_source || return
	[ -n "$quick" ] || files+='op/*.t re/regexp*.t re/pat.t re/subst*.t'
	both "perl's core tests" perl_tests "$files"
}

# stressor NAME: some stressors refuse to run as root.
stressor()
{
	local user=()

	case $1 in
	exec | spawn)
		[ "$(id -u)" -ne 0 ] ||
			user=(setpriv --reuid 65534 --clear-groups) ;;
	esac
	timeout 120 "${user[@]}" "${pre[@]}" stress-ng "--$1" 2 "--$1-ops" 200 \
		--timeout 20 --temp-path "$folder" --verify >out 2>&1 </dev/null
	echo "status $?, $(grep -cE 'stress-ng: (fail|error)' out) failures"
}

suite_stress()
{
	local name

	for name in malloc fork clone vfork close signal sigq sigfd sigfpe \
		sigrt sigsegv sigsuspend sigpending sigtrap sigabrt kill exec \
		spawn daemon pthread exit-group seccomp zombie wait chroot cap \
		rlimit prctl context switch; do
		both "stress-ng --$name" stressor "$name"
	done
}

redis_unit()
{
	local program

	cp -r "$work/redis-source/." . || return
	for program in cli benchmark check-aof check-rdb; do
		ln -sf "/usr/bin/redis-$program" "src/redis-$program"
	done
	printf '#!/bin/sh\nexec %s /usr/bin/redis-server "$@"\n' \
		"${pre[*]}" >src/redis-server
	chmod +x src/redis-server
	timeout 3000 tclsh tests/test_helper.tcl --clients 1 "$@" \
		>out 2>&1 </dev/null
	# The number of PSYNC2's tests varies from run to run.
	echo "status $?, $(grep -E '\[.*ok.*\]:' out | grep -vc PSYNC2) ok, $(
		grep -cE '\[.*(err|exception).*\]:' out) errors"
}

suite_redis()
{
	local unit list=() names='unit/type/string unit/type/hash unit/multi
	unit/aofrw unit/scripting unit/expire unit/other integration/rdb'

	source_of redis || return
	[ -n "$quick" ] || names='unit/dump unit/auth unit/protocol
	unit/keyspace unit/scan unit/type/string unit/type/incr
	unit/type/list unit/type/set unit/type/zset unit/type/hash
	unit/type/stream unit/sort unit/expire unit/other unit/multi
	unit/quit unit/aofrw unit/acl unit/scripting unit/functions
	unit/pubsub unit/slowlog unit/introspection unit/introspection-2
	unit/limits unit/bitops unit/bitfield unit/geo unit/hyperloglog
	unit/lazyfree unit/wait unit/querybuf unit/tracking unit/shutdown
	unit/networking integration/aof integration/aof-multi-part
	integration/rdb integration/replication integration/replication-2
	integration/replication-3 integration/replication-psync
	integration/block-repl integration/psync2 integration/psync2-reg
	integration/logging integration/redis-cli
	integration/redis-benchmark integration/shutdown
	integration/failover'
	for unit in $names; do
		list+=(--single "$unit")
	done
	both 'redis, its own tests' redis_unit "${list[@]}"
}

# as_postgres COMMAND...: run COMMAND, as user postgres if this user is root.
as_postgres()
{
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid postgres --regid postgres --clear-groups \
			env "HOME=$folder" "$@"
	else
		"$@"
	fi
}

sql()
{
	as_postgres psql -h "$folder" -p 55432 -U postgres -At "$@" postgres
}

bench()
{
	as_postgres pgbench -h "$folder" -p 55432 -U postgres "$@" postgres \
		2>&1 | grep -E 'actually|failed' | tr -s '\n ' ' '
}

await_server()
{
	for ((i = 0; i < 300; i++)); do
		as_postgres pg_isready -q -h "$folder" -p 55432 && return
		sleep 0.1
	done
}

# Run pgbench's own mix, many short connections, and a parallel query.  Then
# terminate a backend, and kill one, so that the server restarts.
postgres_work()
{
	local server victim client

	PATH=$(dirname "$(find /usr/lib/postgresql -name initdb | tail -n 1
		)"):$PATH
	as_postgres initdb -D "$folder/data" -A trust -U postgres \
		>initdb.out 2>&1 || return
	if [ "$(id -u)" -eq 0 ]; then
		pre=(setpriv --reuid postgres --regid postgres --clear-groups
			"${pre[@]}")
	fi
	"${pre[@]}" postgres -D "$folder/data" -p 55432 -k "$folder" \
		-c listen_addresses= -c fsync=off >server.out 2>&1 &
	server=$!
	await_server
	bench -i -s 2 -q
	bench -n -c 8 -j 2 -t $((quick ? 100 : 1000))
	bench -n -C -c 4 -t 100 -S
	sql -c 'select sum(abalance) = (select sum(tbalance) from
		pgbench_tellers) from pgbench_accounts' \
		-c 'select count(*) from pgbench_history'
	sql -c 'set max_parallel_workers_per_gather=2' \
		-c 'set parallel_setup_cost=0' -c 'set parallel_tuple_cost=0' \
		-c 'set min_parallel_table_scan_size=0' \
		-c 'select sum(aid * 7 % 1013) from pgbench_accounts' |
		tail -n 1
	sql -c "select count(pg_terminate_backend(pid)) from pg_stat_activity
		where backend_type = 'autovacuum launcher'"
	sql -c 'select pg_sleep(60)' >/dev/null 2>&1 &
	client=$!
	victim=
	while [ -z "$victim" ]; do
		victim=$(sql -c "select pid from pg_stat_activity where query =
			'select pg_sleep(60)'")
	done
	kill -KILL "$victim"
	wait "$client"
	echo "client of the killed backend: $?"
	sleep 1
	await_server
	sql -c 'select count(*), sum(aid) from pgbench_accounts'
	kill -INT "$server"
	wait "$server"
	echo "server: $?"
}

postgres_line()
{
	postgres_work | tr '\n' ' ' | sed 's/number of //g; s/  */ /g'
}

suite_postgres()
{
	both PostgreSQL postgres_line
}

# shellcheck source=scripts/guests.sh
. scripts/guests.sh

for suite; do
	"suite_$suite" || {
		echo "$suite: could not be run" >&2
		status=1
	}
done
echo '| suite | result | with the recorder | traces | time, bare and with |'
echo '|---|---|---|---|---|'
printf '%s\n' "${table[@]}"
exit $status
