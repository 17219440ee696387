#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# unwind.sh - the recorder's stacks are those of libunwind, frame by frame
#
# A preloaded library walks the stack at each allocation as the recorder does
# and by unw_backtrace(3), in interpreters, a compiler, a database, a run-time
# with generated code, and a C++ program with exceptions, threads and handlers.
. "$(dirname "$0")/lib.sh"
need gcc g++

root=$CAPTURE/../..
[ "$(uname -m)" = x86_64 ] || skip 'call stacks are for x86-64'
echo '#include <libunwind.h>' | gcc -E - >/dev/null 2>&1 || skip 'no libunwind'

gcc -std=gnu11 -O2 -g -fPIC -shared -D_GNU_SOURCE -I"$root" \
	-fno-builtin-malloc -fno-builtin-calloc -o libcompare.so \
	"$CAPTURE/shared/compare_unwind.c" \
	"$root"/preload/stacks/{cfi,cfi_expression,code_object}.c \
	"$root"/preload/stacks/{stack_memory,unwind_rule,walk}.c \
	"$root"/preload/sys/{elf_lookup,elf_dynamic}.c -lunwind -ldl ||
	fail 'libcompare.so'

# same NAME LEAST COMMAND...: no difference in at least so many captures.
same()
{
	local name=$1 least=$2 sum

	shift 2
	command -v "$1" >/dev/null || return 0
	rm -f counts
	COMPARE_OUT=$PWD/counts LD_PRELOAD=$PWD/libcompare.so "$@" \
		>/dev/null 2>err </dev/null
	sum=$(awk -F '[= ]' '{ c += $2; d += $4; l += $8 }
		END { print c + 0, d + 0, l + 0 }' counts)
	echo "$name: captures, different, lost: $sum"
	check_ge "$name: captures" "${sum%% *}" "$least"
	check "$name: different" "$(echo "$sum" | cut -d ' ' -f 2)" 0
	[ "$failures" -eq 0 ] || head -n 40 err >&2
}

cat >exceptions.cc <<'END'
#include <csignal>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static volatile size_t total;
__attribute__((noinline)) void deep(int depth)
{
	std::string text(100 + depth, 'x');
	std::vector<std::string> copies(3, text);
	if (depth == 0)
		throw std::runtime_error("end of recursion");
	deep(depth - 1);
	total += copies.size();
}
static void handler(int)
{
	void *volatile p = malloc(5000);
	free(p);
}
static void work()
{
	for (int i = 0; i < 500; i++) {
		try {
			deep(i % 50);
		} catch (std::exception &e) {
			total += std::string(e.what()).size();
		}
		std::map<int, std::string> m;
		for (int j = 0; j < 20; j++)
			m[j] = std::string(50, 'a');
		if (i % 10 == 0)
			raise(SIGUSR1);
	}
}
int main()
{
	signal(SIGUSR1, handler);
	std::thread a(work), b(work);
	work();
	a.join();
	b.join();
}
END
for flags in -O0 '-O2 -fomit-frame-pointer' \
	'-O3 -flto -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086 # several words
	g++ $flags -g -o exceptions exceptions.cc -pthread || fail "g++ $flags"
	same "C++ $flags" 100000 ./exceptions
done
same perl 20000 perl -e 'for (1 .. 20000) { $h{$_} = [1, 2] }'
same python3 20000 env PYTHONMALLOC=malloc "$PYTHON" -S -c 'import json
d = [{str(i): [i, str(i) * 3]} for i in range(5000)]
json.loads(json.dumps(d))'
same sqlite3 5000 sqlite3 :memory: 'create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 5000) insert into t select x, hex(x) from c;
	select count(*) from t group by b limit 1'
echo '#include <stdio.h>
#include <stdlib.h>
int main(void) { printf("%d", abs(-1)); return 0; }' | gcc -E -o hello.i -xc -
same cc1 5000 "$(gcc -print-prog-name=cc1)" -O2 -quiet hello.i -o hello.s
same node 20000 node -e 'const a = [];
	for (let i = 0; i < 50000; i++) a.push({ i, s: "x" + i });
	JSON.parse(JSON.stringify(a));'
finish
