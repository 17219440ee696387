#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hostile-names.sh - no name breaks an output of 'hatf diff' and 'hatf check'
#
# Functions, files, traces and limits with line breaks, control characters,
# invalid UTF-8, and what ends a string, a cell, a tag or CDATA.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'

# heaptrack's format can have any byte but a newline in a name.
cat >trace.py <<'END'
import sys
names = [b']]>', b'</failure><x>', b'&amp;&#0;', b'a|b', b'`code`',
         b'</script><!--', b'"},{"', b'\x01\x1b[31m\x7f',
         b'\xff\xfe \xc0\x80 \xed\xa0\x80', '\u202e\u2028'.encode(),
         '\uffff\ufffe'.encode(), b'::error::x', b'%0A::error::y',
         b'\\n\\x0a', b'**bold**', b'x\rX: ::error::z', b'x' * int(sys.argv[3])]
count = int(sys.argv[2])
out = open(sys.argv[1], 'wb')
out.write(b'v 10400 1\nX app\nI 1000 4000\n')
out.write(b's /d/app\n')
n = 1
for i, name in enumerate(names, 1):
    out.write(b's f%s\ns /d/%s.c\n' % (name, name))
    out.write(b'i %x 1 %x %x 7\nt %x 0\na 3e8 %x\n' %
              (i * 16, n + 1, n + 2, i, i))
    n += 2
for i in range(len(names)):
    for _ in range(count):
        out.write(b'+ %x\n' % i)
END
old=$'old\n::error::]]>|`.ht' new=$'new\x1b[31m<script>&".ht'
"$PYTHON" trace.py "$old" 1 5000
"$PYTHON" trace.py "$new" 3 5000

expr='site.live>0,site.allocations>1,live>0'
run "$HATF" diff --fail-on "$expr" --top 0 "$old" "$new"
check_status "diff: $(cat err)" 3
mv out diff.txt
run "$HATF" diff --fail-on "$expr" --top 0 --markdown "$old" "$new"
mv out diff.md
run "$HATF" diff --fail-on "$expr" --top 0 --json "$old" "$new"
mv out diff.json
run "$HATF" check --baseline base --update "$old"
check_status "update: $(cat err)" 0
limits=(--baseline base --limit 'site * live-at-end 1'
	--limit $'site "`|]]>\x01</script>" peak 1' --max-peak 1)
run "$HATF" check "${limits[@]}" --junit x.xml --sarif x.sarif --annotations \
	"$new"
check_status "check: $(cat err)" 3
mv out check.txt
run "$HATF" check "${limits[@]}" --markdown "$new"
mv out check.md
run "$HATF" check "${limits[@]}" --json "$new"
mv out check.json
"$PYTHON" - 17 2>err <<'END' || fail "$(tail -3 err)"
import json
import re
import sys
import xml.etree.ElementTree as tree

count = int(sys.argv[1])


def read(name):
    with open(name, encoding='utf-8', newline='') as f:
        text = f.read()
    # What a terminal or a viewer would obey.
    bad = re.search('[\x00-\x09\x0b-\x1f]' if name.endswith('.json') else
                    '[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]', text)
    assert not bad, (name, bad)
    return text


def strip_code(line):
    """Remove code, which ends with as many backticks as it begins with."""
    return re.sub(r'(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)', '', line)


def table(name, columns):
    rows = 0
    for line in read(name).splitlines():
        if line.startswith('|'):
            bars = re.findall(r'(?<!\\)\|', line)
            assert len(bars) == columns + 1, line
            rows += 1
        # Names are code, so nothing but code has tags and links.
        assert not re.search('[<`]', strip_code(line)), line
    return rows


for name in 'diff.txt', 'check.txt':
    for line in read(name).splitlines():
        if line.lstrip().startswith('::'):
            assert name == 'check.txt' and re.match(
                '::error (file=[^:,]*(,line=[0-9]+)?,)?title=[^:,]*::',
                line), line
widths = {len(re.findall(r'(?<!\\)\|', line))
          for line in read('diff.md').splitlines() if line.startswith('|')}
assert len(widths) <= 2, widths
for line in read('diff.md').splitlines():
    assert not re.search('[<`]', strip_code(line)), line
table('check.md', 3)
rows = json.loads(read('diff.json'))['rows']
assert len(rows) >= count, len(rows)
found = json.loads(read('check.json'))['limits'][0]
assert found['exceeded'] == count, found['exceeded']

root = tree.parse('x.xml').getroot()
cases = list(root.iter('testcase'))
assert len(cases) == int(root.get('tests')) == len(cases)
assert {child.tag for case in cases for child in case} == {
    'failure', 'skipped'}
assert not [node for case in cases for child in case for node in child]
sarif = json.loads(read('x.sarif'))
results = sarif['runs'][0]['results']
assert len(results) > count
for result in results:
    uri = result['locations'][0]['physicalLocation']['artifactLocation']['uri']
    assert re.fullmatch(r"(?:[-._~/:A-Za-z0-9]|%[0-9A-F]{2})+", uri), uri
END

# A name of 1 MB is refused.
"$PYTHON" trace.py huge.ht 1 1000000
run "$HATF" diff huge.ht huge.ht
check_status 'a name of 1 MB' 4
finish
