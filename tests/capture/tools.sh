#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# tools.sh - real programs with threads and children behave as they do bare
#
# Output and exit status equal those of a bare run, 'hatf verify' finds nothing
# in any trace, and each trace has as many events as reached the allocator.
. "$(dirname "$0")/lib.sh"
need xz sort pigz python3

# same NAME LEAST-THREADS COMMAND...
same()
{
	local name=$1 least=$2 threads=0 trace n
	shift 2
	"$@" <input >out.bare 2>err.bare
	echo $? >status.bare
	rm -rf t t.traces
	trace_tallied t "$@" <input >out.traced 2>err.traced
	check "$name: status" $? "$(cat status.bare)"
	cmp -s out.bare out.traced || fail "$name: output differs"
	cmp -s err.bare err.traced ||
		fail "$name: stderr: $(head -n 3 err.traced)"
	clean t.traces/*
	compare_tallies t
	for trace in t.traces/*; do
		n=$(info "$trace" threads)
		[ "$n" -le "$threads" ] || threads=$n
	done
	check_ge "$name: threads" "$threads" "$least"
}

awk 'BEGIN {
	srand(1)
	for (i = 0; i < 300000; i++)
		print int(rand() * 1e6), "line", i, "of the input", \
			i * 7919 % 1e5
}' >input
cat >threads.py <<'EOT'
import hashlib, json, queue, subprocess, threading, zlib
results, jobs = {}, queue.Queue()
def work():
    while True:
        n = jobs.get()
        if n is None:
            return
        text = json.dumps([{"n": n, "k": str(k) * 5} for k in range(300)])
        packed = zlib.compress(text.encode())
        results[n] = hashlib.md5(zlib.decompress(packed)).hexdigest()
threads = [threading.Thread(target=work) for _ in range(6)]
for t in threads: t.start()
for n in range(150): jobs.put(n)
for t in threads: jobs.put(None)
for t in threads: t.join()
for n in range(20):
    t = threading.Thread(target=lambda: results.setdefault(n + 1000, "x"))
    t.start(); t.join()
print(subprocess.run(["echo", "child"], capture_output=True).stdout)
print(hashlib.md5(json.dumps(sorted(results.items())).encode()).hexdigest())
EOT
cat >processes.py <<'EOT'
import multiprocessing
def square(n): return sum(i * i for i in range(n)), [str(n)] * n
if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    with multiprocessing.Pool(3) as pool:
        print(sum(a for a, _ in pool.map(square, range(200))))
        pool.close(); pool.join()
EOT
export PYTHONMALLOC=malloc PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1

same xz 3 xz -1 -T2 --block-size=500KiB -c
same sort 2 sort --parallel=4 -S 60M -k 3,3 -k 1,1n
same pigz 3 pigz -p 4 -n -c
same python3 7 "$PYTHON" threads.py
same multiprocessing 2 "$PYTHON" processes.py
# A process tree: gcc, cc1, as, collect2, ld.
# shellcheck disable=SC2016 # for the inner shell
same gcc 1 sh -c 'gcc -O1 -pthread -o prog "$0" && md5sum prog' \
	"$CAPTURE/programs/longrun.c"
finish
