#!/bin/bash
# SPDX-License-Identifier: MIT
#
# musl.sh - programs of another libc run as if there were no recorder
#
# musl's loader must ignore the preloaded library; glibc's must not notice how
# the library achieves that.
. "$(dirname "$0")/lib.sh"
need musl-gcc

cat >hello.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
	char *const p = malloc(100);

	strcpy(p, "fine");
	puts(realloc(p, 1000));
	return argc > 1 ? atoi(argv[1]) : 0;
}
END
musl-gcc -fno-builtin -o muslhello hello.c || fail 'cannot build muslhello'
${CC:-cc} -fno-builtin -o hello hello.c || fail 'cannot build hello'

# Preloaded by hand, also a library that was stripped, as distributions do.
strip -o stripped.so "$SO" || fail 'cannot strip the library'
for library in "$SO" "$PWD/stripped.so"; do
	HATFTRACE_OUT=$TMP/alone.gz LD_PRELOAD=$library ./muslhello 7 >out 2>err
	check "alone: status" $? 7
	check "alone: output" "$(cat out err)" fine
	[ -e alone.gz ] && fail "alone: a trace"
	HATFTRACE_OUT=$TMP/glibc.gz LD_PRELOAD=$library ./hello 7 >out 2>err
	check "glibc: status" $? 7
	clean glibc.gz
	rm -f glibc.gz
done

# Started by 'hatf record', which reports it.
"$HATF" record -o direct.gz -- ./muslhello 7 >out 2>err
check "direct: status" $? 7
check "direct: output" "$(cat out)" fine
text='./muslhello is linked with musl instead of glibc: it runs untraced'
check "direct: said" "$(cat err)" "hatf record: $text"
printf '#!%s/muslhello\n' "$PWD" >script
chmod +x script
"$HATF" record -o script.gz -- ./script >out 2>err
check "script: output" "$(cat out)" fine
text="./script is a script for $PWD/muslhello, which is linked with musl"
grep -q "^hatf record: $text" err || fail "script: $(cat err)"

# As a child of a glibc program, and with a glibc program as a child.
mkdir tree
"$HATF" record -o 'tree/%e.%p.gz' -- \
	sh -c './muslhello 4; echo $?; ./hello 3; echo $?; exit 0' >out 2>err
check "child: status" $? 0
check "child: output" "$(tr '\n' ' ' <out)" 'fine 4 fine 3 '
check "child: said" "$(grep -c . err)" 1
check "child: traces" "$(count tree/muslhello.*) $(count tree/hello.*)" '0 1'
clean tree/*.gz

# A program that looks up stdin and __libc_start_main gets libc's.
cat >ask.c <<'END'
#include <dlfcn.h>
#include <stdio.h>

int
main(void)
{
	FILE *const *const in = dlsym(RTLD_DEFAULT, "stdin");

	return !(in == &stdin && *in == stdin &&
		 dlsym(RTLD_DEFAULT, "__libc_start_main") ==
			 dlsym(dlopen("libc.so.6", RTLD_NOW),
			       "__libc_start_main"));
}
END
${CC:-cc} -D_GNU_SOURCE -o ask ask.c -ldl || fail 'cannot build ask'
trace "$TMP/ask.gz" ./ask || fail "ask: another stdin or __libc_start_main"
clean ask.gz
finish
