#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# daemon-null.sh - daemon() refuses a /dev/null that is not the null device
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

is_root || skip 'not root'
mkdir -p root/dev
: >root/dev/null
cat >daemonize.c <<'E_DAEMON'
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (argc < 3 || chroot(argv[1]) != 0)
		return 1;
	const int result = daemon(0, 0);
	dprintf(fd, "%d %d\n", result, errno == ENODEV);
}
E_DAEMON
${CC:-cc} -O1 -w -o daemonize daemonize.c || fail 'cannot build daemonize'

# daemonize: print what daemon() has returned.
run_daemon()
{
	rm -f said
	./daemonize root "$TMP/said"
	for _ in {1..100}; do
		[ -s said ] && break
		sleep 0.02
	done
	cat said
}

check 'bare' "$(run_daemon)" '-1 1'
export HATFTRACE_OUT=$TMP/t.%p.gz
check 'recorded' "$(export LD_PRELOAD=$SO; run_daemon)" '-1 1'
finish
