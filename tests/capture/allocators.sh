#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# allocators.sh - other allocators preloaded before or after the recorder
#
# Real programs behave with each allocator as they do without the recorder.  If
# the allocator is preloaded after the recorder, the trace has every call.  If
# it is preloaded before, it takes the calls, and the recorder sees none of
# them: one line reports this, and the trace is not complete, even after
# recovery.
. "$(dirname "$0")/lib.sh"
need perl python3 sqlite3

export PYTHONMALLOC=malloc PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 \
	PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0
cat >script.pl <<'EOT'
my %h;
push @{$h{"key" . $_ % 700}}, "value $_" for 1 .. 5000;
my $s = join "\n", sort map { join ",", @{$h{$_}} } keys %h;
print length($s), " ", scalar(() = $s =~ /value (\d*5)\b/g), "\n";
warn "warned\n";
exit 3;
EOT
cat >script.py <<'EOT'
import json, sys, threading
words = ["w%d" % (i * 7919 % 4001) for i in range(8000)]
text = json.dumps({w: words.count(w) for w in words[:300]}, sort_keys=True)
parts = []
threads = [threading.Thread(target=lambda: parts.append(len(words * 3)))
           for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(text), parts)
sys.exit(4)
EOT
cat >script.sql <<'EOT'
create table t(id integer primary key, name text, n int);
with recursive c(i) as (select 1 union all select i + 1 from c where i < 3000)
insert into t(name, n) select 'name ' || (i * 7919 % 3001), i % 97 from c;
create index t_name on t(name);
select count(*), sum(n), max(name) from t where name like 'name 1%';
EOT
# shellcheck disable=SC2034 # by name, below
perl=(perl script.pl)
# shellcheck disable=SC2034
python=("$PYTHON" script.py)
# shellcheck disable=SC2034
sqlite=(sqlite3 -batch -init script.sql :memory: .quit)

# path NAME: print the path at which the loader finds this library.
path()
{
	ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'
}

line=" provides the malloc() that the program calls, so these calls bypass"
line+=" the recorder"

# behind WHAT LIBRARY COMMAND...: the recorder comes before LIBRARY.
behind()
{
	local what=$1 library=$2 file=$1.behind.gz
	shift 2
	PRELOAD=$library trace "$TMP/$file" "$@" >out 2>err
	check "$what behind: status" $? "$status"
	cmp -s bare out || fail "$what behind: output"
	cmp -s bare.err err || fail "$what behind: stderr: $(cat err)"
	clean "$file"
	check "$what behind: allocator" "$(header "$file" allocator)" "$library"
	check_ge "$what behind: events" "$(info "$file" events)" "$events"
}

# in_front WHAT LIBRARY COMMAND...: LIBRARY comes before the recorder.
in_front()
{
	local what=$1 library=$2 file=$TMP/$1.front.gz
	shift 2
	env HATFTRACE_OUT="$file" LD_PRELOAD="$library:$SO" "$@" >out 2>err
	check "$what in front: status" $? "$status"
	cmp -s bare out || fail "$what in front: output"
	check "$what in front: lines" "$(grep -c '^hatftrace: ' err)" 1
	check "$what in front: line" "$(grep '^hatftrace: ' err)" \
		"hatftrace: $file: $library$line; the trace is not complete"
	grep -v '^hatftrace: ' err | cmp -s - bare.err ||
		fail "$what in front: stderr: $(cat err)"
	check "$what in front: complete" "$(info "$file" complete 2>err)" false
	check "$what in front: missed" "$(trailer "$file" missed)" \
		"$library$line"
	"$HATF" verify "$file" >/dev/null 2>err &&
		fail "$what in front: verified"
	check "$what in front: verify" "$(cat err)" "hatf verify: $file: calls \
bypassed the recorder: $library$line"
}

# Blocks of one thread, which another one frees: the allocator gives the thread
# the same address again and again.  In the end, calls of the same size fail.
cat >reused.cc <<'EOT'
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
static std::atomic<char *> slot;
static std::atomic<bool> done;
int main(int, char **argv)
{
	const std::size_t size = std::atol(argv[1]);
	std::thread other([] {
		while (!done)
			if (char *p = slot.exchange(nullptr))
				delete[] p;
	});
	for (int i = 0; i < 300; i++) {
		slot = new char[size];
		while (slot != nullptr)
			std::this_thread::yield();
	}
	done = true;
	other.join();
	for (int i = 0; i < 50; i++)
		if (::operator new(std::size_t(1) << 62, std::nothrow))
			return 1;
}
EOT
${CXX:-c++} -O1 -fno-builtin -o reused reused.cc -pthread ||
	fail 'cannot build reused'

