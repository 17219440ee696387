#!/bin/bash
# SPDX-License-Identifier: MIT
#
# convert.sh - conversion between formats loses nothing; scripts can read dumps
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A trace by this project's producer: every tag, attributes, a comment of odd
# bytes.
{
	header clock=us unit=us pid=4242 'command=a "b"\\x01, c'
	layout
	alloc 24 0x5581c0 0 0 17
	alloc 64 0x7ffff7a01230 0 0 18 '\x01'
	other_tags
	comment 'odd: \x00\xff\t",\\'
	thread_event 9 1 4294967295
} >all.hatf
trailer all.hatf 8 18 complete=1 end=abort lost=0 threads=2 wait_ns=77
"$HATF" dump all.hatf >whole

# comments FILE: print the bytes of the comments, but not of header and trailer.
comments()
{
	"$HATF" dump --meta "$1" | sed -nE 's/^.* comment text="(odd.*)/\1/p'
}
comments all.hatf >all.comments

# The project's own formats, which keep everything.
formats=$("$HATF" formats --json |
	sed -nE 's/^\{"name":"([a-z]+)".*"foreign":false.*"drops":\[\].*/\1/p')
check 'formats' "$(grep -cxE 'hatf|ascii|csv|json|binary|split|splitaddr' \
	<<<"$formats")" 7

cut -d ' ' -f 2- whole >records
# same FILE: FILE has all that all.hatf has.
same()
{
	local text='"pid":4242,"command":"a \\"b\\"\\u0001, c","clock":"us"'

	"$HATF" dump "$1" 2>&1 | cut -d ' ' -f 2- | cmp -s - records ||
		fail "$1: other records"
	comments "$1" | cmp -s - all.comments || fail "$1: other comments"
	"$HATF" info --json "$1" | grep -q "\"complete\":true.*$text" ||
		fail "$1: another header"
	run "$HATF" verify "$1"
	check_status "$1: verify" 0
}
"$HATF" verify all.hatf >/dev/null || fail 'all.hatf'
for format in $formats; do
	for compress in --gzip --plain; do
		run "$HATF" convert --to "$format" $compress all.hatf t
		check_status "to $format $compress" 0
		check_silent "to $format $compress"
		same t
		run "$HATF" convert --from "$format" t back.hatf
		check_status "from $format" 0
		same back.hatf
		# The trailer's figures of the recorder are kept.
		"$HATF" dump --meta back.hatf | tail -1 |
			grep -q 'end=abort.*wait_ns=77' ||
			fail "$format: trailer"
		# Pipes and files have the same content.
		# shellcheck disable=SC2002
		cat t | "$HATF" convert --to "$format" $compress - - >piped ||
			fail "$format: pipe"
		cmp -s t piped || fail "$format: pipes differ from files"
	done
done

# The name of the output selects format and compression.
for name in x.hatf x.hatf.gz x.ascii x.csv.gz x.json x.bin.gz x.split \
	x.splitaddr; do
	run "$HATF" convert all.hatf $name
	check_status $name 0
	same $name
	magic=$(head -c 2 $name | od -An -tx1 | tr -d ' ')
	case $name in
	*.gz) check $name "$magic" 1f8b ;;
	*) [ "$magic" != 1f8b ] || fail "$name: compressed" ;;
	esac
done

# The placement of metadata and the number of threads do not change the records.
"$HATF" convert all.hatf all.hatf.gz || fail 'all.hatf.gz'
for placement in online naive optimum; do
	run "$HATF" convert --jobs 2 --placement $placement all.hatf.gz x.hatf
	check_status $placement 0
	same x.hatf
done

# A truncated trace is converted up to its end, and the output is incomplete.
nbytes=$(stat -c %s all.hatf)
head -c $((nbytes - 200)) all.hatf >cut.hatf
for format in $formats; do
	run "$HATF" convert --to "$format" cut.hatf cut.out
	check_status "cut to $format" 1
	check_one_line "cut to $format" 'hatf convert: cut.hatf: *'
	"$HATF" dump cut.hatf 2>/dev/null | cut -d ' ' -f 2- >want
	"$HATF" dump cut.out 2>/dev/null | cut -d ' ' -f 2- >got
	check_text "cut to $format" got <want
	run "$HATF" info cut.out
	check_status "cut to $format: info" 1
	check_one_line "cut to $format: info" \
		'hatf info: cut.out: the trace says that it is not complete: *'
done

