#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# privileges.sh - rows of the fault table: a program gives up privileges
#
# The program goes on as it would, its trace is complete, and the writer thread
# has nothing that the program has not.
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
	capset no_new_privs filter sync bare landlock chroot joined mount pid user \
	setfsuid setfsgid rawfsuid bounding ambient secure limits net ipc \
	netpid; do
	# A process in a chroot gets no user namespace.
	if [ $how = user ] && ! unshare -U true 2>/dev/null; then
		untried "privileges: $how" "given up in the midst of work" \
			"the kernel refuses user namespaces"
		continue
	fi
	TALLY=1 fault "privileges: $how" "given up in the midst of work" \
		complete give_up "$how" "$TMP/root"
	check "$how: the writer" "$(head -n 1 out)" within
done
# The writer could not follow without harm.
fault "privileges: prctl" "setresuid under a filter that kills for prctl" cut \
	give_up prctl
check "prctl: the writer" "$(head -n 1 out)" within
ONLY_STATUS=1 fault "privileges: threads" "setresuid beside three threads" \
	complete give_up threads
check "threads: the writer" "$(head -n 1 out)" within

# Without a writer thread yet: the trace is made before the privileges go.
fault "privileges: early" "given up by the first call" complete \
	eval '"${RUN[@]}" "$PYTHON" -S -c "import os; os.setgid(65534); os.setuid(65534); print(os.getuid())"'
finish
