#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# namespaces.sh - programs that create namespaces run as they do bare
#
# The kernel refuses a user namespace to a process with a second thread, and a
# sandbox may insist on having one thread.  Run unshare(1), nsenter(1) and, if
# installed, bwrap(1): bare, then preloaded, recorded by 'hatf record', dormant,
# and with a writer thread from the beginning.
. "$(dirname "$0")/lib.sh"

need unshare nsenter
# Print the user inside, and whether it sees few processes.
inside='id -u; set -- /proc/[0-9]*; [ $# -lt 9 ] && echo alone
	sort -n </dev/null; exit 7'

# same WHAT COMMAND...: in each way, output and status are as bare.
same()
{
	local what=$1 want way trace
	shift

	want=$("$@" 2>bare.err; echo "status $?")
	[[ $want == *'status 7' ]] || {
		echo "$what: not tried here: $(head -n 1 bare.err)"
		return
	}
	tried=$((tried + 1))
	for way in preload record dormant now; do
		rm -rf traces
		mkdir -m 777 traces
		check "$what, $way" \
			"$(by "$way" "$@" 2>err; echo "status $?")" "$want"
		# A trace with a writer thread may have to end, and one line
		# says so.  The writer exists from the beginning, or because a
		# slow machine took 0.2 s to get here.
		grep -q '^hatftrace: .*; the trace ends now' err && continue
		[ $way = now ] && continue
		[ $way = record ] || check "$what, $way: said" "$(cat err)" ''
		for trace in traces/*; do
			[ -e "$trace" ] && clean "$trace"
		done
		check "$what, $way: is there a trace" \
			"$([ -n "$(ls traces)" ] && echo yes)" \
			"$([ $way = dormant ] || echo yes)"
	done
}

# by WAY COMMAND...: run it in one of these ways.
by()
{
	local way=$1 variable=HATFTRACE_VERBOSE=0
	shift

	case $way in
	record)
		"$HATF" record -o "$TMP/traces/%e.%p.hatf.gz" -- "$@"
		return
		;;
	dormant) variable=HATFTRACE_START=off ;;
	now) variable=HATFTRACE_BEGIN=now ;;
	esac
	env "HATFTRACE_OUT=$TMP/traces/%e.%p.hatf.gz" "LD_PRELOAD=$SO" \
		"$variable" "$@"
}

tried=0
same 'a user namespace' unshare -U sh -c 'exit 7'
same 'user and process namespaces' unshare -Urpf --mount-proc sh -c "$inside"
same 'all namespaces' unshare -Urmpfinu --mount-proc sh -c "$inside"
same 'one in another' unshare -Urpf --mount-proc \
	unshare -Urpf --mount-proc sh -c "$inside"
same 'process namespace' unshare -pf --mount-proc sh -c "$inside"
# A call that fails changes nothing.
cat >third.py <<'EOT'
import ctypes, os, sys

libc = ctypes.CDLL(None)
print(libc.unshare(0x20000000))
print(libc.unshare(0x30000000), os.getuid())
sys.exit(7)
EOT
same 'a third process namespace' "$PYTHON" third.py
# 'hatf record' also counts processes with their own PID namespace.
mkdir inner
if unshare -Urpf --mount-proc true 2>/dev/null; then
	"$HATF" record -o 'inner/%e.%p.gz' -- unshare -Urpf --mount-proc \
		sh -c 'ls -d . >/dev/null; ls -d / >/dev/null; :' 2>err
	check_ge 'traces in a namespace' "$(count inner/*)" 4
	text="(+ $(($(count inner/*) - 1)) traces of child processes, no"
	grep -q "$text events lost in these)" err ||
		fail "traces in a namespace: $(ls inner): $(cat err)"
fi
# A process that still runs in another PID namespace has not ended.
if unshare -pf true 2>/dev/null; then
	"$HATF" record -o 'inner/on.%e.%p.gz' -- \
		sh -c 'unshare -pf sleep 8 >/dev/null 2>&1 & sleep 1' 2>err
	grep -q 'ended abruptly' err && fail "goes on: $(cat err)"
	grep -q '^hatf record: inner/on.*no events lost' err ||
		fail "goes on: $(cat err)"
fi
unshare -Ur sleep 600 2>/dev/null &
sleeper=$!
trap 'kill $sleeper 2>/dev/null' EXIT
for ((i = 0; i < 500; i++)); do
	[ "$(readlink "/proc/$sleeper/ns/user")" != \
		"$(readlink "/proc/$$/ns/user")" ] && break
	sleep 0.02
done
same 'setns' nsenter -U -t "$sleeper" sh -c 'id -u; exit 7'
if command -v bwrap >/dev/null; then
	same bwrap bwrap --ro-bind / / --bind "$TMP" "$TMP" --dev /dev \
		--proc /proc --unshare-all sh -c "$inside"
fi
[ $tried -gt 0 ] || skip 'this machine permits no namespaces'
finish
