/* SPDX-License-Identifier: MIT */
/*
 * writer_calls.c - the writer as the program's threads see it
 *
 * They wake it, ask for something and wait until it is done, and learn where the
 * trace is.
 */

#include <errno.h>
#include <string.h>

#include "preload/lifecycle.h"
#include "preload/process/begin.h"
#include "preload/record/record.h"
#include "preload/record/ringfile.h"
#include "preload/sys/hidden_thread.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"
#include "preload/writer/control.h"
#include "preload/writer/writer_state.h"

/*
 * Not wiped: a child of a fork wants them.  It may come in the midst of a rotation,
 * so the file of the current segment and of the one before take turns.
 */
MEMORY_LARGE static struct file {
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

/* The initial thread's own ring if it is in memory only, so that it may
 * move. */
static struct ring *
own_ring(void)
{
	const struct thread *const t = thread_self;

	return thread_is_attached(t) && t->id == 0 && t->ring->offset == 0
		       ? t->ring
		       : NULL;
}

/* There is no way to write anything: let everybody go on without. */
static void
give_up(void)
{
	lifecycle_set_off();
	writer_set_presence(WRITER_AWAY);
}

/*
 * Give up if somebody has ended the writer thread and no other: a filter of
 * system calls can, which the program has set with an instruction of its own.
 * The writer would have said that it leaves.
 */
static void
give_up_if_killed(enum writer_presence expected)
{
	/*
	 * Twice, since a writer may have left and another one come meanwhile: each is
	 * alive before it says that it is here.  acquire: pairs with the release in
	 * writer_set_presence().
	 */
	for (unsigned look = 0; look < 2; look++)
		if (spawn_is_alive() ||
		    atomic_load_explicit(&writer->presence,
					 memory_order_acquire) != expected)
			return;
	/* A child of a fork that libc does not know of has never had it. */
	if (!lifecycle_is_own())
		return;
	say("the writer thread was killed; not tracing");
	/* What comes is not recorded: recovery must not call the trace complete. */
	ringfile_count_unattached();
	give_up();
}

/* Make the thread; false: that cannot be, which has been said. */
static bool
make_writer(void)
{
	struct output *const o = &writer->trace.output;

	if (!begin_prepare())
		return false;
	/* That of a trace which writer_finish_brief() has written. */
	const int fd = o->fd;

	writer->adopt = own_ring();
	const bool done =
		spawn_thread(writer_main, NULL, fd >= 0 ? &fd : writer->held,
			     fd >= 0 ? 1 : writer->held_count);
	if (!done)
		say("cannot start the writer thread: %s; not tracing",
		    say_errno(errno));
	/* The thread has its own. */
	if (fd >= 0)
		syscall(SYS_close, fd);
	return done;
}

void
writer_summon(void)
{
	const int saved_errno = errno;
	uint32_t away = WRITER_AWAY;

	/* acquire: as below. */
	if (atomic_load_explicit(&writer->presence, memory_order_acquire) ==
	    WRITER_HERE)
		return;
	/* No signal handler must interrupt a thread that others wait for. */
	const uint64_t mask = sys_block_signals();

	/* acq_rel: what a writer before this one has left is seen. */
	const bool is_maker =
		lifecycle_is_tracing() && lifecycle_is_own() &&
		atomic_compare_exchange_strong_explicit(
			&writer->presence, &away, WRITER_COMING,
			memory_order_acq_rel, memory_order_acquire);

	if (is_maker && !make_writer())
		give_up();
	/* acquire: pairs with the release in writer_set_presence(). */
	while (atomic_load_explicit(&writer->presence, memory_order_acquire) ==
	       WRITER_COMING) {
		sys_futex_wait(&writer->presence, WRITER_COMING, 10 * TICK_NS);
		if (is_maker)
			give_up_if_killed(WRITER_COMING);
	}
	/*
	 * A writer that could not begin is gone before the program goes on, which
	 * may look at its threads next.
	 */
	if (is_maker && !lifecycle_is_tracing())
		spawn_await_gone();
	say_rest();
	sys_restore_signals(mask);
	errno = saved_errno;
}

bool
writer_is_here(void)
{
	/* acquire: as in writer_summon(). */
	return atomic_load_explicit(&writer->presence, memory_order_acquire) ==
	       WRITER_HERE;
}

/* Make the writer when events have waited for so long in the ring, or when they
 * take so many words, whatever the ring has room for. */
#define AWAY_MAX_NS    200000000ull
#define AWAY_MAX_WORDS 24576u

/* Has 'hatf ctl' called?  Whoever shares the memory cannot answer. */
static bool
is_called(void)
{
	return record_is_called() && lifecycle_is_own();
}

bool
writer_is_wanted(uint64_t used, uint64_t capacity)
{
	uint64_t since, now;

	/* relaxed: a writer that is here is woken in any case. */
	if (atomic_load_explicit(&writer->presence, memory_order_relaxed) !=
	    WRITER_AWAY)
		return true;
	if (lifecycle_config()->begin_now || used >= capacity / 4 * 3 ||
	    used >= AWAY_MAX_WORDS)
		return lifecycle_is_own();
	if (is_called())
		return true;
	/* relaxed, both: another thread's event at the same time is as good. */
	since = atomic_load_explicit(&writer->away_since_ns,
				     memory_order_relaxed);
	now = sys_clock_ns(CLOCK_MONOTONIC_COARSE);
	if (since == 0)
		atomic_store_explicit(&writer->away_since_ns, now,
				      memory_order_relaxed);
	return since != 0 && now - since > AWAY_MAX_NS && lifecycle_is_own();
}

/* Wake a writer that is there; false: it is not. */
static bool
nudge(void)
{
	/* release: pairs with the acquire in writer_main(); seq_cst for
	 * control_sleep(). */
	atomic_fetch_add_explicit(&writer->wake, 1, memory_order_seq_cst);
	/* seq_cst: a writer that leaves looks at 'wake' after it has said
	 * so. */
	if (atomic_load_explicit(&writer->presence, memory_order_seq_cst) !=
	    WRITER_HERE)
		return false;
	if (!control_wake())
		sys_futex_wake(&writer->wake);
	give_up_if_killed(WRITER_HERE);
	return lifecycle_is_tracing();
}

void
writer_wake(void)
{
	if (!nudge())
		writer_summon();
}

/* How long a look may wait: a writer that need not wait for a disk is
 * faster. */
#define LOOK_MAX_NS NS_PER_SEC

/* Wait until the writer that was asked to leave has answered; true: it is
 * gone. */
static bool
await_departure(uint32_t asked)
{
	const uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);

	/* acquire: pairs with the release in writer_serve_departure(). */
	while (atomic_load_explicit(&writer->departure, memory_order_acquire) ==
		       asked &&
	       lifecycle_is_tracing() && nudge()) {
		if (asked != WRITER_DEPART_FOR_CALL &&
		    sys_clock_ns(CLOCK_MONOTONIC) - start > LOOK_MAX_NS)
			break;
		sys_futex_wait(&writer->departure, asked, 10 * TICK_NS);
	}
	/* acquire: likewise; the files are the caller's to open. */
	if (atomic_load_explicit(&writer->presence, memory_order_acquire) !=
	    WRITER_AWAY)
		return false;
	spawn_await_gone();
	return true;
}

