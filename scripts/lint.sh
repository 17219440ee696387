#!/bin/bash
# SPDX-License-Identifier: MIT
#
# lint.sh - check the source without running it: layout, analysers, rules
#
# usage: scripts/lint.sh CPPFLAGS SOURCE...    ('make lint' passes both)
set -u
cd "$(dirname "$0")/.." || exit 2
read -ra flags <<<"$1"
shift
status=0

# run TITLE COMMAND...: go on after a failure, so that all findings are shown.
run()
{
	local title=$1

	shift
	echo "== $title"
	"$@" || status=1
}

# clang-tidy writes findings to standard output and counts to standard error.
# The analyser takes almost all of the time, so give it a limit.  With its own
# limit, 225000 nodes for a function, it takes three times as long.
# shellcheck disable=SC2016 # sh expands them, once for each file
one='file=$1; shift; exec clang-tidy --quiet "$file" -- "$@" 2>/dev/null'
analyser=(-Xclang -analyzer-config -Xclang max-nodes=60000)
tidy=(xargs -P "$(nproc)" -I FILE sh -c "$one" sh FILE -std=gnu11
	"${analyser[@]}" "${flags[@]}")

run 'clang-format' clang-format --dry-run -Werror "$@"
run 'clang-tidy' "${tidy[@]}" < <(printf '%s\n' "$@" |
	grep -E '^(hatf|preload|tools)/.*\.c$')
run 'shellcheck' xargs -P "$(nproc)" -n 8 shellcheck -x -P SCRIPTDIR \
	-S warning < <(printf '%s\n' scripts/*.sh .ci/run tests/*/*.sh)
run 'man pages' mandoc -T lint -W warning */man/*.[1-9]
run 'lines' scripts/check-lines.sh
run 'functions' scripts/check-functions.sh
run 'includes' scripts/check-includes.sh
run 'symbols' scripts/check-symbols.sh
run 'hardening' scripts/check-hardening.sh
exit $status
