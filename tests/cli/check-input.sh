#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-input.sh - 'hatf check' refuses wrong options and files of limits
#
# The command refuses them before it reads a trace.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# wrong WANT OPTION...: one line that matches WANT, and exit status 2.
wrong()
{
	local want=$1
	shift
	run "$HATF" check "$@"
	check_status "check $*" 2
	check_one_line "check $*" "$want"
}
wrong 'hatf check: there is nothing to check: give a limit, or *' tree
wrong 'hatf check: a TRACE is missing*' --max-peak 1
wrong 'hatf check: --update needs --baseline*' --max-peak 1 --update tree
wrong 'hatf check: --fail-on needs --baseline*' --max-peak 1 --fail-on any \
	tree
for limit in '' peak 'peak x' 'peak -1' 'size 1' 'site peak 1' 'site * peak' \
	'tree x peak 1' 'peak 1 2' 'site "a peak 1' 'site * single 1' \
	'process a site b peak' 'process a site b peak 1 2' 'process a site' \
	'process "" site b peak 1' 'process a site "" peak 1' \
	'process a site b single 1' 'process a peak 1 2' \
	'temporary-ratio 1' 'temporary-ratio 101%' 'temporary-ratio 1.2.3%' \
	'allocs 1X' 'allocs 99999999999999999999' 'peak 99999999999G'; do
	wrong 'hatf check: --limit: *' --limit "$limit" tree
done
printf 'peak 1M\nleaks 3\n' >wrong.limits
want="wrong.limits:2: not a measure: 'leaks' (want one of peak, live-at-end,"
wrong "hatf check: $want allocated, allocs, temporary-ratio, single)" \
	--limits wrong.limits tree
for expr in 'leaks>3' 'live-at-en>3' 'live-at>3' 'alloc>3'; do
	wrong "hatf check: --fail-on: not a condition: '$expr' *; the measures \
are peak, live, allocated, allocations, temporary)" \
		--baseline heap.base --fail-on "$expr" tree
done
rows='site, function, file, module, thread, heap'
wrong "hatf check: --limit: not a scope: 'sites' (want one of process, tree, \
$rows)" --limit 'sites a peak 1' tree
for limit in 'process a tree peak 1' 'process site tree peak 1' \
	'process a tree b peak 1'; do
	wrong "hatf check: --limit: not a scope: 'tree' (want one of $rows)" \
		--limit "$limit" tree
done
wrong "hatf check: --fail-on: not a condition: 'live' (want one such as *" \
	--baseline heap.base --fail-on live tree
for line in wrapper 'wrapper ""' 'wrapper a b' 'wrapper "a'; do
	printf 'peak 1M\n%s\n' "$line" >wrong.limits
	wrong "hatf check: wrong.limits:2: not a wrapper (want *'*" \
		--limits wrong.limits tree
done
for ((n = 0; n < 65; n++)); do
	echo "wrapper f$n"
done >wrong.limits
wrong 'hatf check: wrong.limits:65: more than 64 wrappers' \
	--limits wrong.limits tree
wrong 'hatf check: --wrapper: *' --wrapper '' --max-peak 1 tree
for text in 'peak 1M\0\n' 'peak 1M\0peak 1' 'peak 1M\0'; do
	# shellcheck disable=SC2059
	printf "$text" >zero.limits
	wrong 'hatf check: zero.limits:1: the line contains a zero byte or *' \
		--limits zero.limits tree
done
printf 'peak 1M\r\npeak 1K\rx\n' >return.limits
wrong 'hatf check: return.limits:2: *' --limits return.limits tree
wrong 'hatf check: none.limits: No such file or directory' \
	--limits none.limits tree
finish
