#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metatf.sh - generated readers and writers beside those written by hand
#
# usage: tests/bench/metatf.sh [--rounds N]
#
# Reads and copies one recording: HATF with the library's reader and writer;
# Meta-TF with code that 'hatf metatf gen' makes from hatf.dtd; Meta-TF with the
# universal reader.  The library and 'generated-read' read 256 records at a
# time; 'generated-next' reads one.  Neither file is compressed.  CPU time, the
# tools interleaved, medians and spread; the bars are 1.3 times the library's
# time for generated code and 5 times for the universal reader.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/parts/common.sh disable=SC1091
. tests/bench/parts/common.sh
rounds=9
[ "${1-}" = --rounds ] && rounds=$2
out_dir metatf
need metatf
print_machine
PYTHON=$(python3 -c 'import sys; print(sys.executable)') || exit 1

env PYTHONMALLOC=malloc "LD_PRELOAD=$SO" "HATFTRACE_OUT=$OUT/t.hatf.gz" \
	"$PYTHON" -c 'import json
rows = [json.dumps({str(j): [j] * (i % 30) for j in range(9)})
        for i in range(30000)]' || die 'record'
"$HATF" convert --plain "$OUT/t.hatf.gz" "$OUT/t.hatf" || die convert
"$HATF" convert --plain "$OUT/t.hatf.gz" "$OUT/t.mtf" || die convert
"$HATF" metatf gen -o "$OUT" hatf/metatf/dtd/hatf.dtd >/dev/null || die gen
cat >"$OUT/copy.c" <<'END'
#include "hatf.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* usage: copy read|next IN [OUT] */
#define PUT(TYPE, name)                                                  \
	case HATF_TYPE_##TYPE:                                           \
		ok = hatf_writer_put_##name(w, &records[i].u.as_##name); \
		break

int
main(int argc, char **argv)
{
	struct hatf_reader *const r = hatf_reader_open(argv[2]);
	struct hatf_writer *const w =
		argc > 3 ? hatf_writer_open(argv[3], 0) : NULL;
	static struct hatf_record records[256];
	const size_t most = strcmp(argv[1], "next") == 0 ? 1 : 256;
	unsigned long long count = 0;
	struct timespec t;
	bool ok = r != NULL;
	size_t n;

	while (ok && (n = most == 1 ? hatf_reader_next(r, records)
				    : hatf_reader_read(r, records, most)) != 0) {
		count += n;
		for (size_t i = 0; w != NULL && ok && i < n; i++)
		switch ((int)records[i].type) {
			PUT(ALLOC, alloc);
			PUT(FREE, free);
			PUT(REALLOCNOALLOC, reallocNoAlloc);
			PUT(REALLOCALLOCFREE, reallocAllocFree);
			PUT(REALLOCALLOC, reallocAlloc);
			PUT(REALLOCFREE, reallocFree);
			PUT(CREATETHREAD, createThread);
			PUT(DESTROYTHREAD, destroyThread);
			PUT(REMARK, remark);
		}
	}
	if (!ok || hatf_reader_error(r) != NULL ||
	    (w != NULL && !hatf_writer_close(w, 0)))
		return 1;
	hatf_reader_close(r);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	printf("%llu %.6f\n", count, (double)t.tv_sec + (double)t.tv_nsec / 1e9);
	return 0;
}
END
cc -O2 -o "$OUT/copy" -I"$OUT" "$OUT/copy.c" "$OUT/hatf.c" || die cc

# one NAME COMMAND...: append "seconds" to a file of NAME.
one()
{
	local name=$1 line

	shift
	line=$("$@") || die "$name failed"
	echo "${line% *}" >"$OUT/$name.count"
	echo "${line#* }" >>"$OUT/$name.times"
}

rm -f "$OUT"/*.times
for _ in $(seq "$rounds"); do
	one read "$BUILD/tests/bench/metatf" read "$OUT/t.hatf"
	one copy "$BUILD/tests/bench/metatf" copy "$OUT/t.hatf" "$OUT/o.hatf"
	one generated-read "$OUT/copy" read "$OUT/t.mtf"
	one generated-next "$OUT/copy" next "$OUT/t.mtf"
	one generated-copy "$OUT/copy" read "$OUT/t.mtf" "$OUT/o.mtf"
	one universal-read "$BUILD/tests/bench/metatf" universal "$OUT/t.mtf"
done

median()
{
	sort -n "$OUT/$1.times" | sed -n "$((rounds / 2 + 1))p"
}

# row NAME BAR OF: the time of NAME as a multiple of that of OF.
row()
{
	sort -n "$OUT/$1.times" | awk -v name="$1" -v bar="$2" \
		-v of="$(median "$3")" -v n="$(cat "$OUT/$1.count")" '
		{ t[NR] = $1 }
		END {
			m = t[int((NR + 1) / 2)]
			printf("| %s | %.1f | %.0f %% | %.2f | %s |\n", name,
			       1e9 * m / n, 100 * (t[NR] - t[1]) / m, m / of,
			       bar == "" ? "" :
			       sprintf("%s %s", bar, m / of <= bar ? "PASS" :
			       "MISS"))
		}'
}

echo
echo "| what | ns a record | spread | times | bar |"
echo "|---|--:|--:|--:|---|"
row read '' read
row generated-read 1.3 read
row generated-next '' read
row universal-read 5 read
row copy '' copy
row generated-copy 1.3 copy
