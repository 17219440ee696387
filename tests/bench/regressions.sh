#!/bin/bash
# SPDX-License-Identifier: MIT
#
# regressions.sh - regressions of open programs, found end to end
#
# usage: tests/bench/regressions.sh [--sources DIR] [--xsd FILE]
#
# Builds xmlwf of expat, zopfli and jq from Debian's source packages as they
# are, and with a change that causes a leak, a hot site or a higher peak.  All
# allocations of jq go through functions of its own, jv_mem_alloc() and others.
# Records both, and requires that 'hatf check', 'diff', 'leaks' and 'report'
# each name the site, with the right status, JUnit and SARIF.  Downloads the
# packages, unless DIR has their folders, and the schema of SARIF from npm.
# With --xsd, the JUnit files must fit that schema, too.  Needs dpkg-dev, npm,
# xmllint, python3-jsonschema and python3-junitparser.
set -u
cd "$(dirname "$0")/../.." || exit 2
hatf=$PWD/${BUILD:-build/plain}/hatf
# shellcheck source=tests/bench/parts/sources.sh disable=SC1091
. tests/bench/parts/sources.sh
# The one for which Debian's packages are.
python=/usr/bin/python3
schemas=("$PWD/tests/data/junit.xsd") sources='' wrappers=()
while [ $# -gt 1 ]; do
	case $1 in
	--sources) sources=$(realpath "$2") ;;
	--xsd) schemas+=("$(realpath "$2")") ;;
	*) break ;;
	esac
	shift 2
