/* SPDX-License-Identifier: MIT */
/*
 * memtrace_source.c - OCaml's Memtrace into records (FORMAT "memtrace")
 *
 * Some of a program's allocations, chosen at random: what is allocated, where, and
 * when it is promoted or collected.  Objects have numbers, not addresses.
 */
#include "batch.h"
#include "format.h"
#include "memtrace_stacks.h"

#include <stdio.h>
#include <stdlib.h>

/* Packets are of 32 KiB at most; a longer one must fit the window all the same. */
#define PACKET_MAX (256 * 1024)

/* Nanoseconds of a microsecond, which times count. */
#define US_NS 1000

struct packet {
	uint64_t nbytes;
	uint64_t begin; /* microseconds since 1970 */
	uint64_t version, pid, domain, next_id;
};

struct memtrace {
	struct batch batch;
	struct memtrace_stacks stacks;
	struct live heaps; /* object -> 'object' is its heap */
	uint64_t begin;	   /* microseconds since 1970 */
	uint64_t pid;
	uint64_t word_nbytes;
	uint64_t time; /* of the last record */
	/* The packet that is being read. */
	struct packet packet;
	struct memtrace_domain *domain;
	size_t used; /* bytes of it, in the window */
};

/* Stop for what is malformed in the event or packet at s->offset; false. */
static bool
refuse(struct source *s, enum hatf_status status, const char *field)
{
	source_stop(s, status, field);
	return false;
}

/* ------------------------------------------------------------------ packets */

static bool
take_header(struct memtrace_cursor *c, struct packet *p)
{
	uint64_t ignored;

	p->domain = 0;
	/* The length is in bits. */
	return memtrace_take(c, 4, &ignored) &&
	       memtrace_take(c, 4, &p->nbytes) &&
	       memtrace_take(c, 8, &p->begin) &&
	       memtrace_take(c, 8, &ignored) && memtrace_take(c, 4, &ignored) &&
	       memtrace_take(c, 2, &p->version) &&
	       memtrace_take(c, 8, &p->pid) &&
	       (p->version < 3 || memtrace_take(c, 2, &p->domain)) &&
	       memtrace_take(c, 2, &ignored) && memtrace_take(c, 2, &ignored) &&
	       memtrace_take(c, 8, &ignored) &&
	       memtrace_take(c, 8, &p->next_id) &&
	       memtrace_take(c, 8, &ignored);
}

/* Look at the header that begins the window; false at the end, or if it is none. */
static bool
begin_packet(struct source *s)
{
	struct memtrace *const m = s->ctx;
	struct packet *const p = &m->packet;
	const size_t left = window_want(&s->window, PACKET_MAX);
	struct memtrace_cursor c = { s->window.next, s->window.next + left };
	size_t header_nbytes;

	s->offset = window_offset(&s->window);
	if (left >= 4 && get_le32(c.next) != MEMTRACE_MAGIC)
		return refuse(s, HATF_BAD_FIELD, "magic");
	if (!take_header(&c, p)) {
		source_stop_at_end(s, left, "packet");
		return false;
	}
	header_nbytes = (size_t)(c.next - s->window.next);
	p->nbytes /= 8;
	if (p->version == 0 || p->version > MEMTRACE_VERSION_MAX)
		return refuse(s, HATF_BAD_FIELD, "version");
	if (p->nbytes < header_nbytes)
		return refuse(s, HATF_BAD_FIELD, "packet_size");
	if (p->nbytes > PACKET_MAX)
		return refuse(s, HATF_LIMIT, "packet_size");
	if (p->nbytes > left) {
		source_stop_at_end(s, left, "packet");
		return false;
	}
	m->used = header_nbytes;
	return true;
}

static void
end_packet(struct source *s)
{
	struct memtrace *const m = s->ctx;

	s->window.next += m->packet.nbytes;
	s->offset = window_offset(&s->window);
	m->packet.nbytes = m->used = 0;
}

/* ------------------------------------------------------------------- events */

/* A time of the packet, of which 'low' are the lowest bits. */
static uint64_t
full_time(const struct packet *p, uint64_t low)
{
	if (low < (p->begin & MEMTRACE_TIME_MASK))
		low += (uint64_t)1 << MEMTRACE_TIME_BITS;
	return (p->begin & ~(uint64_t)MEMTRACE_TIME_MASK) + low;
}

static struct hatf_record *
add_record(struct source *s, unsigned tag)
{
	struct memtrace *const m = s->ctx;
	struct hatf_record *const rec = batch_add(&m->batch, tag);

	if (rec == NULL)
		return NULL;
	rec->offset = s->offset;
	rec->thread = m->packet.domain;
	rec->time = m->time;
	return rec;
}

static void
add_samples(struct memtrace *m, struct hatf_record *rec, uint64_t count)
{
	const struct hatf_attr_item item = { .key = HATF_ATTR_SAMPLES,
					     .value = count };
	uint8_t *const bytes = batch_bytes(&m->batch, 11);
	size_t used = 0;

	if (bytes == NULL)
		return;
	hatf_attr_put(bytes, 11, &used, &item);
	rec->attributes = bytes;
	rec->attributes_nbytes = (uint32_t)used;
}

