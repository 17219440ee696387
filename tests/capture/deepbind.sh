#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# deepbind.sh - calls of objects that the loader binds around the recorder
#
# A plug-in loaded with RTLD_DEEPBIND finds libc's malloc() before the
# recorder's.  The plug-in, from its constructor on, and its host report what
# they do; the trace must say the same.
. "$(dirname "$0")/lib.sh"

# build OUT OPTION...; the options may begin with another source file.
build()
{
	local source=$CAPTURE/shared/deepplugin.c
	[[ $2 != *.c ]] || source=
	${CC:-cc} -w -O1 -fno-builtin -D_GNU_SOURCE -o "$1" \
		${source:+"$source"} "${@:2}" -ldl -lpthread ||
		fail "cannot build $1"
}

# said FILE: print their blocks from the trace, in the form that they use.
said()
{
	"$HATF" dump "$1" | awk '
	$2 == "alloc" || $2 == "free" {
		v["size"] = 0
		for (i = 3; i <= NF; i++) {
			split($i, kv, "=")
			v[kv[1]] = kv[2]
		}
	}
	$2 == "alloc" && v["size"] >= 21000 && v["size"] < 21200 {
		print "alloc", v["size"], v["addr"]
		theirs[v["addr"]] = 1
	}
	$2 == "free" && theirs[v["addr"]] {
		print "free", v["addr"]
		delete theirs[v["addr"]]
	}'
}

# run WHAT PROGRAM ARGS...: write out, err and WHAT.gz.
run()
{
	local what=$1
	shift
	"$@" >bare 2>bare.err
	check "$what: status bare" $? 7
	trace "$TMP/$what.gz" "$@" >out 2>err
	check "$what: status" $? 7
	check "$what: output" "$(wc -l <out)" "$(wc -l <bare)"
	check "$what: stderr" "$(cat err)" ''
}

exact()
{
	run "$@"
	clean "$1.gz"
	said "$1.gz" >got
	[ -s out ] || fail "$1: the program prints nothing"
	diff out got >difference || fail "$1: $(head -n 5 difference)"
}

build host -DMAIN
for mode in lazy now; do
	build $mode.so -fPIC -shared -Wl,-z,$mode
	exact $mode-plain ./host ./$mode.so crossing
	exact $mode-apart ./host ./$mode.so apart deep
	exact $mode-crossing ./host ./$mode.so crossing deep
	# Two plug-ins that are unloaded, and loaded again in several orders.
	cp $mode.so second-$mode.so
	exact $mode-in-turn ./host ./$mode.so crossing deep ./second-$mode.so
	# The host loads the plug-in by its name, from its own RPATH: dlopen()
	# must still see the host as its caller.
	mkdir -p elsewhere
	cp $mode.so elsewhere/byname.so
	build byname -DMAIN "-Wl,-rpath,$TMP/elsewhere"
	exact $mode-byname ./byname byname.so crossing deep
done

# A plug-in with a malloc() of its own keeps it, and none of its calls is
# recorded.
for mode in lazy now; do
	build own-$mode.so -DOWN -fPIC -shared -Wl,-z,$mode
	exact_of=own-$mode
	run $exact_of ./host ./own-$mode.so apart deep
	clean $exact_of.gz
	check "$exact_of: events" "$(said $exact_of.gz)" ''
done

# If another allocator is preloaded, the plug-in takes its memory from libc, as
# without the recorder.  The recorder cannot follow this and reports it.
jemalloc=$(ldconfig -p | sed -nE 's|.*libjemalloc\.so\.2 .*=> (/.*)|\1|p' |
	head -n 1)
