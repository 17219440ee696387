# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# guests.sh - real programs at small jobs; real-suites.sh sources this file
#
# A line of a table below is one program: 'guest NAME COMMAND...'.  The command
# runs bare and recorded, each time in an empty folder.  Its standard output,
# its exit status and the output of $after, which runs there afterwards, must be
# the same.  A new program is one line here, and its package one word in
# setup.sh.
#
# Settings that may precede 'guest', for this program only:
#	how=preload    (the default) LD_PRELOAD is set for the command
#	how=record     'hatf record -- COMMAND', whose status is the command's
#	how=dormant    as preload, with HATFTRACE_START=off
#	how=front:LIB  LIB is preloaded before the recorder; alone when bare
#	how=behind:LIB LIB is preloaded after the recorder; alone when bare
#	after=WORDS    shell words that print the command's result; not recorded
#	user=nobody    the program does not run as root
#	expected=N     the expected exit status (default 0)
#
# $in is the folder of the programs' input files.
# shellcheck disable=SC2016,SC2154
# SC2016: the programs expand what is in single quotes.  SC2154: real-suites.sh
# sets the variables.

in=$work/inputs
how=preload
after=
user=
# shellcheck disable=SC2034 # real-suites.sh reads it
expected=

# container.sh INPUTS WORK BUILD: run a container by runc, which makes a user
# namespace and all others, a root file system, capabilities and a seccomp
# filter.  The recorder's variables are passed into the container.
container_script()
{
	cat <<'END'
mkdir -p root/proc root/dev root/tmp root/usr
for name in bin lib lib64 sbin; do
	ln -s usr/$name root/$name
done
environment='"PATH=/usr/bin:/bin"'
for name in LD_PRELOAD HATFTRACE_OUT HATFTRACE_START HATFTRACE_STACKS; do
	eval "value=\${$name-}"
	[ -z "$value" ] || environment=$environment,'"'$name=$value'"'
done
cat >config.json <<JSON
{ "ociVersion": "1.0.0",
"process": { "user": { "uid": 0, "gid": 0 }, "cwd": "/", "noNewPrivileges": true,
	"args": ["sh", "-c", "id -u; echo \$\$; sort -rn $1/numbers | head -n 3; exit 7"],
	"env": [$environment], "capabilities": { "bounding": ["CAP_KILL"],
	"effective": ["CAP_KILL"], "permitted": ["CAP_KILL"] } },
"root": { "path": "root" },
"mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" },
	{ "destination": "/dev", "type": "tmpfs", "source": "tmpfs",
	"options": ["nosuid", "mode=755"] },
	{ "destination": "/usr", "type": "bind", "source": "/usr",
	"options": ["rbind", "ro"] },
	{ "destination": "$3", "type": "bind", "source": "$3",
	"options": ["rbind", "ro"] },
	{ "destination": "$2", "type": "bind", "source": "$2", "options": ["rbind"] } ],
"linux": { "namespaces": [ { "type": "pid" }, { "type": "network" },
	{ "type": "ipc" }, { "type": "uts" }, { "type": "mount" }, { "type": "user" } ],
	"uidMappings": [ { "containerID": 0, "hostID": $(id -u), "size": 1 } ],
	"gidMappings": [ { "containerID": 0, "hostID": $(id -g), "size": 1 } ],
	"seccomp": { "defaultAction": "SCMP_ACT_ALLOW",
	"architectures": ["SCMP_ARCH_X86_64"], "syscalls": [ {
	"names": ["keyctl", "bpf"], "action": "SCMP_ACT_ERRNO" } ] } } }
JSON
export XDG_RUNTIME_DIR=$PWD
runc --root state --rootless=true run "guest$$"
echo "status $?"
END
}

