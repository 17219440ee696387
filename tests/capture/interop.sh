#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# interop.sh - the recorder and the program do not interfere with each other
. "$(dirname "$0")/lib.sh"
need nm

# The recorder exports only functions that interpose others of the same name.
# Two symbols are hidden from all lookups: see
# preload/interpose/interpose_musl.c.
nm -D --defined-only "$SO" | awk '{ print $3 }' | sed 's/@.*//' |
	grep -Ev '^(stdin|__libc_start_main)$' |
	grep -Ev '^(malloc|free|calloc|realloc|reallocarray|memalign)$' |
	grep -Ev '^(posix_memalign|aligned_alloc|valloc|pvalloc|cfree)$' |
	grep -Ev '^(free_sized|free_aligned_sized|_Zn[wa]|_Zd[la])' |
	grep -Ev '^(pthread_(create|exit|setname_np)|thrd_create|v?fork)$' |
	grep -Ev '^(_exit|_Exit|quick_exit|abort|__assert_fail|_Fork)$' |
	grep -Ev '^(daemon|hatftrace_client_[a-z_]*|prctl|syscall|clone)$' |
	grep -Ev '^(set(e|re|res|fs)?[ug]id|setgroups|initgroups|capset)$' |
	grep -Ev '^(chroot|unshare|setns)$' |
	grep -Ev '^(setrlimit(64)?|prlimit(64)?|mount|umount2?|pivot_root)$' |
	grep -Ev '^(opendir|fstatat64|dl_iterate_phdr)$' |
	grep -Ev '^(f?exec[vlpe]*|execveat|posix_spawnp?)$' >exported
[ -s exported ] && fail "exported: $(tr '\n' ' ' <exported)"

# A program defines functions with the names of functions inside the recorder,
# or of those that the recorder uses.
${CC:-cc} -w -rdynamic -fno-builtin -D_GNU_SOURCE -o clashing \
	"$CAPTURE/shared/clashing.c" || fail "cannot build clashing"
timeout -s KILL 20 env HATFTRACE_OUT=clashing.gz LD_PRELOAD="$SO" \
	./clashing >out 2>err
check "clashing: status" $? 0
check "clashing: output" "$(cat out)" 6
[ -s err ] && fail "clashing: $(cat err)"
clean clashing.gz
check_ge "clashing: events" "$(info clashing.gz events)" 20000

# A program has a malloc() of its own: the recorder sees no calls, reports this,
# and the program works.
${CC:-cc} -w -fno-builtin -D_GNU_SOURCE -o ownheap \
	"$CAPTURE/shared/ownheap.c" || fail "cannot build ownheap"
trace ownheap.gz ./ownheap >out 2>err
check "ownheap: status" $? 5
check "ownheap: output" "$(cat out)" "text of 18 letters"
grep -v '^hatftrace: ' err && fail "ownheap: stderr"
check "ownheap: complete" "$(info ownheap.gz complete 2>/dev/null)" false

# A static program cannot be traced, and runs.
if ${CC:-cc} -w -static -o static "$CAPTURE/programs/longrun.c" \
	2>/dev/null; then
	trace static.gz ./static 1000000 >out 2>err
	check "static: status" $? 0
	check "static: output" "$(wc -l <out)" 10
	[ -s err ] && fail "static: $(cat err)"
	[ -e static.gz ] && fail "static: a trace"
fi

# Call dlopen() and dlclose(), lazily and with RTLD_DEEPBIND, while allocating.
cat >dl.py <<'EOT'
import ctypes, os
for name in ("libz.so.1", "libm.so.6", "libcrypt.so.1", "libstdc++.so.6"):
    for flags in (os.RTLD_LAZY, os.RTLD_NOW | os.RTLD_DEEPBIND):
        try:
            ctypes.CDLL(name, mode=flags)
        except OSError:
            pass
libc = ctypes.CDLL(None)
libc.strdup.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
for i in range(1000):
    libc.free(libc.strdup(b"x" * i))
print("fine")
EOT
PYTHONMALLOC=malloc trace dl.gz "$PYTHON" dl.py >out 2>err
check "dlopen: status" $? 0
check "dlopen: output" "$(cat out)" fine
[ -s err ] && fail "dlopen: $(cat err)"
clean dl.gz
finish