# --drop removes the named content; without all of it, the paper's content
# remains.
run "$HATF" convert --drop thread,time,attributes,heap,comment all.hatf x.ascii
check_status drop 0
grep -v '^10 ' x.ascii >got
check_text 'dropped' got <<'END'
0 24 0x5581c0
0 64 0x7ffff7a01230
2 32 0x5581c0 0x5581c0
3 100 0x5581c0 0x559000
0 100 0x559000
1 0x5581c0
4 7 0x0 0x6000
0 7 0x6000
0 8 0x7000
1 0x7000
5 0 0x6000 0x0
1 0x6000
END
check 'dropped: comments' \
	"$(grep -c '^10 HATF' x.ascii),$(grep -c '^10 ' x.ascii)" 3,3
run "$HATF" convert --drop time --to csv all.hatf -
check 'dropped: column' "$(head -1 out)" \
	tag,size,address,old_address,thread,heap,attributes,text

# Without times, the header says that the clock was off, and no comment speaks
# of a clock.  Other commands then measure ages in events.
{
	header clock=auto unit=us pid=4242
	layout
	comment 'HATF clock\nclock=us\ntime=17\n'
	alloc 24 0x5581c0 0 0 17
	comment 'mine'
	comment 'HATF clock\nclock=coarse\ntime=900\nstep=3000\n'
	alloc 8 0x5581e0 0 0 900
} >timed.hatf
trailer timed.hatf 2 6
"$HATF" verify timed.hatf >/dev/null || fail 'timed.hatf'
"$HATF" convert --to heaptrack timed.hatf timed.heaptrack 2>/dev/null
# timeless WHAT FILE
timeless()
{
	"$HATF" info "$2" >info.out
	check "$1: info" "$(grep -E '^  (clock|duration) ' info.out | xargs)" \
		clock off duration unknown
	"$HATF" dump --meta "$2" >meta
	check "$1: comments about clocks" "$(grep -c 'HATF clock' meta)" 0
	check "$1: header" "$(grep -oE '\\n(clock|unit)=[a-z]+' meta | xargs)" \
		'nclock=off nunit=none'
	check "$1: records with times" "$(grep -c ' time=[1-9]' meta)" 0
	run "$HATF" leaks "$2"
	grep -qE ' ages? .* events?' out || fail "$1: leaks: $(cat out)"
}
for format in $formats; do
	run "$HATF" convert --drop time --to "$format" timed.hatf t
	check_status "no times: $format" 0
	check_silent "no times: $format"
	timeless "no times: $format" t
	check "no times: $format: other comments" "$(grep -c '"mine"' meta)" 1
	"$HATF" verify t >/dev/null || fail "no times: $format: verify"
	run "$HATF" convert --from "$format" t back.hatf
	timeless "no times: from $format" back.hatf
done
run "$HATF" convert --drop time timed.heaptrack t.hatf
timeless 'no times: from heaptrack' t.hatf

# All of these formats keep stacks.  Without the attributes that refer to them,
# the comments that define them are dropped, too.
{
	header
	layout
	comment 'HATF frame\nframe=1\nfunction=f\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	alloc 24 0x5581c0 0 0 1 '\x45\x01'
	comment 'mine'
} >stacks.hatf
trailer stacks.hatf 1 5
"$HATF" verify stacks.hatf >/dev/null || fail 'stacks.hatf'
defined='HATF (frame.nframe=1.nfunction=f|stack.nstack=1.nframe=1).n"'
for format in $formats; do
	"$HATF" convert --to "$format" stacks.hatf t || fail "stacks: $format"
	check "stacks: $format" "$("$HATF" dump --meta t |
		grep -cE "$defined| stack=1\$|\"mine\"")" 4
done
"$HATF" convert --drop comment stacks.hatf t.hatf
check 'stacks without comments' "$("$HATF" dump --meta t.hatf |
	grep -cE 'HATF (frame|stack)[^s]| stack=1$|mine')" 3
"$HATF" convert --drop attributes stacks.hatf t.hatf
check 'stacks without attributes' "$("$HATF" dump --meta t.hatf |
	grep -cE 'HATF (frame|stack)[^s]| stack=1$|mine')" 1

