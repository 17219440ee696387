#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sites-agree.sh - every viewer shows the ten largest sites of heaptrack
#
# heaptrack records a program, and so does hatf.  The sites with the most bytes
# at the peak, and with the most bytes in all, are the same in the same order in
# heaptrack's own file and in what hatf writes for heaptrack_print, pprof, flame
# graphs, and in 'hatf stat'.  The bytes in two files of the same run are the
# same.  Between two runs they may differ by 2 %: the environment differs.
#
# Deviations:
#   - heaptrack's library needs libstdc++, which allocates 72704 bytes when it
#     is loaded.  This site is left out everywhere.
#   - The viewers shorten names in different ways, see sites_agree.py.
#     heaptrack_print prints functions that were inlined in the opposite order.
#   - In DHAT, a realloc counts at the site that allocated the block.  So DHAT's
#     sites are compared with those of valgrind's own DHAT.
#   - heaptrack counts no totals of bytes: the test sums them up.
#   - heaptrack keeps 64 frames of a stack.  While python3 imports modules, its
#     stacks are deeper, so only the five largest sites are compared.
#   - DHAT's viewer shows sites with at least 1 %, which may be fewer than ten.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

for program in heaptrack heaptrack_print zstd python3 g++; do
	command -v $program >/dev/null || skip "no $program"
done
"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'
export HOME=$TMP # pprof writes there
export PYTHONHASHSEED=0 PERL_HASH_SEED=0

go=$(command -v go || ls /usr/lib/go-*/bin/go 2>/dev/null | tail -1)
viewer=$(ls /usr/libexec/valgrind/dh_view.js \
	/usr/lib/*/valgrind/dh_view.js 2>/dev/null | head -1)
command -v node >/dev/null || viewer=

sites()
{
	python3 "$CLI/sites_agree.py" "$1"
}

# of_heaptrack FILE: print the sites at the peak, as heaptrack_print has them.
of_heaptrack()
{
	heaptrack_print "$1" -F stacks --flamegraph-cost-type peak \
		>print 2>&1 || fail "heaptrack_print: $(cat print)"
	sites folded <stacks
}

# of_pprof INDEX
of_pprof()
{
	"$go" tool pprof -traces -unit=B -sample_index="$1" t.pb.gz \
		2>/dev/null | sites pprof
}

# of_dhat FILE total|peak
of_dhat()
{
	local metric='Total (bytes)'

	[ "$2" = total ] || metric='At t-gmax (bytes)'
	node "$CLI/dh_view.js" "$viewer" "$1" "$metric" | sites "dhat-$2"
}

# agree WHAT WANT GOT: the ten largest sites are the same; for python3, five.
agree()
{
	local count=10

	[ "${1%%:*}" != python3 ] || count=5
	python3 "$CLI/sites_agree.py" agree "$2" "$3" $count 2>differs ||
		fail "$1: $(cat differs)"
}

# check_figures WHAT FILE: heaptrack_print finds as many temporary allocations
# and as many leaked bytes in FILE as in heaptrack's own file.  heaptrack frees
# the 72704 bytes of libstdc++ at the end.
check_figures()
{
	awk '
		function number(text, unit) {
			unit = index("BKMG", substr(text, length(text)))
			return text * (unit ? 1000 ^ (unit - 1) : 1)
		}
		/^temporary memory allocations: / { n = number($4); slack = 1 }
		/^total memory leaked: / { n = number($4); slack = 72704 }
		/^(temporary memory allo|total memory leaked)/ {
			if (NR == FNR)
				want[$1] = n
			else if ((n - want[$1]) ^ 2 > (slack + n / 50) ^ 2)
				print $0 ", want " want[$1]
			count++
		}
		END { if (count != 4) print count " figures" }
	' theirs.print "$2" >differs
	check "$1: figures" "$(cat differs)" ''
}

# check_report WHAT: 'hatf report' and heaptrack_print count the same calls,
# temporary allocations, peak and leak, but for heaptrack's own 72704 bytes in
# one block, and 2 %.  heaptrack counts a block as temporary if the last block
# that was allocated had the same site and size, even if this was another block:
# perl and sqlite3 have many such blocks.  By this rule, heaptrack_print counts
# as many in our trace (check_figures).
check_report()
{
	"$HATF" report --json t.hatf | python3 -c '
import json, re, sys
more_temporary = sys.argv[1] in ("perl", "sqlite3")
total = json.load(sys.stdin)["total"]
text = open("theirs.print").read()

def theirs(words):
    number, unit = re.search(words + r": ([0-9.]+)([BKMG]?)", text).groups()
    return float(number) * 1000 ** "BKMG".find(unit or "B")

for words, got, more in (
        ("calls to allocation functions", total["allocated"]["blocks"], 1),
        ("temporary memory allocations", total["temporary"]["blocks"], 1),
        ("peak heap memory consumption", total["at_peak"]["bytes"], 72704),
        ("total memory leaked", total["at_end"]["bytes"], 0)):
    want = theirs(words)
    if words.startswith("temporary") and more_temporary and got < want:
        continue
    if abs(want - more - got) > max(want / 50, 72704 if "leak" in words else 2):
        print(f"{words}: {got}, want {want}")
' "$1" >differs 2>&1
	check "$1: report" "$(cat differs)" ''
}

# check_pprof WHAT: the profile keeps to profile.proto, and pprof finds the
# trace's sums in it.
check_pprof()
{
	local index key

	python3 "$CLI/pprof.py" t.pb.gz >print 2>differs ||
		fail "$1: pprof: $(cat differs)"
	"$HATF" stat --json t.hatf >stat.json
	for index in alloc:allocated inuse:at_end peak:at_peak; do
		key=${index#*:}
		"$go" tool pprof -top -unit=B \
			-sample_index="${index%:*}_space" t.pb.gz \
			>top 2>/dev/null
		check "$1: pprof -top: $key" \
			"$(sed -nE 's/.* ([0-9]+)B total.*/\1/p' top)" \
			"$(python3 -c 'import json, sys
total = json.load(open("stat.json"))["total"]
print(total[sys.argv[1]]["bytes"])' $key)"
	done
}

