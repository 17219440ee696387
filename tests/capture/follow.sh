#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# follow.sh - HATFTRACE_FOLLOW: which processes of a tree are traced
. "$(dirname "$0")/lib.sh"

# follow RULE WAY: run it, and wait for all of its processes.
follow()
{
	rm -rf traces
	mkdir traces
	{
		HATFTRACE_FOLLOW=$1 trace "$TMP/traces/t.%p.gz" \
			"$PROGS/lifecycle" "$2" 9>&1 >out 2>err
		echo $? >status
	} | cat
	check "$1 $2: status" "$(cat status)" 0
	[ -s err ] && fail "$1 $2: stderr: $(cat err)"
}

# exes: print the number of traces of each executable, "2 lifecycle 1 sh".
exes()
{
	local trace
	for trace in traces/*.gz traces/*.gz.[0-9]*; do
		[ -e "$trace" ] && basename "$(header "$trace" exe)"
	done | sort | uniq -c |
		awk '{ printf "%s%s %s", sep, $1, $2; sep = " " }'
}

# traced RULE WAY EXES
traced()
{
	follow "$1" "$2"
	check "$1 $2" "$(exes)" "$3"
	[ -z "$3" ] || clean traces/*
}

shell=$(basename "$(readlink -f /bin/sh)")

# First forks, then one image after the other, then every way to exec.
traced all fork-double "3 lifecycle"
traced fork fork-double "3 lifecycle"
traced exec fork-double "1 lifecycle"
traced none fork-double "1 lifecycle"
for way in exec exec-raw exec-in-thread; do
	traced all $way "2 lifecycle"
	traced exec $way "2 lifecycle"
	traced fork $way "1 lifecycle"
	traced none $way "1 lifecycle"
done
traced all exec-variants "10 lifecycle 9 true"
traced fork exec-variants "10 lifecycle"
traced exec exec-variants "1 lifecycle 9 true"
traced none exec-variants "1 lifecycle"
for way in spawn vfork system; do
	traced fork $way "1 lifecycle"
	traced none $way "1 lifecycle"
done
traced exec spawn "1 lifecycle 21 true"
traced exec vfork "1 lifecycle 20 true"
traced exec system "2 $shell 1 lifecycle"

# Names.  A program that does not match is not traced; its descendants may be.
traced all:true exec-variants "9 true"
traced 'all:t?ue' exec-variants "9 true"
traced 'all:!true' exec-variants "10 lifecycle"
traced 'all:*,!l*' exec-variants "9 true"
traced 'all:x*y,*c*l*,tru' exec-variants "10 lifecycle"
traced 'exec:*' exec-variants "1 lifecycle 9 true"
traced none:true exec-variants ""
traced none:life\* exec-variants "1 lifecycle"
traced "exec:$shell" system "2 $shell"
traced 'all:lifecycle*' fork-double "3 lifecycle"
traced 'fork:none,!lifecycle' fork-double ""

# The mark: the recorder changes only the first letter, and only in the value
# that it passes on.
rm -rf traces
mkdir traces
# shellcheck disable=SC2016 # the inner shell's
HATFTRACE_FOLLOW="none:sh*" trace "$TMP/traces/t.%p.gz" \
	sh -c 'echo "$HATFTRACE_FOLLOW"' >out
check mark "$(cat out)" 'None:sh*'
env HATFTRACE_FOLLOW=exec env >bare
HATFTRACE_FOLLOW="exec" trace "$TMP/traces/t.%p.gz" env >traced
check "the environment" "$(diff bare traced | grep '^[<>]' |
	grep -vE '^> (LD_PRELOAD|HATFTRACE_OUT)=' | sort | tr '\n' ' ')" \
	'< HATFTRACE_FOLLOW=exec > HATFTRACE_FOLLOW=Exec '
trace "$TMP/traces/t.%p.gz" env >traced
grep HATFTRACE_FOLLOW traced && fail "a variable where there was none"

# A program that sets the variable again starts a new tree; one that removes it
# gets the default.
rm -rf traces
mkdir traces
HATFTRACE_FOLLOW=none trace "$TMP/traces/t.%p.gz" \
	env HATFTRACE_FOLLOW=none:true sh -c 'env true; true & wait'
check "a new tree" "$(exes)" "1 env"
rm -rf traces
mkdir traces
HATFTRACE_FOLLOW=none trace "$TMP/traces/t.%p.gz" \
	env -u HATFTRACE_FOLLOW env true
check "dropped" "$(exes)" "2 env 1 true"

# A wrong value costs the trace, never the program.
for value in '' sometimes NONE nonesuch none: all:a,,b 'all:!' all:a,! all,b \
	"all:$(head -c 2000 /dev/zero | tr '\0' x)"; do
	rm -rf traces
	mkdir traces
	HATFTRACE_FOLLOW=$value trace "$TMP/traces/t.%p.gz" \
		sh -c 'echo fine' >out 2>err
	check "'${value:0:20}': output" "$(cat out)" fine
	check "'${value:0:20}': lines" "$(wc -l <err)" 1
	grep -q '^hatftrace: HATFTRACE_FOLLOW: wrong value' err ||
		fail "'${value:0:20}': $(cat err)"
	check "'${value:0:20}': traces" "$(exes)" ""
done

# The identity of a process, compared with /proc; times are in nanoseconds.
rm -rf traces
mkdir traces
# shellcheck disable=SC2016
trace "$TMP/traces/t.%p.gz" sh -c '
	cut -d " " -f 22 /proc/$$/stat; cut -d " " -f 22 /proc/$PPID/stat
	echo $$ $PPID' >out
{
	read -r start
	read -r parent_start
	read -r pid parent
} <out
tick=$((1000000000 / $(getconf CLK_TCK)))
check "pid_start" "$(header "traces/t.$pid.gz" pid_start)" $((start * tick))
check "the first ancestor" \
	"$(header "traces/t.$pid.gz" ancestors | cut -d ' ' -f 1)" \
	"$parent@$((parent_start * tick))"

# The ancestors of a forked child are the parent and the ancestors in the
# parent's trace.
rm -rf traces
mkdir traces
trace "$TMP/traces/t.%p.gz" "$PYTHON" -c 'import os
for _ in range(9):
    if os.fork():
        os.wait()
        break'
chain=$(for file in traces/*; do
	echo "$(header "$file" pid) $(header "$file" pid_start)" \
		"$(header "$file" parent_pid)" "$(header "$file" ancestors)"
done | awk '{
	pid[$1] = $1 "@" $2
	if (NF > 2 && $3 !~ /@/) { parent[$1] = $3; from = 4 } else from = 3
	list[$1] = ""
	for (i = from; i <= NF; i++)
		list[$1] = list[$1] " " $i
}
END {
	for (p in parent) {
		n = split(pid[parent[p]] list[parent[p]], want, " ")
		line = ""
		for (i = 1; i <= n && i <= 8; i++)
			line = line " " want[i]
		print (list[p] == line) ? "as of the parent" : list[p]
	}
}' | sort | uniq -c)
check "ancestors of children of forks" "$chain" "      9 as of the parent"
finish
