#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build-page.sh - bundle the page of 'hatf report --html'
#
# usage: scripts/build-page.sh [--modules | --check]
#
# Writes tools/report/page/dist, which is committed: a build of hatf needs
# neither node nor npm.  --check compares a fresh bundle with the committed one.
# --modules only installs the npm packages of package-lock.json in build/page,
# once.
set -eu
cd "$(dirname "$0")/.."
page=$PWD/tools/report/page
work=$PWD/build/page

die()
{
	echo "build-page.sh: $*" >&2
	exit 1
}

install_modules()
{
	command -v node >/dev/null && command -v npm >/dev/null ||
		die 'node and npm are needed'
	mkdir -p "$work"
	# Two tests may run this at the same time.
	exec 9>"$work/lock"
	flock 9
	if cmp -s "$page/package-lock.json" "$work/installed.json"; then
		return 0
	fi
	rm -f "$work/installed.json"
	cp "$page/package.json" "$page/package-lock.json" "$work"
	(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund \
		--loglevel=error >&2) || die 'npm ci failed'
	cp "$page/package-lock.json" "$work/installed.json"
}

case ${1:-} in
--modules) install_modules ;;
--check)
	install_modules
	node "$page/bundle.mjs" "$work/node_modules" "$work/dist"
	diff -rq "$work/dist" "$page/dist" ||
		die 'tools/report/page/dist is out of date: run this script'
	;;
'')
	install_modules
	node "$page/bundle.mjs" "$work/node_modules" "$page/dist"
	;;
*) die 'usage: scripts/build-page.sh [--modules | --check]' ;;
esac
