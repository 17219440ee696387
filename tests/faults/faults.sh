# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# faults.sh - functions that the fault tests share; to be sourced
#
# Each call of 'fault' is a row of the fault table: the same command runs bare
# and recorded under the same fault.  Its status and output must not differ, and
# the trace must say what the row says.  Rows are appended to $FAULT_TABLE, if
# set, in the form that scripts/fault-table.sh reads.

# shellcheck source=tests/capture/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../capture/lib.sh"
FAULTS=$BUILD/tests/faults/programs
# shellcheck disable=SC2034 # used by the tests
STRESS=$FAULTS/stress
RUN=()  # comes before the program: nothing, or the recorder's variables
mkdir -p bare traced tally

# recorder VARIABLE...: set RUN to the recorder, followed by 'tally' if TALLY is
# set; it is not if the fault would hit 'tally' as well.
recorder()
{
	RUN=(env "HATFTRACE_OUT=${OUT:-$TMP/traced/t.%p.hatf.gz}" "$@"
		"LD_PRELOAD=$SO${TALLY:+:$TMP/tally.so}${PRELOAD:+:$PRELOAD}"
		"TALLY_DIR=$TMP/tally")
}

# run_both COMMAND...: run it bare, then recorded; keep status, out, err of
# each.
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

# sum_of KEY: print the sum of events, or of lost events, over all traces.
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

# violations FILE: print the violations of a trace that may be incomplete.
violations()
{
	"$HATF" verify --json "$1" 2>/dev/null |
		sed -n 's/.*"violations": *\([0-9]*\).*/\1/p'
}

# judge: set 'verdict' to what the traces say, which is one of:
#
#	complete   each one verifies, and together they have all calls
#	lost       complete except for events that they count as lost
#	ended      the trailer reports the write error and the lost events;
#	           standard error has a line
#	cut        no trailer, no other defect; standard error has a line
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
# between them.  Variables: OUT (the output template), TRACES (a pattern of the
# traces), TALLY=1 (count the calls), WITH (variables), ONLY_STATUS=1 (the
# output differs from run to run), BEFORE and AFTER (functions around each run).
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

# report NAME HOW SAME VERDICT EVENTS LOST SAID: add a line to the table.
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

# untried NAME HOW WHY: add a row that this machine cannot test.
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
