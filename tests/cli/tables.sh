#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tables.sh - 'hatf tables' has the figures of an independent count
#
# awk counts table 3 again from 'hatf dump', and 'wc' the sizes from the output
# of 'hatf convert'.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# count_again TRACE: print the exact figures of table 3, in single units.  A
# record that a realloc announces does not change the live set again.
count_again()
{
	"$HATF" dump "$1" | sed 's/[a-z]*=//g' | awk '
		function live(address, size)
		{
			dead(address)
			blocks[address] = size
			objects++
			bytes += size
			if (objects > max_objects) max_objects = objects
			if (bytes > max_bytes) max_bytes = bytes
		}
		function dead(address)
		{
			if (!(address in blocks)) return
			objects--
			bytes -= blocks[address]
			delete blocks[address]
		}
		$2 == "alloc" && $4 != "0x0" {
			allocs++
			total += $3
			if (announced != $4) live($4, $3)
			announced = ""
		}
		$2 == "free" {
			frees++
			if (leaving != $3) dead($3)
			leaving = ""
		}
		$2 ~ /^realloc/ {
			reallocs++
			if ($2 == "reallocNoAlloc" && $4 == "0x0") next
			dead($5)
			if ($4 != "0x0") live($4, $3)
			announced = $2 ~ /Alloc/ && $2 !~ /No/ ? $4 : ""
			leaving = $2 ~ /Free/ ? $5 : ""
		}
		END {
			print allocs + 0, reallocs + 0, frees + 0, total + 0,
				max_objects + 0, max_bytes + 0
		}'
}

# table3 PROGRAM: print the same figures from the CSV on stdin.
table3()
{
	awk -F, -v program="$1" '
		$1 == 3 && $2 == "measured" && $3 == program &&
		$4 != "avg bytes" {
			printf "%s%.0f", n++ ? " " : "", $6 * 1000
		}
		END { print "" }'
}

# value TABLE SOURCE PROGRAM COLUMN FIGURE: print the value from the CSV in
# 'out'.
value()
{
	awk -F, -v key="$1,$2,$3,$4,$5" \
		'index($0, key ",") == 1 { print $6 }' out
}

# Every tag, a failed allocation and a failed realloc.
{
	header unit=us
	layout
	alloc 100 0x1000 0 0 10
	alloc 50 0x2000 0 0 11 '\x01'
	alloc 9999 0 0 0 12
	resize 2 70 0x2000 0x2000 0 0 13
	resize 2 5000 0x2000 0 0 0 13
	resize 3 200 0x1000 0x3000 0 0 14
	alloc 200 0x3000 0 0 14
	free 0x1000 0 0 14
	thread_event 8 1 15
	resize 4 7 0 0x5000 1 0 16
	alloc 7 0x5000 1 0 16
	heap_event 6 3 1 17
	alloc 8 0x6000 1 3 18
	free 0x6000 1 3 19
	heap_event 7 3 1 20
	resize 5 0 0x5000 0 1 0 21
	free 0x5000 1 0 21
	free 0x2000 0 0 22
	comment 'a remark'
	thread_event 9 1 23
} >all.hatf
trailer all.hatf 11 21
check 'all: counted by hand' "$(count_again all.hatf)" '5 5 4 365 4 285'

run "$HATF" tables --format csv --runs 1 all.hatf
check_status all 0
check_silent all
check 'all: table 3' "$(table3 all <out)" "$(count_again all.hatf)"
check 'all: average size' "$(value 3 measured all 'avg bytes' '')" 73
check 'all: first line' "$(head -1 out)" \
	'table,source,program,column,figure,value'
check 'all: columns of CSV' "$(awk -F, 'NF != 6' out)" ''
# The measured rows, then the paper's.  The paper has no average in table 3.
check 'all: rows of table 4' \
	"$(awk -F, '$1 == 4 { print $2 ":" $3 }' out | uniq | xargs)" \
	'measured:all measured:average paper:espresso.largest' \
	'paper:espresso.test2 paper:vortex paper:twolf paper:average' \
	'paper:the talk'
check 'the paper: table 4' \
	"$(value 4 paper average 'HATF SplitAddr' compressed)" 1.54
check 'the talk: XML' "$(value 4 paper 'the talk' XML uncompressed)" 25.5
# The paper's SplitAddr adds nothing to HATF (best).
check 'all: SplitAddr' \
	"$(value 4 measured all 'HATF SplitAddr (paper)' uncompressed)" \
	"$(value 4 measured all 'HATF (best)' uncompressed)"
check 'the paper: table 5' "$(value 5 paper twolf ASCII/Perl read)" 17190
check 'the paper: table 6' "$(value 6 paper vortex 'HATF (best)' write)" 9680
check 'the paper: table 7' \
	"$(value 7 paper twolf 'Combined Size' uncompressed)" 5.51
