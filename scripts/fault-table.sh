#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fault-table.sh - what befell programs under the recorder, as a table
#
# usage: scripts/fault-table.sh [-b BUILD]
#
# Runs tests/faults and prints in Markdown what each row injected, how, what
# became of the program in comparison with a run without the recorder, and what
# the trace says.  Exit status 1: some row is not as its test says.  Rows that
# need root say so when it is not there.
set -u
cd "$(dirname "$0")/.." || exit 2

FAULT_TABLE=$(mktemp) || exit 2
export FAULT_TABLE
trap 'rm -f "$FAULT_TABLE"' EXIT
scripts/run-tests.sh "$@" tests/faults/{belated,disk,privileges,process,sandbox}.sh >&2
status=$?
echo '| fault | how | program | trace |'
echo '|---|---|---|---|'
cat "$FAULT_TABLE"
exit $status
