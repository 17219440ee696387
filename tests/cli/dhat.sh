#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dhat.sh - a DHAT file has the frames and sums that valgrind's has
#
# valgrind and the recorder run the same program, which lies at a fixed address.
# Up to 'main', each site has the same frames in the same words in both files,
# with these differences:
#   - valgrind's innermost frame is its own malloc or operator new; hatf hides
#     such frames.
#   - valgrind ends a stack at 'main'.
#   - valgrind has only the last component of a source file's path, unless
#     --fullpath-after= is given.
#   - valgrind's name of an inlined function lacks its parameters, templates and
#     namespaces, and valgrind keeps what gcc appended to the name of a clone.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v valgrind >/dev/null || skip 'no valgrind'
command -v jq >/dev/null || skip 'no jq'
PYTHON=$(command -v python3) || skip 'no python3'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'

cat >sites.cc <<'END'
#include <cstdlib>
#include <string>
#include <vector>

void *volatile kept[10];

inline __attribute__((always_inline)) void *
inner(size_t n)
{
	return malloc(n);
}

__attribute__((noinline)) void
outer(int i, size_t n)
{
	kept[i] = inner(n);
	__asm__ volatile("");
}

__attribute__((noinline)) void
recurse(int depth)
{
	if (depth == 0)
		outer(1, 300000);
	else
		recurse(depth - 1);
	__asm__ volatile("");
}

namespace space {
template<class T> struct box {
	__attribute__((noinline)) void
	fill(std::vector<T> &v)
	{
		v.resize(10000);
		__asm__ volatile("");
	}
};
} // namespace space

int
main()
{
	std::vector<int> v;

	outer(0, 10000);
	recurse(3);
	space::box<int>().fill(v);
	kept[2] = calloc(300, 100);
	kept[2] = realloc(kept[2], 50000);
	free(kept[0]);
	return 0;
}
END
g++ -g -O2 -no-pie -o sites sites.cc || fail 'g++'
valgrind --tool=dhat --dhat-out-file=theirs.json ./sites >valgrind.out 2>&1 ||
	fail "valgrind: $(cat valgrind.out)"
run "$HATF" record -o sites.hatf ./sites
check_status record 0
run "$HATF" convert sites.hatf sites.dhat
check_status convert 0

preload='\(in [^)]*vgpreload[^)]*\) < '

# sites FILE: print each site of the program: its sums, and its frames up to
# 'main'.
sites()
{
	jq -r '.ftbl as $t | .pps[] | [(.fs | map($t[.])),
		([.tb, .tbk, .gb, .gbk, .eb, .ebk] | join(" "))] |
		.[1] + " " + (.[0] | join(" < "))' "$1" |
		grep ': main (' | sed -E '
			s/0x[0-9A-F]*: (malloc|calloc|realloc) '"$preload"'//
			s/0x[0-9A-F]*: operator new\([a-z ]*\) '"$preload"'//
			s/(: main \([^)]*\)) < .*/\1/
			s/ \[clone [^]]*\]//g
			s,\([^() ]*/,(,g' | "$PYTHON" short.py | sort
}

# Shorten the names of functions to identifiers.
cat >short.py <<'END'
import re
import sys

for line in sys.stdin:
    sums, _, frames = line.rstrip("\n").partition(" 0x")
    shown = []
    for frame in frames.split(" < 0x"):
        address, name, place = re.match(r"(\w+): (.*) (\(.*?\))$",
                                        frame).groups()
        while re.search(r"<[^<>]*>|\([^()]*\)", name):
            name = re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
        shown.append(f"0x{address}: {name.split('::')[-1]} {place}")
    print(sums, " < ".join(shown))
END

sites theirs.json >want
sites sites.dhat >got
check 'sites of the program' "$(wc -l <want)" 4
check_text 'sites' got <want

# The viewer shows the tree in Chromium, and complains about nothing.
viewer=$(ls /usr/libexec/valgrind/dh_view.html \
	/usr/lib/*/valgrind/dh_view.html 2>/dev/null | head -1)
top=$CLI/../..
if [ -n "$viewer" ] && command -v chromium >/dev/null &&
	"$top/scripts/build-page.sh" --modules 2>/dev/null; then
	export MODULES=$top/build/page/node_modules CHROMIUM
	CHROMIUM=$(command -v chromium)
	# Chromium hangs now and then on a busy machine.
	timeout -s KILL 100 node "$CLI/../page/dh_view.mjs" "$viewer" \
		sites.dhat >shown 2>err || fail "dh_view: $(cat err)"
	check 'dh_view: all bytes and blocks' \
		"$(tr -d , <shown | sed -nE \
		's/^ *Total: +([0-9]+) bytes .* in ([0-9]+) blocks.*/\1 \2/p' |
			head -1)" \
		"$(jq -r '[.pps | (map(.tb) | add), (map(.tbk) | add)] |
			join(" ")' sites.dhat)"
	check 'dh_view: sites of main' \
		"$(grep -c '^ .*#[0-9]*: 0x[0-9A-F]*: main (/.*sites.cc:' \
			shown)" 4
	for line in 'Command: ./sites' '.*: recurse(int) (/.*sites.cc:24)'; do
		grep -q "^.*$line\$" shown || fail "dh_view: no line '$line'"
	done
else
	echo 'dh_view: no viewer, Chromium or npm' >&2
fi

finish
