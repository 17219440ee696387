#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# plugin.sh - a plug-in's operators are found without disturbing the loader
#
# dlsym() and dlopen() did it at first: they took the program's error message,
# and moved blocks of the loader's that were in the trace.
. "$(dirname "$0")/lib.sh"

"${CXX:-c++}" -shared -fPIC -O0 -w -o "$TMP/plugin.so" \
	"$CAPTURE/shared/plugin.cc" || fail "cannot build the plug-in"
"$PROGS/plugin" "$TMP/plugin.so" >bare
check "bare: status" $? 0
trace trace.gz "$PROGS/plugin" "$TMP/plugin.so" >out
check status $? 0
cmp -s bare out || fail "output: $(cat out)"
clean trace.gz
check "new" "$("$HATF" dump trace.gz | grep -c 'alloc size=77777 ')" 1
finish
