/* SPDX-License-Identifier: MIT */
/*
 * memtrace_sink.c - records into a trace of OCaml's Memtrace (FORMAT "memtrace")
 *
 * The plainest trace that its readers take: version 2, every block a sample (rate 1,
 * as many samples as words) unless the trace has samples of its own, no domains, each
 * frame as it is and nothing in common
 * with the stack before, so that neither cache nor tables of names must be kept.
 *
 * A packet is gathered in memory, as its header has its length and the number of
 * allocations in it.  Locations are in packets of their own in front of the first
 * event that refers to them.
 *
 * Memory is O(live blocks + distinct stacks).
 */
#include "format.h"
#include "ledger.h"
#include "memtrace.h"
#include "sampling.h"

#include <endian.h>
#include <stdlib.h>

#define VERSION 2

/* Readers have a buffer of 32 KiB for a packet. */
#define PACKET_MAX 32768

/* The most of an event without its stack, and frames of a stack: the innermost are
 * left out, as Memtrace does it. */
#define EVENT_MAX 40
#define DEPTH_MAX 3200
#define FRAME_MAX 10

/* A packet's times are at most so far apart, in microseconds. */
#define SPAN_MAX 30000000

/* Bytes of names that a location may have; more are cut. */
#define NAME_MAX_NBYTES 1000

/* Numbers of its own programs have 63 bits, and codes less. */
#define CODE_MASK (((uint64_t)1 << 61) - 1)

struct packet {
	uint8_t bytes[PACKET_MAX + 8]; /* a short number is stored as 8 */
	size_t used;
	uint64_t begin, end; /* microseconds since 1970 */
	uint64_t first_id, next_id;
};

struct memtrace {
	struct ledger ledger;
	struct hatf_stacks *stacks;
	struct live told; /* frames whose location has been written */
	struct packet events, locations;
	struct sampling sampling;
	uint64_t pid;
	uint64_t start;	   /* microseconds since 1970 */
	uint64_t us_units; /* of a record's time in a microsecond; 0: less */
	uint64_t time;
};

/* ------------------------------------------------------------------- pieces */

/* The lowest bytes of a number, at most 8. */
static inline void
put(struct packet *p, uint64_t n, size_t nbytes)
{
	const uint64_t bytes = htole64(n);

	memcpy(p->bytes + p->used, &bytes, sizeof(bytes));
	p->used += nbytes;
}

static void
put_vint(struct packet *p, uint64_t n)
{
	if (n < MEMTRACE_VINT16) {
		put(p, n, 1);
	} else if (n <= UINT16_MAX) {
		put(p, MEMTRACE_VINT16, 1);
		put(p, n, 2);
	} else if (n <= INT32_MAX) {
		put(p, MEMTRACE_VINT32, 1);
		put(p, n, 4);
	} else {
		put(p, MEMTRACE_VINT64, 1);
		put(p, n, 8);
	}
}

/* A string, cut where it is too long. */
static void
put_string(struct packet *p, const char *text)
{
	const size_t nbytes = strnlen(text, NAME_MAX_NBYTES);

	memcpy(p->bytes + p->used, text, nbytes);
	p->used += nbytes;
	put(p, 0, 1);
}

static void
put_event(struct packet *p, unsigned event, uint64_t time)
{
	put(p,
	    (uint64_t)event << MEMTRACE_TIME_BITS | (time & MEMTRACE_TIME_MASK),
	    4);
}

/* Write a packet, unless it is empty, and begin a new one. */
static void
flush_packet(struct sink *s, struct packet *p)
{
	const struct memtrace *const m = s->ctx;
	struct packet header = { .used = 0 };

	if (p->used != 0) {
		put(&header, MEMTRACE_MAGIC, 4);
		put(&header, 8 * (MEMTRACE_HEADER_NBYTES + p->used), 4);
		put(&header, p->begin, 8);
		put(&header, p->end, 8);
		put(&header, 0, 4);
		put(&header, VERSION, 2);
		put(&header, m->pid, 8);
		/* No look at the cache. */
		put(&header, UINT16_MAX, 2);
		put(&header, 0, 2);
		put(&header, 0, 8);
		put(&header, p->first_id, 8);
		put(&header, p->next_id, 8);
		outfile_bytes(&s->out, header.bytes, header.used);
		outfile_bytes(&s->out, p->bytes, p->used);
	}
	p->used = 0;
	p->first_id = p->next_id;
}

/* ---------------------------------------------------------------- locations */

/* Locations come before the events that are gathered. */
static void
flush_locations(struct sink *s)
{
	struct memtrace *const m = s->ctx;

	m->locations.begin = m->locations.end = m->events.begin;
	m->locations.first_id = m->locations.next_id = m->events.first_id;
	flush_packet(s, &m->locations);
}

