#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# inherited.sh - a child knows its parent's blocks, even if it forks mid-malloc
#
# A forked child's trace knows exactly which blocks it inherited, also if other
# threads of the parent were inside malloc() at the fork.
. "$(dirname "$0")/lib.sh"

mkdir traces
trace "$TMP/traces/t.%p.gz" "$PROGS/prefork" >found
check "prefork: status" $? 0
check "prefork: children" "$(wc -l <found)" 20
while read -r pid count; do
	child=traces/t.$pid.gz
	clean "$child"
	check "$pid: heritage" "$(info "$child" heritage)" exact
	# The child freed every block that it found; all its other frees were of
	# its own blocks.
	check "$pid: inherited" "$("$HATF" verify --json "$child" |
		sed -n 's/.*"inherited": *\([0-9]*\).*/\1/p')" "$count"
done <found
for parent in traces/*; do
	[ -n "$(header "$parent" parent_pid)" ] || break
done
clean "$parent"

# Also during a realloc in a slow allocator.  The realloc takes a moment, or
# longer than a fork waits.
build_shared wideheap
PRELOAD=$TMP/wideheap.so
while read -r us forks wait; do
	mkdir "wide$us"
	WIDEHEAP_US=$us trace "$TMP/wide$us/t.%p.gz" \
		"$PROGS/fork_during_realloc" "$forks" "$wait" >pids
	check "wide $us: status" $? 0
	check "wide $us: children" "$(wc -l <pids)" "$forks"
	while read -r pid; do
		check "wide $us, $pid: heritage" \
			"$(info "wide$us/t.$pid.gz" heritage)" exact
	done <pids
	clean "wide$us"/*
	cat "wide$us"/* | gzip -dc | grep -aq 'HATF realloc' ||
		fail "wide $us: no realloc was under way"
done <<'WIDE'
150 100 0
200000 2 1
WIDE
PRELOAD=

# All traces are moved together; then the child's is moved away from the
# parent's.
mv traces moved
pid=$(sed -n "1s/ .*//p" found)
child=moved/t.$pid.gz
check "moved: heritage" "$(info "$child" heritage)" exact
mkdir alone
mv "$child" alone
check "alone: heritage" "$(info "alone/t.$pid.gz" heritage)" missing
clean "alone/t.$pid.gz"

# Python forks its workers one by one, from a process with a big heap.
need "$PYTHON"
mkdir python
cat >pool.py <<'END'
import multiprocessing, os

data = [str(i) * 20 for i in range(20000)]

def work(n):
    global data
    data = data[n::2] + [str(i) for i in range(1000)]
    return os.getpid(), len(data)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with context.Pool(4, maxtasksperchild=1) as pool:
        for pid, n in pool.imap(work, range(8)):
            print(pid, n)
        pool.close()
        pool.join()
END
trace "$TMP/python/t.%p.gz" env PYTHONMALLOC=malloc "$PYTHON" pool.py >pids
check "python: status" $? 0
check_ge "python: workers" "$(sort -u pids | wc -l)" 4
while read -r pid _; do
	child=python/t.$pid.gz
	clean "$child"
	check "python $pid: heritage" "$(info "$child" heritage)" exact
	check_ge "python $pid: at the start" \
		"$(info "$child" start_live_objects)" 20000
done < <(sort -u pids)

# If the parent was killed, its recovered trace has everything that the child's
# needs.
mkdir killed
trace "$TMP/killed/t.%p.gz" env PYTHONMALLOC=malloc "$PYTHON" -c '
import os, sys
data = [str(i) * 20 for i in range(5000)]
pid = os.fork()
if pid == 0:
    del data
    os._exit(0)
print(pid, os.getpid())
sys.stdout.flush()
os.waitpid(pid, 0)
os.kill(os.getpid(), 9)' >pids 2>/dev/null
read -r pid parent <pids
# The interpreter is the second image of its process.
file=killed/t.$parent.gz.1
[ -e "$file" ] || file=killed/t.$parent.gz
"$HATF" recover "$file" >out 2>&1 || fail "recover: $(cat out)"
clean killed/*.gz
check "killed parent: heritage" "$(info "killed/t.$pid.gz" heritage)" exact
check_ge "killed parent: freed" "$("$HATF" verify --json "killed/t.$pid.gz" |
	sed -n 's/.*"inherited": *\([0-9]*\).*/\1/p')" 5000
finish
