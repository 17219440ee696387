#!/bin/bash
# SPDX-License-Identifier: MIT
#
# heaptrack.sh - heaptrack files are read as heaptrack_print reads them
#
# hatf reads the same events, figures and names from heaptrack's files as
# heaptrack_print, and heaptrack_print reads the same from the files that hatf
# writes.  tests/data/foreign/heaptrack has files of heaptrack, and the output
# of heaptrack's own programs for them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$CLI/../data/foreign/heaptrack

# figure FILE KEY: print a number of 'hatf info'.
figure()
{
	"$HATF" info --json "$1" | sed -nE "s/.*\"$2\":([0-9]+).*/\1/p"
}

# left FILE: print the number of bytes that are live at the end.
left()
{
	"$HATF" dump --format ascii "$1" | awk '
		$1 == 0 { size[$3] = $2; sum += $2 }
		$1 == 1 { sum -= size[$2]; size[$2] = 0 }
		END { print sum + 0 }'
}

# nbytes N: print N bytes as heaptrack_print does.
nbytes()
{
	awk -v n="$1" 'BEGIN {
		split("B K M G", unit, " ")
		for (u = 1; n >= 1000 && u < 4; u++) n /= 1000
		printf(u == 1 ? "%d%s\n" : "%.2f%s\n", n, unit[u]) }'
}

# printed FILE TEXT: print the word after TEXT in heaptrack_print's output.
printed()
{
	zcat -f "$1" | sed -nE "s/^$2: ([^ ]*).*/\1/p"
}

# figures TRACE PRINT: the trace has the figures of heaptrack_print's output.
figures()
{
	check "$1: calls" "$(figure "$1" alloc)" \
		"$(printed "$2" 'calls to allocation functions')"
	check "$1: peak" "$(nbytes "$(figure "$1" peak_live_bytes)")" \
		"$(printed "$2" 'peak heap memory consumption')"
	check "$1: leaked" "$(nbytes "$(left "$1")")" \
		"$(printed "$2" 'total memory leaked')"
}

# ------------------------------------------------------------------- reading
for name in cfrac sort thr; do
	file=$data/ht_$name.txt.gz
	run "$HATF" verify "$file"
	check_status "$name: verify" 0
	figures "$file" "$data/ht_$name.print.txt.gz"
	check "$name: command" \
		"$("$HATF" info "$file" | sed -n 's/^  command  *//p')" \
		"$(zcat "$file" | sed -n 's/^X //p')"
	check "$name: frees" "$(figure "$file" free)" \
		"$(zcat "$file" | grep -c '^-')"
done

