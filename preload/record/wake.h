/* SPDX-License-Identifier: MIT */
/*
 * wake.h - wake the writer thread, or make it
 *
 * This is all that the recording side knows of the writer.  Where it needs a
 * function of preload/writer, it calls it through a struct wake_calls, which
 * writer_calls.c passes to wake_init().
 */
#ifndef WAKE_H
#define WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Is there a writer thread?  A thread of the program changes AWAY to COMING.
 * The writer changes COMING to HERE when it has its files, or to AWAY if it
 * cannot have them.  In the child of a fork the memory is wiped: AWAY.
 */
enum wake_presence {
	WAKE_AWAY = 0,
	WAKE_COMING,
	WAKE_HERE,
};

/* Part of struct writer, and wiped with it in the child of a fork. */
struct wake {
	_Atomic uint32_t presence; /* enum wake_presence; a futex word */
	_Atomic uint32_t word;	   /* futex: changed to wake the writer */
	/* Time of the first event without a writer; 0: there was none. */
	_Atomic uint64_t away_since_ns;
	_Atomic uint64_t unattached;   /* events of threads without a ring */
	_Atomic bool is_loss_reported; /* a line has said so */
};

/* Functions of writer_calls.c; they may change errno. */
struct wake_calls {
	/* Make the writer thread.  False: that failed, and was reported. */
	bool (*make)(void);
	/* End the writer's sleep.  False: the caller must wake the futex. */
	bool (*interrupt)(void);
	/* Note that the writer was killed: later events are not recorded. */
	void (*note_killed)(void);
};

/*
 * The thread that starts the trace calls this.  Both must stay mapped, also in
 * the process's children.
 */
void wake_init(struct wake *wake, const struct wake_calls *calls);

/*
 * Any thread: wake the writer, and make it if there is none.  A few system
 * calls at most, unless the thread has to be made.
 */
void wake_writer(void);

/* Wake the writer.  False: there is none. */
bool wake_writer_if_here(void);

/* Is there a writer thread, with its files? */
bool wake_has_writer(void);
/*
 * A thread of the program: make the writer thread, and with it the trace file
 * if there is none yet.  Return when the writer exists.  If it cannot be made,
 * one line on standard error says so, and nothing is recorded from then on.
 * Keeps errno.
 */
void wake_make_writer(void);

/*
 * Must a producer that finds the clock idle wake or make the writer thread?
 * Its ring holds 'used' words, of 'capacity'.  If not, its events wait in the
 * ring, each with a stamp.
 */
bool wake_is_wanted(uint64_t used, uint64_t capacity);

/*
 * Change the presence from AWAY to COMING.  On success only the caller may make
 * the writer, or do its work, and must call wake_set_presence() afterwards.
 * False: the writer exists, or another thread was first.
 */
bool wake_claim(void);

/*
 * Change the presence and wake the threads that wait for that.  For the thread
 * that has changed it to COMING, and for the writer.
 */
void wake_set_presence(enum wake_presence presence);

/*
 * Count an event whose thread has no ring; the trailer has the number.  The
 * first one is reported on standard error.
 */
void wake_count_unattached(void);

#endif /* WAKE_H */
