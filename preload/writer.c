/* SPDX-License-Identifier: MIT */
/*
 * writer.c - see writer.h
 *
 * A round: read the clock, drain what the order allows, look after threads that
 * have ended, commit if a block is full or old or if a producer wants its room
 * back, answer requests, sleep.  While the program allocates, a round comes about
 * every millisecond and is also the tick of the coarse clock; when it has been
 * quiet for a while the writer goes idle, and the next event wakes it.
 */

#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "clock.h"
#include "control.h"
#include "grant.h"
#include "header.h"
#include "lifecycle.h"
#include "memory.h"
#include "order.h"
#include "record.h"
#include "ringfile.h"
#include "room.h"
#include "say.h"
#include "segment.h"
#include "spawn.h"
#include "sys.h"
#include "thread.h"
#include "trace.h"

#define TICK_NS	      1000000ull
#define IDLE_AFTER_NS 50000000ull
#define IDLE_SLEEP_NS NS_PER_SEC
/* A block is written when it is this old, full or not. */
#define BLOCK_AGE_NS 500000000ull
/* How often a silent thread is looked for. */
#define DEAD_CHECK_NS NS_PER_SEC
/* A realloc that takes longer must not keep the other threads waiting. */
#define BLOCKED_MAX_NS 100000000ull
/* How long a fork may keep a segment from ending. */
#define FORK_MAX_NS NS_PER_SEC
/* After a trailer, wait so long for the process to end. */
#define HOLD_NS NS_PER_SEC
/* A process that is over sooner has no socket. */
#define CONTROL_AFTER_NS 100000000ull
/* Commit early when so many ended threads wait for their last block. */
#define GONE_MAX 64u

/* All of it is wiped in the child of a fork, which starts a writer of its own. */
struct writer {
	struct trace trace;
	struct segment segment;
	struct order order;
	struct grant grant;
	bool was_stamped; /* at the beginning of the round before */
	struct thread *threads[THREAD_MAX];
	/* That of each thread; the same as a heap. */
	struct order_source *sources[THREAD_MAX], *heap[THREAD_MAX];
	uint32_t thread_count;
	uint32_t gone_count;
	uint64_t last_event_ns;
	uint64_t unattached_told; /* in the trace, of all of them */
	bool is_ended;		  /* the block has the trailer */
	bool is_stopped;	  /* ... and what comes is of no trace */
	uint32_t fork_count;	  /* that have begun and are not over */
	uint64_t fork_since_ns;	  /* of the last one that began */
	/* There is no trace at the moment.  Written by the writer, and read by
	 * a thread with which the process ends. */
	_Atomic bool is_dormant;
	uint64_t last_events, last_lost; /* of the trace that a stop ended */
	uint64_t start_ns;
	int exit_status; /* of the process, where only the writer is left */
	const struct order_source
		*blocked; /* as in 'order', of the last round */
	uint64_t blocked_pos, blocked_since_ns;
	_Atomic uint64_t hold_until_ns; /* 0: no trailer has been written */
	/* Futex words: changed to wake the writer, and by it when it has done
	 * what was asked or is no more. */
	_Atomic uint32_t wake;
	_Atomic uint32_t done;
	_Atomic uint32_t client_order; /* enum writer_order; 0: none */
	_Atomic bool client_done;      /* what has become of it */
	_Atomic uint32_t resume;       /* 1: the process goes on after all */
	_Atomic uint32_t request;      /* enum writer_end + 1; 0: none */
	_Atomic uint64_t unattached;
	_Atomic bool is_ending; /* dormant, and the process ends or execs */
	uint8_t memory[];
};

static struct writer *w;
static size_t w_nbytes;

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

static const char *const end_names[] = {
	[WRITER_END_EXIT] = "exit",
	[WRITER_END_UNDERSCORE_EXIT] = "_exit",
	[WRITER_END_QUICK_EXIT] = "quick_exit",
	[WRITER_END_ABORT] = "abort",
	[WRITER_END_EXEC] = "exec",
	[WRITER_END_SANDBOX] = "sandbox",
	[WRITER_END_LAST_THREAD] = "last_thread",
	[WRITER_END_STOP] = "stop",
};

static void
add_thread(struct thread *t)
{
	w->sources[w->thread_count] = &t->source;
	w->threads[w->thread_count++] = t;
}

static void
collect_threads(void)
{
	const uint32_t n = thread_pool_count();

	w->thread_count = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct thread *const t = thread_pool_at(i);
		/* acquire: pairs with the release in prepare(), thread.c. */
		const uint32_t state =
			atomic_load_explicit(&t->state, memory_order_acquire);

		if (state == THREAD_ACTIVE || state == THREAD_ENDING)
			add_thread(t);
	}
}

static void
note_unattached(void)
{
	/* relaxed: a count. */
	const uint64_t n = atomic_exchange_explicit(&w->unattached, 0,
						    memory_order_relaxed);

	w->unattached_told += n;
	if (n != 0)
		narrate_lost(&w->trace.narrator, NULL, n,
			     w->trace.narrator.line.stamp0,
			     w->trace.narrator.line.stamp1);
}

