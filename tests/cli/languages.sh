#!/bin/bash
# SPDX-License-Identifier: MIT
#
# languages.sh - names of C++, Rust, D and OCaml are as in their sources
#
# clang and rustc write no .debug_aranges or define functions inside of
# namespaces.  There, too, each frame has its line, and inlined functions are
# frames.  A language without a compiler here is left out.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

"$HATF" symbolize none.hatf 2>&1 | grep -q libdw && skip 'a build without libdw'
for program in python3 addr2line; do
	command -v $program >/dev/null || skip "no $program"
done
[ "$(uname -m)" = x86_64 ] || skip 'stacks are recorded on x86-64 only'
tried=0

# frames SIZE: print the stack of the block of this size, one frame a line.
frames()
{
	"$HATF" dump --stacks t.hatf | awk -v size="size=$1" '
		/^[0-9]/ { on = $2 == "alloc" && $3 == size; next }
		on { print }' | sed 's/^ *//; s,(/[^ ]*/\([^/ ]*\))$,(\1),'
}

# record PROGRAM...
record()
{
	tried=$((tried + 1))
	rm -f t.hatf
	"$HATF" record -o t.hatf "$@" >out 2>err || fail "$1: $(cat err)"
	"$HATF" dump --stacks t.hatf | grep -E ' (_Z|_R|_D[0-9]|caml[A-Z])' &&
		fail "$1: mangled names"
}

# compare PROGRAM LEAST: at least so many addresses are what binutils says.
compare()
{
	"$HATF" dump --meta --format json t.hatf |
		python3 "$CLI/addr2line.py" "$1" >said 2>&1
	check "$1: $(head -1 said) addresses: addr2line" \
		"$(sed 1d said)" ''
	[ "$(head -1 said)" -ge "$2" ] || fail "$1: few addresses"
}

# rust MANGLING FRAME...: the program has these frames, one after another.
rust()
{
	local mangling=$1 want

	shift
	# Without this variable, the option is for later compilers.
	RUSTC_BOOTSTRAP=1 rustc -g -O -Z unstable-options \
		-C "symbol-mangling-version=$mangling" -o rust rust.rs \
		>out 2>&1 || fail "rustc: $(cat out)"
	record ./rust
	for want; do
		{
			frames 4242
			frames 24000
		} | grep -qxF "$want" || fail "rust $mangling: no $want"
	done
	# Between the function and the allocator are functions of the library.
	frames 4242 | sed '/leak_here/,$d' |
		grep -q '^alloc::.*\.rs:[0-9]*)$' ||
		fail "rust $mangling: no inlined functions"
	compare rust 15
}

cat >rust.rs <<'END'
mod shapes {
    pub trait Grow {
        fn grow(&mut self, n: usize);
    }
    pub struct Heap<T>(pub Vec<Vec<T>>);
    impl<T: Clone + Default> Grow for Heap<T> {
        #[inline(never)]
        fn grow(&mut self, n: usize) {
            self.0.push(vec![T::default(); n]);
        }
    }
}
use shapes::Grow;

#[inline(never)]
fn leak_here() -> *mut [u8] {
    Box::into_raw(vec![1u8; 4242].into_boxed_slice())
}

fn main() {
    let mut heap = shapes::Heap::<u64>(Vec::new());
    heap.grow(3000);
    println!("{:?} {}", leak_here(), heap.0.len());
}
END
if command -v rustc >/dev/null && rustc --version >/dev/null 2>&1; then
	set -- 'rust::leak_here (rust.rs:17)' 'rust::main (rust.rs:23)'
	grow='as rust::shapes::Grow>::grow (rust.rs:9)'
	rust legacy "$@" "<rust::shapes::Heap<T> $grow"
	rust v0 "$@" "<rust::shapes::Heap<u64> $grow"
fi

# ----------------------------------------------------------------------- C++
cat >space.cc <<'END'
#include <cstdlib>

namespace outer {
namespace {
template<class T> struct inner {
	static inline __attribute__((always_inline)) void *
	get(T n)
	{
		return malloc(n);
	}
};
}

__attribute__((noinline)) void *
take(int n)
{
	void *volatile p = inner<int>::get(n);

	return p;
}

struct pool {
	int n = 4343;
	__attribute__((noinline)) void *fill() { return take(n); }
};
}

int
main()
{
	void *volatile p = outer::take(4242), *volatile q;
	outer::pool pool;

	q = pool.fill();
	return p == q;
}
END
for compiler in 'clang++ -gdwarf-4' 'clang++ -gdwarf-5' \
	'clang++ -g -ffunction-sections' 'clang++ -g -O0'; do
	command -v clang++ >/dev/null || continue
	# shellcheck disable=SC2086 # several words
	$compiler -O1 -o space space.cc || fail "$compiler"
	record ./space
	frames 4242 | grep -B9 ' (space.cc:' >got
	sed -i '/^__libc/,$d' got
	check_text "$compiler" got <<'END'
outer::(anonymous namespace)::inner<int>::get(int) (space.cc:9)
outer::take(int) (space.cc:17)
main (space.cc:31)
END
	# binutils 2.40 loses inlined functions in DWARF 5 of clang.
	[ "${compiler%-4}" = "$compiler" ] || compare space 4
	check "$compiler: a method" "$(frames 4343 | sed -n 3p)" \
		'outer::pool::fill() (space.cc:24)'
done

# --------------------------------------------------------------------- OCaml
cat >oc.ml <<'END'
module Pool = struct
  let ( +++ ) a b = Bytes.length a + Bytes.length (Bytes.make b 'x')
end

let rec leak_here n =
  if n = 0 then Bytes.make 40_000_000 'x'
  else
    let b = leak_here (n - 1) in
    Bytes.set b 0 'y';
    b

let () =
  let open Pool in
  print_int (leak_here 3 +++ 90_000_000)
END
if command -v ocamlopt >/dev/null; then
	ocamlopt -g -o oc oc.ml >out 2>&1 || fail "ocamlopt: $(cat out)"
	record ./oc
	"$HATF" dump --stacks t.hatf >shown
	for want in 'Oc.leak_here_[0-9]* (/.*oc.ml:8)' \
		'Oc.+++_[0-9]* (/.*oc.ml:2)' 'Oc.entry (/.*oc.ml:14)'; do
		grep -q "^ *$want\$" shown || fail "OCaml: no $want"
	done
fi

# ------------------------------------------------------------------------- D
cat >dee.d <<'END'
module dee;
import core.stdc.stdlib;

struct Pool(T)
{
    static void* take(int n)
    {
        return malloc(n);
    }
}

void* leakHere(int n)
{
    return Pool!int.take(n);
}

int main()
{
    return leakHere(4242) is null;
}
END
if command -v gdc >/dev/null; then
	gdc -g -O0 -o dee dee.d >out 2>&1 || fail "gdc: $(cat out)"
	record ./dee
	frames 4242 | head -3 >got
	check_text D got <<'END'
dee.Pool!(int).Pool.take(int) (dee.d:8)
dee.leakHere(int) (dee.d:14)
D main (dee.d:19)
END
fi

[ $tried -gt 0 ] || skip 'no compilers'
finish
