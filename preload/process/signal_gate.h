/* SPDX-License-Identifier: MIT */
/*
 * signal_gate.h - a handler that decides when signals act while the process is
 * ending
 *
 * exit() flushes streams after the trace is finished, and may call exit
 * handlers of other libraries.  Without the recorder the process would have
 * ended by then, so a signal must not act.  Yet an exit handler may sleep, and
 * a flush into a full pipe may block for ever.  In these cases a signal must
 * act.  Blocking the signals would not suffice: the exit handlers, and the
 * processes that they start, would see the mask, and nothing could unblock the
 * signals in time without interrupting a sleep.
 *
 * So the recorder leaves the mask as it is, and sets another handler for the
 * signals, the gate.  Nothing happens unless a signal arrives.  When a signal
 * arrives, the gate decides by the signal's origin and the time:
 *
 * - While the trace is being finished, the gate keeps the signal.  It drops a
 *   signal sent by tgkill(2).
 * - For SIGNAL_GATE_NS after the trace is finished (the gate's time), the gate
 *   keeps the signal, too.  A timer sends the signal again at the end of the
 *   gate's time, when most processes are gone.  Three kinds of signals act at
 *   once instead: those that the process sends to itself; those for which the
 *   kernel refuses a timer; and, on x86-64, those that find the ending thread
 *   waiting in a system call.
 * - After the gate's time, and in a child of the process, the signal acts at
 *   once.
 *
 * To let a signal act, the gate restores the program's action and sends the
 * signal, with the same siginfo_t, to the thread that it has interrupted.
 *
 * The program can notice two things.  sigaction(2) returns the gate.  If the
 * gate keeps several signals with the same number, only one of them acts later,
 * even if the number is that of a real-time signal.
 */
#ifndef SIGNAL_GATE_H
#define SIGNAL_GATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The gate's time: how long the gate holds signals back after the trace is
 * finished.  If an exit handler takes longer, signals interrupt it as they do
 * without the recorder.  A person who presses Ctrl-C does not notice so short a
 * delay.
 */
#define SIGNAL_GATE_NS 20000000ull

/*
 * Signals that people and programs often send to a short process.  In such a
 * process, only these signals get the gate, because setting the actions of all
 * signals takes 0.06 ms, a fifth of the time that a short process takes to
 * write its trace.
 */
#define SIGNAL_GATE_COMMON                                         \
	(SIGNAL_ACTION_BIT(SIGHUP) | SIGNAL_ACTION_BIT(SIGINT) |   \
	 SIGNAL_ACTION_BIT(SIGQUIT) | SIGNAL_ACTION_BIT(SIGUSR1) | \
	 SIGNAL_ACTION_BIT(SIGUSR2) | SIGNAL_ACTION_BIT(SIGALRM) | \
	 SIGNAL_ACTION_BIT(SIGTERM))

/*
 * Close the gate for 'signals': make the gate their handler.  There are two
 * exceptions: signals that the program ignores, and signals such as SIGCHLD
 * that have no handler and do nothing by default.  If 'several' is set, there
 * are other threads.  Then such signals do not get the gate even for a moment,
 * since a child that another thread makes at that moment would inherit the
 * gate.  Only the first call in a process has an effect.
 */
void signal_gate_close(uint64_t signals, bool several);

/*
 * Start the gate's time, which lasts SIGNAL_GATE_NS.  Return the signals for
 * which the gate is closed.  Call this after signal_gate_close(), when the
 * trace is finished and the process is still ending.
 */
uint64_t signal_gate_start_time(void);

/* Call this after signal_gate_close() to restore the program's actions. */
void signal_gate_open(void);

#endif /* SIGNAL_GATE_H */
