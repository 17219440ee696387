/* SPDX-License-Identifier: MIT */
/*
 * writer_calls.c - the writer as the program's threads see it
 *
 * They wake it, ask for something and wait until it is done, and learn where the
 * trace is.
 */

#include <string.h>

#include "control.h"
#include "lifecycle.h"
#include "ringfile.h"
#include "say.h"
#include "spawn.h"
#include "sys.h"
#include "writer_state.h"

/*
 * Not wiped: a child of a fork wants them.  It may come in the midst of a rotation,
 * so the file of the current segment and of the one before take turns.
 */
static struct file {
	uint64_t segment;
	char path[sizeof(((struct output *)NULL)->path)];
} files[2];
static _Atomic uint32_t file_idx;
static _Atomic uint64_t event_count; /* of the segment */

void
writer_note_file(void)
{
	/* relaxed: only this thread, or one before it, writes it. */
	const uint32_t next =
		!atomic_load_explicit(&file_idx, memory_order_relaxed);
	const char *const path = writer->trace.output.path;

	files[next].segment = writer->segment.number;
	memcpy(files[next].path, path, strlen(path) + 1);
	atomic_store_explicit(&event_count, 0, memory_order_relaxed);
	/* release: pairs with the acquire in current_file(). */
	atomic_store_explicit(&file_idx, next, memory_order_release);
}

void
writer_wake(void)
{
	/* release: pairs with the acquire in writer_main(); seq_cst for
	 * control_sleep(). */
	atomic_fetch_add_explicit(&writer->wake, 1, memory_order_seq_cst);
	if (!control_wake())
		sys_futex_wake(&writer->wake);
}

void
writer_finish(enum writer_end end)
{
	uint32_t none = 0;
	/* acquire: pairs with the release in answer(). */
	const uint32_t done =
		atomic_load_explicit(&writer->done, memory_order_acquire);

	/* Another thread is at it already: one trailer does for both. */
	atomic_compare_exchange_strong_explicit(
		&writer->request, &none, (uint32_t)end + 1,
		memory_order_acq_rel, memory_order_acquire);
	while (lifecycle_is_tracing() &&
	       atomic_load_explicit(&writer->done, memory_order_acquire) ==
		       done) {
		writer_wake();
		sys_futex_wait(&writer->done, done, 10 * TICK_NS);
	}
}

bool
writer_obey(enum writer_order order)
{
	bool done = false;
	uint32_t none = WRITER_ORDER_NONE;

	/* One thread at a time; release: see writer_serve_client(). */
	while (!atomic_compare_exchange_strong_explicit(
		&writer->client_order, &none, order, memory_order_acq_rel,
		memory_order_relaxed)) {
		if (!lifecycle_is_tracing())
			return false;
		sys_futex_wait(&writer->client_order, none, 10 * TICK_NS);
		none = WRITER_ORDER_NONE;
	}
	while (lifecycle_is_tracing()) {
		writer_wake();
		sys_futex_wait(&writer->client_order, order, 10 * TICK_NS);
		/* acquire: pairs with the release in writer_serve_client(). */
		if (atomic_load_explicit(&writer->client_order,
					 memory_order_acquire) != order)
			break;
	}
	/* relaxed: another thread's order may have followed; as it is. */
	done = atomic_load_explicit(&writer->client_done, memory_order_relaxed);
	return done && lifecycle_is_tracing();
}

bool
writer_end_dormant(void)
{
	/* seq_cst, both: either start_recording() sees the flag, or we see that
	 * it has begun; a stop that has not come to its end is no dormancy. */
	atomic_store_explicit(&writer->is_ending, true, memory_order_seq_cst);
	if (!atomic_load_explicit(&writer->is_dormant, memory_order_seq_cst))
		return false;
	/* A file that the writer must remove. */
	if (ringfile_path() != NULL)
		return false;
	control_unlink();
	return true;
}

void
writer_await_gone(void)
{
	while (spawn_is_alive())
		sys_sleep(TICK_NS / 10);
}

void
writer_resume(void)
{
	/* release: pairs with the acquire in resume(). */
	atomic_store_explicit(&writer->resume, 1, memory_order_release);
	/* acquire: the ring may be another one now, at the same place. */
	while (lifecycle_is_tracing() &&
	       atomic_load_explicit(&writer->resume, memory_order_acquire) !=
		       0) {
		writer_wake();
		sys_futex_wait(&writer->resume, 1, 10 * TICK_NS);
	}
}

bool
writer_await_fork(uint64_t ticket, uint64_t timeout_ns,
		  struct writer_place *place_ret)
{
	const uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);
	const size_t i = ticket % NARRATE_FORKS_MAX;
	uint32_t done;

	while (lifecycle_is_tracing() &&
	       sys_clock_ns(CLOCK_MONOTONIC) - start < timeout_ns) {
		done = atomic_load_explicit(&writer->done,
					    memory_order_acquire);
		/* acquire: pairs with the release in put_fork(), narrate.c. */
		if (atomic_load_explicit(&writer->trace.narrator.fork[i].ticket,
					 memory_order_acquire) == ticket) {
			place_ret->segment =
				writer->trace.narrator.fork[i].segment;
			place_ret->event = writer->trace.narrator.fork[i].event;
			return true;
		}
		writer_wake();
		sys_futex_wait(&writer->done, done, TICK_NS / 10);
	}
	return false;
}

void
writer_note_events(uint64_t n)
{
	/* relaxed: it need not be exact. */
	atomic_store_explicit(&event_count, n, memory_order_relaxed);
}

static const struct file *
current_file(void)
{
	/* acquire: pairs with the release in writer_note_file(). */
	return &files[atomic_load_explicit(&file_idx, memory_order_acquire)];
}

struct writer_place
writer_place(void)
{
	return (struct writer_place){
		.segment = current_file()->segment,
		.event = atomic_load_explicit(&event_count,
					      memory_order_relaxed),
	};
}

const char *
writer_path(uint64_t segment)
{
	const struct file *const current = current_file();
	const struct file *const other = &files[current == files];

	return other->segment == segment && other->path[0] != '\0' &&
			       current->segment != segment
		       ? other->path
		       : current->path;
}

void
writer_count_unattached(void)
{
	/* relaxed, both: a count, and once is enough. */
	atomic_fetch_add_explicit(&writer->unattached, 1, memory_order_relaxed);
	if (!atomic_exchange_explicit(&writer->is_loss_told, true,
				      memory_order_relaxed))
		say("no memory for a thread's buffer; events are lost, and "
		    "counted");
	ringfile_count_unattached();
}
