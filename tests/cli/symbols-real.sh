#!/bin/bash
# SPDX-License-Identifier: MIT
#
# symbols-real.sh - names and lines of larger programs are eu-addr2line's
#
# Programs in C, C++ and Rust, of gcc, clang and rustc, some of them optimized
# at link time.  Where the two differ, addr2line of binutils decides:
# eu-addr2line knows no place in programs without .debug_aranges (clang, rustc).
#
#	FRAMES=N	compare so many frames of each program (default 60), and
#			record more commands of hatf
#	VERBOSE=1	print how many frames were compared
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 eu-addr2line addr2line >/dev/null ||
	skip 'no python3, eu-addr2line or addr2line'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'call stacks are for x86-64'
shared=$CLI/../capture/shared

# compare TRACE PROGRAM FRAMES: print how many frames of the program were
# compared, how many of them have inlined functions, how many only binutils
# confirms, and how many are wrong; and the first wrong ones.
cat >compare.py <<'END'
import gzip, re, subprocess, sys
trace, program, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = gzip.open(trace).read().decode('latin-1')
frames, stacks = {}, {}
begin = end = base = 0
for kind, text in re.findall(r'HATF (frame|stack|object)\n((?:\w+=[^\n]*\n)+)',
                             data):
    value = dict(l.split('=', 1) for l in text.rstrip('\n').split('\n'))
    if kind == 'frame':
        frames[int(value['frame'])] = value
    elif kind == 'stack':
        stacks[int(value['stack'])] = value
    elif value['object'].endswith('/' + program.split('/')[-1]):
        begin = int(value['address'], 16)
        end = begin + int(value['size'])
        base = int(value['base'], 16)

got = {}  # by address in the file: (function, file:line) from the inside out
for stack, value in stacks.items():
    frame = frames[int(value['frame'])]
    address = int(frame.get('address', '0x0'), 16)
    if stack >= 2**48 or not begin <= address < end:
        continue
    chain, parent = [frame], int(value.get('parent', 0))
    while parent >= 2**48:
        chain.append(frames[int(stacks[parent]['frame'])])
        parent = int(stacks[parent].get('parent', 0))
    got[address - base - 1] = [
        (f.get('function', '??'), f.get('file', '??') + ':' + f.get('line', '0'))
        for f in chain]

def ask(command, addresses):
    said = {}
    for i in range(0, len(addresses), 500):
        out = subprocess.run(
            command + ['-a', '-i', '-f', '-C', '-e', program] +
            [hex(a) for a in addresses[i:i + 500]], capture_output=True,
            text=True).stdout
        for block in re.split(r'^0x(?=[0-9a-f]+$)', out, flags=re.M)[1:]:
            lines = block.rstrip('\n').split('\n')
            rows = [re.sub(r'( inlined at .*| \[clone .*\]| \(discr.*\))+$', '',
                           l) for l in lines[1:]]
            said[int(lines[0], 16)] = list(zip(rows[0::2], rows[1::2]))
    return said

def plain(rows):
    return [(name, re.sub(r'^(.*?:\d+|\?\?:\??0?)(:\d+)?$', r'\1', place))
            for name, place in rows]

def bare(rows):  # without directories, arguments and return types
    return [(re.sub(r'[(<\[].*| ', '', name.split('::')[-1]),
             place.split('/')[-1].replace('?', '0'))
            for name, place in plain(rows)]

def is_confirmed(ours, other):
    """Like addr2line, which does not find the inlined functions of clang."""
    if ours == other:
        return True
    return len(other) == 1 and ours and \
        ours[0][1] == other[0][1] and ours[-1][0] == other[0][0]

addresses = sorted(got)
if len(addresses) > most:
    addresses = addresses[::len(addresses) // most + 1]
theirs = ask(['eu-addr2line'], addresses)
doubtful = [a for a in addresses if got[a] != plain(theirs.get(a, []))]
others = ask(['addr2line'], doubtful) if doubtful else {}
wrong = [a for a in doubtful
         if not is_confirmed(bare(got[a]), bare(others.get(a, [])))]
for a in wrong[:5]:
    print(hex(a), '\n  got', got[a], '\n  eu-addr2line',
          plain(theirs.get(a, [])), '\n  addr2line', plain(others.get(a, [])))
print(len(addresses), sum(len(got[a]) > 1 for a in addresses),
      len(doubtful) - len(wrong), len(wrong))
END

# compare_names NAME LEAST COMMAND...: the program's frames
compare_names()
{
	local name=$1 least=$2 frames inlined confirmed wrong

	shift 2
	rm -f t.hatf.gz*
	HATFTRACE_STACKS=on HATFTRACE_OUT=t.hatf.gz \
		LD_PRELOAD=$BUILD/libhatftrace.so "$@" >said 2>&1 ||
		fail "$name: status $?: $(head -n 3 said)"
	"$HATF" symbolize t.hatf.gz >said 2>&1 || fail "$name: $(cat said)"
	python3 compare.py t.hatf.gz "$1" "${FRAMES:-60}" >said 2>&1
	read -r frames inlined confirmed wrong < <(tail -n 1 said)
	[ "${wrong:-none}" = 0 ] || fail "$name: $(cat said)"
	[ "${frames:-0}" -ge "$least" ] || fail "$name: only $frames frames"
	[ -z "${VERBOSE:-}" ] ||
		echo "$name: $frames frames, $inlined with inlined functions," \
			"$confirmed confirmed by addr2line alone, $wrong wrong"
}

for flags in '-O2 -g' '-O3 -g -flto' ${FRAMES:+'-O2 -gdwarf-4' '-O1 -g'}; do
	for compiler in g++ clang++; do
		command -v $compiler >/dev/null || continue
		[ "$compiler $flags" != 'clang++ -O3 -g -flto' ] || continue
		# shellcheck disable=SC2086 # several words
		$compiler -std=c++14 $flags -pthread -o unwinds \
			"$shared/unwinds.cc" || fail "$compiler $flags"
		compare_names "unwinds, $compiler $flags" 20 ./unwinds 60
	done
done
if g++ -std=c++20 -fcoroutines -O2 -g -pthread -o coroutines \
	"$shared/coroutines.cc" 2>said; then
	compare_names 'coroutines, g++ -O2' 20 ./coroutines 40
fi
if command -v rustc >/dev/null; then
	rustc -O -g -o rust "$shared/walked.rs" 2>said || fail "$(head -3 said)"
	compare_names 'Rust, -O' 30 ./rust 40
	rustc -g -o rust "$shared/walked.rs" 2>said || fail "$(head -3 said)"
	compare_names 'Rust, without -O' 30 ./rust 40
fi
if readelf -S "$HATF" | grep -q debug_line; then
	cp t.hatf.gz input.hatf.gz
	compare_names 'hatf info' 10 "$HATF" info --json input.hatf.gz
	compare_names 'hatf convert' 20 "$HATF" convert input.hatf.gz t.folded
	for words in ${FRAMES:+report leaks stat dump verify tree \
		'report --html o.html' 'plot -o o.svg'}; do
		# shellcheck disable=SC2086 # several words
		compare_names "hatf $words" 10 "$HATF" $words input.hatf.gz
	done
	[ -z "${FRAMES:-}" ] || compare_names 'hatf optimize' 10 "$HATF" \
		optimize input.hatf.gz o.hatf
fi
finish