# podman.sh INPUTS WORK BUILD: run a container by Podman, with conmon and runc.
# The image is a folder.  Podman asks runc for limits and cgroups, which not
# every root may set, so take these out of the configuration.
podman_script()
{
	cat <<'END'
mkdir -p root/proc root/dev root/sys root/tmp root/run root/etc root/usr oci
for name in bin lib lib64 sbin; do
	ln -s usr/$name root/$name
done
cat >oci/runc <<'RUNTIME'
#!/bin/sh
for word; do
	[ "$previous" != --bundle ] || bundle=$word
	previous=$word
done
if [ -n "$bundle" ]; then
	jq 'del(.process.rlimits, .process.oomScoreAdj, .linux.resources,
		.linux.cgroupsPath)' "$bundle/config.json" \
		>"$bundle/config.new" &&
		mv "$bundle/config.new" "$bundle/config.json"
fi
PATH=/usr/sbin:/usr/bin:/sbin:/bin exec runc --rootless=true "$@"
RUNTIME
chmod +x oci/runc
for name in LD_PRELOAD HATFTRACE_OUT HATFTRACE_START HATFTRACE_STACKS; do
	eval "value=\${$name-}"
	[ -z "$value" ] || environment="$environment -e $name"
done
podman --root "$PWD/storage" --runroot "$PWD/run" --tmpdir "$PWD/tmp" \
	--storage-driver vfs --cgroup-manager cgroupfs --events-backend none \
	--runtime "$PWD/oci/runc" run --rm --network host \
	--cgroups no-conmon --log-driver none $environment \
	-v /usr:/usr:ro -v "$2:$2" -v "$3:$3:ro" --rootfs "$PWD/root" \
	sh -c "id -u; echo \$\$; sort -rn $1/numbers | head -n 3; exit 7"
echo "status $?"
END
}

