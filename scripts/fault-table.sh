#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fault-table.sh - inject faults into recorded programs, print a results table
#
# usage: scripts/fault-table.sh [-b BUILD]
#
# Run tests/faults and print a Markdown table.  A row gives the injected fault,
# how it was injected, how the program ended in comparison with a run without
# the recorder, and what the trace says.  A row that needs root says so if the
# user is not root.  Exit status 1: a row differs from what its test expects.
set -u
cd "$(dirname "$0")/.." || exit 2

FAULT_TABLE=$(mktemp) || exit 2
export FAULT_TABLE
trap 'rm -f "$FAULT_TABLE"' EXIT
scripts/run-tests.sh "$@" \
	tests/faults/{belated,disk,privileges,process,sandbox}.sh >&2
status=$?
echo '| fault | how | program | trace |'
echo '|---|---|---|---|'
cat "$FAULT_TABLE"
exit $status
