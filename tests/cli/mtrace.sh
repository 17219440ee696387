#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mtrace.sh - mtrace() traces are read as glibc's script reads them
#
# hatf finds the same leaks and anomalies in glibc's mtrace() traces as glibc's
# own script, and the script finds the same in the files that hatf writes.
# tests/data/foreign/mtrace has the traces and the script's output for them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$CLI/../data/foreign/mtrace

# leaks FILE: print address and size of each block that is live at the end.
leaks()
{
	"$HATF" dump --format ascii "$1" | awk '
		$1 == 2 && $4 != "0x0" { size[$4] = $2 }
		$1 == 0 && $3 != "0x0" { size[$3] = $2 }
		$1 == 1 { delete size[$2] }
		END { for (a in size) printf("%s 0x%x\n", a, size[a]) }' | sort
}

# printed FILE: print the same from the script's output.
printed()
{
	sed -nE 's/^0x0*([0-9a-f]+) +(0x[0-9a-f]+|0) .*/0x\1 \2/p' "$1" |
		sed 's/ 0$/ 0x0/' | sort
}

# script FILE: run glibc's script without a binary, so that it prints callers
# unchanged.
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
	case $name in
	thr)
		check_one_line "$name: convert" \
			'hatf convert: thr.mtrace: 2 calls in an impossible' \
			'order' \
			'(first at record *, offset 0x*: the address is' \
			"allocated while it is live); see 'hatf verify'"
		;;
	*) check_silent "$name: convert" ;;
	esac
	leaks $name.hatf >got
	printed "$data/$name.mtrace.out" >want
	check_text "$name: leaks" got <want

	# 'hatf verify' finds as many anomalies as the script.
	run "$HATF" verify $name.mtrace
	check "$name: anomalies" \
		"$(grep -c 'while it is live\|unallocated' out)" \
		"$(grep -c 'duplicate\|never alloc' "$data/$name.mtrace.out")"

	# A conversion to HATF and back loses offsets in functions and adds an
	# end mark.  Nothing else changes.
	run "$HATF" convert $name.hatf $name.back.mtrace
	check_status "$name: back" 0
	sed -E 's/\(([^()]*)[+-][0-9a-f]+\)\[/(\1)[/; /^= End$/d' \
		$name.mtrace >want
	sed '/^= End$/d' $name.back.mtrace >got
	check_text "$name: back" got <want
	if command -v mtrace >/dev/null; then
		script $name.mtrace >want
		script $name.back.mtrace >got
		check_text "$name: the script" got <want
	fi
done
check 'thr: anomalies' \
	"$(grep -c 'duplicate\|never alloc' "$data/thr.mtrace.out")" 2

# The script and hatf find the same leaks in a recorded program.
"$HATF" record -G -o awk.hatf -- awk 'BEGIN {
	for (i = 0; i < 3000; i++)
		a[i % 99] = a[i % 99] i
}' 2>err || fail "record: $(cat err)"
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
[ -s want ] || fail 'awk: no leaks to compare'

# A truncated trace has no end mark.
head -c $(($(wc -c <thr.mtrace) - 7)) thr.mtrace >cut.mtrace
run "$HATF" convert cut.mtrace cut.hatf
check_status 'cut off' 1
check_one_line 'cut off' 'hatf convert: cut.mtrace: line 3817, offset 0x*:' \
	'the trace is truncated'
run "$HATF" convert cut.hatf cut2.mtrace
check_status 'cut off: again' 1
check 'cut off: end' "$(tail -1 cut2.mtrace | cut -c 1)" @

# A byte of 0 is not an operation.
printf '= Start\n+ 0x10 0x5\n\0 0x10 0x5\n' >nul.mtrace
run "$HATF" info nul.mtrace
check_status 'a byte of 0' 1
check_one_line 'a byte of 0' \
	'hatf info: nul.mtrace: line 3, offset 0x13, record 1:' \
	'operation: malformed'