guest_inputs()
{
	[ ! -e "$in/done" ] || return 0
	mkdir -p "$in/tree" && cd "$in" || return
	seq 50000 >numbers
	cp "$top/hatf/FORMAT.md" text.md
	cp "$top/hatf/hatf.dtd" "$top"/hatf/*.h tree/
	cat >page.html <<'END'
<html><body><h1 id="x"></h1><script>
document.getElementById("x").textContent = "sum " + [1, 2, 3].reduce((a, b) => a + b);
</script></body></html>
END
	cat >sum.c <<'END'
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	long sum = 0;

	for (int i = 1; i < 2000; i++) {
		int *p = malloc(i * sizeof(*p));

		p[i - 1] = i;
		sum += p[i - 1];
		free(p);
	}
	printf("%ld\n", sum);
	return argc > 1 ? atoi(argv[1]) : 0;
}
END
	cat >sum.cc <<'END'
#include <iostream>
#include <map>
#include <string>

int main()
{
	std::map<std::string, int> m;
	for (int i = 0; i < 2000; i++)
		m[std::to_string(i % 300)] += i;
	std::cout << m.size() << ' ' << m["7"] << '\n';
}
END
	cat >cgo.go <<'END'
package main

// #include <stdlib.h>
import "C"
import ("fmt"; "os"; "sync")

func main() {
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			for j := 1; j < 500; j++ {
				C.free(C.malloc(C.size_t(j)))
			}
			group.Done()
		}()
	}
	group.Wait()
	fmt.Println("cgo")
	if len(os.Args) > 1 {
		os.Exit(3)
	}
}
END
	sed 's/import "C"//; /C.free/d; s/"cgo"/"go"/' cgo.go >pure.go
	cat >sum.f90 <<'END'
program total
  integer, allocatable :: a(:)
  allocate(a(1000))
  a = [(i, i = 1, 1000)]
  print *, sum(a)
end program
END
	cat >sum.rs <<'END'
fn main() {
    let v: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
    println!("{}", v.iter().map(|s| s.len()).sum::<usize>());
}
END
	cat >sum.ml <<'END'
let () = List.init 1000 string_of_int |> String.concat "," |> String.length
  |> print_int
END
	cat >Sum.hs <<'END'
main :: IO ()
main = print (sum (map fromIntegral [1 .. 100000 :: Int]) :: Integer)
END
	cat >sum.pas <<'END'
program sum;
var s: ansistring; i: integer;
begin
  for i := 1 to 1000 do s := s + 'x';
  writeln(length(s))
end.
END
	cat >Sum.java <<'END'
class Sum {
	public static void main(String[] a) {
		System.out.println(java.util.stream.IntStream.range(0, 1000).mapToObj(
			Integer::toString).mapToInt(String::length).sum());
	}
}
END
	cat >sum.asm <<'END'
global _start
_start: mov eax, 60
xor edi, edi
syscall
END
	printf 'digraph { a -> b; b -> { c d e }; e -> a }\n' >graph.dot
	printf '%s\n' '%%' '[a-z]+ { printf("w"); }' '. ;' '\n ;' '%%' \
		'int yywrap(void) { return 1; }' >words.l
	printf '%s\n' '%token N' '%%' "e: N | e '+' N;" '%%' >sums.y
	printf '%s\n' '<x:stylesheet version="1.0"
xmlns:x="http://www.w3.org/1999/XSL/Transform">
<x:template match="/"><n><x:value-of
select="count(//i)"/></n></x:template></x:stylesheet>' >count.xsl
	seq -f '<i>%g</i>' 2000 | sed '1i <d>' | sed '$a </d>' >items.xml
	printf '%%!PS\n/Helvetica findfont 20 scalefont setfont 50 700 moveto
(hello) show showpage\n' >hello.ps
	printf '.TH X 1\n.SH NAME\nx \\- y\n.PP\nSome \\fBwords\\fP.\n' >page.1
	echo 'for {set i 0} {$i < 9999} {incr i} {set a($i) [expr $i * 2]}
puts "[array size a] $a(77)"' >sum.tcl
	cat >nginx.conf <<'END'
daemon off; user root; pid pid; events {} http { access_log off;
server { listen unix:s; location / { return 200 "hello\n"; } } }
END
	cat >apache.conf <<'END'
DefaultRuntimeDir /tmp
ServerName x
ErrorLog /dev/null
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
END
	printf '%s\n' "define(\`d', \`\$1\$1')dnl" 'd(d(d(N)))' >twice.m4
	echo 'library(parallel)
	cat(unlist(mclapply(1:12, mc.cores = 4, function(i)
		sum(rnorm(1e4) > 9) + i)), "\n")' >apply.R
	mkdir cmake
	printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(sum C)' \
		'add_executable(sum ../sum.c)' >cmake/CMakeLists.txt
	container_script >container.sh
	podman_script >podman.sh
	for i in 1 2 3 4 5 6 7 8 9; do
		printf 'o%d: %s/sum.c\n\tcc -c -o $@ $<\n' $i "$in"
	done | sed '1i all: o1 o2 o3 o4 o5 o6 o7 o8 o9' >objects.mk
	gs -q -o hello.pdf -sDEVICE=pdfwrite hello.ps
	sox -n -r 8000 tone.wav synth 2 sine 440
	convert -size 200x150 gradient:red-blue picture.png
	gcc -O1 -o sum sum.c && musl-gcc -o sum.musl sum.c &&
		go build -o cgo cgo.go && go build -o pure pure.go || return
	chmod -R a+rX .
	touch 'done'
}

# guest_mode bare|traced NAME: call mode(), then set 'pre' according to 'how'.
guest_mode()
{
	local library=${how#*:}

	mode "$1" "$2"
	case $1:$how in
	traced:record)
		pre=("$build/hatf" record -o "$folder/traces/%e.%p.hatf.gz" --)
		;;
	traced:dormant) pre+=(HATFTRACE_START=off) ;;
	bare:front:* | bare:behind:*) pre=(env "LD_PRELOAD=$library") ;;
	traced:front:*) pre[2]="LD_PRELOAD=$library:$build/libhatftrace.so" ;;
	traced:behind:*) pre[2]="LD_PRELOAD=$build/libhatftrace.so:$library" ;;
	esac
	[ "$user" != nobody ] || [ "$(id -u)" -ne 0 ] ||
		pre=(setpriv --reuid 65534 --regid 65534 --clear-groups
			"${pre[@]}")
}

# guest_run COMMAND...: run the command; kill it with its descendants if it
# hangs.
guest_run()
{
	local status

	mkdir -m 777 work home
	cd work || return
	HOME=$folder/home timeout -k 5 120 "${pre[@]}" "$@" \
		>../out 2>../err </dev/null
	status=$?
	[ -z "$after" ] || eval "$after" >>../out 2>>../err
	cd ..
	echo "status $status, $(wc -c <out) bytes, md5 $(md5sum <out |
		cut -c 1-8)"
}

# guest NAME COMMAND...: run the program twice, and add a row to the table.
guest()
{
	both_in guest_mode "$1 ($how)" guest_run "${@:2}"
}

# ----------------------------------------------------------- tables of programs

chromium_flags=(--headless --disable-gpu --disable-quic --no-first-run
	--disable-background-networking --disable-component-update
	--disable-sync --user-data-dir=profile)

# guest_chromium COMMAND...: turn a page into a DOM, a picture and a document.
# The DOM is compared as text, the picture by its pixels, and the document
# without its date.
guest_chromium()
{
	local page=file://$in/page.html who=${user:+, a user in its sandbox}

	guest "chromium, page to DOM$who" "$@" --dump-dom "$page"
	after='convert page.png rgb:- | md5sum' \
		guest "chromium, screenshot$who" \
		"$@" --screenshot=page.png "$page"
	after='pdftotext page.pdf - &&
		sed -E "/^.(Creation|Mod)Date /d" page.pdf | md5sum' \
		guest "chromium, PDF$who" "$@" \
		--no-pdf-header-footer --print-to-pdf=page.pdf "$page"
}

guests_chromium()
{
	local chromium=(chromium "${chromium_flags[@]}")

	for how in preload dormant; do
		guest_chromium "${chromium[@]}" --no-sandbox
		user=nobody guest_chromium "${chromium[@]}"
	done
	how=preload
	# Run Chromium in sh.  Chromium has a malloc of its own and leaves no
	# trace, so 'hatf record' would end with status 1.
	how=record guest 'chromium, page to DOM' sh -c '"$@"; echo $?' sh \
		"${chromium[@]}" --no-sandbox --dump-dom "file://$in/page.html"
	how=record user=nobody guest \
		'chromium, page to DOM, a user in its sandbox' \
		sh -c '"$@"; echo $?' sh "${chromium[@]}" --dump-dom \
		"file://$in/page.html"
}

guests_in_sandboxes()
{
	# Print the user's id and the number of visible processes, but not the
	# process id: the recorder's thread takes an id, too.
	local alone='set -- /proc/[0-9]*; id -u; echo $#'
	local wrapped=(bwrap --ro-bind / / --bind "$work" "$work" --dev /dev
		--proc /proc --unshare-all sh -c "$alone")
	local jailed=(firejail --quiet --noprofile)

	for how in preload record dormant; do
		guest bwrap "${wrapped[@]}"
		user=nobody guest 'bwrap, a user' "${wrapped[@]}"
		guest firejail "${jailed[@]}" sh -c 'id -u; seq 5'
		guest 'firejail, seccomp' "${jailed[@]}" --seccomp \
			--caps.drop=all --nonewprivs sort -n "$in/numbers"
		guest unshare unshare -Urpf --mount-proc sh -c "$alone"
		user=nobody guest 'unshare, a user' \
			unshare -Urpf --mount-proc sh -c "$alone"
		guest 'bwrap within unshare' unshare -Urmpf --mount-proc \
			"${wrapped[@]}"
		guest runc sh "$in/container.sh" "$in" "$work" "$build"
		user=nobody guest 'runc, a user' \
			sh "$in/container.sh" "$in" "$work" "$build"
		guest podman sh "$in/podman.sh" "$in" "$work" "$build"
	done
	how=preload
	guest 'chroot' chroot / sort -rn "$in/numbers"
}

guests_of_other_runtimes()
{
	local script='$s = [];
	for ($i = 0; $i < 5000; $i++) $s["k$i"] = str_repeat("x", $i % 90);
	echo count($s), " ", strlen(serialize($s)), " ";
	echo ini_get("opcache.enable_cli"), "\n";'

	guest 'Go' "$in/pure"
	guest 'Go with cgo' "$in/cgo"
	how=record guest 'Go with cgo' "$in/cgo"
	how=record guest 'Go with cgo, status 3' \
		sh -c "\"$in/cgo\" 3; echo \$?"
	guest 'musl' "$in/sum.musl"
	how=record expected=7 guest 'musl, status 7' "$in/sum.musl" 7
	how=record guest 'sh that starts a musl program' \
		sh -c "\"$in/sum.musl\"; echo \$?"
	guest 'PHP with opcache' php -d zend_extension=opcache \
		-d opcache.enable_cli=1 -r "$script"
	guest 'PHP' php -n -r "$script"
	guest "R's mclapply" Rscript "$in/apply.R"
	guest 'R' Rscript -e 'print(summary(lm(dist ~ speed, cars))$r.squared)'
	how=record guest 'faketime' faketime -f '@2020-01-02 03:04:05' date +%F
	how=record guest 'valgrind, status 7' \
		sh -c 'valgrind -q sh -c "exit 7"; echo $?'
	guest 'gdb' sh -c "gdb -q -nx -batch -ex run -ex 'print 6 * 7' \
		'$in/sum' | grep -v 'Thread\|New process' |
		sed 's/process [0-9]*/process N/'"
	guest 'strace' strace -f -o trace.txt "$in/sum"
}

