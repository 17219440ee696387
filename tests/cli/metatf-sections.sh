#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metatf-sections.sh - each reader finds the same in sections of each kind
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'
PYTHON=$(python3 -c 'import sys; print(sys.executable)')

# ------------------------------------------------------- numbers of a section

# A section of numbers has records of its own between them: a comment, and
# metadata.  They change nothing in the record that takes a number.  64 fields
# are as many values as the reader first has room for.
"$PYTHON" - <<'END'
import struct


def trace(name, fields, dtd, record, numbers):
    with open(name + '.dtd', 'w') as file:
        for field in fields:
            print('%s.width = 1; %s.interpretation = none;' % (field, field),
                  file=file)
        print('e.width = 1; e.interpretation = sectionStride 2 1;\n'
              'section s 1 { r : (%s) { tag.value = 4; } }\n'
              'section c 2 { element : (tag, v) { tag.value = 4; } }' % dtd,
              file=file)
    start = 16 + 24 + 48
    with open(name + '.mtf', 'wb') as file:
        file.write(b'\177MTF' + bytes([2, 1, 0, 0]) + bytes(8))
        file.write(struct.pack('<3Q', 2, start, 1))
        file.write(struct.pack('<3Q', 1, start + 2, len(record)))
        file.write(struct.pack('<3Q', 2, start + 4 + len(record),
                               len(numbers)))
        file.write(bytes([2, 1]) + record + bytes([2, 2]) + numbers)


comment = bytes([1, 3]) + b'abc'
wider = bytes([3, 4, 1, 0]) + struct.pack('<Q', 2)
some = ['f%d' % i for i in range(62)]
trace('among64', some + ['v'], 'tag, %s, e' % ', '.join(some),
      bytes([4]) + bytes(range(62)), wider + bytes([4, 0x34, 0x12]))
trace('counted', ['n', 'x', 'v'], 'tag, n, e, n*x', bytes([4, 5]) + b'vwxyz',
      comment + bytes([4, 7]))
END
# among NAME WANT: each reader finds these fields at the end of the record.
among()
{
	"$HATF" metatf gen --lang python "$1.dtd" >/dev/null &&
		"$PYTHON" "$1.py" "$1.mtf" >python.json || fail "$1: Python"
	run "$HATF" metatf dump --json --dtd "$1.dtd" "$1.mtf"
	check_status "$1" 0
	"$PYTHON" "$CLI/metatf_compare.py" python.json out ||
		fail "$1: hatf and Python read different records"
	line=$("$HATF" metatf dump --dtd "$1.dtd" "$1.mtf")
	check "$1" "${line: -${#2}}" "$2"
}
among among64 'f61=61 e=4660'
among counted 'n=5 e=7 x=[118 119 120 121 122]'

# ------------------------------------------------------ records without bytes

# Records of a section without tags take bytes, or nobody could count them.
cat >nothing.dtd <<'END'
section s 1 {
	r : (a, b) {
		a.interpretation = default 3;
		b.width = 0; b.interpretation = none;
	}
}
END
run "$HATF" metatf check nothing.dtd
check_status 'a record of no bytes' 1
check_one_line 'a record of no bytes' "hatf metatf: nothing.dtd:2:2: record\
 'r' of section 's' takes no bytes: expected a tag or a stored field"

# A width of another section is always 0, but the section has a byte.
cat >endless.dtd <<'END'
n.width = 1; n.interpretation = sectionStride 2 0;
d.width = n.value; d.interpretation = none;
v.width = 1; v.interpretation = none;
section s 1 { r : (n, d) }
section c 2 { element : (v) }
END
"$PYTHON" - <<'END'
import struct
start = 16 + 24 + 48
with open('endless.mtf', 'wb') as file:
    file.write(b'\177MTF' + bytes([2, 1, 0, 0]) + bytes(8))
    file.write(struct.pack('<3Q', 2, start, 2 ** 64 - 1))
    file.write(struct.pack('<6Q', 1, start + 2, 1, 2, start + 5, 1))
    file.write(bytes([2, 1, 0, 2, 2, 0]))
END
cat >endless_c.c <<'END'
#include "endless.h"

#include <stdio.h>

int
main(void)
{
	struct endless_reader *const r = endless_reader_open("endless.mtf");
	struct endless_record x;

	while (r != NULL && endless_reader_next(r, &x))
		;
	fprintf(stderr, "%s\n", r != NULL ? endless_reader_error(r) : "no file");
	return 1;
}
END
"$HATF" metatf gen endless.dtd >/dev/null &&
	"$HATF" metatf gen --lang python endless.dtd >/dev/null &&
	cc -std=gnu11 -O1 -o endless_c endless_c.c endless.c ||
	fail 'endless: cc'
why='offset 0x5a, record 65536: *: more than 65536 records in a row have no*'
run timeout 60 "$HATF" metatf dump --dtd endless.dtd endless.mtf
check_status 'endless: hatf' 1
check_one_line 'endless: hatf' "hatf metatf: endless.mtf: $why"
run timeout 60 ./endless_c
check_status 'endless: C' 1
check_one_line 'endless: C' "$why"
timeout 120 "$PYTHON" endless.py endless.mtf >/dev/null 2>err
status=$?
check_status 'endless: Python' 1
check_one_line 'endless: Python' "*$why"

# ------------------------------------------------------------ very many values

