#!/bin/bash
# SPDX-License-Identifier: MIT
#
# xml.sh - HATF as XML is valid by its DTD for every record
#
# Every kind of record is valid by the installed DTD.  hatf reads the same trace
# from the document in xmllint's layout.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v xmllint >/dev/null || skip 'no xmllint'
dtd=$CLI/../../hatf/hatf.dtd

# valid FILE: xmllint finds the document valid, without a message.
valid()
{
	run xmllint --nonet --noout --dtdvalid "$dtd" "$1"
	check_status "$1: xmllint" 0
	grep -v 'failed to load external entity\|DOCTYPE\|^ *^$' err >said
	[ -s said ] && fail "$1: xmllint says $(head -3 said)"
}

{
	header 'command=a <b> "&"'
	layout
	comment 'HATF frame\nframe=1\nfunction=std::vector<int>\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	alloc 24 0x5581c0 0 0 17 '\x45\x01'
	alloc 64 0x7ffff7a01230 0 0 18 '\x01'
	other_tags
	comment '<odd>: ]]> &amp; \x00\xff\t\xef\xbf\xbf",\\'
	thread_event 9 1 4294967295
} >all.hatf
trailer all.hatf 8 20
"$HATF" dump --meta --format ascii all.hatf >want

run "$HATF" convert all.hatf all.xml
check_status 'to XML' 0
check_silent 'to XML'
valid all.xml
"$HATF" dump --meta --format ascii all.xml | grep -v 'HATF end' >got
check_text 'from XML' got < <(grep -v 'HATF end' want)
run "$HATF" verify all.xml
check_status 'verify' 0

# In another layout, and in another encoding.
xmllint --nonet --format all.xml >formatted.xml 2>/dev/null
valid formatted.xml
xmllint --nonet --encode ISO-8859-1 all.xml >latin.xml 2>/dev/null
for file in formatted.xml latin.xml; do
	"$HATF" dump --meta --format ascii $file | grep -v 'HATF end' >got
	check_text $file got < <(grep -v 'HATF end' want)
done

# A dropped field is 0, and the document stays valid.
run "$HATF" convert --drop time,thread,heap,attributes,comment all.hatf bare.xml
check_status 'drop' 0
valid bare.xml

# The XML of a truncated trace is a whole document that is marked as incomplete.
head -c "$(($(stat -c %s all.hatf) - 200))" all.hatf >cut.hatf
run "$HATF" convert cut.hatf cut.xml
check_status 'cut' 1
valid cut.xml
run "$HATF" info cut.xml
check_status 'cut: info' 1

# The message has the place of an error.
sed 's/<size>64/<size>six/' all.xml >bad.xml
run "$HATF" dump bad.xml
check_status 'bad' 1
check_one_line 'bad' \
	'hatf dump: bad.xml: line 8, offset 0x*, record 4: size: malformed'

finish
