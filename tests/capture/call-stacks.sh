#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# call-stacks.sh - each allocation has the call stack that it came by
#
# A program allocates by known call paths: in functions, threads, a handler on a
# stack of its own and a coroutine.  Then the test checks depths, frees,
# segments, kills, and libraries that replace each other at the same address.
. "$(dirname "$0")/lib.sh"
need python3

[ "$(uname -m)" = x86_64 ] || skip 'call stacks are for x86-64'
PROG=$BUILD/tests/capture/programs/call_paths

# paths FILE: print, for each alloc and realloc of a size, SIZE and the
# program's functions on its stack, innermost first, each line once.  The names
# are nm's, not hatf's own.
cat >paths.py <<'END'
import bisect, gzip, re, subprocess, sys
trace, program, kind = sys.argv[1:4]
symbols = []
for line in subprocess.run(['nm', program], capture_output=True,
                           text=True).stdout.splitlines():
    parts = line.split()
    if len(parts) == 3 and parts[1] in 'tT':
        symbols.append((int(parts[0], 16), parts[2]))
symbols.sort()
data = gzip.open(trace).read().decode('latin-1')
frames, stacks = {}, {}
begin = end = base = 0
for what, text in re.findall(r'HATF (frame|stack|object)\n((?:\w+=[^\n]*\n)+)',
                             data):
    value = dict(l.split('=', 1) for l in text.rstrip('\n').split('\n'))
    if what == 'frame':
        frames[value['frame']] = value
    elif what == 'stack':
        stacks[value['stack']] = value
    elif value['object'] == program:
        begin = int(value['address'], 16)
        end = begin + int(value['size'])
        base = int(value['base'], 16)

def name(frame):
    if 'function' in frame:
        return frame['function']
    address = int(frame['address'], 16)
    if not begin <= address < end:
        return None
    idx = bisect.bisect_right(symbols, (address - base - 1, '~')) - 1
    return symbols[idx][1]

seen = set()
for line in sys.stdin:
    words = line.split()
    if not re.match(kind, words[1]):
        continue
    value = dict(w.split('=', 1) for w in words[2:] if '=' in w)
    size, stack = value.get('size', '0'), value.get('stack', '0')
    if stack == '0' or stack not in stacks:
        seen.add('%s NONE' % size)
        continue
    names = []
    while stack != '0':
        names.append(name(frames[stacks[stack]['frame']]))
        stack = stacks[stack].get('parent', '0')
    seen.add(' '.join([size] + [n for n in names if n and n != '_start']))
for line in sorted(seen, key=lambda l: int(l.split()[0])):
    print(line)
END

# The alloc that a realloc announces has the stack of the realloc.
calls()
{
	"$HATF" dump "$1" | awk '
		$2 == "alloc" && is_announced { is_announced = 0; next }
		{ is_announced = $2 ~ /^reallocAlloc/ }
		!/ carried=1/'
}

paths()
{
	calls "$1" | python3 paths.py "$1" "$PROG" "${2:-alloc|realloc}"
}

all='1000 inner outer run_round main
2000 inner run_round main
3000 inner thread
4000 inner handler run_round main
5000 inner coroutine [unknown caller]
6000 grow run_round main'

HATFTRACE_STACKS=on trace on.hatf.gz "$PROG"
clean on.hatf.gz
check 'on' "$(paths on.hatf.gz | grep -E '^[1-6]000 ')" "$all"
check 'every alloc has a stack' "$(paths on.hatf.gz | grep -c NONE)" 0
check 'no free has one' \
	"$("$HATF" dump on.hatf.gz | grep -c ' free .*stack=')" 0

HATFTRACE_STACKS=caller trace caller.hatf.gz "$PROG"
clean caller.hatf.gz
check 'caller' "$(paths caller.hatf.gz | grep -E '^[1-6]000 ')" \
	"$(printf '%s\n' '1000 inner' '2000 inner' '3000 inner' '4000 inner' \
		'5000 inner' '6000 grow')"

HATFTRACE_STACKS=2 trace two.hatf.gz "$PROG"
clean two.hatf.gz
# Up to twice as many frames are kept, and the trace marks the omission.
check 'two: an outer path' \
	"$(paths two.hatf.gz | grep -c '^1000 inner outer')" 1
