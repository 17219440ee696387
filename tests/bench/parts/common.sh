# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# common.sh - functions that the benchmark scripts share; to be sourced
#
# Sourced from the top directory.  BUILD has the build's products.  OUT is a
# directory on a real disk, because a file system in memory would hide the cost
# of writing; each script has its own.

# shellcheck disable=SC2034 # those who source this use these three
BENCH=tests/bench
BUILD=${BUILD:-$PWD/build/plain}
# shellcheck disable=SC2034
SO=$BUILD/libhatftrace.so
# shellcheck disable=SC2034
HATF=$BUILD/hatf
CC=${CC:-cc}

die()
{
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# say TEXT...: tell on standard error what the script does.
say()
{
	echo "$(date +%T) $*" >&2
}

have()
{
	command -v "$1" >/dev/null
}

# out_dir NAME: set OUT to an empty directory build/bench/NAME.
out_dir()
{
	OUT=$PWD/build/bench/$1
	rm -rf "$OUT"
	mkdir -p "$OUT"
	case $(stat -f -c %T "$OUT") in
	tmpfs | ramfs) die "$OUT is in memory, not on a disk" ;;
	esac
}

# need NAME...: require programs that the Makefile builds from $BENCH/NAME.c.
need()
{
	local name

	for name; do
		[ -x "$BUILD/tests/bench/$name" ] || die \
			"no $BUILD/tests/bench/$name; 'make bench' builds it"
	done
}

cpu_model()
{
	sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1
}

file_system()
{
	stat -f -c %T "$1"
}

# Print the lines that come before every table.
print_machine()
{
	echo "- machine: $(cpu_model), $(nproc) CPUs," \
		"$(awk '/^MemTotal/ { printf "%d GiB", $2 / 1048576 + 0.5 }' \
			/proc/meminfo), traces on $(file_system "$OUT")"
	echo "- system: Linux $(uname -r), $(getconf GNU_LIBC_VERSION)," \
		"$("$CC" --version | head -n 1)"
	echo "- load before the run: $(cut -d' ' -f1-3 /proc/loadavg)"
}

# ---------------------------------------------------------------- LTTng-UST

LTTNG_WRAPPER=
LTTNG_SESSIOND=
LTTNG_SESSION=

# Find what LTTng needs and start a session daemon if none runs.
lttng_begin()
{
	have lttng && have lttng-sessiond || return 1
	LTTNG_WRAPPER=$(ldconfig -p |
		awk '/liblttng-ust-libc-wrapper\.so/ { print $NF; exit }')
	[ -n "$LTTNG_WRAPPER" ] || return 1
	if ! lttng --no-sessiond list >/dev/null 2>&1; then
		lttng-sessiond --daemonize --no-kernel \
			--pidfile="$OUT/sessiond.pid" \
			>"$OUT/sessiond.log" 2>&1 || return 1
		LTTNG_SESSIOND=$(cat "$OUT/sessiond.pid")
	fi
}

lttng_end()
{
	[ -z "$LTTNG_SESSION" ] || lttng_session_end "$LTTNG_SESSION"
	[ -n "$LTTNG_SESSIOND" ] || return 0
	kill "$LTTNG_SESSIOND"
	while kill -0 "$LTTNG_SESSIOND" 2>/dev/null; do
		sleep 0.1
	done
	LTTNG_SESSIOND=
}

# Print the CPU time of the session daemon and its consumer, in ns: they work
# for the traced program, but are not its children.
lttng_daemon_ns()
{
	local pid

	[ -n "$LTTNG_SESSIOND" ] || return 0
	for pid in "$LTTNG_SESSIOND" $(ps -o pid= --ppid "$LTTNG_SESSIOND"); do
		cat "/proc/$pid/stat" 2>/dev/null
	done | awk -v hz="$(getconf CLK_TCK)" '
		{ sub(/.*\) /, ""); n += $12 + $13 }
		END { printf "%.0f\n", n * 1e9 / hz }'
}

# lttng_session_begin NAME DIR: begin a lossless session.  The tracer waits for
# room (--blocking-timeout=inf, with LTTNG_UST_ALLOW_BLOCKING in the program).
# The sub-buffers are larger than the default, which helps LTTng.
lttng_session_begin()
{
	LTTNG_SESSION=$1
	{
		lttng create "$1" --output="$2" &&
			lttng enable-channel --userspace --session="$1" \
				--blocking-timeout=inf --subbuf-size=2M \
				--num-subbuf=8 heap &&
			lttng enable-event --userspace --session="$1" \
				--channel=heap 'lttng_ust_libc:*' &&
			lttng start "$1"
	} >>"$OUT/lttng.log" 2>&1 || die "lttng failed: see $OUT/lttng.log"
}

# lttng_session_lost NAME: print the number of discarded events and packets.
lttng_session_lost()
{
	lttng list "$1" | awk '
		/Discarded events:|Lost packets:/ { n += $NF; seen = 1 }
		END { print seen ? n : "unknown" }'
}

lttng_session_end()
{
	{
		lttng stop "$1"
		lttng destroy "$1"
	} >>"$OUT/lttng.log" 2>&1 || true
	LTTNG_SESSION=
}
