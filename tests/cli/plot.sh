#!/bin/bash
# SPDX-License-Identifier: MIT
#
# plot.sh - plot draws what was live, with names that harm nobody
#
# plot.py compares the curves with what its traces have.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 xmllint >/dev/null || skip 'no python3 or xmllint'
umask 022

python3 "$CLI/plot.py" "$HATF" || fail 'the curves differ'

# plot WHAT ARGUMENT...: draws without a message.
plot()
{
	local what=$1

	shift
	run "$HATF" plot "$@"
	check_status "$what" 0
	check_silent "$what"
}

well_formed()
{
	xmllint --nonet --noout "$1" || fail "$1 is no XML"
}

# png_size FILE: "WIDTHxHEIGHT", then how many colours it has, at most 9.
png_size()
{
	python3 - "$1" <<'EOF'
import struct
import sys
import zlib

data = open(sys.argv[1], 'rb').read()
assert data[:8] == b'\x89PNG\r\n\x1a\n'
at, pixels = 8, b''
while at < len(data):
    size, kind = struct.unpack('>I4s', data[at:at + 8])
    if kind == b'IHDR':
        width, height = struct.unpack('>II', data[at + 8:at + 16])
    if kind == b'IDAT':
        pixels += data[at + 8:at + 8 + size]
    at += size + 12
rows = zlib.decompress(pixels)
print(f'{width}x{height}', min(9, len(set(rows))))
EOF
}

# Names that are markup, commands to a terminal, not UTF-8, not XML or long.
long=$(printf 'very_long_name_%.0s' {1..60})
{
	header unit=us 'command=/bin/<script>alert(1)</script>\x1b[2J\xff&amp;'
	layout
	comment 'HATF frame\nframe=1\nfunction=<script>alert(2)</b>&"\x07\n'
	comment 'HATF frame\nframe=2\nfunction=\xff\xc0\xaf\xef\xbf\xbe\n'
	comment "HATF frame\nframe=3\nfunction=$long<int>(char)\nfile=/a/b.c\n"
	comment 'HATF stack\nstack=1\nparent=0\nframe=1\n'
	comment 'HATF stack\nstack=2\nparent=0\nframe=2\n'
	comment 'HATF stack\nstack=3\nparent=0\nframe=3\n'
	thread_event 8 1 0 '\x42\x00\x81\x0b</text>\x1b[m<a>'
	alloc 1000 0x10000 0 0 0 '\x45\x01'
	alloc 1000 0x20000 1 0 4000 '\x45\x02'
	alloc 5000 0x30000 1 0 5000 '\x45\x03'
	free 0x30000 1 0 9000
} >hostile.hatf
cp hostile.hatf cut.hatf
trailer hostile.hatf 4 12
for by in total site function file module thread size; do
	plot "--by $by" --by "$by" -o "$by.svg" hostile.hatf
	well_formed "$by.svg"
	LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f]|<script|<a>' "$by.svg" &&
		fail "$by.svg: markup or control characters"
	awk 'length > 6000' "$by.svg" | grep -q . && fail "$by.svg: long lines"
done
grep -q '&lt;script&gt;alert(2)' site.svg || fail 'a name was lost'
grep -q '…' site.svg || fail 'a long name was not shortened'
check 'peak' "$(sed -n 's/.* id="peak" .*>\(.*\)<.*/\1/p' site.svg)" \
	'peak 6.8 KiB at 5.000 ms'

# The file: its mode, standard output, an old one.
check 'mode' "$(stat -c %a site.svg)" 600
run "$HATF" plot --by site --format svg -o - hostile.hatf
cmp -s out site.svg || fail 'standard output has another picture'
# shellcheck disable=SC2016
run bash -c 'cat hostile.hatf | "$1" plot --by site -o piped.svg -' - "$HATF"
check_status 'a pipe as input' 0
cmp -s piped.svg site.svg || fail 'a pipe gives another picture'
head -c 100000 /dev/zero >old.svg
chmod 644 old.svg
plot 'an old file' --by site -o old.svg hostile.hatf
cmp -s old.svg site.svg || fail 'an old file has old content'
check 'mode of an old file' "$(stat -c %a old.svg)" 644
run "$HATF" plot -o old.svg none.hatf
check_status 'no trace' 1
check_one_line 'no trace' 'hatf plot: none.hatf: No such file or directory'
cmp -s old.svg site.svg || fail 'an old picture was lost'
run "$HATF" plot -o no/such.svg hostile.hatf
check_status 'no folder' 1
check_one_line 'no folder' 'hatf plot: no/such.svg: No such file or directory'
[ -w /dev/full ] && {
	run "$HATF" plot --format svg -o /dev/full hostile.hatf
	check_status 'a full disk' 1
	check_one_line 'a full disk' 'hatf plot: /dev/full: No space left *'
}

# A truncated trace: the picture has the part that can be read, and says so.
run "$HATF" plot -o cut.svg cut.hatf
check_status 'a cut trace' 1
check_one_line 'a cut trace' 'hatf plot: cut.hatf: *'
well_formed cut.svg
grep -q '(the trace is incomplete)' cut.svg || fail 'a cut trace: no remark'

# A trace without events, and one without stacks.
{
	header unit=us
	layout
} >empty.hatf
trailer empty.hatf 0 1
for by in total thread size; do
	plot 'an empty trace' --by "$by" -o empty.svg empty.hatf
	well_formed empty.svg
	grep -q 'nothing was live' empty.svg || fail "empty.svg: --by $by"
done
{
	header
	layout
	alloc 1000 0x10000 0 0 0
	free 0x10000 0 0 0
} >plain.hatf
trailer plain.hatf 2 3
run "$HATF" plot --by site -o plain.svg plain.hatf
check_status 'no stacks' 1
check_one_line 'no stacks' "hatf plot: plain.hatf: no call stacks, *--by size*"
[ -e plain.svg ] && fail 'no stacks: there is a picture'
plot 'no stacks and no times' --by size -o plain.svg plain.hatf
grep -q 'peak 1000 B after 1 call' plain.svg || fail 'plain.svg: the peak'

# A part of the trace.
plot 'a window' --from 1 --to 4500us -o part.svg hostile.hatf
grep -q 'peak 2.0 KiB' part.svg || fail "a window: $(grep peak part.svg)"

plot 'the size of SVG' --width 500 --height 240 -o small.svg hostile.hatf
grep -q 'width="500" height="240"' small.svg || fail 'the size of SVG'

# PNG needs cairo.  LeakSanitizer would report memory that cairo's fontconfig
# never frees.
echo 'leak:libfontconfig' >leaks
LSAN_OPTIONS=${LSAN_OPTIONS:-}:suppressions=$PWD/leaks:print_suppressions=0
export LSAN_OPTIONS
run "$HATF" plot -o picture.png hostile.hatf
case $(cat err) in
*'without cairo'* | *'cairo (Debian'*)
	check_status 'PNG without cairo' 1
	check_one_line 'PNG without cairo' 'hatf plot: * SVG*'
	[ -e picture.png ] && fail 'PNG without cairo: there is a file'
	finish
	;;
esac
check_status 'PNG' 0
check_silent 'PNG'
check 'PNG' "$(png_size picture.png)" '960x440 9'
plot 'a dark PNG' --dark --by site --width 500 --height 400 --top 2 \
	-o dark.PNG hostile.hatf
check 'a dark PNG' "$(png_size dark.PNG)" '500x400 9'
[ "$(LC_ALL=C grep -c cairo <(ldd "$HATF" 2>&1))" = 0 ] ||
	fail 'hatf is linked with cairo'

finish
