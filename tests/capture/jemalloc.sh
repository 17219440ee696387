#!/bin/bash
# SPDX-License-Identifier: MIT
#
# jemalloc.sh - arenas that a program makes are heaps of the trace
#
# A program that is linked with jemalloc reports what it does; the trace must
# say the same, with each block in its heap.  After random work, each heap must
# agree with jemalloc's own statistics of the arena.
# shellcheck source=tests/capture/lib.sh
. "$(dirname "$0")/lib.sh"

# JEMALLOC may name another library than the system's; JEMALLOC_PREFIXED names
# one whose functions begin with je_.
library=${JEMALLOC:-$(ldconfig -p |
	sed -nE 's|.*libjemalloc\.so\.2 .*=> (/.*)|\1|p' | head -n 1)}
[ -n "$library" ] || skip 'no libjemalloc.so.2'
export JEMALLOC=$library LD_LIBRARY_PATH=${library%/*}

build()
{
	${CC:-cc} -O1 -Wall -Wextra -D_GNU_SOURCE -fno-builtin -o "$1" \
		"$CAPTURE/shared/jemalloc.c" "${@:2}" -lpthread -ldl ||
		fail "cannot build $1"
}

# exact PROGRAM: the trace has exactly what it did with each function.
exact()
{
	rm -f trace.gz
	trace "$TMP/trace.gz" "./$1" each >traced || fail "$1: exit status"
	clean trace.gz
	"$HATF" dump trace.gz | awk '
	$2 ~ /^(alloc|free|realloc|createHeap|destroyHeap)/ {
		v["size"] = v["heap"] = v["alignment"] = v["zeroed"] = 0
		v["addr"] = v["old"] = "0x0"
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
		print $2, v["size"], v["addr"], v["old"], v["heap"],
			v["alignment"], v["zeroed"]
	}' | awk '
	$1 == "alloc" && $2 == 7777002 { exit }
	on && !(first && $1 == "free") { print }
	on { first = 0 }
	$1 == "alloc" && $2 == 7777001 { on = first = 1 }' >got
	sed -n 's/^event //p' traced >want
	[ -s want ] || fail "$1 prints nothing"
	diff want got >difference ||
		fail "$1: $(head -n 10 difference)"
}

# held FILE...: print ARENA BLOCKS BYTES of each arena that exists at the end,
# from the records alone.
held()
{
	for file; do
		"$HATF" dump "$file"
	done | awk '
	function drop(h, a) {
		if ((h, a) in size) {
			n[h]--
			bytes[h] -= size[h, a]
			delete size[h, a]
		}
	}
	$2 ~ /^(alloc|free|realloc|createHeap|destroyHeap)/ {
		v["heap"] = v["size"] = 0
		v["addr"] = v["old"] = "0x0"
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
		h = v["heap"]
	}
	$2 == "createHeap" {
		gsub(/.*arena\.|"/, "", v["name"])
		arena[h] = v["name"]
	}
	$2 == "destroyHeap" { delete arena[h] }
	$2 == "free" { drop(h, v["addr"]) }
	($2 == "alloc" || $2 == "reallocNoAlloc") && v["addr"] != "0x0" {
		drop(h, v["addr"])
		size[h, v["addr"]] = v["size"]
		n[h]++
		bytes[h] += v["size"]
	}
	END {
		for (h in arena)
			print arena[h], n[h] + 0, bytes[h] + 0
	}' | sort -n
}

# agree WHAT FILE...: compare with the statistics that the program printed into
# 'traced'.
agree()
{
	# jemalloc counts the bytes of a reset, but no deallocations.
	sed -n 's/^stat //p' traced | awk '$3 == 0 { $2 = 0 } { print }' |
		sort -n >want
	held "${@:2}" >got
	[ -s want ] || fail "$1: no statistics"
	diff want got >difference || fail "$1: $(cat difference)"
}

# works PROGRAM: run random work of several threads.
works()
{
	local what seed
	for what in work mixed; do
		for seed in 1 2 3; do
			rm -f work.gz
			trace "$TMP/work.gz" "./$1" $what $seed >traced ||
				fail "$1 $what: exit status"
			clean work.gz
			agree "$1 $what $seed" work.gz
		done
	done
}

build lazy -Wl,--no-as-needed "$library" -Wl,-z,lazy
build now -Wl,--no-as-needed "$library" -Wl,-z,now
build nopie -no-pie -Wl,--no-as-needed "$library"
for program in lazy now nopie; do
	exact $program
done
works now
operators "$library" -DARENA

for clock in coarse us; do
	rm -f clock.gz
	HATFTRACE_CLOCK=$clock trace "$TMP/clock.gz" ./now mixed 4 >traced ||
		fail "$clock: exit status"
	clean clock.gz
	agree "$clock" clock.gz
done

# Each segment begins with the existing heaps and their blocks.
HATFTRACE_ROTATE=64K trace "$TMP/rows.gz" ./now mixed 5 >traced ||
	fail 'segments: exit status'
segments=$(printf '%s\n' rows.s*.gz | wc -l)
check_ge 'segments' "$segments" 3
"$HATF" verify rows.s*.gz >verify.out || fail 'segments'
clean rows.s*.gz
agree 'the last segment' "$(printf '%s\n' rows.s*.gz | sort -V | tail -n 1)"

# Handlers of the program that allocate during a fork do no harm.
timeout 60 env HATFTRACE_OUT="$TMP/fork.%p.gz" LD_PRELOAD="$SO" ./now fork ||
	fail 'fork: exit status'
check 'traces of the fork' "$(count fork.*.gz)" 2
clean fork.*.gz

# Recording begins after the program has made an arena, with a block that the
# trace does not know.
control_folder
mkfifo orders
env HATFTRACE_START=off HATFTRACE_BEGIN=now HATFTRACE_OUT="$TMP/late.gz" \
	LD_PRELOAD="$SO" ./now late <orders >traced &
pid=$!
exec 9>orders
await_socket $pid
while ! grep -q ready traced; do sleep 0.02; done
ctl $pid start >/dev/null || fail 'start'
echo >&9
wait $pid || fail 'late: exit status'
exec 9>&-
clean late.gz
sed -n 's/^stat //p' traced | awk '{ print $2, $3 }' | sort >want
"$HATF" dump late.gz | awk '
	$2 == "alloc" || $2 == "free" {
		v["heap"] = v["size"] = 0
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
		k = v["heap"] SUBSEP v["addr"]
		if ($2 == "alloc") size[k] = v["size"]; else delete size[k]
	}
	END {
		for (k in size) {
			split(k, at, SUBSEP)
			n[at[1]]++
			bytes[at[1]] += size[k]
		}
		for (h in n) if (h != 0) print n[h], bytes[h]
	}' | sort >got
diff want got >difference || fail "late: $(cat difference)"

# jemalloc is loaded late: by the program, which looks up its functions by name,
# or as a library of a plug-in.  It needs more static TLS than the loader
# reserves for late libraries by default.
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384
build loads -DLATE
exact loads
works loads
for mode in lazy now; do
	${CC:-cc} -O1 -fPIC -shared -o $mode.so \
		"$CAPTURE/shared/arenaplugin.c" \
		-Wl,--no-as-needed "$library" -Wl,-z,$mode &&
		${CC:-cc} -O1 -D_GNU_SOURCE -DMAIN -o host \
			"$CAPTURE/shared/arenaplugin.c" -ldl ||
		fail 'cannot build the plug-in'
	trace "$TMP/$mode.gz" ./host "$PWD/$mode.so" ||
		fail "plug-in, $mode: exit status"
	clean $mode.gz
	check "plug-in, $mode: taken" \
		"$("$HATF" dump $mode.gz | grep -c ' alloc .*heap=1 ')" 100
	check "plug-in, $mode: given back" \
		"$("$HATF" dump $mode.gz | grep -c ' free .*heap=1 ')" 50
done

if [ -n "${JEMALLOC_PREFIXED-}" ]; then
	build prefixed -DPREFIX=je_ -Wl,--no-as-needed "$JEMALLOC_PREFIXED"
	export LD_LIBRARY_PATH=${JEMALLOC_PREFIXED%/*}
	exact prefixed
	works prefixed
fi
finish
