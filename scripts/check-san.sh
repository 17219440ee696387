#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-san.sh - run the unit tests under the sanitizers of both compilers
#
# Each compiler finds errors that the other misses: clang's UBSan catches an
# addition to a null pointer, gcc's does not.  Under TSan only the tests of code
# that several threads use run (see UNIT in the Makefile).  All four builds come
# first, because their tests together keep every processor busy until the end.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh test
programs=
for cc in gcc clang; do
	for san in address,undefined thread; do
		echo "== $cc -fsanitize=$san"
		make -j"$(nproc)" CC=$cc SAN=$san unit-programs
		programs="$programs $(make -s CC=$cc SAN=$san unit-list)"
	done
done
# shellcheck disable=SC2086 # each word is a program
exec scripts/run-tests.sh $programs