/* What a thread dropped last, and had no later event to tell of it with. */
static void
note_lost(struct thread *t)
{
	/* relaxed: see count_lost(), record.c. */
	const uint64_t n = atomic_exchange_explicit(&t->ring->lost_count, 0,
						    memory_order_relaxed);

	if (n != 0)
		narrate_lost(&w->trace.narrator, &t->source, n,
			     atomic_load_explicit(&t->ring->lost_first,
						  memory_order_relaxed),
			     w->trace.narrator.line.stamp1);
}

static bool
thread_exists(const struct thread *t)
{
	return syscall(SYS_tgkill, t->pid, t->tid, 0) == 0 || errno != ESRCH;
}

static void
recycle(struct thread *t)
{
	if (t->source.realloc_open)
		w->order.open_count--;
	w->gone_count--;
	thread_recycle(t);
}

/*
 * See whether 't' has ended; write so when its last event has been drained.  With
 * 'check' the kernel is asked now, else when it is likely or has been long.
 */
static void
tend_thread(struct thread *t, uint64_t stamp, uint64_t now, bool check)
{
	const uint32_t state =
		atomic_load_explicit(&t->state, memory_order_relaxed);

	if (t->is_gone || t->source.pos != ring_head(t->source.ring)) {
		t->idle_since_ns = 0;
		return;
	}
	if (t->source.is_dead) {
		note_lost(t);
		t->is_gone = true;
		w->gone_count++;
		if (!t->is_nested)
			narrate_thread_gone(&w->trace.narrator, &t->source,
					    stamp);
		return;
	}
	if (t->idle_since_ns == 0)
		t->idle_since_ns = now;
	if (state != THREAD_ENDING && !check &&
	    now - t->idle_since_ns < DEAD_CHECK_NS)
		return;
	t->idle_since_ns = now;
	/*
	 * What it published before it ended is visible after this, so its last
	 * events are drained in the next round, and then it is gone.
	 */
	t->source.is_dead = !thread_exists(t);
}

/* What the trailer says from outside, for the whole process. */
static void
sum_up(struct narrate_end *end)
{
	const uint32_t n = thread_pool_count();

	end->threads = thread_id_count();
	end->cpu_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *const t = thread_pool_at(i);

		/* relaxed: counts. */
		end->waits += atomic_load_explicit(&t->wait_count,
						   memory_order_relaxed);
		end->wait_ns +=
			atomic_load_explicit(&t->wait_ns, memory_order_relaxed);
	}
}

/* Note for recovery how far trace and rings are; see image.h. */
static void
commit_rings(void)
{
	const struct trace *const t = &w->trace;
	struct narrate_end sums = { .name = "" };
	struct image_commit state;

	for (uint32_t i = 0; i < w->thread_count; i++)
		ringfile_commit_ring(w->sources[i]->ring, w->sources[i],
				     w->threads[i]->is_gone);
	trace_get_state(t, &state);
	if (w->is_ended)
		state.flags |= IMAGE_COMMIT_ENDED;
	if (w->is_stopped)
		state.flags |= IMAGE_COMMIT_STOPPED;
	sum_up(&sums);
	state.threads = sums.threads;
	state.waits = sums.waits - w->segment.waits;
	state.wait_ns = sums.wait_ns - w->segment.wait_ns;
	state.cpu_ns = sums.cpu_ns - w->segment.cpu_ns;
	state.unattached = w->unattached_told;
	ringfile_commit(&state, t->output.path, t->head_nbytes, t->head_hash);
}

/* Write the block; once it is in the file, give the room back. */
static bool
commit(void)
{
	if (!trace_commit(&w->trace))
		return false;
	w->trace.narrator.block_since_ns = w->trace.narrator.line.ns1;
	commit_rings();
	for (uint32_t i = 0; i < w->thread_count; i++)
		room_release(w->sources[i]->ring, w->sources[i]->pos);
	return true;
}

/* Between rounds only: commit, and let go of the threads that are gone. */
static bool
commit_and_recycle(void)
{
	if (!commit())
		return false;
	for (uint32_t i = 0; i < w->thread_count; i++)
		if (w->threads[i]->is_gone)
			recycle(w->threads[i]);
	w->thread_count = 0;
	return true;
}

/* There is another file. */
static void
note_file(void)
{
	/* relaxed: only this thread, or one before it, writes it. */
	const uint32_t next =
		!atomic_load_explicit(&file_idx, memory_order_relaxed);

	files[next].segment = w->segment.number;
	memcpy(files[next].path, w->trace.output.path,
	       sizeof(files[next].path));
	atomic_store_explicit(&event_count, 0, memory_order_relaxed);
	/* release: pairs with the acquire in current_file(). */
	atomic_store_explicit(&file_idx, next, memory_order_release);
}

static struct thread *
thread_of(const struct order_source *source)
{
	return (struct thread *)((uintptr_t)source -
				 offsetof(struct thread, source));
}

