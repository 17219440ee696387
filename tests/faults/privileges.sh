#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# privileges.sh - fault table: a program gives up privileges
#
# The program runs as it does bare, its trace is complete, and the writer thread
# keeps no privilege that the program has given up.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

[ "$(id -u)" -eq 0 ] || {
	untried "privileges" "setuid and its kin" "not root"
	finish
}
mkdir -p root
chmod 711 "$TMP"

give_up()
{
	"${RUN[@]}" "$FAULTS/privileges" "$@"
}

for how in setuid setgid setgroups setresuid seteuid initgroups raw chain \
	capset no_new_privs filter sync bare landlock chroot joined mount pid \
	user setfsuid setfsgid rawfsuid bounding ambient secure limits net \
	ipc netpid uts cgroup setns; do
	# A process in a chroot cannot create a user namespace.
	if [ $how = user ] && ! unshare -U true 2>/dev/null; then
		untried "privileges: $how" "given up in the midst of work" \
			"the kernel refuses user namespaces"
		continue
	fi
	TALLY=1 fault "privileges: $how" "given up in the midst of work" \
		complete give_up "$how" "$TMP/root"
	check "$how: the writer" "$(head -n 1 out)" within
done
# The writer cannot follow: the filter would kill the process.
fault "privileges: prctl" "setresuid under a filter that kills for prctl" cut \
	give_up prctl
check "prctl: the writer" "$(head -n 1 out)" within
ONLY_STATUS=1 fault "privileges: threads" "setresuid beside three threads" \
	complete give_up threads
check "threads: the writer" "$(head -n 1 out)" within

# There is no writer thread yet: the recorder creates the trace before the
# program gives up its privileges.
early()
{
	"${RUN[@]}" "$PYTHON" -S -c 'import os
os.setgid(65534); os.setuid(65534); print(os.getuid())'
}
fault "privileges: early" "given up by the first call" complete early
finish
