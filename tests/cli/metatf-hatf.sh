#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metatf-hatf.sh - HATF traces go through Meta-TF unchanged
#
# Six recorded programs, each in the three variants.  A reader that 'hatf metatf
# gen' made from hatf.dtd must find the same records as the library's reader of
# HATF; also in the traces of tests/data.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 perl >/dev/null || skip 'no python3 or perl'
root=$CLI/../..
dtds=$root/hatf/metatf/dtd
PYTHON=$(python3 -c 'import sys; print(sys.executable)')

"$HATF" metatf gen "$dtds/hatf.dtd" >/dev/null || fail 'gen'
cat >print.c <<'END'
/* Print the records of a trace as 'hatf dump --format ascii' does. */
#include "hatf.h"

#include <inttypes.h>
#include <stdio.h>

static void
tail(uint64_t thread, uint64_t heap, uint64_t time, struct hatf_bytes data)
{
	printf(" %" PRIu64 " %" PRIu64 " %" PRIu64, thread, heap, time);
	if (data.nbytes != 0)
		printf(" ");
	for (size_t i = 0; i < data.nbytes; i++)
		printf("%02x", data.bytes[i]);
	printf("\n");
}

#define TAIL(r) tail((r).thread, (r).heap, (r).time, (r).attributes.data)
#define THREAD_TAIL(r) tail((r).thread, 0, (r).time, (r).attributes.data)
#define REALLOC(tag, r)                                                     \
	printf("%d %" PRIu64 " 0x%" PRIx64 " 0x%" PRIx64, tag, (r).size,    \
	       (r).address, (r).address_2);                                 \
	TAIL(r);                                                            \
	break

