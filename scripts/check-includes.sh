#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-includes.sh - each room uses only the rooms and libraries it may use
#
# usage: scripts/check-includes.sh [--table]
#
# A room is a folder.  The first table below says which rooms each room may use.
# A room uses another one if one of its files includes a header of the other, or
# if an object of the build refers to a function or variable of the other.  The
# second table says which headers of libraries each room may include.  The
# README of a room names the rooms that the room uses.
#
# --table prints for each room its files, its lines and the rooms that it uses.
set -u
cd "$(dirname "$0")/.." || exit 2
build=${BUILD:-build/plain}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
status=0

# ROOM: THE ROOMS IT MAY USE.  'api' is the public header hatf/hatf.h.  'public'
# is that header and the functions that it declares, in whichever room they are
# defined.  PARENT/* is each room in PARENT.
rooms="
hatf/codec: api
hatf/decoder: api hatf/codec
hatf/base: api
hatf/deflate: hatf/codec
hatf/rings: api hatf/codec
hatf/recorder: hatf/deflate
hatf/containers: api hatf/codec
hatf/io: api hatf/codec hatf/deflate
hatf/optimum: api hatf/codec
hatf/formats/common: api hatf/codec hatf/containers hatf/io hatf/base
hatf/formats/ours: api hatf/codec hatf/deflate hatf/formats/common hatf/io \
  hatf/optimum hatf/decoder
hatf/formats/text: api hatf/codec hatf/formats/common hatf/io hatf/base
hatf/formats/foreign: api hatf/codec hatf/containers hatf/formats/common hatf/io
hatf/formats/heaptrack: api hatf/codec hatf/containers hatf/formats/common \
  hatf/io
hatf/formats/memtrace: api hatf/codec hatf/containers hatf/formats/common \
  hatf/io
hatf/formats/profiles: api hatf/codec hatf/containers hatf/formats/common \
  hatf/io
hatf/formats/metatf: api hatf/codec hatf/formats/common hatf/io hatf/metatf \
  hatf/metatf/trace
