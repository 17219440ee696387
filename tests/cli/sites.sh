#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sites.sh - stacks are shown, and blocks are chosen by site, module and thread
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 eu-addr2line >/dev/null ||
	skip 'no python3 or eu-addr2line'
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'

cat >program.cc <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

static void *volatile kept[64];
static int kept_count;

__attribute__((noinline)) static void
keep_one(size_t n)
{
	kept[kept_count++] = malloc(n);	// keep_one
}

__attribute__((noinline)) static void
grow_one(int i)
{
	kept[i] = realloc(kept[i], 5000 + 100 * i);	// grow_one
	kept[i] = realloc(kept[i], 90000 + 100 * i);
}

// A function of the program, whatever standard type it returns.
template <class T> __attribute__((noinline)) std::vector<T>
make_many(int n)
{
	return std::vector<T>(n);	// make_many
}

namespace {
struct maker {
	__attribute__((noinline)) void *
	operator()(size_t n) const
	{
		void *const p = malloc(n);	// maker

		kept[45] = p;
		return p;
	}
};
}

__attribute__((noinline)) static void
copy_text(const char *text)
{
	kept[47] = strdup(text);	// copy_text
	__asm__ volatile("");
}

static void *
run(void *)
{
	pthread_setname_np(pthread_self(), "worker");
	kept[40] = malloc(77);	// worker
	free(kept[40]);
	return NULL;
}

int
main()
{
	std::vector<char> *v = new std::vector<char>(333);	// vector
	pthread_t thread;

	for (int i = 0; i < 8; i++)
		keep_one(100 + i);
	for (int i = 0; i < 4; i++)
		grow_one(i);
	for (int i = 0; i < 6; i++)
		free(kept[i]);
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	delete v;
	kept[42] = make_many<short>(777).data();
	kept[43] = maker()(999);
	copy_text("strdup() allocates 29 bytes.");
	auto lambda = [](size_t n) __attribute__((noinline)) {
		void *const p = malloc(n);	// lambda

		kept[46] = p;
		return p;
	};
	kept[44] = lambda(1111);
	kept[41] = malloc(55);	// main
	free(kept[41]);
	return 0;
}
END
line_of()
{
	grep -n "// $1\$" program.cc | cut -d : -f 1
}

