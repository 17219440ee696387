#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# config.sh - the environment variables, and where the trace goes
. "$(dirname "$0")/lib.sh"
PROG=$PROGS/lifecycle

# untraced WHAT PATTERN COMMAND...: the command must run as it does bare (status
# 0), one line must say why there is no trace, and there must be none.
untraced()
{
	local what=$1 pattern=$2 status
	shift 2
	mkdir -p empty
	(cd empty && "$@" >../out 2>../err)
	status=$?
	check "$what: status" $status 0
	check "$what: lines on stderr" "$(wc -l <err)" 1
	grep -q "^hatftrace: .*$pattern" err ||
		fail "$what: stderr: $(cat err)"
	check "$what: files" "$(find empty -type f | wc -l)" 0
}

# wrong NAME VALUE WANT: the value is refused; the message names WANT.
wrong()
{
	untraced "$1='$2'" "$1.*want.*$3" env "$1=$2" LD_PRELOAD="$SO" \
		"$PROG" image
}

wrong HATFTRACE_CLOCK fast coarse
wrong HATFTRACE_CLOCK '' coarse
wrong HATFTRACE_COMPRESS zip gzip
wrong HATFTRACE_COMPRESS gzip:9 gzip
wrong HATFTRACE_COMPRESS gzip: gzip
wrong HATFTRACE_FULL maybe wait
wrong HATFTRACE_BUFFER 0 bytes
wrong HATFTRACE_BUFFER 1T bytes
wrong HATFTRACE_BUFFER -1 bytes
wrong HATFTRACE_BUFFER 99999999999999999999 bytes
wrong HATFTRACE_BUFFER '1M ' bytes
wrong HATFTRACE_RINGS none! beside
wrong HATFTRACE_NOTES notes none
wrong HATFTRACE_STACKS maybe caller
wrong HATFTRACE_STACKS 0 caller
wrong HATFTRACE_STACKS 257 caller
wrong HATFTRACE_STACKS off:frees caller
wrong HATFTRACE_STACKS on:free caller
wrong HATFTRACE_STACKS : caller
wrong HATFTRACE_VERBOSE 2 1
wrong HATFTRACE_OUT '' path
wrong HATFTRACE_OUT x%q.gz %p
wrong HATFTRACE_OUT x% %p
untraced "a very long name" 'want\|name too long' env \
	HATFTRACE_OUT="$(printf '%05000d' 0)" LD_PRELOAD="$SO" "$PROG" image

# The same, with standard error closed.
HATFTRACE_CLOCK=fast trace closed.gz "$PROG" image 2>&-
check "wrong value, stderr closed: status" $? 0
[ -e closed.gz ] && fail "wrong value, but a trace"
trace closed.gz "$PROG" image 0<&- 1>&- 2>&-
check "all closed: status" $? 0
clean closed.gz

# The file cannot be created in these places.
untraced "no directory" "no such file" env HATFTRACE_OUT=none/t.gz \
	LD_PRELOAD="$SO" "$PROG" image
untraced "a file for a directory" "not a directory" env \
	HATFTRACE_OUT=/dev/null/t.gz LD_PRELOAD="$SO" "$PROG" image
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir -p closed && chmod 755 closed "$TMP"
	cp "$SO" "$PROG" "$TMP" && chmod 755 libhatftrace.so lifecycle
	if setpriv --reuid=65534 --clear-groups ./lifecycle image; then
		untraced "no permission" "permission denied" setpriv \
			--reuid=65534 --clear-groups env \
			HATFTRACE_OUT="$TMP/closed/t.gz" \
			LD_PRELOAD="$TMP/libhatftrace.so" \
			"$TMP/lifecycle" image
		# In a setuid program, the loader ignores the user's LD_PRELOAD,
		# and the recorder the user's settings.
		chmod 4755 lifecycle
		setpriv --reuid=65534 --clear-groups env \
			HATFTRACE_OUT="$TMP/closed/t.gz" \
			LD_PRELOAD="$TMP/libhatftrace.so" \
			./lifecycle image 2>/dev/null
		check "setuid: status" $? 0
		check "setuid: files" "$(find closed -type f | wc -l)" 0
	fi
fi

# The name of the trace.
rm -rf names && mkdir names
for _ in 1 2 3; do
	trace "$TMP/names/same.gz" "$PROG" image
done
check "a taken name" "$(cd names && echo *)" "same.gz same.gz.1 same.gz.2"
clean names/*
rm -rf names && mkdir names
trace "$TMP/names/%e-%h-%n-100%%.gz" "$PROG" image
trace "$TMP/names/%e-%h-%n-100%%.gz" "$PROG" image
host=$(uname -n)
check "%e, %h, %n and %%" "$(cd names && echo *)" \
	"lifecycle-$host-0-100%.gz lifecycle-$host-1-100%.gz"
rm -rf names && mkdir names
(cd names && LD_PRELOAD=$SO "$PROG" image)
pid=$(header names/* pid)
check "the default name" "$(ls names)" "lifecycle.$pid.hatf.gz"
clean names/*
ln -s nowhere link.gz
trace "$TMP/link.gz" "$PROG" image 2>err
check "a symbolic link: status" $? 0
[ -e nowhere ] && fail "a symbolic link was followed"
for mask in 000 077; do
	rm -f mode.gz
	(umask $mask && trace "$TMP/mode.gz" "$PROG" image)
	check "mode with umask $mask" "$(stat -c %a mode.gz)" 600
done

# Compression.
for value in none gzip gzip:1 gzip:2 gzip:3; do
	rm -f trace
	HATFTRACE_COMPRESS=$value trace "$TMP/trace" "$PROG" image
	clean trace
	check "events with $value" "$(events trace | wc -l)" \
		"$(events closed.gz | wc -l)"
	case $value in
	none) want=0a ;;
	*) want=1f ;;
	esac
	check "first byte with $value" \
		"$(head -c 1 trace | od -An -t x1 | tr -d ' ')" $want
	gzip -dcf trace >/dev/null || fail "gzip does not like $value"
done

# The clocks.
for clock in auto off coarse us ns; do
	rm -f trace.gz
	HATFTRACE_CLOCK=$clock trace trace.gz "$PROGS/torture" 8 4 2000 0 >out
	check "torture with clock $clock" $? 0
	clean trace.gz
	check "header with clock $clock" "$(header trace.gz clock)" $clock
	case $clock in
	ns) want=ns ;;
	off) want=none ;;
	*) want=us ;;
	esac
	check "unit with clock $clock" "$(header trace.gz unit)" $want
	times=$("$HATF" dump trace.gz | sed -n 's/.* time=\([0-9]*\).*/\1/p' |
		sort -u | wc -l)
	if [ $clock = off ]; then
		check "times with clock off" "$times" 1
	else
		check_ge "times with clock $clock" "$times" 3
	fi
done

HATFTRACE_VERBOSE=1 trace trace.gz "$PROG" image 2>err
check "verbose: status" $? 0
check "verbose: other lines" "$(grep -vc '^hatftrace: ' err)" 0
finish
