#!/bin/bash
# SPDX-License-Identifier: MIT
#
# memory.sh - conversion takes no more memory for a longer trace
#
# Convert a trace and one with ten times the events and the same live set.  Both
# conversions take the same memory, for every format, reading and writing.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# The tolerated difference for 900 000 more events, in KiB: less than five bytes
# each.  Huge pages and the order of threads make some difference.
BOUND=4096
EVENTS=100000

# make EVENTS: print a trace with a live set of at most 5000 blocks, always at
# new addresses, allocated by three threads at three sites.
make()
{
	awk -v events="$1" 'BEGIN {
		print "10 HATF ascii thread time attributes"
		for (i = 1; i <= 3; i++) {
			printf "10 HATF frame\\x0aframe=%d\\x0a", i
			printf "function=f%d\\x0a\n", i
			printf "10 HATF stack\\x0astack=%d\\x0a", i
			printf "parent=%d\\x0aframe=%d\\x0a\n", i - 1, i
		}
		for (i = 0; i < events; i++) {
			seed = (seed * 1103515245 + 12345) % 2147483648
			slot = int(seed / 65536) % 5000
			if (live[slot]) {
				printf "1 %d %d %d 4501\n", live[slot],
					slot % 3, i / 9
				live[slot] = 0
			} else {
				live[slot] = 65536 + 48 * ++count
				printf "0 %d %d %d %d 450%d\n", slot % 40 + 1,
					live[slot], slot % 3, i / 9,
					slot % 3 + 1
			}
		}
	}'
}

# compare WHAT SHORT LONG: the KiB for both traces differ by at most BOUND.
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

peak=$BUILD/tests/capture/programs/peak
"$HATF" formats | awk '/read|write/ && !/^ /' |
	while read -r format _ access; do
		echo "$format $access"
	done >formats
while read -r format access; do
	for size in short long; do
		if [ "$access" = 'read only' ]; then
			continue
		elif [ "$access" = 'write only' ]; then
			"$peak" "$HATF" convert -p -t "$format" "$size.hatf" -
		else
			"$peak" "$HATF" convert -p -t "$format" \
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

# A format that hatf only reads.
for events in "$EVENTS" "$((10 * EVENTS))"; do
	"$CLI/gperftools.py" "$events" >gperftools.raw || fail 'gperftools.py'
	"$peak" "$HATF" convert -p -t binary gperftools.raw - \
		>"$events.peak" 2>err || fail "gperftools: $(cat err)"
done
short=$(cat "$EVENTS.peak") long=$(cat "$((10 * EVENTS)).peak")
compare 'reading gperftools' "$short" "$long"
echo "gperftools: - $short - $long"
finish
