#!/bin/bash
# SPDX-License-Identifier: MIT
#
# long-names.sh - a long name is cut in its middle, between two characters
#
# Sites with different names are different sites, however long the names are
# and wherever they differ.  What is printed is valid UTF-8, and JSON has all
# keys.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
command -v jq >/dev/null || skip 'no jq'

# trace.py SIZE writes a trace as JSON: for each line NAME, FILE, LINE of
# standard input, a site with two blocks of less than SIZE bytes.
cat >trace.py <<'END'
import json
import sys


def put(**record):
    print(json.dumps(record))


def comment(kind, **pairs):
    lines = ''.join(f'{key}={value}\n' for key, value in pairs.items())
    put(tag='comment', text=f'HATF {kind}\n{lines}')


comment('1.0', producer='test', clock='us', unit='us')
for i, line in enumerate(sys.stdin, 1):
    name, file, number = eval(line)
    comment('frame', frame=i, function=name, file=file, line=number)
    comment('stack', stack=i, parent=0, frame=i)
    for block in (2 * i, 2 * i + 1):
        put(tag='alloc', size=int(sys.argv[1]) - i, address=hex(4096 * block),
            thread=0, heap=0, time=10 * block, attributes=f'45{i:02x}')
comment('end', complete=1, end='exit', events=2 * i, records=1 + 4 * i, lost=0,
        threads=1, time=10 * block)
END

cat >names <<'END'
'std::x<' + 'y' * 3000 + '>::one()', '/src/a.c', 1
'std::x<' + 'y' * 3000 + '>::two()', '/src/b.c', 2
'f(' + 'x' * 3000 + 'A' + 'x' * 3000 + ')', 'c.c', 3
'f(' + 'x' * 3000 + 'B' + 'x' * 3000 + ')', 'c.c', 3
'\u00e9' * 1500, 'd.c', 4
'a' + '\u00e9' * 1500, 'd.c', 5
'\u20ac' * 1000, 'd.c', 6
'a' + '\u20ac' * 1000, 'd.c', 7
'ab' + '\u20ac' * 1000, 'd.c', 8
END
"$PYTHON" trace.py 1000 <names >long.json
"$PYTHON" trace.py 2000 <names >twice.json

# check_utf8 WHAT: standard output is valid UTF-8.
check_utf8()
{
	iconv -f UTF-8 -t UTF-8 out >/dev/null 2>&1 ||
		fail "$1: invalid UTF-8"
}

for by in site function stack; do
	run "$HATF" stat --by "$by" --top 0 long.json
	check_status "stat --by $by: $(cat err)" 0
	check_utf8 "stat --by $by"
	mv out text
	run "$HATF" stat --by "$by" --top 0 --json long.json
	check_utf8 "stat --by $by --json"
	check "by $by: rows" "$(jq '.rows | length' out)" 9
	check "by $by: names" \
		"$(jq -r '.rows[].name' out | sort -u | wc -l)" 9
	check "by $by: blocks" \
		"$(jq -c '[.rows[].allocated.blocks] | unique' out)" '[2]'
	for end in '>::one()' '>::two()'; do
		jq -r '.rows[].name' out | grep -qF "y$end" ||
			fail "by $by: no name has $end"
	done
done
run "$HATF" stat --by site --top 0 --json long.json
for end in 'one() (/src/a.c:1)' 'two() (/src/b.c:2)' ' (d.c:4)'; do
	jq -r '.rows[].name' out | grep -qF -- "$end" ||
		fail "no name ends in $end"
done
jq -r '.rows[].name' out | awk 'length > 2047' | grep . &&
	fail 'a name of more than 2 KB'

run "$HATF" report --json --top 0 long.json
check_utf8 'report'
check 'report: names' "$(jq -r '.at_end[].name' out | sort -u | wc -l)" 9
run "$HATF" leaks --json --top 0 long.json
check_utf8 'leaks'

# diff: names without lines, otherwise as before.
run "$HATF" diff --json --top 0 long.json twice.json
check_utf8 'diff'
check 'diff: names' "$(jq -r '.rows[].name' out | sort -u | wc -l)" 9
run "$HATF" dump --stacks long.json
check_utf8 'dump'

# The page cuts names as well.
run "$HATF" report --html page.html long.json
check_utf8 'page'
"$PYTHON" - page.html <<'END' || fail 'the page has not all names'
import json
import re
import sys

page = open(sys.argv[1], encoding='utf-8').read()
data = json.loads(re.search(r'id="data">([^<]*)<', page).group(1))
trace = data['traces'][0]
names = {trace['strings'][i] for i in trace['frames']['function']} - {''}
assert len(names) >= 9, len(names)
for end in '::one()', '::two()':
    assert [name for name in names if name.endswith(end)], end
assert '\\x' not in ''.join(names)
END
finish