guests_with_allocators()
{
	local library libraries=(libtcmalloc.so.4 libtcmalloc_minimal.so.4
		libjemalloc.so.2 libmimalloc.so.2)
	local job='x = {str(i): [i] * 20 for i in range(20000)}
print(len(x))'

	for library in "${libraries[@]}"; do
		how=front:$library guest "python3" env PYTHONMALLOC=malloc \
			/usr/bin/python3 -c "$job"
		how=behind:$library guest "python3" env PYTHONMALLOC=malloc \
			/usr/bin/python3 -c "$job"
	done
}

guests_that_compile()
{
	after=./a.out guest gcc gcc -O2 "$in/sum.c"
	after=./a.out guest g++ g++ -O2 "$in/sum.cc"
	after=./a.out guest clang clang -O2 "$in/sum.c"
	after=./a.out guest gfortran gfortran "$in/sum.f90"
	after=./sum guest rustc /usr/bin/rustc "$in/sum.rs"
	after=./pure guest 'go build' env GOCACHE="$work/gocache" GOFLAGS=-p=2 \
		go build -o pure "$in/pure.go"
	after=./sum guest ocamlopt sh -c \
		"cp '$in/sum.ml' . && ocamlopt -o sum sum.ml"
	after=./sum guest ghc ghc -v0 -outputdir . -o sum "$in/Sum.hs"
	after=./sum guest fpc fpc -v0 -o./sum "$in/sum.pas"
	guest tcc tcc -run "$in/sum.c"
	after='md5sum <sum.o' guest nasm nasm -f elf64 -o sum.o "$in/sum.asm"
	guest javac-and-java sh -c "javac -d . '$in/Sum.java' && java Sum"
	after='wc -l lex.yy.c' guest flex flex "$in/words.l"
	after='ls' guest bison bison "$in/sums.y"
	guest m4 m4 -DN=5 "$in/twice.m4"
	after='ls | wc -l' guest 'make -j4' make -s -j4 -f "$in/objects.mk"
	after='build/sum' guest 'cmake and ninja' sh -c \
		"cmake -G Ninja -S '$in/cmake' -B build >/dev/null &&
		ninja -C build >/dev/null"
}

