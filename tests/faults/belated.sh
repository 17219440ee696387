#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# belated.sh - fault table: a program removes what its trace needs
#
# The program does this before the trace has begun.  If the recorder interposes
# the call, it begins the trace first.  If not, one line says why there is no
# trace and which setting would help.
# shellcheck disable=SC2317 # functions are called by fault
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

take_away()
{
	"${RUN[@]}" "$FAULTS/belated" "$1" "$TMP/$2"
}

# The program has a mount namespace of its own, made before it starts.
take_away_apart()
{
	unshare -m --propagation private "${RUN[@]}" "$FAULTS/belated" "$1" \
		"$TMP/$2"
}

mkdir -p empty
for how in files prlimit raw; do
	TALLY=1 fault "RLIMIT_NOFILE 0, $how" "set before the trace has begun" \
		complete take_away $how empty
done
# Under this limit, neither the output nor a message may be a file.
by_pipes()
{
	{
		take_away "$1" empty 2>&1 >&3 | cat >&2
		return "${PIPESTATUS[0]}"
	} 3>&1 | cat
	return "${PIPESTATUS[0]}"
}

advised()
{
	[ "$(grep -c 'HATFTRACE_BEGIN=now' err)" -eq 1 ] ||
		fail "$1: no advice: $(cat err)"
}

fault "RLIMIT_NOFILE 0, unseen" "set by the system call instruction" none \
	take_away barefiles empty
advised "files"
fault "RLIMIT_FSIZE 0, unseen" "set by the system call instruction" none \
	by_pipes baresize
advised "size"
for how in size both; do
	fault "RLIMIT_FSIZE 0, $how" "set before the trace has begun" 'cut' \
		by_pipes $how
	check "$how: trace" "$(find traced -name '*.gz' | wc -l)" 1
done
# The trace has the events before the limit.  The executed program cannot begin
# a trace; its message must not suggest HATFTRACE_BEGIN=now.
mkdir -p sized
env HATFTRACE_OUT="$TMP/sized/%e.%p.gz" LD_PRELOAD="$SO" \
	bash -c 'ulimit -f 0; exec python3 -c pass' 2>&1 | cat >err
check_ge 'RLIMIT_FSIZE 0 by a shell: events' "$("$HATF" dump sized/bash.*.gz \
	2>/dev/null | grep -c alloc)" 200
grep -q 'python.*file size limit exceeded; not tracing$' err ||
	fail "RLIMIT_FSIZE 0 over exec: $(cat err)"
(ulimit -f 0 && "$HATF" record -o sized/none.gz -- true; echo $?) 2>&1 |
	cat >err
check 'RLIMIT_FSIZE 0 of hatf record' "$(cat err)" \
	"hatf record: cannot write to directory $TMP/sized: File too large
1"
if is_root; then
	if unshare -m true 2>/dev/null; then
		for how in mount rawmount; do
			TALLY=1 fault "mount over the folder, $how" \
				"before the trace has begun" complete \
				take_away_apart $how traced
		done
	fi
	# Chromium has such a child, and no second thread before it.
	for how in child shared; do
		text="that shares the root directory, before the trace begins"
		fault "chroot by a child, $how" "$text" \
			none take_away $how empty
		advised "$how"
	done
	# The writer thread fails to begin, and must end before the program
	# looks at its threads.
	recorder
	for _ in $(seq 30); do
		take_away looked empty 2>/dev/null | head -n 1
	done | sort | uniq -c >out
	check 'chroot by a child: threads' \
		"$(awk '{ print $1, $2 }' out)" '30 1'
	fault "chroot, unseen" "by the system call instruction" none \
		take_away bareroot empty
	advised "root"
fi
finish
