#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record-baseline.sh - 'hatf record --baseline' finds growth as 'check' does
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'

cat >program.c <<'END'
#include <stdlib.h>
void *kept[20];
__attribute__((noinline)) void
keep(int n)
{
	for (int i = 0; i < n; i++)
		kept[i] = malloc(1000);
	__asm__ volatile("");
}
int
main(int argc, char **argv)
{
	keep(argc > 1 ? atoi(argv[1]) : 0);
	return argc > 2 ? atoi(argv[2]) : 0;
}
END
gcc -g -O1 -fno-builtin -o program program.c || fail 'gcc failed'
for i in 1 2 3; do
	"$HATF" record -o old.$i.hatf ./program 5 2>err || fail "$(cat err)"
done
"$HATF" check --baseline heap.base --update old.?.hatf >out 2>&1 ||
	fail "update: $(cat out)"
cp heap.base before

# Also if other programs of the tree are traced.
for command in './program 5' 'sh -c "./program 5; true"'; do
	run sh -c "'$HATF' record --baseline heap.base -o r.%p.hatf $command"
	check_status "no growth, $command: $(cat err)" 0
done
run "$HATF" record --baseline heap.base -o more.hatf ./program 9
check_status 'growth' 3
grep -q 'live at the end grew by 3.9 KiB, .* in the program' err ||
	fail "growth: $(cat err)"
# As 'hatf check' has it.
"$HATF" check --baseline heap.base "$PWD/more.hatf" >want 2>&1
check 'the result' "$(tail -n "$(wc -l <want)" err)" "$(cat want)"
run "$HATF" record --baseline heap.base --fail-on 'live>4100' -o r.hatf \
	./program 9
check_status "growth below the limit: $(cat err)" 0
run "$HATF" record --baseline heap.base --fail-on 'site.live>3999' \
	--junit r.xml --sarif r.sarif -o r.hatf ./program 9
check_status 'growth of a site' 3
grep -q 'in keep (program.c)' r.xml || fail "JUnit: $(cat r.xml)"
grep -q 'in keep (program.c)' r.sarif || fail "SARIF: $(cat r.sarif)"

# With limits, both count.
echo 'peak 1G' >fine.limits
echo 'peak 1' >small.limits
run "$HATF" record --check fine.limits --baseline heap.base -o r.hatf \
	./program 9
check_status 'limits and growth' 3
run "$HATF" record --check small.limits --baseline heap.base -o r.hatf \
	./program 5
check_status 'a limit without growth' 3
run "$HATF" record --baseline heap.base -o r.hatf ./program 9 7
check_status 'the status of the command' 7

# Other programs, and traces that do not fit the baseline.
run "$HATF" record --baseline heap.base -G -o bare.hatf ./program 5
check_status 'no stacks' 1
grep -q 'has no call stacks, but the baseline has them' err ||
	fail "no stacks: $(cat err)"

# What is wrong is said before the command runs.
echo '{}' >other.base
for options in '--baseline none.base' '--baseline other.base' '--baseline -' \
	'--fail-on any' '--check fine.limits --fail-on any' \
	'--baseline heap.base --fail-on nonsense' '--junit r.xml'
do
	# shellcheck disable=SC2086 # options
	run "$HATF" record $options -o r.hatf touch it.ran
	check_status "$options" 2
	check_one_line "$options" 'hatf record: *'
done
[ ! -e it.ran ] || fail 'the command ran'
cmp -s heap.base before || fail 'the baseline was changed'
finish
