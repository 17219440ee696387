/* SPDX-License-Identifier: MIT */
/*
 * wake.h - the writer thread as the recording side sees it
 *
 * Does the thread exist?  Wake it, or have it made.  The recording side knows
 * nothing else of the writer.  The writer's files pass a struct wake_calls with
 * the functions that only they can have; they are in writer_calls.c.
 */
#ifndef WAKE_H
#define WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Is there a writer thread?  A thread of the program takes it from AWAY to
 * COMING, the writer itself to HERE when it has its files, or back to AWAY when
 * it cannot have them.  AWAY is also what wiped memory says, in the child of a
 * fork.
 */
enum wake_presence {
	WAKE_AWAY = 0,
	WAKE_COMING,
	WAKE_HERE,
};

/* Part of struct writer, and wiped with it in the child of a fork. */
struct wake {
	_Atomic uint32_t presence;	/* enum wake_presence; a futex word */
	_Atomic uint32_t word;		/* futex: changed to wake the writer */
	_Atomic uint64_t away_since_ns; /* the first event since then; or 0 */
	_Atomic uint64_t unattached;	/* events of threads without a ring */
	_Atomic bool is_loss_reported;	/* the user knows of 'unattached' */
};

/* Functions of writer_calls.c for this file; they may change errno. */
struct wake_calls {
	bool (*make)(void);	   /* make it; false: failed, reported */
	bool (*interrupt)(void);   /* end its sleep; false: wake the futex */
	void (*note_killed)(void); /* later events are not recorded */
};

/* The thread that starts the trace; both outlive the process's children. */
void wake_init(struct wake *wake, const struct wake_calls *calls);

/*
 * Any thread: wake the writer, and make it if there is none.  A few system
 * calls at most, unless the thread has to be made.
 */
void wake_writer(void);

/* Wake the writer.  False: there is none. */
bool wake_writer_if_here(void);

bool wake_has_writer(void);

/*
 * A thread of the program: make the writer thread, and with it the trace file
 * if there is none yet.  Return when the writer exists.  If it cannot be made,
 * one line on standard error says so, and nothing is recorded from then on.
 * Keeps errno.
 */
void wake_make_writer(void);

/*
 * A producer whose ring has 'used' of 'capacity' words in it, while the clock
 * is idle: must it wake or make the writer thread?  If not, its events wait in
 * the ring, each with a stamp.
 */
bool wake_is_wanted(uint64_t used, uint64_t capacity);

/*
 * Move the presence from AWAY to COMING: the caller alone may then make the
 * writer, or do its work, and must call wake_set_presence().  False: the writer
 * exists, or another thread was first.
 */
bool wake_claim(void);

/*
 * Whoever has taken it to COMING, or the writer; wakes those who wait for
 * it.
 */
void wake_set_presence(enum wake_presence presence);

/*
 * Count an event whose thread has no ring; the trailer has the number.  The
 * first one is reported on standard error.
 */
void wake_count_unattached(void);

#endif /* WAKE_H */
