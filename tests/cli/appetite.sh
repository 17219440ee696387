#!/bin/bash
# SPDX-License-Identifier: MIT
#
# appetite.sh - small files keep to FORMAT "Limits" in time and memory
#
# Each case runs under a limit of processor time and of address space.  The
# limits are a few times the need, and a small part of what the case took before
# the library had a limit for it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A sanitizer maps more address space than any limit allows.
nm "$HATF" 2>/dev/null | grep -qE '__[at]san_init' && sanitized=1

# within SECONDS MIB COMMAND...: like run(), under limits.
within()
{
	local seconds=$1 mib=$2
	shift 2
	(
		ulimit -t "$seconds"
		[ -n "${sanitized-}" ] || ulimit -v "$((mib << 10))"
		exec "$@"
	) >out 2>err </dev/null
	status=$?
}

# ------------------------------------------------------- the end of a trace
for kind in magics members; do
	"$CLI/appetite.py" "$kind" >"$kind.hatf.gz" || fail "$kind"
	within 20 2000 "$HATF" tree "$kind.hatf.gz"
	check_status "$kind" 0
	grep -q '^7 no trailer' out || fail "$kind: $(cat out)"
done
# The trailer is found, whichever program has compressed the trace.
{ header pid=7 ppid=1 start_monotonic=1 && layout; } >whole.hatf
trailer whole.hatf 0 1
gzip <whole.hatf >gzip.hatf.gz
"$HATF" convert whole.hatf ours.hatf.gz || fail 'ours.hatf.gz'
for file in whole.hatf gzip.hatf.gz ours.hatf.gz; do
	run "$HATF" tree "$file"
	check_status "$file" 0
	grep -q '^7 ' out || fail "$file: $(cat out)"
	grep -q 'no trailer' out && fail "$file: $(cat out)"
done

# ------------------------------------------------- processes with the same id
# Each trace looks for its parent among all of them.
mkdir images
(cd images && "$CLI/appetite.py" images 20000) || fail images
within 8 200 "$HATF" tree images
check_status images 0
check 'lines of images' "$(wc -l <out)" 20000
rm -r images

# ------------------------------------------------ children that forge traces
# Their parents are in the reverse order of the files.
mkdir chain
# shellcheck disable=SC2016 # sh expands it
within 25 400 "$HATF" record --no-symbols -o chain/%e.%p.hatf -- sh -c \
	"cd chain && '$CLI/appetite.py' chain 20000 \$\$"
check_status chain 0
grep -q ' 200[0-9][0-9] traces of child processes' err ||
	fail "chain: $(cat err)"
rm -r chain

# --------------------------------------------------------- tables of stacks
# refused WHAT FIELD: the last run failed because of a limit on FIELD.
refused()
{
	check_status "$1" 1
	check_one_line "$1" "hatf *: $2: a limit of this library is exceeded"
}

"$CLI/appetite.py" heaptrack >stacks.heaptrack.gz || fail heaptrack
within 20 400 "$HATF" convert -p -t hatf stacks.heaptrack.gz -
refused heaptrack tables
within 20 400 "$HATF" info stacks.heaptrack.gz
refused 'heaptrack, info' tables

# limited SECONDS MIB FIELD KIND [ARGUMENT]...: the file of that kind exceeds a
# limit on FIELD.
limited()
{
	local seconds=$1 mib=$2 field=$3 what=$4
	shift 3
	"$CLI/appetite.py" "$@" >limited || fail "$what"
	within "$seconds" "$mib" "$HATF" info limited
	refused "$what" "$field"
}

# The size of a packet, the domains, the frames of a stack, and the total size
# of the tables.
limited 20 100 packet_size memtrace_packet
limited 20 100 domain memtrace_domains 129
"$CLI/appetite.py" memtrace_domains 128 >domains.ctf || fail '128 domains'
within 20 100 "$HATF" convert -p -t hatf domains.ctf -
check_status '128 domains' 0
limited 20 200 backtrace memtrace_depth
limited 20 500 location memtrace_names
# Before the tables' limit of 2^28 bytes included names, this file took 240 MB.
limited 20 100 line mtrace_line
limited 20 200 tables mtrace_names
limited 20 100 function mtrc_name
limited 60 1200 line mtrc_names

# 4000 groups unpack to 30 GB; they take 140 KB.
limited 20 200 group groups 4000

# 100000 records of Meta-TF have 10^11 values and take 9 KB, or 560 KB if they
# are not compressed.
limited 40 200 Meta-TF metatf_packed 100000
"$CLI/appetite.py" metatf 250 >less.mtf || fail less.mtf
within 60 200 "$HATF" info less.mtf
check_status 'less.mtf' 0

# In a profile, n stacks, each one frame deeper than the previous one, have n *
# n / 2 frames.
"$CLI/appetite.py" deep 8300 f >deep.ascii || fail deep
for format in folded dhat pprof; do
	within 60 1500 "$HATF" convert -p -t "$format" deep.ascii -
	refused "deep $format" stack
done
"$CLI/appetite.py" deep 2000 f >less.ascii || fail less
within 60 1500 "$HATF" convert -p -t folded less.ascii -
check_status less 0
check less "$(wc -lc <out | xargs)" '2000 4006000'
# Each frame repeats a long name.
"$CLI/appetite.py" deep 800 "$(printf 'f%.0s' $(seq 4000))" >long.ascii ||
	fail long
within 60 1500 "$HATF" convert -p -t folded long.ascii -
refused 'long names' stack

# ------------------------------------------------------------ live blocks
# 4 million blocks at 32 bytes each are 122 MiB, and take twice that in address
# space; at 64 bytes each, they would be 244 MiB.
awk 'BEGIN {
	print "10 HATF ascii time"
	for (i = 1; i <= 4000000; i++)
		printf "0 40 %d %d\n", 65536 + 64 * i, i
}' | "$HATF" convert -f ascii -t hatf - live.hatf.gz 2>err ||
	fail 'live.hatf.gz'
within 60 240 "$HATF" info live.hatf.gz
check_status info 0
# The check for overlaps needs no memory beyond the table of live blocks.
within 60 240 "$HATF" verify live.hatf.gz
check_status verify 0
finish