struct alloc {
	uint64_t words, sample_count, place;
	uint64_t common, code_count; /* of the backtrace */
};

static bool
take_alloc(struct memtrace_cursor *c, unsigned event, struct alloc *a)
{
	if (event != MEMTRACE_ALLOC) {
		*a = (struct alloc){ .words = event - MEMTRACE_SHORT_ALLOC,
				     .sample_count = 1 };
		return memtrace_take_vint(c, &a->common) &&
		       memtrace_take(c, 1, &a->code_count);
	}
	return memtrace_take_vint(c, &a->words) &&
	       memtrace_take_vint(c, &a->sample_count) &&
	       memtrace_take(c, 1, &a->place) &&
	       memtrace_take_vint(c, &a->common) &&
	       memtrace_take(c, 2, &a->code_count);
}

static bool
on_alloc(struct source *s, struct memtrace_cursor *c, unsigned event)
{
	struct memtrace *const m = s->ctx;
	const uint64_t id = m->packet.next_id++;
	struct hatf_record *rec;
	struct live_block *block;
	enum hatf_status status;
	struct alloc a;
	bool added;

	if (!take_alloc(c, event, &a))
		return refuse(s, HATF_BAD_FIELD, "alloc");
	if (a.words > UINT64_MAX / 2 / m->word_nbytes)
		return refuse(s, HATF_BAD_FIELD, "length");
	if (a.place > MEMTRACE_EXTERNAL)
		return refuse(s, HATF_BAD_FIELD, "source");
	status = memtrace_take_stack(&m->stacks, m->domain, c, a.common,
				     a.code_count);
	if (status != HATF_OK)
		return refuse(s, status, "backtrace");
	batch_define(&m->batch, m->stacks.stacks, s->offset);
	rec = add_record(s, HATF_ALLOC);
	block = live_put(&m->heaps, id, &added);
	if (rec == NULL || block == NULL)
		return refuse(s, HATF_NO_MEMORY, NULL);
	block->object = a.place;
	rec->address = id + 1;
	rec->size = a.words * m->word_nbytes;
	rec->heap = a.place;
	if (a.sample_count != 1)
		add_samples(m, rec, a.sample_count);
	batch_stack(&m->batch, rec, memtrace_stack(m->domain));
	return true;
}

/* The object that an event names by how many came after it. */
static bool
take_object(struct source *s, struct memtrace_cursor *c, uint64_t *id_ret)
{
	const struct memtrace *const m = s->ctx;
	uint64_t delta;

	if (!memtrace_take_vint(c, &delta))
		return refuse(s, HATF_BAD_FIELD, "object");
	*id_ret = m->packet.next_id - 1 - delta;
	/* Its address is one more. */
	return *id_ret != UINT64_MAX || refuse(s, HATF_BAD_FIELD, "object");
}

static bool
on_collect(struct source *s, struct memtrace_cursor *c)
{
	struct memtrace *const m = s->ctx;
	struct live_block *block;
	struct hatf_record *rec;
	uint64_t id;

	if (!take_object(s, c, &id))
		return false;
	rec = add_record(s, HATF_FREE);
	if (rec == NULL)
		return refuse(s, HATF_NO_MEMORY, NULL);
	rec->address = id + 1;
	block = live_find(&m->heaps, id);
	if (block != NULL) {
		rec->heap = block->object;
		live_remove(&m->heaps, block);
	}
	return true;
}

static bool
on_promote(struct source *s, struct memtrace_cursor *c)
{
	struct memtrace *const m = s->ctx;
	char buf[128];
	struct text t;
	uint64_t id;

	if (!take_object(s, c, &id))
		return false;
	text_init(&t, buf, sizeof(buf));
	text_str(&t, "HATF promote\naddress=");
	text_hex(&t, id + 1);
	text_str(&t, "\n");
	text_line_u64(&t, "thread", m->packet.domain);
	text_line_u64(&t, "time", m->time);
	batch_comment(&m->batch, buf, t.used, s->offset);
	return true;
}

/* What the trace says of the process, in its first packet. */
static bool
on_info(struct source *s, struct memtrace_cursor *c)
{
	static const char *const keys[] = { "exe", "host", "runtime" };
	struct memtrace *const m = s->ctx;
	uint64_t rate_bits, word_bits, pid;
	const char *text;
	char buf[40];
	double rate;
	size_t n;

	if (!memtrace_take(c, 8, &rate_bits) ||
	    !memtrace_take(c, 1, &word_bits))
		return refuse(s, HATF_BAD_FIELD, "trace_info");
	if (word_bits != 32 && word_bits != 64)
		return refuse(s, HATF_BAD_FIELD, "word_size");
	m->word_nbytes = word_bits / 8;
	memcpy(&rate, &rate_bits, sizeof(rate));
	n = (size_t)snprintf(buf, sizeof(buf), "%.17g", rate);
	if (!source_header(s, "sample_rate", buf, n) ||
	    !source_header_u64(s, "word_size", m->word_nbytes))
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!memtrace_take_string(c, &text, &n))
			return refuse(s, HATF_BAD_FIELD, keys[i]);
		if (!source_header(s, keys[i], text, n))
			return false;
	}
	if (!memtrace_take(c, 8, &pid))
		return refuse(s, HATF_BAD_FIELD, "pid");
	if (m->packet.version < 2)
		return true;
	if (!memtrace_take_string(c, &text, &n))
		return refuse(s, HATF_BAD_FIELD, "context");
	return n == 0 || source_header(s, "context", text, n);
}