check 'the paper: table 8' "$(value 8 paper twolf Stride uncompressed)" 6.89

# check_sizes PROGRAM TRACE: each size in tables 4, 7 and 8 is the size of the
# output of 'hatf convert'.
check_sizes()
{
	local encoding option got wanted=0
	local paper=time,thread,heap,attributes,comment
	local table column to records

	records=$("$HATF" dump "$2" 2>/dev/null |
		grep -cE '^[0-9]+ (alloc|free|realloc[A-Za-z]*) ')
	while IFS=: read -r table column to; do
		for option in --plain '--gzip --level 6'; do
			# shellcheck disable=SC2086 # words
			wanted=$("$HATF" convert --drop $paper $option \
				--to $to "$2" - 2>/dev/null | wc -c)
			[ "$option" = --plain ] && encoding=uncompressed ||
				encoding=compressed
			# The tables measure the format without checksums.
			case $encoding:$to in
			uncompressed:hatf*) wanted=$((wanted - 16)) ;;
			esac
			got=$(value "$table" measured "$1" "$column" $encoding |
				awk -v n="$records" '{ printf "%.3f", $1 * n }')
			check "$1: $column, $encoding" "$got" "$wanted.000"
		done
	done <<-'END'
		4:Simple Binary:binary
		4:ASCII:ascii
		4:HATF (naive):hatf --placement naive
		4:HATF (best):hatf --placement best
		4:Split Stream:split
		4:HATF SplitAddr:splitaddr
		4:HATF (online):hatf
		4:HATF (optimum):hatf --placement optimum
		4:HATF (literal):hatf --placement literal
		4:XML:xml
		4:Meta-TF SplitAddr:metatf-splitaddr
		7:Naive:hatf --placement naive
		7:Small Size:hatf --placement small-size
		7:Same Size:hatf --placement same-size
		7:Combined Size:hatf --placement combined-size
		7:HATF (online):hatf --placement online
		7:HATF (optimum):hatf --placement optimum
		8:BaseOffset 1-byte:hatf --placement base-offset-1
		8:BaseOffset 2-bytes:hatf --placement base-offset-2
		8:Best BaseOffset:hatf --placement best-base-offset
		8:Stride:hatf --placement stride
		8:HATF (best):hatf --placement best
	END
}

# take_apart SIZE: print how many bytes each field takes, and tags and comments.
# Count from the offsets and widths of 'hatf dump --meta' on stdin; the trace
# has SIZE bytes.
take_apart()
{
	gawk -v size="$1" '
		function store(field, n)
		{
			if (width[field] == "v1") n = 1 + attributes
			else if (width[field] == "v2") n = 2 + attributes
			else n = width[field]
			bytes[field] += n
			return n
		}
		BEGIN { width["size"] = width["address"] = 4
			last["size"] = last["address"] = 4 }
		{ at = strtonum($1) }
		# The remaining bytes must be the attributes of v1 and v2.
		pending { bytes[pending] += at - start - known; pending = "" }
		{ start = at; known = 1 }
		$3 == "metadata" {
			for (i = 5; i <= NF; i++) {
				split($i, pair, "=")
				arg[pair[1]] = pair[2]
			}
			f = arg["field"]
			if ($4 == "setFieldSize") {
				width[f] = zero[f] ? 0 : arg["width"]
				if (arg["width"] != "0") last[f] = arg["width"]
			} else {
				how = arg["interpretation"]
				zero[f] = how == "default" || how == "stride"
				width[f] = last[f]
				if (last[f] + 0 == last[f]) width[f] += 0
				if (zero[f]) width[f] = 0
			}
			known = 0
			pending = f
			next
		}
		$3 == "comment" { known = 0; pending = "comment"; next }
		{ bytes["tag"]++ }
		$3 ~ /^alloc|^realloc/ { known += store("size") }
		$3 ~ /^alloc|^realloc|^free/ { known += store("address") }
		$3 ~ /^realloc/ { known += store("address") }
		$3 !~ /Thread/ { known += store("heap") }
		{
			known += store("thread") + store("time")
			pending = "attributes"
		}
		END {
			bytes[pending] += size - start - known
			printf "%d %d %d %d %d %d %d %d\n", bytes["tag"],
				bytes["size"], bytes["address"], bytes["time"],
				bytes["thread"], bytes["heap"],
				bytes["attributes"], bytes["comment"]
		}'
}

