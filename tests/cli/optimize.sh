#!/bin/bash
# SPDX-License-Identifier: MIT
#
# optimize.sh - 'hatf optimize' changes the size of a trace and nothing else
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# A small heap whose sizes and addresses are regular.
{
	header clock=us unit=us pid=4242
	layout
	for i in {1..40}; do
		printf -v address '0x5581%04x' $((i * 32))
		alloc 24 "$address" 0 0 "$i"
	done
	comment 'half of it'
	resize 2 5000 0x55810500 0x55810500 0 0 41
	free 0x55810040 0 0 41
} >all.hatf
trailer all.hatf 42 44 complete=1 end=abort lost=0
"$HATF" dump all.hatf | cut -d ' ' -f 2- >want

# A truncated stream without a header is copied twice, and the second copy has a
# header and a trailer.  Here a limit lets only the first copy succeed.
bare()
{
	layout
	for i in {1..40}; do
		alloc 24 $((0x1000 + 32 * i)) 0 0 "$i"
	done
	comment "$(printf "%0$1d" 0)"
	u 1 0
}
bare 1000 >bare.hatf
run "$HATF" optimize --placement online bare.hatf copy.hatf
bare $((1000 + 2048 - $(stat -c %s copy.hatf) + 10)) >bare.hatf
run "$HATF" optimize --placement online bare.hatf copy.hatf
check 'second copy: size' "$(stat -c %s copy.hatf)" $((2048 + 10))
run bash -c 'trap "" XFSZ; ulimit -f 2; exec "$@"' bash \
	"$HATF" optimize --placement online bare.hatf second.hatf
check_status 'second copy' 1
check 'second copy' "$(tail -n 1 err)" \
	'hatf optimize: second.hatf: File too large'
check 'second copy: figures' "$(cat out)" ''

nbytes()
{
	"$HATF" info --json "$1" | grep -o '"hatf_bytes":[0-9]*' | cut -d : -f 2
}

least=
for placement in online literal naive small-size same-size combined-size \
	base-offset-1 base-offset-2 best-base-offset stride best optimum \
	smallest; do
	run "$HATF" optimize --placement $placement all.hatf $placement.hatf
	check_status $placement 0
	check_silent $placement
	"$HATF" dump $placement.hatf | cut -d ' ' -f 2- >got
	check_text $placement got <want
	run "$HATF" verify $placement.hatf
	check_status "$placement: verify" 0
	size=$(nbytes $placement.hatf)
	[ -n "$least" ] && [ "$least" -lt "$size" ] || least=$size
done
check 'the optimum' "$(nbytes optimum.hatf)" "$least"

run "$HATF" optimize all.hatf small.hatf
check figures "$(sed -E "s/([0-9]) ([0-9])/\1\2/g" out)" "\
HATF   $(nbytes all.hatf) bytes before, $least after ($(awk "BEGIN {
	printf \"%.1f\", 100 * $least / $(nbytes all.hatf) }") %)
file   $(stat -c %s all.hatf) bytes before, $least after ($(awk "BEGIN {
	printf \"%.1f\", 100 * $least / $(stat -c %s all.hatf) }") %)"
cmp optimum.hatf small.hatf || fail 'plain: the default is not the optimum'

# For a trace of one block, the output is as small as the smallest file of these
# placements.
least=
for placement in small-size optimum best naive online; do
	"$HATF" optimize --placement $placement all.hatf x.hatf.gz >out
	size=$(stat -c %s x.hatf.gz)
	[ -n "$least" ] && [ "$least" -lt "$size" ] || least=$size
done
"$HATF" optimize all.hatf small.hatf.gz >out
check 'the smallest file' "$(($(stat -c %s small.hatf.gz) <= least))" 1

# The output is never larger than its input.  Fast compression would make it
# larger, so the input is copied.
run "$HATF" optimize --level 1 small.hatf.gz copy.hatf.gz
check_status copy 0
if cmp -s small.hatf.gz copy.hatf.gz; then
	check_one_line copy 'hatf optimize: small.hatf.gz:' \
		'cannot be made smaller: copy.hatf.gz *'
	check 'copy: mode' "$(stat -c %a copy.hatf.gz)" 600
fi
for level in 0 13 99999999999; do
	run "$HATF" optimize --level $level small.hatf.gz copy.hatf.gz
	check_status "level $level" 2
	check_one_line "level $level" 'hatf optimize: --level must be 1 to 12*'
done
for level in 1 6 12; do
	for in in small.hatf.gz all.hatf optimum.hatf; do
		out=again-$level.${in#*.}
		"$HATF" optimize --level $level $in $out >/dev/null 2>&1
		[ "$(stat -c %s $out)" -le "$(stat -c %s $in)" ] ||
			fail "$in at level $level: larger"
		"$HATF" dump $out | cut -d ' ' -f 2- >got
		check_text "$in at level $level" got <want
	done
done

# The output is compressed unless its name or an option says otherwise, also to
# a pipe and from other formats.
"$HATF" convert all.hatf all.csv
for in in all.hatf all.csv; do
	for out in x.hatf.gz x -; do
		"$HATF" optimize --level 3 $in $out >piped || fail "$in to $out"
		[ $out = - ] || mv $out piped
		check "$in to $out: gzip" \
			"$(od -An -t x1 -N 2 piped)" ' 1f 8b'
		"$HATF" dump piped | cut -d ' ' -f 2- >got
		check_text "$in to $out" got <want
	done
done
# A compressed trace under a plain name does not grow, unless the user gives
# --plain.
cp small.hatf.gz hidden.hatf
"$HATF" optimize --level 3 hidden.hatf hidden.out.hatf >/dev/null 2>&1 ||
	fail 'gzip under a plain name'
[ "$(stat -c %s hidden.out.hatf)" -le "$(stat -c %s hidden.hatf)" ] ||
	fail 'gzip under a plain name: larger'
"$HATF" optimize --plain hidden.hatf hidden.out.hatf >/dev/null 2>&1
cmp optimum.hatf hidden.out.hatf || fail 'gzip under a plain name: --plain'
"$HATF" optimize --plain - - <all.hatf >piped || fail 'pipe'
cmp optimum.hatf piped || fail 'pipe: not the optimum'

# An incomplete trace stays incomplete.
head -c $(($(stat -c %s all.hatf) - 20)) all.hatf >cut.hatf
run "$HATF" optimize cut.hatf cut.out
check_status cut 1
check_one_line cut 'hatf optimize: cut.hatf: *'
grep -q ' after ' out || fail 'cut: no figures'
run "$HATF" info cut.out
check_status 'cut: info' 1

run "$HATF" optimize --placement magic all.hatf x.hatf
check_status magic 2
check_one_line magic "hatf optimize: --placement: unknown value 'magic' *"
run "$HATF" optimize all.hatf
check_status 'one file' 2
check_one_line 'one file' 'hatf optimize: IN and OUT are needed*'
run "$HATF" optimize all.hatf x.csv
check_status csv 2
check_one_line csv "hatf optimize: 'x.csv' implies a format other than HATF*"
run "$HATF" optimize all.hatf no/x.hatf
check_status 'no folder' 1
check_one_line 'no folder' 'hatf optimize: no/x.hatf: No such file *'
run "$HATF" optimize all.hatf all.hatf
check_status same 2

finish
