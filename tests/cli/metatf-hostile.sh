#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metatf-hostile.sh - a stranger's DTD or trace harms nobody
#
# Words of a DTD never become code; a small trace takes little memory.
# metatf.sh has DTDs that must be refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'
PYTHON=$(python3 -c 'import sys; print(sys.executable)')
headers=$CLI/../../preload

# ------------------------------------------------------------ words into code

# Comments and strings that would end those of C or Python.
cat >words.dtd <<'END'
// Meta-TF version 1.0
// */ int evil(void) { return 1; } /*
/* """ + open('evil', 'w').write('') + """ ??/
 \ */
a.width = 1; a.interpretation = none; // trailing \
// " ' \" ??/" %s %n
// \u000a int evil;
b.width = 1; b.interpretation = none; // last \
r : (tag, a, b) { tag.value = 4; a.unit = "x\"*/ ??/ \"\"\" \\"; }
/* ''' \N{LATIN SMALL LETTER A} */
END
# Names that are macros of the headers, keywords, or of Python's objects.
"$PYTHON" - >names.dtd <<'END'
names = '''errno EOF NULL BUFSIZ EINTR O_RDONLY linux unix st_atime size_t uint64_t
uint8_t bool true int int_ _Bool __unix__ __LINE__ __FILE__ _LP64 and or not xor
None True self class lambda __init__ __class__ SCHEMA MAX_BYTES NO_FIELD Z_OK
UINT64_MAX main this new offsetof assert x X X_ _ __ length data name'''.split()
for name in names:
    print('%s.width = 1; %s.interpretation = none;' % (name, name))
fields = ', '.join(names)
print('a.width = n.value; a.interpretation = none;')
print('n.width = 1; n.interpretation = none;')
print('all : (tag, %s, n, n*(%s)) { tag.value = 4; }' % (fields, fields))
print('section records 1 {')
for i, name in enumerate(names):
    print('%s : (tag, n, n*(a, a), n*a) { tag.value = %d; }' % (name, 5 + i))
print('}')
END
for dtd in words names; do
	run "$HATF" metatf check $dtd.dtd
	check_status "$dtd" 0
	"$HATF" metatf gen --events $dtd.dtd >/dev/null &&
		"$HATF" metatf gen --lang python $dtd.dtd >/dev/null ||
		fail "gen $dtd"
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		for language in -std=gnu11 '-std=c11 -trigraphs -D_GNU_SOURCE'
		do
			# shellcheck disable=SC2086 # several words
			$compiler $language -Wall -Wextra -Wshadow -Werror -c \
				-o $dtd.o $dtd.c ||
				fail "$dtd: $compiler $language"
		done
		nm $dtd.o | grep -q evil && fail "$dtd: a word is code"
		$compiler -std=gnu11 -fsyntax-only -I"$headers" -x c \
			${dtd}_events.h || fail "$dtd: events, $compiler"
	done
	! command -v g++ >/dev/null ||
		g++ -fsyntax-only -x c++ $dtd.h || fail "$dtd: C++"
	"$PYTHON" $dtd.py || fail "$dtd: Python"
done
[ ! -e evil ] || fail 'a word is code of Python'

# The name of the file becomes an identifier, in the folder of -o.
mkdir folder
for name in '..' '-x' 'a b' "x';y" 'errno' 'time' 'class' '..x' $'n\nl' 'é'; do
	cp words.dtd "folder/$name.dtd"
	mkdir -p made
	"$HATF" metatf gen -o made "folder/$name.dtd" >/dev/null &&
		"$HATF" metatf gen -l python -o made "folder/$name.dtd" \
			>/dev/null || fail "name $name"
	check "name $name: files" "$(find made -type f | wc -l)" 3
	(cd made && cc -std=gnu11 -Wall -Werror -I. -c ./*.c) &&
		"$PYTHON" made/*.py || fail "name $name: code"
	module=$(basename made/*.py .py)
	(cd made && "$PYTHON" -c "import $module; $module.Reader") ||
		fail "name $name: import"
	rm -r made
done

# Very many records: the time grows with their number, not with its square.
"$PYTHON" - >records.dtd <<'END'
print('tag.width = 4;')
for i in range(100000):
    print('r%d:(tag){tag.value=%d;}' % (i, i + 4))
END
timeout 60 "$HATF" metatf gen --events records.dtd >/dev/null ||
	fail 'gen of very many records'
rm records*

# --------------------------------------------------------------------- memory

# A trace of a few bytes whose values take none, or that unpacks to very many.
"$PYTHON" - <<'END'
import struct
import zlib

fields = ', '.join('f%d' % i for i in range(1000))
with open('many.dtd', 'w') as file:
    print('n.width = 4; n.interpretation = none;', file=file)
    for i in range(1000):
        print('f%d.width = 1; f%d.interpretation = default 0;' % (i, i),
              file=file)
    print('section s 1 { r : (tag, n, n*(%s)) { tag.value = 4; } }' % fields,
          file=file)


def trace(path, section, packed):
    start = 16 + 24 + 24
    with open(path, 'wb') as file:
        file.write(b'\177MTF' + bytes([2, 1, 0, packed]) + bytes(8))
        file.write(struct.pack('<3Q', 1, start, 2 ** 64 - 1))
        file.write(struct.pack('<3Q', 1, start + 2, len(section)))
        file.write(bytes([2, 1]) + section)


trace('many.mtf', bytes([4]) + struct.pack('<I', 1 << 20), 0)
pack = zlib.compressobj(9, zlib.DEFLATED, 31)
bomb = b''.join(pack.compress(bytes(1 << 20)) for i in range(400))
trace('bomb.mtf', bomb + pack.flush(), 1)
END
"$HATF" metatf gen many.dtd >/dev/null &&
	"$HATF" metatf gen --lang python many.dtd >/dev/null || fail 'gen many'
cat >read_many.c <<'END'
#include "many.h"

#include <stdio.h>

int
main(int argc, char **argv)
{
	struct many_reader *const r = many_reader_open(argv[argc - 1]);
	struct many_record x;

	while (r != NULL && many_reader_next(r, &x))
		;
	if (r == NULL || many_reader_error(r) == NULL)
		return 0;
	fprintf(stderr, "%s\n", many_reader_error(r));
	return 1;
}
END
cc -std=gnu11 -O1 -DMANY_ZLIB=1 -o read_many read_many.c many.c -lz ||
	fail 'cc many'

# little WHAT PATTERN COMMAND...: the command refuses the trace within 300 MB.
little()
{
	local what=$1 pattern=$2

	shift 2
	(ulimit -v 300000 && exec timeout 30 "$@") >out 2>err
	status=$?
	check_status "$what" 1
	check_one_line "$what" "$pattern"
}

for trace in 'many too many values' "bomb no record of section s has tag 0"; do
	path=${trace%% *}.mtf
	little "C, $path" "*${trace#* }" ./read_many "$path"
	little "Python, $path" '*' "$PYTHON" many.py "$path"
	little "hatf, $path" "hatf metatf: $path: *" "$HATF" metatf dump \
		--dtd many.dtd "$path"
done

finish