# check_breakdown PROGRAM TRACE: table 9 has the figures of take_apart.
check_breakdown()
{
	local placement records column got columns='tag size address time
		thread heap attributes comments'

	command -v gawk >/dev/null || return
	records=$("$HATF" dump "$2" 2>/dev/null | grep -vc '^[0-9]* comment')
	for placement in naive online optimum; do
		"$HATF" convert --gzip --placement $placement "$2" whole.hatf \
			2>/dev/null
		got=$(for column in $columns; do
			value 9 measured "$1" $column $placement
		done | awk -v n="$records" \
			'{ printf "%s%.0f", (NR > 1 ? " " : ""), $1 * n }')
		check "$1: table 9, $placement" "$got" \
			"$("$HATF" dump --meta whole.hatf 2>/dev/null |
				take_apart "$(gzip -dc whole.hatf | wc -c)")"
		check "$1: table 9, $placement, compressed" \
			"$(value 9 measured "$1" compressed $placement | awk \
				-v n="$records" '{ printf "%.0f", $1 * n }')" \
			"$("$HATF" convert --placement $placement --gzip "$2" \
				--to hatf - 2>/dev/null | wc -c)"
	done
}

# at_most PERCENT PROGRAM COLUMN OTHER: a compressed size in table 4 is at most
# so much of another.
at_most()
{
	awk -v got="$(value 4 measured "$2" "$3" compressed)" \
		-v than="$(value 4 measured "$2" "$4" compressed)" -v p="$1" \
		'BEGIN { exit !(got > 0 && got <= p / 100 * than) }' ||
		fail "$2: $3 is more than $1 % of $4"
}

check_sizes all all.hatf
check_breakdown all all.hatf

# The paper's averages are the averages of its columns.
awk -F, '
	$2 == "paper" && $1 >= 4 && $3 != "average difference" &&
	$3 != "the talk" {
		key = $1 "," $4 "," $5
		if ($3 == "average") average[key] = $6
		else sum[key] += $6 / 4
	}
	END {
		for (key in average) {
			d = average[key] - sum[key]
			if (d < 0) d = -d
			if (d > (key ~ /^[56]/ ? 11 : 0.011)) print key, d
		}
	}' out | grep . >&2 && fail 'the paper: wrong averages'

# A compressed trace and a pipe give the same tables; times are not measured.
gzip -c all.hatf >zipped.hatf.gz
run "$HATF" tables -f csv -r 0 zipped.hatf.gz
check_status zipped 0
check 'zipped: table 3' "$(table3 zipped <out)" "$(count_again all.hatf)"
check 'zipped: no times' "$(awk -F, '($1 == 5 || $1 == 6 || $1 == 10) &&
	$2 == "measured" && $6 != "-"' out)" ''
cp out zipped.csv
"$HATF" tables -f csv -r 0 - <zipped.hatf.gz >stdin
sed 's/,zipped,/,stdin,/' zipped.csv | diff -q - stdin >/dev/null ||
	fail 'standard input: differs'
# shellcheck disable=SC2002 # this tests a pipe
cat zipped.hatf.gz | "$HATF" tables -f csv -r 0 - |
	diff -q - stdin >/dev/null || fail 'a pipe: differs'
check 'a pipe: no temporary file is left' \
	"$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'hatf-??????')" ''

# In Markdown, all rows of a table have the same number of cells.
run "$HATF" tables -f markdown -r 0 -c beside.csv all.hatf
check_status markdown 0
sed 's/,zipped,/,all,/' zipped.csv | diff -q - beside.csv >/dev/null ||
	fail 'markdown: the CSV beside it differs'
check 'markdown: tables' "$(grep -c '^### Table' out)" 9
awk -F'|' '/^\|/ { if (n && NF != n) print; n = NF } !/^\|/ { n = 0 }' out |
	grep . >&2 && fail 'markdown: ragged tables'
run "$HATF" tables -r 0 all.hatf
check_status text 0
grep -qE '^all +0\.0[01] ' out || fail 'text: no row'
grep -qE '^paper: twolf +575\.0 +0\.00 +493\.0 +17920 ' out ||
	fail 'text: paper'

check 'the paper: table 11' "$(awk -F, '$1 == 11 {
	print $2, $4 }' zipped.csv | sort -u | xargs)" \
	'measured here paper paper'

# CSV alone, to standard output.
run "$HATF" tables -f markdown -r 0 -c - all.hatf
check_status 'CSV alone' 0
diff -q out beside.csv >/dev/null || fail 'CSV alone: differs'
[ ! -e ./- ] || fail 'CSV alone: a file of this name'

# refused_csv WHAT FILE WHY: FILE is refused as output for CSV of all.hatf.
refused_csv()
{
	cp "$2" before
	run "$HATF" tables -r 0 -w 1 -c "$2" all.hatf
	check_status "$1" 2
	check_one_line "$1" "hatf tables: --csv: '$2' $3*"
	cmp -s "$2" before || fail "$1: was overwritten"
}

