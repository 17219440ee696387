#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-install.sh - install, use the installed files, uninstall completely
set -eu
cd "$(dirname "$0")/.."
: "${TMP:=$(mktemp -d)}"
root=$TMP/root
here=$root/usr/local

# Keep the default prefix: with another one, make would rebuild 'hatf'.
make -s install DESTDIR="$root" >/dev/null

cat >"$TMP/example.c" <<'END'
#include <hatf.h>
#include <stdio.h>

/* Write a trace of one allocation, read it back. */
int
main(int argc, char **argv)
{
	const struct hatf_record alloc = {
		.tag = HATF_ALLOC, .address = 0x1000, .size = 64,
	};
	struct hatf_record read[8];
	struct hatf_writer *writer;
	struct hatf_reader *reader;
	struct hatf_error err;
	size_t n, i;
	int found = 0;

	if (argc != 2 || hatf_writer_open(argv[1], NULL, &writer, &err))
		return 1;
	if (hatf_writer_write(writer, &alloc, 1) ||
	    hatf_writer_close(writer, &err))
		return 1;
	if (hatf_reader_open(argv[1], NULL, &reader, &err))
		return 1;
	while (hatf_reader_read(reader, read, 8, &n) == HATF_OK)
		for (i = 0; i < n; i++)
			found += read[i].tag == HATF_ALLOC &&
				 read[i].address == 0x1000;
	hatf_reader_close(reader);
	printf("%d\n", found);
	return found != 1;
}
END
cp "$TMP/example.c" "$TMP/example.cc"
sed -i 's/\.tag = HATF_ALLOC, .*,$/HATF_ALLOC/' "$TMP/example.cc"
sed -i 's/const struct hatf_record alloc = {/struct hatf_record alloc = {/;
	s/^	if (argc != 2/	alloc.address = 0x1000;\n&/' "$TMP/example.cc"

export PKG_CONFIG_PATH=$here/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
[ "$(pkg-config --modversion hatf)" = \
	"$(sed -n 's/^#define HATF_VERSION "\(.*\)"/\1/p' hatf/hatf.h)" ]
read -ra cflags <<<"$(pkg-config --cflags hatf)"
read -ra shared <<<"$(pkg-config --libs hatf)"
read -ra static <<<"$(pkg-config --static --libs hatf |
	sed 's/-lhatf/-l:libhatf.a/')"

echo 'a program that uses the shared library'
${CC:-cc} -Wall -Werror "${cflags[@]}" -o "$TMP/shared" "$TMP/example.c" \
	"${shared[@]}"
LD_LIBRARY_PATH=$here/lib "$TMP/shared" "$TMP/shared.hatf.gz"
LD_LIBRARY_PATH=$here/lib ldd "$TMP/shared" | grep -F "$here/lib/libhatf.so.0"
echo 'the same program with the static library'
${CC:-cc} "${cflags[@]}" -o "$TMP/static" "$TMP/example.c" "${static[@]}"
"$TMP/static" "$TMP/static.hatf.gz"
echo 'the same program in C++'
${CXX:-c++} -Wall "${cflags[@]}" -o "$TMP/cxx" "$TMP/example.cc" "${static[@]}"
"$TMP/cxx" "$TMP/cxx.hatf.gz"

echo 'the example in hatf.h, of at most fifteen lines, in C and C++'
sed -n '/^ \*\t#include <hatf.h>/,/^ \*\t}/s/^ \*\t//p' \
	"$here/include/hatf.h" >"$TMP/header.c"
[ "$(wc -l <"$TMP/header.c")" -le 15 ]
printf '%s\n' '0 24 0x1000' '0 40 0x2000' '1 0x1000' >"$TMP/header.ascii"
${CC:-cc} -Wall -Wextra -Werror "${cflags[@]}" -o "$TMP/header" \
	"$TMP/header.c" "${static[@]}"
[ "$("$TMP/header" "$TMP/header.ascii")" = 64 ]
${CXX:-c++} -Wall -Wextra -Werror "${cflags[@]}" -o "$TMP/header" -x c++ \
	"$TMP/header.c" -x none "${static[@]}"
[ "$("$TMP/header" "$TMP/header.ascii")" = 64 ]

echo 'each header alone, in C and C++'
for header in "$here"/include/*.h; do
	echo "#include <${header##*/}>" >"$TMP/alone.c"
	${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror "${cflags[@]}" \
		-fsyntax-only "$TMP/alone.c"
	${CXX:-c++} -std=c++11 -Wall -Wextra -Wpedantic -Werror \
		"${cflags[@]}" -fsyntax-only -x c++ "$TMP/alone.c"
done

echo 'the DTDs of Meta-TF, with the installed command'
for dtd in hatf/metatf/dtd/*.dtd; do
	"$here/bin/hatf" metatf check \
		"$here/share/hatftrace/metatf/${dtd##*/}" >/dev/null
done

echo 'the installed command with the installed recorder'
"$here/bin/hatf" record -o "$TMP/true.hatf.gz" -- ls / >/dev/null
"$here/bin/hatf" verify "$TMP/true.hatf.gz" "$TMP/shared.hatf.gz"

make -s uninstall DESTDIR="$root" >/dev/null
rest=$(find "$root" ! -type d)
[ -z "$rest" ] || {
	echo "make uninstall did not remove: $rest"
	exit 1
}