check_ge 'two: cut off' "$(paths two.hatf.gz | grep -c 'cut off')" 1
"$HATF" info two.hatf.gz >info.out
check_ge 'two: info' "$(awk '/^  stack cut off / { print $4 }' info.out)" 1

HATFTRACE_STACKS=on:frees trace frees.hatf.gz "$PROG"
clean frees.hatf.gz
check 'frees' "$("$HATF" dump frees.hatf.gz |
	grep ' free ' | grep -vc 'stack=')" 0

# Call stacks do not change the clock of the events.
HATFTRACE_CLOCK=us HATFTRACE_STACKS=on trace us.hatf.gz perl -e '
	push @x, "x" x ($_ % 99) for 1 .. 20000'
clean us.hatf.gz
check 'us: clock comments' \
	"$("$HATF" dump --meta us.hatf.gz | grep -c 'HATF clock')" 0

# Each segment can be read alone.
HATFTRACE_STACKS=on HATFTRACE_ROTATE=64K HATFTRACE_COMPRESS=none \
	HATFTRACE_OUT='seg.%s.hatf' LD_PRELOAD=$SO perl -e '
	sub f {
		my @x = map { { $_ => "x" x $_ } } 1 .. 50;
		f($_[0] - 1) if $_[0]
	}
	f(10) for 1 .. 30'
check_ge 'segments' "$(find . -name 'seg.*.hatf' | wc -l)" 3
clean seg.*.hatf
for file in seg.*.hatf; do
	check "$file: allocs without a stack" \
		"$(calls "$file" | grep ' alloc ' | grep -vc stack=)" 0
done

# After a kill at any time, each event has its stack.
for delay in 0.05 0.1 0.2 0.3; do
	rm -f kill.hatf.gz*
	(HATFTRACE_STACKS=on HATFTRACE_BEGIN=now HATFTRACE_OUT=kill.hatf.gz \
		LD_PRELOAD=$SO exec "$PROG" forever >ready) 2>/dev/null &
	pid=$!
	for _ in {1..200}; do
		[ -s ready ] && break
		sleep 0.05
	done
	sleep $delay
	kill -9 $pid
	wait $pid 2>/dev/null
	rm -f ready
	"$HATF" recover kill.hatf.gz >/dev/null 2>err ||
		fail "recover: $(cat err)"
	clean kill.hatf.gz
	check "killed after $delay s: without a stack" \
		"$(paths kill.hatf.gz | grep -c NONE)" 0
	check "killed after $delay s" \
		"$(paths kill.hatf.gz | grep '^1000 ' | sort -u)" \
		"$(printf '%s\n' '1000 inner outer main' \
			'1000 inner outer run_round main')"
done

# Two libraries are loaded in turn at the same address.
for name in one two; do
	cat >$name.c <<END
#include <stdlib.h>
__attribute__((noinline)) void *$name(int n)
{
	volatile char pad[${#name}00 * ($(printf %d "'$name") - 100)];
	pad[0] = 0;
	void *p = malloc(n);
	return pad[0] ? 0 : p;
}
void *f(int n)
{
	void *p = $name(n);
	__asm__ volatile("");
	return p;
}
END
	gcc -O2 -shared -fPIC -o lib$name.so $name.c || fail "gcc $name"
done
cat >turns.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 100; i++) {
		void *h = dlopen(i % 2 ? "./libone.so" : "./libtwo.so", RTLD_NOW);
		void *(*f)(int) = (void *(*)(int))dlsym(h, "f");
		free(f(i % 2 ? 1111 : 2222));
		dlclose(h);
	}
	return 0;
}
END
gcc -O1 -o turns turns.c -ldl
HATFTRACE_STACKS=on trace turns.hatf.gz ./turns
clean turns.hatf.gz
"$HATF" symbolize turns.hatf.gz >/dev/null 2>&1
"$HATF" convert turns.hatf.gz turns.folded 2>/dev/null
check 'one' "$(grep -c ';main;f;one 55550$' turns.folded)" 1
check 'two' "$(grep -c ';main;f;two 111100$' turns.folded)" 1
"$HATF" dump --meta turns.hatf.gz | grep -oE 'object=[^\\]*/libone.so' |
	sort -u >objects