/* Forks under way, and what a later segment is to say of threads. */
static void
note_thread(const struct order_source *source, const struct event *ev)
{
	struct thread *t = thread_of(source);

	if (ev->type == EVENT_FORK && (ev->flags & EVENT_FLAG_FORKED) == 0) {
		w->fork_count++;
		w->fork_since_ns = w->trace.narrator.line.ns1;
	} else if (ev->type == EVENT_FORK) {
		w->fork_count -= w->fork_count > 0;
	} else if (ev->type == EVENT_THREAD) {
		t->is_told = true;
		memcpy(t->told, ev->operand, sizeof(t->told));
	} else if (ev->type == EVENT_NAME) {
		/* One thread may name another. */
		for (uint32_t i = 0; i < w->thread_count; i++)
			if (w->threads[i]->id == ev->operand[0] &&
			    !w->threads[i]->is_nested)
				memcpy(w->threads[i]->name, &ev->operand[1],
				       sizeof(t->name));
	}
}

/*
 * Is a fork under way?  Both notes of it should be in the same segment, for who reads
 * that to know what the child has.  One may never be over: its thread was killed.
 */
static bool
is_forking(uint64_t now)
{
	if (now - w->fork_since_ns > FORK_MAX_NS)
		w->fork_count = 0;
	return w->fork_count != 0;
}

/* Between events: go on in another file. */
static bool
rotate_now(void)
{
	const uint64_t now = w->trace.narrator.line.ns1;
	const uint64_t number = w->segment.number;
	struct narrate_end end = { .name = "rotate" };

	sum_up(&end);
	if (!segment_rotate(&w->segment, &end, now))
		return false;
	if (w->segment.number != number)
		note_file();
	return commit();
}

/* ... if it is time. */
static bool
rotate_if_due(void)
{
	const uint64_t now = w->trace.narrator.line.ns1;

	return !segment_is_due(&w->segment, now) || is_forking(now) ||
	       rotate_now();
}

/* What is to be remembered of events that are no allocations. */
static void
note_other(const struct order_source *source, const struct event *ev)
{
	if (ev->type == EVENT_HEAP || ev->type == EVENT_HEAP_GONE)
		segment_note_heap(&w->segment, ev);
	else
		note_thread(source, ev);
}

/* The order_sink: an event goes into a block that has room for it. */
static void
take_event(void *narrator, const struct order_source *source,
	   const struct event *ev)
{
	if (__builtin_expect(narrate_is_full(narrator), 0) && commit())
		rotate_if_due();
	if (__builtin_expect(ev->type >= EVENT_THREAD, 0))
		note_other(source, ev);
	segment_note_event(&w->segment, source, ev);
	narrate_event(narrator, source, ev);
}

/* The order_run_sink: the same for a run, where there is no live table. */
static size_t
take_run(void *narrator, const struct order_source *source,
	 const uint64_t *words, size_t n, uint64_t stamp)
{
	if (__builtin_expect(narrate_is_full(narrator), 0) && commit())
		rotate_if_due();
	return narrate_run(narrator, source, words, n, stamp);
}

/* Does some producer need room, or soon will? */
static bool
is_room_wanted(void)
{
	for (uint32_t i = 0; i < w->thread_count; i++) {
		const struct ring *const r = w->sources[i]->ring;
		/* relaxed, both: only this thread writes them. */
		const uint64_t used =
			ring_head(r) -
			atomic_load_explicit(&r->tail, memory_order_relaxed);

		if (used > (ring_mask(r) + 1) / 2 || room_is_waited_for(r))
			return true;
	}
	return false;
}

static void
drain(uint64_t until, bool force)
{
	struct order *const o = &w->order;

	/* A live table wants each event; it is made, or given up, at rotations. */
	o->run_sink = w->segment.carry.slots == NULL ? take_run : NULL;
	order_round(o, w->sources, w->thread_count, until, force);
	if (o->event_count != 0)
		w->last_event_ns = w->trace.narrator.line.ns1;
	/* relaxed: for whoever wants to know about now. */
	atomic_store_explicit(&event_count, w->trace.narrator.event_count,
			      memory_order_relaxed);
}

/*
 * Is a signal handler that interrupted the realloc waiting for room?  Then its
 * end waits for us.
 */
static bool
is_waiting_inside(const struct order_source *source)
{
	const struct thread *const t = thread_of(source);

	for (const struct thread *n = t->nested; n != NULL; n = n->nested)
		if (room_is_waited_for(n->ring))
			return true;
	return false;
}

/* Has the same begin without an end stopped the others for too long? */
static bool
is_blocked_too_long(uint64_t now)
{
	const struct order_source *const s = w->order.blocked;

	if (s == NULL || s != w->blocked || s->pos != w->blocked_pos)
		w->blocked_since_ns = now;
	w->blocked = s;
	w->blocked_pos = s != NULL ? s->pos : 0;
	if (s != NULL && is_waiting_inside(s))
		return true;
	return now - w->blocked_since_ns > BLOCKED_MAX_NS;
}

