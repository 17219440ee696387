/* SPDX-License-Identifier: MIT */
/*
 * process_state.h - the state of the process: one enum, one table of
 * transitions
 *
 * A process is in one of the states below.  A thread reports a cause to
 * process_move(), which looks up state and cause in one table (process_state.c)
 * and changes the state and the facts accordingly.  Nothing else changes the
 * state and the facts.
 *
 * The state lies in memory that the kernel wipes in the child of a fork, so a
 * child with its own memory is NEW, whichever system call made it.  The facts
 * and the pid are in ordinary memory: a child inherits them.
 *
 * Any thread may call these functions, also in a signal handler.  They take no
 * lock, keep errno, and allocate nothing, except for process_map(), once.
 */
#ifndef PROCESS_STATE_H
#define PROCESS_STATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is the recorder loaded, but not recording?  The reason may be
 * HATFTRACE_START=off, 'hatf ctl stop', or that no trace is possible.  Only the
 * writer thread and process_state.c write this flag.  It shares a cache line
 * with 'clock_tick' (hot_line.h).
 */
extern _Atomic bool process_dormant __attribute__((visibility("hidden")));

enum process_state {
	/* Nothing has started.  Wiped memory has this state, too. */
	PROCESS_NEW = 0,
	PROCESS_STARTING, /* one thread starts the trace, the others wait */
	PROCESS_TRACING,  /* recording, or dormant and able to record */
	PROCESS_ENDED,	  /* like TRACING, but the exit handlers have run */
	PROCESS_OFF,	  /* from now on nothing is recorded */
	PROCESS_STATES
};

enum process_cause {
	/* start.c: an event, a new thread or the constructor needs a trace */
	PROCESS_WANTED = 0,
	/* start.c: like PROCESS_WANTED, but process_is_barred() is true */
	PROCESS_WANTED_BARRED,
	/* start.c: no memory for the state; load.c: a sanitizer's run-time */
	PROCESS_IMPOSSIBLE,
	/*
	 * start.c, in the thread that got PROCESS_DO_BEGIN: the trace has
	 * begun, has begun dormant, or has not begun
	 */
	PROCESS_BEGAN,
	PROCESS_BEGAN_DORMANT,
	PROCESS_NOT_BEGUN,
	/*
	 * begin.c, in the thread that got PROCESS_DO_BEGIN: the trace cannot
	 * begin, and children must not try again
	 */
	PROCESS_REFUSED,
	/* writer thread: it has opened a new trace */
	PROCESS_TRACE_OPENED,
	/* writer thread: it cannot continue the trace */
	PROCESS_TRACE_FAILED,
	/*
	 * the last trace of the process has ended, or a thread has found the
	 * writer dead or could not make a writer
	 */
	PROCESS_WRITER_OVER,
	/* end.c: an exit handler has finished the trace */
	PROCESS_EXITED,
	/*
	 * end.c: the program makes a change under which the recorder cannot run
	 */
	PROCESS_SANDBOXED,
	/*
	 * end.c: the program installs a filter under which no child can begin a
	 * trace
	 */
	PROCESS_CHILDREN_BARRED,
	/* confinement.c: the process has a filter of system calls */
	PROCESS_CONFINED,
	/* fork.c, in the child: what the parent was doing */
	PROCESS_CHILD_OF_RECORDING,
	PROCESS_CHILD_OF_DORMANT,
	PROCESS_CHILD_OF_UNTRACED,
	PROCESS_CAUSES
};

/* What the thread that reported the cause must do now. */
enum process_action {
	/* no change: the cause is impossible in this state */
	PROCESS_DO_REFUSE = 0,
	PROCESS_DO_NOTHING, /* there is nothing left to do */
	PROCESS_DO_BEGIN,   /* start the trace, then report the outcome */
	PROCESS_DO_WAIT,    /* another thread is starting the trace */
	PROCESS_DO_TRACE,   /* there is a trace: record */
	PROCESS_DO_SKIP	    /* nothing is recorded in this process */
};