# An independent reader finds the same names, sizes and order.
if command -v python3 >/dev/null; then
	for file in "$data"/ht_*[a-z].txt.gz "$data"/*.interpreted.txt.gz; do
		case $file in *.print.*) continue ;; esac
		zcat "$file" | "$CLI/heaptrack.py" file >want
		"$HATF" convert --to json "$file" - |
			"$CLI/heaptrack.py" hatf >got
		check "$(basename "$file"): events" "$(wc -l <got)" \
			"$(zcat "$file" | grep -c '^[-+]')"
		cmp -s want got || fail "$file: other names, sizes or order"
	done
fi

# A raw file has the events of the interpreted one, and frees of unknown blocks.
for name in sort thr; do
	raw=$data/raw_$name.raw.txt.gz
	interpreted=$data/raw_$name.interpreted.txt.gz
	check "raw $name: left" "$(left "$raw")" "$(left "$interpreted")"
	for key in alloc peak_live_bytes end_live_objects; do
		check "raw $name: $key" "$(figure "$raw" $key)" \
			"$(figure "$interpreted" $key)"
	done
	extra=$(($(zcat "$raw" | grep -c '^-') - \
		$(zcat "$interpreted" | grep -c '^-')))
	[ $extra -eq 0 ] || extra+=' violations'
	check "raw $name: unknown" "$("$HATF" verify "$raw" |
		grep -oE '[0-9]+ violations' || echo 0)" "$extra"
	# The addresses are the file's.
	"$HATF" dump --format ascii "$raw" |
		awk '$1 == 0 { print "+", $3 } $1 == 1 { print "-", $2 }' >got
	zcat "$raw" | awk '$1 == "+" { print "+", "0x" $4 }
		$1 == "-" { print "-", "0x" $2 }' | check_text "raw $name" got
done

# -------------------------------------------------------------------- writing
# hatf writes the same kinds of blocks in the same order from an interpreted
# file and from its raw file.  A conversion to HATF and back changes nothing
# more.
for name in ht_cfrac ht_sort ht_thr raw_sort.interpreted raw_thr.interpreted \
	raw_sort.raw raw_thr.raw; do
	run "$HATF" convert -R "$data/$name.txt.gz" $name.heaptrack
	check_status "$name" 0
	original=$name
	[ $name = "${name%.raw}" ] || original=${name%.raw}.interpreted
	zcat "$data/$original.txt.gz" | grep '^[-+a] ' >want
	grep '^[-+a] ' $name.heaptrack | check_text "$name" want
	"$HATF" convert $name.heaptrack back.hatf 2>err &&
		"$HATF" convert -R back.hatf again.heaptrack 2>err
	cmp -s $name.heaptrack again.heaptrack || fail "$name: and back"
done

# heaptrack_print finds in hatf's file what it finds in heaptrack's own file.
if command -v heaptrack_print >/dev/null; then
	for name in cfrac sort thr; do
		heaptrack_print ht_$name.heaptrack >print 2>err ||
			fail "$name: heaptrack_print: $(cat err)"
		figures ht_$name.heaptrack print
		# Run time and memory, too, survive a conversion to HATF and
		# back.
		"$HATF" convert ht_$name.heaptrack t.hatf 2>err
		"$HATF" convert -R t.hatf t.heaptrack 2>err
		heaptrack_print t.heaptrack | sed -n '/^total runtime/,$p' >got
		zcat "$data/ht_$name.print.txt.gz" |
			sed -n '/^total runtime/,$p' >want
		check_text "$name: the last figures" got <want
		grep -q '^peak RSS .*: [1-9]' got || fail "$name: no peak RSS"
		for cost in allocations temporary leaked peak; do
			heaptrack_print -f "$data/ht_$name.txt.gz" -F theirs \
				--flamegraph-cost-type $cost >/dev/null
			heaptrack_print -f ht_$name.heaptrack -F ours \
				--flamegraph-cost-type $cost >/dev/null
			cmp -s <(sort theirs) <(sort ours) && [ -s ours ] ||
				fail "$name: $cost: other names"
		done
	done
fi

# ---------------------------------------------------------------- other lines
# HATF keeps the lines that are no events, and hatf writes them again.
cat >other.heaptrack <<'END'
v 10400 3
X app
I 2000 5e298f
s 4 main
i 0 0 1
t 1 0
a 18 1
+ 0
c 5
R 1a
S libleaky
- 0
c 9
c 14
R 2b
c 22
# strings: 1
# ips: 1
END
run "$HATF" convert other.heaptrack other.hatf
check_status 'other lines' 0
check_silent 'other lines'
run "$HATF" convert other.hatf back.heaptrack
check_status 'other lines, back' 0
check 'other lines, back: says nothing of them' "$(grep -c comments err)" 0
grep -v '^c 9' other.heaptrack | check_text 'other lines, back' back.heaptrack
for text in 'size=212992.*time=5000' 'size=352256.*time=20000'; do
	check "resident $text" "$("$HATF" dump --meta other.hatf |
		grep -c "use=resident.*$text")" 1
done

# A profile ends at the end of the program.
run "$HATF" convert other.hatf other.dhat
check 'other lines: the end' "$(sed -n 's/^,"te"://p' other.dhat)" 34000

# ------------------------------------------------------------------ raw files
# Raw files have no names.  The commands say how to get them.
run "$HATF" convert "$data/raw_sort.raw.zst" raw.hatf
check_status 'raw: advice' 0
check_one_line 'raw: advice' \
	'*: names of functions: none in a raw file of heaptrack; *'
check 'raw: info' "$("$HATF" info "$data/raw_sort.raw.zst" |
	grep -c '^  names  *none in a raw file of heaptrack; heaptrack_')" 1
for file in "$data/ht_sort.zst" raw.hatf; do
	check "$file: no advice" \
		"$("$HATF" info "$file" | grep -c '^  names')" 0
done
# The offsets of code in its object are those of an independent reader.
if command -v python3 >/dev/null; then
	for name in sort thr; do
		zcat "$data/raw_$name.raw.txt.gz" | "$CLI/heaptrack.py" raw |
			sort -u >want
		"$HATF" convert "$data/raw_$name.raw.txt.gz" raw.hatf 2>err
		"$HATF" convert raw.hatf raw.folded 2>err
		sed 's/ [0-9]*$//' raw.folded | tr ';' '\n' | sort -u |
			check_text "raw $name: offsets" want
		[ "$(wc -l <want)" -gt 10 ] || fail "raw $name: few frames"
		check "raw $name: a line for each stack" \
			"$(sed 's/ [0-9]*$//' raw.folded | sort | uniq -d)" ''
	done
fi
# pprof finds the functions in programs with and without a fixed address.
if command -v pprof >/dev/null && command -v heaptrack >/dev/null &&
	command -v gcc >/dev/null; then
	cat >leak.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void *leak_here(size_t n) { return malloc(n); }
int main(void) { return leak_here(123456) == NULL; }
END
	for how in pie no-pie; do
		gcc -g -O0 -$how -o leak leak.c || fail 'gcc'
		heaptrack -r -o "$TMP/leak.$how" ./leak >heaptrack.out 2>&1 ||
			fail "heaptrack: $(cat heaptrack.out)"
		"$HATF" convert leak.$how.raw.* leak.pb 2>err
		HOME=$TMP pprof -top -unit=B leak.pb >top 2>err
		grep -Eq '123456B .* leak_here$' top ||
			fail "$how: pprof: $(cat top err)"
		check "$how: pprof: the program" "$(head -1 top)" 'File: leak'
	done
fi

# ---------------------------------------------------------------- compression
cp "$data/handmade-min.txt" plain
check 'handmade: format' "$("$HATF" info --json plain |
	grep -o '"format":"[a-z]*"')" '"format":"heaptrack"'
check 'handmade: live' "$(left plain)" 100
gzip -c plain >plain.gz
"$HATF" dump plain >want
"$HATF" dump plain.gz | check_text 'gzip' want
"$HATF" dump - <plain | check_text 'a pipe' want
for name in ht_sort raw_sort.raw; do
	"$HATF" dump --meta "$data/$name.txt.gz" >want
	"$HATF" dump --meta "$data/$name.zst" | check_text "$name.zst" want
done

# Without stacks, threads and size classes stand in for them: heaptrack_print
# would abort at a block without a stack.
{
	printf '10 HATF ascii\n'
	printf '0 20 0x1000 0\n0 30 0x2000 0\n0 30 0x3000 1\n0 0 0x4000 1\n'
} >stackless.ascii
sed -i '1s/$/ thread/' stackless.ascii
run "$HATF" convert stackless.ascii stackless.heaptrack
check_status 'no stacks' 0
if command -v heaptrack_print >/dev/null; then
	heaptrack_print -f stackless.heaptrack -d stackless.heaptrack \
		>/dev/null 2>err || fail "no stacks: diff: $(cat err)"
	heaptrack_print -f stackless.heaptrack -F stackless.folded \
		--flamegraph-cost-type allocations >/dev/null 2>&1
	sort stackless.folded >got
	printf '%s\n' 'thread 0;17 to 32 bytes; 2' 'thread 1;0 bytes; 1' \
		'thread 1;17 to 32 bytes; 1' | check_text 'no stacks: sites' got
fi

# A frame without a function is named by its module.
cat >module.json <<'END'
{"tag":"comment","text":"HATF 1.0\nproducer=test\n"}
{"tag":"comment","text":"HATF object\nobject=/lib/a.so\naddress=0x1000\nsize=4096\nbase=0x800\n"}
{"tag":"comment","text":"HATF frame\nframe=1\naddress=0x1234\n"}
{"tag":"comment","text":"HATF stack\nstack=1\nframe=1\n"}
{"tag":"alloc","size":8,"address":4096,"thread":0,"heap":0,"time":0,"attributes":"4501"}
END
run "$HATF" convert module.json module.heaptrack
grep -q '^s f /lib/a.so+0xa34$' module.heaptrack ||
	fail "module+offset: $(cat module.heaptrack)"

# The loss of fields that the format lacks is reported once.
printf '0 8 0x10 1\n' | sed '1i 10 HATF ascii thread' >thread.ascii
run "$HATF" convert thread.ascii t.heaptrack
check_status 'a thread' 0
check_one_line 'a thread' '*: format heaptrack does not keep: *address, thread*'

# 'hatf convert' counts the same frees of unknown blocks as 'hatf verify'.
zcat "$data/raw_thr.raw.txt.gz" >raw_thr
run "$HATF" convert raw_thr raw_thr.hatf
check_status 'disorder' 0
sed -i '/: names of functions: /d' err
check_one_line 'disorder' \
	'hatf convert: raw_thr: 304 calls in an impossible order' \
	'(first at record *, offset 0x*: free of an unallocated address);' \
	"see 'hatf verify'"
check 'disorder: verify' "$("$HATF" verify raw_thr 2>/dev/null | tail -1)" \
	'raw_thr: not ok, 3507 events, 304 violations'
# If heaptrack was attached to a running program, such frees are normal.
sed '2iA' raw_thr >late
run "$HATF" convert late late.hatf
check_status 'disorder: late' 0
sed -i '/: names of functions: /d' err
check_silent 'disorder: late'

finish