/* Take the event that comes next in the packet; false if reading has stopped. */
static bool
take_event(struct source *s)
{
	struct memtrace *const m = s->ctx;
	const uint8_t *const packet = s->window.next;
	struct memtrace_cursor c = { packet + m->used,
				     packet + m->packet.nbytes };
	enum hatf_status status;
	uint64_t head, time;
	unsigned event;
	bool is_good;

	s->offset = window_offset(&s->window) + m->used;
	if (!memtrace_take(&c, 4, &head))
		return refuse(s, HATF_BAD_FIELD, "event");
	event = (unsigned)(head >> MEMTRACE_TIME_BITS);
	/* Domains tell of their times each for itself. */
	time = full_time(&m->packet, head & MEMTRACE_TIME_MASK) - m->begin;
	if ((int64_t)(time - m->time) > 0)
		m->time = time;
	if (event == MEMTRACE_LOCATION) {
		status = memtrace_take_location(&m->stacks, m->domain, &c);
		is_good = status == HATF_OK || refuse(s, status, "location");
	} else if (event == MEMTRACE_ALLOC ||
		   (event > MEMTRACE_SHORT_ALLOC &&
		    event <= MEMTRACE_SHORT_ALLOC + MEMTRACE_SHORT_MAX)) {
		is_good = on_alloc(s, &c, event);
	} else if (event == MEMTRACE_PROMOTE) {
		is_good = on_promote(s, &c);
	} else if (event == MEMTRACE_COLLECT) {
		is_good = on_collect(s, &c);
	} else {
		is_good = refuse(s, HATF_BAD_FIELD, "event");
	}
	m->used = (size_t)(c.next - packet);
	return is_good;
}

/* Go on to the next packet of the process. */
static void
next_packet(struct source *s)
{
	struct memtrace *const m = s->ctx;
	enum hatf_status status;

	if (!begin_packet(s))
		return;
	/* A child of fork has written to the same file. */
	if (m->packet.pid != m->pid) {
		end_packet(s);
		return;
	}
	status = memtrace_find_domain(&m->stacks, (uint16_t)m->packet.domain,
				      &m->domain);
	if (status != HATF_OK)
		source_stop(s, status, "domain");
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct memtrace *const m = s->ctx;

	batch_begin(&m->batch, records, max);
	while (batch_wants(&m->batch) && s->err.status == HATF_OK) {
		if (m->packet.nbytes == 0)
			next_packet(s);
		else if (m->used == m->packet.nbytes)
			end_packet(s);
		else
			take_event(s);
	}
	return batch_end(&m->batch, s);
}

/* -------------------------------------------------------- opening, closing */

bool
memtrace_recognise(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= 4 && get_le32(bytes) == MEMTRACE_MAGIC;
}

/* The first packet is about the trace. */
static bool
read_info(struct source *s)
{
	struct memtrace *const m = s->ctx;
	struct memtrace_cursor c;
	uint64_t head;

	if (!begin_packet(s))
		return false;
	c.next = s->window.next + m->used;
	c.end = s->window.next + m->packet.nbytes;
	m->begin = m->packet.begin;
	m->pid = m->packet.pid;
	if (m->begin > UINT64_MAX / US_NS)
		return refuse(s, HATF_BAD_FIELD, "timestamp_begin");
	if (!memtrace_take(&c, 4, &head) ||
	    head >> MEMTRACE_TIME_BITS != MEMTRACE_INFO)
		return refuse(s, HATF_BAD_FIELD, "trace_info");
	if (!source_header(s, "unit", "us", 2) ||
	    !source_header_u64(s, "start_time", m->begin * US_NS) ||
	    !source_header_u64(s, "pid", m->pid) || !on_info(s, &c))
		return false;
	end_packet(s);
	return true;
}

static enum hatf_status
open_source(struct source *s)
{
	struct memtrace *const m = calloc(1, sizeof(*m));
	enum hatf_status status;

	if (m == NULL)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	s->ctx = m;
	live_init(&m->heaps);
	status = memtrace_stacks_init(&m->stacks);
	if (status != HATF_OK)
		return source_stop(s, status, NULL);
	return read_info(s) ? HATF_OK : s->err.status;
}

static void
close_source(struct source *s)
{
	struct memtrace *const m = s->ctx;

	if (m == NULL)
		return;
	memtrace_stacks_fini(&m->stacks);
	live_fini(&m->heaps);
	batch_fini(&m->batch);
	free(m);
}

const struct source_ops memtrace_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
