#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mtrace.sh - glibc's mtrace() traces are read as glibc's own script reads them, and
# what we write as one is read by that script with the same result
#
# The traces, and what the script says of them, are in tests/data/foreign/mtrace.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$CLI/../data/foreign/mtrace

# leaks FILE: address and size of each block that lives at the end
leaks()
{
	"$HATF" dump --format ascii "$1" | awk '
		$1 == 2 && $4 != "0x0" { size[$4] = $2 }
		$1 == 0 && $3 != "0x0" { size[$3] = $2 }
		$1 == 1 { delete size[$2] }
		END { for (a in size) printf("%s 0x%x\n", a, size[a]) }' | sort
}

# printed FILE: the same out of what the script printed
printed()
{
	sed -nE 's/^0x0*([0-9a-f]+) +(0x[0-9a-f]+|0) .*/0x\1 \2/p' "$1" |
		sed 's/ 0$/ 0x0/' | sort
}

# The script, without a binary: it prints callers as they are.
script()
{
	mtrace "$1" | grep -v '^ *$'
}

for name in mt1 ls thr cfrac; do
	case $name in
	mt1) cp "$data/mt1.mtrace" $name.mtrace ;;
	*) zcat "$data/$name.mtrace.gz" >$name.mtrace ;;
	esac
	run "$HATF" convert $name.mtrace $name.hatf
	check_status "$name: convert" 0
	check_silent "$name: convert"
	leaks $name.hatf >got
	printed "$data/$name.mtrace.out" >want
	check_text "$name: leaks" got <want

	# All anomalies that the script finds are there, and no other.
	run "$HATF" verify $name.mtrace
	check "$name: anomalies" "$(grep -c 'handed out\|not live' out)" \
		"$(grep -c 'duplicate\|never alloc' "$data/$name.mtrace.out")"

	# Offsets in functions are lost, and an end mark is there; all else returns.
	run "$HATF" convert $name.hatf $name.back.mtrace
	check_status "$name: back" 0
	sed -E 's/\(([^()]*)[+-][0-9a-f]+\)\[/(\1)[/; /^= End$/d' $name.mtrace >want
	sed '/^= End$/d' $name.back.mtrace >got
	check_text "$name: back" got <want
	if command -v mtrace >/dev/null; then
		script $name.mtrace >want
		script $name.back.mtrace >got
		check_text "$name: the script" got <want
	fi
done
check 'thr: anomalies' "$(grep -c 'duplicate\|never alloc' "$data/thr.mtrace.out")" 2

# What a program left, by the script and by our own reading of its trace.
"$HATF" record -o awk.hatf -- awk 'BEGIN { for (i = 0; i < 3000; i++) a[i % 99] = a[i % 99] i }' 2>err ||
	fail "record: $(cat err)"
run "$HATF" convert --drop time,attributes awk.hatf awk.mtrace
check_status 'awk: convert' 0
check_silent 'awk: convert'
leaks awk.hatf >want
leaks awk.mtrace >got
check_text 'awk: leaks' got <want
if command -v mtrace >/dev/null; then
	mtrace awk.mtrace >awk.out
	printed awk.out >got
	check_text 'awk: the script' got <want
	grep -q 'duplicate\|never alloc' awk.out && fail "awk: $(cat awk.out)"
fi
[ -s want ] || fail 'awk: nothing is left, which shows nothing'

# A trace that is cut off has no end mark.
head -c $(($(wc -c <thr.mtrace) - 7)) thr.mtrace >cut.mtrace
run "$HATF" convert cut.mtrace cut.hatf
check_status 'cut off' 1
check_one_line 'cut off' 'hatf convert: cut.mtrace: line 3817, offset 0x*: the trace is cut off here'
run "$HATF" convert cut.hatf cut2.mtrace
check_status 'cut off: again' 1
check 'cut off: end' "$(tail -1 cut2.mtrace | cut -c 1)" @

finish