guests_that_interpret()
{
	guest python3 /usr/bin/python3 -c 'import json, re, decimal
print(len(json.dumps([{str(i): i / 7} for i in range(5000)])))'
	guest 'python3, multiprocessing' /usr/bin/python3 -c '
import multiprocessing
with multiprocessing.Pool(3) as pool:
	print(sum(pool.map(abs, range(-999, 0))))'
	guest perl perl -e '$h{$_ % 997} .= $_ for 1 .. 50000;
		print scalar keys %h'
	guest ruby ruby -e 'p (1..20000).map(&:to_s).group_by(&:size).map {
		|k, v| [k, v.size] }'
	guest lua lua5.4 -e 't = {} for i = 1, 20000 do t[i] = i .. "" end
		print(#table.concat(t))'
	guest tcl tclsh "$in/sum.tcl"
	guest guile guile --no-auto-compile -c '(display (length (iota 20000)))'
	guest sbcl sbcl --noinform --non-interactive --eval \
		'(print (reduce (function +)
			(loop for i below 9999 collect i)))'
	guest erlang erl -noshell -eval \
		'io:format("~p~n", [lists:sum(lists:seq(1, 9999))]), halt().'
	guest swi-prolog swipl -g \
		'numlist(1, 9999, L), sum_list(L, S), writeln(S)' -t halt
	guest gforth gforth -e '6 7 * . bye'
	guest bc sh -c 'echo "2 ^ 4000" | bc'
	guest octave octave --no-gui --no-history --norc --eval \
		'disp(sum(sum(inv(magic(5)))))'
	guest node node -e \
		'console.log(JSON.stringify([...Array(9999).keys()]).length)'
	guest gawk gawk '{ a[$1 % 77] += $1 } END { print length(a), a[5] }' \
		"$in/numbers"
	guest jq jq -s 'map(. * 2) | add' "$in/numbers"
	guest bash bash -c 'for i in {1..3000}; do a[i]=$i; done
		echo ${#a[@]} $(true)'
	guest emacs emacs -Q --batch --eval \
		'(princ (length (split-string (make-string 5000 ?\s) "")))'
	after='md5sum <text.md' guest vim sh -c "cp '$in/text.md' . &&
		vim -N -u NONE -es -c '%s/e/E/g' -c wq text.md"
}

