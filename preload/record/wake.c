/* SPDX-License-Identifier: MIT */
/* wake.c - see wake.h */

#include "preload/record/wake.h"

#include <errno.h>
#include <stddef.h>

#include "preload/config/environment.h"
#include "preload/confine/hidden_thread.h"
#include "preload/record/record.h"
#include "preload/state/own_slot.h"
#include "preload/state/process_state.h"
#include "preload/sys/say.h"
#include "preload/sys/sys.h"

/*
 * A thread that waits for the writer reads 'presence' again after this time.
 */
#define LOOK_NS 10000000ull

/*
 * Without a writer, events wait in the ring.  Make the writer when events have
 * waited for this long, or when they take this many words, even if the ring has
 * room.
 */
#define AWAY_MAX_NS    200000000ull
#define AWAY_MAX_WORDS 24576u

/* In the child of a fork '*wake' is wiped, but these pointers are not. */
static struct wake *wake;
static const struct wake_calls *calls;

void
wake_init(struct wake *its_wake, const struct wake_calls *its_calls)
{
	wake = its_wake;
	calls = its_calls;
}

static enum wake_presence
get_presence(void)
{
	/* acquire: pairs with the release in wake_set_presence(). */
	return atomic_load_explicit(&wake->presence, memory_order_acquire);
}

void
wake_set_presence(enum wake_presence presence)
{
	/* release: pairs with the acquire in get_presence(). */
	atomic_store_explicit(&wake->presence, presence, memory_order_release);
	sys_futex_wake(&wake->presence);
}

bool
wake_claim(void)
{
	uint32_t away = WAKE_AWAY;

	/* acq_rel: the caller sees everything that the previous writer did. */
	return atomic_compare_exchange_strong_explicit(
		&wake->presence, &away, WAKE_COMING, memory_order_acq_rel,
		memory_order_acquire);
}

/*
 * End the tracing, and release the threads that wait for a writer.  Call this
 * if no writer can be made, or if the writer was killed.
 */
static void
give_up(void)
{
	process_move(PROCESS_WRITER_OVER);
	wake_set_presence(WAKE_AWAY);
}

/*
 * Give up if the writer thread was killed: there is no writer thread, although
 * the presence is still 'expected'.  A filter that the program has installed by
 * its own system call instruction can kill the writer thread and no other
 * thread.  A writer that leaves changes the presence before its thread ends.
 */
static void
give_up_if_killed(enum wake_presence expected)
{
	/*
	 * Check twice, because one check may be wrong: one writer has just
	 * left, so hidden_thread_is_alive() returns false; then another writer
	 * comes, and get_presence() returns the presence that this new writer
	 * has set.  The second check then finds the new writer alive, because a
	 * writer is alive before it sets WAKE_HERE.
	 */
	for (unsigned look = 0; look < 2; look++)
		if (hidden_thread_is_alive() || get_presence() != expected)
			return;
	/*
	 * Ignore the missing writer in a child process, which may never have
	 * had one, for example after a fork that bypassed libc.
	 */
	if (!process_is_own())
		return;
	say("the writer thread was killed; nothing is recorded from now on");
	/* This makes recovery mark the trace as incomplete. */
	calls->note_killed();
	give_up();
}

void
wake_make_writer(void)
{
	const int saved_errno = errno;

	if (get_presence() == WAKE_HERE)
		return;
	/*
	 * Other threads wait for this thread, so no signal handler may
	 * interrupt this thread.
	 */
	const uint64_t mask = sys_block_signals();
	const bool is_maker =
		process_is_tracing() && process_is_own() && wake_claim();

	if (is_maker && !calls->make())
		give_up();
	while (get_presence() == WAKE_COMING) {
		sys_futex_wait(&wake->presence, WAKE_COMING, LOOK_NS);
		if (is_maker)
			give_up_if_killed(WAKE_COMING);
	}
	/*
	 * If the writer could not begin, wait until the writer thread is gone,
	 * because the program may next count the threads of the process.
	 */
	if (is_maker && !process_is_tracing())
		hidden_thread_join();
	say_rest();
	sys_restore_signals(mask);
	errno = saved_errno;
}

bool
wake_has_writer(void)
{
	return get_presence() == WAKE_HERE;
}

bool
wake_is_wanted(uint64_t used, uint64_t capacity)
{
	uint64_t since, now;

	/* relaxed: only a hint.  wake_writer() reads the presence again. */
	if (atomic_load_explicit(&wake->presence, memory_order_relaxed) !=
	    WAKE_AWAY)
		return true;
	if (environment_own()->begin_now || used >= capacity / 4 * 3 ||
	    used >= AWAY_MAX_WORDS)
		return process_is_own();
	if (own_slot_is_called() && own_slot_has_order())
		return true;
	/*
	 * relaxed, both: if two threads find no writer at the same time and
	 * both store their time, either time will do.
	 */
	since = atomic_load_explicit(&wake->away_since_ns,
				     memory_order_relaxed);
	now = sys_clock_ns(CLOCK_MONOTONIC_COARSE);
	if (since == 0)
		atomic_store_explicit(&wake->away_since_ns, now,
				      memory_order_relaxed);
	return since != 0 && now - since > AWAY_MAX_NS && process_is_own();
}

bool
wake_writer_if_here(void)
{
	/*
	 * seq_cst: before the writer sleeps in ppoll(), it stores that it
	 * sleeps, and then reads the word.  So either the writer sees the new
	 * word, or calls->interrupt() sees that the writer sleeps.  This store
	 * also pairs, as a release, with the acquire in writer_main().
	 */
	atomic_fetch_add_explicit(&wake->word, 1, memory_order_seq_cst);
	/*
	 * seq_cst: before a writer leaves, it changes the presence, and then
	 * reads the word.  So either this thread sees the new presence, or the
	 * writer sees the new word and stays.
	 */
	if (atomic_load_explicit(&wake->presence, memory_order_seq_cst) !=
	    WAKE_HERE)
		return false;
	if (!calls->interrupt())
		sys_futex_wake(&wake->word);
	give_up_if_killed(WAKE_HERE);
	return process_is_tracing();
}

void
wake_writer(void)
{
	if (!wake_writer_if_here())
		wake_make_writer();
}

void
wake_count_unattached(void)
{
	/* relaxed, both: the count and the flag publish no other data. */
	atomic_fetch_add_explicit(&wake->unattached, 1, memory_order_relaxed);
	if (!atomic_exchange_explicit(&wake->is_loss_reported, true,
				      memory_order_relaxed))
		say("a thread got no buffer (no memory, or too many threads or "
		    "nested signal handlers); its events are counted as lost");
}