# An existing file is overwritten only if it has such CSV.
ln -sf all.hatf link.hatf
refused_csv 'CSV over the trace' all.hatf 'is one of the TRACEs'
refused_csv 'CSV over a link to the trace' link.hatf 'is one of the TRACEs'
refused_csv 'CSV over another trace' zipped.hatf.gz \
	'exists, and * did not write it'
echo table,source >short.csv
refused_csv 'CSV over other CSV' short.csv 'exists, and * did not write it'
cp all.hatf stdin.hatf
# shellcheck disable=SC2094 # 'hatf tables' must detect this
"$HATF" tables -r 0 -c stdin.hatf - <stdin.hatf >out 2>err
status=$?
check_status 'CSV over standard input' 2
cmp -s stdin.hatf all.hatf || fail 'CSV over standard input: was overwritten'
: >empty.csv
for csv in empty.csv beside.csv; do
	run "$HATF" tables -f markdown -r 0 -c "$csv" all.hatf
	check_status "CSV over $csv" 0
	check_silent "CSV over $csv"
done
diff -q empty.csv beside.csv >/dev/null || fail 'CSV over CSV: differs'

# Characters of a name that would break the table are escaped.
cp all.hatf $'a,"|\x1b[2J.hatf'
run "$HATF" tables -f csv -r 0 $'a,"|\x1b[2J.hatf'
check 'a name: CSV' "$(sed -n 2p out)" \
	'3,measured,"a,""|\x1b[2J",allocs/1000,,0.005'
run "$HATF" tables -f markdown -r 0 $'a,"|\x1b[2J.hatf'
grep -qF '| a,"!\x1b[2J ' out || fail 'a name: Markdown'

# Bad traces are reported, and the good ones have their rows.
printf 'no trace' >text
head -c "$(($(stat -c %s all.hatf) - 30))" all.hatf >cut.hatf
run "$HATF" tables -f csv -r 0 text cut.hatf all.hatf missing
check_status bad 1
check 'bad: complaints' "$(cut -d : -f 2 err | xargs)" 'text cut.hatf missing'
check 'bad: cut off' "$(table3 cut <out)" "$(count_again all.hatf)"
check 'bad: good ones' "$(table3 all <out)" "$(count_again all.hatf)"
run "$HATF" tables text
check 'nothing good' "$status $(wc -c <out)" '1 0'
"$HATF" tables -r 0 all.hatf >/dev/full 2>err
status=$?
check_status 'full disk' 1
run "$HATF" tables -r 0 --csv /dev/full all.hatf
check_status 'full disk: CSV' 1
check_one_line 'full disk: CSV' \
	'hatf tables: /dev/full: No space left on device'

# A trace without data records has no figures that depend on records.
{
	header unit=us
	layout
} >none.hatf
trailer none.hatf 0 1
run "$HATF" tables -f csv --runs 1 none.hatf
check_status none 0
check 'none: no figures' "$(awk -F, '$2 == "measured" && $1 != 3 && $1 != 11 &&
	$6 != "-"' out)" ''

# A recorded trace.
if [ -e "$BUILD/libhatftrace.so" ]; then
	run "$HATF" record -o real.hatf.gz -- bash -c \
		'for ((i = 0; i < 100; i++)); do x=$x$i a[i]=$x; done'
	check_status 'a recorded trace: record' 0
	run "$HATF" tables -f csv --runs 1 --records 1000 real.hatf.gz
	check_status 'a recorded trace' 0
	check_silent 'a recorded trace'
	check 'a recorded trace: table 3' "$(table3 real <out)" \
		"$(count_again real.hatf.gz)"
	check_sizes real real.hatf.gz
	check_breakdown real real.hatf.gz

	# The reader returns stacks as attributes; the stream has columns.
	run "$HATF" record -g on -o stacks.hatf.gz -- perl -e '$h{$_} = [$_]
		for 1 .. 300'
	check_status 'stacks: record' 0
	run "$HATF" tables -f csv -r 0 stacks.hatf.gz
	check_status 'stacks' 0
	check_sizes stacks stacks.hatf.gz
	check_breakdown stacks stacks.hatf.gz

	# Long enough that the DTD in the trace hardly counts.
	run "$HATF" record -G -o long.hatf.gz -- perl -e 'for $i (1 .. 3000) {
		$h{$i % 700} = "x" x ($i % 97); push @a, [$i] }'
	check_status 'a longer trace: record' 0
	run "$HATF" tables -f csv -r 0 long.hatf.gz
	check_status 'a longer trace' 0
	at_most 90 long 'Meta-TF SplitAddr' 'HATF SplitAddr (paper)'
fi

finish
