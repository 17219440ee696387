#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rooms.sh - check-includes.sh finds a use that the table of rooms forbids
set -u
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

top=$(realpath "$CLI/../..")
mkdir -p tree/build
cp -r "$top"/{hatf,preload,tools,scripts} tree
cp -rs "$BUILD/obj" tree/build/obj
export BUILD=build

# expect_complaint PATTERN...: the check fails, and a line of its output matches
# PATTERN.  Several words are one pattern.
expect_complaint()
{
	local said

	said=$(tree/scripts/check-includes.sh) &&
		fail "the check passes in spite of: $*"
	grep -q "$*" <<<"$said" || fail "no complaint about '$*': $said"
}

said=$(tree/scripts/check-includes.sh) || fail "the unchanged tree: $said"

# An include of a higher room.
echo '#include "hatf/events/events.h"' >>tree/hatf/codec/layout.h
expect_complaint '^hatf/codec/layout.h uses "hatf/events/events.h" of' \
	'hatf/events, which hatf/codec may not$'
expect_complaint '^rooms use each other: .*hatf/codec'
cp "$top/hatf/codec/layout.h" tree/hatf/codec/layout.h

# A call without an include.
cat >tree/hatf/rings/sneak.c <<'END'
struct hatf_reader;
void hatf_reader_close(struct hatf_reader *reader);
void sneak(void);

void
sneak(void)
{
	hatf_reader_close(0);
}
END
"${CC:-cc}" -c -o tree/build/obj/hatf/rings/sneak.o tree/hatf/rings/sneak.c
expect_complaint '^hatf/rings/sneak.c uses hatf_reader_close() of hatf,' \
	'which hatf/rings may not$'
rm tree/hatf/rings/sneak.c

# Two files of one room that call each other.
for pair in 'one two' 'two one'; do
	read -r from to <<<"$pair"
	printf 'void %s(void);\nvoid %s(void);\nvoid %s(void) { %s(); }\n' \
		"$from" "$to" "$from" "$to" >"tree/hatf/rings/$from.c"
	"${CC:-cc}" -c -o "tree/build/obj/hatf/rings/$from.o" \
		"tree/hatf/rings/$from.c"
done
expect_complaint '^files use each other: hatf/rings/one.c hatf/rings/two.c$'
rm tree/hatf/rings/{one,two}.c

# A header of a library that the room may not include.
echo '#include <zlib.h>' >>tree/hatf/rings/order.c
expect_complaint '^hatf/rings includes <zlib.h> of '
cp "$top/hatf/rings/order.c" tree/hatf/rings/order.c

# A room that the table lacks, and two headers of one name.
mkdir tree/hatf/attic
echo >tree/hatf/attic/attic.c
expect_complaint '^hatf/attic: no such room in the table'
rm -r tree/hatf/attic
echo >tree/tools/ui/layout.h
expect_complaint '^layout.h is the name of two headers$'
rm tree/tools/ui/layout.h

# A README that does not name a room in use, or names one that is not in use.
readme=hatf/containers/README.md
sed -i 's|^\*\*Uses:.*|**Uses:** `hatf.h`, `hatf/io`.|' "tree/$readme"
expect_complaint "^$readme: \"Uses\" lacks hatf/codec$"
expect_complaint "^$readme: hatf/containers does not use hatf/io$"
cp "$top/$readme" "tree/$readme"

tree/scripts/check-includes.sh --table >table || fail 'no table'
grep -qE '^hatf/codec +[0-9]+ +[0-9]+  api$' table || fail "table: $(cat table)"

finish
