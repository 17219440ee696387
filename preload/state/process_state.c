/* SPDX-License-Identifier: MIT */
/* process_state.c - see process_state.h */

#include "preload/state/process_state.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "preload/sys/hot_line.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/*
 * This flag is in the cache line of the variables that every event reads
 * (hot_line.h).
 */
HOT_LINE _Atomic bool process_dormant;

/* The kernel wipes this struct in the child of a fork. */
struct process {
	_Atomic uint32_t state; /* enum process_state */
	_Atomic uint64_t ticket;
};

static _Atomic(struct process *) process;

/* The facts are not wiped in the child of a fork. */
static _Atomic uint32_t facts; /* enum process_fact */
static int traced_pid;	       /* the result of process_pid() */
#define CLOSE PROCESS_WAS_UNTRACED | PROCESS_IS_OFF

/*
 * Each of these macros makes one entry of the table.  An entry has the next
 * state, the action, the change of the dormant flag, and the facts to set and
 * clear.
 */
#define STAY(state, does)                                            \
	{                                                            \
		.next = PROCESS_##state, .action = PROCESS_DO_##does \
	}
#define MARK(state, does, sleeps, sets, clears)                             \
	{                                                                   \
		PROCESS_##state, PROCESS_DO_##does, PROCESS_SLEEP_##sleeps, \
			sets, clears                                        \
	}

/*
 * Entries for the causes that, in every state, change only facts and the
 * dormant flag.
 */
#define IN_ANY_STATE(state)                                              \
	[PROCESS_IMPOSSIBLE] = MARK(state, SKIP, ON, PROCESS_IS_OFF, 0), \
	[PROCESS_SANDBOXED] =                                            \
		MARK(state, NOTHING, ON,                                 \
		     PROCESS_IS_SANDBOXED | PROCESS_IS_CHILDLESS, 0),    \
	[PROCESS_CHILDREN_BARRED] =                                      \
		MARK(state, NOTHING, KEEP, PROCESS_IS_CHILDLESS, 0),     \
	[PROCESS_CONFINED] =                                             \
		MARK(state, NOTHING, KEEP, PROCESS_IS_CONFINED, 0)

/*
 * Entries for the two states that have a trace: TRACING and, after the exit
 * handlers, ENDED.
 */
#define WITH_TRACE(state)                                                  \
	[PROCESS_WANTED] = STAY(state, TRACE),                             \
	[PROCESS_WANTED_BARRED] = STAY(state, TRACE),                      \
	[PROCESS_TRACE_OPENED] =                                           \
		MARK(state, NOTHING, KEEP, 0, PROCESS_HAS_FAILED),         \
	[PROCESS_TRACE_FAILED] =                                           \
		MARK(state, NOTHING, KEEP, PROCESS_HAS_FAILED, 0),         \
	[PROCESS_WRITER_OVER] = MARK(OFF, NOTHING, ON, PROCESS_IS_OFF, 0), \
	[PROCESS_EXITED] = STAY(ENDED, NOTHING)

/*
 * A missing entry is PROCESS_DO_REFUSE: the cause is impossible in this state,
 * and nothing changes.
 */