# As many values as a record may have are read by each reader.
cat >most.dtd <<'END'
n.width = 4; n.interpretation = none;
x.width = 0; x.interpretation = none;
d.width = n.value; d.interpretation = none;
deep : (x)
section s 1 {
	flat : (tag, n, n*x) { tag.value = 4; }
	nested : (tag, n, n*(a : (deep), b : (deep), c : (deep))) {
		tag.value = 5;
	}
	blob : (tag, n, d) { tag.value = 6; }
}
END
"$PYTHON" - <<'END'
import struct
start = 16 + 24 + 24
for name, tag, count in ('most', 4, 1000000), ('nested', 5, 300000):
    with open(name + '.mtf', 'wb') as file:
        file.write(b'\177MTF' + bytes([2, 1, 0, 0]) + bytes(8))
        file.write(struct.pack('<3Q', 1, start, 1))
        file.write(struct.pack('<3Q', 1, start + 2, 5))
        file.write(bytes([2, 1, tag]) + struct.pack('<I', count))
END
sed 's/endless/most/g' endless_c.c >most_c.c
"$HATF" metatf gen most.dtd >/dev/null &&
	"$HATF" metatf gen --lang python most.dtd >/dev/null &&
	cc -std=gnu11 -O1 -o most_c most_c.c most.c || fail 'most: cc'
run "$HATF" metatf dump --dtd most.dtd most.mtf
check_status 'most: hatf' 0
run ./most_c
check 'most: C' "$(cat err)" '(null)'
run "$PYTHON" most.py most.mtf
check_status 'most: Python' 0
# A writer refuses what no reader would read.
cat >write_most.c <<'END'
#include "most.h"

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	const uint64_t n = strtoull(argv[argc - 1], NULL, 10);
	const uint8_t *const zeros = calloc(n, 1);
	struct most_writer *const w = most_writer_open("made.mtf", 0);
	const struct most_flat flat = { n, calloc(n, sizeof(uint64_t)) };
	const struct most_blob blob = { n, { zeros, n } };
	const char *why;

	if (n < 2000000)
		most_writer_put_flat(w, &flat);
	else
		most_writer_put_blob(w, &blob);
	if (most_writer_close(w, &why))
		return 0;
	fprintf(stderr, "%s\n", why);
	return 1;
}
END
cc -std=gnu11 -O1 -o write_most write_most.c most.c || fail 'write_most: cc'
for n in 1047000 67108864; do
	run ./write_most $n
	check_status "write $n" 0
	run "$HATF" metatf dump made.mtf
	check_status "read $n" 0
done
run ./write_most 1048577
check_status 'write too many values' 1
check_one_line 'write too many values' 'flat: more than 1047552 values'
run ./write_most 67108865
check_status 'write too many bytes' 1
check_one_line 'write too many bytes' 'blob: more than 67108864 bytes'
# In Python, each nested record takes memory.
"$PYTHON" most.py nested.mtf >/dev/null 2>err
status=$?
check_status 'nested: Python' 1
check_one_line 'nested: Python' \
	'*offset 0x42, record 0: more than 1048576 nested records'

# ------------------------------------------------------------ compressed data

# Section c has numbers for section s.  Each reader checks both to their ends.
cat >packed.dtd <<'END'
e.width = 1; e.interpretation = sectionStride 2 1;
v.width = 1; v.interpretation = none;
section s 1 { r : (tag, e) { tag.value = 4; } }
section c 2 { element : (v) }
END
"$PYTHON" - <<'END'
import gzip
import struct


def trace(name, records, numbers):
    start = 16 + 24 + 48
    with open(name + '.mtf', 'wb') as file:
        file.write(b'\177MTF' + bytes([2, 1, 0, 1]) + bytes(8))
        file.write(struct.pack('<3Q', 2, start, 3))
        file.write(struct.pack('<3Q', 1, start + 2, len(records)))
        file.write(struct.pack('<3Q', 2, start + 4 + len(records),
                               len(numbers)))
        file.write(bytes([2, 1]) + records + bytes([2, 2]) + numbers)


records, numbers = gzip.compress(bytes([4, 4, 4])), gzip.compress(b'123')
wrong = bytes([numbers[-8] ^ 1])
trace('whole', records, numbers)
trace('sum', records, numbers[:-8] + wrong + numbers[-7:])
trace('short', records[:-8], numbers)
trace('short2', records, numbers[:-8])
END
sed 's/"endless.mtf"/argv[1]/; s/void/int argc, char **argv/; s/endless/packed/g
	s/return 1;/return r == NULL || argc != 2 || packed_reader_error(r);/' \
	endless_c.c >packed_c.c
"$HATF" metatf gen packed.dtd >/dev/null &&
	"$HATF" metatf gen --lang python packed.dtd >/dev/null &&
	cc -std=gnu11 -O1 -DPACKED_ZLIB=1 -o packed_c packed_c.c packed.c \
		-lz || fail 'packed: cc'
for name in whole sum short short2; do
	want=1
	[ $name != whole ] || want=0
	run "$HATF" metatf dump --dtd packed.dtd $name.mtf
	check_status "compressed, $name: hatf" $want
	run ./packed_c $name.mtf
	check_status "compressed, $name: C" $want
	"$PYTHON" packed.py $name.mtf >out 2>err
	status=$?
	check_status "compressed, $name: Python" $want
	[ $want -eq 0 ] || check_one_line "compressed, $name: Python" \
		"*.mtf: offset 0x*, record *: the compressed data are damaged*"
done

finish
