#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metatf-events.sh - the program's events are records of a Meta-TF trace
#
# A program puts events of both kinds into its trace: texts, and records of DTDs
# of its own.  As Meta-TF, in each variant, they are records that the trace's
# DTD declares; all readers find them; back in HATF, the trace is the same.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'
PYTHON=$(python3 -c 'import sys; print(sys.executable)')
headers=$CLI/../../preload

cat >app.dtd <<'END'
// Meta-TF version 1.0
size.width = 1; size.interpretation = none;
n.width = 1; n.interpretation = none;
name : (length, data) {
	length.width = 1; length.interpretation = none;
	data.width = length.value; data.interpretation = none;
}
section one 1 {
	step : (tag, size, name, time, size) {
		tag.value = 4;
		time.width = 8; time.interpretation = delta 5;
	}
	many : (tag, n, n*(name, k, k*size), n*size) {
		tag.value = 5;
		k.width = 1; k.interpretation = none;
	}
	tick : (tag) { tag.value = 6; }
	id : (tag, uuid, two : (uuid) { uuid.width = 9; }) {
		tag.value = 7;
		uuid.width = 16; uuid.interpretation = none;
	}
}
section two 2 {
	zero : (tag, size, fixed) {
		tag.value = 4;
		fixed.width = 2; fixed.interpretation = none; fixed.value = 9;
	}
}
END
cat >other.dtd <<'END'
// Meta-TF version 1.0
step : (tag, level) {
	tag.value = 4;
	level.width = 1; level.interpretation = baseOffset 0;
}
END
"$HATF" metatf gen --events app.dtd >/dev/null &&
	"$HATF" metatf gen --events other.dtd >/dev/null || fail 'gen'
cat >program.c <<'END'
#include "app_events.h"
#include "other_events.h"

#include <stdlib.h>

#define BYTES(text) { (const uint8_t *)(text), sizeof(text) - 1 }

int
main(void)
{
	for (unsigned i = 0; i < 40; i++) {
		uint64_t sizes[3] = { i, 300, 1ull << 40 };
		struct app_many_n_items items[3] = {
			{ { 2, BYTES("ab") }, 0, NULL },
			{ { 0, BYTES("") }, 3, sizes },
			{ { 4, BYTES("\"\\\n\377") }, 1, sizes },
		};

		free(malloc(1000 + i));
		hatftrace_event("note", "%u of 40: \"\\\n\xc3\xa9", i);
		hatftrace_event("empty", "%s", "");
		app_event_step(i, { 3, BYTES("cpu") }, -5ull * i, i + 1);
		app_event_many(i % 4, items, sizes);
		app_event_tick();
		app_event_id(BYTES("0123456789abcdef"), { BYTES("123456789") });
		app_event_zero(1);
		other_event_step(-(uint64_t)i);
	}
	return 0;
}
END
cc -std=gnu11 -I"$headers" -I. -o program program.c || fail 'cc'
run "$HATF" record -o p.hatf -- ./program
check_status record 0
"$HATF" convert p.hatf p.ascii || fail 'convert'
count=$("$HATF" dump p.hatf | grep -c ' event ')
check 'events recorded' "$count" 320

# The generated readers of the DTD in the trace find each event.
cat >count.c <<'END'
#include "p.h"

#include <stdio.h>

int
main(int argc, char **argv)
{
	struct p_reader *const r = p_reader_open(argv[1]);
	struct p_record x;
	unsigned long long note = 0, level = 0, sizes = 0, times = 0;

	(void)argc;
	while (r != NULL && p_reader_next(r, &x))
		if (x.type == P_TYPE_EVENT)
			note += x.u.as_event.text.length;
		else if (x.type == P_TYPE_OTHER_STEP)
			level -= x.u.as_other_step.other.level;
		else if (x.type == P_TYPE_APP_STEP)
			times -= x.u.as_app_step.app.time;
		else if (x.type == P_TYPE_APP_MANY &&
			 x.u.as_app_many.app.n == 3)
			sizes += x.u.as_app_many.app.n_items[1].size[2];
	if (r == NULL || p_reader_error(r) != NULL)
		return 1;
	printf("%llu %llu %llu %llu\n", note, level, times, sizes);
	p_reader_close(r);
	return 0;
}
END
for variant in mtf splitaddr.mtf split.mtf; do
	run "$HATF" convert p.hatf "p.$variant"
	check_status "$variant" 0
	run "$HATF" convert "p.$variant" back.ascii
	check_status "from $variant" 0
	cmp p.ascii back.ascii || fail "$variant: not the same"
	run "$HATF" verify "p.$variant"
	check_status "verify $variant" 0
	"$HATF" metatf dump --json "p.$variant" >p.json || fail "dump $variant"
	check "$variant: events that are comments" \
		"$(grep -c 'HATF event' p.json)" 0
	check "$variant: records" "$(grep -o \
		'"record":"\(event\|app_[a-z]*\|other_[a-z]*\)"' p.json |
		sort | uniq -c | awk '{ print $1, $2 }')" '40 "record":"app_id"