# reused LIBRARY: each new is in the trace, whether the block is new or not.
reused()
{
	local size stacks file
	for size in 100 40000 1000000; do
		for stacks in off on; do
			file=reused.$size.$stacks.gz
			rm -f "$file"
			HATFTRACE_STACKS=$stacks PRELOAD=$1 \
				trace "$TMP/$file" ./reused $size
			clean "$file"
			check "$1, $size bytes, stacks $stacks: allocs" \
				"$("$HATF" dump "$file" |
					grep -c " alloc size=$size ")" 300
		done
	done
	# mimalloc in C aborts instead of returning NULL.
	[ "${1#*mimalloc}" != "$1" ] || check "$1: failures" \
		"$("$HATF" dump "$file" |
			grep -c " alloc size=$((1 << 62)) ")" 50
}

tried=0
for library in libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2; do
	path=$(path $library)
	[ -n "$path" ] || continue
	tried=$((tried + 1))
	reused "$path"
	for program in perl python sqlite; do
		declare -n command=$program
		trace libc.gz "${command[@]}" >bare 2>bare.err
		events=$(info libc.gz events)
		rm libc.gz
		LD_PRELOAD=$path "${command[@]}" >bare 2>bare.err
		status=$?
		behind "$program-$library" "$path" "${command[@]}"
		in_front "$program-$library" "$path" "${command[@]}"
	done
done
[ $tried -ne 0 ] || skip 'no other allocator'

# If the process is killed, 'hatf recover' reports the missed calls.
cat >killed.py <<'EOT'
import os, signal, time
time.sleep(0.3)
os.kill(os.getpid(), signal.SIGKILL)
EOT
{
	env HATFTRACE_OUT="$TMP/killed.gz" HATFTRACE_BEGIN=now \
		LD_PRELOAD="$path:$SO" "$PYTHON" \
		killed.py
} 2>/dev/null
check 'killed: status' $? 137
"$HATF" recover killed.gz >out 2>&1
grep -q 'not complete' out || fail "killed: recover: $(cat out)"
check 'killed: complete' "$(trailer killed.gz complete)" 0
check 'killed: missed' "$(trailer killed.gz missed)" \
	'calls bypassed the recorder'

# If a child preloads an allocator, the summary reports the child.
"$HATF" record -o record.gz -- sh -c "LD_PRELOAD=$path:\$LD_PRELOAD exec \
	$PYTHON -c pass" >out 2>err
grep -q "NOT COMPLETE: calls bypassed the recorder: $path$line" err ||
	fail "record: $(cat err)"

# If a library counts calls and passes each one on, the recorder misses nothing.
cat >passes.c <<'EOT'
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static unsigned long count;
void *malloc(size_t n)
{
	if (next_malloc == NULL)
		next_malloc = dlsym(RTLD_NEXT, "malloc");
	count += n == 23456;
	return next_malloc(n);
}
void free(void *p)
{
	if (next_free == NULL)
		next_free = dlsym(RTLD_NEXT, "free");
	next_free(p);
}
__attribute__((destructor)) static void end(void)
{
	if (count != 500)
		_exit(9);
}
EOT
cat >calls.c <<'EOT'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 500; i++)
		free(malloc(23456));
	return 6;
}
EOT
${CC:-cc} -w -fno-builtin -D_GNU_SOURCE -fPIC -shared -o passes.so passes.c \
	-ldl && ${CC:-cc} -w -fno-builtin -o calls calls.c ||
	fail 'cannot build passes'
env HATFTRACE_OUT="$TMP/passes.gz" LD_PRELOAD="$TMP/passes.so:$SO" ./calls \
	2>err
check 'passes: status' $? 6
check 'passes: stderr' "$(cat err)" ''
clean passes.gz
check 'passes: allocs' "$("$HATF" dump passes.gz |
	grep -c ' alloc size=23456 ')" 500

# A program defines a malloc() of its own, and its libraries call that too.
${CC:-cc} -w -fno-builtin -D_GNU_SOURCE -rdynamic -o own \
	"$CAPTURE/shared/ownheap.c" -ldl || fail 'cannot build own'
trace own.gz ./own >out 2>err
check 'own: status' $? 5
check 'own: stderr' "$(cat err)" "hatftrace: $TMP/own.gz: the program$line; \
the trace is not complete"
check 'own: missed' "$(trailer own.gz missed)" "the program$line"
finish
