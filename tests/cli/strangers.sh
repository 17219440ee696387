#!/bin/bash
# SPDX-License-Identifier: MIT
#
# strangers.sh - hatf refuses files that are not traces, and writes nothing
#
# The error message has one line.  The files: text that begins like one of the
# formats; other JSON, XML and CSV; binary files with small numbers among zeros;
# archives and programs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

unknown="not a format that hatf knows; see 'hatf formats'"

# refused FILE [WHAT]: convert and info refuse FILE, and convert writes nothing.
refused()
{
	run "$HATF" convert "$1" out.hatf
	check_status "convert $1" 1
	check_one_line "convert $1" "hatf convert: $1: ${2-$unknown}"
	if [ -e out.hatf ]; then
		fail "$1: something was written"
		rm out.hatf
	fi
	run "$HATF" info "$1"
	check_status "info $1" 1
	check_one_line "info $1" "hatf info: $1: ${2-$unknown}"
}

# text NAME TEXT...: write a file with this text; hatf refuses it.
text()
{
	local name=$1
	shift
	printf '%b' "$@" >"$name"
	refused "$name"
}

# Text whose first word is one of some format.
text hummingbird.1 'Free Pascal compiler\nversion 3.2\n'
text hummingbird.2 '# notes\n\nAllocate some memory for it\n'
text hummingbird.3 'allocate 0x10\n'
text hummingbird.4 'free\n'
text mtrace.1 '@ home\nnothing\n'
text mtrace.2 '- a list\n- of things\n'
text mtrace.3 '+ added\n- removed\n'
text mtrace.4 '< 0\n'
text android.1 '12: the twelfth\n'
text android.2 '12: malloc it\n'
text ascii.1 '1 Introduction\n\nText.\n'
text ascii.2 '0 nothing\n'
text heaptrack.1 'v for vendetta\n'
text heaptrack.2 'v 10400 3 more\n'
text mptrace.1 '## Title\n\ntext\n'
text csv.1 'tag,colour,weight\na,red,1\n'
text csv.2 'tags,size\n1,2\n'
text csv.3 'name,size,address\nx,1,2\n'
text xml.0 '<hatf\0>'
text json.1 '{"name":"x","size":1}\n'
text json.2 '{\n  "name": "x",\n  "list": [ 1, 2 ]\n}\n'
text json.3 '[{"tag":"alloc"}]\n'
text json.4 '{}\n'
text xml.1 '<?xml version="1.0"?>\n<html>\n<body/>\n</html>\n'
text xml.2 '<?xml version="1.0"?>\n<!-- hatf -->\n<!DOCTYPE html>\n<html/>\n'
text xml.3 '<hatfield>\n</hatfield>\n'
text xml.4 '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
text script '#!/bin/sh\nexit 0\n'
text c '/* c */\n#include <stdio.h>\nint main(void) { return 0; }\n'
text diff '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n'
text mail 'From: a@b\nTo: c@d\n\nHello\n'
text newlines '\n\n\n\n'
text folded 'main;f;malloc 12\nmain;g;malloc 8\n'
text blank ' '
refused /etc/passwd

# The declaration and comments are longer than the part by which hatf detects
# the format.
{
	printf '<?xml version="1.0"?>\n<!--'
	head -c 3000 /dev/zero | tr '\0' x
	printf -- '-->\n<project>\n</project>\n'
} >xml.5
refused xml.5
# A single line, longer than any record.
{
	printf '{"data":"'
	head -c 700000 /dev/zero | tr '\0' x
	printf '"}\n'
} >json.5
refused json.5

# Binary files.
for n in 1 100 4096 100000; do
	# A random first byte may be a tag, so begin with one that is not.
	{
		printf '\xc3'
		head -c "$n" /dev/urandom
	} >random.$n
	refused random.$n
	head -c "$n" /dev/zero >zeros.$n
	refused zeros.$n