/* Where times may be coarse, a thread that is alone goes without stamps. */
static void
grant_tick(uint64_t now)
{
	const struct order *const o = &w->order;
	const enum config_clock clock = lifecycle_config()->clock;
	const struct thread *alone = NULL;

	if (clock == CONFIG_CLOCK_US || clock == CONFIG_CLOCK_NS ||
	    o->active_count == 0)
		return;
	if (o->active_count == 1 && !thread_of(o->active)->is_nested)
		alone = thread_of(o->active);
	grant_round(&w->grant, alone, now);
}

/* Returns false when the trace cannot go on. */
static bool
do_round(void)
{
	const uint64_t stamp = clock_stamp();
	const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
	const bool stamped = clock_is_stamped();

	clock_renew(stamp);
	collect_threads();
	/* With ticks from here on; with stamps, once the last ticks are out. */
	trace_set_clock(&w->trace, stamp, now, stamped && w->was_stamped);
	w->was_stamped = stamped;
	drain(stamp, is_blocked_too_long(now));
	grant_tick(now);
	note_unattached();
	for (uint32_t i = 0; i < w->thread_count; i++) {
		ringfile_extend(w->sources[i]->ring);
		tend_thread(w->threads[i], stamp, now, false);
	}
	if ((is_room_wanted() || w->gone_count > GONE_MAX ||
	     now - w->trace.narrator.block_since_ns > BLOCK_AGE_NS) &&
	    !commit_and_recycle())
		return false;
	return w->trace.error == 0 && rotate_if_due();
}

/*
 * The last look at all threads.  One that has been joined may still exist for some
 * microseconds, and its destroyThread belongs in the trace.
 */
static void
tend_last(void)
{
	const struct line *const line = &w->trace.narrator.line;

	for (unsigned tries = 0; tries < 20; tries++) {
		bool pending = false;

		for (uint32_t i = 0; i < w->thread_count; i++) {
			struct thread *const t = w->threads[i];

			tend_thread(t, line->stamp1, line->ns1, true);
			pending |= !t->is_gone &&
				   (t->source.is_dead ||
				    atomic_load_explicit(
					    &t->state, memory_order_relaxed) ==
					    THREAD_ENDING);
		}
		if (!pending)
			return;
		if (tries > 0)
			sys_sleep(TICK_NS / 10);
	}
}

/*
 * What the trailer is to follow, and say; events with a stamp after 'until' are not
 * in the trace.
 */
static void
prepare_end(struct narrate_end *end, uint64_t until)
{
	const uint64_t stamp = clock_stamp();

	collect_threads();
	line_add(&w->trace.narrator.line, stamp, sys_clock_ns(CLOCK_MONOTONIC));
	drain(until, true);
	tend_last();
	for (uint32_t i = 0; i < w->thread_count; i++)
		note_lost(w->threads[i]);
	note_unattached();
	sum_up(end);
}

static void
finish(enum writer_end how)
{
	struct narrate_end end = {
		.name = end_names[how],
		.is_early = how == WRITER_END_SANDBOX,
	};

	prepare_end(&end, UINT64_MAX);
	w->is_ended = true;
	if (segment_end(&w->segment, &end))
		commit_and_recycle();
	w->is_ended = false;
	ringfile_remove();
	if (lifecycle_config()->verbose)
		say("%s: %u events, %u bytes, %u waits", w->trace.output.path,
		    w->trace.narrator.event_count, w->trace.output.nbytes,
		    end.waits);
}

static void
answer(void)
{
	/* release: pairs with the acquire in writer_finish(). */
	atomic_store_explicit(&w->request, 0, memory_order_release);
	atomic_fetch_add_explicit(&w->done, 1, memory_order_release);
	sys_futex_wake(&w->done);
}

/* Returns false when the writer's work is over. */
static bool
serve_request(void)
{
	/* acquire: pairs with the exchange in writer_finish(): what that thread
	 * published before is seen by the drain. */
	const uint32_t request =
		atomic_load_explicit(&w->request, memory_order_acquire);

	if (request == 0)
		return true;
	const enum writer_end end = (enum writer_end)(request - 1);

	control_close();
	if (!w->is_dormant)
		finish(end);
	else
		ringfile_remove();
	/* relaxed: writer_resume() is called only after the answer. */
	atomic_store_explicit(&w->hold_until_ns,
			      w->trace.narrator.line.ns1 + HOLD_NS,
			      memory_order_relaxed);
	answer();
	return end == WRITER_END_EXEC || end == WRITER_END_ABORT;
}

/* The number that is field 'n' of the line of proc(5)'s stat; 0 if absent. */
static uint64_t
stat_field(const char *state, int n)
{
	const char *p = state;
	uint64_t value = 0;

	/* 'state' is the third field, and stands behind the name, which may
	 * hold anything. */
	for (int field = 3; p != NULL && field < n; field++) {
		p = strchr(p, ' ');
		if (p != NULL)
			p++;
	}
	for (; p != NULL && *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

/* Fields of proc(5)'s stat. */
#define STAT_NUM_THREADS 20
#define STAT_EXIT_CODE	 52

/* Read that line into 'buf'; returns its third field, or NULL. */
static const char *
read_stat(char *buf, size_t cap)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/stat",
				    O_RDONLY | O_CLOEXEC);
	const char *state;
	long n;

	if (fd < 0)
		return NULL;
	n = syscall(SYS_read, fd, buf, cap - 1);
	syscall(SYS_close, fd);
	buf[n > 0 ? n : 0] = '\0';
	state = strrchr(buf, ')');
	return state != NULL && state[1] == ' ' ? state + 2 : NULL;
}

