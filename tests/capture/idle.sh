#!/bin/bash
# SPDX-License-Identifier: MIT
#
# idle.sh - the writer thread ends while the program is idle, and returns
#
# A program allocates, then waits for the test.  Meanwhile it has one thread.
# Whatever it does next, its trace has exactly its events.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

need jq "$PYTHON"
control_folder

# Each argument is a step; sizes tell the steps apart in the trace.
cat >steps.py <<'EOF_PYTHON'
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

def churn(n, size):
    malloc, free = libc.malloc, libc.free
    for _ in range(n):
        free(malloc(size))

def fork():
    pid = os.fork()
    if pid == 0:
        churn(100, 4400)
        os._exit(0)
    os.waitpid(pid, 0)

def thread():
    t = threading.Thread(target=churn, args=(100, 4500))
    t.start()
    t.join()

# Look as opendir(3) does, then as Chromium does; then ask the kernel.
def look():
    seen = [len(os.listdir('/proc/self/task'))]
    proc = os.open('/proc', os.O_PATH)
    for path in 'self/task/', f'{os.getpid()}/task':
        churn(20000, 4600)
        # The folder has two links, and one for each thread.
        links = os.stat(path, dir_fd=proc).st_nlink
        # Before glibc 2.33, fstatat() has another name.
        seen.append(links - 2 if hasattr(libc, 'fstatat64') else 1)
    os.close(proc)
    with open('looked', 'w') as f:
        print(*seen, file=f)

# Waiting allocates nothing.
turn = 0
def wait():
    global turn
    turn += 1
    name = b'go%d' % turn
    while libc.access(name, 0) != 0:
        libc.usleep(20000)

steps = {
    'work': lambda: churn(20000, 4100),
    'few': lambda: churn(10, 4200),
    'more': lambda: churn(20000, 4300),
    'fork': fork,
    'thread': thread,
    'wait': wait,
    'nothing': lambda: None,
    'look': look,
    'exec': lambda: os.execv('/bin/true', ['true']),
}
for step in sys.argv[1:]:
    steps[step]()
EOF_PYTHON

# begin NAME STEP...: run it in the background, in a folder NAME; set 'pid'.
begin()
{
	local name=$1
	shift
	rm -rf "$name"
	mkdir "$name"
	# shellcheck disable=SC2086 # no variable, or one
	(cd "$name" && exec env ${WITH-} PYTHONMALLOC=pymalloc \
		HATFTRACE_OUT=t.hatf.gz LD_PRELOAD="$SO${PRELOAD:+:$PRELOAD}" \
		"$PYTHON" -S -I ../steps.py "$@") &
	pid=$!
}

# go NAME [N]: let the program that began as NAME continue.
go()
{
	touch "$1/go${2:-1}"
}

# await_threads N: wait until the process has N threads.
await_threads()
{
	local i
	for ((i = 0; i < 600; i++)); do
		[ "$(count /proc/"$pid"/task/*)" = "$1" ] && return
		sleep 0.05
	done
	fail "$what: $(count /proc/"$pid"/task/*) threads, not $1"
}

# allocations FILE SIZE
allocations()
{
	events "$1" | grep -c "^alloc $2 "
}

# end NAME: let the program finish; it must end as it does untraced.
end()
{
	touch "$1"/go{1,2,3}
	wait "$pid"
	check "$what: status" "$?" 0
	clean "$1/t.hatf.gz"
	check "$what: rings" "$(find "$1" -name '*.rings')" ''
}

# The steps that may follow a pause.
nexts=(nothing few 'few more' 'more wait few' thread 'fork few' exec)

check_next()
{
	local what="pause, $1" trace=$2/t.hatf.gz want
	pid=$3
	end "$2"
	check "$what: before" "$(allocations "$trace" 4100)" 20000
	want=0
	[[ $1 == *few* ]] && want=10
	check "$what: few" "$(allocations "$trace" 4200)" $want
	want=0
	[[ $1 == *more* ]] && want=20000
	check "$what: more" "$(allocations "$trace" 4300)" $want
	want=0
	[[ $1 == *thread* ]] && want=100
	check "$what: thread" "$(allocations "$trace" 4500)" $want
}

