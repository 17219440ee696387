/* SPDX-License-Identifier: MIT */
/*
 * raw_syscall.c - system calls that no other library can intercept
 *
 * A program, or another preloaded library, may export a clock_gettime() that
 * fakes the time, an lstat() that fakes owners, an mmap() that counts or a
 * syscall() that records.  By the loader's rules, our calls would reach such a
 * function, too.  The function may not work inside malloc(), or on the writer
 * thread, of which libc knows nothing.  Therefore this file contains our own,
 * hidden definitions of the thin wrappers of libc that we use.  Calls by name
 * in all our files bind to our definitions. scripts/check-symbols.sh lists the
 * functions that we still take from libc.
 */

#include "preload/sys/raw_syscall.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

void *
mmap(void *p, size_t nbytes, int protection, int flags, int fd, off_t off)
{
	/* On failure, the result is -1, which is MAP_FAILED. */
	return (void *)raw_syscall_result(raw_syscall_call(
		SYS_mmap, (long)p, (long)nbytes, protection, flags, fd, off));
}

/* For calls without O_CREAT only, since this function passes no mode. */
int
open(const char *path, int flags, ...)
{
	return (int)raw_syscall_result(raw_syscall_call(
		SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0));
}

int
close(int fd)
{
	return (int)raw_syscall_result(
		raw_syscall_call(SYS_close, fd, 0, 0, 0, 0, 0));
}

int
munmap(void *p, size_t nbytes)
{
	return (int)raw_syscall_result(raw_syscall_call(
		SYS_munmap, (long)p, (long)nbytes, 0, 0, 0, 0));
}

int
mprotect(void *p, size_t nbytes, int protection)
{
	return (int)raw_syscall_result(raw_syscall_call(
		SYS_mprotect, (long)p, (long)nbytes, protection, 0, 0, 0));
}

int
madvise(void *p, size_t nbytes, int advice)
{
	return (int)raw_syscall_result(raw_syscall_call(
		SYS_madvise, (long)p, (long)nbytes, advice, 0, 0, 0));
}

int
getrlimit(__rlimit_resource_t resource, struct rlimit *limit_ret)
{
	return (int)raw_syscall_result(raw_syscall_call(
		SYS_prlimit64, 0, (long)resource, 0, (long)limit_ret, 0, 0));
}

int
getrusage(__rusage_who_t who, struct rusage *usage_ret)
{
	return (int)raw_syscall_result(raw_syscall_call(
		SYS_getrusage, (long)who, (long)usage_ret, 0, 0, 0, 0));
}

int
lstat(const char *path, struct stat *st_ret)
{
	return fstatat(AT_FDCWD, path, st_ret, AT_SYMLINK_NOFOLLOW);
}

int
fstatat(int dir, const char *restrict path, struct stat *restrict st_ret,
	int flags)
{
	return (int)raw_syscall_result(raw_syscall_call(
		SYS_newfstatat, dir, (long)path, (long)st_ret, flags, 0, 0));
}

int
fstat(int fd, struct stat *st_ret)
{
	return (int)raw_syscall_result(
		raw_syscall_call(SYS_fstat, fd, (long)st_ret, 0, 0, 0, 0));
}

int
uname(struct utsname *name_ret)
{
	return (int)raw_syscall_result(
		raw_syscall_call(SYS_uname, (long)name_ret, 0, 0, 0, 0, 0));
}

int
sched_yield(void)
{
	return (int)raw_syscall_result(
		raw_syscall_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0));
}

/* The clock, read without a system call if the vDSO allows it --- */

#if defined(__x86_64__)
#define VDSO_CLOCK "__vdso_clock_gettime"
#else
#define VDSO_CLOCK "__kernel_clock_gettime"
#endif

typedef int clock_fn(clockid_t, struct timespec *);

static int
clock_by_call(clockid_t id, struct timespec *ts_ret)
{
	return (int)raw_syscall_call(SYS_clock_gettime, id, (long)ts_ret, 0, 0,
				     0, 0);
}

/*
 * The vDSO's base address and tables.  Addresses in the tables are relative to
 * the base.
 */
struct vdso {
	uintptr_t base;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash;
};

static bool
vdso_read(struct vdso *v)
{
	const uintptr_t at = getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *const header = (const void *)at;
	const Elf64_Phdr *segment;
	const Elf64_Dyn *dynamic = NULL;

	if (at == 0)
		return false;
	segment = (const void *)(at + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
		if (segment->p_type == PT_LOAD && segment->p_offset == 0)
			v->base = at - segment->p_vaddr;
		else if (segment->p_type == PT_DYNAMIC)
			dynamic = (const void *)(at + segment->p_offset);
	}
	for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
		const void *const p =
			(const void *)(v->base + dynamic->d_un.d_ptr);

		if (dynamic->d_tag == DT_SYMTAB)
			v->symbols = p;
		else if (dynamic->d_tag == DT_STRTAB)
			v->strings = p;
		else if (dynamic->d_tag == DT_HASH)
			v->hash = p;
	}
	return v->symbols != NULL && v->strings != NULL && v->hash != NULL;
}

static clock_fn *
find_clock(void)
{
	struct vdso v = { 0, NULL, NULL, NULL };

	if (!vdso_read(&v))
		return clock_by_call;
	/* The second word of the hash table is the number of symbols. */
	for (uint32_t i = 0; i < v.hash[1]; i++) {
		const Elf64_Sym *const symbol = &v.symbols[i];

		if (symbol->st_shndx != SHN_UNDEF &&
		    strcmp(v.strings + symbol->st_name, VDSO_CLOCK) == 0)
			return (clock_fn *)(v.base + symbol->st_value);
	}
	return clock_by_call;
}

int
clock_gettime(clockid_t id, struct timespec *ts_ret)
{
	static _Atomic(clock_fn *) found;
	/* relaxed: every thread finds the same function. */
	clock_fn *clock = atomic_load_explicit(&found, memory_order_relaxed);

	if (__builtin_expect(clock == NULL, 0)) {
		clock = find_clock();
		atomic_store_explicit(&found, clock, memory_order_relaxed);
	}
	return (int)raw_syscall_result(clock(id, ts_ret));
}