/*
 * Have all other threads left, by ways that do not end the process?  Then only we
 * keep it from ending.  /proc/self is the process, that is its initial thread,
 * which stays as a zombie.  '*status_ret' is the exit status that it left.
 */
static bool
is_alone(int *status_ret)
{
	char buf[1024];
	const char *const state = read_stat(buf, sizeof(buf));

	if (state == NULL || *state != 'Z')
		return false;
	*status_ret = (int)(stat_field(state, STAT_EXIT_CODE) >> 8 & 0xff);
	return stat_field(state, STAT_NUM_THREADS) == 2;
}

/* Nothing happens: stop the clock; the next event sets it going and wakes us. */
static bool
go_idle(uint32_t wake)
{
	if (is_alone(&w->exit_status)) {
		finish(WRITER_END_LAST_THREAD);
		return false;
	}
	clock_set_idle();
	collect_threads();
	for (uint32_t i = 0; i < w->thread_count; i++)
		if (w->sources[i]->pos != ring_head(w->sources[i]->ring))
			return true;
	control_sleep(&w->wake, wake,
		      w->trace.narrator.in_block ? BLOCK_AGE_NS
						 : IDLE_SLEEP_NS);
	return true;
}

/* Sleep until there may be something to do; false if there never will be. */
static bool
rest(uint32_t wake)
{
	const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);

	/* acquire: as in serve_request(). */
	if (atomic_load_explicit(&w->request, memory_order_acquire) != 0)
		return true;
	if (now - w->last_event_ns > IDLE_AFTER_NS && w->order.blocked == NULL)
		return go_idle(wake);
	sys_futex_wait(&w->wake, wake, TICK_NS);
	return true;
}

/* What a thread of the program may wait for that has nothing to do with events. */
static void
serve_rings(void)
{
	ringfile_make_spares();
	collect_threads();
	for (uint32_t i = 0; i < w->thread_count; i++)
		ringfile_extend(w->sources[i]->ring);
}

/* An exec has failed: the process goes on, and so does its trace. */
static void
resume(void)
{
	/* acquire: pairs with the release in writer_resume(). */
	if (atomic_load_explicit(&w->resume, memory_order_acquire) == 0)
		return;
	/* Made again by the next control_serve(). */
	control_close();
	/* relaxed: only now, as nothing could be begun, is it of interest. */
	atomic_store_explicit(&w->is_ending, false, memory_order_relaxed);
	collect_threads();
	/* A ring that is being written cannot be moved. */
	if (w->thread_count == 1 && !w->is_dormant) {
		ringfile_reopen(w->sources[0]->ring, w->trace.output.path);
		commit_rings();
	}
	atomic_store_explicit(&w->hold_until_ns, 0, memory_order_relaxed);
	/* release: pairs with the acquire in writer_resume(). */
	atomic_store_explicit(&w->resume, 0, memory_order_release);
	sys_futex_wake(&w->resume);
}

/* Starting and stopping --------------------------------------------------- */

/*
 * An order_sink for what is of no trace, but that a thread began; 'narrator' is
 * NULL, or the one of a trace that has just begun.
 */
static void
discard_event(void *narrator, const struct order_source *source,
	      const struct event *ev)
{
	if (ev->type != EVENT_THREAD && ev->type != EVENT_NAME &&
	    ev->type != EVENT_HEAP && ev->type != EVENT_HEAP_GONE)
		return;
	note_other(source, ev);
	if (narrator != NULL)
		narrate_event(narrator, source, ev);
}

/*
 * Pass over all events up to a stamp that are published, so that no thread is kept
 * from going on by a full ring.
 */
static void
discard(uint64_t until, struct narrator *narrator)
{
	struct order *const o = &w->order;

	collect_threads();
	o->sink = discard_event;
	o->run_sink = NULL;
	o->context = narrator;
	order_round(o, w->sources, w->thread_count, until, true);
	o->sink = take_event;
	o->context = &w->trace.narrator;
	if (narrator != NULL)
		commit();
	for (uint32_t i = 0; i < w->thread_count; i++) {
		struct order_source *const source = w->sources[i];

		/*
		 * A realloc under way: what becomes of its old block is not
		 * known to the next trace, where its new one begins.
		 */
		if (source->realloc_open && !source->realloc_done)
			source->realloc_freed = true;
		room_release(source->ring, source->pos);
		/* relaxed: what was dropped now is of no trace either. */
		atomic_store_explicit(&source->ring->lost_count, 0,
				      memory_order_relaxed);
	}
}

