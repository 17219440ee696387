#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bundle.sh - the committed bundle of the report's page is up to date
set -u
cd "$(dirname "$0")/../.." || exit 2

skip()
{
	echo "skipped: $*" >&2
	exit 77
}

command -v node >/dev/null && command -v npm >/dev/null || skip 'no node, npm'
scripts/build-page.sh --modules || skip 'npm did not install the packages'
exec scripts/build-page.sh --check