test_goes_on()
{
	local i pids=()
	for i in "${!nexts[@]}"; do
		# shellcheck disable=SC2086 # words
		begin "on$i" work wait ${nexts[i]}
		pids+=("$pid")
	done
	for i in "${!nexts[@]}"; do
		what="pause, ${nexts[i]}" pid=${pids[i]}
		await_threads 1
	done
	# The next program pauses twice.
	pid=${pids[3]}
	go on3
	await_threads 2
	await_threads 1
	for i in "${!nexts[@]}"; do
		check_next "${nexts[i]}" "on$i" "${pids[i]}"
	done
	check 'what is left' "$(left)" ''
}

# Another library, after the recorder, counts all events.
test_exact()
{
	local PRELOAD=$TMP/tally.so
	what=exact
	build_shared tally
	mkdir pauses
	WITH="TALLY_DIR=$TMP/pauses" begin exact work wait few wait more
	await_threads 2
	await_threads 1
	go exact
	sleep 0.5
	end exact
	check "$what: events" "$(info exact/t.hatf.gz events)" \
		"$(counted pauses/"$pid")"
}

# A program that looks for other threads finds none.
test_look()
{
	what=look
	begin look work look work
	end look
	check "$what: threads" "$(cat look/looked)" '1 1 1'
	check "$what: work" "$(allocations look/t.hatf.gz 4100)" 40000
	check "$what: between" "$(allocations look/t.hatf.gz 4600)" 40000
	WITH=HATFTRACE_START=off begin look work look work
	touch look/go1
	wait "$pid"
	check "$what: threads of a dormant one" "$(cat look/looked)" '1 1 1'
}

# killed NAME: kill it, and recover its trace.
killed()
{
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	"$HATF" recover "$1/t.hatf.gz" >/dev/null || fail "$what: recover"
	clean "$1/t.hatf.gz"
	check "$what: before" "$(allocations "$1/t.hatf.gz" 4100)" 20000
	check "$what: few" "$(allocations "$1/t.hatf.gz" 4200)" 10
}

# A kill while there is no writer thread, with events since it ended; and a kill
# after the writer has returned.
test_kill()
{
	what='killed in the pause'
	begin cut work wait few wait
	await_threads 2
	await_threads 1
	"$HATF" recover cut/t.hatf.gz >/dev/null 2>recover.err &&
		fail 'recovered while it lives'
	go cut
	sleep 0.5
	check "$what: threads" "$(count /proc/$pid/task/*)" 1
	killed cut

	what='killed after the pause'
	begin cut work wait few more wait
	await_threads 2
	await_threads 1
	go cut
	await_threads 2
	sleep 0.1
	killed cut
	check_ge "$what: more" "$(allocations cut/t.hatf.gz 4300)" 1000
}

# Orders to a process that has no writer thread.
test_orders()
{
	what=orders
	begin asked work wait few wait more wait
	await_threads 2
	await_threads 1
	check 'state' "$(ctl --json "$pid" status | jq -r .state)" recording
	check 'trace' "$(ctl --json "$pid" status | jq -r .trace)" \
		"$TMP/asked/t.hatf.gz"
	check_ge 'events so far' \
		"$(ctl --json "$pid" status | jq -r .events)" 40000
	check 'all' "$(ctl --all status | grep -c "^$pid: recording")" 1
	check 'threads after that' "$(count /proc/$pid/task/*)" 1
	ctl "$pid" start 2>err && fail 'started twice'
	grep -q 'already recording' err || fail "start: $(cat err)"
	ctl "$pid" flush 2>err && fail 'flush of a quiet process'
	grep -q 'it takes orders at its next allocation' err ||
		fail "flush: $(cat err)"
	go asked 1
	await_threads 2
	ctl "$pid" flush >/dev/null || fail 'flush'
	await_threads 1
	ctl "$pid" stop 2>err && fail 'stop of a quiet process'
	grep -q 'it will end its trace at its next allocation' err ||
		fail "stop: $(cat err)"
	go asked 2
	await_threads 2
	check 'state after the stop' \
		"$(ctl --json "$pid" status | jq -r .state)" dormant
	# It is dormant now, and again without a thread.
	await_threads 1
	check 'state, later' \
		"$(ctl --json "$pid" status | jq -r .state)" dormant
	ctl "$pid" flush 2>err && fail 'flush without a trace'
	grep -q 'not recording' err || fail "flush, dormant: $(cat err)"
	end asked
	check 'how it ended' "$(trailer asked/t.hatf.gz end)" stop
	# A pending order is visible, and the opposite order cancels it.
	begin waits work wait few wait
	await_threads 2
	await_threads 1
	check 'no pending order' \
		"$(ctl --json "$pid" status | jq -r .pending)" null
	ctl "$pid" stop 2>/dev/null && fail 'stop of a quiet process'
	check 'pending stop' "$(ctl --json "$pid" status | jq -r .pending)" stop
	ctl "$pid" status | grep -q 'pending order: stop, which takes effect' ||
		fail "a stop waits: $(ctl "$pid" status)"
	ctl "$pid" start 2>err && fail 'a start in the place of a stop'
	grep -q 'already recording; the pending stop is cancelled' err ||
		fail "taken back: $(cat err)"
	check 'no pending order' \
		"$(ctl --json "$pid" status | jq -r .pending)" null
	end waits
	check 'it was not stopped' "$(trailer waits/t.hatf.gz end)" exit
	check 'few after that' "$(allocations waits/t.hatf.gz 4200)" 10
	check 'few' "$(allocations asked/t.hatf.gz 4200)" 10
	check 'what is left of two' "$(left)" ''
}

