#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# plugin.sh - the recorder finds a plug-in's operators without side effects
#
# The first version used dlsym() and dlopen(): they consumed the program's error
# message, and moved blocks of the loader that were in the trace.
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