guests_that_serve()
{
	guest redis sh -c 'redis-server --port 0 --unixsocket s --save "" \
			>/dev/null &
		until redis-cli -s s ping >/dev/null 2>&1; do sleep 0.1; done
		for i in 1 2 3 4 5; do redis-cli -s s lpush l $i; done
		redis-cli -s s shutdown; wait $!; echo $?'
	user=nobody guest memcached sh -c 'memcached -s s -t 2 & p=$!; sleep 1
		kill $p; wait $p; echo $?'
	guest nginx sh -c "/usr/sbin/nginx -p ./ -e log -c '$in/nginx.conf' &
		until curl -s --unix-socket s http://x/; do sleep 0.1; done
		kill -QUIT \$!; wait \$!; echo \$?"
	guest 'apache2 -t' \
		sh -c "/usr/sbin/apache2 -t -f '$in/apache.conf' 2>&1"
	guest 'haproxy -vv' haproxy -vv
	guest named-checkconf sh -c 'echo "options { directory \"/\"; };" >c
		named-checkconf -p c'
	guest 'dnsmasq --test' dnsmasq --test -C /dev/null
	guest unbound-checkconf sh -c 'echo "server: verbosity: 1" >c
		/usr/sbin/unbound-checkconf c; echo $?'
	user=nobody guest 'initdb of PostgreSQL' sh -c \
		'$(ls /usr/lib/postgresql/*/bin/initdb | tail -n 1) -D data \
		-A trust -U postgres >log && ls data | wc -l'
	user=nobody guest 'mariadbd --bootstrap' sh -c 'mkdir data
		echo "create database d; create table d.t (a int);
		insert into d.t values (1), (2);" |
		mariadbd --no-defaults --bootstrap --datadir=$PWD/data \
			--lc-messages-dir=/usr/share/mysql >/dev/null
		echo $?; ls data/d | wc -l'
	guest sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union
		all select x + 1 from c where x < 30000)
		select count(*), sum(x * 7 % 13) from c'
	guest lmdb sh -c 'mkdir d
		printf "%s\n" VERSION=3 format=print type=btree \
			mapsize=1048576 HEADER=END " k" " v" DATA=END |
			mdb_load d
		mdb_dump -p d | tail -n 4'
}

