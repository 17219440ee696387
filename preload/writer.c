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
#include "grant.h"
#include "lifecycle.h"
#include "memory.h"
#include "order.h"
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
	uint32_t fork_count;	  /* that have begun and are not over */
	uint64_t fork_since_ns;	  /* of the last one that began */
	int exit_status; /* of the process, where only the writer is left */
	const struct order_source
		*blocked; /* as in 'order', of the last round */
	uint64_t blocked_pos, blocked_since_ns;
	_Atomic uint64_t hold_until_ns; /* 0: no trailer has been written */
	/* Futex words: changed to wake the writer, and by it when it has done
	 * what was asked or is no more. */
	_Atomic uint32_t wake;
	_Atomic uint32_t done;
	_Atomic uint32_t resume;  /* 1: the process goes on after all */
	_Atomic uint32_t request; /* enum writer_end + 1; 0: none */
	_Atomic uint64_t unattached;
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
	const uint64_t n = atomic_exchange_explicit(&t->lost_count, 0,
						    memory_order_relaxed);

	if (n != 0)
		narrate_lost(&w->trace.narrator, &t->source, n,
			     atomic_load_explicit(&t->lost_first,
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

/* Between events: go on in another file if it is time. */
static bool
rotate_if_due(void)
{
	const uint64_t now = w->trace.narrator.line.ns1;
	const uint64_t number = w->segment.number;
	struct narrate_end end = { .name = "rotate" };

	if (!segment_is_due(&w->segment, now) || is_forking(now))
		return true;
	sum_up(&end);
	if (!segment_rotate(&w->segment, &end, now))
		return false;
	if (w->segment.number != number)
		note_file();
	return commit();
}

/* The order_sink: an event goes into a block that has room for it. */
static void
take_event(void *narrator, const struct order_source *source,
	   const struct event *ev)
{
	if (__builtin_expect(narrate_is_full(narrator), 0) && commit())
		rotate_if_due();
	if (__builtin_expect(ev->type >= EVENT_THREAD, 0))
		note_thread(source, ev);
	segment_note_event(&w->segment, source, ev);
	narrate_event(narrator, source, ev);
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

static void
finish(enum writer_end how)
{
	struct narrate_end end = {
		.name = end_names[how],
		.is_early = how == WRITER_END_SANDBOX,
	};

	const uint64_t stamp = clock_stamp();

	collect_threads();
	line_add(&w->trace.narrator.line, stamp, sys_clock_ns(CLOCK_MONOTONIC));
	drain(UINT64_MAX, true);
	tend_last();
	for (uint32_t i = 0; i < w->thread_count; i++)
		note_lost(w->threads[i]);
	note_unattached();
	sum_up(&end);
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

	finish(end);
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

/*
 * Have all other threads left, by ways that do not end the process?  Then only we
 * keep it from ending.  /proc/self is the process, that is its initial thread,
 * which stays as a zombie.  '*status_ret' is the exit status that it left.
 */
static bool
is_alone(int *status_ret)
{
	enum {
		NUM_THREADS = 20,
		EXIT_CODE = 52
	};
	char stat[1024];
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/stat",
				    O_RDONLY | O_CLOEXEC);
	const char *state;
	long n;

	if (fd < 0)
		return false;
	n = syscall(SYS_read, fd, stat, sizeof(stat) - 1);
	syscall(SYS_close, fd);
	stat[n > 0 ? n : 0] = '\0';
	state = strrchr(stat, ')');
	if (state == NULL || state[1] != ' ' || state[2] != 'Z')
		return false;
	state += 2;
	*status_ret = (int)(stat_field(state, EXIT_CODE) >> 8 & 0xff);
	return stat_field(state, NUM_THREADS) == 2;
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
	sys_futex_wait(&w->wake, wake,
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
	collect_threads();
	/* A ring that is being written cannot be moved. */
	if (w->thread_count == 1) {
		ringfile_reopen(w->sources[0]->ring, w->trace.output.path);
		commit_rings();
	}
	atomic_store_explicit(&w->hold_until_ns, 0, memory_order_relaxed);
	/* release: pairs with the acquire in writer_resume(). */
	atomic_store_explicit(&w->resume, 0, memory_order_release);
	sys_futex_wake(&w->resume);
}

static int
writer_main(void *unused)
{
	bool running = true;

	(void)unused;
	output_hold_directory(&w->trace.output);
	while (running) {
		/* acquire: what was done before a wake is seen after it. */
		const uint32_t wake =
			atomic_load_explicit(&w->wake, memory_order_acquire);

		running = serve_request();
		if (!running)
			break;
		resume();
		serve_rings();
		if (atomic_load_explicit(&w->hold_until_ns,
					 memory_order_relaxed) >
		    sys_clock_ns(CLOCK_MONOTONIC)) {
			sys_futex_wait(&w->wake, wake, 10 * TICK_NS);
			continue;
		}
		running = do_round();
		if (running)
			running = rest(wake);
	}
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

	if (!map_memory(config->level)) {
		say("out of memory; not tracing");
		return false;
	}
	trace_open(&w->trace, config, output,
		   (void *)(((uintptr_t)w->memory + 63) & ~(uintptr_t)63));
	segment_init(&w->segment, &w->trace, config, false);
	note_file();
	order_init(&w->order, w->heap, THREAD_MAX, take_event,
		   &w->trace.narrator);
	/* The header at once: whatever happens, there is a trace. */
	if (!segment_begin_first(&w->segment))
		return false;
	grant_init(&w->grant);
	w->last_event_ns = w->trace.narrator.line.ns1;
	w->trace.narrator.block_since_ns = w->trace.narrator.line.ns1;
	commit_rings();
	keep[0] = output->fd;
	ringfile_fds(&keep[1]);
	if (!spawn_thread(writer_main, NULL, keep, 1 + RINGFILE_FDS)) {
		say("cannot start the writer thread: %s; not tracing",
		    say_errno(errno));
		return false;
	}
	/* The thread has its own. */
	syscall(SYS_close, output->fd);
	ringfile_close_fds();
	return true;
}

void
writer_wake(void)
{
	/* release: pairs with the acquire in writer_main(). */
	atomic_fetch_add_explicit(&w->wake, 1, memory_order_release);
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
