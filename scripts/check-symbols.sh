#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check-symbols.sh - the shared objects export and import only expected symbols
#
# libhatftrace.so shares a process with an unknown program.  It may export only
# the functions that it intercepts, and may import only from libc, and from the
# unwinder if that is loaded.  A program that defines a 'deflate' or a 'crc32'
# must work, and so must the recorder in it.
set -u
cd "$(dirname "$0")/.." || exit 2
build=${BUILD:-build/plain}
status=0

c='malloc free calloc realloc reallocarray memalign posix_memalign
aligned_alloc valloc pvalloc free_sized free_aligned_sized'
# operator new and new[]: plain, nothrow, aligned, and both; operator delete and
# delete[]: the same, and sized.
cxx=$(printf '%s ' _Zn{w,a}m{,St11align_val_t}{,RKSt9nothrow_t} \
	_Zd{l,a}Pv{,m}{,St11align_val_t} \
	_Zd{l,a}Pv{,St11align_val_t}RKSt9nothrow_t)
filters='prctl syscall vfork unshare setns'
means='setrlimit setrlimit64 prlimit prlimit64 mount umount umount2 pivot_root'
looks='opendir fstatat64'
threads='pthread_create pthread_setname_np'
# AddressSanitizer calls this function (preload/interpose/interpose_loader.c).
loader=dl_iterate_phdr
# musl's loader looks these symbols up.  They are hidden, so no other loader
# finds them (preload/interpose/interpose_musl.c).
marks='stdin __libc_start_main'
ends='execv execve execvp execvpe execl execle execlp fexecve execveat
_exit _Exit abort __assert_fail _Fork daemon'
privileges='setuid setgid seteuid setegid setreuid setregid setresuid setresgid
setfsuid setfsgid setgroups initgroups capset chroot'

# The recorder may import these from libc, although a program may define
# functions of the same names.  A program's functions for bytes and strings must
# do the same as libc's.  For exit handlers, fork, threads and the loader, the
# recorder needs libc's own functions.  __libc_single_threaded is a flag of
# libc.  The last line has the steps of daemon(), for a program that calls it.
from_libc='memchr memcmp memcpy memmove memset
strchr strcmp strcspn strlen strncmp strnlen strrchr strstr
__cxa_at_quick_exit __cxa_atexit __cxa_finalize __register_atfork clone
__environ environ __errno_location __libc_stack_end __libc_single_threaded
__stack_chk_fail getauxval pthread_once
__pthread_register_cancel __pthread_unregister_cancel __pthread_unwind_next
__sigsetjmp __x86_get_cpuid_feature_leaf
pthread_self pthread_attr_getstacksize pthread_getattr_default_np sysconf
_r_debug dlerror dlopen dlsym
chdir close dup2 fork open setsid'

client=$(printf 'hatftrace_client_%s ' start stop flush is_recording mark \
	event fields heap_create heap_destroy heap_alloc heap_free heap_realloc)

complain()
{
	echo "$*"
	status=1
}

exports()
{
	nm -D --defined-only --format=posix "$1" | awk '$2 != "A" {
		sub(/@.*/, "", $1); print $1 }' | sort -u
}

# needs_only FILE PATTERN: complain about needed libraries that do not match.
needs_only()
{
	local library

	while read -r library; do
		[[ $library =~ ^($2)$ ]] || complain "$1 needs $library"
	done < <(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
}

check_recorder()
{
	local so=$build/libhatftrace.so name all

	# shellcheck disable=SC2086
	all=$(printf '%s\n' $c $cxx $threads $client $filters $means $looks \
		$ends $privileges $loader $marks | sort -u)
	while read -r name; do
		complain "$so exports $name"
	done < <(comm -23 <(exports "$so") <(echo "$all"))
	while read -r name; do
		complain "$so does not export $name"
	done < <(comm -13 <(exports "$so") <(echo "$all"))
	for name in $marks; do
		readelf -W --dyn-syms "$so" |
			grep -qE " HIDDEN +[0-9]+ $name(@|\$)" ||
			complain "$so does not hide $name"
	done
	# Symbols of libc and the unwinder have versions; the weak symbols come
	# from the start files.
	while read -r name; do
		complain "$so imports $name without a version: any library" \
			"may define it"
	done < <(nm -D --undefined-only --format=posix "$so" |
		awk '$2 != "w" && $1 !~ /@(GLIBC|GCC)_/ { print $1 }')
	# shellcheck disable=SC2086
	while read -r name; do
		complain "$so imports $name from libc, or from a program that" \
			"defines it: put it into preload/sys/raw_syscall.c"
	done < <(nm -D --undefined-only --format=posix "$so" |
		awk '$2 != "w" && sub(/@GLIBC_.*/, "", $1) { print $1 }' |
		sort -u | comm -23 - <(printf '%s\n' $from_libc | sort -u))
	needs_only "$so" 'libc\.so\.6|ld-linux.*'
	readelf -lW "$so" | grep -q 'GNU_STACK.* RW ' ||
		complain "$so has an executable stack"
	readelf -dW "$so" | grep -q TEXTREL &&
		complain "$so has text relocations"
}

check_library()
{
	local so=$build/libhatf.so.0 name

	while read -r name; do
		complain "$so exports $name"
	done < <(exports "$so" | grep -v '^hatf_')
	needs_only "$so" \
		'lib(c|z|deflate|zstd|lz4|expat)\.so\.[0-9]+|ld-linux.*'
	# Each function that hatf.h declares is exported.
	while read -r name; do
		complain "$so does not export $name"
	done < <(comm -13 <(exports "$so") <(tr '\n' ' ' < <(cat hatf/hatf*.h) |
		grep -oE 'HATF_API [^;{]*;' | grep -oE 'hatf_[a-z_]+\(' |
		tr -d '(' | sort -u))
}

check_recorder
check_library
exit $status