/* Let go of threads that ended while nothing was recorded. */
static void
bury_threads(void)
{
	for (uint32_t i = 0; i < w->thread_count; i++) {
		struct thread *const t = w->threads[i];

		if (t->source.pos != ring_head(t->source.ring) ||
		    thread_exists(t))
			continue;
		w->gone_count++;
		recycle(t);
	}
	w->thread_count = 0;
}

/* Are there threads of the program besides one?  When in doubt, yes. */
static bool
has_threads(void)
{
	char buf[1024];
	const char *const state = read_stat(buf, sizeof(buf));

	return state == NULL || stat_field(state, STAT_NUM_THREADS) > 2;
}

/*
 * Begin a trace.  The program's threads go on meanwhile: from when they see the
 * flag they publish events, which may be of blocks that the trace does not know
 * (FORMAT, "start=late").  What was published before the stamp T, taken after the
 * flag was set, is passed over.  That is consistent: if an event of a block is
 * kept, all later ones of that block are, since their stamps are larger; and an
 * event before T that is published only later is an allocation that nobody has
 * seen or a free that has not happened (order.h, rule 3), so everybody who learns
 * of it sees the flag.  With one thread, without stamps, what is passed over is
 * the first part of its ring.
 */
static const char *
start_recording(void)
{
	struct line *const line = &w->trace.narrator.line;

	if (!w->is_dormant)
		return "recording already";
	/* seq_cst, both: see writer_end_dormant(). */
	atomic_store_explicit(&w->is_dormant, false, memory_order_seq_cst);
	if (atomic_load_explicit(&w->is_ending, memory_order_seq_cst)) {
		atomic_store_explicit(&w->is_dormant, true,
				      memory_order_relaxed);
		return "the process is ending";
	}
	discard(UINT64_MAX, NULL);
	bury_threads();
	line_add(line, clock_stamp(), sys_clock_ns(CLOCK_MONOTONIC));
	if (!segment_open(&w->segment)) {
		/* relaxed: as if nothing had been. */
		atomic_store_explicit(&w->is_dormant, true,
				      memory_order_relaxed);
		return "cannot create the trace";
	}
	if (w->trace.output.directory < 0)
		output_hold_directory(&w->trace.output);
	note_file();
	/*
	 * A thread that is made from here on makes the clock stamped before its
	 * first event (lifecycle_attach()); what its parent records with ticks
	 * before it can know of that thread's blocks is in order.
	 */
	if (has_threads())
		clock_go_stamped();
	clock_set_idle();
	/* From here on recovery is about this trace. */
	collect_threads();
	commit_rings();
	/* seq_cst: before the stamp is taken and the heads are read. */
	atomic_store_explicit(&record_dormant, false, memory_order_seq_cst);
	line_add(line, clock_stamp(), sys_clock_ns(CLOCK_MONOTONIC));
	discard(line->stamp1, &w->trace.narrator);
	w->last_event_ns = w->trace.narrator.block_since_ns = line->ns1;
	return NULL;
}

/*
 * End the trace; the program goes on.  The stamp T is taken before the flag is set:
 * whoever saw the flag and therefore left out an event did so after T, so up to T
 * nothing is left out, and what comes later is passed over.
 */
static const char *
stop_recording(void)
{
	struct narrate_end end = { .name = end_names[WRITER_END_STOP] };
	uint64_t until;

	if (w->is_dormant)
		return "not recording";
	/* What a thread records when it knows of another one's unrecorded event
	 * has a stamp, then, and not a tick from before T. */
	clock_drop_grant();
	until = clock_stamp();
	/* seq_cst: after the stamp was taken, before the heads are read. */
	atomic_store_explicit(&record_dormant, true, memory_order_seq_cst);
	prepare_end(&end, until);
	w->last_events = w->trace.narrator.event_count;
	w->last_lost = w->trace.narrator.lost_count;
	w->is_ended = w->is_stopped = true;
	if (!segment_end(&w->segment, &end) || !commit_and_recycle())
		return say_errno(w->trace.error);
	w->is_ended = w->is_stopped = false;
	segment_close(&w->segment, &end);
	discard(UINT64_MAX, NULL);
	clock_set_idle();
	/* release: the trailer is written. */
	atomic_store_explicit(&w->is_dormant, true, memory_order_release);
	return NULL;
}

static bool
is_ending_dormant(void)
{
	/* seq_cst: see writer_end_dormant(). */
	return w->is_dormant &&
	       atomic_load_explicit(&w->is_ending, memory_order_seq_cst);
}

/* Nothing is recorded: sleep until somebody wants something. */
static bool
sleep_dormant(uint32_t wake)
{
	if (is_alone(&w->exit_status))
		return false;
	control_sleep(&w->wake, wake,
		      sys_clock_ns(CLOCK_MONOTONIC) - w->start_ns >
				      CONTROL_AFTER_NS
			      ? IDLE_SLEEP_NS
			      : CONTROL_AFTER_NS);
	return true;
}

/* Orders ------------------------------------------------------------------ */