guests_that_pack()
{
	after='tar -xOzf t.tgz | md5sum' guest tar \
		tar -C "$in" -czf t.tgz tree text.md
	after='unzip -p t.zip | md5sum' guest zip zip -qr t.zip "$in/tree"
	after='7z x -so t.7z | md5sum' guest 7z 7z a -bso0 t.7z "$in/numbers"
	guest xz sh -c "xz -6 -T2 <'$in/numbers' | xz -d | md5sum"
	guest zstd sh -c "zstd -T2 <'$in/numbers' | zstd -d | md5sum"
	guest bzip2 sh -c "bzip2 <'$in/numbers' | bzip2 -d | md5sum"
	guest brotli sh -c "brotli -c '$in/numbers' | brotli -d | md5sum"
	after='ls tree | wc -l' guest rsync rsync -a "$in/tree" .
	guest sort sort -S 256K --parallel=4 -rn "$in/numbers"
	guest ripgrep sh -c "rg -c 7 '$in/numbers'"
	guest 'find and xargs' sh -c \
		"find '$in/tree' -type f -print0 | sort -z |
		xargs -0 -n 5 -P 3 cat | wc -c"
	guest openssl openssl dgst -sha256 -r "$in/numbers"
	guest curl curl -s "file://$in/numbers"
	guest gpg sh -c "gpg --batch --passphrase x -o n.gpg -c '$in/numbers' &&
		gpg --batch --passphrase x -d n.gpg | md5sum
		gpgconf --kill all"
	guest git sh -c "git init -q r && cd r && cp -r '$in/tree' . &&
		git add . &&
		git -c user.name=a -c user.email=b commit -qm c && git gc -q &&
		git ls-files | wc -l && git fsck"
}

guests_of_media()
{
	guest ffmpeg ffmpeg -v error -i "$in/tone.wav" -af volume=0.5 -f md5 -
	guest 'ffmpeg, video' ffmpeg -v error -f lavfi \
		-i testsrc=d=1:s=160x120 -c:v mpeg4 -f null -
	guest imagemagick sh -c "convert '$in/picture.png' -resize 50% \
		-blur 0x2 rgb:- | md5sum"
	after='soxi -D t.flac' guest sox sox "$in/tone.wav" t.flac tempo 1.5
	guest flac flac -s -c --no-padding "$in/tone.wav"
	after='md5sum <t.png' guest ghostscript \
		gs -q -o t.png -sDEVICE=png16m -r50 "$in/hello.ps"
	guest pdftotext pdftotext "$in/hello.pdf" -
	guest qpdf qpdf --qdf --static-id "$in/hello.pdf" -
	guest gnuplot gnuplot -e 'set terminal dumb; plot sin(x)'
	guest graphviz dot -Tsvg "$in/graph.dot"
	guest pandoc pandoc -t html "$in/text.md"
	guest groff groff -man -Tascii "$in/page.1"
	guest xsltproc xsltproc "$in/count.xsl" "$in/items.xml"
	after='find . -name "*.html" | wc -l' guest doxygen sh -c \
		"printf 'INPUT=%s\nQUIET=YES\nGENERATE_LATEX=NO\n' '$in/tree' |
		doxygen -"
}

suite_guests()
{
	(guest_inputs) >&2 || return
	# Another user may have no access to the build's folder.
	mkdir -p "$work/build"
	cp "$build/hatf" "$build/libhatftrace.so" "$work/build/" || return
	build=$work/build
	guests_chromium
	guests_in_sandboxes
	guests_of_other_runtimes
	guests_with_allocators
	guests_that_compile
	guests_that_interpret
	guests_that_serve
	guests_that_pack
	guests_of_media
}
