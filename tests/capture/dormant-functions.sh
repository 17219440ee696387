#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dormant-functions.sh - each allocation function lets a dormant process start
#
# The process calls one function again and again.  An order to start takes
# effect at the next call, whichever function it is.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

need jq
control_folder

cat >one.cc <<'E_ONE'
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <unistd.h>
static void *call(const char *name)
{
	void *p = nullptr;
	if (strcmp(name, "aligned_alloc") == 0)
		return aligned_alloc(64, 128);
	if (strcmp(name, "posix_memalign") == 0)
		return posix_memalign(&p, 64, 128) == 0 ? p : nullptr;
	if (strcmp(name, "memalign") == 0)
		return memalign(64, 128);
	if (strcmp(name, "valloc") == 0)
		return valloc(128);
	if (strcmp(name, "calloc") == 0)
		return calloc(8, 16);
	if (strcmp(name, "realloc") == 0)
		return realloc(nullptr, 128);
	return ::operator new(128);
}
int main(int, char **argv)
{
	for (;;) {
		void *p = call(argv[1]);
		usleep(1000);
		strcmp(argv[1], "new") == 0 ? ::operator delete(p) : free(p);
	}
}
E_ONE
${CXX:-c++} -O1 -fno-builtin -w -o one one.cc || fail 'cannot build one'

# starts NAME LIBRARY: the process that calls this function starts to record.
starts()
{
	local name=$1 pid
	(exec env HATFTRACE_START=off HATFTRACE_OUT="$TMP/$name.gz" \
		LD_PRELOAD="$SO${2:+:$2}" ./one "$name") &
	pid=$!
	for _ in {1..100}; do
		[ "$(ctl --json $pid status 2>/dev/null | jq -r .state)" = \
			dormant ] && break
		sleep 0.05
	done
	ctl $pid start >out 2>&1
	check "$name ${2##*/}: start" $? 0
	ctl $pid stop >out 2>&1
	kill $pid
	wait $pid 2>/dev/null
	check_ge "$name ${2##*/}: allocs" \
		"$("$HATF" dump "$name.gz" 2>/dev/null | grep -c ' alloc ')" 1
	rm -f "$name".gz*
}

for name in aligned_alloc posix_memalign memalign valloc calloc realloc; do
	starts $name ''
done
# These operators do not call malloc().
path=$(ldconfig -p | awk '$1 ~ /^lib(jemalloc|tcmalloc_minimal)\.so/ {
	print $NF; exit }')
starts new "$path"
finish