40 "record":"app_many"
40 "record":"app_step"
40 "record":"app_tick"
40 "record":"app_zero"
80 "record":"event"
40 "record":"other_step"'
	cp "p.$variant" p.x
	rm -f p.h p.c p.py
	"$HATF" metatf gen p.x >/dev/null &&
		"$HATF" metatf gen --lang python p.x >/dev/null ||
		fail "gen $variant"
	"$PYTHON" p.py p.x >python.json &&
		"$PYTHON" "$CLI/metatf_compare.py" p.json python.json ||
		fail "$variant: Python reads something else"
	cc -std=gnu11 -Wall -Wextra -Werror -DP_ZLIB=1 -I. -o count count.c \
		p.c -lz || fail "cc $variant"
	check "$variant: C" "$(./count p.x)" '590 780 3900 10995116277760'
done
check 'a record in a record' "$("$HATF" metatf dump p.mtf |
	grep -m 1 'app_many.*{n=3')" "$(printf '%s' "$("$HATF" metatf dump \
	p.mtf | grep -m 1 'app_many.*{n=3' | cut -d ' ' -f 1-3) " \
	'app={n=3 n_items=[{name={length=2 data="ab"} k=0 size=[]} ' \
	'{name={length=0 data=""} k=3 size=[3 300 1099511627776]} ' \
	'{name={length=4 data="\"\\\n\xff"} k=1 size=[3]}] ' \
	'size=[3 300 1099511627776]}')"

# What is no event that these records can have stays a comment, byte for byte.
"$PYTHON" - >odd.ascii <<'END'
def comment(*lines):
    text = ''.join(line + '\n' for line in lines)
    print('10 ' + ''.join(c if ' ' <= c <= '~' and c != '\\' else
                          '\\x%02x' % ord(c) for c in text))

print('10 HATF ascii thread heap time attributes')
print('0 16 0x1000 0 0 0')
event = 'HATF event', 'thread=0', 'time=0'
dtd = ('tag.width = 1;\\x0ar : (tag, a) { tag.value = 4; a.width = 1; '
       'a.interpretation = none; }\\x0a')
size = len(dtd.replace('\\x0a', '\n'))
comment('HATF event')
comment(*event, 'name=a.r', 'fields=a=1')
comment('HATF dtd', 'dtd=a', 'offset=0', 'size=%d' % size, 'text=' + dtd)
comment(*event, 'name=a.r', 'fields=a=2')
for name, fields in (('a.r', 'a=01'), ('a.r', 'a=1 '), ('a.r', 'a='),
                     ('a.r', 'a=18446744073709551616'), ('a.r', 'b=1'),
                     ('a.s', 'a=1'), ('a_r', 'a=1'), ('b.r', 'a=1'),
                     ('.r', 'a=1'), ('a.', 'a=1'), ('', 'a=1'),
                     ('remark.x', 'a=1'), ('alloc', 'size=1')):
    comment(*event, 'name=' + name, 'fields=' + fields)
comment(*event, 'name=x', 'text=y', 'text=z')
comment(*event, 'name=x', 'text=y', 'more=z')
comment(*event, 'name=' + 'x' * 300, 'text=y')
comment('HATF event', 'time=0', 'thread=0', 'name=x', 'text=y')
comment('HATF event', 'thread=00', 'time=0', 'name=x', 'text=y')
for bad in ('tag', 'r : (', 'r : (tag) { tag.value = 4; }'):
    name = 'bad%d' % len(bad)
    comment('HATF dtd', 'dtd=' + name, 'offset=0', 'size=%d' % len(bad),
            'text=' + bad)
    comment(*event, 'name=%s.r' % name, 'fields=')
for name in 'time', 'tag', 'section', 'x\\x0ay', '9', '':
    comment('HATF dtd', 'dtd=' + name, 'offset=0', 'size=%d' % size,
            'text=' + dtd)
    comment(*event, 'name=%s.r' % name, 'fields=a=3')
comment('HATF dtd', 'dtd=cut', 'offset=0', 'size=%d' % (size + 1),
        'text=' + dtd)
comment(*event, 'name=cut.r', 'fields=a=4')
comment('HATF dtd', 'dtd=huge', 'offset=0', 'size=%d' % (1 << 62), 'text=')
comment(*event, 'name=huge.r', 'fields=a=4')
for i in range(100):
    comment('HATF dtd', 'dtd=d%d' % i, 'offset=0', 'size=%d' % size,
            'text=' + dtd)
    comment(*event, 'name=d%d.r' % i, 'fields=a=%d' % i)
END
"$HATF" convert odd.ascii want.ascii || fail 'odd'
for variant in mtf splitaddr.mtf split.mtf; do
	run "$HATF" convert odd.ascii "odd.$variant"
	check_status "odd $variant" 0
	run "$HATF" convert "odd.$variant" got.ascii
	check_status "odd, from $variant" 0
	cmp want.ascii got.ascii || fail "odd, $variant: not the same"
	# a.r with a=2, bad28.r, which has no fields, and at most 32 DTDs.
	"$HATF" metatf dump "odd.$variant" >odd.dump || fail "odd $variant"
	check "odd, $variant" "$(grep -c '^a_r ' odd.dump)" 1
	check "odd, $variant" "$(grep -c '^bad28_r ' odd.dump)" 1
	few=$(grep -c '^d[0-9]*_r ' odd.dump)
	[ "$few" -gt 20 ] && [ "$few" -lt 32 ] || fail "odd: $few DTDs"
done

finish