check 'the absolute path of a library' "$(cat objects)" "object=$PWD/libone.so"

# Two libraries take turns.  Their functions have the same addresses, but frames
# of different sizes.
for name in small large; do
	cat >$name.c <<'END'
void call(void (*f)(int), int n)
{
	volatile char pad[NBYTES];
	pad[0] = 1;
	f(n);
	pad[1] = 1;
}
END
	nbytes=$([ $name = small ] && echo 200 || echo 400)
	gcc -O2 -shared -fPIC -DNBYTES=$nbytes -o $name.so $name.c &&
		gcc -O2 -shared -fPIC -DNBYTES=$nbytes -Wl,--build-id=none \
			-o $name-nameless.so $name.c || fail "gcc $name"
done
# reload ROUNDS SMALL LARGE [LINK]: the path of both is that of the link.
cat >reload.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void leaf(int n)
{
	void *p = malloc(n);
	__asm__ volatile("" : "+r"(p)::"memory");
	free(p);
	__asm__ volatile("" ::: "memory");
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++) {
		char *path = argv[2 + i % 2];
		if (argc > 4) {
			unlink(argv[4]);
			if (symlink(path, argv[4]) != 0)
				return 1;
			path = argv[4];
		}
		void *h = dlopen(path, RTLD_NOW);
		void (*call)(void (*)(int), int) =
			(void (*)(void (*)(int), int))dlsym(h, "call");
		call(leaf, 1000);
		dlclose(h);
	}
	return 0;
}
END
gcc -O1 -fno-inline -o reload reload.c -ldl
# check_reload WHAT ROUNDS ARG...: all stacks lead to main().
check_reload()
{
	rm -f reload.hatf.gz
	HATFTRACE_STACKS=on trace reload.hatf.gz ./reload "${@:2}" ||
		fail "$1: status $?"
	clean reload.hatf.gz
	"$HATF" symbolize reload.hatf.gz >/dev/null 2>&1
	"$HATF" convert reload.hatf.gz reload.folded 2>/dev/null
	check "$1" "$(awk '/;main;[^;]*;leaf [0-9]+$/ { n += $NF }
		END { print n + 0 }' reload.folded)" $(($2 * 1000))
}
check_reload 'the same path, without a build-id' 20 \
	./small-nameless.so ./large-nameless.so ./link.so
# There are numbers for 4095 objects.
check_reload 'more objects than numbers' 4300 ./small.so ./large.so

# Generated code at the address of an unloaded library does not count as the
# library's.
cat >after.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static void allocate(void)
{
	void *p = malloc(3333);
	__asm__ volatile("" : "+r"(p)::"memory");
	free(p);
	__asm__ volatile("" ::: "memory");
}
int main(void)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7,
					0x5d, 0xc3 };
	void *h = dlopen("./libone.so", RTLD_NOW);
	void *(*f)(int) = (void *(*)(int))dlsym(h, "one");
	char *page = (char *)((uintptr_t)f & ~(uintptr_t)4095);
	void (*call)(void (*)(void)) = (void (*)(void (*)(void)))(uintptr_t)f;
	free(f(1111));
	dlclose(h);
	if (mmap(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
	    page)
		return 77;
	memcpy((void *)(uintptr_t)f, code, sizeof(code));
	call(allocate);
	return 0;
}
END
gcc -O1 -fno-omit-frame-pointer -w -o after after.c -ldl
HATFTRACE_STACKS=on trace after.hatf.gz ./after || fail "after: status $?"
clean after.hatf.gz
"$HATF" symbolize after.hatf.gz >/dev/null 2>&1
"$HATF" convert after.hatf.gz after.folded 2>/dev/null
check 'the library' "$(grep -c ';one 1111$' after.folded)" 1
check 'where it was' "$(grep -c ';allocate 3333$' after.folded)" 1
check 'where it was: the library' \
	"$(grep ';allocate 3333$' after.folded | grep -c ';one;\|libone')" 0
finish
