#!/bin/bash
# SPDX-License-Identifier: MIT
#
# harmless.sh - text of a hostile trace cannot act in a spreadsheet or terminal
#
# In a spreadsheet no cell is a formula, whichever character separates cells.
# On a terminal no character is a control character.  Still hatf reads back the
# same bytes from each output format.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

python=$(command -v python3) || skip 'no python3'

# Characters that begin a formula, in both widths and after each character that
# may separate cells; both ranges of control characters, and marks of direction;
# the text of escapes; and each after 4 KiB, where a writer's buffer ends.
"$python" - >texts <<'EOT'
formulas = ['=1+1', '+1', '-1', '@SUM(1)', '=cmd|"/c calc"!A1', '\t=1', '\r=1',
            '\uff1d1', '\uff0b1', '\uff0d1', '\uff201']
steers = ['\x1b[2J', '\x7f', '\x80', '\x9b2J', '\x9f', '\u200e', '\u202e',
          '\u2028', '\u2066', '\x00']
texts = formulas + steers
for separator in ',;"\'':
    texts += ['x' + separator + f for f in formulas]
texts += ['a=1', 'x -y +z', '\\x3d', '\\\\x3d1', '"', '""', '"=', 'é', '€',
          '😀', '']
for pad in (4094, 4095, 4096):
    texts += ['x' * pad + t for t in (',=1', '\x9b', '"=1', 'é', '\u202e')]
for t in texts:
    print(t.encode().hex())
EOT
{
	header clock=us unit=us pid=4242 \
		$'command==1+1\xc2\x9b2J\x7f\xe2\x80\xae'
	layout
	alloc 24 0x5581c0 0 0 17
	while read -r hex; do
		# shellcheck disable=SC2001
		comment "$(sed 's/../\\x&/g' <<<"$hex")"
	done <texts
	comment '=\xff\x9b' # no UTF-8
} >all.hatf
trailer all.hatf 1 $((3 + $(wc -l <texts)))
run "$HATF" verify all.hatf
check_status 'the trace' 0
run "$HATF" convert all.hatf whole.json

for format in csv json xml ascii; do
	run "$HATF" convert --to $format all.hatf all.$format
	check_status "to $format" 0
	run "$HATF" convert --from $format all.$format back.hatf
	check_status "from $format" 0
	run "$HATF" convert back.hatf back.json
	cmp -s back.json whole.json || fail "$format and back: differs"
	"$HATF" dump --format $format all.hatf >dumped.$format 2>/dev/null
done
run "$HATF" convert --to dhat all.hatf all.dhat
"$HATF" dump all.hatf >dumped.text
"$HATF" info all.hatf >info.text
"$HATF" info --json all.hatf >info.json
"$HATF" tree --json all.hatf >tree.json
cp all.hatf '=1+1;@x.hatf'
"$HATF" tables --runs 0 --csv tables.csv '=1+1;@x.hatf' >tables.text
grep -q 'x3d1+1' tables.csv || fail 'tables: no such name'

"$python" - all.csv dumped.csv all.json dumped.json all.xml dumped.xml \
	all.ascii dumped.ascii all.dhat dumped.text info.text info.json \
	tree.json tables.csv tables.text >said <<'EOT'
import csv, re, sys
steers = re.compile('[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e'
                    '\u2066-\u2069]')
for name in sys.argv[1:]:
    text = open(name, encoding='utf-8', newline='').read()
    if not text:
        print(name, 'is empty')
    found = steers.search(text)
    if found:
        print(name, 'steers:', ascii(text[found.start() - 20:found.end() + 5]))
    if not name.endswith('.csv'):
        continue
    for between in ',;':
        for quote in '"\'':
            for row in csv.reader(text.split('\n'), delimiter=between,
                                  quotechar=quote):
                for cell in row:
                    if re.match('[=+@\t\r\uff1d\uff0b\uff0d\uff20]|-.', cell):
                        print(name, between, quote, ascii(cell[:40]))
# A reader that undoes the escapes gets the original text.
rows = list(csv.reader(open('all.csv', encoding='utf-8', newline='')))
said = [re.sub(rb'\\x([0-9a-f]{2})', lambda m: bytes.fromhex(m[1].decode()),
               row[-1].encode()) for row in rows if row[0] == 'comment']
for line in open('texts'):
    if bytes.fromhex(line) not in said:
        print('all.csv lacks', line[:80])
import json
said = [r.get('text') for r in map(json.loads, open('all.json'))]
for line in open('texts'):
    if bytes.fromhex(line).decode() not in said:
        print('all.json lacks', line[:80])
EOT
[ -s said ] && fail "$(head -n 20 said)"
finish
