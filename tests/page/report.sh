#!/bin/bash
# SPDX-License-Identifier: MIT
#
# report.sh - 'hatf report --html' writes what page/DATA.md says
#
# Each sum equals the one of 'hatf report --json'.  Names with markup and script
# are text.  The page opens in Chromium, if there is one, without a word on its
# console.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

page=$CLI/../page

# A trace whose names end elements and begin scripts.
{
	header unit=us 'command=./a </script><script>alert(1)</script>'
	layout
	comment 'HATF frame\nframe=1\nfunction=b<!--<script>\nfile=/a.c\nline=3'
	comment 'HATF frame\nframe=2\nfunction=</script><img src=x>\x1b\n'
	comment 'HATF stack\nstack=1\nparent=0\nframe=1\n'
	comment 'HATF stack\nstack=2\nparent=1\nframe=2\n'
	thread_event 8 1 0 '\x42\x00\x81\x04<i>x'
	alloc 10 0x1000 0 0 0 '\x45\x02'
	comment 'HATF mark\nthread=0\ntime=3000\ntext=<b>"now"\\\n'
	alloc 1048576 0x100000 0 0 4000 '\x45\x01'
	alloc 8 0x2000 1 0 5000
	resize 3 10 0x2000 0x3000 1 0 5500 '\x45\x02'
	alloc 10 0x3000 1 0 5500
	free 0x2000 1 0 5500
	free 0x100000 0 0 6000
	alloc 99 0x4000 0 0 9000 '\x45\x01'
	free 0x4000 1 0 9999
} >app.hatf
trailer app.hatf 7 16

run "$HATF" report --html app.html app.hatf
check_status 'report --html' 0
check_silent 'report --html'
check 'mode' "$(stat -c %a app.html)" 600
run "$HATF" report --html - app.hatf
check_status 'report --html -' 0
cmp -s app.html out || fail 'standard output has another page'

check_page()
{
	"$HATF" report --json -n 1000000 "${@:2}" >figures.json 2>/dev/null
	python3 "$page/verify.py" --figures figures.json "$1" ||
		fail "$1: wrong figures"
}

check_page app.html app.hatf
check 'elements in names' "$(grep -c '<img\|<script>alert' app.html)" 0

# A page shows shares and lifetimes as they are: 1820 bytes are live in a row of
# 4096, and a coarse clock saw a block for 0 s.  The curves of sites have more
# points than 128.
{
	header unit=us clock=coarse
	layout
	comment 'HATF frame\nframe=1\nfunction=f\n'
	comment 'HATF stack\nstack=1\nparent=0\nframe=1\n'
	comment 'HATF clock\nclock=coarse\ntime=0\nstep=7000\n'
	alloc 20 0x11000 0 0 10 '\x45\x01'
	free 0x11000 0 0 10
	alloc 1660 0x10800 0 0 20 '\x45\x01'
	for i in {1..160}; do
		alloc 1 $((0x10000 + 8 * i)) 0 0 $((20 + i)) '\x45\x01'
	done
} >exact.hatf
trailer exact.hatf 0 1
run "$HATF" report --html exact.html exact.hatf
grep -o '"points":{[^}]*}' exact.html >points
[ "$(grep -o '[0-9],' points | wc -l)" -gt 140 ] || fail "$(cat points)"

# No event.
header >zero.hatf
layout >>zero.hatf
trailer zero.hatf 0 1
run "$HATF" report --html zero.html zero.hatf
check_status 'no events' 0

# A program with threads, and the same without call stacks; both at once.
"$HATF" record -g on -o stacks.hatf.gz -- \
	"$BUILD/tests/capture/programs/threads" >/dev/null 2>&1
"$HATF" record -g off -o plain.hatf.gz -- \
	"$BUILD/tests/capture/programs/threads" >/dev/null 2>&1
for name in stacks plain; do
	run "$HATF" report --html $name.html $name.hatf.gz
	check_status "$name" 0
	check_page $name.html $name.hatf.gz
done
grep -q 'blocks of up to [0-9]* bytes' plain.html && fail 'sizes in bytes'
run "$HATF" report --html both.html stacks.hatf.gz plain.hatf.gz
check_status 'two traces' 0
check_page both.html stacks.hatf.gz plain.hatf.gz

