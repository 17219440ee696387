#!/bin/bash
# SPDX-License-Identifier: MIT
#
# ci-recipes.sh - the recipes of docs/ci.md do what the page says
#
# Writes the files of the page into a project with a leak, and runs their shell
# parts as the CI systems would, apart from the installation of hatf.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

PYTHON=$(python3 -c 'import sys; print(sys.executable)') || skip 'no python3'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'
page=$CLI/../../docs/ci.md
[ -f "$page" ] || skip 'no docs/ci.md'
case $BUILD in
/*) PATH=$BUILD:$PATH ;;
*) PATH=$CLI/../../$BUILD:$PATH ;;
esac

# The files of the page: the indented block below "<!-- file: NAME -->".
"$PYTHON" - "$page" <<'END'
import os
import re
import sys

with open(sys.argv[1]) as f:
    text = f.read()
for name, block in re.findall(
        r'<!-- file: (\S+) -->\n\n((?:    .*\n|\n)+)', text):
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, 'w') as f:
        f.write(re.sub('(?m)^    ', '', block.rstrip('\n')) + '\n')
END
check 'files of the page' "$(find . -type f | sort | xargs)" \
	./.github/workflows/heap.yml ./.gitlab-ci.yml ./Jenkinsfile ./ci/heap.sh

# A project whose test leaks.
mkdir src
cat >src/parse.c <<'END'
#include <stdlib.h>
void *table[8];
__attribute__((noinline)) void
parse_line(int i)
{
	table[i] = malloc(5000);
}
int
main(void)
{
	for (int i = 0; i < 8; i++)
		parse_line(i);
	for (int i = 0; i < 8 - LEAKED; i++)
		free(table[i]);
	return 0;
}
END
cat >Makefile <<'END'
LEAKED = 0
test: app
	./app
app: src/parse.c
	$(CC) -g -O1 -fno-builtin -DLEAKED=$(LEAKED) -o $@ $<
END
sed -n '/^    peak  /,/^    site/s/^    //p' "$page" >heap.limits
check 'limits of the page' "$(wc -l <heap.limits)" 4

export GITHUB_STEP_SUMMARY=$PWD/summary.md
make -s app
run sh ci/heap.sh --annotations
check_status "without a leak: $(cat out err)" 0
grep -q '^::error' out && fail 'an annotation without a leak'
for file in heap/junit.xml heap/heap.sarif heap/report.html; do
	[ -s "$file" ] || fail "no $file"
done

# The traces of an earlier run are not checked again.
rm app
make -s app LEAKED=1
step=$(sed -n 's/^ *run: \(sh ci.*\)/\1/p' .github/workflows/heap.yml)
check 'step of GitHub' "$step" 'sh ci/heap.sh --annotations'
run bash -eo pipefail -c "$step"
check_status 'with a leak' 3
grep -q '^::error file=src/parse.c,line=6,title=site parse_\* live-at-end 0::' \
	out || fail "annotation: $(cat out)"
summary=$("$PYTHON" - <<'END'
import re
with open('.github/workflows/heap.yml') as f:
    text = f.read()
print(' '.join(re.search(r'run: (hatf check(?:.|\n)*?true)\n',
                         text)[1].split()))
END
)
run bash -eo pipefail -c "$summary"
check_status 'summary' 0
grep -q 'parse_line (parse.c)' summary.md || fail "$(cat summary.md)"

# If the tests fail, their status counts, and all results are there.
rm app
make -s app LEAKED=1
mv Makefile Makefile.good
printf 'include Makefile.good\nfails: test; @exit 7\n' >Makefile
sed 's/make test/make fails/' ci/heap.sh >ci/fails.sh
rm -r heap
run sh ci/fails.sh
check_status 'tests that fail' 2
for file in heap/junit.xml heap/heap.sarif heap/report.html; do
	[ -s "$file" ] || fail "tests that fail: no $file"
done
mv Makefile.good Makefile

# GitLab and Jenkins run the same script.
script=$(sed -n '/^  script:/,/^  artifacts/s/^    - //p' .gitlab-ci.yml)
check 'script of GitLab' "$script" 'sh ci/heap.sh'
step=$(sed -n "s/^ *sh '\(.*\)'/\1/p" Jenkinsfile)
check 'step of Jenkins' "$step" 'sh ci/heap.sh'
rm -r heap
run sh -c "$script"
check_status 'the script of GitLab' 3
"$PYTHON" - <<'END' || fail 'JUnit of the recipe'
import xml.etree.ElementTree as tree

cases = tree.parse('heap/junit.xml').getroot().findall('.//testcase')
failed = [c.get('name') for c in cases if c.find('failure') is not None]
assert failed == ['site parse_* live-at-end 0'], failed
assert 'parse.c:6' in cases[3].find('failure').get('message')
END
"$PYTHON" -c 'import yaml' 2>/dev/null && {
	"$PYTHON" -c '
import yaml
for name in ".github/workflows/heap.yml", ".gitlab-ci.yml":
    with open(name) as f:
        assert yaml.safe_load(f)
' || fail 'YAML'
}

# The two ways of the page, in one step and with a baseline.
run hatf record --check heap.limits -- make test
check_status 'record --check' 3
for i in 1 2 3 4 5; do
	hatf record -o run.$i.hatf.gz ./app 2>>err
done
run hatf check --baseline heap.base --update run.?.hatf.gz
check_status 'baseline' 0
rm app
make -s app LEAKED=3
run hatf record -o new.hatf.gz ./app
run hatf check --baseline heap.base --fail-on 'peak>5%,site.live>64K' \
	new.hatf.gz
check_status 'growth below the limit' 0
run hatf record --baseline heap.base --fail-on 'peak>5%,site.live>64K' ./app
check_status 'growth below the limit, in one step' 0
run hatf record --baseline heap.base ./app
check_status 'growth, in one step' 3
run hatf check --baseline heap.base new.hatf.gz
check_status 'growth' 3
grep -q 'grew by 9.8 KiB, .* in parse_line (parse.c)' out ||
	fail "growth: $(cat out)"
finish
