#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metatf.sh - DTDs are checked and translated; what is made from them agrees
#
# metatf_random.py writes random DTDs and random traces, after the paper and not
# with libhatf.  'hatf metatf dump' and the generated Python must read what it
# wrote; the generated C must read it, too, and what C writes must be the same
# for both.  What the universal writer writes must be the same for C and Python.
# METATF_SEEDS is how many (4).
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'
root=$(cd "$CLI/../.." && pwd)
dtds=$root/hatf/metatf/dtd
PYTHON=$(python3 -c 'import sys; print(sys.executable)')
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wconversion
	-Wno-sign-conversion -Wcast-qual -Wpointer-arith -Wwrite-strings
	-Wformat=2 -Wimplicit-fallthrough -Wmissing-prototypes
	-Wstrict-prototypes -Werror"

# ------------------------------------------------------------------ language

# print_is_stable WHAT DTD: the canonical form of the canonical form is itself.
print_is_stable()
{
	"$HATF" metatf print "$2" >once && "$HATF" metatf print once >twice &&
		cmp -s once twice || fail "$1: the canonical form is not stable"
}

for dtd in "$dtds"/*.dtd "$root"/tests/data/dtd/*.dtd; do
	[ -e "$dtd" ] || fail "no $dtd"
	run "$HATF" metatf check "$dtd"
	check_status "check $dtd" 0
	print_is_stable "$dtd" "$dtd"
	name=$(basename "$dtd" .dtd)
	# shellcheck disable=SC2086 # several words
	"$HATF" metatf gen "$dtd" >/dev/null &&
		cc -std=gnu11 $warnings -c "$name.c" &&
		"$HATF" metatf gen --lang python "$dtd" >/dev/null &&
		"$PYTHON" "$name.py" || fail "gen $dtd"
	for dialect in 1.0 1.1 1.2; do
		"$HATF" metatf print --dialect $dialect "$dtd" >as &&
			"$HATF" metatf check as >out 2>err ||
			fail "$dtd as $dialect"
		check "$dtd as $dialect" "$(cat out)" \
			"as: Meta-TF $dialect, correct"
		print_is_stable "$dtd as $dialect" as
	done
done

# refused LINE:COLUMN TEXT PATTERN...: a DTD is wrong there, for this reason.
refused()
{
	local place=$1

	printf '%b' "$2" >bad.dtd
	shift 2
	run "$HATF" metatf check bad.dtd
	check_status "$place $*" 1
	check_one_line "$place $*" "hatf metatf: bad.dtd:$place: $*"
}

a='a.width = 1; a.interpretation = none;\n'
refused 1:1 '<!ELEMENT x>' 'this is a DTD of XML, not of Meta-TF'
refused 2:1 '\n%' "'%' may stand only in a string or comment"
refused 1:1 '/* x' "this comment has no end: expected '\\*/'"
refused 1:3 'a b' "expected '.' or ':', found 'b'"
refused 1:5 'r : ;' "expected a field or '(', found ';'"
refused 1:10 'r : (tag ' "expected ',' or ')', found the end of the DTD"
refused 1:11 'a.width = x;' 'expected a number, *, found '"'x'"
refused 1:11 'a.width = 18446744073709551616;' 'this number exceeds 64 bits'
refused 1:10 'r : (tag);' \
	"remove this ';': only a property ends with ';'"
refused 1:25 'section s 1 { r : (tag) ; }' \
	"remove this ';': only a property ends with ';'"
refused 1:6 'p : (x)\nsection s 1 { x.width = 1;\nx.interpretation = none;
	r : (tag, p) { tag.value = 4; } }' "field 'x' of record 'p' has no \
interpretation: *; the property in line 3 applies only to its section"
refused 2:4 'r : (tag, b) {\n b : (c)' \
	"the braces of a record hold only properties: *record 'b' among *"
refused 1:13 'a.width = 1 }' "expected ';', found '}'"
refused 1:11 'section s 0 {}' 'the number of a section must be 1 to 255'
refused 1:16 'section s 1 {} section t 1 {}' \
	'section 1 is already defined in line 1'
refused 2:1 'a.width = 1;\na.width = 2;' \
	"property 'a.width' is already defined in line 1"
refused 1:1 'vfield : (a)' "the record name 'vfield' is reserved"
refused 2:6 "${a}r : (tag, a)" "record 'r' has a tag without a value: *"
refused 1:11 'r : (tag, b) { tag.value = 4; }' \
	"field 'b' of record 'r' has no interpretation: *"
refused 1:11 'r : (tag, b) { tag.value = 4; b.interpretation = none; }' \
	"field 'b' of record 'r' has no width: *"
