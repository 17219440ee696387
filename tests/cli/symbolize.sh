#!/bin/bash
# SPDX-License-Identifier: MIT
#
# symbolize.sh - names, files and lines are those that eu-addr2line finds
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 eu-addr2line >/dev/null ||
	skip 'no python3 or eu-addr2line'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'

cat >program.cc <<'END'
#include <map>
#include <string>
#include <vector>

static std::vector<std::string> kept;

static inline __attribute__((always_inline)) char *
innermost(int n)
{
	return new char[100 + n];
}

static inline __attribute__((always_inline)) char *
between(int n)
{
	return innermost(n) + 0 * n;
}

namespace space {
template <typename T> struct holder {
	__attribute__((noinline)) void keep(T n)
	{
		kept.push_back(std::string(50 + n, between(n)[0] & 1));
	}
};
}

int
main()
{
	space::holder<int> h;
	std::map<int, std::string> m;

	for (int i = 0; i < 50; i++) {
		h.keep(i);
		m[i] = std::string(40, 'x');
	}
	return 0;
}
END

# compare TRACE PROGRAM: each frame of the program in the trace is what
# eu-addr2line says of its address less 1, inlined functions included.
cat >compare.py <<'END'
import gzip, re, subprocess, sys
trace, program = sys.argv[1:3]
data = gzip.open(trace).read().decode('latin-1')
frames, stacks, base, end = {}, {}, None, None
for kind, text in re.findall(r'HATF (frame|stack|object)\n((?:\w+=[^\n]*\n)+)',
                             data):
    value = dict(l.split('=', 1) for l in text.rstrip('\n').split('\n'))
    if kind == 'frame':
        frames[int(value['frame'])] = value
    elif kind == 'stack':
        stacks[int(value['stack'])] = value
    elif value['object'].endswith('/' + program):
        begin = int(value['address'], 16)
        end = begin + int(value['size'])
        base = int(value['base'], 16)
checked = inlined = 0
for stack, value in stacks.items():
    frame = frames[int(value['frame'])]
    address = int(frame.get('address', '0x0'), 16)
    if stack >= 2**48 or not begin <= address < end or 'file' not in frame:
        continue
    chain = [frame]
    parent = int(value.get('parent', 0))
    while parent >= 2**48:
        chain.append(frames[int(stacks[parent]['frame'])])
        parent = int(stacks[parent].get('parent', 0))
    got = [(f['function'], ':'.join([f['file'], f['line'], f['column']]))
           for f in chain]
    out = subprocess.run(['eu-addr2line', '-i', '-f', '-C', '-e', program,
                          hex(address - base - 1)], capture_output=True,
                         text=True).stdout.split('\n')
    out = [re.sub(r'( inlined at .*| \[clone .*\])$', '', l) for l in out]
    want = list(zip(out[0::2], out[1::2]))
    checked += 1
    inlined += len(chain) > 1
    if got != want:
        print('got', got, 'want', want)
print('checked' if checked > 5 else 'few', 'inlined' if inlined else 'none')
END

record()
{
	HATFTRACE_STACKS=on HATFTRACE_OUT="$1" \
		LD_PRELOAD=$BUILD/libhatftrace.so ./program
}

# A compiler that runs in another folder gets a relative path.
here=$PWD
mkdir build
for flags in '-O2 -g' '-O0 -g' '-O2 -g -fomit-frame-pointer -no-pie' \
	'-O2 -g -DBELOW'; do
	folder=.
	source=program.cc
	case $flags in *BELOW) folder=build source=../program.cc ;; esac
	# shellcheck disable=SC2086 # several words
	(cd $folder && g++ $flags -o "$here/program" $source) ||
		fail "g++ $flags"
	rm -f t.hatf.gz
	record t.hatf.gz
	"$HATF" dump t.hatf.gz | sed 's/^[0-9]* //; s/ stack=.*//' >want
	cp t.hatf.gz original.hatf.gz
	run "$HATF" symbolize t.hatf.gz
	check_status "$flags" 0
	"$HATF" dump t.hatf.gz | sed 's/^[0-9]* //; s/ stack=.*//' >got
	cmp -s want got || fail "$flags: other records"
	run "$HATF" verify t.hatf.gz
	check_status "$flags: verify" 0
	check "$flags" "$(python3 compare.py t.hatf.gz program)" \
		'checked inlined'
done

# The trace does not need the program any more, and a second run changes
# nothing.
mv program away
"$HATF" convert t.hatf.gz t.folded 2>/dev/null
grep -q '^_start;.*;main;space::holder<int>::keep(int);.*innermost' t.folded ||
	fail 'no stack of the program in t.folded'
"$HATF" symbolize -o again.hatf.gz t.hatf.gz >/dev/null 2>&1
cmp -s <(zcat t.hatf.gz | tail -c +4096) \
	<(zcat again.hatf.gz | tail -c +4096) ||
	fail 'a second run changes the trace'

# Without the program: a line with its build id, and exit status 0.
cp original.hatf.gz t.hatf.gz
run "$HATF" symbolize t.hatf.gz
check_status 'no program' 0
id=$(readelf -n away | sed -n 's/.*Build ID: //p')
grep -q "program: the file cannot be read (build id in the trace: $id)" err ||
	fail "no word of the missing program: $(cat err)"