static void
tell_trace(struct text *answer)
{
	const struct trace *const t = &w->trace;
	const struct narrator *const n = &t->narrator;
	const bool dormant = w->is_dormant;
	struct narrate_end sums = { .name = NULL };

	sum_up(&sums);
	text_line(answer, "trace", t->output.path, strlen(t->output.path));
	text_line_u64(answer, "events",
		      dormant ? w->last_events : n->event_count);
	text_line_u64(answer, "bytes", t->output.nbytes);
	text_line_u64(answer, "lost", dormant ? w->last_lost : n->lost_count);
	text_line_u64(answer, "waits", sums.waits);
	text_line_u64(answer, "wait_ns", sums.wait_ns);
	text_line_u64(answer, "threads", sums.threads);
	text_line_u64(answer, "segment", w->segment.number);
	text_line_u64(answer, "seconds",
		      (sys_clock_ns(CLOCK_MONOTONIC) - w->segment.since_ns) /
			      NS_PER_SEC);
}

static void
tell_status(struct text *answer)
{
	const char *const exe = header_names()->path;
	const char *const state = w->is_dormant ? "dormant" : "recording";

	text_line_u64(answer, "pid", (uint64_t)sys_pid());
	text_line(answer, "exe", exe, strlen(exe));
	text_line(answer, "state", state, strlen(state));
	if (w->trace.output.path[0] != '\0')
		tell_trace(answer);
}

/* What has been published is to be in the file. */
static const char *
flush(struct text *answer)
{
	if (w->is_dormant)
		return "not recording";
	if (!do_round() || !commit_and_recycle())
		return say_errno(w->trace.error);
	tell_trace(answer);
	return NULL;
}

static const char *
rotate(void)
{
	if (w->is_dormant)
		return "not recording";
	/* What is published belongs to the segment that ends. */
	if (!do_round())
		return say_errno(w->trace.error);
	if (is_forking(w->trace.narrator.line.ns1))
		return "a fork is under way; try again";
	if (!rotate_now())
		return say_errno(w->trace.error);
	return w->segment.is_failing ? "cannot create the next file" : NULL;
}

/* A control_obey. */
static const char *
obey(const char *order, struct text *answer)
{
	const char *wrong = "unknown order";

	if (strcmp(order, "flush") == 0)
		return flush(answer);
	if (strcmp(order, "start") == 0)
		wrong = start_recording();
	else if (strcmp(order, "rotate") == 0)
		wrong = rotate();
	else if (strcmp(order, "stop") == 0)
		wrong = stop_recording();
	else if (strcmp(order, "status") == 0)
		wrong = NULL;
	if (wrong == NULL)
		tell_status(answer);
	return wrong;
}

/* The program itself wants something. */
static void
serve_client(void)
{
	static const char *const words[] = {
		[WRITER_ORDER_START] = "start",
		[WRITER_ORDER_STOP] = "stop",
		[WRITER_ORDER_FLUSH] = "flush",
	};
	static char buf[16384];
	/* acquire: pairs with the release in writer_obey(): what that thread
	 * published before is seen. */
	const uint32_t order =
		atomic_load_explicit(&w->client_order, memory_order_acquire);
	struct text unheard;

	if (order == WRITER_ORDER_NONE)
		return;
	text_init(&unheard, buf, sizeof(buf));
	/* relaxed: published with the order's end. */
	atomic_store_explicit(&w->client_done,
			      obey(words[order], &unheard) == NULL,
			      memory_order_relaxed);
	/* release: pairs with the acquire in writer_obey(). */
	atomic_store_explicit(&w->client_order, WRITER_ORDER_NONE,
			      memory_order_release);
	sys_futex_wake(&w->client_order);
}

static int
writer_main(void *unused)
{
	bool running = true;

	(void)unused;
	output_hold_directory(&w->trace.output);
	control_begin();
	while (running) {
		/* acquire: what was done before a wake is seen after it. */
		const uint32_t wake =
			atomic_load_explicit(&w->wake, memory_order_acquire);

		running = serve_request();
		if (!running)
			break;
		resume();
		serve_rings();
		const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);

		if (atomic_load_explicit(&w->hold_until_ns,
					 memory_order_relaxed) > now) {
			sys_futex_wait(&w->wake, wake, 10 * TICK_NS);
			continue;
		}
		serve_client();
		control_serve(now, now - w->start_ns > CONTROL_AFTER_NS &&
					   !is_ending_dormant());
		if (w->is_dormant) {
			running = sleep_dormant(wake);
			continue;
		}
		running = do_round();
		if (running)
			running = rest(wake);
	}
	control_close();
	lifecycle_set_off();
	ringfile_remove();
	answer();
	/* That of the last thread is the process's. */
	return w->exit_status;
}

static bool
map_memory(int level)
{
	/* A child of a fork finds the mapping of its parent, wiped. */
	if (w == NULL) {
		w_nbytes = sizeof(*w) + trace_memory_nbytes(level) + 64;
		w = memory_map_wiped(w_nbytes);
	}
	return w != NULL;
}