refused 3:1 "${a}r : (tag, a) { tag.value = 4; }\ns : (tag) {tag.value = 4;}" \
	"record 's' has tag 4, which record 'r' has already"
refused 2:15 "${a}section s 1 { r : p : (tag, a) { tag.value = 4; } }" \
	"the first field of record 'r' is a record with a tag: *"
refused 2:1 "${a}r : (tag, a) { tag.value = 2; }" \
	"tag 2 of record 'r' is reserved for the predefined record 'section': *"
refused 2:28 "${a}r : (tag, a) { tag.value = 256; }" \
	'expected a tag that fits in 1 byte'
refused 3:6 'r : (tag, q) { tag.value = 4; }\nq : (p)\np : (q)' \
	"record 'q' contains itself"
refused 1:28 'r : (tag) { tag.value = 4; tag.width = 1; }' \
	'the width of the tag must be set outside of sections and records'
refused 1:41 'r : (tag, d) { tag.value = 4; d.width = n.value;
	d.interpretation = none; }' "no field 'n' comes before 'd'"
refused 1:41 'r : (tag, d) { tag.value = 4; d.width = 2147483648;
	d.interpretation = none; }' 'this width exceeds 1048576 bytes'
refused 1:11 'r : (tag, d) { tag.value = 4;
	d.interpretation = sectionStride 9 1; }' \
	"field 'd' refers to section 9, which is not defined"

# A stranger's DTD takes no time and no memory.
hostile()
{
	"$PYTHON" -c "$2" >hostile.dtd
	(ulimit -v 400000 && timeout 10 "$HATF" metatf check hostile.dtd) \
		>out 2>err
	status=$?
	check_status "$1" 1
	check_one_line "$1" "hatf metatf: hostile.dtd:*:*: $3"
}

hostile 'a million fields' 'print("a.width=1; a.interpretation=none;")
print("r : (tag" + ", a" * 1000000 + ") { tag.value=4; }")' \
	'a record has more than 1024 fields'
hostile 'records that double' 'print("a.width=1; a.interpretation=none; r0:(a)")
for i in range(64): print(f"r{i+1}:(r{i}, r{i})")
print("r : (tag, r30) { tag.value=4; }")' 'a record has more than 1024 fields'
hostile 'a chain of records' 'print("a.width=1; a.interpretation=none; r0:(a)")
for i in range(64): print(f"r{i+1}:(r{i})")
print("r : (tag, r64) { tag.value=4; }")' 'records are nested more than 32 deep'
hostile 'nested groups' 'print("r : " + "(" * 100000)' \
	'records and fields are nested more than 32 deep'
hostile 'an endless name' 'print("r" * 1000000)' \
	'this name is longer than 255 bytes'
hostile 'too long' 'print("/*" + "x" * 5000000 + "*/")' \
	'this DTD is longer than 4194304 bytes'
