#!/bin/bash
# SPDX-License-Identifier: MIT
#
# page.sh - the report's page draws, zooms, searches and sorts in Chromium
#
# On a narrow screen nothing stands out, and a finger does the same.
#
# Needs node, npm and Chromium; npm fetches playwright-core once.
# runs alone: beside other tests the page may draw after the test has looked
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${TMP:?an empty directory}"

skip()
{
	echo "skipped: $*" >&2
	exit 77
}

for program in node npm chromium python3; do
	command -v "$program" >/dev/null || skip "no $program"
done
scripts/build-page.sh --modules || skip 'npm did not install the packages'

for kind in one two large plain spike deep empty; do
	python3 tests/page/sample.py tools/report/page/dist/report.html \
		"$TMP/$kind.html" "$kind" || exit 1
done
# Chromium hangs now and then on a busy machine, and ignores other signals.
export MODULES=$PWD/build/page/node_modules CHROMIUM
CHROMIUM=$(command -v chromium)
timeout -s KILL 240 node tests/page/drive.mjs "$TMP" || exit 1
timeout -s KILL 120 node tests/page/peaks.mjs "$TMP/spike.html" || exit 1
timeout -s KILL 120 node tests/page/phone.mjs \
	"$TMP"/{one,two,large,plain,empty}.html
