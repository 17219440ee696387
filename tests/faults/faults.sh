# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# faults.sh - what the fault tests share; to be sourced
#
# A row of the fault table is one call of 'fault': the same command runs bare
# and recorded, in the same trouble; its status and output must not differ, and
# the trace must say what the row says that it says.  Rows are appended to
# $FAULT_TABLE, if set, as scripts/fault-table.sh wants them.

# shellcheck source=tests/capture/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../capture/lib.sh"
FAULTS=$BUILD/tests/faults/programs
# shellcheck disable=SC2034 # used by the tests
STRESS=$FAULTS/stress
RUN=()  # what is before the program when it runs: nothing, or the recorder
mkdir -p bare traced tally

# recorder VARIABLE...: RUN for the recorder, with the tally behind it unless
# the trouble would be the tally's as well.
recorder()
{
	RUN=(env "HATFTRACE_OUT=${OUT:-$TMP/traced/t.%p.hatf.gz}" "$@"
		"LD_PRELOAD=$SO${TALLY:+:$TMP/tally.so}${PRELOAD:+:$PRELOAD}"
		"TALLY_DIR=$TMP/tally")
}

# run COMMAND...: bare, then recorded: status, out, err of each.
run_both()
{
	rm -rf traced tally bare
	mkdir -p -m 777 traced tally bare
	# shellcheck disable=SC2034 # used by the tests
	RUN=()
	[ -z "${BEFORE-}" ] || $BEFORE
	"$@" >bare/out 2>bare/err
	echo $? >bare/status
	[ -z "${AFTER-}" ] || $AFTER
	# shellcheck disable=SC2086 # no variable, or one
	recorder ${WITH-}
	[ -z "${BEFORE-}" ] || $BEFORE
	"$@" >out 2>err
	echo $? >status
	[ -z "${AFTER-}" ] || $AFTER
}

# The events of all traces and what they say is lost.
sum_of()
{
	local trace n=0 one
	for trace in ${TRACES:-traced/*}; do
		one=$(info "$trace" "$1" 2>/dev/null)
		n=$((n + ${one:-0}))
	done
	echo "$n"
}

tallied()
{
	local tally n=0
	for tally in tally/*; do
		[ -s "$tally" ] && n=$((n + $(counted "$tally")))
	done
	echo "$n"
}

# violations FILE: of a trace that may be incomplete.
violations()
{
	"$HATF" verify --json "$1" 2>/dev/null |
		sed -n 's/.*"violations": *\([0-9]*\).*/\1/p'
}

# What the traces say, one of
#	complete   every one verifies, and they hold every call that was made
#	lost       complete but for events that they say are lost
#	ended      the trailer says that it could not be written on, and what is
#	           lost by that; standard error has a line
#	cut        no trailer; nothing else is wrong, and standard error has a line
#	open       no trailer; nobody could write one
#	none       no trace; standard error has a line
#	unsaid     no trace, no line
judge()
{
	local trace

	# shellcheck disable=SC2086
	set -- ${TRACES:-traced/*}
	said="$(grep -a -m 1 '^hatftrace: ' err | cut -c 12- |
		sed "s|$TMP/||; s|traced/||; s/t\.[0-9]*\./t.PID./")"
	if [ ! -e "$1" ]; then
		verdict=none
		[ -n "$said" ] || verdict=unsaid
		return
	fi
	verdict=complete
	for trace; do
		if "$HATF" verify "$trace" >verify.out 2>&1; then
			continue
		fi
		check "$row: violations of $trace" "$(violations "$trace")" 0
		if [ "$(info "$trace" complete)" = true ]; then
			fail "$row: $trace: $(head -n 3 verify.out)"
		elif [ "$(trailer "$trace" end)" = error ]; then
			[ -n "$said" ] || fail "$row: $trace: nothing said"
			verdict=ended
		elif [ "$(info "$trace" lost)" != 0 ]; then
			[ $verdict = complete ] && verdict=lost
		elif [ -n "$said" ]; then
			verdict='cut'
		else
			verdict=open
		fi
	done
}

# fault NAME HOW WANT COMMAND...: a row.  WANT is a verdict, or several with |
# between them.  In the environment: OUT (the output template), TRACES (a
# pattern of the traces), TALLY=1 (count the calls), WITH (variables),
# ONLY_STATUS=1 (the output differs from run to run), BEFORE and AFTER
# (functions around each run).
fault()
{
	local row=$1 how=$2 want=$3 same=yes events lost
	shift 3

	[ -z "${TALLY-}" ] || [ -e "$TMP/tally.so" ] || build_shared tally
	run_both "$@"
	if [ "$(cat status)" != "$(cat bare/status)" ]; then
		same="status $(cat status), not $(cat bare/status)"
	elif [ -z "${ONLY_STATUS-}" ] && ! cmp -s out bare/out; then
		same='other output'
	elif grep -av '^hatftrace: ' err |
		cmp -s - bare/err || [ -n "${ONLY_STATUS-}" ]; then
		:
	else
		same='other messages'
	fi
	[ "$same" = yes ] || fail "$row: $same: $(head -c 500 out err bare/err)"
	judge
	[[ $verdict =~ ^($want)$ ]] ||
		fail "$row: $verdict, not $want; $(cat err)"
	check_le "$row: lines said" "$(grep -ac '^hatftrace: ' err)" \
		"${LINES_MAX:-1}"
	events=$(sum_of events) lost=$(sum_of lost)
	if [ -n "${TALLY-}" ]; then
		case $verdict in
		complete | lost)
			check "$row: events and lost" "$((events + lost))" \
				"$(tallied)" ;;
		ended)
			check_le "$row: events and lost" "$((events + lost))" \
				"$(tallied)" ;;
		cut | open)
			check_le "$row: events" "$events" "$(tallied)" ;;
		esac
	fi
	report "$row" "$how" "$same" "$verdict" "$events" "$lost" "$said"
}

# report NAME HOW SAME VERDICT EVENTS LOST SAID: a line of the table.
report()
{
	local trace

	case $4 in
	complete) trace="complete, $5 events" ;;
	lost) trace="$5 events, $6 counted as lost" ;;
	ended) trace="$5 events, says why it ends and that $6 are lost" ;;
	cut) trace="$5 events, says that it is cut off" ;;
	open) trace="$5 events, no trailer" ;;
	none | unsaid) trace='none' ;;
	esac
	[ -z "${FAULT_TABLE-}" ] ||
		printf '| %s | %s | %s | %s%s |\n' "$1" "$2" \
			"$([ "$3" = yes ] && echo 'as bare' || echo "$3")" \
			"$trace" "${7:+; “$7”}" >>"$FAULT_TABLE"
	echo "$1: $4, $5 events, $6 lost${7:+; $7}"
}

# untried NAME HOW WHY: a row that this machine cannot show.
untried()
{
	[ -z "${FAULT_TABLE-}" ] ||
		printf '| %s | %s | not tried here | %s |\n' "$1" "$2" "$3" \
			>>"$FAULT_TABLE"
	echo "$1: not tried: $3"
}

is_root()
{
	[ "$(id -u)" -eq 0 ]
}