hostile 'a circle of widths' 'print("""a.width = b.width; b.width = a.width;
a.interpretation = none; r : (tag, a) { tag.value = 4; }""")' \
	"property 'a.width' refers to itself, or to a chain of more than 32\
 properties"
hostile 'many properties' 'for i in range(100000): print(f"a{i}.width=1;")
print("r : (tag, b) { tag.value=4; }")' "field 'b' of record 'r' has no *"

# What is odd is told, and is no error.
printf '%b' "${a}b.width = 2;\n" \
	'r : (tag, a) { tag.value = 4; a.unit = "s"; }' >odd.dtd
run "$HATF" metatf check odd.dtd
check_status odd 0
check 'what is odd' "$(cat err)" "hatf metatf: odd.dtd:2:1: note: property\
 'b.width' belongs to no field in its scope
hatf metatf: odd.dtd:3:31: note: property 'a.unit' has no effect\
 unless another property refers to it"

# A comment that only mentions a version does not choose the dialect.
cat >planned.dtd <<'END'
// Meta-TF version 1.2 is planned
r : (tag, n) { tag.value = 4; n.width = 1; n.interpretation = none; }
END
run "$HATF" metatf check planned.dtd
check_status 'a comment that mentions a version' 0

# A trace that contains its DTD can be given for it.
cat >own.dtd <<'END'
// Meta-TF version 1.0
r : (tag, n) { tag.value = 4; n.width = 1; n.interpretation = none; }
END
"$HATF" metatf gen own.dtd >/dev/null || fail 'own: gen'
cat >write_own.c <<'END'
#include "own.h"

int
main(int argc, char **argv)
{
	struct own_writer *w = own_writer_open(argv[1], 0);
	struct own_r r = { 7 };

	(void)argc;
	return !own_writer_put_r(w, OWN_SECTION_GLOBAL, &r) ||
	       !own_writer_close(w, 0);
}
END
cc -o write_own write_own.c own.c && ./write_own own.mtf || fail 'own: write'
run "$HATF" metatf check own.mtf
check_status 'the DTD in a trace' 0
check 'the DTD in a trace' "$(cat out)" 'own.mtf: Meta-TF 1.0, correct'
check 'the DTD in a trace' "$("$HATF" metatf print own.mtf)" \
	"$("$HATF" metatf print own.dtd)"
mkdir again
"$HATF" metatf gen -o again own.mtf >/dev/null &&
	cmp <(grep -v '^ \*' own.c) <(grep -v '^ \*' again/own.c) ||
	fail 'the DTD in a trace: gen'
for cut in 4 16 100; do
	head -c $cut own.mtf >cut.mtf
	run "$HATF" metatf check cut.mtf
	check_status "the DTD of a trace that was cut at $cut" 1
	check_one_line "cut at $cut" 'hatf metatf: cut.mtf: *'
done

# -------------------------------------------------------- random DTDs, traces

# Not sanitized: the archive is not.
cc -std=gnu11 -O1 -I"$root" -o rewrite "$CLI/metatf_rewrite.c" \
	"$BUILD/libhatf.a" -lz || fail 'cc rewrite'
for seed in $(seq "${METATF_SEEDS:-4}"); do
	note=$("$PYTHON" "$CLI/metatf_random.py" "$seed" .) || fail "seed $seed"
	"$HATF" metatf dump --json --dtd random.dtd random.mtf >got.json &&
		"$PYTHON" "$CLI/metatf_compare.py" random.json got.json ||
		fail "seed $seed: hatf reads something else"
	print_is_stable "seed $seed" random.dtd
	"$HATF" metatf gen random.dtd >/dev/null &&
		"$HATF" metatf gen --lang python random.dtd >/dev/null ||
		fail "seed $seed: gen"
	"$PYTHON" random.py random.mtf >python.json &&
		"$PYTHON" "$CLI/metatf_compare.py" random.json python.json ||
		fail "seed $seed: Python reads something else"
	"$PYTHON" "$CLI/metatf_copy.py" random <random.h >copy.c
	# shellcheck disable=SC2086 # several words
	cc -std=gnu11 -O1 $warnings -fsanitize=address,undefined \
		-fno-sanitize-recover=all -o copy copy.c random.c ||
		fail "seed $seed: cc"
	./copy random.mtf copy.mtf 0 >copy.log 2>&1
	status=$?
	# Where the writer cannot write it, the reader must have read it.
	[ -n "$note" ] && [ $status -eq 3 ] && continue
	[ $status -eq 0 ] || fail "seed $seed: C: $(head -n 3 copy.log)"
	for flags in 0 1; do
		./copy random.mtf copy.mtf $flags &&
			"$HATF" metatf dump --json copy.mtf >copy.json &&
			"$PYTHON" "$CLI/metatf_compare.py" random.json \
				copy.json ||
			fail "seed $seed: C writes something else"
		"$PYTHON" random.py copy.mtf >python.json &&
			"$PYTHON" "$CLI/metatf_compare.py" random.json \
				python.json ||
			fail "seed $seed: Python reads C's as something else"
		for most in 2 256; do
			./copy random.mtf batch.mtf $flags $most &&
				cmp -s batch.mtf copy.mtf ||
				fail "seed $seed: C reads $most at once"
		done
		# What the universal writer writes.
		./rewrite random.dtd random.mtf again.mtf $flags 2>err
		status=$?
		[ -n "$note" ] && [ $status -eq 3 ] && continue
		[ $status -eq 0 ] || fail "seed $seed: rewrite: $(cat err)"
		./copy again.mtf copy.mtf 0 &&
			"$HATF" metatf dump --json copy.mtf >copy.json &&
			"$PYTHON" "$CLI/metatf_compare.py" random.json \
				copy.json ||
			fail "seed $seed: C reads hatf's as something else"
		"$PYTHON" random.py again.mtf >python.json &&
			"$PYTHON" "$CLI/metatf_compare.py" random.json \
				python.json ||
			fail "seed $seed: Python reads hatf's as something else"
	done
done

# No record of this trace is one of HATF.
for command in info dump verify convert; do
	run "$HATF" "$command" own.mtf own.ascii
	[ "$command" = convert ] || run "$HATF" "$command" own.mtf
	check_status "$command own.mtf" 1
	check_one_line "$command own.mtf" \
		"hatf *: own.mtf: a Meta-TF trace without HATF records; *"
done

# A file that somebody wrote by hand is not replaced.
echo 'int main(void) { return 0; }' >mine.c
cp own.dtd mine.dtd
run "$HATF" metatf gen mine.dtd
check_status 'a file of mine' 1
check_one_line 'a file of mine' 'hatf metatf: ./mine.c: not replaced, because *'
check 'a file of mine' "$(cat mine.c)" 'int main(void) { return 0; }'

# Names that mean something to C, or to the generated code.
cat >'2 odd.dtd' <<'END'
int.width = 1; int.interpretation = none;
x.width = 2; x.interpretation = none;
class : (length, data) {
	length.width = 1; length.interpretation = none;
	data.width = length.value; data.interpretation = none;
}
section for 1 {
	reader : (tag, int, x, r, x) {
		tag.value = 4;
		r.width = 1; r.interpretation = none;
	}
	type : (tag, int, c*(x, c2 : (int, x))) {
		tag.value = 6;
		c.width = 1; c.interpretation = none;
	}
	offset : (tag, i0*x) {
		tag.value = 7;
		i0.width = 1; i0.interpretation = none;
	}
	None : (tag, int, class) { tag.value = 8; }
	record : (tag) { tag.value = 9; }
}
section empty 2 { }
section GLOBAL 3 {
	Reader : (tag, x) { tag.value = 5; }
}
section For 4 {
	x : (tag, int) { tag.value = 4; }
}
section nested 5 {
	a : (tag, b_c : (x), int*(x, x2 : (x)), b : (c : (x))) {
		tag.value = 4;
	}
	a_b : (tag, x, c : (x)) { tag.value = 5; }
	a_b_c : (tag, x) { tag.value = 6; }
	z : (tag, a_ : (b : (x)), a : (_b : (x))) { tag.value = 7; }
	w : (tag, class : (x), class_ : (x), int : (x)) { tag.value = 8; }
}
END
"$HATF" metatf gen '2 odd.dtd' >/dev/null || fail 'odd names: gen'
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	# shellcheck disable=SC2086 # several words
	$compiler -std=gnu11 -O1 $warnings -c trace_2_odd.c ||
		fail "odd names: $compiler"
done
"$HATF" metatf gen --lang python '2 odd.dtd' >/dev/null &&
	"$PYTHON" trace_2_odd.py || fail 'odd names: Python'

# Long names, nested: no path is cut short.
"$PYTHON" -c 'n = "x" * 250
tree = "a, b"
for i in range(10): tree = "%s%d : (%s), m*(%s%d : (a))" % (
    n, i, tree, n, 100 + i)
print("a.width = 1; a.interpretation = none;")
print("b.width = a.value; b.interpretation = none;")
print("m.width = 1; m.interpretation = none;")
print("section s 1 { r : (tag, %s) { tag.value = 4; } }" % tree)' >long.dtd
"$HATF" metatf gen --events long.dtd >/dev/null &&
	"$HATF" metatf gen --lang python long.dtd >/dev/null &&
	"$PYTHON" long.py && cc -std=gnu11 $warnings -c long.c &&
	cc -std=gnu11 -fsyntax-only -I"$root/preload" -x c long_events.h ||
	fail 'long names'

# The same DTD gives the same code.
cp random.h before.h
cp random.c before.c
"$HATF" metatf gen random.dtd >/dev/null
cmp -s random.h before.h && cmp -s random.c before.c || fail 'gen varies'

# A trace that ends early is wrong for each reader, wherever it ends, after the
# records before the cut.
"$PYTHON" "$CLI/metatf_random.py" 3 .
"$HATF" metatf gen random.dtd >/dev/null
"$HATF" metatf gen --lang python random.dtd >/dev/null
"$PYTHON" "$CLI/metatf_copy.py" random <random.h >copy.c
cc -std=gnu11 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
	-o copy copy.c random.c || fail 'cc'
total=$(stat -c %s random.mtf)
for cut in $(seq 0 $((total / 25 + 1)) $((total - 1))); do
	head -c "$cut" random.mtf >cut.mtf
	run "$HATF" metatf dump --json --dtd random.dtd cut.mtf
	check_status "cut at $cut" 1
	check_one_line "cut at $cut" 'hatf metatf: cut.mtf: *'
	[ ! -s out ] || most=$(wc -l <out)
	mv out got.json
	./copy cut.mtf copy.mtf 0 >copy.log 2>&1
	check "C, cut at $cut" $? 1
	"$PYTHON" random.py cut.mtf >python.json 2>err
	check "Python, cut at $cut" $? 1
	check "Python, cut at $cut: lines" "$(wc -l <err)" 1
	"$PYTHON" "$CLI/metatf_compare.py" got.json python.json ||
		fail "Python, cut at $cut: other records"
done
[ "${most:-0}" -gt 5 ] || fail 'nothing is read of a trace that was cut'

finish
