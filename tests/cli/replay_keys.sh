#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_keys.sh - hatf-replay(1) documents the keys of the JSON, and no others
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

page=$CLI/../../tools/man/hatf-replay.1

cat >trace.ascii <<END
10 HATF ascii thread heap time attributes
0 10 0x100 0 0 1
0 20 0x200 0 0 1
2 30 0x100 0x300 0 0 1
1 0x200 0 0 1
END
for extra in '' '-H page.html'; do
	# shellcheck disable=SC2086 # the words of an option
	run "$HATF" replay --json -a glibc -r 1 -o -l -u -w sizes:round=64 \
		$extra trace.ascii
	check_status "all options $extra" 0
	cat out >>printed.json
done
run "$HATF" replay --json -M first-fit trace.ascii
check_status --model 0
cat out >>printed.json
jq -r 'paths | .[] | strings' printed.json | sort -u >printed

# The names of keys are the words of '.Cm' and '.It Cm' in that section.
sed -n '/^\.Ss The JSON object/,/^\.S[hs] EXIT/p' "$page" |
	sed -n 's/^\.\(It \)\{0,1\}Cm //p' | tr -s ' ,.;' '\n' |
	grep '[a-z]' | sort -u >documented
check_text 'keys of the JSON, and those of the manual page' printed <documented
finish
