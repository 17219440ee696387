/* SPDX-License-Identifier: MIT */
/* memory_limit.c - see memory_limit.h */

#include "preload/record/memory_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

#include "preload/record/wake.h"
#include "preload/state/process_state.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/*
 * The recorder takes at most 1/SHARE of the memory that the limit leaves to the
 * program.  A trace needs about 10 MiB.  With a SHARE of 8, the recorder could
 * therefore trace no program whose limit is below 80 MiB.
 */
#define SHARE 4u
/*
 * How long to wait for the writer's answer, which may be late on a busy
 * machine, and how often to wake the writer meanwhile.
 */
#define ASK_NS	(2 * NS_PER_SEC)
#define LOOK_NS (NS_PER_SEC / 50)

/*
 * Indices of the fields of /proc/self/statm, from 0.  The values of the fields
 * are numbers of pages.
 */
enum {
	FIELD_SIZE = 0,
	FIELD_DATA = 5,
	FIELD_COUNT
};

/*
 * A number of bytes for each limit: 'all' for RLIMIT_AS, 'data' for
 * RLIMIT_DATA.  read_use() stores how many bytes are in use, and
 * read_headroom() returns how many bytes the recorder may still map.
 */
struct headroom {
	uint64_t all, data;
};

/* was there a limit when the limits were last read? */
static _Atomic bool is_limited;
/*
 * How many bytes the recorder may still map under RLIMIT_AS.  The writer stores
 * this number with each answer, and each thread subtracts the bytes that it
 * takes.
 */
static _Atomic uint64_t left;
/*
 * Futex word: the number of the last question that the writer has answered.
 * memory_limit_take() asks the questions.
 */
static _Atomic uint32_t answered;
static _Atomic uint32_t asked; /* number of questions so far */

/* Read how many bytes are in use.  Return false if /proc cannot be read. */
static bool
read_use(struct headroom *use_ret)
{
	const uint64_t page_nbytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t fields[FIELD_COUNT] = { 0 };
	char text[256];
	unsigned field = 0;
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/statm",
				    O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	const long n = syscall(SYS_read, fd, text, sizeof(text));

	syscall(SYS_close, fd);
	for (long i = 0; i < n && field < FIELD_COUNT; i++) {
		if (text[i] >= '0' && text[i] <= '9')
			fields[field] =
				fields[field] * 10 + (uint64_t)(text[i] - '0');
		else
			field++;
	}
	use_ret->all = fields[FIELD_SIZE] * page_nbytes;
	use_ret->data = fields[FIELD_DATA] * page_nbytes;
	return field == FIELD_COUNT;
}

static uint64_t
subtract(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Return how many more bytes the recorder may map under 'limit': a share of the
 * bytes that the program does not use, less the recorder's own bytes.  'use'
 * bytes are in use, of which 'ours' are the recorder's.
 */
static uint64_t
limit_share(uint64_t limit, uint64_t use, uint64_t ours)
{
	if (limit == RLIM_INFINITY)
		return UINT64_MAX;
	return subtract(subtract(limit, subtract(use, ours)) / SHARE, ours);
}

/* Read both limits.  Return whether there is a limit. */
static bool
read_limits(struct rlimit *all, struct rlimit *data)
{
	*all = *data = (struct rlimit){ RLIM_INFINITY, 0 };
	getrlimit(RLIMIT_AS, all);
	getrlimit(RLIMIT_DATA, data);

	const bool limited = all->rlim_cur != RLIM_INFINITY ||
			     data->rlim_cur != RLIM_INFINITY;

	/*
	 * relaxed: another thread that is making a mapping at this moment may
	 * still read the old value, and then exceed a new limit.  No memory
	 * order could prevent this.
	 */
	atomic_store_explicit(&is_limited, limited, memory_order_relaxed);
	return limited;
}

bool
memory_limit_exists(void)
{
	const int saved_errno = errno;
	struct rlimit all, data;
	const bool limited = read_limits(&all, &data);

	errno = saved_errno;
	return limited;
}

static struct headroom
read_headroom(void)
{
	struct rlimit all, data;
	struct headroom use = { 0, 0 };

	if (read_limits(&all, &data) && !read_use(&use))
		use = (struct headroom){ UINT64_MAX, UINT64_MAX };

	const uint64_t data_ours =
		memory_mapped(MEMORY_LASTING) + memory_mapped(MEMORY_PASSING);
	const uint64_t ours = data_ours + memory_mapped(MEMORY_SHARED);

	return (struct headroom){ limit_share(all.rlim_cur, use.all, ours),
				  limit_share(data.rlim_cur, use.data,
					      data_ours) };
}

bool
memory_limit_allows(size_t private_nbytes, size_t shared_nbytes)
{
	const int saved_errno = errno;
	const struct headroom headroom = read_headroom();

	errno = saved_errno;
	return private_nbytes <= headroom.data &&
	       private_nbytes <= headroom.all &&
	       shared_nbytes <= headroom.all - private_nbytes;
}

void
memory_limit_answer(void)
{
	/*
	 * acquire: pairs with the release in memory_limit_take().  The writer
	 * reads the bytes in use only after the question was asked.
	 */
	const uint32_t n = atomic_load_explicit(&asked, memory_order_acquire);

	/*
	 * relaxed, for 'answered' and for 'left': only the writer stores to
	 * 'answered', and the release below publishes 'left'.
	 */
	if (n == atomic_load_explicit(&answered, memory_order_relaxed))
		return;
	atomic_store_explicit(&left, read_headroom().all, memory_order_relaxed);
	/* release: pairs with the acquire in memory_limit_take(). */
	atomic_store_explicit(&answered, n, memory_order_release);
	sys_futex_wake(&answered);
}

/*
 * Wait until question 'n' is answered.  Return false if there is no answer in
 * time, or if the trace ends meanwhile.
 */
static bool
await_answer(uint32_t n)
{
	const uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);

	while (process_is_tracing() &&
	       sys_clock_ns(CLOCK_MONOTONIC) - start < ASK_NS) {
		/* acquire: pairs with the release in memory_limit_answer(). */
		const uint32_t seen =
			atomic_load_explicit(&answered, memory_order_acquire);

		if ((int32_t)(seen - n) >= 0)
			return true;
		wake_writer();
		sys_futex_wait(&answered, seen, LOOK_NS);
	}
	return false;
}

bool
memory_limit_take(size_t shared_nbytes)
{
	uint64_t now;

	if (!atomic_load_explicit(&is_limited, memory_order_relaxed))
		return true;
	/* release: pairs with the acquire in memory_limit_answer(). */
	if (!await_answer(1 + atomic_fetch_add_explicit(&asked, 1,
							memory_order_release)))
		return false;
	/*
	 * relaxed, all accesses: 'left' is a mere number, and the acquire in
	 * await_answer() has made the answer's value visible.
	 */
	now = atomic_load_explicit(&left, memory_order_relaxed);
	while (now >= shared_nbytes)
		if (atomic_compare_exchange_weak_explicit(
			    &left, &now, now - shared_nbytes,
			    memory_order_relaxed, memory_order_relaxed))
			return true;
	return false;
}
