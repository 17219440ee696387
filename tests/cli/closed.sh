#!/bin/bash
# SPDX-License-Identifier: MIT
#
# closed.sh - no file takes the place of a standard stream that is closed
#
# Otherwise a message goes into the file that 'hatf' writes, or the replay loses
# the compiled trace.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

first_line='10 HATF ascii thread heap time attributes'
printf '%s\n' "$first_line" '0 100 0x1000 0 0 1' '1 0x1000 0 0 1' >good.ascii
printf '%s\n' "$first_line" '0 100 0x1000 0 0 1' '0 x' >bad.ascii

run "$HATF" convert bad.ascii want.csv
check_status 'convert' 1
"$HATF" convert bad.ascii got.csv <&- 2>&-
check 'convert without streams' $? 1
cmp want.csv got.csv || fail 'a message is in the output'

"$HATF" replay -r 1 -a glibc -H page.html good.ascii 2>err >&-
check 'replay without standard output' $? 1
check 'replay without standard output' "$(cat err)" \
	'hatf replay: standard output: Bad file descriptor'
[ -s page.html ] || fail 'no page'
"$HATF" replay -r 1 -a glibc good.ascii >out <&- 2>&-
check 'replay with standard output alone' $? 0
grep -q '^glibc ' out || fail "no table: $(cat out)"
status=0
"$HATF" info - <&- 2>err || status=$?
check 'no standard input' "$status" 1
check_one_line 'no standard input' 'hatf info: *Bad file descriptor'

# The recorded program finds the streams closed, too.
# shellcheck disable=SC2016 # not for this shell
"$HATF" record --follow none -G -o sh.hatf.gz -- sh -c '
	for i in 0 1 2; do
		[ -e /proc/$$/fd/$i ] && echo "$i is open" >>open
	done
	exit 3' <&- >&- 2>&-
check 'record' $? 3
[ ! -e open ] || fail "record: $(cat open)"
finish
