#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# guest.sh - the recorder hardly shows in the traced program
#
# What a program can see of the recorder, and what the recorder cannot record.
. "$(dirname "$0")/lib.sh"

${CC:-cc} -O1 -w -rdynamic -fno-builtin -D_GNU_SOURCE -o guest \
	"$CAPTURE/shared/guest.c" -ldl -lpthread || fail "cannot build guest"

# The program gets the same information about itself as without the recorder.
# The recorder calls none of the program's functions, and the program none of
# the recorder's by mistake.
./guest all >bare 2>bare.err
trace guest.gz ./guest all >out 2>err
check "guest: status" $? 0
grep -v '^@' bare >bare.same
grep -v '^@' out | cmp -s - bare.same ||
	fail "guest: $(diff bare.same <(grep -v '^@' out))"
check "guest: threads alone" "$(grep '^@' bare)" '@/proc/self/task: 1'
check "guest: threads" "$(grep '^@' out)" '@/proc/self/task: 1'
[ -s err ] && fail "guest: stderr: $(cat err)"
clean guest.gz
# Each round makes at least five calls of its own.
check_ge "guest: events" "$(info guest.gz events)" 300000

# The recorder prints nothing on standard output, and one line on standard
# error.
HATFTRACE_VERBOSE=1 trace said.gz "$PYTHON" -c 'print(7)' >out 2>err
"$PYTHON" -c 'print(7)' >bare
cmp -s out bare || fail "verbose: standard output"
check "verbose: lines" "$(wc -l <err)" 1

# Mappings have a name if the kernel supports names.
cat >maps.py <<'EOT'
print(open("/proc/self/maps").read())
EOT
trace maps.gz "$PYTHON" maps.py >maps
if python3 - <<'EOT' 2>/dev/null
import ctypes, mmap
m = mmap.mmap(-1, 4096)
p = ctypes.addressof(ctypes.c_char.from_buffer(m))
libc = ctypes.CDLL(None)
raise SystemExit(libc.prctl(0x53564d41, 0, ctypes.c_ulong(p),
    ctypes.c_ulong(4096), b"x") != 0)
EOT
then
	grep -q 'anon.*:hatftrace' maps || fail "no mapping has our name"
fi

# An object in a link-map namespace of its own (dlmopen) bypasses every
# preloaded library: the trace lacks its events, and the program does not
# notice. deepbind.sh tests objects that RTLD_DEEPBIND loads.
cat >deep.c <<'EOT'
#include <stdlib.h>
#include <string.h>
void *deep_alloc(size_t n) { return memset(malloc(n), 1, n); }
void deep_free(void *p) { free(p); }
EOT
cat >load.c <<'EOT'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int
main(void)
{
	void *const lib = dlmopen(LM_ID_NEWLM, "./deep.so", RTLD_NOW);
	void *(*alloc)(size_t);
	void (*release)(void *);

	if (lib == NULL)
		return puts(dlerror()) < 0;
	alloc = (void *(*)(size_t))dlsym(lib, "deep_alloc");
	release = (void (*)(void *))dlsym(lib, "deep_free");
	for (int i = 0; i < 1000; i++)
		release(alloc(70000 + i));
	for (int i = 0; i < 1000; i++)
		free(malloc(7000 + i));
	return 0;
}
EOT
${CC:-cc} -w -shared -fPIC -fno-builtin -o deep.so deep.c ||
	fail "cannot build deep.so"
${CC:-cc} -w -fno-builtin -D_GNU_SOURCE -o load load.c -ldl ||
	fail "cannot build load"
trace mlmopen.gz ./load >out 2>err
check 'mlmopen: status' $? 0
[ -s err ] || [ -s out ] && fail "mlmopen: $(cat out err)"
clean mlmopen.gz
check 'mlmopen: its events' "$("$HATF" dump mlmopen.gz |
	grep -cE 'alloc size=7[01][0-9]{3} ')" 0
check 'mlmopen: the program'"'"'s' "$("$HATF" dump mlmopen.gz |
	grep -cE 'alloc size=7[0-9]{3} ')" 1000

# One line reports what cannot be recorded.
echo 'int main(void) { return __builtin_puts("fine") < 0; }' >fine.c
if ${CC:-cc} -static -o static fine.c 2>/dev/null; then
	"$HATF" record -o static.gz -- ./static >out 2>err
	check "static: output" "$(cat out)" fine
	grep -q 'static.*runs untraced' err || fail "static: $(cat err)"
fi
if [ "$(id -u)" -eq 0 ]; then
	${CC:-cc} -o setuid fine.c
	chown 54321 setuid && chmod u+s setuid
	"$HATF" record -o setuid.gz -- ./setuid >out 2>err
	check "setuid: output" "$(cat out)" fine
	grep -q 'set-user-ID.*runs untraced' err ||
		fail "setuid: $(cat err)"
fi
${CC:-cc} -w -fno-builtin -D_GNU_SOURCE -o ownheap \
	"$CAPTURE/shared/ownheap.c" || fail "cannot build ownheap"
"$HATF" record -o ownheap.gz -- ./ownheap >out 2>err
check "own allocator: status" $? 5
grep -q 'allocator of its own' err || fail "own allocator: $(cat err)"
# One line also reports this for all children together.
"$HATF" record -o 'child.%p.gz' -- \
	sh -c './ownheap; ./ownheap; ./ownheap; exit 0' >out 2>err
check "own allocator of a child: status" $? 0
text='ownheap has an allocator of its own (malloc):'
check "own allocator of a child: said" "$(grep allocator err)" \
	"hatf record: $text blocks of that allocator are not in the trace"
finish