for level in -O0 -O2; do
	rm -f ./*.gz
	g++ -g "$level" -o program program.cc -pthread || fail 'g++ failed'
	"$HATF" record -o t.hatf.gz ./program 2>err || fail "record: $(cat err)"

	# Each frame with a line is shown with function, file and line.
	run "$HATF" dump --stacks t.hatf.gz
	check_status "$level: dump --stacks" 0
	grep -A 1 ' size=103 ' out | tail -1 >got
	echo "    keep_one ($PWD/program.cc:$(line_of keep_one))" |
		check_text "$level: the site of a block of 103 bytes" got
	grep -A 2 ' size=103 ' out | tail -1 | grep -q '^    main (' ||
		fail "$level: its caller is not main"
	# The stacks are those of a dump without them.
	"$HATF" dump t.hatf.gz >want
	grep -v '^    ' out >got
	check_text "$level: records" got <want

	# Without symbols: the module and the address in it, as in the program.
	"$HATF" record -S -o bare.hatf.gz ./program 2>err
	"$HATF" dump --stacks bare.hatf.gz | grep -A 1 ' size=103 ' |
		tail -1 | grep -oE '/program\+0x[0-9a-f]+' >got
	place=$(($(sed "s/.*+//" got) - 1))
	check "$level: module+offset" "$(eu-addr2line -e program -s \
		"$(printf %#x "$place")" | cut -d : -f 1-2)" \
		"program.cc:$(line_of keep_one)"

	# A site's blocks, with all that happens to them, and no others.
	line=$(line_of keep_one)
	for choice in '-s keep_one' '-s keep_*' "-s program.cc:$line" \
		"-s $PWD/program.cc:$line"; do
		# shellcheck disable=SC2086  # two words
		"$HATF" convert $choice t.hatf.gz chosen.hatf.gz ||
			fail "$level: convert $choice"
		"$HATF" verify chosen.hatf.gz >/dev/null ||
			fail "$level: $choice: verify"
		"$HATF" info --json chosen.hatf.gz >info
		check "$level: $choice: events" \
			"$(grep -oE '"events":[0-9]+' info)" '"events":22'
		check "$level: $choice: live at the end" \
			"$(grep -oE '"end_live_objects":[0-9]+' info)" \
			'"end_live_objects":2'
		# shellcheck disable=SC2086
		"$HATF" dump $choice t.hatf.gz | cut -d ' ' -f 2- >got
		"$HATF" dump chosen.hatf.gz | cut -d ' ' -f 2- >want
		check_text "$level: dump $choice" got <want
	done
	# 8 allocs, 6 frees, and 4 times 2 reallocs; each moved or stayed.
	"$HATF" dump -s keep_one t.hatf.gz | grep -c realloc >got
	echo 8 | check_text "$level: reallocs follow their block" got

	# The blocks that are not chosen are the rest: each event is in exactly
	# one of the two traces.
	events=$("$HATF" info --json t.hatf.gz | grep -oE '"events":[0-9]+' |
		cut -d : -f 2)
	"$HATF" convert -S keep_one t.hatf.gz rest.hatf.gz
	"$HATF" verify rest.hatf.gz >/dev/null || fail "$level: rest: verify"
	check "$level: events of the rest" "$("$HATF" info --json rest.hatf.gz |
		grep -oE '"events":[0-9]+')" "\"events\":$((events - 22))"

	# --fold-std: the site of the vector's memory is the program's own line.
	"$HATF" dump -k t.hatf.gz | grep -A 1 ' size=333 ' | tail -1 |
		grep -q 'operator new' || fail "$level: no operator new"
	"$HATF" dump -k --fold-std t.hatf.gz | grep -A 1 ' size=333 ' |
		tail -1 | grep -q "program.cc:$(line_of vector))\$" ||
		fail "$level: --fold-std: $("$HATF" dump -k --fold-std \
			t.hatf.gz | grep -A 2 ' size=333 ')"
	"$HATF" convert --fold-std t.hatf.gz t.folded 2>/dev/null
	# With what pthread_create() allocates for main().
	grep -qE 'main (716|692)$' t.folded ||
		fail "$level: folded --fold-std: $(cat t.folded)"

	# A line says that no block matches, and that --fold-std may help.
	run "$HATF" dump -s make_many t.hatf.gz
	check_status "$level: no match" 0
	check "$level: no match" "$(cat err)" "hatf dump: t.hatf.gz: no block \
matches; to match the sites that 'hatf stat' and 'hatf leaks' show, add \
--fold-std"
	run "$HATF" dump -F -s make_many t.hatf.gz
	check "$level: a match" "$(cat err)" ''
	run "$HATF" dump -F -s nobody t.hatf.gz
	check "$level: no match with -F" "$(cat err)" \
		'hatf dump: t.hatf.gz: no block matches'
	run "$HATF" dump -S make_many t.hatf.gz
	check "$level: nothing left out" "$(cat err)" "hatf dump: t.hatf.gz: \
--not-site leaves out no block; to match the sites that 'hatf stat' and \
'hatf leaks' show, add --fold-std"
	run "$HATF" dump -F -S make_many t.hatf.gz
	check "$level: something left out" "$(cat err)" ''
	run "$HATF" convert -T nobody t.hatf.gz - -t ascii
	grep -q '^hatf convert: t.hatf.gz: no block matches' err ||
		fail "$level: no thread matches: $(cat err)"

	# A template's site is the program's, though its text begins with std::.
	"$HATF" dump -k --fold-std t.hatf.gz | grep -A 1 ' size=1554 ' |
		tail -1 | grep -q "program.cc:$(line_of make_many))\$" ||
		fail "$level: --fold-std hides a template of the program"

	# A function of the C library allocates for its caller.
	"$HATF" dump -F -s copy_text t.hatf.gz | grep -c 'size=29 ' >got
	echo 1 | check_text "$level: strdup" got

	# Names with brackets and operators.
	while read -r nbytes glob; do
		"$HATF" dump -F -s "$glob" t.hatf.gz | grep -E ' alloc ' |
			grep -oE 'size=[0-9]+' >got
		echo "size=$nbytes" | check_text "$level: -s '$glob'" got
	done <<-'LIST'
		1554 make_many<short>
		1554 make_many
		999 (anonymous namespace)::maker::operator()
		1111 main::{lambda(unsigned long)#1}::operator()
	LIST

	# A thread, by its number, its name, and as 'hatf stat' has it.
	for who in 1 worker 'work*'; do
		"$HATF" dump -T "$who" t.hatf.gz | grep -c 'size=77' >got
		echo 1 | check_text "$level: thread $who: its block" got
		"$HATF" dump -T "$who" t.hatf.gz |
			grep -E 'alloc|free' | grep -vc 'thread=1' >got
		echo 0 | check_text "$level: thread $who: other threads" got
	done

	# A module, by its path and its name.
	for module in program "$PWD/program"; do
		check "$level: module $module" "$("$HATF" dump -M "$module" \
			t.hatf.gz | grep -c 'size=10[0-7] ')" 8
	done
	check "$level: module libc.so.6" "$("$HATF" dump -M 'libc.so.6' \
		t.hatf.gz | grep -c 'size=10[0-7] ')" 0

	"$HATF" info t.hatf.gz >out
	text='stacks of [0-9.]+ frames on average, at most'
	grep -qE "^  sites +[0-9]+, $text [0-9]+\$" out ||
		fail "$level: info: no sites"
	# After the heading and the line of all sites, each line is a site.
	check "$level: info: sites" \
		"$(awk '$1 == "sites" { print $2 + 0 }' out)" \
		"$("$HATF" stat -n 0 t.hatf.gz | tail -n +3 | wc -l)"
	grep -qE '^  without a stack +0 of [0-9]+ allocations' out ||
		fail "$level: info: allocations without a stack"
done

# A trace without stacks has no sites, and a line says so.
"$HATF" record -G -o none.hatf.gz ./program 2>/dev/null
run "$HATF" dump -s keep_one none.hatf.gz
check_status 'no stacks' 0
text='the trace has no call stacks, so no site is known'
check 'no stacks: line' "$(cat err)" "hatf dump: none.hatf.gz: $text"
grep -qE ' (alloc|free|realloc[A-Za-z]*) ' out && fail 'no stacks: events'

# Names are escaped, and a stack that is too deep for a screen is cut.
{
	header
	comment 'HATF frame\nframe=1\nfunction=a\\x1b[31m"b\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	for ((i = 2; i <= 600; i++)); do
		comment "HATF stack\nstack=$i\nparent=$((i - 1))\nframe=1\n"
	done
	layout
	alloc 24 0x5581a0 0 0 0 '\x45\xd8\x04'
} >deep.hatf
run "$HATF" dump -k deep.hatf
check 'lines of a deep stack' "$(grep -c '^    ' out)" 513
grep -q $'\x1b' out && fail 'an escape sequence reaches the terminal'
grep -q '(more frames)' out || fail 'a deep stack has no end'

# --raw-stacks shows the frames of an allocator.
{
	header
	comment 'HATF frame\nframe=1\nfunction=main\n'
	comment 'HATF frame\nframe=2\nfunction=malloc\n'
	comment 'HATF stack\nstack=1\nframe=1\n'
	comment 'HATF stack\nstack=2\nparent=1\nframe=2\n'
	layout
	alloc 24 0x5581a0 0 0 0 '\x45\x02'
} >raw.hatf
for option in '' --raw-stacks; do
	# shellcheck disable=SC2086  # none or one
	"$HATF" dump -k $option raw.hatf 2>/dev/null | grep '^    ' >got
	printf '    %s\n' ${option:+malloc} main |
		check_text "stacks with '$option'" got
done

# The sites of a segment include those of the blocks with which it begins; the
# figures of its allocations do not.
{
	header segment=1 events_before=9 live=exact carried=2
	for i in 1 2 3; do
		comment "HATF frame\nframe=$i\nfunction=f$i\n"
		comment "HATF stack\nstack=$i\nframe=$i\n"
	done
	comment 'HATF stack\nstack=4\nparent=1\nframe=2\n'
	layout
	alloc 8 0x1000 0 0 1 '\x02\x45\x01'
	alloc 8 0x2000 0 0 1 '\x02\x45\x04'
	alloc 8 0x3000 0 0 2 '\x45\x01'
	alloc 8 0x4000 0 0 2 '\x45\x03'
} >segment.hatf
"$HATF" info --json segment.hatf >out 2>err
check 'segment: figures' \
	"$(grep -oE '"(sites|stack_depth_max|stacks)":[0-9]+' out | xargs)" \
	'stacks:4 sites:3 stack_depth_max:1'
check 'segment: sites of stat' \
	"$("$HATF" stat -n 0 segment.hatf 2>err | tail -n +3 | grep -c ' f')" 3

# A plain C program without debug information: modules and symbols.
cat >plain.c <<'END'
#include <stdlib.h>
void *kept;
__attribute__((noinline)) void
keep_it(void)
{
	kept = malloc(1234);
	__asm__ volatile("");
}
int
main(void)
{
	keep_it();
	return 0;
}
END
gcc -O1 -fno-builtin -o plain plain.c || fail 'gcc failed'
"$HATF" record -o plain.hatf ./plain 2>/dev/null
"$HATF" dump --stacks -s keep_it plain.hatf |
	grep -A 1 size=1234 | sed '1s/.* size/size/; 1s/ .*//' >got
printf '%s\n' size=1234 '    keep_it' | check_text 'plain C' got

run "$HATF" dump --stacks -t json t.hatf.gz
check_status 'dump --stacks -t json' 2
finish
