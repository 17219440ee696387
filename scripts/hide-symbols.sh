#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hide-symbols.sh - mark dynamic symbols of a shared object as hidden
#
# usage: scripts/hide-symbols.sh FILE SYMBOL...
#
# The symbols stay in the dynamic symbol table; a linker would drop symbols that
# are hidden from the start.  preload/interpose/interpose_musl.c has the reason.
# READELF names another readelf.
set -eu
file=$1
shift
export LC_ALL=C

# Each entry of an ELF64 table has 24 bytes; the visibility is in the sixth.
table=$("${READELF:-readelf}" -SW "$file" |
	sed -n 's/^.* \.dynsym  *DYNSYM  *[0-9a-f]*  *\([0-9a-f]*\) .*/\1/p')
for name; do
	index=$("${READELF:-readelf}" -W --dyn-syms "$file" |
		awk -v name="$name" '$7 != "UND" && $8 ~ "^" name "(@|$)" {
			sub(":", "", $1); print $1; exit }')
	if [ -z "$table" ] || [ -z "$index" ]; then
		echo "hide-symbols.sh: $file does not define $name" >&2
		exit 1
	fi
	printf '\002' | dd of="$file" bs=1 count=1 conv=notrunc status=none \
		seek=$((0x$table + index * 24 + 5))
done