# Before the trace file exists, the process takes no orders, and its status says
# so.
test_not_begun()
{
	what='not begun'
	(exec env HATFTRACE_OUT="$TMP/young.hatf.gz" LD_PRELOAD="$SO" \
		sleep 60) &
	pid=$!
	sleep 1.5
	check "$what: state" \
		"$(ctl --json "$pid" status | jq -r .state)" recording
	ctl "$pid" stop 2>err && fail "$what: stop"
	grep -q 'too few heap events so far' err || fail "$what: $(cat err)"
	grep -q 'HATFTRACE_BEGIN=now' err || fail "$what: $(cat err)"
	check "$what: of all" \
		"$(ctl --all status | grep -c "^$pid: recording")" 1
	kill "$pid"
	wait "$pid" 2>/dev/null
}

# The file was renamed meanwhile: later events go into the next segment.
test_moved()
{
	local next=moved/t.s0001.hatf.gz
	what=moved
	begin moved work wait few more 2>err
	await_threads 2
	await_threads 1
	mv moved/t.hatf.gz away.hatf.gz
	go moved
	wait "$pid"
	check "$what: status" "$?" 0
	clean_but_cut away.hatf.gz 2>/dev/null
	check "$what: before" "$(allocations away.hatf.gz 4100 2>/dev/null)" \
		20000
	check 'the next file' "$(header $next previous)" t.hatf.gz
	check "$what: few" "$(allocations $next 4200)" 10
	check "$what: more" "$(allocations $next 4300)" 20000
	check "$what: violations" "$("$HATF" verify --json $next 2>/dev/null |
		jq .violations)" 0
	check "$what: lines said" \
		"$(grep -c 'the trace continues in another file' err)" 1
}

# A copy is in the place of the file: the copy stays as it is.
test_replaced()
{
	what=replaced
	begin replaced work wait few 2>err
	await_threads 2
	await_threads 1
	mv replaced/t.hatf.gz away.hatf.gz
	cp away.hatf.gz replaced/t.hatf.gz
	go replaced
	wait "$pid"
	check "$what: status" "$?" 0
	cmp away.hatf.gz replaced/t.hatf.gz || fail "$what: copy"
	check "$what: few" \
		"$(allocations replaced/t.s0001.hatf.gz 4200 2>/dev/null)" 10
	check "$what: said" "$(cat err)" "hatftrace: \
$TMP/replaced/t.hatf.gz: the file was replaced or changed; the trace continues \
in another file"
}

# The writer thread stays if a setting requires it.
test_stays()
{
	local i WITH pids=()
	local withs=(HATFTRACE_BEGIN=now HATFTRACE_ROTATE=1h
		HATFTRACE_RINGS=none)
	for i in "${!withs[@]}"; do
		WITH=${withs[i]} begin "stays$i" work wait
		pids+=("$pid")
	done
	sleep 5
	for i in "${!withs[@]}"; do
		pid=${pids[i]}
		check "stays: ${withs[i]}" "$(count /proc/"$pid"/task/*)" 2
		touch "stays$i/go1"
		wait "$pid"
		clean "stays$i"/t*
	done
}

test_goes_on
test_exact
test_look
test_kill
test_orders
test_not_begun
test_moved
test_replaced
test_stays
finish