static void
flush_all(struct sink *s)
{
	struct memtrace *const m = s->ctx;

	flush_locations(s);
	flush_packet(s, &m->events);
}

static uint64_t
clamp(uint64_t n, uint64_t max)
{
	return n < max ? n : max;
}

/* Tell what a frame's code, which is its id, stands for. */
static bool
tell_frame(struct sink *s, uint64_t id)
{
	static const uint64_t names = (uint64_t)MEMTRACE_TABLE_COUNT << 38 |
				      (uint64_t)MEMTRACE_TABLE_COUNT << 43;
	struct memtrace *const m = s->ctx;
	struct packet *const p = &m->locations;
	struct hatf_frame f = { .function = NULL };
	const char *file;
	uint64_t column;
	bool added;

	if (live_put(&m->told, id, &added) == NULL) {
		sink_fail(s, HATF_NO_MEMORY, NULL);
		return false;
	}
	if (!added)
		return true;
	if (p->used + EVENT_MAX + 2 * NAME_MAX_NBYTES >
	    PACKET_MAX - MEMTRACE_HEADER_NBYTES)
		flush_locations(s);
	hatf_stacks_get_frame(m->stacks, id, &f);
	file = f.file != NULL ? f.file : f.object;
	column = f.column == 0 ? 0 : clamp(f.column - 1, 0xff);
	put_event(p, MEMTRACE_LOCATION, m->events.begin);
	put(p, id & CODE_MASK, 8);
	put(p, 1, 1);
	put(p, clamp(f.line, 0xfffff) | column << 20 | column << 28 | names, 6);
	put_string(p, file != NULL ? file : "");
	put_string(p, f.function != NULL ? f.function : "");
	return true;
}

/* ------------------------------------------------------------------- events */

/* Have room for an event at this time. */
static void
make_room(struct sink *s, const struct hatf_record *rec, size_t nbytes)
{
	struct memtrace *const m = s->ctx;
	const uint64_t time =
		m->start +
		(m->us_units == 0 ? rec->time : rec->time / m->us_units);

	if (time > m->time)
		m->time = time;
	if (m->events.used != 0 &&
	    (m->time - m->events.begin > SPAN_MAX ||
	     m->events.used + nbytes > PACKET_MAX - MEMTRACE_HEADER_NBYTES))
		flush_all(s);
	if (m->events.used == 0)
		m->events.begin = m->time;
	m->events.end = m->time;
}

/* The frames of a stack, the innermost first; returns how many. */
static size_t
gather(const struct memtrace *m, uint64_t id, uint64_t *frames)
{
	struct hatf_stack stack;
	size_t n = 0;

	for (; hatf_stacks_get(m->stacks, id, &stack); id = stack.parent)
		frames[n++ % DEPTH_MAX] = stack.frame;
	return n;
}

/* How often a block has been chosen: if all are there, as often as it can be. */
static uint64_t
sample_count(const struct memtrace *m, const struct hatf_record *rec,
	     uint64_t words)
{
	if (m->sampling.rate != 0)
		return sampling_count(rec);
	return words == 0 ? 1 : words;
}

static bool
put_alloc(struct sink *s, const struct hatf_record *rec, struct block *block)
{
	struct memtrace *const m = s->ctx;
	struct packet *const p = &m->events;
	const uint64_t word_nbytes = m->sampling.word_nbytes;
	const uint64_t words =
		rec->size / word_nbytes + (rec->size % word_nbytes != 0);
	uint64_t frames[DEPTH_MAX];
	const size_t depth =
		rec->attributes_nbytes == 0
			? 0
			: gather(m, hatf_record_stack(rec), frames);
	const size_t count = depth < DEPTH_MAX ? depth : DEPTH_MAX;

	make_room(s, rec, EVENT_MAX + count * FRAME_MAX);
	for (size_t i = 0; i < count; i++)
		if (!tell_frame(s, frames[i]))
			return false;
	put_event(p, MEMTRACE_ALLOC, m->time);
	put_vint(p, words);
	put_vint(p, sample_count(m, rec, words));
	put(p, clamp(rec->heap, MEMTRACE_EXTERNAL), 1);
	put_vint(p, 0);
	put(p, count, 2);
	/* The outermost first. */
	for (size_t i = depth; i-- > depth - count;) {
		put(p, MEMTRACE_MISS, 2);
		put(p, frames[i % DEPTH_MAX] & CODE_MASK, 8);
	}
	block->object = p->next_id++;
	return true;
}