hatf/formats: api hatf/formats/* hatf/io hatf/base
hatf: api hatf/codec hatf/formats hatf/formats/common hatf/io hatf/base
hatf/frames: api
hatf/events: api hatf hatf/codec hatf/containers hatf/io hatf/base hatf/decoder
hatf/recover: api hatf hatf/codec hatf/deflate hatf/formats/common hatf/io \
  hatf/rings hatf/base
preload:
preload/sys: hatf/codec
preload/clock: preload/sys
preload/stacks: hatf/rings preload/sys
preload/config: api hatf/codec hatf/deflate hatf/recorder preload/sys
preload/confine: hatf/codec hatf/rings preload/sys
preload/state: hatf/recorder preload/sys
preload/record: api hatf/codec hatf/recorder hatf/rings preload/clock \
  preload/config preload/confine preload/stacks preload/state preload/sys
preload/trace: api hatf/codec hatf/deflate hatf/recorder hatf/rings \
  preload/clock preload/config preload/record preload/stacks preload/sys
preload/control: hatf/codec hatf/recorder preload/confine preload/state \
  preload/sys
preload/writer: api hatf/codec hatf/deflate hatf/recorder hatf/rings \
  preload/clock preload/config preload/confine preload/control preload/record \
  preload/state preload/sys preload/trace
preload/heaps: hatf/rings preload preload/clock preload/record preload/stacks \
  preload/state preload/sys
preload/process: api hatf/codec hatf/recorder hatf/rings preload/clock \
  preload/config preload/confine preload/control preload/heaps preload/record \
  preload/state preload/sys preload/trace preload/writer
preload/interpose: hatf/codec hatf/rings preload preload/clock \
  preload/confine preload/control preload/heaps preload/process \
  preload/record preload/stacks preload/state preload/sys preload/writer
hatf/metatf:
hatf/metatf/trace: hatf/metatf hatf/io
tools/ui: public
tools/trace: public tools/ui
tools/sites: public hatf/codec hatf/frames tools/ui
tools/check: public tools/trace tools/ui
tools/program: public hatf/recorder tools/trace tools/ui
tools/control: public hatf/recorder tools/sites tools/symbols tools/trace \
  tools/ui
tools/symbols: public tools/trace tools/ui
tools/recording: public hatf/recorder tools/control tools/program \
  tools/show tools/summary tools/symbols tools/trace tools/ui
tools/summary: public tools/sites tools/trace tools/ui
tools/show: public tools/sites tools/summary tools/trace tools/ui
tools/compare: public hatf/frames tools/show tools/sites tools/summary \
  tools/ui
tools/limits: public hatf/frames tools/compare tools/sites tools/summary \
  tools/trace tools/ui
tools/live: public hatf/frames tools/control tools/sites tools/summary \
  tools/symbols tools/trace tools/ui
tools/privacy: public hatf/frames tools/ui
tools/measure: public tools/trace tools/ui
tools/paper: public tools/measure tools/trace tools/ui
tools/report: public tools/sites tools/summary tools/trace tools/ui
tools/plot: public tools/show tools/sites tools/summary tools/trace tools/ui
tools/metatf: public hatf/metatf hatf/metatf/trace tools/trace tools/ui
tools/driver: public
tools/compile: public hatf/containers tools/driver tools/sites tools/trace \
  tools/ui
tools/model: public hatf/containers tools/compile tools/driver \
  tools/summary tools/ui
tools/replay: public tools/compile tools/driver tools/model tools/report \
  tools/trace tools/ui
tools/commands: public hatf/metatf hatf/metatf/trace hatf/recorder \
  tools/*
"

# ROOM: PATTERN of the library headers that the room may include.  Every room
# may include the headers of libc.
libraries='
hatf/deflate: zlib\.h|isa-l/.*|isa-l\.h
hatf/io: zlib\.h|libdeflate\.h|zstd.*\.h|lz4frame\.h
hatf/formats/ours: zlib\.h
hatf/formats/metatf: zlib\.h
hatf/metatf/trace: zlib\.h
hatf/formats/text: expat.*\.h
tools/ui: jansson\.h
tools/trace: jansson\.h
tools/symbols: dwarf\.h|elfutils/.*|libiberty/.*|zlib\.h
tools/check: jansson\.h
tools/recording: jansson\.h
tools/control: jansson\.h
tools/show: jansson\.h
tools/compare: jansson\.h
tools/limits: jansson\.h
tools/plot: cairo/cairo\.h
tools/replay: jansson\.h
tools/measure: jansson\.h|zlib\.h
tools/paper: jansson\.h
tools/commands: jansson\.h
'

complain()
{
	echo "$*"
	status=1
}

sources()
{
	find hatf preload tools -name '*.[ch]' | sort
}

# Print FILE TARGET for each quoted include.
list_includes()
{
	sources | xargs sed -nsE \
		'1F; s|^#[[:space:]]*include[[:space:]]*"([^"]+)".*|"\1|p' |
		awk '!/^"/ { file = $0 } /^"/ { print file, substr($0, 2) }'
}

# Print FILE TARGET SYMBOL for each symbol that FILE's object imports and
# TARGET's object defines.  Only preload/ is linked with the functions of
# preload/, so a call from elsewhere means another function.  The functions of
# preload/interpose/ have names of libc, and every call means libc's function.
list_calls()
{
	local object

	sources | sed -n "s|\(.*\)\.c\$|$build/obj/\1.o|p" |
		while read -r object; do
			[ -e "$object" ] && echo "$object"
		done |
		xargs -r nm -A --format=posix |
		awk -v prefix="$build/obj/" '
		{
			file = substr($1, length(prefix) + 1)
			sub(/\.o:$/, ".c", file)
		}
		$3 == "U" { user[++n] = file; symbol[n] = $2 }
		$3 ~ /^[TDBRVC]$/ { owner[$2] = file }
		END {
			for (i = 1; i <= n; i++) {
				to = owner[symbol[i]]
				if (to != "" && to !~ /^preload\/interpose/ &&
				    (to !~ /^preload/ || user[i] ~ /^preload/))
					print user[i], to, symbol[i]
			}
		}'
}

# Drop the only call to a higher room: record_steps.c calls attach.h to attach a
# thread.
drop_upcall()
{
	grep -vE '^preload/record/record_steps\.c preload/process/attach\.'
}

# Drop the calls between files of one module: narrate.c writes records,
# narrate_comments.c and narrate_stacks.c write comments, and all three open
# blocks (narrate_comments.h, narrate_stacks.h).
drop_siblings()
{
	local module=hatf/rings/narrate

	grep -vE "^${module}_(comments|stacks)\.c $module\.c"
}

# Print FROM TO FILE WHAT: the room FROM uses WHAT of the room TO in FILE.
list_uses()
{
	{
		list_includes | awk '{ print $1, $2, "\"" $2 "\"" }'
		awk '{ print $1, $2, $3 "()" }' "$work/calls"
	} | drop_upcall | awk '
		function room_of(file) {
			name = file
			sub(/^hatf\//, "", name)
			if (name ~ /^hatf(_content|_stream|_events)?\.h$/)
				return "api"
			sub(/\/[^\/]*$/, "", file)
			return file
		}
		{
			from = room_of($1)
			to = room_of($2)
			if (from ~ /^tools/ && (to == "api" || $3 ~ /^hatf_/))
				to = "public"
			if (from != to)
				print from, to, $1, $3
		}' | sort -u
}

check_rooms()
{
	local from to file what

	while read -r from to file what; do
		complain "$file uses $what of $to, which $from may not"
	done < <(echo "$rooms" | awk -v uses="$work/uses" '
		/:/ {
			from = $1
			sub(/:/, "", from)
			for (i = 2; i <= NF; i++)
				may[from, $i] = 1
		}
		END {
			while ((getline line < uses) > 0) {
				split(line, use, " ")
				parent = use[2]
				sub(/\/[^\/]*$/, "", parent)
				if (!may[use[1], use[2]] &&
				    !may[use[1], parent "/*"])
					print line
			}
		}')
	while read -r from; do
		complain "$from: no such room in the table in $0"
	done < <(comm -23 <(sources | sed 's|/[^/]*$||' | sort -u) \
		<(echo "$rooms" | sed -n 's/:.*//p' | sort -u))
}