# -------------------------------------------------------------- dump --format
run "$HATF" dump --format ascii all.hatf
check_status ascii 0
check_text ascii out <<'END'
10 HATF ascii thread heap time attributes
0 24 0x5581c0 0 0 17
0 64 0x7ffff7a01230 0 0 18 01
2 32 0x5581c0 0x5581c0 0 0 19
3 100 0x5581c0 0x559000 0 0 20
0 100 0x559000 0 0 20
1 0x5581c0 0 0 20
8 1 0 21 420081026122
4 7 0x0 0x6000 1 0 22
0 7 0x6000 1 0 22
6 1 3 23
0 8 0x7000 1 3 24
1 0x7000 1 3 25
7 1 3 26
5 0 0x6000 0x0 1 0 27
1 0x6000 1 0 27
9 1 0 4294967295
END
run "$HATF" dump --format csv --from 3 --count 2 all.hatf
check_text 'csv window' out <<'END'
tag,size,address,old_address,thread,heap,time,attributes
reallocNoAlloc,32,0x5581c0,0x5581c0,0,0,19,
reallocAllocFree,100,0x559000,0x5581c0,0,0,20,
END
run "$HATF" dump --format text all.hatf
check_text text out <whole
run "$HATF" dump --meta --format json --from 16 --count 1 all.hatf
check_text 'json with comments' out <<'END'
{"tag":"comment","hex":"6f64643a2000ff09222c5c"}
END

# Section 2.1 of the paper: scripts read a trace.
check perl "$("$HATF" dump --format ascii all.hatf | perl -lane '
	$n{$F[0]}++;
	$b += $F[1] if $F[0] == 0;
	END { print "$n{0} $n{1} $b" }')" '5 3 203'
check awk "$("$HATF" dump --format ascii all.hatf | awk '
	$1 == 0 { b[$4] += $2 }
	END { print b[0], b[1] }')" '188 15'
"$HATF" dump --format ascii all.hatf | perl -lane 'print if $F[0] > 1' |
	"$HATF" convert --from ascii - kept.hatf || fail 'filtered'
run "$HATF" dump kept.hatf
check 'filtered: last' "$(tail -1 out)" \
	'7 destroyThread thread=1 time=4294967295'

# The script in hatf-convert(1) writes a consistent trace.
page=$CLI/../../tools/man/hatf-convert.1
sed -n '/^This script makes a trace without/,/^\.Ed/p' "$page" |
	sed -n '/^\.Bd/,/^\.Ed/p' | sed '/^\./d; s/^\$ //' >example.sh
cp all.hatf app.hatf.gz
run env PATH="$BUILD:$PATH" sh example.sh
check_status 'example' 0
run "$HATF" verify large.hatf.gz
check_status 'example: verify' 0
run "$HATF" dump --format ascii large.hatf.gz
check_text 'example' out <<'END'
10 HATF ascii thread heap time attributes
0 64 0x7ffff7a01230 0 0 18 01
0 100 0x559000 0 0 20
8 1 0 21 420081026122
6 1 3 23
7 1 3 26
9 1 0 4294967295
END

if command -v jq >/dev/null; then
	check jq "$("$HATF" dump --format json all.hatf |
		jq -s 'map(select(.tag == "alloc").size) | add')" 203
	"$HATF" dump --format json all.hatf | jq -c . >by-jq.json
	"$HATF" convert by-jq.json by-jq.hatf || fail 'jq: read back'
	"$HATF" dump by-jq.hatf | cut -d ' ' -f 2- | head -3 >got
	check 'jq: records' "$(wc -l <got)" 3
fi
if command -v python3 >/dev/null; then
	"$HATF" convert all.hatf all.csv
	python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
out = csv.DictWriter(sys.stdout, rows[0].keys())
out.writeheader()
out.writerows(rows)' <all.csv >py.csv
	same py.csv
fi

# If the reader closes the pipe, 'hatf dump' ends without a message.
seq 1 40000 | awk '{ print 0, $1, "0x1000" }' >more.ascii
for format in $formats text; do
	(
		trap '' PIPE
		"$HATF" dump --format "$format" more.ascii 2>err
		echo $? >status
	) | head -c 1 >/dev/null
	[ -s err ] && fail "$format to a closed pipe: $(cat err)"
	"$HATF" dump --format "$format" more.ascii 2>err | head -c 1 >/dev/null
	[ -s err ] && fail "$format to a closed pipe, by signal: $(cat err)"
done

