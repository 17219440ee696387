#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-hardening.sh - the built files have the hardening the Makefile asks for
#
# 'hatf' and libhatf read untrusted files, and libhatftrace.so is loaded into
# programs that do.  A toolchain or a user's flag may disable the hardening that
# the Makefile asks for.
set -u
cd "$(dirname "$0")/.." || exit 2
build=${BUILD:-build/plain}
status=0

complain()
{
	echo "$*"
	status=1
}

# has FILE PROPERTY PATTERN: complain unless PATTERN matches a line of readelf's
# list of segments, dynamic entries, notes and symbols.
has()
{
	readelf -ldnsW "$1" | grep -qE "$3" || complain "$1: no $2"
}

# The code is position-independent; relocations are resolved at the start and
# then made read-only; no stack is executable; functions with arrays check
# whether an array was overrun.
for file in hatf libhatf.so.0 libhatftrace.so; do
	file=$build/$file
	has "$file" 'position independence' 'Elf file type is DYN|^  Type: +DYN'
	has "$file" 'RELRO' ' GNU_RELRO '
	has "$file" 'BIND_NOW' '\(FLAGS\).*BIND_NOW'
	has "$file" 'non-executable stack' ' GNU_STACK .* RW '
	has "$file" 'stack protector' ' UND __stack_chk_fail'
	case $(readelf -hW "$file") in
	*X86-64*) has "$file" 'shadow stack note' 'x86 feature:.*SHSTK' ;;
	esac
done

# FORTIFY: the functions of libc that check the buffer's size.  The recorder
# does not use them, since a program's libc may lack them.
has "$build/hatf" FORTIFY ' UND __[a-z]*printf_chk'
has "$build/libhatf.so.0" FORTIFY ' UND __(mem|str|[a-z]*printf)[a-z]*_chk'
readelf -sW "$build/libhatftrace.so" | grep -qE ' UND __[a-z]+_chk(@| |$)' &&
	complain "$build/libhatftrace.so: uses functions of FORTIFY"

# landing FILE: each exported function, which an indirect call may reach, begins
# with 'endbr64'.
landing()
{
	local file=$build/$1 names

	names=$(objdump -d --no-show-raw-insn "$file" | awk -v \
		names="$(nm -D --defined-only --format=posix "$file" |
			awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $1); print $1 }' |
			tr '\n' ' ')" '
		BEGIN { n = split(names, list); for (i = 1; i <= n; i++)
			wanted[list[i]] }
		name != "" { if ($2 != "endbr64") print name; name = "" }
		/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3)
			if (!(name in wanted)) name = "" }')
	[ -z "$names" ] || complain "$file: $(wc -l <<<"$names") functions" \
		"do not begin with endbr64:" "$(head -n 3 <<<"$names")"
}

case $(readelf -hW "$build/hatf") in
*X86-64*)
	landing libhatf.so.0
	landing libhatftrace.so
	;;
esac
exit $status
