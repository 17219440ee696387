/* SPDX-License-Identifier: MIT */
/*
 * wake.h - wake the writer thread, or make it
 *
 * This is the only interface from preload/record to the writer.  Functions of
 * preload/writer are called through a struct wake_calls, which writer_calls.c
 * passes to wake_init().
 */
#ifndef WAKE_H
#define WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Is there a writer thread?  A thread of the program changes AWAY to COMING.
 * The writer changes COMING to HERE when it has its files, or to AWAY if it
 * cannot open them.  A writer that leaves changes HERE to AWAY.  In the child
 * of a fork the memory is wiped, which means AWAY.
 */
enum wake_presence {
	WAKE_AWAY = 0,
	WAKE_COMING,
	WAKE_HERE,
};

/* Part of struct writer, and wiped with it in the child of a fork. */
struct wake {
	_Atomic uint32_t presence; /* enum wake_presence; a futex word */
	/* a futex word; each wake-up of the writer changes it */
	_Atomic uint32_t word;
	/* When wake_is_wanted() first found no writer; 0: not yet. */
	_Atomic uint64_t away_since_ns;
	/*
	 * number of lost events of threads without a ring; the writer sets the
	 * number to 0 when it reports these events in the trace
	 */
	_Atomic uint64_t unattached;
	/* the first of these lost events was reported on standard error */
	_Atomic bool is_loss_reported;
};

/*
 * Functions that wake.c calls.  writer_calls.c sets the pointers.  The
 * functions may change errno.
 */
struct wake_calls {
	/* Make the writer thread.  On failure, report this and return false. */
	bool (*make)(void);
	/*
	 * If the writer sleeps in ppoll(), end its sleep by a signal, and
	 * return true.  Otherwise return false: the caller must wake the futex.
	 */
	bool (*interrupt)(void);
	/* The writer was killed: make recovery mark the trace incomplete. */
	void (*note_killed)(void);
};

/*
 * The thread that starts the trace calls this.  '*wake' and '*calls' must stay
 * mapped, also in the process's children.
 */
void wake_init(struct wake *wake, const struct wake_calls *calls);

/*
 * Wake the writer thread; create it if there is none.  Any thread may call
 * this.  The call makes a few system calls, and many more if it creates the
 * thread.
 */
void wake_writer(void);

/*
 * Wake the writer.  Return false if there is no writer, or if the tracing is
 * over.
 */
bool wake_writer_if_here(void);

/* Is there a writer thread that has its files open? */
bool wake_has_writer(void);
/*
 * A thread of the program: make the writer thread, and with it the trace file
 * if there is none yet.  Return when the writer exists.  If the writer cannot
 * be made, report this in one line on standard error; nothing is recorded from
 * then on.  Make no writer if the tracing is over, or in a child process that
 * shares its parent's memory.  Keeps errno.
 */
void wake_make_writer(void);

/*
 * Must a producer that finds the clock idle wake or make the writer thread?
 * Its ring has 'capacity' words, of which 'used' are in use.  If the answer is
 * no, the producer's events wait in the ring, and the producer gives them
 * stamps or brief ticks (EVENT_FLAG_BRIEF).
 */
bool wake_is_wanted(uint64_t used, uint64_t capacity);

/*
 * Change the presence from AWAY to COMING.  Return false if the writer exists,
 * or if another thread was first.  After success, only the caller may make the
 * writer or do the writer's work, and the caller must call wake_set_presence()
 * afterwards.
 */
bool wake_claim(void);

/*
 * Change the presence and wake the threads that wait for a change.  The writer
 * calls this, and so does a thread that has changed the presence to COMING.
 */
void wake_set_presence(enum wake_presence presence);

/*
 * Count an event that is lost because its thread has no ring.  The trailer has
 * the number of such events.  Report the first one on standard error.
 */
void wake_count_unattached(void);

#endif /* WAKE_H */