# More call paths than a page has room for: small ones share rows.
"${CC:-cc}" -g -O0 -o paths "$page/paths.c" || fail 'paths.c does not compile'
"$HATF" record -g on -o paths.hatf.gz -- ./paths >/dev/null 2>&1
run "$HATF" report --html paths.html paths.hatf.gz
check_status 'many paths' 0
check_page paths.html paths.hatf.gz
grep -q '(other paths)' paths.html || fail 'no path is shortened'
[ "$(stat -c %s paths.html)" -lt 5000000 ] || fail 'the page is too large'

# Long names take room, too: sites beyond the room share "(small sites)".
cat >names.py <<'END'
import json
import sys

count, nbytes, root = map(int, sys.argv[1:])


def comment(kind, **pairs):
    lines = ''.join(f'{key}={value}\n' for key, value in pairs.items())
    print(json.dumps({'tag': 'comment', 'text': f'HATF {kind}\n{lines}'}))


def varint(n):
    return f'{n:02x}' if n < 128 else f'{n & 127 | 128:02x}{varint(n >> 7)}'


comment('1.0', producer='test', clock='us', unit='us')
comment('frame', frame=1, function='main')
comment('stack', stack=1, parent=0, frame=1)
for i in range(2, count + 2):
    comment('frame', frame=i, function=f'<{i}'.ljust(nbytes, 'x'), file=f'/{i}')
    comment('stack', stack=i, parent=root, frame=i)
    print(json.dumps({
        'tag': 'alloc', 'size': 2 * count - i, 'address': hex(4096 * i),
        'thread': 0, 'heap': 0, 'time': i, 'attributes': '45' + varint(i)}))
END
python3 names.py 20000 300 1 >main.json
python3 names.py 20000 400 0 >short.json
for traces in 'main.json' 'short.json' 'main.json short.json main.json'; do
	# shellcheck disable=SC2086 # several words
	set -- $traces
	run "$HATF" report --html names.html "$@"
	check_page names.html "$@"
	size=$(stat -c %s names.html)
	[ "$size" -lt 5000000 ] || fail "$traces: a page of $size bytes"
	for name in 2xxx '(small sites)'; do
		grep -qF "$name" names.html || fail "$traces: no $name"
	done
done

# Traces of all kinds, damaged ones too: the page is whole.
for trace in "$CLI"/../data/golden/*.hatf* "$CLI"/../data/corrupt/*.hatf*; do
	"$HATF" report --html any.html "$trace" >/dev/null 2>err
	[ $? -le 1 ] || fail "$trace: $(cat err)"
	[ ! -e any.html ] || mv any.html "any-${trace##*/}.html"
done
python3 "$page/verify.py" any-*.html || fail 'a bad page'

echo old >old.html
run "$HATF" report --html old.html "$CLI/../data/corrupt/text.hatf"
check_status 'no trace' 1
check 'the old page' "$(cat old.html)" old
run "$HATF" report --html new.html "$CLI/../data/corrupt/text.hatf"
check 'no page' "$(ls new.html 2>&1)" \
	"ls: cannot access 'new.html': No such file or directory"

run "$HATF" report --html no/such/place.html app.hatf
check_status 'a folder is missing' 1

if command -v node >/dev/null; then
	node "$page/figures.mjs" >durations || fail "$(cat durations)"
fi
modules=$CLI/../../build/page/node_modules
if command -v node chromium >/dev/null && [ -d "$modules" ]; then
	CHROMIUM=$(command -v chromium) MODULES=$modules timeout -s KILL 120 \
		node "$page/opens.mjs" app.html stacks.html plain.html \
		both.html paths.html || fail 'a page does not open'
	CHROMIUM=$(command -v chromium) MODULES=$modules timeout -s KILL 120 \
		node "$page/says.mjs" zero.html 'This trace has no events.' ||
		fail 'zero.html'
	CHROMIUM=$(command -v chromium) MODULES=$modules timeout -s KILL 120 \
		node "$page/says.mjs" exact.html '44 % of the rows in use' \
		'steps of up to 7 ms' '< 7 ms' ||
		fail 'exact.html shows something else'
fi
finish
