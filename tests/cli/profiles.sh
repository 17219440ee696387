#!/bin/bash
# SPDX-License-Identifier: MIT
#
# profiles.sh - folded, DHAT and pprof profiles have the trace's sums
#
# The profiles have the sums of the trace for each site, and other programs can
# read them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$CLI/../data/foreign/dhat

# The calls of tests/data/foreign/dhat/dh.c, with the stacks that valgrind
# recorded: an address there is that of a call, one byte before the frame's.
cat >dh.ascii <<'END'
10 HATF ascii thread attributes
10 HATF frame\x0aframe=1\x0afunction=malloc\x0aobject=libc.so\x0aaddress=0x48417b5\x0a
10 HATF frame\x0aframe=2\x0afunction=f\x0afile=dh.c\x0aline=2\x0aaddress=0x109171\x0a
10 HATF frame\x0aframe=3\x0afunction=main\x0afile=dh.c\x0aline=3\x0aaddress=0x109185\x0a
10 HATF frame\x0aframe=4\x0afunction=main\x0afile=dh.c\x0aline=3\x0aaddress=0x109193\x0a
10 HATF frame\x0aframe=5\x0afunction=main\x0afile=dh.c\x0aline=3\x0aaddress=0x1091c2\x0a
10 HATF frame\x0aframe=6\x0afunction=realloc\x0a
10 HATF stack\x0astack=1\x0aparent=0\x0aframe=3\x0a
10 HATF stack\x0astack=2\x0aparent=1\x0aframe=2\x0a
10 HATF stack\x0astack=3\x0aparent=2\x0aframe=1\x0a
0 10 0x1000 0 4503
10 HATF stack\x0astack=4\x0aparent=0\x0aframe=4\x0a
10 HATF stack\x0astack=5\x0aparent=4\x0aframe=2\x0a
10 HATF stack\x0astack=6\x0aparent=5\x0aframe=1\x0a
0 20 0x2000 0 4506
10 HATF stack\x0astack=7\x0aparent=4\x0aframe=6\x0a
3 100 0x1000 0x3000 0 4507
0 100 0x3000 0
1 0x1000 0
1 0x2000 0
10 HATF stack\x0astack=8\x0aparent=0\x0aframe=5\x0a
10 HATF stack\x0astack=9\x0aparent=8\x0aframe=2\x0a
10 HATF stack\x0astack=10\x0aparent=9\x0aframe=1\x0a
0 7 0x1000 0 450a
END

# -------------------------------------------------------------------- folded
run "$HATF" convert -R dh.ascii dh.folded
check_status folded 0
check_text folded dh.folded <<'END'
main;f;malloc 37
main;realloc 100
END

# ---------------------------------------------------------------------- DHAT
run "$HATF" convert -R dh.ascii dh.dhat
check_status dhat 0
check_text dhat dh.dhat <<'END'
{"dhatFileVersion":2
,"mode":"heap","verb":"Allocated"
,"bklt":true,"bkacc":false
,"tu":"calls","Mtu":"Mcall"
,"tuth":10
,"cmd":""
,"pid":0
,"te":5
,"tg":3
,"pps":
 [{"tb":110,"tbk":2
  ,"tl":4
  ,"mb":100,"mbk":1
  ,"gb":100,"gbk":1
  ,"eb":100,"ebk":1
  ,"fs":[1,2,3]
  }
 ,{"tb":20,"tbk":1
  ,"tl":2
  ,"mb":20,"mbk":1
  ,"gb":20,"gbk":1
  ,"eb":0,"ebk":0
  ,"fs":[1,2,4]
  }
 ,{"tb":7,"tbk":1
  ,"tl":0
  ,"mb":7,"mbk":1
  ,"gb":0,"gbk":0
  ,"eb":7,"ebk":1
  ,"fs":[1,2,5]
  }
 ]
,"ftbl":
 ["[root]"
 ,"0x48417B4: malloc (in libc.so)"
 ,"0x109170: f (dh.c:2)"
 ,"0x109184: main (dh.c:3)"
 ,"0x109192: main (dh.c:3)"
 ,"0x1091C1: main (dh.c:3)"
 ]
}
END
# hatf's profile has the members and sums that valgrind's has for each site,
# except a site's own maximum: valgrind 3.19 leaves it out if the site grows
# only after the peak of the program.
if command -v jq >/dev/null; then
	sums='.pps[] | [.tb, .tbk, .gb, .gbk, .eb, .ebk,
		(.fs | map($t[.] | sub(" \\(in .*"; "")))]'
	jq -c ".ftbl as \$t | $sums" "$data/dh.json" >want
	jq -c ".ftbl as \$t | $sums" dh.dhat >got
	check_text 'dhat: sums of valgrind' got <want
	jq -r 'keys[]' "$data/dh.json" >want
	jq -r 'keys[]' dh.dhat >got
	check_text 'dhat: keys of valgrind' got <want
	# A trace has no memory accesses.
	jq -r '.pps[1] | del(.rb, .wb, .acc) | keys[]' "$data/dh.json" >want
	jq -r '.pps[1] | keys[]' dh.dhat >got
	check_text 'dhat: keys of a site' got <want
