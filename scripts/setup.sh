#!/bin/sh
# SPDX-License-Identifier: MIT
#
# setup.sh - install what hatftrace needs on a Debian machine
#
# usage: scripts/setup.sh [build|test|bench|fuzz|suites|guests]
#
# Each of build, test and bench includes the one before; fuzz, suites and guests
# include test.  The script installs only missing packages.  If all are there,
# it needs neither root nor a network.
set -eu

build='gcc g++ make pkg-config libisal-dev libdeflate-dev zlib1g-dev
libjansson-dev libzstd-dev liblz4-dev libexpat1-dev libdw-dev libiberty-dev
libcairo2-dev'

# Analysers and compilers, then programs and allocators that tests record.  The
# tests of the report's page also use npm, if it is there: Debian's package has
# 400 dependencies.  The tests of languages and profiles also use the compilers
# of Rust, Go, D and OCaml, if they are there: the guests below have them.
test='check valgrind clang clang-format clang-tidy shellcheck mandoc binutils
file procps jq strace libc-devtools locales elfutils libunwind-dev
python3 python3-numpy python3-venv python3-setuptools python3-wheel
perl sqlite3 gawk xz-utils zstd lz4 pigz libxml2-utils
redis-server redis-tools memcached nginx-light postgresql
chromium nodejs
libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0 libgc-dev
heaptrack faketime musl-tools'

# The other recorders that 'make bench-capture' measures; liblttng-ust-dev has
# the liblttng-ust-libc-wrapper.so that LTTng's documentation preloads.
# tests/bench/regressions.sh builds source packages, and validates results.
bench='lttng-tools liblttng-ust-dev
dpkg-dev npm python3-jsonschema python3-junitparser'

# A second fuzzer beside clang's own; llvm reports the coverage.
fuzz='afl++ llvm'

# Programs with test suites of their own (scripts/real-suites.sh).
suites='stress-ng tcl'

# Real programs for small jobs (scripts/guests.sh): programs that sandbox
# themselves, other runtimes, compilers, interpreters, servers, archivers, and
# programs for media and documents.
guests='chromium chromium-sandbox bubblewrap firejail runc podman
golang-go musl-tools libgoogle-perftools4
php-cli r-base-core nodejs ruby lua5.4 tcl guile-3.0 sbcl erlang-base
swi-prolog-nox gforth bc octave
gfortran gdc rustc ocaml-nox ghc fp-compiler tcc nasm default-jdk-headless
apache2-bin haproxy bind9-utils dnsmasq-base unbound mariadb-server-core
postgresql lmdb-utils
zip unzip p7zip-full brotli rsync bzip2
ffmpeg imagemagick sox flac ghostscript poppler-utils qpdf gnuplot-nox graphviz
pandoc groff-base xsltproc
git cmake ninja-build m4 bison flex gdb curl openssl gnupg vim emacs-nox ripgrep
doxygen faketime'

policy=/usr/sbin/policy-rc.d
sudo=

missing()
{
	for package; do
		case $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" \
			2>/dev/null) in
		ii*) ;;
		*) printf '%s\n' "$package" ;;
		esac
	done
}

# Keep packages from starting their servers: policy-rc.d denies this by exit
# status 101.
forbid_services()
{
	[ ! -e "$policy" ] || return 0
	printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
	$sudo chmod 755 "$policy"
	trap '$sudo rm -f "$policy"' EXIT
	trap 'exit 1' HUP INT TERM
}

install_packages()
{
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || {
			echo "setup.sh: run this as root:" \
				"apt-get install $*" >&2
			exit 1
		}
		sudo=sudo
	fi
	echo "setup.sh: installing $*"
	forbid_services
	# Go on if an unrelated source in sources.list fails: apt-get install
	# fails if a package is really unavailable.
	$sudo apt-get -q -o Acquire::Retries=3 update ||
		echo 'setup.sh: apt-get update failed; trying to install' >&2
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
		-o Dpkg::Use-Pty=0 install --no-install-recommends "$@"
}

need()
{
	# Let the shell split: package names have no blanks.
	# shellcheck disable=SC2046
	set -- $(missing "$@")
	[ $# -eq 0 ] || install_packages "$@"
}

case ${1:-build} in
build) packages=$build ;;
test) packages="$build $test" ;;
bench) packages="$build $test $bench" ;;
fuzz) packages="$build $test $fuzz" ;;
suites) packages="$build $test $suites" ;;
guests) packages="$build $test $guests" ;;
*)
	echo 'usage: scripts/setup.sh [build|test|bench|fuzz|suites|guests]' >&2
	exit 2
	;;
esac
if ! command -v apt-get >/dev/null; then
	echo 'setup.sh: this is not Debian: README.md lists the packages' >&2
	exit 1
fi
# shellcheck disable=SC2086
need $packages
if [ "${1:-build}" = suites ]; then
	need "libpython$(/usr/bin/python3 -c 'import sys
print("%d.%d" % sys.version_info[:2])')-testsuite"
fi
if command -v clang >/dev/null; then
	# The package of clang's sanitizers has clang's version in its name.
	version=$(clang -dumpversion)
	need "libclang-rt-${version%%.*}-dev"
fi
