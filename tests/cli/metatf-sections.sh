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

finish