# check_cycles WHAT: complain about cycles among the pairs on standard input.
# tsort prints each cycle on its standard error, one name a line.
check_cycles()
{
	local cycle

	cycle=$(cut -d' ' -f1,2 | sort -u | awk '$1 != $2' |
		tsort 2>&1 >/dev/null | sed -n 's/^tsort: //p' |
		grep -v 'contains a loop' | sort -u | tr '\n' ' ')
	[ -z "$cycle" ] || complain "$1 use each other: ${cycle% }"
}

# Print HEADER PACKAGE for each system header named on standard input: the
# package that owns the file which the compiler finds.  A header of the compiler
# itself has the package "compiler".  A header of no package gets no line.
list_owners()
{
	local folder='include(-fixed)?(/[^/]*-linux-gnu[^/]*)?'

	sort -u >"$work/headers"
	sed 's/.*/#include <&>/' "$work/headers" |
		${CC:-cc} -D_GNU_SOURCE -E -xc - 2>/dev/null |
		sed -nE 's/^# 1 "([^"]+)".*/\1/p' | sort -u >"$work/paths"
	sed -E "s|^(/.*)?/$folder/(.*)|\4 &|" "$work/paths" |
		sort -u -k 1,1 | join "$work/headers" - >"$work/named"
	cut -d' ' -f2 "$work/named" | xargs -r realpath |
		paste -d' ' - <(cut -d' ' -f1 "$work/named") | sort \
		>"$work/found"
	cut -d' ' -f1 "$work/found" | xargs -r dpkg-query -S 2>/dev/null |
		sed -E 's/^([^:]+):.* (.*)/\2 \1/' | sort |
		join -o 1.2,2.2 "$work/found" -
	awk '$1 ~ /\/lib\/(gcc|clang)\// { print $2, "compiler" }' "$work/found"
}

