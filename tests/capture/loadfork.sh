#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# loadfork.sh - a child forked while threads load libraries goes on
#
# The lock on the loader's list of objects stays locked in a child if a thread
# held it when the process was forked.  The start of the child's trace waited
# for it, for ever.
. "$(dirname "$0")/lib.sh"

cat >part.c <<'EOT'
int part(int n) { return n + 1; }
EOT
cat >loadfork.c <<'EOT'
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static _Atomic int done;
static void *
loads(void *path)
{
	while (!done) {
		void *const part = dlopen(path, RTLD_NOW);
		if (part == NULL || dlsym(part, "part") == NULL)
			abort();
		dlclose(part);
	}
	return NULL;
}
static void *
looks(void *unused)
{
	while (!done)
		dlsym(RTLD_DEFAULT, "qsort");
	return unused;
}
int
main(void)
{
	char *const paths[] = { "./a.so", "./b.so" };
	pthread_t threads[4];
	int status, bad = 0;

	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, loads, paths[i]);
		pthread_create(&threads[2 + i], NULL, looks, NULL);
	}
	for (int i = 0; i < 150; i++) {
		const pid_t child = fork();
		if (child == 0) {
			free(malloc(12345));
			_exit(3);
		}
		waitpid(child, &status, 0);
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != 3;
	}
	done = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return bad != 0;
}
EOT
${CC:-cc} -w -shared -fPIC -o a.so part.c && cp a.so b.so &&
	${CC:-cc} -w -O1 -fno-builtin -D_GNU_SOURCE -o loadfork loadfork.c \
		-ldl -lpthread || fail 'cannot build loadfork'
for stacks in off on; do
	rm -f t.*.gz*
	timeout -k 1 120 env HATFTRACE_STACKS=$stacks \
		HATFTRACE_OUT="$TMP/t.%p.gz" LD_PRELOAD="$SO" \
		./loadfork >out 2>err
	check "stacks $stacks: status" $? 0
	check "stacks $stacks: stderr" "$(cat err)" ''
	check "stacks $stacks: traces" "$(count t.*.gz)" 151
	clean t.*.gz
done
finish