done
refused "$HATF"
gzip -c /etc/passwd >passwd.gz
refused passwd.gz
tar -cf tree.tar xml.1 json.1
refused tree.tar
printf '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0' >png
refused png
printf '%%PDF-1.7\n%%\xe2\xe3\xcf\xd3\n1 0 obj\n' >pdf
refused pdf
printf 'SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20' >sqlite
refused sqlite
printf 'RIFF\x24\x08\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0' >wav
refused wav

# numbers WIDTH COUNT: write small, growing little-endian numbers.
numbers()
{
	local i low high
	for ((i = 1; i <= $2; i++)); do
		printf -v low %x $((i % 256))
		printf -v high %x $((i / 256))
		# shellcheck disable=SC2059
		printf "\\x$low\\x$high"
		head -c "$(($1 - 2))" /dev/zero
	done
}
for width in 4 8 16; do
	numbers $width 500 >numbers.$width
	refused numbers.$width
done
# An old compiled file of python begins with a few legal records.
{
	printf '\x03\xf3\x0d\x0a\xe1\xfe\x69\x63\0\0\0\0\0\0\0\0'
	printf '\0\x03\0\0\0\x40\0\0\0s\x75\0\0\0\x64\0\0Z'
	printf '\0\0d\x01\0d\0\x01\x64\0\0l\x02\0Z\x03'
	head -c 300 /dev/zero | tr '\0' d
} >pyc
refused pyc

# The output of gperftools' 'postprocess', plain and compressed: instructions of
# 24 bytes, of which the first one starts a thread.
{
	u 8 $((5 << 56))
	head -c 16 /dev/zero
	for i in 0 1 2 3 4 5 6 7 8 9; do
		u 8 "$((i << 48))" # a malloc of 8 bytes, register i
		u 8 $((8 << 56))
		head -c 8 /dev/zero
		u 8 "$((2 << 56 | i << 48))" # its free
		u 8 $((8 << 56))
		head -c 8 /dev/zero
	done
} >processed
refused processed 'a processed gperftools stream; hatf reads only raw traces'
gzip -k processed
refused processed.gz 'a processed gperftools stream; hatf reads only raw traces'

# Formats that hatf only writes.
{
	header unit=us
	layout
	alloc 10 0x1000 0 0 1
} >good.hatf
trailer good.hatf 1 2
"$HATF" convert good.hatf x.dhat 2>err || fail "dhat: $(cat err)"
refused x.dhat \
	"a profile for DHAT's viewer; hatf writes but cannot read such profiles"
for name in x.pb x.pb.gz; do
	"$HATF" convert good.hatf $name 2>err || fail "$name: $(cat err)"
	refused $name \
		'a profile for pprof; hatf writes but cannot read such profiles'
done
"$HATF" convert good.hatf x.folded 2>err || fail "folded: $(cat err)"
refused x.folded

# A format that hatf only reads or only writes is not an unknown format.
run "$HATF" convert --from pprof x.pb y.hatf
check_status 'from pprof' 2
check_one_line 'from pprof' \
	'hatf convert: --from: format pprof can only be written'
run "$HATF" convert --to gperftools good.hatf y
check_status 'to gperftools' 2
check_one_line 'to gperftools' \
	'hatf convert: --to: format gperftools can only be read'
run "$HATF" convert --to gperftool good.hatf y
check_one_line 'to gperftool' \
	"hatf convert: --to: unknown value 'gperftool' (want one of *hatf)"

# For a truncated compressed file, the message has the offset in the file and
# the offset in the uncompressed data.
"$HATF" convert --to csv --drop time good.hatf good.csv || fail 'csv'
for ((i = 0; i < 2000; i++)); do
	echo "alloc,$i,0x$i,,0,0,,"
done >>good.csv
for packer in gzip zstd lz4; do
	$packer -c good.csv >good.packed 2>/dev/null || continue
	nbytes=$(($(stat -c %s good.packed) / 2))
	head -c $nbytes good.packed >cut.packed
	run "$HATF" convert cut.packed cut.hatf
	check_status "cut $packer" 1
	check_one_line "cut $packer" \
		'hatf convert: cut.packed: *offset 0x* of the uncompressed' \
		'data, record *:' \
		'the trace is truncated,' \
		"at byte $nbytes of the $packer file"
done

finish
