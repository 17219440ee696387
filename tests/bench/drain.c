/* SPDX-License-Identifier: MIT */
/*
 * drain.c - measure the time of the recorder's writer thread per event, in ns
 *
 *   drain TRACE
 *
 * Put the events of TRACE, up to four million, back into a ring as one thread
 * would have, and drain that as the writer does: into one order (order.c), into
 * records and blocks (narrate.c), into gzip members.  The bytes are dropped.
 * Print for each stage the ns per event beyond the stages before it, with a
 * tick for each event and with a stamp, and the million events per second of
 * all stages; then the same in the encoder's fast mode (encoder_set_fast()).
 * The numbers are CPU time, the least of ten runs, since only other programs
 * make a run longer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hatf/deflate/deflate.h"
#include "hatf/hatf.h"
#include "hatf/rings/narrate.h"
#include "hatf/rings/order.h"

#define EVENTS_MAX  4000000u
#define WORDS_MAX   (EVENTS_MAX * 8)
#define RING_WORDS  (512u << 10) /* 4 MiB: the initial thread's */
#define ROUND_WORDS (64u << 10)
#define RUNS	    10
#define STAGES	    3

static uint64_t *words[2]; /* without, with stamps */
static size_t words_count[2];
/* The positions at which rounds end: after an event. */
static size_t ends[2][WORDS_MAX / ROUND_WORDS + 1], ends_count[2];
static size_t event_count;
static uint64_t last_stamp;

static struct narrator narrator;
static uint8_t *member, *work;
static size_t member_cap;
static bool is_packed, is_fast;
static uint64_t packed_nbytes;

static void *
xmalloc(size_t nbytes)
{
	void *const p = aligned_alloc(4096, (nbytes + 4095) & ~(size_t)4095);

	if (p == NULL) {
		fputs("drain: out of memory\n", stderr);
		exit(1);
	}
	return memset(p, 0, nbytes);
}

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ------------------------------------------------------------------ input */

static void
put(unsigned stamped, uint64_t word)
{
	words[stamped][words_count[stamped]++] = word;
}

static void
end_rounds(void)
{
	for (unsigned i = 0; i < 2; i++) {
		const size_t n = ends_count[i];

		if (words_count[i] - (n == 0 ? 0 : ends[i][n - 1]) >=
		    ROUND_WORDS)
			ends[i][ends_count[i]++] = words_count[i];
	}
}

/* Put an event of one word, or of two. */
static void
put_plain(uint64_t word, unsigned stamped_kind, uint64_t stamp)
{
	put(0, word);
	put(1, word + stamped_kind);
	put(1, stamp);
}

static void
put_wide(unsigned stamped, enum event_type type, unsigned flags, uint64_t stamp,
	 const uint64_t *operand, unsigned n)
{
	put(stamped, event_wide(type, 2 + n, flags));
	put(stamped, stamp);
	for (unsigned i = 0; i < n; i++)
		put(stamped, operand[i]);
}

static void
put_alloc(const struct hatf_record *rec, uint64_t stamp)
{
	const uint64_t operand[] = { rec->address, rec->size, 0 };
	const bool zeroed = rec->attributes_nbytes != 0;

	if ((rec->address & EVENT_ADDRESS_EXTRA_BITS) != 0 ||
	    rec->size >= EVENT_SIZE_LIMIT)
		for (unsigned stamped = 0; stamped < 2; stamped++)
			put_wide(stamped, EVENT_ALLOC,
				 zeroed ? EVENT_FLAG_ZEROED : 0, stamp, operand,
				 3);
	else
		put_plain(
			rec->size << EVENT_SIZE_SHIFT | rec->address |
				(zeroed ? EVENT_KIND_CALLOC : EVENT_KIND_ALLOC),
			zeroed ? EVENT_KIND_CALLOC_STAMPED - EVENT_KIND_CALLOC
			       : EVENT_KIND_ALLOC_STAMPED - EVENT_KIND_ALLOC,
			stamp);
}

/* Put a realloc; return how many of the next records belong to it. */
static unsigned
put_realloc(const struct hatf_record *rec, uint64_t stamp)
{
	const uint64_t operand[] = { rec->old_address, rec->address,
				     rec->size };

	const unsigned flags =
		rec->tag == HATF_REALLOC_FREE ? EVENT_FLAG_FREED : 0;
	const bool fits = rec->old_address != 0 && rec->address != 0 &&
			  flags == 0 &&
			  ((rec->old_address | rec->address) &
			   EVENT_REALLOC_EXTRA_BITS) == 0 &&
			  rec->size < EVENT_SIZE_LIMIT;

	if (fits) {
		put(0, rec->old_address | EVENT_KIND_REALLOC);
		put(0, rec->size << EVENT_SIZE_SHIFT | EVENT_REALLOC_IS_END |
			       rec->address | EVENT_KIND_REALLOC);
	}
	for (unsigned stamped = fits; stamped < 2; stamped++) {
		if (rec->old_address != 0)
			put_wide(stamped, EVENT_REALLOC_BEGIN, 0, stamp,
				 operand, 1);
		put_wide(stamped, EVENT_REALLOC_END, flags, stamp, operand, 3);
	}
	if (rec->tag == HATF_REALLOC_ALLOC_FREE)
		return 2;
	return rec->tag != HATF_REALLOC_NO_ALLOC;
}