fi

# --------------------------------------------------------------------- pprof
run "$HATF" convert -R dh.ascii dh.pb.gz
check_status pprof 0
check 'pprof: gzip' "$(head -c 2 dh.pb.gz | od -An -tx1 | tr -d ' ')" 1f8b
run "$HATF" convert -R dh.ascii dh.pb
zcat dh.pb.gz | cmp -s - dh.pb || fail 'pprof: plain and gzip differ'
if command -v python3 >/dev/null; then
	python3 "$CLI/pprof.py" dh.pb.gz >got
	check_text pprof got <<'END'
type alloc_objects count
type alloc_space bytes
type inuse_objects count
type inuse_space bytes
type peak_objects count
type peak_space bytes
default inuse_space
period 1
mapping libc.so 0x0-0x0+0x0 - functions
1 10 0 0 0 0 malloc@libc.so+0x48417b4 f(dh.c:2)+0x109170 main(dh.c:3)+0x109184
1 20 0 0 1 20 malloc@libc.so+0x48417b4 f(dh.c:2)+0x109170 main(dh.c:3)+0x109192
1 100 1 100 1 100 realloc main(dh.c:3)+0x109192
1 7 1 7 0 0 malloc@libc.so+0x48417b4 f(dh.c:2)+0x109170 main(dh.c:3)+0x1091c1
END
fi
if command -v protoc >/dev/null; then
	protoc --decode_raw <dh.pb >raw || fail 'pprof: protoc'
	check 'pprof: samples' "$(grep -c '^2 {' raw)" 4
fi
# pprof itself, from a package or from Go.
pprof=()
go=$(command -v go || ls /usr/lib/go-*/bin/go 2>/dev/null | tail -1)
if command -v pprof >/dev/null; then
	pprof=(pprof)
elif [ -n "$go" ]; then
	pprof=("$go" tool pprof)