done
[ $# -eq 0 ] && [ -x "$hatf" ] || {
	sed -n '/^# usage/s/^# //p' "$0" >&2
	exit 2
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# names COMMAND STATUS WANTED OPTION...: the command must exit so and say so.
names()
{
	local command=$1 want=$2 text=$3 status
	shift 3
	"$hatf" "$command" "${wrappers[@]}" "$@" >out 2>err
	status=$?
	[ $status -eq "$want" ] ||
		fail "$case: $command: status $status, want $want: $(cat err)"
	grep -q -- "$text" out || fail "$case: $command: no '$text': $(cat out)"
}

# lives SITE: 'hatf leaks' names the site of the new build, and can fail by it.
lives()
{
	names leaks 0 "$1" new.hatf
	# The first site is the one with most bytes.
	sed -n 2p out | grep -q " $1 " || fail "$case: leaks: $(cat out)"
	names leaks 3 "$1" --fail-over 1K new.hatf
}

# dies SITE: its blocks are freed, so 'hatf leaks' does not name it.
dies()
{
	names leaks 0 '' new.hatf
	grep -q " $1 " out && fail "$case: leaks: $(cat out)"
}

# valid NAME COUNTS: the JUnit and SARIF fit their schemas, and an independent
# reader finds these tests, failures, errors, test cases and their outcomes.
valid()
{
	local schema

	for schema in "${schemas[@]}"; do
		xmllint --noout --schema "$schema" "$1.xml" 2>err ||
			fail "$case: $1.xml: $schema: $(cat err)"
	done
	[ "$($python -c '
import sys
from junitparser import JUnitXml
suite, = JUnitXml.fromfile(sys.argv[1])
print(suite.tests, suite.failures, suite.errors, len(list(suite)),
      sum(len(case.result) for case in suite))' "$1.xml" 2>err)" = "$2" ] ||
		fail "$case: $1.xml as junitparser reads it: $(tail -1 err)"
	$python - package/lib/schemas/sarif-2.1.0-rtm.5.json "$1.sarif" \
		2>err <<'PY' || fail "$case: $1.sarif: $(tail -1 err)"
import json
import sys

import jsonschema

schema, sarif = (json.load(open(name)) for name in sys.argv[1:])
jsonschema.validate(sarif, schema)
PY
}

# judge MEASURE SITE EXPRESSION LIMIT OPTION...: compare the two builds, in
# which the site grew by more than the expression says.
judge()
{
	local measure=$1 site=$2 expression=$3 limit=$4 build
	shift 4
	rm -f ./*.hatf base
	for build in old new; do
		"$hatf" record -o $build.hatf ./$build "$@" >/dev/null 2>err ||
			fail "$case: record: $(cat err)"
	done
	names check 0 written --baseline base --update old.hatf
	names check 0 '1 limit, 0 exceeded' --baseline base --junit old.xml \
		--sarif old.sarif old.hatf
	names check 3 "$measure grew by .* in $site" --baseline base \
		--fail-on "$expression" --junit new.xml --sarif new.sarif \
		new.hatf
	valid old '2 0 0 2 0' && valid new '2 1 0 2 1'
	grep -q '<failure' old.xml && fail "$case: JUnit of the old build"
	grep -A 3 '<failure' new.xml | grep -q "$site" ||
		fail "$case: JUnit: $(cat new.xml)"
	grep -q "$site" new.sarif || fail "$case: SARIF: $(cat new.sarif)"
	names check 0 '^ok ' --limit "site $site $limit" old.hatf
	# Findings of a site, the process, the tree and a thread.
	printf 'peak 1G\n\nsite %s %s\n' "$site" "$limit" >heap.limits
	names check 3 "^ *$site .* in " --limits heap.limits --max-allocs 1 \
		--limit 'tree allocs 1' --limit 'thread 0 allocs 1' \
		--junit new.xml --sarif new.sarif new.hatf
	valid new '6 4 0 6 4'
	grep -A 3 'heap.limits:3' new.xml | grep -q "<failure.*$site" ||
		fail "$case: JUnit of limits: $(cat new.xml)"
	names diff 3 "exceeded: $expression: $measure grew by .* in $site" \
		--fail-on "$expression" old.hatf new.hatf
	# The first line below the heading is that of the site.
	grep -A 1 ' site$' out | tail -1 | grep -q " $site " ||
		fail "$case: diff: $(cat out)"
	names diff 0 '^0 of ' --fail-on any old.hatf old.hatf
	names report 0 "$site" new.hatf
	echo "$case: $("$hatf" check "${wrappers[@]}" --baseline base \
		--fail-on "$expression" new.hatf |
		sed -n "/$measure grew .* in $site/s/^ *\(.*\);.*/\1/p")"
}

find_sources || exit 1
npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0 >/dev/null &&
	tar -xzf microsoft-jest-sarif-*.tgz || exit 1
make_inputs
copy_sources || exit 1

case='a leak in expat'
cp -r expat leak && leak_expat leak
build_expat expat old && build_expat leak new || exit 1
judge 'bytes live at the end' addBinding 'site.live>1K' 'live-at-end 0' \
	-n in.xml
names leaks 0 '^0 B in 0 blocks\|: 0 B\|nothing' old.hatf
lives addBinding

case='a hot site in expat'
cp -r expat hot
# The change: free an element's memory instead of keeping it for the next one.
sed -i '/^        tag->parent = parser->m_freeTagList;$/,/m_tagLevel == 0)$/{
	/m_freeTagList/d
	s/^        if ((parser/        FREE(parser, tag->buf);\
        FREE(parser, tag);\
&/
}' hot/expat/lib/xmlparse.c
build_expat hot new || exit 1
judge allocations doContent 'site.allocations>100' 'allocs 100' -n in.xml
dies doContent

case='a peak in zopfli'
cp -r zopfli peak
sed -i 's/^#define ZOPFLI_CACHE_LENGTH 8/#define ZOPFLI_CACHE_LENGTH 32/' \
	peak/src/zopfli/util.h
build_zopfli zopfli old && build_zopfli peak new || exit 1
judge peak ZopfliInitCache 'site.peak>5%' 'peak 1M' --i1 -c in.txt
dies ZopfliInitCache

wrappers=(--wrapper 'jv_mem_*')
build_jq jq old || exit 1

case='a leak in jq'
cp -r jq jqleak && leak_jq jqleak
build_jq jqleak new || exit 1
judge 'bytes live at the end' jvp_string_alloc 'site.live>1K' 'live-at-end 0' \
	'.name | length' in.json
lives jvp_string_alloc

case='a hot site in jq'
cp -r jq jqhot
# Memory for a token is not kept for the next one.
sed -i '/^  p->tokenpos = 0;$/c\
  jv_mem_free(p->tokenbuf);\
  p->tokenbuf = 0;\
  p->tokenlen = p->tokenpos = 0;
s/tokenpos >= (p->tokenlen - 1)/tokenpos + 1 >= p->tokenlen/
' jqhot/src/jv_parse.c
build_jq jqhot new || exit 1
judge allocations tokenadd 'site.allocations>100' 'allocs 200' .id in.json
dies tokenadd

case='more bytes in jq'
cp -r jq jqlarge
# The first stack of the interpreter is larger than needed.
sed -i '/^static void stack_reallocate/,/^}/s/+ 256) \* 2/+ 512) * 512/' \
	jqlarge/src/exec_stack.h
build_jq jqlarge new || exit 1
judge 'bytes allocated' stack_reallocate 'site.allocated>1M' 'allocated 2M' \
	.id in.json
dies stack_reallocate

echo "regressions.sh: $failures failures"
[ $failures -eq 0 ]