/* Facts that children inherit. */
enum process_fact {
	/* the children of this process are not traced */
	PROCESS_IS_CHILDLESS = 1u << 0,
	/*
	 * the program has made a change under which the recorder cannot run
	 * (PROCESS_SANDBOXED)
	 */
	PROCESS_IS_SANDBOXED = 1u << 1,
	/* this process has a filter of system calls */
	PROCESS_IS_CONFINED = 1u << 2,
	/* this is a child whose trace has not begun */
	PROCESS_IS_FRESH = 1u << 3,
	PROCESS_IS_OFF = 1u << 4, /* from now on nothing is recorded here */
	/* this process or an ancestor was untraced */
	PROCESS_WAS_UNTRACED = 1u << 5,
	/* The reason why no trace can begin was reported. */
	PROCESS_IS_REFUSED = 1u << 6,
	/* this process is dormant because its trace failed */
	PROCESS_HAS_FAILED = 1u << 7,
	/* The next trace, of this process or of a child, begins dormant. */
	PROCESS_BEGINS_DORMANT = 1u << 8,
	PROCESS_FACTS = (1u << 9) - 1
};

/* What a move does to process_dormant, the flag that the fast path checks. */
enum process_sleep {
	PROCESS_SLEEP_KEEP = 0,
	PROCESS_SLEEP_ON,
	PROCESS_SLEEP_OFF /* clear the flag, except in a sandboxed process */
};

/* An entry of the table. */
struct process_move {
	uint8_t next;	     /* enum process_state */
	uint8_t action;	     /* enum process_action */
	uint8_t sleep;	     /* enum process_sleep */
	uint16_t set, clear; /* facts to set and to clear */
};

/* Return the entry of the table for this state and cause; change nothing. */
const struct process_move *process_lookup(enum process_state state,
					  enum process_cause cause);

/*
 * Report 'cause', and return what the caller must do.  The facts and
 * 'process_dormant' change before the state.  A thread that reads the new state
 * therefore also sees the new facts and the new 'process_dormant'.
 */
enum process_action process_move(enum process_cause cause);

/*
 * Map the memory of the state, if that has not been done.  Return false if
 * there is no memory.
 */
bool process_map(void);

enum process_state process_state(void);
bool process_has(enum process_fact fact);

/*
 * Does the process have a trace, recording or dormant?  The call never begins a
 * trace.
 */
bool process_is_tracing(void);

/*
 * Is it certain that nothing is recorded in this process from now on?  This
 * function makes no system call.
 */
bool process_is_closed(void);

/*
 * Is this a child process that must not be traced?  Use the result only while
 * the state is PROCESS_NEW.
 */
bool process_is_barred(void);

/*
 * Does the calling thread belong to the traced process?  The answer is no in a
 * child that shares the memory of the traced process, as after vfork(2).  If
 * PROCESS_IS_SANDBOXED is set, the answer is always no.
 */
bool process_is_own(void);

/*
 * Store the id of this process as the id of the traced process.  The thread
 * that starts the trace calls this.
 */
void process_set_pid(void);

/*
 * Return the id of this process if it is traced, else the id of the nearest
 * traced ancestor, or 0 if there is none.
 */
int process_pid(void);

/*
 * Return a new number for a fork, starting with 1.  Return 0 if there is no
 * process state.
 */
uint64_t process_next_ticket(void);

/*
 * Call this in the child of a fork by libc.  It derives the cause, one of
 * PROCESS_CHILD_OF_*, from the parent's facts and dormant flag, and reports the
 * cause to process_move().
 */
void process_report_child(void);

/*
 * The trace that is affected if the calling thread installs a filter of system
 * calls, see seccomp(2).
 */
enum process_scope {
	PROCESS_SCOPE_UNTRACED, /* no trace */
	PROCESS_SCOPE_TRACED,	/* the trace of this process */
	PROCESS_SCOPE_NEW	/* a child's trace, which begins later */
};
enum process_scope process_scope(void);

#endif /* PROCESS_STATE_H */
