#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# entrypoints.sh - every entry point, in every outcome, over every allocator
#
# The programs report what they did (notes.h); the trace must say the same.  The
# calls must return the same with and without the recorder.
. "$(dirname "$0")/lib.sh"
LIBS=/usr/lib/$(${CC:-cc} -print-multiarch 2>/dev/null)

# window FILE: print the events between the two marks.
window()
{
	events "$1" | awk '
	$1 == "alloc" && $2 == 7777002 { exit }
	on && !(first && $1 == "free") { print }
	on { first = 0 }
	$1 == "alloc" && $2 == 7777001 { on = first = 1 }'
}

# compare_windows STRICT: print the differences between 'want' and 'got'.  In
# 'want', '*' is any size.
compare_windows()
{
	awk -v strict="$1" -v i=0 -v n=0 '
	NR == FNR { want[n++] = $0; next }
	{
		split(want[i], w, " ")
		if (w[2] == "*")
			w[2] = $2
		if (i < n && w[1] " " w[2] " " w[3] " " w[4] " " w[5] " " \
		    w[6] == $0) {
			i++
			next
		}
		# In C++ the trace may also have failed attempts and the memory
		# of exceptions.
		if (!strict && $1 == "alloc" && $3 == "0x0")
			next
		if (!strict && $1 == "alloc" && $2 >= 132 && $2 <= 136) {
			exception[$3] = 1
			next
		}
		if (!strict && $1 == "free" && exception[$3]) {
			delete exception[$3]
			next
		}
		print "got " $0 ", want " want[i]
		if (++bad > 5)
			exit
	}
	END { if (!bad && i < n) print "missing from " want[i] }' want got
}

# run STRICT WHAT PROGRAM ARGS...
run()
{
	local strict=$1 what=$2 wrong
	shift 2
	LD_PRELOAD=$PRELOAD "$@" >bare 2>err.bare
	check "$what: status bare" $? 0
	rm -f trace.gz*
	trace trace.gz "$@" >traced 2>err.traced
	check "$what: status" $? 0
	diff <(grep -v '^event' bare) <(grep -v '^event' traced) >difference ||
		fail "$what: values differ: $(head -n 5 difference)"
	cmp -s err.bare err.traced ||
		fail "$what: stderr: $(head -n 3 err.traced)"
	clean trace.gz
	sed -n 's/^event //p' traced >want
	window trace.gz >got
	wrong=$(compare_windows "$strict")
	[ -z "$wrong" ] || fail "$what: $wrong"
}

# over ALLOCATOR-NAME PVALLOC FAILURES
over()
{
	run 1 "entrypoints over $1" "$PROGS/entrypoints" "$2"
	check "$1: allocator" \
		"$(header trace.gz allocator | grep -c "$1")" 1
	run '' "cxxnew over $1" "$PROGS/cxxnew" "$3"
}

over libc.so all all
for lib in tcmalloc_minimal.so.4 jemalloc.so.2 mimalloc.so.2.0; do
	PRELOAD=$LIBS/lib$lib
	[ -e "$PRELOAD" ] || { echo "no lib$lib: not tested"; continue; }
	case $lib in
	jemalloc*) over "${lib%%.*}" no-pvalloc all ;;
	mimalloc*) over "${lib%%.*}" all no-failures ;;
	*) over "${lib%%.*}" all all ;;
	esac
	# Again, with a program that is linked with the allocator.
	${CXX:-c++} -w -std=gnu++17 -O0 -fno-builtin -D_GNU_SOURCE -o linked \
		"$CAPTURE/programs/cxxnew.cc" -Wl,--no-as-needed "$PRELOAD" ||
		fail "cannot link with $lib"
	PRELOAD=
	run '' "cxxnew with $lib" ./linked \
		"$([ "${lib%%.*}" = mimalloc ] && echo no-failures)"
	check "$lib, linked: allocator" \
		"$(header trace.gz allocator | grep -c "${lib%%.*}")" 1
done
finish
