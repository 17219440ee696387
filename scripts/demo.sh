#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh - set the machine up, build, record a real program, read the traces
#
# This is 'make demo' for a machine that may not have make yet.  The recorded
# program is the C compiler, which compiles a file of this project.  Its driver,
# the compiler proper and the assembler are three processes, so there are three
# traces, in build/demo.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh build
make -j"$(nproc)"

out=build/demo
hatf=build/plain/hatf
rm -rf "$out"
mkdir -p "$out"

# show COMMAND...: print the command as a user would type it, then run it.
show()
{
	printf '\n$'
	printf ' %q' "$@" | sed 's/\\%/%/g'
	printf '\n'
	"$@"
}

show "$hatf" record -o "$out/%e.%p.hatf.gz" -- \
	cc -O2 -I. -c -o "$out/encoder.o" hatf/codec/encoder.c
traces=("$out"/*.hatf.gz)
[ "${#traces[@]}" -ge 3 ] || {
	echo "demo.sh: expected a trace of cc, cc1 and as each" >&2
	exit 1
}
show "$hatf" info "${traces[@]}"
show "$hatf" verify "${traces[@]}"
show "$hatf" dump --count 8 "$out"/cc1.*
show "$hatf" report "$out"/cc1.*
echo
echo "The traces are in $out; '$hatf --help' lists the other commands."
