#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-hardening.sh - what was built against attacks is in the files that are built
#
# 'hatf' and libhatf read files from strangers, and libhatftrace.so is in
# programs that do.  The Makefile asks for this; a toolchain, or a flag, may
# undo it.
set -u
cd "$(dirname "$0")/.." || exit 2
build=${BUILD:-build/plain}
status=0

complain()
{
	echo "$*"
	status=1
}

# has FILE PROPERTY PATTERN: in what readelf says of its segments, dynamic
# entries, notes and symbols.
has()
{
	readelf -ldnsW "$1" | grep -qE "$3" || complain "$1: no $2"
}

# Addresses are the loader's choice; what it writes once is then read-only, and
# it writes all of it at the start; no stack is executable; functions that have
# arrays look whether they were overrun.
for file in hatf libhatf.so.0 libhatftrace.so; do
	file=$build/$file
	has "$file" 'choice of its address' 'Elf file type is DYN|^  Type: +DYN'
	has "$file" 'RELRO' ' GNU_RELRO '
	has "$file" 'BIND_NOW' '\(FLAGS\).*BIND_NOW'
	has "$file" 'stack without execution' ' GNU_STACK .* RW '
	has "$file" 'stack protector' ' UND __stack_chk_fail'
	case $(readelf -hW "$file") in
	*X86-64*) has "$file" 'note of shadow stacks' 'x86 feature:.*SHSTK' ;;
	esac
done

# Calls of libc that know how large the buffer is; not in the recorder, which
# may be where they are missing.
has "$build/hatf" FORTIFY ' UND __[a-z]*printf_chk'
has "$build/libhatf.so.0" FORTIFY ' UND __(mem|str|[a-z]*printf)[a-z]*_chk'
readelf -sW "$build/libhatftrace.so" | grep -qE ' UND __[a-z]+_chk(@| |$)' &&
	complain "$build/libhatftrace.so: FORTIFY"

# Where an indirect call may end, there is an 'endbr64': what is exported, at
# least.
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
	[ -z "$names" ] || complain "$file: no endbr64 at the beginning of" \
		"$(wc -l <<<"$names") functions:" "$(head -n 3 <<<"$names")"
}

case $(readelf -hW "$build/hatf") in
*X86-64*)
	landing libhatf.so.0
	landing libhatftrace.so
	;;
esac
exit $status
