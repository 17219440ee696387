#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# shortlived.sh - thousands of short threads are all traced, in bounded memory
#
# The trace has each of thousands of short threads with all its events.  The
# recorder's memory does not grow with their number, and a kill at any moment
# loses nothing.
#
#	ROUNDS=N	kills (default 8)
#	SEED=N		seed of the random moments
. "$(dirname "$0")/lib.sh"
ROUNDS=${ROUNDS:-8}
RANDOM=${SEED:-$$}
THREADS=5000
PAIRS=5

# tally FILE...: count the threads created, those that ended, those with the
# right number of blocks and frees, and the events of a thread before its birth
# or after its end.
tally()
{
	local file
	for file; do
		"$HATF" dump "$file"
	done | awk -v pairs=$PAIRS '
	{
		delete v
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
		t = v["thread"]
	}
	$2 == "createThread" && !("carried" in v) { created++; born[t] = 1 }
	$2 == "destroyThread" { ended++; over[t] = 1; next }
	t > 0 && !(t in born) || t in over { astray++ }
	# A segment begins with the blocks that are live, which the segment
	# before has, too.
	$2 == "alloc" && v["size"] == 5000 {
		blocks[t] += !("carried" in v)
		block[v["addr"]] = 1
	}
	$2 == "free" && v["addr"] in block {
		frees[t]++
		delete block[v["addr"]]
	}
	END {
		for (t in born)
			whole += blocks[t] == pairs && frees[t] == pairs
		print created + 0, ended + 0, whole + 0, astray + 0
	}'
}

for at_once in 1 8; do
	what="$at_once at once"
	file=all-$at_once.gz
	trace $file "$PROGS/shortlived" $THREADS $at_once $PAIRS count \
		"$file.rings" >rings.txt
	check "$what: status" $? 0
	clean $file
	check "$what: threads" "$(info $file threads)" $((THREADS + 1))
	read -r created ended whole astray < <(tally $file)
	check "$what: births" "$created" $THREADS
	check_ge "$what: ends" "$ended" $((THREADS - at_once))
	check "$what: with all that they did" "$whole" $THREADS
	check "$what: events of no thread" "$astray" 0
	# Each mapping is one ring.  At any time, few rings of ended threads
	# still wait for their last block to be written.
	[ -s rings.txt ] || echo "no ring file: its size is not checked"
	while read -r nbytes rings; do
		echo "$what: ring file $nbytes bytes, $rings mappings"
		check_le "$what: rings" "$rings" $((56 + 4 * at_once))
		check_le "$what: bytes" "$nbytes" \
			$(((56 + 4 * at_once) * 73728 + 200000))
	done <rings.txt
done

# A thread's ring continues in another segment, and in another thread.  The
# trace has about 500 KB.  A writer that the kernel delays writes much of it in
# one round, and so begins fewer segments.
HATFTRACE_ROTATE=64K HATFTRACE_COMPRESS=none trace seg.hatf \
	"$PROGS/shortlived" $THREADS 4 $PAIRS count
check "segments: status" $? 0
files=(seg.s*.hatf)
check_ge "segments" ${#files[@]} 2
clean "${files[@]}"
read -r created ended whole astray < <(tally "${files[@]}")
check "segments: births" "$created" $THREADS
check "segments: with all that they did" "$whole" $THREADS
check "segments: events of no thread" "$astray" 0

# counters: print how many calls had returned, and how many had begun.
counters()
{
	od -A n -t u8 -w16 count
}

stat -f -c %T . | grep -qE 'ext|xfs|tmpfs|overlay|btrfs|f2fs' || finish
settings=('' HATFTRACE_BEGIN=now HATFTRACE_BUFFER=4K HATFTRACE_CLOCK=ns)
total=0
for round in $(seq "$ROUNDS"); do
	rm -rf k.gz* count
	at_once=$((RANDOM % 12 + 1))
	setting=${settings[RANDOM % ${#settings[@]}]}
	what="kill $round: $at_once at once, ${setting:-defaults}"
	# shellcheck disable=SC2086 # no setting is no word
	env $setting HATFTRACE_OUT=k.gz LD_PRELOAD="$SO" "$PROGS/shortlived" \
		100000000 $at_once $PAIRS count &
	victim=$!
	until [ -s count ] &&
		[ "$(counters | awk '{ print ($1 > 50) }')" = 1 ]; do
		sleep 0.01
	done
	# Events survive a kill from the moment when the ring file exists.
	until [ -s k.gz.rings ]; do sleep 0.01; done
	sleep "0.$(printf %03d $((RANDOM % 300)))"
	kill -9 $victim
	wait $victim 2>/dev/null
	"$HATF" recover k.gz >recovered.out 2>&1 ||
		fail "$what: recover: $(cat recovered.out)"
	clean k.gz
	check "$what: complete" "$(trailer k.gz complete)" 1
	read -r allocated freed < <(counters)
	read -r allocs frees astray < <("$HATF" dump k.gz | awk '
	{
		delete v
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
		t = v["thread"]
	}
	$2 == "createThread" { born[t] = 1 }
	$2 == "destroyThread" { delete born[t]; next }
	t > 0 && !(t in born) { astray++ }
	$2 == "alloc" && v["size"] == 5000 { allocs++; block[v["addr"]] = 1 }
	$2 == "free" && v["addr"] in block { frees++; delete block[v["addr"]] }
	END { print allocs + 0, frees + 0, astray + 0 }')
	check_ge "$what: blocks" "$allocs" "$allocated"
	check_le "$what: blocks" "$allocs" $((allocated + at_once))
	check_le "$what: frees" "$frees" "$freed"
	check_ge "$what: frees" "$frees" $((freed - at_once))
	check "$what: events of no thread" "$astray" 0
	total=$((total + allocated))
done
echo "$ROUNDS kills, $total blocks"
finish
