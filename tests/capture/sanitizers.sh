#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sanitizers.sh - programs with a sanitizer run as without the recorder
#
# A sanitizer's run-time has an allocator of its own and interposes libc, and
# AddressSanitizer in a library ends a program in which it is not the first
# library.  So the recorder does nothing in such a process.  'hatf record'
# reports this.  Even the sanitizer's reports are the same as without the
# recorder.  UndefinedBehaviorSanitizer has no such conflict: its programs are
# recorded.
. "$(dirname "$0")/lib.sh"

cat >work.cc <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

__attribute__((noinline)) static char *
taken(size_t n)
{
	return (char *)malloc(n);
}

int
main(int argc, char **argv)
{
	std::vector<std::string> all;
	std::vector<std::thread> threads;

	for (int i = 0; i < 20000; i++)
		all.push_back(std::string(40, 'x'));
	for (int i = 0; i < 4; i++)
		threads.push_back(std::thread([] {
			for (int n = 0; n < 1000; n++)
				free(realloc(malloc(10), 100));
		}));
	for (auto &t : threads)
		t.join();
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		free(malloc(100));
		_exit(3);
	}
	waitpid(pid, &status, 0);
	printf("fine %zu %d\n", all.size(), WEXITSTATUS(status));
	fflush(stdout);
	volatile char *const p = taken(10);

	if (argc > 1 && strcmp(argv[1], "overflow") == 0)
		p[10 + argc - 2] = 1;
	if (argc > 1 && strcmp(argv[1], "mismatch") == 0)
		delete[] p;
	else
		free((void *)p);
	if (argc > 1 && strcmp(argv[1], "exec") == 0)
		execl("./plain", "plain", nullptr);
	return 7;
}
END
${CXX:-c++} -O0 -fno-builtin -pthread -o plain work.cc ||
	fail 'cannot build plain'

# Old sanitizers fail at some of the addresses that the kernel may choose.
fixed=()
setarch -R true 2>/dev/null && fixed=(setarch -R)

# normal FILE: print a sanitizer's report without what differs from run to run.
normal()
{
	sed -E 's/==[0-9]+==//g; s/0x[0-9a-f]+//g
		s/(tid|pid|T)[= ]?[0-9]+//g
		/^ *(=>)?[0-9a-f ]*:|^(  )?(Shadow|Addressable|PC|HINT)/d' "$1"
}

# build NAME COMPILER FLAG...
build()
{
	local name=$1
	shift
	"$@" -O1 -g -fno-builtin -pthread -o "$name" work.cc 2>build.err
}

# go WHERE COMMAND...: write its status, output and report to WHERE.is.
go()
{
	local where=$1
	shift
	timeout 120 "$@" >out 2>err
	echo "status $?" >"$where.is"
	cat out >>"$where.is"
	normal err >>"$where.is"
}

# alone NAME KIND: preload the recorder by hand, for each way to end.
alone()
{
	local name=$1 kind=$2 way
	for way in '' overflow mismatch exec; do
		go bare "${fixed[@]}" "./$name" $way
		rm -rf traces
		mkdir traces
		go traced "${fixed[@]}" \
			env HATFTRACE_OUT="$TMP/traces/%e.%p.gz" \
			LD_PRELOAD="$SO" "./$name" $way
		cmp -s bare.is traced.is || fail "$name $way, preloaded: $(
			diff bare.is traced.is | head -n 8)"
		[ -z "$kind" ] || check "$name $way: traces" \
			"$(count traces/"$name"*)" 0
	done
	# In the last way the program executes another one, which is recorded.
	check "$name: traces of what it executes" "$(count traces/plain*)" 2
}

# recorded NAME KIND: use 'hatf record', directly and for a child of a shell.
recorded()
{
	local name=$1 kind=$2
	rm -rf tree
	mkdir tree
	go bare "${fixed[@]}" "./$name"
	"$HATF" record -o 'tree/%e.%p.gz' -- "./$name" >out 2>err
	check "$name, recorded: status and output" "status $? $(cat out)" \
		"$(head -n 2 bare.is | tr '\n' ' ' | sed 's/ $//')"
	check "$name, recorded: said" "$(grep '^hatf' err)" \
		"hatf record: ./$name is built with $kind: it runs untraced"
	check "$name, recorded: traces" "$(count tree/*)" 0
	"$HATF" record -o 'tree/%e.%p.gz' -- \
		sh -c "./$name; echo \$?; ./plain; exit 5" >out 2>err
	check "$name, child: status" $? 5
	check "$name, child: output" "$(tr '\n' ' ' <out)" \
		'fine 20000 3 7 fine 20000 3 '
	check "$name, child: traces" \
		"$(count tree/"$name"*) $(count tree/plain*)" '0 2'
	text="1 process ran untraced: $name with a sanitizer's run-time"
	grep -q "^hatf record: $text" err ||
		fail "$name, child: $(grep ^hatf err)"
	clean tree/*.gz
}

# try COMPILER SANITIZER LIBRARY KIND HOW: KIND is empty if it is recorded.
try()
{
	local compiler=$1 sanitizer=$2 library=$3 kind=$4 how=$5 flags name
	name=$compiler.$sanitizer.$how
	flags=("-fsanitize=$sanitizer")
	case $compiler.$how in
	g++.static)
		flags+=("-static-lib$library")
		[ -z "$kind" ] || kind='a sanitizer'
		;;
	clang++.shared)
		flags+=(-shared-libsan "-Wl,-rpath,$(dirname "$(clang++ \
			-print-file-name=libclang_rt.asan-x86_64.so)")")
		;;
	*.sysv) flags+=("-Wl,--hash-style=sysv") ;;
	esac
	build "$name" "$compiler" "${flags[@]}" || return
	# Some of these programs do not even run bare.
	"${fixed[@]}" "./$name" >/dev/null 2>&1
	[ $? -eq 7 ] || return
	tried+=" $name"
	alone "$name" "$kind"
	[ -z "$kind" ] || recorded "$name" "$kind"
	rm -f "$name"
}

tried=
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	# A program that is built 'sysv' has a DT_HASH but no DT_GNU_HASH.  This
	# matters if the program itself has the sanitizer's functions, as
	# clang++ builds it.
	for how in shared static sysv; do
		[ $compiler.$how != g++.sysv ] || continue
		try $compiler address asan AddressSanitizer $how
		try $compiler thread tsan ThreadSanitizer $how
		try $compiler leak lsan LeakSanitizer $how
		try $compiler undefined ubsan '' $how
	done
	try $compiler memory msan MemorySanitizer static
done
echo "tried:$tried"
[ -n "$tried" ] || skip 'no compiler has a sanitizer'

# Programs with UndefinedBehaviorSanitizer are recorded.
build ubsan "${CXX:-c++}" -fsanitize=undefined && ./ubsan >/dev/null
if [ $? -eq 7 ]; then
	"$HATF" record -o 'ubsan.%p.gz' -- ./ubsan >out 2>err
	check 'ubsan: status' $? 7
	text='(+ 1 trace of child processes, no events lost in these)'
	grep -q "no events lost $text" err || fail "ubsan: $(cat err)"
	clean ubsan.*.gz
fi
finish
