#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-fresh.sh - run the demo and the tests in a clone on a minimal Debian
#
# usage: scripts/check-fresh.sh [COMMAND]
#
# The README gives two commands for a new machine; this script tests both.  Run
# it as root before each release.  It takes half an hour and downloads about
# 500 MB.  It installs a minimal Debian (debootstrap --variant=minbase) in a
# folder below TMPDIR, or /var/tmp, clones this repository's HEAD into it, and
# runs scripts/demo.sh and scripts/check.sh there, or COMMAND instead.  It uses
# the release and the mirror that apt is configured for.
#
# All mounts and processes are in namespaces of this script's own.  However the
# script ends, the kernel removes the mounts and kills the processes, and an
# ordinary folder remains to be removed.
set -eu
cd "$(dirname "$0")/.."

say()
{
	echo "check-fresh.sh: $*"
}

die()
{
	say "$@" >&2
	exit 1
}

# source_of_debian: set 'suite', 'mirror' and 'keyring' as apt is configured.
source_of_debian()
{
	local signed

	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?}")
	# shellcheck disable=SC2016 # apt-get expands them
	read -r mirror signed < <(apt-get indextargets \
		--format '$(CODENAME) $(COMPONENT) $(REPO_URI) $(SIGNED_BY)' \
		'Created-By: Packages' | sed -n "s/^$suite main //p") ||
		die "apt has no source for the packages of $suite"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -e "$signed" ] || keyring=$signed
}

# Print apt's network settings, for debootstrap and for apt in the new root.
settings_of_apt()
{
	apt-config dump | grep -E '^Acquire::(https?::|Retries|Check-)' || :
}

export_proxy()
{
	local proxy

	proxy=$(apt-config dump --format '%v%n' Acquire::http::Proxy)
	[ -z "$proxy" ] || export "http_proxy=$proxy"
}

make_root()
{
	say "$suite from $mirror into $root"
	export_proxy
	debootstrap --variant=minbase --keyring="$keyring" "$suite" "$root" \
		"$mirror" >"$folder/debootstrap.log" 2>&1 || {
		tail -n 20 "$folder/debootstrap.log"
		die 'debootstrap failed'
	}
	settings_of_apt >"$root/etc/apt/apt.conf.d/99machine"
	cp /etc/hosts "$root/etc/hosts"
	mount -t proc proc "$root/proc"
	mount -t sysfs -o ro sysfs "$root/sys"
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
	mount -t tmpfs tmpfs "$root/dev/shm"
}

# in_root COMMAND...: run COMMAND in the clone, with a minimal environment.
in_root()
{
	local start=$SECONDS status=0 path=/bin

	path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:$path

	say "running $*"
	# shellcheck disable=SC2016 # the shell in the new root expands it
	env -i PATH=$path HOME=/root TERM=dumb chroot "$root" \
		/bin/bash -c 'cd /root/hatftrace && exec "$@"' bash "$@" \
		</dev/null || status=$?
	say "$*: exit status $status after $((SECONDS - start)) s"
	return "$status"
}

# inside [COMMAND...]: what this script runs inside the namespaces.
inside()
{
	local status=0

	source_of_debian
	make_root
	git -c advice.detachedHead=false clone -q --no-hardlinks . \
		"$root/root/hatftrace"
	if [ $# -gt 0 ]; then
		in_root "$@" || status=1
	else
		in_root scripts/demo.sh || status=1
		in_root scripts/check.sh || status=1
	fi
	return "$status"
}

if [ -n "${CHECK_FRESH_FOLDER-}" ]; then
	folder=$CHECK_FRESH_FOLDER root=$folder/root
	inside "$@"
	exit
fi

[ "$(id -u)" -eq 0 ] || die 'run this as root'
for tool in debootstrap git unshare setpriv; do
	command -v $tool >/dev/null || die "no $tool: apt-get install $tool"
done
[ -z "$(git status --porcelain)" ] ||
	say 'the clone lacks your uncommitted changes'
commit=$(git rev-parse --short HEAD)
CHECK_FRESH_FOLDER=$(mktemp -d "${TMPDIR:-/var/tmp}/hatf-fresh.XXXXXX")
export CHECK_FRESH_FOLDER
chmod 755 "$CHECK_FRESH_FOLDER"

# When this script ends, the kernel kills 'unshare' (setpriv --pdeathsig) and
# then the first process of the namespaces (--kill-child).  Then it removes the
# namespaces.
clean_up()
{
	[ -z "${inside-}" ] || kill -KILL "$inside" 2>/dev/null || :
	wait
	while ! rm -rf --one-file-system "$CHECK_FRESH_FOLDER"; do
		sleep 1
	done
}

trap clean_up EXIT
trap 'exit 1' HUP INT TERM
setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork \
	--kill-child --mount-proc "$0" "$@" &
inside=$!
status=0
wait $inside || status=$?
if [ "$status" -eq 0 ]; then
	say "passed at $commit"
else
	say "FAILED at $commit"
fi
exit "$status"