bool
writer_start(const struct config *config, struct output *output)
{
	int keep[1 + RINGFILE_FDS];
	const bool dormant = output->fd < 0;

	if (!map_memory(config->level)) {
		say("out of memory; not tracing");
		return false;
	}
	trace_open(&w->trace, config, output,
		   (void *)(((uintptr_t)w->memory + 63) & ~(uintptr_t)63));
	segment_init(&w->segment, &w->trace, config, dormant);
	/* relaxed: no other thread knows of the writer yet. */
	atomic_store_explicit(&w->is_dormant, dormant, memory_order_relaxed);
	note_file();
	order_init(&w->order, w->heap, THREAD_MAX, take_event,
		   &w->trace.narrator);
	w->start_ns = sys_clock_ns(CLOCK_MONOTONIC);
	control_init(config->control, header_environment(), obey);
	/* The header at once: whatever happens, there is a trace. */
	if (!dormant && !segment_begin_first(&w->segment))
		return false;
	grant_init(&w->grant);
	w->last_event_ns = w->trace.narrator.line.ns1;
	w->trace.narrator.block_since_ns = w->trace.narrator.line.ns1;
	if (!dormant)
		commit_rings();
	keep[0] = output->fd;
	ringfile_fds(&keep[1]);
	if (!spawn_thread(writer_main, NULL, keep, 1 + RINGFILE_FDS)) {
		say("cannot start the writer thread: %s; not tracing",
		    say_errno(errno));
		return false;
	}
	/* The thread has its own. */
	output_close(output);
	ringfile_close_fds();
	return true;
}

void
writer_wake(void)
{
	/* release: pairs with the acquire in writer_main(); seq_cst for
	 * control_sleep(). */
	atomic_fetch_add_explicit(&w->wake, 1, memory_order_seq_cst);
	if (!control_wake())
		sys_futex_wake(&w->wake);
}

void
writer_finish(enum writer_end end)
{
	uint32_t none = 0;
	/* acquire: pairs with the release in answer(). */
	const uint32_t done =
		atomic_load_explicit(&w->done, memory_order_acquire);

	/* Another thread is at it already: one trailer does for both. */
	atomic_compare_exchange_strong_explicit(
		&w->request, &none, (uint32_t)end + 1, memory_order_acq_rel,
		memory_order_acquire);
	while (lifecycle_is_tracing() &&
	       atomic_load_explicit(&w->done, memory_order_acquire) == done) {
		writer_wake();
		sys_futex_wait(&w->done, done, 10 * TICK_NS);
	}
}

bool
writer_obey(enum writer_order order)
{
	bool done = false;
	uint32_t none = WRITER_ORDER_NONE;

	/* One thread at a time; release: see serve_client(). */
	while (!atomic_compare_exchange_strong_explicit(
		&w->client_order, &none, order, memory_order_acq_rel,
		memory_order_relaxed)) {
		if (!lifecycle_is_tracing())
			return false;
		sys_futex_wait(&w->client_order, none, 10 * TICK_NS);
		none = WRITER_ORDER_NONE;
	}
	while (lifecycle_is_tracing()) {
		writer_wake();
		sys_futex_wait(&w->client_order, order, 10 * TICK_NS);
		/* acquire: pairs with the release in serve_client(). */
		if (atomic_load_explicit(&w->client_order,
					 memory_order_acquire) != order)
			break;
	}
	/* relaxed: another thread's order may have followed; as it is. */
	done = atomic_load_explicit(&w->client_done, memory_order_relaxed);
	return done && lifecycle_is_tracing();
}

bool
writer_end_dormant(void)
{
	/* seq_cst, both: either start_recording() sees the flag, or we see that
	 * it has begun; a stop that has not come to its end is no dormancy. */
	atomic_store_explicit(&w->is_ending, true, memory_order_seq_cst);
	if (!atomic_load_explicit(&w->is_dormant, memory_order_seq_cst))
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
	atomic_store_explicit(&w->resume, 1, memory_order_release);
	/* acquire: the ring may be another one now, at the same place. */
	while (lifecycle_is_tracing() &&
	       atomic_load_explicit(&w->resume, memory_order_acquire) != 0) {
		writer_wake();
		sys_futex_wait(&w->resume, 1, 10 * TICK_NS);
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
		done = atomic_load_explicit(&w->done, memory_order_acquire);
		/* acquire: pairs with the release in put_fork(), narrate.c. */
		if (atomic_load_explicit(&w->trace.narrator.fork[i].ticket,
					 memory_order_acquire) == ticket) {
			place_ret->segment = w->trace.narrator.fork[i].segment;
			place_ret->event = w->trace.narrator.fork[i].event;
			return true;
		}
		writer_wake();
		sys_futex_wait(&w->done, done, TICK_NS / 10);
	}
	return false;
}

static const struct file *
current_file(void)
{
	/* acquire: pairs with the release in note_file(). */
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
	atomic_fetch_add_explicit(&w->unattached, 1, memory_order_relaxed);
	ringfile_count_unattached();
}
