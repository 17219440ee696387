#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# database.sh - a file of the program's that has the number of standard error
#
# The recorder has something to say, and does not say it into that file.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

HATFTRACE_OUT=$TMP/t.hatf.gz LD_PRELOAD=$SO "$FAULTS/database"
check "status" $? 0
check "the file" "$(cat database)" "DB"
finish