static void
take_record(const struct hatf_record *rec)
{
	static unsigned skip;
	/* A trace's microsecond is a thousand counts of the clock. */
	const uint64_t stamp = (rec->time + 1) * 1000;

	if (rec->tag > HATF_REALLOC_FREE)
		return;
	if (skip != 0) {
		skip--;
		return;
	}
	if (stamp != last_stamp) {
		put(0, event_wide(EVENT_TICK, 2, 0));
		put(0, stamp);
	}
	last_stamp = stamp;
	event_count++;
	end_rounds();
	if (rec->tag == HATF_ALLOC)
		put_alloc(rec, stamp);
	else if (rec->tag == HATF_FREE)
		put_plain((rec->address & ~EVENT_ADDRESS_EXTRA_BITS) |
				  EVENT_KIND_FREE,
			  EVENT_KIND_FREE_STAMPED - EVENT_KIND_FREE, stamp);
	else
		skip = put_realloc(rec, stamp);
}

static bool
load(const char *path)
{
	static struct hatf_record batch[1024];
	struct hatf_reader *reader;
	struct hatf_error err;
	size_t n;

	if (hatf_reader_open(path, NULL, &reader, &err) != HATF_OK)
		return false;
	while (event_count + 1024 < EVENTS_MAX &&
	       hatf_reader_read(reader, batch, 1024, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			take_record(&batch[i]);
	hatf_reader_close(reader);
	for (unsigned i = 0; i < 2; i++)
		ends[i][ends_count[i]++] = words_count[i];
	return event_count != 0;
}

/* ------------------------------------------------------------------- runs */

static void
drop_event(void *context, const struct order_producer *producer,
	   const struct event *ev)
{
	(void)context;
	(void)producer;
	(void)ev;
}

static size_t
drop_run(void *context, const struct order_producer *producer,
	 struct order_run *run)
{
	(void)context;
	(void)producer;
	run->events_taken = run->count / (1 + run->is_stamped);
	return run->count;
}

static void
commit(struct narrator *n)
{
	encoder_end(&n->encoder);
	if (is_packed)
		packed_nbytes += deflate_member(DEFLATE_LEVEL_DEFAULT, work,
						n->encoder.buf, n->encoder.used,
						member, member_cap);
	encoder_reset(&n->encoder);
	n->in_block = false;
}

static void
take_event(void *context, const struct order_producer *producer,
	   const struct event *ev)
{
	struct narrator *const n = context;

	if (narrate_is_full(n))
		commit(n);
	narrate_event(n, producer, ev);
}

static size_t
take_run(void *context, const struct order_producer *producer,
	 struct order_run *run)
{
	struct narrator *const narrate = context;

	if (narrate_is_full(narrate))
		commit(narrate);
	return narrate_run(narrate, producer, run);
}

static uint64_t
run(unsigned stage, unsigned stamped, struct ring *ring, void *memory)
{
	struct order_producer producer = { .ring = ring };
	struct order_producer *producers[] = { &producer }, *heap[1];
	struct order order;
	uint64_t took_ns = 0, pos = 0;

	ring_init(ring, RING_WORDS);
	narrate_init(&narrator, memory, false);
	narrator.unit_ns = 1000;
	encoder_set_fast(&narrator.encoder, is_fast);
	narrate_start_clock(&narrator, 0, 0);
	narrate_read_clock(&narrator, last_stamp, last_stamp);
	order_init(&order, heap, 1, stage == 0 ? drop_event : take_event,
		   &narrator);
	order.run_sink = stage == 0 ? drop_run : take_run;
	is_packed = stage == 2;
	packed_nbytes = 0;
	for (size_t i = 0; i < ends_count[stamped]; i++) {
		while (pos < ends[stamped][i]) {
			ring_put(ring, pos, words[stamped][pos]);
			pos++;
		}
		ring_publish(ring, pos);

		const uint64_t start_ns = cpu_ns();

		order_round(&order, producers, 1, UINT64_MAX, false);
		took_ns += cpu_ns() - start_ns;
	}
	return took_ns;
}

/* Print a line of the table. */
static void
measure(unsigned stamped, struct ring *ring, void *memory)
{
	static const char *const stages[STAGES] = { "order", "encode", "pack" };
	double before = 0, least[STAGES];

	printf("%s%s:", stamped ? "stamps" : "ticks",
	       is_fast ? ", fast mode" : "");
	for (unsigned stage = 0; stage < STAGES; stage++) {
		least[stage] = 1e30;
		for (unsigned i = 0; i < RUNS; i++) {
			const double ns =
				(double)run(stage, stamped, ring, memory) /
				(double)event_count;

			if (ns < least[stage])
				least[stage] = ns;
		}
		printf(" %s %.1f", stages[stage], least[stage] - before);
		before = least[stage];
	}
	printf(" ns, %.1f M/s, %.3f bytes\n", 1e3 / before,
	       (double)packed_nbytes / (double)event_count);
}

int
main(int argc, char **argv)
{
	words[0] = xmalloc(WORDS_MAX * sizeof(uint64_t));
	words[1] = xmalloc(WORDS_MAX * sizeof(uint64_t));
	if (argc != 2 || !load(argv[1])) {
		fputs("usage: drain TRACE\n", stderr);
		return 2;
	}
	deflate_load();

	void *const memory = xmalloc(narrate_memory_nbytes(false));
	struct ring *const ring = xmalloc(ring_nbytes(RING_WORDS));

	narrate_init(&narrator, memory, false);
	member_cap = deflate_bound(narrator.encoder.cap);
	member = xmalloc(member_cap);
	work = xmalloc(deflate_work_nbytes(DEFLATE_LEVEL_DEFAULT));
	for (unsigned i = 0; i < 4; i++) {
		is_fast = i >= 2;
		measure(i % 2, ring, memory);
	}
	return 0;
}