if [ -n "$jemalloc" ]; then
	PRELOAD=$jemalloc trace "$TMP/other.gz" ./host ./now.so apart deep \
		>out 2>err
	check 'other: status' $? 7
	check 'other: stderr' "$(cat err)" "hatftrace: $TMP/other.gz: ./now.so \
calls another allocator, bypassing the recorder; the trace is not complete"
	check 'other: complete' "$(info other.gz complete 2>/dev/null)" false
	check 'other: missed' "$(trailer other.gz missed)" \
		'./now.so calls another allocator, bypassing the recorder'
	"$HATF" verify other.gz >/dev/null 2>err && fail 'other: verified'
	check 'other: verify' "$(cat err)" "hatf verify: other.gz: calls \
bypassed the recorder: ./now.so calls another allocator, bypassing the recorder"
	# jemalloc has no reallocarray().  The loader has not bound the
	# program's call of libc's yet, and will bind it to the recorder's.
	cat >grow.c <<'EOT'
#include <stdlib.h>

int
main(int argc, char **argv)
{
	void *p = malloc(21001);

	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		p = reallocarray(p, 21002 + i, 1);
	free(p);
	return 7;
}
EOT
	build grow grow.c -Wl,-z,lazy
	for count in 0 3; do
		PRELOAD=$jemalloc trace "$TMP/grow.gz" ./grow $count 2>err
		check "grow $count: status" $? 7
		check "grow $count: stderr" "$(cat err)" ''
		clean grow.gz
		"$HATF" dump grow.gz >dump
		check "grow $count: reallocs" \
			"$(grep -c 'size=2100[2-4] ' dump)" $count
		rm -f grow.gz
	done
	LD_PRELOAD=$jemalloc "$HATF" record -o record.gz -- \
		./host ./now.so apart deep >out 2>err
	check 'record: status' $? 7
	grep -q 'NOT COMPLETE: calls bypassed the recorder: ./now.so' err ||
		fail "record: $(cat err)"
fi

# A plug-in that is linked with an allocator calls only one of its functions.
# The recorder must not send a block of this allocator to another one.  If the
# plug-in is bound at once, the recorder says that it has not recorded the call.
deepalloc=$CAPTURE/shared/deepalloc.c
build liballoc.so "$deepalloc" -DALLOCATOR -fPIC -shared
for mode in now lazy; do
	for call in NEW SIZED; do
		what=$call-$mode
		why="./$what.so calls another allocator, bypassing the recorder"
		build "$what.so" "$deepalloc" -D$call -fPIC -shared \
			-Wl,-z,$mode -L. -lalloc -Wl,-rpath,"$TMP"
		trace "$TMP/$what.gz" ./host "./$what.so" apart deep >out 2>err
		check "$what: status" $? 7
		check "$what: output" "$(grep -c ^alloc out)" 153
		check "$what: events" "$(said "$what.gz")" ''
		[ $mode = now ] || continue
		check "$what: stderr" "$(cat err)" "hatftrace: $TMP/$what.gz: \
$why; the trace is not complete"
		check "$what: missed" "$(trailer "$what.gz" missed)" "$why"
	done
done

# The operators of a C++ library call malloc(), which the recorder records.
for mode in now lazy; do
	build cxx-$mode.so "$deepalloc" -DNEW -fPIC -shared -Wl,-z,$mode \
		-Wl,--no-as-needed -lstdc++
	exact cxx-$mode ./host ./cxx-$mode.so apart deep
done

# PHP loads its opcache this way, and each frees blocks of the other.
if command -v php >/dev/null && php -m | grep -q OPcache; then
	cat >script.php <<'EOT'
<?php
function f($n) { return $n < 2 ? $n : f($n - 1) + f($n - 2); }
$a = [];
for ($i = 0; $i < 2000; $i++) $a["k$i"] = str_repeat("x", $i % 97) . f(5);
ksort($a);
echo md5(serialize($a)), " ", opcache_get_status() !== false, "\n";
EOT
	for how in 1 0; do
		php -d opcache.enable_cli=$how script.php >bare
		trace php-$how.gz php -d opcache.enable_cli=$how script.php \
			>out 2>err
		check "php $how: status" $? 0
		cmp -s bare out || fail "php $how: output"
		check "php $how: stderr" "$(cat err)" ''
		clean php-$how.gz
	done
fi
finish
