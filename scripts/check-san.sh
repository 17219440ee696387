#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-san.sh - run the unit tests under the sanitizers of both compilers
#
# usage: scripts/check-san.sh [-b]    -b: only build the tests
#
# Each compiler finds errors that the other misses: clang's UBSan catches an
# addition to a null pointer, gcc's does not.  Under TSan only the tests of code
# that several threads use run (see UNIT in the Makefile).
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
'') goal=unit ;;
-b) goal=unit-programs ;;
*)
	echo 'usage: scripts/check-san.sh [-b]' >&2
	exit 2
	;;
esac
scripts/setup.sh test
status=0
for cc in gcc clang; do
	for san in address,undefined thread; do
		echo "== $cc -fsanitize=$san"
		make -j"$(nproc)" CC=$cc SAN=$san $goal || status=1
	done
done
exit $status