fi
if [ ${#pprof[@]} -ne 0 ]; then
	for value in inuse_space:107 alloc_space:137 inuse_objects:2 \
		alloc_objects:4 peak_objects:2 peak_space:120; do
		HOME=$TMP "${pprof[@]}" -top -unit=B -sample_index=${value%:*} \
			dh.pb.gz 2>/dev/null >top
		check "pprof: ${value%:*}" "$(sed -nE \
			's/.* of ([0-9]+)B? total.*/\1/p' top)" "${value#*:}"
	done
fi

# ------------------------------------------------------------ nameless frames
# Frames with an object's offset, with an address only, and with neither; a
# function that was inlined; and a library that lay where another lies now.
cat >bare.json <<'END'
{"tag":"comment","text":"HATF 1.0\nexe=/bin/app\n"}
{"tag":"comment","text":"HATF object\nobject=/lib/a.so\nbase=0x7f0000000000\naddress=0x7f0000001040\nsize=8000\noffset=0x1040\nbuild_id=c0ffee\n"}
{"tag":"comment","text":"HATF object\nobject=/bin/app\nbase=0x0\naddress=0x401020\nsize=4096\noffset=0x1020\n"}
{"tag":"comment","text":"HATF object\nobject=/lib/b.so\nbase=0x10\naddress=0x\nsize=4096\noffset=0x0\n"}
{"tag":"comment","text":"HATF frame\nframe=1\nobject=/lib/a.so\naddress=0x7f0000001234\n"}
{"tag":"comment","text":"HATF frame\nframe=2\nobject=/lib/b.so\naddress=0x7f0000009999\n"}
{"tag":"comment","text":"HATF frame\nframe=3\nobject=/bin/app\naddress=0x401123\nfunction=main\nfile=app.c\nline=3\n"}
{"tag":"comment","text":"HATF frame\nframe=4\nfunction=start\nfile=app.c\n"}
{"tag":"comment","text":"HATF frame\nframe=5\nobject=/bin/app\naddress=0x401123\nfunction=helper\nfile=app.h\nline=9\n"}
{"tag":"comment","text":"HATF object\nobject=/lib/gone.so\nbase=0x600000\naddress=0x601000\nsize=4096\n"}
{"tag":"comment","text":"HATF frame\nframe=6\naddress=0x601abc\n"}
{"tag":"comment","text":"HATF object\nobject=/lib/new.so\nbase=0x601000\naddress=0x601000\nsize=4096\n"}
{"tag":"comment","text":"HATF stack\nstack=1\nparent=0\nframe=4\n"}
{"tag":"comment","text":"HATF stack\nstack=2\nparent=1\nframe=3\n"}
{"tag":"comment","text":"HATF stack\nstack=6\nparent=2\nframe=5\n"}
{"tag":"comment","text":"HATF stack\nstack=7\nparent=6\nframe=6\n"}
{"tag":"comment","text":"HATF stack\nstack=3\nparent=7\nframe=2\n"}
{"tag":"comment","text":"HATF stack\nstack=4\nparent=3\nframe=1\n"}
{"tag":"alloc","size":24,"address":"0x1000","attributes":"4504"}
{"tag":"comment","text":"HATF end\nevents=1\nrecords=19\ncomplete=1\nend=exit\nlost=0\nthreads=1\n"}
END
for to in folded dhat pb; do
	run "$HATF" convert bare.json bare.$to
	check_status "bare: $to" 0
done
check_text 'bare: folded' bare.folded <<'END'
start;main;helper;/lib/gone.so+0x1abc;0x7f0000009999 (/lib/b.so);/lib/a.so+0x1234 24
END
sed -n '/"ftbl"/,$p' bare.dhat >got
check_text 'bare: dhat' got <<'END'
,"ftbl":
 ["[root]"
 ,"0x7F0000001233: ??? (in /lib/a.so)"
 ,"0x7F0000009998: ??? (in /lib/b.so)"
 ,"0x601ABB: ??? (in /lib/gone.so)"
 ,"0x401122: helper (app.h:9)"
 ,"0x401122: main (app.c:3)"
 ,"start (app.c)"
 ]
}
END
if command -v python3 >/dev/null; then
	python3 "$CLI/pprof.py" bare.pb | sed -n '/^mapping/,$p' >got
	check_text 'bare: pprof' got <<'END'
mapping /bin/app 0x401000-0x403000+0x1000 - functions,files,lines,inlined
mapping /lib/a.so 0x7f0000001000-0x7f0000003000+0x1000 c0ffee nameless
mapping /lib/b.so 0x0-0x0+0x0 - nameless
mapping /lib/gone.so 0x0-0x0+0x0 - nameless
1 24 1 24 1 24 /lib/a.so+0x1234@/lib/a.so+0x7f0000001233 0x7f0000009999 (/lib/b.so)@/lib/b.so+0x7f0000009998 /lib/gone.so+0x1abc@/lib/gone.so+0x1abb helper(app.h:9)<main(app.c:3)@/bin/app+0x401122 start(app.c:0)
END
	# The header has the command instead of the executable's path.
	sed -i 's,exe=/bin/app,command=bin/app -x /lib/a.so,' bare.json
	"$HATF" convert bare.json bare.pb 2>err || fail "called: $(cat err)"
	check 'pprof: the program is the first mapping' \
		"$(python3 "$CLI/pprof.py" bare.pb | sed -n 's/^mapping //p' |
			sed -n '1s/ .*//p')" /bin/app
fi

# -------------------------------------------------------- a recorded program
"$HATF" record -G -o perl.hatf -- \
	perl -e '$h{$_} = "x" x $_ for 1 .. 200' 2>err ||
	fail "record: $(cat err)"
# Blocks and bytes in total, and blocks and bytes at the end.
"$HATF" dump --format ascii perl.hatf | awk '
	$1 == 0 && $3 != "0x0" { n++; t += $2; live += $2; size[$3] = $2 }
	$1 == 1 { live -= size[$2]; delete size[$2] }
	$1 == 2 && $4 != "0x0" {
		n++
		t += $2
		live += $2 - size[$3]
		size[$4] = $2
	}
	END { for (a in size) c++; print n, t, c, live }' >want
