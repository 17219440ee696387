#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-citations.sh - headings and files that comments and documents cite exist
#
# Comments cite headings of the specifications: FORMAT "Metadata" is one of
# hatf/FORMAT.md, FORMATS "xml" one of hatf/formats/FORMATS.md, and RINGS
# "Events" one of hatf/rings/RINGS.md.  Documents link to files and to their
# own headings.
set -u
cd "$(dirname "$0")/.." || exit 2
status=0

complain()
{
	echo "$*"
	status=1
}

headings()
{
	sed -nE 's/^#+ (.*)/\1/p' "$1"
}

# heading DOCUMENT NAME: succeed if DOCUMENT has the heading, or a paragraph
# that begins with __NAME__.
heading()
{
	grep -qxE "#+ $2|__${2}__.*" "$1"
}

check_comments()
{
	local file=$1 name document

	while read -r document name; do
		case $document in
		FORMAT*S*) document=hatf/formats/FORMATS.md ;;
		FORMAT*) document=hatf/FORMAT.md ;;
		RINGS*) document=hatf/rings/RINGS.md ;;
		esac
		heading "$document" "$name" ||
			complain "$file cites '$name', which $document lacks"
	done < <(sed -E ':a;N;$!ba;s/\n[[:space:]]*(\*|#) */ /g' "$file" |
		grep -oE '\b(FORMATS?|RINGS)(\.md,)? "[A-Za-z ]+"' | tr -d '"')
}

# Print the anchor of each heading: lower case, no punctuation, '-' for a blank.
anchors()
{
	headings "$1" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9_\n-'
}

check_links()
{
	local file=$1 link

	while read -r link; do
		case $link in
		http*) ;;
		'#'*)
			anchors "$file" | grep -qxF -- "${link#?}" ||
				complain "$file links to $link"
			;;
		*)
			[ -e "$(dirname "$file")/${link%%#*}" ] ||
				complain "$file links to $link"
			;;
		esac
	done < <(sed -nE 's/\]\(/\n](/gp' "$file" |
		sed -nE 's/^\]\(([^) ]+)\).*/\1/p')
}

while read -r file; do
	check_comments "$file"
done < <(grep -rlE '\b(FORMATS?|RINGS)\b' --include='*.[ch]' --include='*.sh' \
	--include='*.py' hatf preload tools tests)
while read -r file; do
	check_links "$file"
done < <(find . -name '*.md' -not -path './build/*' -not -path './.git/*')
exit $status