compare()
{
	local what=$1

	zstd -dcq theirs.zst | sites heaptrack >total
	of_heaptrack theirs.zst >peak
	cp print theirs.print
	"$HATF" convert t.hatf t.heaptrack 2>/dev/null
	of_heaptrack t.heaptrack >got
	check_figures "$what" print
	check_report "$what"
	agree "$what: heaptrack_print: peak" peak got
	mv got ours
	"$HATF" convert t.hatf t.folded 2>/dev/null
	sites folded <t.folded >all
	agree "$what: flame graph" total all
	if [ -n "$go" ]; then
		"$HATF" convert t.hatf t.pb.gz 2>/dev/null
		of_pprof peak_space >got
		check_text "$what: pprof: peak" got <ours
		of_pprof alloc_space >got
		check_text "$what: pprof: all" got <all
		check_pprof "$what"
	fi
	check_stat "$what"
}

# 'hatf stat' has the same sites: the same bytes, a name of the same stack.
check_stat()
{
	local key file

	for key in peak allocated; do
		file=ours
		[ $key = peak ] || file=all
		"$HATF" stat --json -n 0 --by stack --sort $key t.hatf \
			>stat.json
		python3 - $key $file "$CLI" <<'END' || fail "$1: stat: $key"
import collections, json, sys
sys.path.insert(0, sys.argv[3])
from sites_agree import shorten
key, wanted = sys.argv[1:3]
rows = json.load(open("stat.json"))["rows"]
field = "at_peak" if key == "peak" else key
sizes = [row[field]["bytes"] for row in rows]
assert sizes == sorted(sizes, reverse=True)
for line in open(wanted):
    nbytes, *names = line.split()
    # A site is the sum of stacks whose names are the same.
    own = [r for r in rows if shorten(r["name"].split(": ", 1)[1].split(" (")[0])
           in names + [None]]
    assert sum(r[field]["bytes"] for r in own) >= int(nbytes), line
END
	done
}

# try NAME COMMAND...
try()
{
	local what=$1 key

	shift
	rm -f theirs* t.*
	heaptrack -o "$TMP/theirs" "$@" >out 2>&1 </dev/null ||
		fail "$what: heaptrack: $(cat out)"
	"$HATF" record -o t.hatf "$@" >out 2>err </dev/null ||
		fail "$what: $(cat err)"
	compare "$what"
	command -v valgrind >/dev/null && [ -n "$viewer" ] || return
	valgrind --tool=dhat --num-callers=200 --dhat-out-file=theirs.dhat \
		"$@" >out 2>&1 </dev/null || fail "$what: $(cat out)"
	"$HATF" convert t.hatf t.dhat 2>/dev/null
	for key in total peak; do
		of_dhat theirs.dhat $key >want
		of_dhat t.dhat $key >got
		agree "$what: DHAT: $key" want got
	done
}

cat >app.cc <<'END'
#include <map>
#include <memory>
#include <string>
#include <vector>

struct node {
	char text[200];
	std::string name;
	std::vector<int> values;
};

static std::map<int, std::unique_ptr<node>> nodes;
static std::vector<char *> kept;

static inline __attribute__((always_inline)) char *
small_piece(size_t n)
{
	return new char[n];
}

static __attribute__((noinline)) void
load(int i)
{
	auto added = std::make_unique<node>();

	added->name = std::string(300 + (size_t)i % 7, 'x');
	added->values.resize(1000);
	nodes[i] = std::move(added);
	kept.push_back(small_piece(3000));
}

static __attribute__((noinline)) void
scratch(int n)
{
	std::string text;

	for (int i = 0; i < n; i++) {
		char *volatile piece = small_piece(500);

		delete[] piece;
	}
	for (int i = 0; i < 20000; i++)
		text += 'y';
}

int
main()
{
	for (int i = 0; i < 500; i++)
		load(i);
	for (int i = 0; i < 5; i++)
		scratch(400);
	nodes.clear();
	return 0;
}
END
g++ -g -O2 -o app app.cc || fail 'g++'
try app ./app
if [ -n "$go" ]; then
	# Without the program, pprof shows the same.
	of_pprof peak_space >want
	mv app away
	of_pprof peak_space >got
	check_text 'pprof without the program' got <want
fi
python=/usr/bin/python3 # in PATH may be a script
[ -x $python ] && try python3 $python -S -c 'import json
data = [{str(i): [i] * 5} for i in range(3000)]
print(len(json.dumps(data)))'
command -v perl >/dev/null && try perl perl -e 'my %x;
	$x{$_ % 777} .= "x" x 9 for 1 .. 20000;
	my @a = map { [$_, "y" x 60] } split / /, "1 " x 3000;'
command -v sqlite3 >/dev/null &&
	try sqlite3 sqlite3 :memory: 'create table t(a); with recursive c(x) as
		(select 1 union all select x + 1 from c where x < 3000)
		insert into t select hex(x) from c; create index i on t(a);
		select count(distinct a), sum(length(a)) from t'

finish