run "$HATF" convert perl.hatf perl.folded
check 'perl: folded' "$(awk '{ n += $NF } END { print n }' perl.folded)" \
	"$(cut -d ' ' -f 2 want)"
check 'perl: folded: threads and sizes' "$(grep -cvE \
	'^thread 0;([0-9]+ to )?[0-9]+ bytes? [0-9]+$' perl.folded)" 0
run "$HATF" convert perl.hatf perl.dhat
check_status 'perl: dhat' 0
run "$HATF" convert perl.hatf perl.pb.gz
check_status 'perl: pprof' 0
if command -v jq >/dev/null; then
	jq -r '[.pps | (map(.tbk) | add), (map(.tb) | add), (map(.ebk) | add),
		(map(.eb) | add)] | join(" ")' perl.dhat >got
	check_text 'perl: dhat' got <want
	peak=$("$HATF" info --json perl.hatf |
		sed -E 's/.*"peak_live_bytes":([0-9]+).*/\1/')
	check 'perl: dhat: peak' "$(jq '.pps | map(.gb) | add' perl.dhat)" \
		"$peak"
	# valgrind's viewer checks the file and shows the same sums.
	viewer=$(ls /usr/libexec/valgrind/dh_view.js \
		/usr/lib/*/valgrind/dh_view.js 2>/dev/null | head -1)
	if [ -n "$viewer" ] && command -v node >/dev/null; then
		node "$CLI/dh_view.js" "$viewer" perl.dhat >shown ||
			fail 'perl: dh_view'
		tr -d , <shown | awk '
			$1 == "Total:" { n = $2; c = $7 }
			$1 == "At" && $2 == "t-end:" {
				print c, n, $7, $3
				exit
			}' >got
		check_text 'perl: dh_view' got <want
		node "$CLI/dh_view.js" "$viewer" bare.dhat |
			sed -n 's/^ *#/#/p' >got
		check_text 'bare: dh_view' got <<'END'
#0: [root]
#1: 0x7F0000001233: ??? (in /lib/a.so)
#2: 0x7F0000009998: ??? (in /lib/b.so)
#3: 0x601ABB: ??? (in /lib/gone.so)
#4: 0x401122: helper (app.h:9)
#5: 0x401122: main (app.c:3)
#6: start (app.c)
END
	fi
	check 'perl: dhat: command' "$(jq -r .cmd perl.dhat | cut -c 1-7)" \
		'perl -e'
fi
if command -v python3 >/dev/null; then
	python3 "$CLI/pprof.py" perl.pb.gz | awk '$1 ~ /^[0-9]/ {
			a += $1; b += $2; c += $3; d += $4
		}
		END { print a, b, c, d }' >got
	check_text 'perl: pprof' got <want
	python3 "$CLI/pprof.py" perl.pb.gz | awk '
		$1 == "mapping" || $1 == "start" { print $1, $2 }' >got
	check_text 'perl: pprof: program and start' got <<-END
		start $("$HATF" dump --meta --count 1 perl.hatf |
			grep -o 'start_time=[0-9]*' | cut -d = -f 2)
		mapping $(readlink -f "$(command -v perl)")
	END
fi

# A trace without calls has no sites.
printf '10 HATF ascii\n10 nothing\n' >empty.ascii
for to in folded dhat pprof; do
	run "$HATF" convert --to $to empty.ascii empty.$to
	check_status "empty: $to" 0
done
check 'empty: folded' "$(wc -c <empty.folded)" 0
command -v jq >/dev/null &&
	check 'empty: dhat' "$(jq -c .pps empty.dhat)" '[]'

# A stack with an undefined frame is left out.
cat >bad.ascii <<'END'
10 HATF ascii
10 HATF stack\x0astack=1\x0aparent=0\x0aframe=9\x0a
END
for to in folded dhat pprof mtrace; do
	run "$HATF" convert --to $to bad.ascii bad.$to
	check_status "bad stack: $to" 0
	text="bad.$to: left out: malformed definitions of stacks (1)"
	check "bad stack: $to: said" "$(grep -cF "hatf convert: $text" err)" 1
done

finish
