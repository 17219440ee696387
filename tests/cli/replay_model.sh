#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_model.sh - 'hatf replay --model' simulates the allocators of textbooks
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

timeout 250 python3 "$CLI/replay_model.py" "$HATF" 50 ||
	fail 'a model of a random trace'

# A hole of 160 bytes and one of 48: first fit takes the large one for 40 bytes,
# so 160 bytes then have to go to the end.
first_line='10 HATF ascii thread heap time attributes'
printf '%s\n' "$first_line" '0 160 0x1000 0 0 1' '0 16 0x2000 0 0 1' \
	'0 48 0x3000 0 0 1' '0 16 0x4000 0 0 1' '1 0x1000 0 0 1' \
	'1 0x3000 0 0 1' '0 40 0x5000 0 0 1' '0 160 0x6000 0 0 1' >fits.ascii
run "$HATF" replay -M first-fit -M best-fit fits.ascii
check_status 'fits' 0
check 'first fit' "$(grep '^first-fit' out | tr -s ' ')" \
	'first-fit 400 B 1.667 240 B 400 B 1.724 160 B 0'
check 'best fit' "$(grep '^best-fit' out | tr -s ' ')" \
	'best-fit 240 B 1.000 240 B 240 B 1.034 0 B 0'
run "$HATF" replay -m -M first-fit fits.ascii
check 'Markdown' "$(grep -c '^|' out)" 3

# Changes and windows apply: the peak is that of the window.
run "$HATF" replay --json -M first-fit -w sizes:round=1024 fits.ascii
check 'a change' "$(jq '.models[0].peak_heap_bytes' out)" 4096
run "$HATF" replay --json -M first-fit --from 6 --to 7 fits.ascii
check 'a window' "$(jq -c '[.begin_bytes, .models[0].peak_heap_bytes]' out)" \
	'[32,80]'

printf '%s\n' "$first_line" '0 9223372036854775807 0x1000 0 0 1' >huge.ascii
run "$HATF" replay -M first-fit huge.ascii
check_status 'a huge block' 1
check_one_line 'a huge block' \
	'hatf replay: first-fit: the heap would exceed 2^63 bytes'
for text in '' fit segregated segregated: segregated:glibc 'segregated:16,' \
	segregated:16,16 segregated:-1 segregated:99999999 segregated:1x; do
	run "$HATF" replay -M "$text" fits.ascii
	check_status "--model '$text'" 2
	check_one_line "--model '$text'" 'hatf replay: --model: invalid model*'
done
for option in --check --latency --usable '-a glibc' '--html x' \
	'-f wall>1s -a glibc'; do
	# shellcheck disable=SC2086 # several words
	run "$HATF" replay -M first-fit $option fits.ascii
	check_status "--model $option" 2
done
finish
