#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-includes.sh - dependencies point one way: tools -> hatf <- preload
#
#   tools/    its own headers, hatf.h and hatf/recorder/, jansson and zlib
#   preload/  its own headers, hatf/rings/, hatf/recorder/ and the encoder's side
#             of hatf/
#   hatf/     its own headers and those of its folders, libc, zlib,
#             libdeflate, isa-l, zstd, lz4 and expat
#   hatf/rings/, which runs in the preload: its own and the encoder's side
#   hatf/recorder/, which runs there and in the tools: its own
#
# Names of headers are unique, so a name tells the folder.
set -u
cd "$(dirname "$0")/.." || exit 2

encoder='hatf.h encoder.h deflate.h text.h layout.h place.h trellis.h states.h uses.h bytes.h'
status=0

# own FOLDER: the headers of a folder, one blank between them.
own()
{
	find "$1" -maxdepth 1 -name '*.h' -printf '%f ' 2>/dev/null
}

complain()
{
	echo "$1 includes $2, which $3"
	status=1
}

check_quoted()
{
	local folder=$1 allowed=" $2 " file name

	while IFS=: read -r file name; do
		case $allowed in
		*" ${name##*/} "*) ;;
		*) complain "$file" "\"$name\"" "$folder/ may not" ;;
		esac
	done < <(grep -oHE '^#[[:space:]]*include[[:space:]]*"[^"]+' \
		"$folder"/*.[ch] 2>/dev/null | sed 's/#.*"//')
}

# The package that brings a system header, by where the compiler finds it.
header_owner()
{
	local path

	path=$(echo "#include <$1>" | ${CC:-cc} -D_GNU_SOURCE -M -xc - \
		2>/dev/null | tr ' ' '\n' | grep -m 1 -F "/$1")
	case $path in
	*/lib/gcc/* | */lib/clang/*) echo compiler ;;
	*) dpkg-query -S "$(realpath "${path:-nowhere}")" 2>/dev/null |
		head -n 1 | cut -d: -f1 ;;
	esac
}

# check_angled FOLDER PATTERN: of libraries, only those whose headers match.
check_angled()
{
	local folder=$1 libraries=$2 name owner

	while read -r name; do
		[[ $name =~ ^($libraries)$ ]] && continue
		owner=$(header_owner "$name")
		[[ $owner =~ ^(libc6-dev|linux-libc-dev|compiler)$ ]] ||
			complain "$folder/" "<$name>" "is of ${owner:-no package}"
	done < <(sed -nE 's/^#[[:space:]]*include[[:space:]]*<([^>]+).*/\1/p' \
		"$folder"/*.[ch] 2>/dev/null | sort -u)
}

for name in $(find hatf preload tools -name '*.h' -printf '%f\n' | sort | uniq -d); do
	echo "$name is the name of two headers"
	status=1
done
check_quoted tools "$(own tools)$(own hatf/recorder)hatf.h"
check_quoted preload "$(own preload)$(own hatf/rings)$(own hatf/recorder)$encoder"
check_quoted hatf "$(own hatf)$(own hatf/formats)$(own hatf/rings)"
check_quoted hatf/rings "$(own hatf/rings)$encoder"
check_quoted hatf/recorder "$(own hatf/recorder)"
check_quoted hatf/formats "$(own hatf)$(own hatf/formats)"
check_angled tools 'jansson\.h|zlib\.h'
check_angled preload '-'
check_angled hatf/formats 'expat.*\.h'
check_angled hatf/rings '-'
check_angled hatf/recorder '-'
check_angled hatf 'zlib\.h|libdeflate\.h|isa-l/.*|isa-l\.h|zstd.*\.h|lz4frame\.h'
exit $status
