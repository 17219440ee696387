/* SPDX-License-Identifier: MIT */
/*
 * wake.h - the writer thread as those who record see it
 *
 * Is it there?  Wake it, or have it made.  The recording side knows nothing
 * else of the writer.  What only the writer's files can do they pass in a
 * struct wake_calls; those calls come back to writer_calls.c.
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
	_Atomic bool is_loss_reported; /* that there was no ring for a thread */
};

/* What writer_calls.c does for this file; all keep no errno. */
struct wake_calls {
	bool (*make)(void);	   /* the thread; false: it cannot be, said */
	bool (*interrupt)(void);   /* its sleep, unless the futex does that */
	void (*note_killed)(void); /* what comes is not recorded */
};

/* The thread that starts the trace; both outlive the process's children. */
void wake_init(struct wake *wake, const struct wake_calls *calls);

/*
 * Any thread: there is something to do.  At most one system call, unless the
 * thread has to be made.
 */
void wake_writer(void);

/* The same, but make no thread; false: there is none. */
bool wake_writer_if_here(void);

bool wake_has_writer(void);

/*
 * A thread of the program: make the writer thread, and with it the trace file
 * if there is none yet.  Returns when the writer exists; or it cannot be made,
 * which has been said, and nothing is recorded any more.  Keeps errno.
 */
void wake_make_writer(void);

/*
 * A producer whose ring has 'used' of 'capacity' words in it, while the clock
 * is idle: shall it wake or make the writer thread?  If not its events wait in
 * the ring, each with a stamp.
 */
bool wake_is_wanted(uint64_t used, uint64_t capacity);

/*
 * Be the writer, or the only one who may make it, from AWAY on; true: then
 * wake_set_presence() must follow.
 */
bool wake_claim(void);

/* Whoever has taken it to COMING, or the writer; wakes those who wait for
 * it. */
void wake_set_presence(enum wake_presence presence);

/*
 * No ring could be had for an event's thread; counted in the trailer.  Said for
 * the first one.
 */
void wake_count_unattached(void);

#endif /* WAKE_H */