static const struct process_move moves[PROCESS_STATES][PROCESS_CAUSES] = {
	[PROCESS_NEW] = {
		IN_ANY_STATE(NEW),
		[PROCESS_WANTED] = STAY(STARTING, BEGIN),
		[PROCESS_WANTED_BARRED] =
			MARK(NEW, SKIP, ON, PROCESS_IS_OFF, 0),
		/* No trace was started, so there is none to finish. */
		[PROCESS_EXITED] = STAY(NEW, NOTHING),
		[PROCESS_CHILD_OF_RECORDING] =
			MARK(NEW, NOTHING, OFF, PROCESS_IS_FRESH,
			     PROCESS_IS_OFF | PROCESS_BEGINS_DORMANT),
		[PROCESS_CHILD_OF_DORMANT] =
			MARK(NEW, NOTHING, OFF,
			     PROCESS_IS_FRESH | PROCESS_BEGINS_DORMANT,
			     PROCESS_IS_OFF),
		/*
		 * Keep PROCESS_BEGINS_DORMANT as it is, so that the child
		 * begins dormant or recording, as its untraced parent would
		 * have begun.
		 */
		[PROCESS_CHILD_OF_UNTRACED] =
			MARK(NEW, NOTHING, OFF, PROCESS_IS_FRESH,
			     PROCESS_IS_OFF),
	},
	[PROCESS_STARTING] = {
		IN_ANY_STATE(STARTING),
		[PROCESS_WANTED] = STAY(STARTING, WAIT),
		[PROCESS_WANTED_BARRED] = STAY(STARTING, WAIT),
		[PROCESS_BEGAN] =
			MARK(TRACING, TRACE, OFF, 0,
			     PROCESS_IS_FRESH | PROCESS_BEGINS_DORMANT),
		[PROCESS_BEGAN_DORMANT] =
			MARK(TRACING, TRACE, ON, PROCESS_BEGINS_DORMANT,
			     PROCESS_IS_FRESH),
		[PROCESS_NOT_BEGUN] =
			MARK(OFF, SKIP, ON, CLOSE, PROCESS_IS_FRESH),
		[PROCESS_REFUSED] =
			MARK(STARTING, NOTHING, KEEP, PROCESS_IS_REFUSED, 0),
		[PROCESS_EXITED] = STAY(STARTING, NOTHING),
	},
	[PROCESS_TRACING] = {
		IN_ANY_STATE(TRACING),
		WITH_TRACE(TRACING),
	},
	[PROCESS_ENDED] = {
		IN_ANY_STATE(ENDED),
		WITH_TRACE(ENDED),
	},
	[PROCESS_OFF] = {
		IN_ANY_STATE(OFF),
		[PROCESS_WANTED] = STAY(OFF, SKIP),
		[PROCESS_WANTED_BARRED] = STAY(OFF, SKIP),
		/* Several threads may report that the writer has ended. */
		[PROCESS_WRITER_OVER] =
			MARK(OFF, NOTHING, ON, PROCESS_IS_OFF, 0),
		[PROCESS_EXITED] = STAY(OFF, NOTHING),
	},
};

static struct process *
get_process(void)
{
	/* acquire: pairs with the release in process_map(). */
	return atomic_load_explicit(&process, memory_order_acquire);
}

enum process_state
process_state(void)
{
	const struct process *const p = get_process();

	/* acquire: pairs with the release in publish(). */
	return p == NULL
		       ? PROCESS_NEW
		       : atomic_load_explicit(&p->state, memory_order_acquire);
}

bool
process_map(void)
{
	struct process *none = NULL;

	if (get_process() != NULL)
		return true;
	memory_prepare();

	struct process *const mine = memory_map_wiped(sizeof(*mine));

	/*
	 * Make the first access to the new page a write, which causes one page
	 * fault.  If a read came first, the next write would cause another one.
	 */
	if (mine != NULL)
		atomic_init(&mine->state, PROCESS_NEW);
	/* If another thread was first, use its mapping. */
	return (mine != NULL &&
		atomic_compare_exchange_strong_explicit(
			&process, &none, mine, memory_order_acq_rel,
			memory_order_acquire)) ||
	       none != NULL;
}

const struct process_move *
process_lookup(enum process_state state, enum process_cause cause)
{
	return &moves[state][cause];
}

bool
process_has(enum process_fact fact)
{
	/*
	 * relaxed: a thread that has read the new state by process_state() also
	 * sees the facts that changed together with the state.
	 */
	return (atomic_load_explicit(&facts, memory_order_relaxed) & fact) != 0;
}

/*
 * Change the facts and the dormant flag as 'move' says.  relaxed, all accesses:
 * publish() orders these changes for a thread that also reads the state.  To a
 * thread that reads only a fact or the flag, the value is a hint.
 */
