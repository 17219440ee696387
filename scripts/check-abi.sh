#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-abi.sh - what programs are compiled against stays as it is
#
# usage: scripts/check-abi.sh [--renew]
#
# Compares the symbols of libhatf.so, the constants of hatf.h, and the sizes and
# offsets of its structs with the list tests/data/libhatf.abi.  --renew writes
# the list anew.  The list is that of systems with 64-bit pointers.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/plain}
list=tests/data/libhatf.abi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

symbols()
{
	nm -D --defined-only --format=posix "$build/libhatf.so.0" |
		awk '$2 != "A" { sub(/@@?/, " ", $1); print "symbol", $1 }' |
		sort
}

# The header without comments and system headers, one blank between words.
header()
{
	echo '#include "hatf/hatf.h"' | ${CC:-cc} -I. -E -xc - | awk '
		/^# [0-9]+ "/ { ours = $3 ~ /hatf\/hatf[a-z_]*\.h"$/; next }
		ours' | tr -s ' \t\n' ' '
}

# A C program that prints the list of structs and constants.
program()
{
	echo '#include "hatf/hatf.h"'
	echo '#include <stdio.h>'
	echo 'int main(void) {'
	header | grep -oE 'struct hatf_[a-z_]+ \{[^}]*\}' | awk '
		{
			name = $1 " " $2
			printf "printf(\"%s size %%zu\\n\", sizeof(%s));\n", \
				name, name
			sub(/^[^{]*\{/, "")
			sub(/\}$/, "")
			n = split($0, members, /[;,]/)
			for (i = 1; i < n; i++) {
				sub(/\[[^]]*\]/, "", members[i])
				if (!match(members[i], /[a-z_0-9]+ *$/))
					continue
				member = substr(members[i], RSTART)
				sub(/ *$/, "", member)
				printf "printf(\"%s %s %%zu\\n\", offsetof(%s, %s));\n", \
					name, member, name, member
			}
			# An old caller has anything in padding at the end.
			if (/size_t struct_nbytes/)
				printf "_Static_assert(offsetof(%s, %s) + sizeof(((%s *)0)->%s) == sizeof(%s), \"padding at the end\");\n", \
					name, member, name, member, name
		}'
	{
		header | grep -oE 'enum( hatf_[a-z_]+)? \{[^}]*\}' |
			sed 's/.*{//; s/ = [^,}]*//g' | grep -oE 'HATF_[A-Z_0-9]+'
		sed -nE 's/^#define (HATF_[A-Z_0-9]+)[[:space:]]+[^"]*$/\1/p' \
			hatf/hatf*.h | grep -vxE 'HATF_API'
	} | sort -u | sed 's/.*/printf("constant & %lld\\n", (long long)&);/'
	echo '}'
}

program >"$work/abi.c"
${CC:-cc} -I. -o "$work/abi" "$work/abi.c"
{
	symbols
	"$work/abi"
} >"$work/libhatf.abi"

if [ "$(getconf LONG_BIT)" != 64 ]; then
	echo 'the list is that of systems with 64-bit pointers'
	exit 77
fi
if [ "${1:-}" = --renew ]; then
	cp "$work/libhatf.abi" "$list"
	exit 0
fi
diff -U 0 "$list" "$work/libhatf.abi" | grep -E '^[-+][^-+]' >"$work/changes" ||
	exit 0
cat "$work/changes"
if grep -q '^-' "$work/changes"; then
	echo 'Programs that are compiled already depend on the lines with "-".'
	echo 'Only these may change: the size of a struct with struct_nbytes, which'
	echo 'grows at its end, and "reserved" members, which others may replace.'
	echo 'If another change cannot be avoided, raise the number in the soname.'
fi
echo 'After a change that is meant: scripts/check-abi.sh --renew'
exit 1