static void
put_collect(struct sink *s, const struct hatf_record *rec, uint64_t id)
{
	struct memtrace *const m = s->ctx;

	make_room(s, rec, EVENT_MAX);
	put_event(&m->events, MEMTRACE_COLLECT, m->time);
	put_vint(&m->events, m->events.next_id - 1 - id);
}

struct destruction {
	struct sink *s;
	const struct hatf_record *rec;
};

static void
put_death(void *ctx, uint64_t address, const struct block *block)
{
	const struct destruction *const d = ctx;

	(void)address;
	put_collect(d->s, d->rec, block->object);
}

static bool
put_destruction(struct sink *s, const struct hatf_record *rec)
{
	struct memtrace *const m = s->ctx;
	struct destruction d = { s, rec };

	return ledger_destroy(&m->ledger, rec->heap, put_death, &d);
}

static void
put_record(struct sink *s, const struct hatf_record *rec)
{
	struct memtrace *const m = s->ctx;
	struct ledger_entry entry;
	const char *field;

	if (rec->tag == HATF_COMMENT) {
		/* A definition that is wrong is none. */
		if (hatf_stacks_note(m->stacks, rec, &field) == HATF_NO_MEMORY)
			sink_fail(s, HATF_NO_MEMORY, NULL);
		return;
	}
	if (!ledger_enter(&m->ledger, rec, &entry)) {
		sink_fail(s, HATF_NO_MEMORY, NULL);
		return;
	}
	if (rec->tag == HATF_DESTROY_HEAP && !put_destruction(s, rec))
		sink_fail(s, HATF_NO_MEMORY, NULL);
	if (entry.kind == LEDGER_NONE || entry.kind == LEDGER_FAILED)
		return;
	if (entry.known)
		put_collect(s, rec, entry.old.object);
	if (entry.replaced)
		put_collect(s, rec, entry.lost.object);
	if (entry.block != NULL)
		put_alloc(s, rec, entry.block);
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	const struct memtrace *const m = s->ctx;

	for (size_t i = 0; i < n && s->err.status == HATF_OK; i++) {
		ledger_look_ahead(&m->ledger, records, n, i);
		put_record(s, &records[i]);
	}
	return s->err.status;
}

/* -------------------------------------------------------- opening, closing */

/* A number, or a text, that the header has. */
static uint64_t
find_number(const char *lines, const char *key)
{
	uint64_t n = 0;

	if (lines != NULL)
		text_find_u64(lines, strlen(lines), key, &n);
	return n;
}

static void
put_header(struct packet *p, const char *lines, const char *key)
{
	char buf[NAME_MAX_NBYTES + 1] = "";

	if (lines != NULL)
		text_find(lines, strlen(lines), key, buf, sizeof(buf));
	put_string(p, buf);
}

/* The first packet is about the trace. */
static void
put_info(struct sink *s)
{
	const char *const lines = s->options.header;
	struct memtrace *const m = s->ctx;
	struct packet *const p = &m->events;
	const double rate = m->sampling.rate == 0 ? 1 : m->sampling.rate;
	uint64_t bits;

	memcpy(&bits, &rate, sizeof(bits));
	p->begin = p->end = m->start;
	put_event(p, MEMTRACE_INFO, m->start);
	put(p, bits, 8);
	put(p, 8 * m->sampling.word_nbytes, 1);
	put_header(p, lines, "exe");
	put_header(p, lines, "host");
	put_header(p, lines, "runtime");
	put(p, m->pid, 8);
	put_header(p, lines, "context");
	flush_packet(s, p);
}

static enum hatf_status
open_sink(struct sink *s)
{
	const char *const lines = s->options.header;
	struct memtrace *const m = calloc(1, sizeof(*m));
	enum hatf_status status;
	char unit[8] = "";

	if (m == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = m;
	ledger_init(&m->ledger);
	live_init(&m->told);
	status = hatf_stacks_open(&m->stacks);
	if (status != HATF_OK)
		return sink_fail(s, status, NULL);
	if (lines != NULL)
		text_find(lines, strlen(lines), "unit", unit, sizeof(unit));
	m->sampling = sampling_find(lines);
	m->us_units = strcmp(unit, "ns") == 0 ? 1000 : 0;
	m->pid = find_number(lines, "pid");
	m->time = m->start = find_number(lines, "start_time") / 1000;
	put_info(s);
	return HATF_OK;
}

static enum hatf_status
finish_sink(struct sink *s)
{
	flush_all(s);
	return HATF_OK;
}

static void
close_sink(struct sink *s)
{
	struct memtrace *const m = s->ctx;

	if (m == NULL)
		return;
	ledger_fini(&m->ledger);
	live_fini(&m->told);
	hatf_stacks_close(m->stacks);
	free(m);
}

const struct sink_ops memtrace_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish_sink,
	.close = close_sink,
};
