#!/bin/bash
# SPDX-License-Identifier: MIT
#
# help.sh - --help and the man pages have the same commands and options
#
# Each page's synopsis and list must have exactly the options that --help
# prints, with the same letters.  --help prints the table that the command
# parses options with.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

top=$CLI/../..
man=$top/tools/man

# Print the options like "-o --output FILE", one a line, sorted.
options_of_help()
{
	local option='(-.|  ),? +--([a-z-]+)( ([A-Z]+))?'

	"$HATF" "$1" --help | sed -n '/^Options:/,/^$/p' |
		sed -nE "s/^  $option.*/\\1 --\\2 \\L\\4/p" | sort
}

# Print the same from lines such as ".It Fl o , Fl -output Ar file".
options_of_man()
{
	sed -nE 's/^\.It Fl (.) , Fl -([a-z-]+)( Ar ([a-z]+))?$/-\1 --\2 \4/p
		s/^\.It Fl -([a-z-]+)( Ar ([a-z]+))?$/   --\1 \3/p' \
		"$1" | sort
}

letters_of_synopsis()
{
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$1" |
		sed -nE 's/^\.(Op )?Fl ([a-zA-Z]+)( .*)?$/\2/p' |
		fold -w 1 | sort
}

commands=$("$HATF" --help | sed -n '/^Commands:/,/^$/p' |
	sed -nE 's/^  ([a-z]+) .*/\1/p')
check 'number of commands' "$(wc -w <<<"$commands")" 21
for command in $commands; do
	page=$man/hatf-$command.1
	[ -f "$page" ] || {
		fail "no man page for $command"
		continue
	}
	run "$HATF" "$command" --help
	check_status "$command --help" 0
	check_silent "$command --help"
	check "$command: usage" "$(head -1 out | cut -d ' ' -f 1-3)" \
		"Usage: hatf $command"
	run "$HATF" "$command" -h
	check_status "$command -h" 0
	options_of_man "$page" >want
	options_of_help "$command" >got
	check_text "$command: man page and --help" got <want
	check "$command: synopsis" "$(letters_of_synopsis "$page" | xargs)" \
		"$(grep -v -- --help want | cut -c 2 | sort | xargs)"
	grep -q "^\.It Cm $command\$" "$man/hatf.1" ||
		fail "hatf(1) does not name $command"
	awk 'length > 80' out | grep . && fail "$command --help: long lines"
done

# hatf-info(1) explains each key of the JSON output.
for key in format version complete events records lost threads duration_ns \
	file_bytes hatf_bytes bytes_per_record metadata_records blocks \
	peak_live_bytes peak_live_objects end_live_objects pid command clock; do
	grep -q "^\.It Cm $key\$" "$man/hatf-info.1" ||
		fail "hatf-info(1) does not explain $key"
done

# libhatf(3) has each function of the header, and its example compiles.
headers=$top/hatf
functions=$(grep -ohE '\bhatf_[a-z_]+\(' "$headers"/hatf*.h | tr -d '(' |
	sort -u)
for function in $functions; do
	grep -qE "^\.F[no] $function( |\$)" "$top/hatf/man/libhatf.3" ||
		fail "libhatf(3) does not have $function()"
done
if command -v "${CC:-cc}" >/dev/null; then
	sed -n '/^#include <hatf.h>/,/^}/p' "$top/hatf/man/libhatf.3" |
		sed 's/\\e/\\/g' >example.c
	"${CC:-cc}" -Wall -Wextra -Werror -I "$headers" -c example.c ||
		fail 'the example of libhatf(3) does not compile'
fi

if command -v mandoc >/dev/null; then
	complaints=$(mandoc -T lint -W warning "$top"/*/man/*.[1-9]) ||
		fail "mandoc: $complaints"
fi

finish
