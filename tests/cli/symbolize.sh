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

for flags in '-O2 -g' '-O0 -g' '-O2 -g -fomit-frame-pointer -no-pie'; do
	# shellcheck disable=SC2086 # several words
	g++ $flags -o program program.cc || fail "g++ $flags"
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

# The trace needs the program no longer, and a second run changes nothing.
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
grep -q "program: the file cannot be read (build id $id)" err ||
	fail "no word of the missing program: $(cat err)"

# Another program at its place is not asked.
echo 'int main() { return 0; }' >other.cc
g++ -O2 -g -o program other.cc
cp original.hatf.gz t.hatf.gz
run "$HATF" symbolize t.hatf.gz
grep -q "program: the file is of another build (build id $id)" err ||
	fail "no word of the other program: $(cat err)"

# A stripped program: functions by a separate debug file, found by build id.
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug away "debug/.build-id/${id:0:2}/${id:2}.debug"
strip -o program away
cp original.hatf.gz t.hatf.gz
run "$HATF" symbolize -d "$PWD/debug" t.hatf.gz
check_status 'debug file' 0
mv away program
check 'debug file' "$(python3 compare.py t.hatf.gz program)" 'checked inlined'

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
[ -z "$(find . -name '*.tmp')" ] || fail 'a temporary file is left'

run "$HATF" symbolize
check_status 'no trace' 2
finish