static int
print(const struct hatf_record *r)
{
	switch ((int)r->type) {
	case HATF_TYPE_ALLOC:
		printf("0 %" PRIu64 " 0x%" PRIx64, r->u.as_alloc.size,
		       r->u.as_alloc.address);
		TAIL(r->u.as_alloc);
		break;
	case HATF_TYPE_FREE:
		printf("1 0x%" PRIx64, r->u.as_free.address);
		TAIL(r->u.as_free);
		break;
	case HATF_TYPE_REALLOCNOALLOC:
		REALLOC(2, r->u.as_reallocNoAlloc);
	case HATF_TYPE_REALLOCALLOCFREE:
		REALLOC(3, r->u.as_reallocAllocFree);
	case HATF_TYPE_REALLOCALLOC:
		REALLOC(4, r->u.as_reallocAlloc);
	case HATF_TYPE_REALLOCFREE:
		REALLOC(5, r->u.as_reallocFree);
	case HATF_TYPE_CREATEHEAP:
		printf("6");
		TAIL(r->u.as_createHeap);
		break;
	case HATF_TYPE_DESTROYHEAP:
		printf("7");
		TAIL(r->u.as_destroyHeap);
		break;
	case HATF_TYPE_CREATETHREAD:
		printf("8");
		THREAD_TAIL(r->u.as_createThread);
		break;
	case HATF_TYPE_DESTROYTHREAD:
		printf("9");
		THREAD_TAIL(r->u.as_destroyThread);
		break;
	default:
		break;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct hatf_reader *const r = hatf_reader_open(argv[argc - 1]);
	struct hatf_record record;

	if (r == NULL)
		return 2;
	while (hatf_reader_next(r, &record))
		print(&record);
	if (hatf_reader_error(r) != NULL) {
		fprintf(stderr, "%s\n", hatf_reader_error(r));
		return 1;
	}
	hatf_reader_close(r);
	return 0;
}
END
cc -std=gnu11 -O2 -Wall -Wextra -Werror -DHATF_ZLIB=1 -I. -o print print.c \
	hatf.c -lz || fail 'cc'

# through NAME VARIANT: the trace NAME.hatf.gz is the same after Meta-TF.
through()
{
	local name=$1 variant=$2

	run "$HATF" convert "$name.hatf.gz" "$name.$variant"
	check_status "$name to $variant" 0
	run "$HATF" convert "$name.$variant" "$name.back.ascii"
	check_status "$name from $variant" 0
	cmp -s "$name.ascii" "$name.back.ascii" ||
		fail "$name: not the same after $variant"
	run "$HATF" verify "$name.$variant"
	check_status "$name: verify $variant" 0
}

record()
{
	local name=$1

	shift
	run "$HATF" record -o "$name.hatf.gz" -- "$@"
	check_status "record $name" 0
	"$HATF" convert "$name.hatf.gz" "$name.ascii" || fail "$name"
	through "$name" x.mtf
	through "$name" splitaddr.mtf
	through "$name" split.mtf
	./print "$name.x.mtf" >generated || fail "$name: the generated reader"
	grep -v '^10 ' "$name.ascii" | cmp -s - generated ||
		fail "$name: the generated reader finds something else"
}

record python "$PYTHON" -c 'import json
rows = [json.dumps(list(range(i % 40))) for i in range(2000)]'
record perl perl -e 'for $i (1 .. 3000) { $h{$i % 700} = "x" x ($i % 97) }'
record awk awk 'BEGIN { for (i = 0; i < 3000; i++) a[i % 99] = a[i] i }'
record sort sort "$CLI/metatf.sh"
record shell bash -c 'for i in {1..300}; do a+=("$i"); done; echo "${#a[@]}"'
record threads "$BUILD/tests/capture/programs/threads"

# The other traces of the tests: both readers find the same.
count=0
for trace in "$root"/tests/data/{golden,formats,foreign/*}/*; do
	"$HATF" convert "$trace" data.ascii 2>/dev/null || continue
	count=$((count + 1))
	"$HATF" convert "$trace" data.mtf 2>/dev/null &&
		./print data.mtf >generated || fail "$trace: generated reader"
	grep -v '^10 ' data.ascii | cmp -s - generated ||
		fail "$trace: the generated reader finds something else"
done
[ $count -gt 30 ] || fail "only $count traces in tests/data"

# A trace by the DTD of the paper's appendix C is a trace for every command.
"$HATF" metatf gen "$dtds/hatf10.dtd" >/dev/null
cat >paper.c <<'END'
#include "hatf10.h"

int
main(void)
{
	struct hatf10_writer *w = hatf10_writer_open("paper.mtf",
						     HATF10_BIG_ENDIAN |
						     HATF10_32_BIT);
	struct hatf10_alloc a = { .size = 24, .address = 0x1000 };
	struct hatf10_alloc b = { .size = 70000, .address = 0x123456789a };
	struct hatf10_realloc r = { .address = 0x1000, .address_2 = 0x2000 };
	struct hatf10_free f = { .address = 0x2000, .thread = 3 };

	hatf10_writer_put_alloc(w, &a);
	hatf10_writer_put_alloc(w, &b);
	hatf10_writer_put_realloc(w, &r);
	hatf10_writer_put_free(w, &f);
	return !hatf10_writer_close(w, 0);
}
END
cc -std=gnu11 -o paper paper.c hatf10.c && ./paper || fail 'paper'
run "$HATF" dump --format ascii paper.mtf
check_status 'appendix C' 0
check 'appendix C' "$(grep -v '^10' out)" \
	"$(printf '%s\n' '0 24 0x1000 0 0 0' '0 70000 0x123456789a 0 0 0' \
		'3 0 0x1000 0x2000 0 0 0' '1 0x2000 3 0 0')"

# Standard input, a pipe or a file.
"$HATF" metatf dump paper.mtf >want || fail 'dump'
"$HATF" metatf dump - <paper.mtf >out && cmp want out ||
	fail 'dump of a file as standard input'
# A pipe, not a file.
# shellcheck disable=SC2002
cat paper.mtf | "$HATF" metatf dump - >out && cmp want out ||
	fail 'dump of a pipe'
run "$HATF" metatf dump -
check_status 'dump of nothing' 1
check_one_line 'dump of nothing' \
	'hatf metatf: standard input: not a Meta-TF trace'

# A trace that its writer did not finish has all its records, and status 1.
"$PYTHON" - <<'END'
trace = bytearray(open("paper.mtf", "rb").read())
n = 4 * trace[4]
trace[16 + 2 * n:16 + 3 * n] = b"\xff" * n  # the number of records
open("unfinished.mtf", "wb").write(trace)
END
run "$HATF" metatf dump unfinished.mtf
check_status 'dump of an unfinished trace' 1
check_one_line 'dump of an unfinished trace' \
	'hatf metatf: unfinished.mtf: the trace is incomplete: *'
cmp want out || fail 'dump of an unfinished trace: other records'

# A text trace of mptrace is another format, and becomes Meta-TF like any.
"$HATF" convert sort.hatf.gz sort.mptrace 2>/dev/null || fail 'mptrace'
run "$HATF" metatf dump sort.mptrace
check_status 'dump of a text trace' 1
check_one_line 'dump of a text trace' \
	"hatf metatf: sort.mptrace: this command cannot read text traces of *"
"$HATF" convert sort.mptrace sort.mtf &&
	"$HATF" metatf dump sort.mtf >sort.dump || fail 'mptrace to Meta-TF'
check 'records of a text trace' "$(grep -c '^alloc ' sort.dump)" \
	"$(grep -c '^1 ' sort.mptrace)"

# A trace that was cut has what comes before the cut, then an error.
"$HATF" convert --plain python.hatf.gz python.mtf
total=$(stat -c %s python.mtf)
head -c $((total - 5000)) python.mtf >cut.mtf
run "$HATF" dump --format ascii cut.mtf
check_status 'cut' 1
grep -v '^10 ' out >cut.ascii
[ "$(wc -l <cut.ascii)" -gt 1000 ] || fail 'little is left of a cut trace'
grep -v '^10 ' python.ascii | head -n "$(wc -l <cut.ascii)" |
	cmp -s - cut.ascii ||
	fail 'a cut trace has other records'

finish