check_libraries()
{
	local room name pattern owner
	declare -A owners=() patterns=()

	sources | xargs sed -nsE \
		'1F; s|^#[[:space:]]*include[[:space:]]*<([^>]+).*|<\1|p' |
		awk '!/^</ { sub(/\/[^\/]*$/, ""); room = $0 }
		    /^</ { print room, substr($0, 2) }' |
		sort -u >"$work/angled"
	while read -r name owner; do
		owners[$name]=$owner
	done < <(cut -d' ' -f2 "$work/angled" | list_owners)
	while IFS=: read -r room pattern; do
		[ -z "$room" ] || patterns[$room]=${pattern# }
	done <<<"$libraries"
	while read -r room name; do
		pattern=${patterns[$room]:-}
		[[ -n $pattern && $name =~ ^($pattern)$ ]] && continue
		owner=${owners[$name]:-no package}
		[[ $owner =~ ^(libc6-dev|linux-libc-dev|compiler)$ ]] ||
			complain "$room includes <$name> of $owner"
	done <"$work/angled"
}

# Each header's name is unique in the tree.
check_names()
{
	local name

	while read -r name; do
		complain "$name is the name of two headers"
	done < <(sources | sed -n 's|.*/\(.*\.h\)$|\1|p' | sort | uniq -d)
}

# list_said: print ROOM USED for each room that the paragraph "Uses" of a room's
# README names.  `config` after `preload/clock` means preload/config.
list_said()
{
	sources | grep '\.c$' | sed 's|/[^/]*$||' | sort -u >"$work/rooms"
	sed 's|$|/README.md|' "$work/rooms" | while read -r file; do
		[ ! -e "$file" ] || echo "$file"
	done | xargs -r awk -v rooms="$work/rooms" '
		BEGIN {
			while ((getline name < rooms) > 0)
				is_room[name] = 1
			is_room["preload"] = 1
		}
		FNR == 1 {
			room = FILENAME
			sub(/\/README.md$/, "", room)
			parent = ""
			on = 0
		}
		/^\*\*Uses:/ { on = 1 }
		/^$/ { on = 0 }
		on {
			if (/all rooms of `tools`/)
				print room, "tools/*"
			n = split($0, word, "`")
			for (i = 2; i <= n; i += 2) {
				name = word[i]
				if (name == "hatf.h") {
					print room, "api"
					continue
				}
				if (!is_room[name])
					name = parent "/" name
				if (!is_room[name])
					continue
				print room, name
				parent = name
				sub(/\/[^\/]*$/, "", parent)
			}
		}'
}

# The README of a room names the rooms that the room uses, and no others.
check_readmes()
{
	local message

	list_said >"$work/said"
	while read -r message; do
		complain "$message"
	done < <(awk '
		NR == FNR { said[$1, $2] = 1; has_readme[$1] = 1; next }
		{
			sub(/^public$/, "api", $2)
			used[$1, $2] = 1
			parent = $2
			sub(/\/[^\/]*$/, "/*", parent)
			if (has_readme[$1] && !(($1, $2) in said) &&
			    !(($1, parent) in said))
				print $1 "/README.md: \"Uses\" lacks " $2
		}
		END {
			for (pair in said) {
				split(pair, room, SUBSEP)
				if (!used[pair] && room[2] != "tools/*")
					print room[1] "/README.md: " room[1] \
						" does not use " room[2]
			}
		}' "$work/said" "$work/uses" | sort -u)
}

print_table()
{
	local room uses files

	printf '%-22s %5s %6s  %s\n' room files lines uses
	while read -r room; do
		uses=$(awk -v room="$room" '$1 == room { print $2 }' \
			"$work/uses" | sort -u | tr '\n' ' ')
		files=$(find "$room" -maxdepth 1 -name '*.[ch]')
		printf '%-22s %5d %6d  %s\n' "$room" "$(wc -l <<<"$files")" \
			"$(xargs cat <<<"$files" | wc -l)" "${uses% }"
	done < <(echo "$rooms" | sed -n 's/:.*//p')
}

list_calls >"$work/calls"
list_uses >"$work/uses"
case ${1:-} in
--table) print_table ;;
'') check_names && check_libraries ;;
*)
	echo "usage: $0 [--table]" >&2
	exit 2
	;;
esac
check_rooms
check_readmes
check_cycles rooms <"$work/uses"
check_cycles files < <(drop_upcall <"$work/calls" | drop_siblings)
exit $status
