#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# disk.sh - fault table: the trace file or ring file cannot be written
#
# shellcheck disable=SC2317 # functions are called by fault
# shellcheck source=tests/faults/faults.sh
. "$(dirname "$0")/faults.sh"
disk=$TMP/disk
mkdir -p "$disk"

work()
{
	"${RUN[@]}" "$STRESS" work 300000
}

# small_disk OPTIONS: mount a file system of its own on $disk
small_disk()
{
	is_root && mount -t tmpfs -o "$1" none "$disk" 2>/dev/null
}

unmount()
{
	umount -l "$disk" 2>/dev/null
}
trap unmount EXIT

fresh()
{
	rm -rf "${disk:?}"/*
}

if small_disk size=64k; then
	export OUT=$disk/t.%p.gz TRACES="$disk/t.*.gz"
	BEFORE=fresh TALLY=1 fault "disk full" "tmpfs of 64 KiB" ended work
	BEFORE=fresh TALLY=1 WITH=HATFTRACE_COMPRESS=none \
		fault "disk full, not compressed" "tmpfs of 64 KiB" ended work
	filled()
	{
		fresh
		head -c 200000 /dev/zero >"$disk/zeros" 2>/dev/null
	}
	BEFORE=filled fault "disk full from the start" \
		"tmpfs without a free byte" "none|cut" work
	bomb()
	{
		"${RUN[@]}" "$STRESS" bomb 3
	}
	# A short process's trace may fit.
	BEFORE=fresh LINES_MAX=15 fault "disk full, process tree" \
		"tmpfs of 64 KiB, 15 processes" "none|ended|complete" bomb
	unmount
else
	untried "disk full" "tmpfs of 64 KiB" "needs root"
fi
if small_disk size=1m,nr_inodes=3; then
	one_file()
	{
		fresh
		touch "$disk/a" "$disk/b"
	}
	BEFORE=one_file fault "no inode left" "tmpfs with 3 inodes" \
		"none" work
	unmount
fi
if small_disk size=1m,ro; then
	fault "read-only file system" "tmpfs, ro" none work
	unmount
else
	untried "read-only file system" "tmpfs, ro" "needs root"
fi
unset OUT TRACES
# The ring file has a disk of its own; rings that do not fit are in memory.
if small_disk size=100k; then
	crowd()
	{
		"${RUN[@]}" "$STRESS" crowd 64
	}
	TALLY=1 WITH=HATFTRACE_RINGS=$disk fault "no room for rings" \
		"tmpfs of 100 KiB, 64 threads" complete crowd
	unmount
fi
if small_disk size=3m; then
	# Another file takes the last page while the recorder creates rings.
	squeezed()
	{
		(
			sleep 0.05
			head -c 4000000 /dev/zero >"$disk/zeros" 2>/dev/null
		) &
		"${RUN[@]}" "$STRESS" threads 2000
		local result=$?
		wait
		rm -f "$disk/zeros"
		return $result
	}
	TALLY=1 WITH=HATFTRACE_RINGS=$disk fault "the rings' disk gets full" \
		"tmpfs of 3 MiB, 2000 threads" complete squeezed
	unmount
fi
mkdir -p "$disk/r"
rings_gone()
{
	mkdir -p "$disk/r"
	"${RUN[@]}" "$STRESS" gone "$disk/r" 100000
}
TALLY=1 WITH=HATFTRACE_RINGS=$disk/r LINES_MAX=3 fault "rings deleted" \
	"rm -rf of their directory while running" complete rings_gone
OUT=/dev/full fault "not a file" "/dev/full as output" none work

# Use a pipe, so that the limit does not affect the program's own output.
limited()
{
	{
		(ulimit -f "$1" && work) 2>&1 >&3 | cat >&2
		return "${PIPESTATUS[0]}"
	} 3>&1 | cat
	return "${PIPESTATUS[0]}"
}
TALLY='' fault "file size limit" "ulimit -f 32 (KiB)" ended limited 32
fault "file size limit of nothing" "ulimit -f 0" "none|cut" limited 0
# Here standard error is a file, too, and full from the start.
mute()
{
	(ulimit -f 0 && work) | cat
	return "${PIPESTATUS[0]}"
}
fault "nowhere to complain" "ulimit -f 0, standard error a file" \
	"unsaid" mute

# injected ERROR WHEN: strace makes the recorder's write() calls on the trace
# file, given by its path, fail.
injected()
{
	local tracer=()

	[ ${#RUN[@]} -eq 0 ] ||
		tracer=(strace -f -o /dev/null -P "$disk/eio.gz"
			-e trace=write -e "inject=write:error=$1:when=$2")
	rm -f "$disk/eio.gz"
	"${tracer[@]}" "${RUN[@]}" "$STRESS" work 300000
}
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	export OUT=$disk/eio.gz TRACES=$disk/eio.gz
	TALLY=1 fault "input/output error" \
		"strace: EIO from the 2nd write on" cut injected EIO 2+
	TALLY=1 fault "input/output error at once" \
		"strace: EIO from the 1st write on" "none" injected EIO 1+
	TALLY=1 fault "one input/output error" \
		"strace: EIO from the 2nd write" ended injected EIO 2
	# strace counts the writes of each thread.  The thread that ends the
	# process writes the trailer if the writer thread could not.
	TALLY=1 fault "disk quota" \
		"strace: EDQUOT from the 2nd write on" ended injected EDQUOT 2+
	TALLY=1 fault "disk full, later not" \
		"strace: ENOSPC at the 2nd and 3rd write" \
		ended injected ENOSPC 2..3
	TALLY=1 fault "interrupted writes" \
		"strace: EINTR, every 2nd write" complete injected EINTR 1+2
	unset OUT TRACES
else
	untried "input/output error" "strace: EIO" "no strace that may trace"
fi

gone()
{
	mkdir -p "$disk/d"
	"${RUN[@]}" "$STRESS" gone "$disk/d" 100000
}
# The shell's trace is deleted as well.
OUT=$disk/d/t.%p.gz TRACES="$disk/d/*" TALLY='' LINES_MAX=3 \
	fault "output's directory deleted" "rm -rf while running" \
	"none" gone
renamed()
{
	rm -rf "$disk/e"
	mkdir -p "$disk/d"
	"${RUN[@]}" "$STRESS" renamed "$disk/d" "$disk/e" 100000
}
OUT=$disk/d/t.%p.gz TRACES="$disk/e/*" TALLY=1 \
	fault "output's directory renamed" "rename() while running" \
	complete renamed
finish
