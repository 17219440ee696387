#!/bin/bash
# SPDX-License-Identifier: MIT
#
# foreign-text.sh - recordings survive Hummingbird, glibc and Android text
#
# Convert traces of real programs to the text formats of Hummingbird, glibc and
# Android, and back.  They lose what 'hatf formats' lists, and nothing else.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

"$HATF" record -o perl.hatf -- perl -e '$h{$_} = "x" x $_ for 1 .. 200' 2>err ||
	fail "record: $(cat err)"
"$HATF" record -o awk.hatf -- awk 'BEGIN { while (i++ < 999) a[i] = i }' 2>err
"$HATF" record -o grep.hatf -- grep -cE '(a|b)+(c|d)+e' /etc/passwd \
	>/dev/null 2>err
"$HATF" record -o bash.hatf -- bash -c 'for i in {1..99}; do x+=$i; done' 2>err
"$HATF" record -o find.hatf -- find /usr/lib -maxdepth 1 >/dev/null 2>err
"$HATF" record -o threads.hatf -- "$BUILD/tests/capture/programs/threads" \
	>/dev/null 2>err
programs='perl awk grep bash find threads'

# calls TRACE: print the calls without failed ones, in the form that all formats
# can express: no records that a realloc announces; realloc(NULL, n) as an
# alloc; realloc(p, 0) as a free.
calls()
{
	"$HATF" dump --format ascii "$1" | awk '
		skip > 0 { skip--; next }
		NR == 1 || $1 > 5 { next }
		$1 == 0 && $3 == "0x0" { next }
		$1 == 2 && $4 == "0x0" { next }
		$1 == 2 { print "realloc", $3, $4, $2, $5, $7; next }
		$1 == 3 { skip = 2; print "realloc", $3, $4, $2, $5, $7; next }
		$1 == 4 { skip = 1; print "alloc", $4, $2, $5, $7; next }
		$1 == 5 { skip = 1; print "free", $3, $5, $7; next }
		$1 == 0 { print "alloc", $3, $2, $4, $6; next }
		{ print "free", $2, $3, $5 }'
}

for p in $programs; do
	[ -s $p.hatf ] || fail "$p: no trace"
	calls $p.hatf >$p.calls
	[ "$(wc -l <$p.calls)" -gt 50 ] || fail "$p: few calls"

	# Hummingbird has no thread and time, and a realloc is a free and an
	# alloc.
	sed -E 's/^realloc ([^ ]+) ([^ ]+) ([^ ]+) .*/free \1\nalloc \2 \3/; t
		s/^(free [^ ]+) .*/\1/; s/^(alloc [^ ]+ [^ ]+) .*/\1/' \
		$p.calls >want
	"$HATF" convert $p.hatf $p.hummingbird 2>err || fail "$p: $(cat err)"
	sed 's/^Allocate/alloc/; s/^Free/free/' $p.hummingbird >got
	check_text "$p: hummingbird" got <want

	# With tags by number, an Allocate has the next number, and a Free the
	# number of a live block.
	"$HATF" convert --tags sequence $p.hatf n.hummingbird 2>err ||
		fail "$p: $(cat err)"
	check "$p: sequence" "$(awk '
		$1 == "Allocate" {
			if ($2 != ++n) print "not", n
			live[$2] = 1
		}
		$1 == "Free" {
			if (!live[$2]) print "dead", $2
			delete live[$2]
		}' n.hummingbird)" ''
	check "$p: sequence: lines" "$(wc -l <n.hummingbird)" \
		"$(wc -l <$p.hummingbird)"
	# Conversion from tags that are addresses gives the same numbers.
	run "$HATF" convert --tags sequence $p.hummingbird again.hummingbird
	check_status "$p: tags on reading" 0
	cmp -s n.hummingbird again.hummingbird || fail "$p: other numbers"

	# mtrace has no thread and time.
	sed -E 's/^(realloc [^ ]+ [^ ]+ [^ ]+) .*/\1/
		s/^(free [^ ]+) .*/\1/; s/^(alloc [^ ]+ [^ ]+) .*/\1/' \
		$p.calls >want
	"$HATF" convert $p.hatf $p.mtrace 2>err || fail "$p: $(cat err)"
	"$HATF" convert $p.mtrace back.hatf || fail "$p: mtrace"
	calls back.hatf | sed -E 's/ 0 0$//' >got
	check_text "$p: mtrace" got <want

	# Android has the process id for thread 0, and times in ns.
	pid=$("$HATF" info --json $p.hatf | sed -E 's/.*"pid":([0-9]+).*/\1/')
	awk -v pid="$pid" '{
		if ($(NF - 1) == 0) $(NF - 1) = pid
		$NF *= 1000
		print
	}' OFMT=%.0f CONVFMT=%.0f $p.calls >want
	"$HATF" convert $p.hatf $p.android 2>err || fail "$p: $(cat err)"
	"$HATF" convert $p.android back.hatf 2>err ||
		fail "$p: android: $(cat err)"
	calls back.hatf >got
	check_text "$p: android" got <want
	check "$p: android: unit" "$("$HATF" dump --meta back.hatf |
		grep -c 'source=android.*unit=ns\|unit=ns.*source=android')" 1
	"$HATF" verify $p.android >out || fail "$p: android: $(cat out)"
done

# Android keeps calloc apart from malloc.
check 'calloc' "$("$HATF" dump perl.android | grep -c zeroed=1)" \
	"$(grep -c ': calloc ' perl.android)"

# ------------------------------------------------------------------- refused
printf '1: malloc 0x1 2\n1: malloc 0x2 x\n' >bad
run "$HATF" convert --to hatf bad bad.hatf
check_status 'bad' 1
check_one_line 'bad' \
	'hatf convert: bad: line 2, offset 0x10, record 1: size: malformed'
run "$HATF" convert --tags number perl.hatf x.hummingbird
check_status 'tags' 2
check_one_line 'tags' "hatf convert: --tags: unknown value 'number'" \
	"(want one of address, sequence)"
run "$HATF" convert perl.hatf x.folded
check_status 'folded' 0
run "$HATF" info x.folded
check_status 'folded: not a trace' 1
run "$HATF" convert --from folded x.folded x.csv
check_status 'folded: from' 2

finish