static void
note(const struct process_move *move)
{
	if (move->clear != 0)
		atomic_fetch_and_explicit(&facts, ~(uint32_t)move->clear,
					  memory_order_relaxed);
	if (move->set != 0)
		atomic_fetch_or_explicit(&facts, move->set,
					 memory_order_relaxed);
	if (move->sleep == PROCESS_SLEEP_KEEP ||
	    (move->sleep == PROCESS_SLEEP_OFF &&
	     process_has(PROCESS_IS_SANDBOXED)))
		return;
	/*
	 * The flag changes here, before publish() changes the state.  The
	 * price: an event that another thread has between the two changes is in
	 * no trace.
	 */
	atomic_store_explicit(&process_dormant, move->sleep == PROCESS_SLEEP_ON,
			      memory_order_relaxed);
}

/*
 * Change the state from 'from' to 'to'.  Return false if another thread has
 * changed the state first.
 */
static bool
publish(struct process *p, uint32_t from, uint32_t to)
{
	if (from == to)
		return true;
	/* acq_rel: publishes everything that this thread has set up. */
	return p != NULL && atomic_compare_exchange_strong_explicit(
				    &p->state, &from, to, memory_order_acq_rel,
				    memory_order_acquire);
}

enum process_action
process_move(enum process_cause cause)
{
	struct process *const p = get_process();
	const struct process_move *move;
	enum process_state from;

	do {
		from = process_state();
		move = process_lookup(from, cause);
		/*
		 * If there is no memory for the state, the process stays NEW.
		 */
		if (move->action == PROCESS_DO_REFUSE ||
		    (p == NULL && move->next != from))
			return PROCESS_DO_REFUSE;
		note(move);
	} while (!publish(p, from, move->next));
	return move->action;
}

bool
process_is_tracing(void)
{
	const enum process_state state = process_state();

	return state == PROCESS_TRACING || state == PROCESS_ENDED;
}

bool
process_is_barred(void)
{
	return process_has(PROCESS_IS_CHILDLESS) && traced_pid != 0;
}

bool
process_is_closed(void)
{
	const enum process_state state = process_state();

	return state == PROCESS_OFF ||
	       (state == PROCESS_NEW && get_process() != NULL &&
		process_is_barred());
}

bool
process_is_own(void)
{
	/*
	 * In a sandboxed process, do not call getpid(), for which a filter may
	 * kill the process.
	 */
	return !process_has(PROCESS_IS_SANDBOXED) && sys_pid() == traced_pid;
}

void
process_set_pid(void)
{
	traced_pid = sys_pid();
}

int
process_pid(void)
{
	return traced_pid;
}

uint64_t
process_next_ticket(void)
{
	struct process *const p = get_process();

	/* relaxed: each caller needs a different number, but no order. */
	return p == NULL ? 0
			 : 1 + atomic_fetch_add_explicit(&p->ticket, 1,
							 memory_order_relaxed);
}

/*
 * If the parent is dormant only because its trace failed, report that the
 * parent was recording, so that the child's first event starts a trace.  The
 * disk may have space again; otherwise the child reports the error.  (If the
 * program makes a child by clone(2) with a system call instruction of its own,
 * the child does not call this function.  The child stays dormant if its parent
 * was, and takes no orders.)
 */
void
process_report_child(void)
{
	enum process_cause cause = PROCESS_CHILD_OF_RECORDING;

	/* relaxed: the child has only this thread. */
	if (process_has(PROCESS_IS_FRESH | PROCESS_IS_OFF))
		cause = PROCESS_CHILD_OF_UNTRACED;
	else if (atomic_load_explicit(&process_dormant, memory_order_relaxed) &&
		 !process_has(PROCESS_HAS_FAILED))
		cause = PROCESS_CHILD_OF_DORMANT;
	process_move(cause);
}

enum process_scope
process_scope(void)
{
	if (get_process() == NULL || traced_pid == 0)
		return PROCESS_SCOPE_UNTRACED;
	if (process_state() == PROCESS_NEW)
		return PROCESS_SCOPE_NEW;
	/*
	 * The calling process may be a child that shares the memory of the
	 * traced process, as after vfork(2).  Such a child has no trace that a
	 * filter could affect, because it will soon execute another program.
	 */
	return process_is_tracing() && process_is_own()
		       ? PROCESS_SCOPE_TRACED
		       : PROCESS_SCOPE_UNTRACED;
}