# An address in memory becomes an address in the object, if the trace has the
# object's place.
cat >placed.ascii <<'END'
10 HATF ascii attributes
10 HATF object\x0aobject=/lib/a.so\x0abase=0x7f0000000000\x0aaddress=0x7f0000001040\x0asize=8000\x0aoffset=0x1040\x0a
10 HATF frame\x0aframe=1\x0aobject=/lib/a.so\x0aaddress=0x7f0000001234\x0a
10 HATF frame\x0aframe=2\x0aobject=/lib/b.so\x0aaddress=0x7f1100001234\x0a
10 HATF stack\x0astack=1\x0aparent=0\x0aframe=1\x0a
10 HATF stack\x0astack=2\x0aparent=0\x0aframe=2\x0a
0 8 0x10 4501
0 8 0x20 4502
END
run "$HATF" convert --to mtrace placed.ascii -
grep '^@' out >got
check_text 'addresses in objects' got <<'END'
@ /lib/a.so:[0x1234] + 0x10 0x8
@ /lib/b.so:[0x7f1100001234] + 0x20 0x8
END

# mtrace() writes addresses in the file of the object.  'hatf symbolize' finds
# the names there, also in a trace that was converted from an mtrace file.
if command -v nm gcc >/dev/null &&
	! "$HATF" symbolize none.hatf 2>&1 | grep -q libdw; then
	cat >named.c <<'END'
int
some_caller(void)
{
	return 1;
}

int
main(void)
{
	return some_caller();
}
END
	gcc -g -O0 -o named named.c || fail 'gcc failed'
	# mtrace() writes return addresses, so the lookup subtracts 1.
	at=$(nm named | sed -n 's/ T some_caller$//p')
	printf '= Start\n@ ./named:[0x%x] + 0x4010 0x28\n= End\n' \
		$((0x$at + 1)) >named.mtrace
	"$HATF" convert named.mtrace named.ascii
	run "$HATF" leaks named.mtrace
	check 'names: the note' "$(tail -n 1 out)" "note: no function names: \
'hatf symbolize -o NEW FILE' writes a copy with them"
	for trace in named.mtrace named.ascii; do
		run "$HATF" symbolize -o names.hatf $trace
		check_status "names: $trace" 0
		check "names: $trace" "$(cat out)" "$trace: 1 frame looked \
up, 1 with a function, 1 with a source file, 0 inlined functions added"
		run "$HATF" leaks names.hatf
		grep -q 'some_caller (.*named.c:3)' out ||
			fail "names: $trace: $(cat out)"
	done
	# In traces from other sources, such an address is one in memory.
	sed 's/source=mtrace/source=mtrack/' named.ascii >other.ascii
	run "$HATF" symbolize -o names.hatf other.ascii
	check 'names: an address in memory' "$(cut -d , -f 1 out)" \
		'other.ascii: 0 frames looked up'
	rm named
	run "$HATF" symbolize -o names.hatf named.mtrace
	check_one_line 'names: no program' 'hatf symbolize: ./named: *'
fi

# nouns COUNT NOUN: the noun in the singular or the plural.
nouns()
{
	[ "$1" -eq 1 ] && echo "1 $2" || echo "$1 $2s"
}

# disordered COUNT FIRST LINE...: 'hatf convert' counts the anomalies that 'hatf
# verify' finds in a trace of these lines; FIRST describes the first one.
disordered()
{
	local count=$1 first=$2
	shift 2
	printf '%s\n' "$@" >log
	run "$HATF" convert log log.hatf
	check_status 'disorder' 0
	check_one_line "disorder: $1" \
		"hatf convert: log: $count call*in an impossible order" \
		"(first at record" \
		"$first; see 'hatf verify'"
	run "$HATF" verify log
	check "disorder: $1: verify" "$(tail -1 out)" \
		"log: not ok, $(nouns "$(grep -cv '^<' log)" event), $(nouns \
			"$count" violation)"
}
disordered 1 '0, offset 0x0: free of an unallocated address)' '- 0x10'
disordered 1 '1, offset 0xb: the address is allocated while it is live)' \
	'+ 0x10 0x8' '+ 0x10 0x8'
disordered 1 '0, offset 0x*: realloc of an unallocated address)' \
	'< 0x10' '> 0x20 0x8' '- 0x20'
disordered 2 '0, offset 0x*: realloc of an unallocated address)' \
	'< 0x10' '> 0x10 0x8' '- 0x10' '! 0x10 0x5'
disordered 3 '1, offset 0x11: free of an unallocated address)' \
	'1: malloc 0x10 8' '1: free 0x20' '1: realloc 0x30 0x40 8' \
	'1: realloc 0x10 0x0 8' '1: free 0x30'
disordered 1 '2, offset 0x*: free of an unallocated address)' \
	'Allocate 0x10 8' 'Free 0x10' 'Free 0x10'

finish