# -------------------------------------------------------------------- refused
# refused PATTERN STATUS ARGUMENT...: 'hatf convert ARGUMENT...' fails with this
# status and message.
refused()
{
	local pattern=$1 want=$2

	shift 2
	run "$HATF" convert "$@"
	check_status "$*" "$want"
	check_one_line "$*" "hatf convert: $pattern"
}
refused 'IN and OUT are needed*' 2 all.hatf
refused "'out' does not imply a format: use --to*" 2 all.hatf out
refused "'-' does not imply a format*" 2 all.hatf -
refused "'x.split.gz' does not imply a format*" 2 all.hatf x.split.gz
refused "--to: unknown value 'nothing' (want *" 2 --to nothing all.hatf out
refused "--drop: unknown value 'size' *" 2 --drop time,size all.hatf x.csv
refused "--drop: unknown value '' *" 2 --drop time, all.hatf x.csv
refused "--placement: unknown value 'magic' *" 2 -m magic all.hatf x.hatf
refused "--jobs: not a number from 0 to 2^64 - 1: '-1'" 2 \
	--jobs -1 all.hatf x.hatf
refused "--jobs: too many: '65' *" 2 --jobs 65 all.hatf x.hatf
refused '--tags does not apply to format csv *' 2 --tags sequence all.hatf x.csv
refused '--gzip and --plain exclude each other*' 2 \
	--gzip --plain all.hatf x.csv
refused "--gzip contradicts the name 'x.csv.zst', *compression by zstd*" 2 \
	--gzip all.hatf x.csv.zst
refused '--level must be 1 to 12 for format hatf *' 2 \
	--level 99 all.hatf x.hatf.gz
refused '--level must be 1 to 12 for format hatf *' 2 \
	--level 0 all.hatf x.hatf.gz
refused '--level must be 1 to 9 for format csv *' 2 --level 12 all.hatf x.csv.gz
refused '--level must be 1 to 9 for format split *' 2 --level 10 all.hatf \
	x.split
refused '--level: OUT is not compressed *' 2 --level 5 all.hatf x.csv
refused '--level: OUT is not compressed *' 2 \
	--plain --level 5 all.hatf x.hatf.gz
refused '--placement does not apply to format csv *' 2 \
	--placement online all.hatf x.csv
refused '--placement does not apply to format splitaddr *' 2 \
	-m best all.hatf x.splitaddr
for out in 12,x.hatf.gz 9,x.csv.gz 9,x.splitaddr; do
	run "$HATF" convert --level "${out%,*}" all.hatf "${out#*,}"
	check_status "level $out" 0
	same "${out#*,}"
done
refused 'all.hatf: the format is hatf, not csv' 1 --from csv all.hatf x.csv
refused 'all.hatf: input and output are the same file' 2 all.hatf all.hatf
ln -s all.hatf link.hatf
refused 'link.hatf: input and output are the same file' 2 link.hatf ./all.hatf
refused 'missing: No such file or directory' 1 missing x.csv
refused 'no/x.csv: No such file or directory' 1 all.hatf no/x.csv
refused '/dev/full: No space left on device' 1 --to csv all.hatf /dev/full
{
	printf '0 1 0x10\n10 '
	head -c 524288 /dev/zero | tr '\0' x
	echo
} >long.ascii
refused 'long.ascii: line 2, offset 0x9, record 1: line: a limit of *' 1 \
	long.ascii x.csv
printf '0 1 0x10\n1 0x1x\n' >bad.ascii
refused 'bad.ascii: line 2, offset 0x9, record 1: address: malformed' 1 \
	bad.ascii x.csv
check 'before the fault' "$(grep -c '^alloc,1,0x10,,0,0,0,,$' x.csv)" 1
same all.hatf

# The output of a truncated trace is marked as incomplete in every format, even
# if the format of the input has no such mark.
printf '0 1 0x10\n0 2 0x20\n1 0x1' >cut.ascii
for name in cut.hatf cut.hatf.gz cut.csv cut.json cut.bin cut.split \
	cut.splitaddr; do
	run "$HATF" convert cut.ascii $name
	check_status "$name" 1
	check_one_line "$name" '*: the trace is truncated'
	run "$HATF" verify $name
	check_status "$name: verify" 1
done

# A conversion that appends to its own input is refused.
cp x.hatf.gz same.hatf.gz 2>/dev/null ||
	"$HATF" convert cut.csv same.hatf.gz 2>err
cp same.hatf.gz want
"$HATF" convert --to csv same.hatf.gz - >>same.hatf.gz 2>err
check 'appended to itself' $? 2
cmp -s same.hatf.gz want || fail 'appended to itself: the file has changed'

finish
