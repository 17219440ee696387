#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check.sh - set the machine up, build, and run every test
#
# This is 'make check' for a machine that may not have make yet.
# usage: scripts/check.sh [TEST...]    as scripts/run-tests.sh
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh test
make -j"$(nproc)" tests
exec scripts/run-tests.sh "$@"
