#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hosts.sh - what runs a program in a world of its own: valgrind, faketime,
# fakechroot
. "$(dirname "$0")/lib.sh"

cat >seven.c <<'END'
#include <stdio.h>
#include <stdlib.h>

int
main(void)
{
	for (int i = 0; i < 500; i++)
		free(malloc(10));
	puts("fine");
	return 7;
}
END
${CC:-cc} -fno-builtin -o seven seven.c || fail 'cannot build seven'

# Under valgrind, a program runs untraced, and one line says so.
if command -v valgrind >/dev/null; then
	mkdir direct child
	"$HATF" record -o 'direct/%e.%p.gz' -- valgrind -q ./seven >out 2>err
	check "valgrind: status" $? 7
	check "valgrind: output" "$(cat out)" fine
	check "valgrind: said" "$(cat err)" \
		'hatf record: valgrind: programs under valgrind are not traced'
	check "valgrind: traces" "$(find direct -type f)" ''

	"$HATF" record -o 'child/%e.%p.gz' -- \
		sh -c 'valgrind -q ./seven; echo $?; ./seven; exit 0' >out 2>err
	check "child: status" $? 0
	check "child: output" "$(tr '\n' ' ' <out)" 'fine 7 fine '
	check "child: said" "$(head -n 1 err)" \
		'hatf record: 1 process ran untraced: seven under valgrind'
	HATFTRACE_OUT=$TMP/alone.gz LD_PRELOAD=$SO \
		valgrind -q ./seven >out 2>err
	text="valgrind does not support the recorder's threads; not tracing"
	check "alone: said" "$(cat err)" "hatftrace: $text"
	rm -f alone.gz*
	check "child: rings" "$(find child -name '*.rings')" ''
	check "child: traces" "$(count child/seven.*)" 1
	clean child/*.gz
fi

# With faketime, the program and 'hatf record' both see the made-up time.
if command -v faketime >/dev/null; then
	for when in '2008-12-24 08:15:42' '@2035-01-01 00:00:00 x100' '-1d'; do
		rm -rf inside outside
		mkdir inside outside
		faketime -f "$when" "$HATF" record -o 'outside/%e.%p.gz' -- \
			sh -c './seven; ./seven; exit 0' >out 2>err
		check "$when, outside: status" $? 0
		text='(+ 2 traces of child processes, no events lost in these)'
		grep -q "sh.*no events lost $text" err ||
			fail "$when, outside: $(cat err)"
		"$HATF" record -o 'inside/%e.%p.gz' -- \
			faketime -f "$when" ./seven >out 2>err
		check "$when, inside: status" $? 7
		grep -q 'no events lost' err || fail "$when, inside: $(cat err)"
		clean inside/*.gz outside/*.gz
		check_ge "$when: events" "$(info inside/seven.*.gz events)" 1000
	done
fi
# fakechroot's dl_iterate_phdr() changes the names of the libraries in place.
# It crashes if a name is in memory that cannot be written.  The recorder does
# not call this function of a library that is preloaded before it.
cat >iterate.c <<'END'
#include <stdlib.h>

int
dl_iterate_phdr(void *visit, void *context)
{
	(void)visit;
	(void)context;
	abort();
}
END
${CC:-cc} -shared -fPIC -o iterate.so iterate.c || fail 'cannot build iterate'
for start in on off; do
	HATFTRACE_OUT=$TMP/iterate.gz HATFTRACE_START=$start \
		LD_PRELOAD=$TMP/iterate.so:$SO ./seven >out 2>err
	check "iterate, $start: status" $? 7
	check "iterate, $start: said" "$(cat err)" ''
done
clean iterate.gz
check_ge "iterate: events" "$(info iterate.gz events)" 1000
if command -v fakechroot >/dev/null; then
	HATFTRACE_OUT=$TMP/chroot.%p.gz LD_PRELOAD=$SO FAKECHROOT_BASE='' \
		fakechroot ./seven >out 2>err
	check "fakechroot: status" $? 7
	check "fakechroot: output" "$(cat out)" fine
	check "fakechroot: said" "$(cat err)" ''
fi
finish
