#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-san.sh - the unit tests under the sanitizers of both compilers
#
# Both, since each finds what the other does not: clang's UBSan catches adding
# to a null pointer, gcc's does not.  Under TSan run the tests of what several
# threads touch (see UNIT in the Makefile).
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh test
status=0
for cc in gcc clang; do
	for san in address,undefined thread; do
		echo "== $cc -fsanitize=$san"
		make -j"$(nproc)" CC=$cc SAN=$san unit || status=1
	done
done
exit $status
