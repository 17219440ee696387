#!/bin/bash
# SPDX-License-Identifier: MIT
#
# memory.sh - conversion takes no more memory for a longer trace
#
# The memory that a conversion takes does not grow with the trace: ten times
# the events with the same live set take as much, in every format, both ways.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# What more there may be for 900 000 more events, in KiB: less than five bytes
# each.  Chunks of huge pages and the order of threads make some difference.
BOUND=4096
EVENTS=100000

# make EVENTS: a live set of at most 5000 blocks, at ever new addresses, by
# three threads at three sites
make()
{
	awk -v events="$1" 'BEGIN {
		print "10 HATF ascii thread time attributes"
		for (i = 1; i <= 3; i++) {
			printf "10 HATF frame\\x0aframe=%d\\x0afunction=f%d\\x0a\n", i, i
			printf "10 HATF stack\\x0astack=%d\\x0aparent=%d\\x0aframe=%d\\x0a\n",
				i, i - 1, i
		}
		for (i = 0; i < events; i++) {
			seed = (seed * 1103515245 + 12345) % 2147483648
			slot = int(seed / 65536) % 5000
			if (live[slot]) {
				printf "1 %d %d %d 4501\n", live[slot], slot % 3, i / 9
				live[slot] = 0
			} else {
				live[slot] = 65536 + 48 * ++count
				printf "0 %d %d %d %d 450%d\n", slot % 40 + 1, live[slot],
					slot % 3, i / 9, slot % 3 + 1
			}
		}
	}'
}

# compare WHAT SHORT LONG
compare()
{
	[ -n "$2" ] && [ -n "$3" ] && [ "$3" -le "$(($2 + BOUND))" ] ||
		fail "$1: $3 KiB for ten times the events of $2 KiB"
}

make "$EVENTS" >short.ascii
make "$((10 * EVENTS))" >long.ascii
for size in short long; do
	"$HATF" convert -p "$size.ascii" "$size.hatf" || fail "$size"
done

"$HATF" formats | awk '/read|write/ && !/^ /' | while read -r format _ access; do
	echo "$format $access"
done >formats
while read -r format access; do
	for size in short long; do
		if [ "$access" = 'read only' ]; then
			continue
		elif [ "$access" = 'write only' ]; then
			"$BUILD/tests/capture/programs/peak" "$HATF" convert -p -t "$format" \
				"$size.hatf" -
		else
			"$BUILD/tests/capture/programs/peak" "$HATF" convert -p -t "$format" \
				"$size.hatf" - -- \
				"$HATF" convert -p -f "$format" -t binary - -
		fi >"$size.peak" 2>err || fail "$format: $(cat err)"
	done
	[ "$access" = 'read only' ] && continue
	compare "writing $format" "$(sed -n 1p short.peak)" \
		"$(sed -n 1p long.peak)"
	[ "$access" = 'write only' ] ||
		compare "reading $format" "$(sed -n 2p short.peak)" \
			"$(sed -n 2p long.peak)"
	echo "$format: $(paste -sd ' ' short.peak) $(paste -sd ' ' long.peak)"
done <formats

# What only others write.
for events in "$EVENTS" "$((10 * EVENTS))"; do
	"$CLI/gperftools.py" "$events" >gperftools.raw || fail 'gperftools.py'
	"$BUILD/tests/capture/programs/peak" "$HATF" convert -p -t binary gperftools.raw - \
		>"$events.peak" 2>err || fail "gperftools: $(cat err)"
done
compare 'reading gperftools' "$(cat "$EVENTS.peak")" "$(cat "$((10 * EVENTS)).peak")"
echo "gperftools: - $(cat "$EVENTS.peak") - $(cat "$((10 * EVENTS)).peak")"
finish
