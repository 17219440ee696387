#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-abi.sh - compare the binary interface of libhatf with a committed list
#
# usage: scripts/check-abi.sh [--renew]
#
# Compare the symbols of libhatf.so, the constants of hatf.h, and the sizes and
# offsets of its structs with the list tests/data/libhatf.abi.  --renew rewrites
# the list.  The list holds for systems with 64-bit pointers.
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

# Print hatf.h without comments and system headers, one blank between words.
header()
{
	echo '#include "hatf/hatf.h"' | ${CC:-cc} -I. -E -xc - | awk '
		/^# [0-9]+ "/ { ours = $3 ~ /hatf\/hatf[a-z_]*\.h"$/; next }
		ours' | tr -s ' \t\n' ' '
}

# Print a C program that prints the list of structs and constants.
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
				place = "offsetof(" name ", " member ")"
				printf "printf(\"%s %s %%zu\\n\", %s);\n", \
					name, member, place
			}
			# No padding may follow the last member.  If a later
			# version put a member there, callers built with this
			# header would pass garbage in that member.
			if (/size_t struct_nbytes/) {
				printf "_Static_assert(%s +\n", place
				printf "sizeof(((%s *)0)->%s)\n", name, member
				printf "== sizeof(%s), \"padding\");\n", name
			}
		}'
	{
		header | grep -oE 'enum( hatf_[a-z_]+)? \{[^}]*\}' |
			sed 's/.*{//; s/ = [^,}]*//g' |
			grep -oE 'HATF_[A-Z_0-9]+'
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
	echo 'the list holds for systems with 64-bit pointers'
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
	cat <<'END'
Compiled programs depend on the lines with "-".  Only two changes are safe: a
struct with a struct_nbytes member may grow at its end, and new members may
replace "reserved" ones.  Any other change needs a new number in the soname.
END
fi
echo 'If the change is intended, run scripts/check-abi.sh --renew.'
exit 1
