#!/bin/bash
# SPDX-License-Identifier: MIT
#
# full-disk-storm.sh - the disk of many processes gets full at the same time
#
# Traces, ring files and sockets share one small disk.  Each program ends as
# without the recorder.  Each process without a complete trace says so in one
# line, which names its trace, and the trace's end or the line says why.
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"

is_root || skip "no mount without root"
disk=$TMP/disk
mkdir "$disk"
mount -t tmpfs -o size=2m none "$disk" 2>/dev/null || skip "no mount"
trap 'umount -l "$disk" 2>/dev/null' EXIT
export XDG_RUNTIME_DIR=$disk/run

# storm COUNT COMMAND...: run it COUNT times at once, recorded; all their output
# goes to 'out' and 'err', their statuses to 'statuses'.
storm()
{
	local count=$1 i
	shift
	rm -rf "${disk:?}"/*
	mkdir -m 700 "$disk/run"
	for ((i = 0; i < count; i++)); do
		(
			HATFTRACE_OUT=$disk/t.%p.hatf.gz \
				HATFTRACE_BEGIN=now LD_PRELOAD=$SO "$@"
			echo $? >&3
		) &
	done >out 2>err 3>statuses
	wait
}

# examine WHAT: judge each trace by what it and its process say.
examine()
{
	local trace said
	complete=0 explained=0
	for trace in "$disk"/t.*.hatf.gz*; do
		[ -e "$trace" ] || continue
		case $trace in
		*.rings) fail "$1: $trace is left"; continue ;;
		esac
		said=$(grep -cF "hatftrace: $trace: no space left" err)
		if "$HATF" verify "$trace" >verify.out 2>&1; then
			complete=$((complete + 1))
			check "$1: lines about $trace" "$said" 0
			continue
		fi
		explained=$((explained + 1))
		check "$1: lines about $trace" "$said" 1
		check "$1: violations of $trace" "$(violations "$trace")" 0
		[ -n "$(trailer "$trace" events)" ] || continue
		check "$1: end of $trace" "$(trailer "$trace" end)" error
		check "$1: error of $trace" "$(trailer "$trace" error)" \
			'no space left on device'
		check "$1: complete of $trace" "$(trailer "$trace" complete)" 0
	done
	# The other processes have no trace, and say why.
	untraced=$(grep -c ': no space left on device; not tracing' err)
	check "$1: other messages" "$(grep -vc \
		'^hatftrace: [^ ]*: no space left on device' err)" 0
	check "$1: sockets" "$(find "$disk/run" -name '*.so*')" ''
	"$HATF" tree "$disk" >tree.out 2>tree.err
	check "$1: status of tree" "$(($? < 2))" 1
}

"$STRESS" work 100000 >want
storm 24 "$STRESS" work 100000
check 'work: statuses' "$(sort statuses | uniq -c | xargs)" '24 0'
check 'work: outputs' "$(sort out | uniq -c | xargs)" "24 $(cat want)"
examine work
check 'work: processes' "$((complete + explained + untraced))" 24
check_ge 'work: traces that end early' "$explained" 1

# 31 processes in each tree; the last ones begin when the disk is full.
head -c 1500000 /dev/zero >"$TMP/zeros"
"$STRESS" bomb 4 >want
storm 3 sh -c 'cat "$2" >"$3/zeros" 2>/dev/null
	exec "$1" bomb 4' sh "$STRESS" "$TMP/zeros" "$disk"
check 'tree: statuses' "$(sort statuses | uniq -c | xargs)" '3 0'
check 'tree: outputs' "$(sort out | uniq -c | xargs)" "3 $(cat want)"
examine tree
check_ge 'tree: processes that say so' "$((explained + untraced))" 1
finish
