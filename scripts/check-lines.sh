#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-lines.sh - no line of source code, pages or scripts exceeds 80 columns
#
# usage: scripts/check-lines.sh [FILE...]
#
# The default is each such file of the tree.  A tab ends at the next
# multiple of 8 columns.  Exempt are lines with a URL, here-documents of
# scripts, tables and fenced blocks of pages, tests/data and the fuzz corpora.
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C.UTF-8

list_files()
{
	find Makefile .ci/run scripts tests/cli tests/page -type f
	find tests/capture tests/faults tests/bench -type f |
		grep -E '\.(sh|py|pl|awk|sql)$'
	find . -type f -regex '.*\.\(c\|h\|cc\|md\)' | sed 's,^\./,,'
}

# ours: omit the files that others wrote, and those that are made.
ours()
{
	grep -vE -e '^(\.git|build|tests/data|tests/fuzz/corpus[^/]*)/' \
		-e '/(node_modules|__pycache__)/' | sort -u
}

# print_long FILE...: print each line above 80 columns.
print_long()
{
	awk '
	# Return how many columns the line fills.
	function columns(line, n, part, i, width) {
		if (!index(line, "\t"))
			return length(line)
		n = split(line, part, "\t")
		width = length(part[1])
		for (i = 2; i <= n; i++)
			width += 8 - width % 8 + length(part[i])
		return width
	}
	BEGIN {
		name = "[A-Za-z_][A-Za-z_0-9]*"
		begin = "(^|[^<])<<-? *[\"\047\\\\]?" name
	}
	FNR == 1 {
		page = FILENAME ~ /\.md$/
		script = FILENAME ~ /(\.sh|^\.ci\/run)$/
		fenced = 0
		end = ""
	}
	page && /^[ \t]*(```|~~~)/ { fenced = !fenced }
	end != "" {
		word = $0
		gsub(/^[ \t]+|[ \t]+$/, "", word)
		if (word == end)
			end = ""
		next
	}
	fenced || (page && /^[ \t]*\|/) || /[a-z]:\/\// { next }
	columns($0) > 80 { print FILENAME ":" FNR ": " $0; found = 1 }
	script && !/^[ \t]*#/ && match($0, begin) {
		end = substr($0, RSTART, RLENGTH)
		sub(/^.*<</, "", end)
		gsub(/[^A-Za-z_0-9]/, "", end)
	}
	END { exit found }' "$@"
}

[ $# -gt 0 ] || mapfile -t files < <(list_files | ours)
[ $# -gt 0 ] || [ ${#files[@]} -gt 0 ] || exit 2
print_long "$@" ${files[@]+"${files[@]}"}
