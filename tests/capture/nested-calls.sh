#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# nested-calls.sh - a block counts once if the allocator calls its own functions
#
# In the allocator here, calloc() and memalign() call malloc(), and realloc()
# calls malloc() and free().  The loader binds these calls to the recorder.  The
# library of the allocator has a DT_GNU_HASH, or only a DT_HASH.  Then a signal
# handler interrupts realloc() and forks.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

cat >own.c <<'E_OWN'
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
static char arena[64 << 20] __attribute__((aligned(16)));
static _Atomic size_t used;
void *malloc(size_t n)
{
	const size_t need = (n + 31) & ~(size_t)15;
	const size_t at = atomic_fetch_add(&used, need);
	if (n == 4321)
		raise(SIGUSR1);
	if (at + need > sizeof(arena))
		return NULL;
	memcpy(arena + at, &n, sizeof(n));
	return arena + at + 16;
}
void free(void *p)
{
	(void)p;
}
void *calloc(size_t n, size_t size)
{
	void *const p = malloc(n * size);
	if (p != NULL)
		memset(p, 0, n * size);
	return p;
}
void *realloc(void *old, size_t n)
{
	void *const p = malloc(n);
	size_t old_n;
	if (old == NULL || p == NULL)
		return p;
	memcpy(&old_n, (char *)old - 16, sizeof(old_n));
	memcpy(p, old, old_n < n ? old_n : n);
	free(old);
	return p;
}
void *memalign(size_t alignment, size_t n)
{
	const uintptr_t p = (uintptr_t)malloc(n + alignment);
	return (void *)((p + alignment - 1) & ~(uintptr_t)(alignment - 1));
}
/* Not an allocation function: the program frees the block. */
void *own_block(void)
{
	return malloc(99);
}
E_OWN
cat >calls.c <<'E_CALLS'
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
void *own_block(void) __attribute__((weak));
static void *work(void *unused)
{
	for (int i = 0; i < 500; i++) {
		void *volatile p = malloc(11);
		p = realloc(p, 77);
		free(p);
		p = calloc(3, 5);
		free(p);
		p = memalign(64, 33);
		free(p);
		p = strdup("seven..");
		free(p);
		p = own_block != NULL ? own_block() : NULL;
		free(p);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}
E_CALLS
for style in gnu sysv; do
	${CC:-cc} -O1 -fno-builtin -fPIC -shared -Wl,--hash-style=$style \
		-o own.$style.so own.c || fail "$style: cannot build"
done
${CC:-cc} -O1 -fno-builtin -o calls calls.c -pthread || fail 'cannot build'
cat >forks.c <<'E_FORKS'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pid_t child = -1;
static void make_child(int signo)
{
	(void)signo;
	child = fork();
}
int main(void)
{
	void *volatile p = malloc(5);
	int status;
	signal(SIGUSR1, make_child);
	p = realloc(p, 4321);
	for (int i = 0; i < 100; i++) {
		free(p);
		p = malloc(7);
	}
	if (child == 0)
		return 9;
	return waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	       WEXITSTATUS(status) != 9;
}
E_FORKS
${CC:-cc} -O1 -fno-builtin -o forks forks.c || fail 'cannot build'

# count PATTERN: the number of records that match.
count()
{
	grep -cE "$1" records
}
# try STACKS LIBRARY
try()
{
	local stacks=$1 library=$2 name=$1.${2%.so} call file
	HATFTRACE_STACKS=$stacks PRELOAD=$TMP/$library \
		trace "$TMP/$name.gz" ./calls
	check "$name: status" $? 0
	clean "$name.gz"
	check "$name: allocator" "$(header "$name.gz" allocator)" \
		"$TMP/$library"
	"$HATF" dump "$name.gz" >records
	for call in 'alloc size=11 ' 'realloc.* size=77 ' 'alloc size=33 ' \
		'alloc size=15 .*zeroed=1' 'alloc size=8 ' 'alloc size=99 '; do
		check "$name: $call" "$(count " $call")" 1000
	done
	check "$name: frees" "$(count ' free ')" 6000

	mkdir "forks.$name"
	HATFTRACE_STACKS=$stacks PRELOAD=$TMP/$library \
		trace "$TMP/forks.$name/%p.gz" ./forks
	check "$name: status of a forking handler" $? 0
	for file in "forks.$name"/*; do
		"$HATF" dump "$file"
	done >records
	check "$name: blocks of both" "$(count ' alloc size=7 ')" 200
}

for style in gnu sysv; do
	try off own.$style.so
	try on:frees own.$style.so
done
finish
