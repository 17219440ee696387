#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-lines.sh - no line of source code, pages or scripts exceeds 80 columns
#
# usage: scripts/check-lines.sh [FILE...]
#
# The default is each such file that git tracks.  A tab ends at the next
# multiple of 8 columns.  Exempt are lines with a URL, here-documents of
# scripts, tables and fenced blocks of pages, tests/data and the fuzz corpora.
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C.UTF-8

list_files()
{
	git ls-files -- '*.c' '*.h' '*.cc' '*.md' Makefile .ci/run scripts \
		tests/cli tests/page :'!tests/data' ':!tests/fuzz/corpus*'
	git ls-files tests/capture tests/faults tests/bench |
		grep -E '\.(sh|py|pl|awk|sql)$'
}

# print_long FILE: expand tabs, then print each line above 80 columns.
print_long()
{
	expand -t 8 "$1" | awk -v file="$1" '
		BEGIN {
			page = file ~ /\.md$/
			script = file ~ /(\.sh|^\.ci\/run)$/
			name = "[A-Za-z_][A-Za-z_0-9]*"
			begin = "(^|[^<])<<-? *[\"\047\\\\]?" name
		}
		page && /^ *(```|~~~)/ { fenced = !fenced }
		end != "" {
			word = $0
			gsub(/^ +| +$/, "", word)
			if (word == end)
				end = ""
			next
		}
		fenced || (page && /^ *\|/) || /[a-z]:\/\// { next }
		length($0) > 80 { print file ":" FNR ": " $0; found = 1 }
		script && !/^ *#/ && match($0, begin) {
			end = substr($0, RSTART, RLENGTH)
			sub(/^.*<</, "", end)
			gsub(/[^A-Za-z_0-9]/, "", end)
		}
		END { exit found }'
}

[ $# -gt 0 ] || mapfile -t files < <(list_files)
status=0
for file in "$@" ${files[@]+"${files[@]}"}; do
	print_long "$file" || status=1
done
exit $status
