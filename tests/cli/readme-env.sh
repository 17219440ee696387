#!/bin/bash
# SPDX-License-Identifier: MIT
#
# readme-env.sh - README.md and libhatftrace(7) name the recorder's variables
#
# hatf/recorder/config.c has the one table of the environment variables.
# README.md must have a row for each, in the same order and with the same
# default, and the man page must name each and no other.
set -eu

table=$(sed -n '/^} variables\[.*\] = {/,/^};/p' hatf/recorder/config.c |
	tr -d '\n\t' |
	grep -oE '"HATFTRACE_[A-Z]+", ?[a-z_]+, ?"[^"]*"' |
	sed -E 's/"(.*)", ?[a-z_]+, ?"(.*)"/\1 \2/')
[ "$(grep -c . <<<"$table")" -ge 6 ] || {
	echo "no table found in hatf/recorder/config.c"
	exit 1
}

echo 'README.md (<) and hatf/recorder/config.c (>): name and default'
# shellcheck disable=SC2016 # backquotes of Markdown
diff <(sed -nE 's/^\| `(HATFTRACE_[A-Z]+)` \| `([^`]*)` \|.*/\1 \2/p' \
	README.md) <(echo "$table")

echo 'libhatftrace(7) (<) and hatf/recorder/config.c (>): names'
diff <(grep -ohE 'HATFTRACE_[A-Z]+' preload/man/libhatftrace.7 | sort -u) \
	<(cut -d ' ' -f 1 <<<"$table" | sort)