# A second run that finds more files gives new ids to the frames it adds, also
# when the trace comes through a pipe.
mv away program
cp t.hatf.gz partial.hatf.gz
run "$HATF" symbolize t.hatf.gz
check_status 'second run' 0
run "$HATF" verify t.hatf.gz
check_status 'second run: verify' 0
check 'second run' "$(python3 compare.py t.hatf.gz program)" 'checked inlined'
"$HATF" symbolize -o - - <partial.hatf.gz >pipe.hatf.gz 2>err ||
	fail "pipe: $(cat err)"
run "$HATF" verify pipe.hatf.gz
check_status 'pipe: verify' 0
mkfifo named
cat partial.hatf.gz >named &
run "$HATF" symbolize -o pipe.hatf.gz named
check_status 'named pipe' 0
run "$HATF" verify pipe.hatf.gz
check_status 'named pipe: verify' 0
mv program away

# If another program has this path now, its names are not used.
echo 'int main() { return 0; }' >other.cc
g++ -O2 -g -o program other.cc
cp original.hatf.gz t.hatf.gz
run "$HATF" symbolize t.hatf.gz
grep -q "program: .* another build (build id in the trace: $id)" err ||
	fail "no word of the other program: $(cat err)"

# The same holds for a program without a build id.
g++ -O2 -g -Wl,--build-id=none -o program other.cc
cp original.hatf.gz t.hatf.gz
run "$HATF" symbolize t.hatf.gz
grep -q "program: .* another build (build id in the trace: $id)" err ||
	fail "no word of the program without a build id: $(cat err)"

# A stripped program: functions by a separate debug file, found by build id.
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug away "debug/.build-id/${id:0:2}/${id:2}.debug"
strip -o program away
cp original.hatf.gz t.hatf.gz
run "$HATF" symbolize -d "$PWD/debug" t.hatf.gz
check_status 'debug file' 0
cp original.hatf.gz relative.hatf.gz
run "$HATF" symbolize -d debug relative.hatf.gz
check_status 'relative debug-dir' 0

# A debug link leads to a file beside the program or in .debug, but not to a
# file of another program, and nobody waits for a FIFO there.
objcopy --only-keep-debug away link.debug
objcopy --add-gnu-debuglink=link.debug program
for place in . .debug; do
	mkdir -p "$place"
	[ "$place" = . ] || mv link.debug "$place"
	cp original.hatf.gz "link$place.hatf.gz"
	run "$HATF" symbolize "link$place.hatf.gz"
	check_status "debug link in $place" 0
done
g++ -O2 -g -o .debug/link.debug other.cc
cp original.hatf.gz t2.hatf.gz
run "$HATF" symbolize t2.hatf.gz
grep -q "program: no debug information (build id in the trace: $id)" err ||
	fail "the debug file of another program was used: $(cat err)"
for place in . .debug; do
	rm -f link.debug .debug/link.debug
	mkfifo "$place/link.debug"
	cp original.hatf.gz t2.hatf.gz
	run timeout -s KILL 20 "$HATF" symbolize t2.hatf.gz
	check_status "FIFO in $place" 0
done
rm -f link.debug .debug/link.debug

# The same for the file that dwz(1) shares between debug files.
mkfifo shared.debug
printf '%s\0%s' shared.debug 01234567890123456789 >altlink
objcopy --add-section .gnu_debugaltlink=altlink away program
cp original.hatf.gz t2.hatf.gz
run timeout -s KILL 20 "$HATF" symbolize t2.hatf.gz
check_status 'FIFO as shared debug file' 0

# If the program is gone, or another one is in its place, a file of the same
# build in the folder for debug files stands in for it.
gone=()
find_in()
{
	cp original.hatf.gz "gone.$1.hatf.gz"
	run "$HATF" symbolize -d "$2" "gone.$1.hatf.gz"
	check_status "gone: $1" 0
	gone+=("gone.$1")
}
rm program
find_in debug debug
mkdir -p "whole/.build-id/${id:0:2}" named.d "path.d$PWD"
cp away "whole/.build-id/${id:0:2}/${id:2}"
cp away named.d/program
cp away "path.d$PWD/program"
find_in whole whole
find_in name named.d
find_in path path.d
g++ -O2 -g -o program other.cc
find_in replaced debug
# A file of another build does not.
cp program named.d
rm program
cp original.hatf.gz t2.hatf.gz
run "$HATF" symbolize -d named.d t2.hatf.gz
grep -q "program: .* cannot be read (build id in the trace: $id)" err ||
	fail "another build in place of the program: $(cat err)"

mv away program
for trace in t relative link. link.debug "${gone[@]}"; do
	check "debug file: $trace" \
		"$(python3 compare.py "$trace.hatf.gz" program)" \
		'checked inlined'
done

# Neither a device nor a FIFO is opened; a damaged trace stays as it is.
mkfifo fifo
for path in /dev/zero "$PWD/fifo" "$PWD" /proc/self/mem; do
	zcat original.hatf.gz |
		sed "s|^object=.*/program$|object=$path|" >t.hatf
	run timeout 20 "$HATF" symbolize -o u.hatf t.hatf
	[ "$status" -lt 2 ] || fail "$path: exit status $status"
done
head -c $(($(stat -c %s original.hatf.gz) - 100)) original.hatf.gz >t.hatf.gz
cp t.hatf.gz before
run "$HATF" symbolize t.hatf.gz
check_status 'damaged' 1
cmp -s before t.hatf.gz || fail 'a damaged trace was replaced'
[ -z "$(find . -type f -name '*.tmp')" ] || fail 'a temporary file is left'

run "$HATF" symbolize
check_status 'no trace' 2
finish
