#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_threads.sh - a replay's first threads begin on different processors
#
# The library that stands for an allocator notes the processors to which threads
# are moved.
#
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

cat >moves.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int setter(pthread_t, size_t, const cpu_set_t *);

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t n) { return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void *memalign(size_t a, size_t n) { return __libc_memalign(a, n); }
void free(void *p) { __libc_free(p); }

/* Note a processor of this process, or "all" that the process may use. */
int
pthread_setaffinity_np(pthread_t thread, size_t nbytes, const cpu_set_t *set)
{
	setter *const real = (setter *)dlsym(RTLD_NEXT, __func__);
	FILE *const f = fopen(getenv("MOVES"), "a");
	cpu_set_t own;
	int processor = 0;

	sched_getaffinity(getpid(), sizeof(own), &own);
	while (!CPU_ISSET(processor, set))
		processor++;
	fprintf(f, "%d ", getpid());
	if (CPU_EQUAL(&own, set))
		fputs("all\n", f);
	else if (CPU_COUNT(set) == 1)
		fprintf(f, "%d\n", processor);
	else
		fputs("some\n", f);
	fclose(f);
	return real(thread, nbytes, set);
}
END
"${CC:-cc}" -O1 -D_GNU_SOURCE -shared -fPIC -o moves.so moves.c ||
	fail 'cannot build moves.c'
processors=$(nproc)
threads=$((processors + 2))
{
	echo '10 HATF ascii thread heap time attributes'
	for ((i = 1; i <= threads; i++)); do
		echo "8 $i 0 1 4200"
	done
	# No thread ends before all have begun.  The second thread of a stream
	# is not moved.
	for ((i = 1; i <= threads; i++)); do
		echo "0 10 $((i + 1))000 0 0 1"
		echo "1 $((i + 1))000 $i 0 1"
	done
	printf '%s\n' '9 1 0 1' '8 1 0 1 4200' '0 9 99000 1 0 1'
} >threads.ascii

# moves COUNT PREFIX...: each run of a replay with this prefix moves COUNT
# threads, each to another processor, and lets them use all of them afterwards.
moves()
{
	local want=$1

	shift
	rm -f moves.txt
	"$@" env MOVES="$PWD/moves.txt" "$HATF" replay -r 1 -a ./moves.so \
		threads.ascii >out 2>err || fail "replay: $(cat err)"
	[ -e moves.txt ] || : >moves.txt
	check 'sets of some processors' "$(grep -c some moves.txt)" 0
	awk 'NR % 2 == 0' moves.txt | grep -qv all &&
		fail "a thread that must stay where it is: $(cat moves.txt)"
	awk 'NR % 2 != 0' moves.txt | sort >moved.txt
	check 'moved twice to a processor' "$(uniq -d moved.txt | wc -l)" 0
	check 'moved threads of a run' \
		"$(cut -d ' ' -f 1 moved.txt | uniq -c | awk '{ print $1 }' |
			sort -u)" "${want/#0/}"
}

moves $((processors - 1)) nice -n 0
first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
moves 0 taskset -c "$first"
finish
