#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay_page.sh - 'hatf replay --html' draws what the trace has live
#
# A count by hand gives the live bytes of each sample.  Names with markup are
# text.  The page opens in Chromium, if there is one, without a word on its
# console.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

page=$CLI/../page

# Random calls of one thread: about 4000, with realloc and calloc.
mkdir '<'
trace='</script><b>x.ascii'
python3 - >"$trace" <<'END'
import random
random.seed(5)
print("10 HATF ascii thread heap time attributes")
live = []
for n in range(4000):
    kind = random.random()
    if kind < 0.5 or not live:
        live.append(4096 * (n + 1))
        print(f"0 {random.randrange(9000)} {live[-1]:#x} 0 0 {n}")
    elif kind < 0.8:
        print(f"1 {live.pop(random.randrange(len(live))):#x} 0 0 {n}")
    else:
        i = random.randrange(len(live))
        print(f"2 {random.randrange(1, 9000)} {live[i]:#x} "
              f"{4096 * (n + 1):#x} 0 0 {n}")
        live[i] = 4096 * (n + 1)
END

# check_page PAGE: hold its data against the trace.
check_page()
{
	python3 - "$1" "$trace" <<'END' || fail "$1: wrong samples"
import json, re, sys
text = open(sys.argv[1]).read()
data = json.loads(re.search(
    '<script type="application/json" id="data">(.*?)</script>', text,
    re.S).group(1))
live, at = {}, [0]
for line in list(open(sys.argv[2]))[1:]:
    words = line.split()
    if words[0] == "0":
        live[words[2]] = int(words[1])
    elif words[0] == "1":
        del live[words[1]]
    else:
        del live[words[2]]
        live[words[3]] = int(words[1])
    at.append(sum(live.values()))
calls = data["history"]["calls"]
assert calls == list(range(calls[0], 4001, calls[0])), calls
assert 200 < len(calls) <= 512
assert data["history"]["live_bytes"] == [at[i] for i in calls]
assert data["file"] == sys.argv[2]
for a in data["allocators"]:
    assert len(a["history_rss"]) == len(calls)
    assert 0.5 * at[-1] < a["history_rss"][-1] < 3 * at[-1] + 4e6, a
END
}

run timeout 100 "$HATF" replay -r 2 -l --html app.html -a glibc \
	-a glibc:MALLOC_ARENA_MAX=1 "$trace"
check_status "replay --html: $(cat err)" 0
grep -q '^glibc ' out || fail 'no table beside the page'
check 'mode' "$(stat -c %a app.html)" 600
check_page app.html
check 'elements in names' "$(grep -c '</script><b>x' app.html)" 0

# On standard output there is the page alone.
run timeout 100 "$HATF" replay -r 1 --html - -a glibc "$trace"
check_status 'replay --html -' 0
mv out alone.html
check_page alone.html

# A trace without calls, and one of a few; several threads.
printf '%s\n' '10 HATF ascii thread heap time attributes' \
	'0 400 0x0 0 0 1' >none.ascii
run "$HATF" replay -r 1 --html none.html -a glibc none.ascii
check_status 'no calls' 0
"$HATF" record --follow none -G -o threads.hatf.gz -- \
	"$BUILD/tests/capture/programs/threads" >/dev/null 2>&1
run timeout 100 "$HATF" replay -r 1 --html threads.html -a glibc threads.hatf.gz
check_status 'threads' 0

# An allocator that gives all blocks the same memory, and comes first.
"${CC:-cc}" -O1 -D_GNU_SOURCE -fno-builtin -shared -fPIC -pthread \
	-o bad.so "$CLI/../cli/bad_heap.c" || fail 'cannot build bad_heap.c'
run timeout 100 "$HATF" replay -r 1 -l --html failed.html \
	-a ./bad.so:BAD_HEAP=same -a glibc threads.hatf.gz
check_status 'an allocator that fails' 1

# What the page shows is not the whole trace as it is; calls failed.
printf '%s\n' '10 HATF ascii thread heap time attributes' \
	'10 HATF 1.0\x0aproducer=test\x0a' '0 4096 0x1000 0 0 1' \
	'0 301 0x3000 0 0 2' >cut.ascii
BAD_HEAP='no memory' run timeout 100 "$HATF" replay -r 1 --html part.html \
	-a glibc -a ./bad.so --from 1 -w merge:threads -w sizes:round=1 \
	cut.ascii
check_status 'a part of an incomplete trace' 1

run "$HATF" replay -r 1 --html no/such/place.html -a glibc \
	threads.hatf.gz
check_status 'a folder is missing' 1
check_one_line 'a folder is missing' 'hatf replay: no/such/place.html: *'
run "$HATF" replay --check --html x.html none.ascii
check_status '--check --html' 2

modules=$CLI/../../build/page/node_modules
if command -v node chromium >/dev/null && [ -d "$modules" ]; then
	CHROMIUM=$(command -v chromium) MODULES=$modules timeout -s KILL 120 \
		node "$page/opens.mjs" app.html alone.html none.html \
		threads.html failed.html part.html ||
		fail 'a page does not open'
	CHROMIUM=$(command -v chromium) MODULES=$modules timeout -s KILL 120 \
		node "$page/phone.mjs" --look app.html part.html failed.html ||
		fail 'a page does not fit the screen of a phone'
	CHROMIUM=$(command -v chromium) MODULES=$modules timeout -s KILL 120 \
		node "$page/says.mjs" part.html 'The trace is incomplete.' \
		'Changed: merge:threads sizes:round=1' \
		'begins with 4.00 KiB in 1 block, which' \
		'./bad.so: failed calls: 1' || fail 'part.html'
	CHROMIUM=$(command -v chromium) MODULES=$modules timeout -s KILL 120 \
		node "$page/says.mjs" none.html 'too short' '× live' \
		'Too short: the cost of the replay' || fail 'none.html'
fi
finish
