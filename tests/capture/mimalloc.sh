#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mimalloc.sh - functions that mimalloc offers beyond the C standard
#
# A program that is linked with mimalloc reports what it does; the trace must
# say the same, with each block in its heap.  Without mimalloc, a program must
# not find its functions.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

library=$(ldconfig -p |
	sed -nE 's|.*libmimalloc\.so\.[0-9.]+ .*=> (/.*)|\1|p' | head -n 1)
[ -n "$library" ] || skip 'no libmimalloc'
export MI_TEST=xyz MIMALLOC_SHOW_ERRORS=0

build()
{
	${CC:-cc} -O1 -w -D_GNU_SOURCE -fno-builtin -o "$1" \
		"$CAPTURE/shared/mimalloc.c" "${@:2}" -lpthread ||
		fail "cannot build $1"
}

# window FILE: print the records between the marks.
window()
{
	"$HATF" dump "$1" | awk '
	$2 ~ /^(alloc|free|realloc|createHeap|destroyHeap)/ {
		v["size"] = v["heap"] = v["alignment"] = v["zeroed"] = 0
		v["addr"] = v["old"] = "0x0"
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
		print $2, v["size"], v["addr"], v["old"], v["heap"],
			v["alignment"], v["zeroed"]
	}' | awk '
	$1 == "alloc" && $2 == 7777002 { exit }
	on && !(first && $1 == "free") { print }
	on { first = 0 }
	$1 == "alloc" && $2 == 7777001 { on = first = 1 }'
}

# exact PROGRAM WHAT
exact()
{
	rm -f trace.gz
	trace "$TMP/trace.gz" "./$1" "$2" >traced || fail "$1 $2: exit status"
	clean trace.gz
	window trace.gz >got
	# Where the program does not know an address, take that of the trace.
	sed -n 's/^event //p' traced | awk '
		NR == FNR { address[NR] = $3; next }
		$3 == "*" { $3 = address[FNR] }
		{ print }' got - >want
	[ -s want ] || fail "$1 $2 prints nothing"
	diff want got >difference ||
		fail "$1 $2: $(head -n 10 difference)"
}

# One program only asks for the functions; another has a mi_malloc() with a
# different meaning.
cat >absent.c <<-'EOF'
	#include <stdlib.h>
	void *mi_malloc(size_t) __attribute__((weak));
	void *mi_heap_new(void) __attribute__((weak));
	int main(void) { return mi_malloc != NULL || mi_heap_new != NULL; }
EOF
cat >namesake.c <<-'EOF'
	char block[100];
	void *mi_malloc(unsigned long n) { return n == 24681 ? block : 0; }
	void mi_free(void *p) { (void)p; }
EOF
cat >user.c <<-'EOF'
	void *mi_malloc(unsigned long);
	void mi_free(void *);
	int main(void) { mi_free(mi_malloc(24681)); return 0; }
EOF
${CC:-cc} -fPIC -shared -o libnamesake.so namesake.c &&
	${CC:-cc} -o absent absent.c &&
	${CC:-cc} -fno-builtin -o namesake user.c "$PWD/libnamesake.so" &&
	${CC:-cc} -fno-builtin -o both user.c "$PWD/libnamesake.so" \
		-Wl,--no-as-needed "$library" || fail 'cannot build namesake'
for program in absent namesake both; do
	trace "$TMP/$program.gz" ./$program || fail "$program: exit status"
	clean $program.gz
	check "$program: of mi_malloc" \
		"$("$HATF" dump $program.gz | grep -c size=24681)" 0
done

build lazy -Wl,--no-as-needed "$library" -Wl,-z,lazy
build now -Wl,--no-as-needed "$library" -Wl,-z,now
build nopie -no-pie -Wl,--no-as-needed "$library"
for program in lazy now nopie; do
	exact $program each
	exact $program heaps
done

operators "$library"

# Blocks move from thread to thread and from heap to heap.
for clock in coarse us; do
	HATFTRACE_CLOCK=$clock trace "$TMP/threads.gz" ./now threads \
		>/dev/null || fail 'threads: exit status'
	clean threads.gz
	check_le 'threads: live at the end' \
		"$(info threads.gz end_live_objects)" 20
	check 'threads: lost' "$(info threads.gz lost)" 0
done
HATFTRACE_ROTATE=256K trace "$TMP/rows.gz" ./now threads >/dev/null ||
	fail 'segments: exit status'
"$HATF" verify rows.s*.gz >verify.out || fail 'segments'
clean rows.s*.gz
trace "$TMP/fork.%p.gz" ./now fork >/dev/null || fail 'fork: exit status'
clean fork.*.gz
finish