/* Open the files of the trace for the next writer. */
static void
hold_files(void)
{
	const struct output *const o = &writer->trace.output;

	writer->held[WRITER_FILE_TRACE] = output_reopen_trace(o);
	writer->held[WRITER_FILE_FOLDER] = output_open_folder(o->path);
	writer->held[WRITER_FILE_RINGS] = ringfile_reopen();
	writer->held[WRITER_FILE_RINGS_FOLDER] = ringfile_reopen_folder();
	writer->held_count = WRITER_FILES;
	for (unsigned i = 0; i < WRITER_FILES; i++)
		writer->held[i] = output_above_standard(writer->held[i]);
}

bool
writer_depart(bool for_call)
{
	const uint32_t asked =
		for_call ? WRITER_DEPART_FOR_CALL : WRITER_DEPART_ASKED;
	uint32_t none = WRITER_DEPART_NONE;
	bool gone;

	/* release: what the caller has published is seen. */
	if (!atomic_compare_exchange_strong_explicit(
		    &writer->departure, &none, asked, memory_order_acq_rel,
		    memory_order_relaxed))
		return false;
	gone = await_departure(asked);
	/* release: for the next one, if the writer has not answered. */
	atomic_store_explicit(&writer->departure, WRITER_DEPART_NONE,
			      memory_order_release);
	/* Without a trace under way there are no files. */
	if (gone && for_call && writer->has_left)
		hold_files();
	return gone;
}

void
writer_return(void)
{
	writer_summon();
	for (unsigned i = 0; i < writer->held_count; i++)
		if (writer->held[i] >= 0)
			syscall(SYS_close, writer->held[i]);
	writer->held_count = 0;
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
	say_rest();
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

/* Wait until the writer has answered, or is no more. */
static uint32_t
await_following(void)
{
	uint32_t now;

	/* acquire: pairs with the release in serve_follow(), writer.c. */
	while ((now = atomic_load_explicit(&writer->follow,
					   memory_order_acquire)) ==
		       WRITER_FOLLOW_ASKED &&
	       lifecycle_is_tracing()) {
		writer_wake();
		sys_futex_wait(&writer->follow, WRITER_FOLLOW_ASKED,
			       10 * TICK_NS);
	}
	return now;
}

bool
writer_follow(const struct privileges *p)
{
	uint32_t none = WRITER_FOLLOW_NONE;
	bool done;

	/* acquire: after the thread that was here before. */
	while (!atomic_compare_exchange_weak_explicit(
		&writer->follow, &none, WRITER_FOLLOW_TAKEN,
		memory_order_acquire, memory_order_relaxed)) {
		if (!lifecycle_is_tracing())
			return true;
		sys_sleep(TICK_NS / 10);
		none = WRITER_FOLLOW_NONE;
	}
	writer->follow_to = p;
	/* release: pairs with the acquire in serve_follow(), writer.c. */
	atomic_store_explicit(&writer->follow, WRITER_FOLLOW_ASKED,
			      memory_order_release);
	/* A writer that is no more has no privileges. */
	done = await_following() != WRITER_FOLLOW_FAILED;
	/* release: for the next one. */
	atomic_store_explicit(&writer->follow, WRITER_FOLLOW_NONE,
			      memory_order_release);
	return done;
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
	say_rest();
	control_unlink();
	return true;
}

void
writer_await_gone(void)
{
	spawn_await_gone();
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
		/* acquire: pairs with the release in narrate_put_fork(). */
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
