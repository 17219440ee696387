/* SPDX-License-Identifier: MIT */
/*
 * memtrace_source.c - convert traces of OCaml's Memtrace to records (FORMATS
 * "memtrace")
 *
 * Memtrace samples a program's allocations at random.  A trace has the
 * allocations, promotions and collections of the sampled objects, which have
 * ids instead of addresses.
 */
#include "hatf/formats/common/batch.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/paged_map.h"
#include "hatf/formats/common/sampling.h"
#include "hatf/formats/memtrace/memtrace_stacks.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * The largest packet that is accepted, in bytes; it must fit into the input
 * window.  Memtrace itself writes at most 32 KiB.
 */
#define PACKET_MAX (256 * 1024)

/* This bucket number means that the packet has no copy of a cache bucket. */
#define CACHE_NOWHERE UINT16_MAX

/* Nanoseconds per microsecond, which is the unit of Memtrace's times. */
#define US_NS 1000

struct packet {
	uint64_t nbytes;
	/*
	 * times at which the packet begins and ends, in microseconds since 1970
	 */
	uint64_t begin, end;
	uint64_t version, pid, domain;
	/*
	 * A copy of one bucket of the writer's cache: this bucket of the
	 * decoder's cache must have the same content.  If 'bucket' is
	 * CACHE_NOWHERE, the packet has no copy of a bucket.
	 */
	uint64_t bucket, after, code;
	/*
	 * ids of the first object that the packet allocates, and of the next
	 * one that is to be decoded
	 */
	uint64_t first_id, next_id;
	/* the id after the last object that the packet allocates */
	uint64_t last_id;
};

struct memtrace {
	struct batch batch;
	struct memtrace_stacks stacks;
	/* maps an object id to the heap of the object */
	struct paged_map heaps;
	/* start of the trace, in microseconds since 1970 */
	uint64_t begin;
	uint64_t pid;
	uint64_t word_nbytes;
	/* latest time of an event so far, in microseconds since 'begin' */
	uint64_t time;
	/*
	 * Domains reserve object ids in chunks; the trace does not say how
	 * large the chunks are.  Each chunk begins at a multiple of its size,
	 * and no packet has ids of two chunks.
	 */
	/* the size of a chunk divides this number; 0: unknown */
	uint64_t chunk_gcd;
	uint64_t chunk_min; /* the size of a chunk is at least this number */
	/* The current packet. */
	struct packet packet;
	struct memtrace_domain *domain;
	/* how many bytes of the packet in the window are decoded */
	size_t used;
};

/* Stop with an error at the event or packet at s->offset, and return false. */
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
	/* The header gives the length of the whole packet in bits. */
	if (!memtrace_take(c, 4, &ignored) ||
	    !memtrace_take(c, 4, &p->nbytes) ||
	    !memtrace_take(c, 8, &p->begin) || !memtrace_take(c, 8, &p->end) ||
	    !memtrace_take(c, 4, &ignored) ||
	    !memtrace_take(c, 2, &p->version) ||
	    !memtrace_take(c, 8, &p->pid) ||
	    (p->version >= 3 && !memtrace_take(c, 2, &p->domain)) ||
	    !memtrace_take(c, 2, &p->bucket) ||
	    !memtrace_take(c, 2, &p->after) || !memtrace_take(c, 8, &p->code) ||
	    !memtrace_take(c, 8, &p->first_id) ||
	    !memtrace_take(c, 8, &p->last_id))
		return false;
	p->next_id = p->first_id;
	return true;
}

/*
 * Decode the packet header at the start of the window.  Return false if reading
 * has stopped.
 */
static bool
begin_packet(struct source *s)
{
	struct memtrace *const m = s->ctx;
	struct packet *const p = &m->packet;
	const size_t left = input_window_fill(&s->window, PACKET_MAX);
	struct memtrace_cursor c = { s->window.next, s->window.next + left };
	size_t header_nbytes;

	s->offset = input_window_offset(&s->window);
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
	if (p->begin > p->end)
		return refuse(s, HATF_BAD_FIELD, "timestamp_end");
	if (p->first_id > p->last_id)
		return refuse(s, HATF_BAD_FIELD, "alloc_id_end");
	m->used = header_nbytes;
	return true;
}

static uint64_t
common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Judged by its object ids, may this packet come after the previous packet of
 * its domain?  The ids may continue those of the previous packet.  From version
 * 3 on, they may also begin another chunk, if the previous chunk is used up.
 * The check detects packets that are repeated, reordered or missing.
 */
static bool
is_next(struct memtrace *m)
{
	const struct packet *const p = &m->packet;
	const struct memtrace_domain *const d = m->domain;

	if (p->last_id - p->first_id > m->chunk_min)
		m->chunk_min = p->last_id - p->first_id;
	if (!d->has_begun || p->first_id > d->next_id)
		m->chunk_gcd = common_divisor(m->chunk_gcd, p->first_id);
	if (d->has_begun && p->first_id > d->next_id)
		m->chunk_gcd = common_divisor(m->chunk_gcd, d->next_id);
	if (d->has_begun && p->version < 3)
		return p->first_id == d->next_id;
	return (!d->has_begun || p->first_id >= d->next_id) &&
	       (m->chunk_gcd == 0 || m->chunk_gcd >= m->chunk_min);
}

static void
end_packet(struct source *s)
{
	struct memtrace *const m = s->ctx;

	s->window.next += m->packet.nbytes;
	s->offset = input_window_offset(&s->window);
	m->packet.nbytes = m->used = 0;
}

/* ------------------------------------------------------------------- events */

/*
 * Return the full time of an event.  The event itself contains only the low
 * bits of its time.
 */
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
	uint64_t words, sample_count, area;
	/*
	 * 'common' is the number of codes that the backtrace shares with the
	 * previous backtrace of the domain.  'code_count' is the number of
	 * codes in the event, without those that the cache predicts.
	 */
	uint64_t common, code_count;
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
	       memtrace_take(c, 1, &a->area) &&
	       memtrace_take_vint(c, &a->common) &&
	       memtrace_take(c, 2, &a->code_count);
}

static bool
on_alloc(struct source *s, struct memtrace_cursor *c, unsigned event)
{
	struct memtrace *const m = s->ctx;
	const uint64_t id = m->packet.next_id++;
	struct hatf_record *rec;
	enum hatf_status status;
	struct alloc a;

	if (!take_alloc(c, event, &a))
		return refuse(s, HATF_BAD_FIELD, "alloc");
	if (a.words > UINT64_MAX / 2 / m->word_nbytes)
		return refuse(s, HATF_BAD_FIELD, "length");
	if (a.area > MEMTRACE_EXTERNAL)
		return refuse(s, HATF_BAD_FIELD, "source");
	status = memtrace_take_stack(&m->stacks, m->domain, c, a.common,
				     a.code_count);
	if (status != HATF_OK)
		return refuse(s, status, "backtrace");
	batch_define(&m->batch, m->stacks.stacks, s->offset);
	rec = add_record(s, HATF_ALLOC);
	if (rec == NULL || !paged_map_put(&m->heaps, id, a.area))
		return refuse(s, HATF_NO_MEMORY, NULL);
	rec->address = id + 1;
	rec->size = a.words * m->word_nbytes;
	rec->heap = a.area;
	if (a.sample_count != 1)
		add_samples(m, rec, a.sample_count);
	batch_stack(&m->batch, rec, memtrace_last_stack(m->domain));
	return true;
}

/*
 * Decode an object id, which the event gives as the distance from the newest
 * id.  When a domain ends, a collection may name an id above the newest id of
 * the domain.  A promotion must not name such an id.
 */
static bool
take_object(struct source *s, struct memtrace_cursor *c, bool is_promoted,
	    uint64_t *id_ret)
{
	const struct memtrace *const m = s->ctx;
	uint64_t delta;

	if (!memtrace_take_vint(c, &delta) ||
	    (is_promoted && delta > INT64_MAX))
		return refuse(s, HATF_BAD_FIELD, "object");
	*id_ret = m->packet.next_id - 1 - delta;
	/*
	 * The address is the id plus 1; refuse an id for which the sum
	 * overflows.
	 */
	return *id_ret != UINT64_MAX || refuse(s, HATF_BAD_FIELD, "object");
}

static bool
on_collect(struct source *s, struct memtrace_cursor *c)
{
	struct memtrace *const m = s->ctx;
	const uint64_t *heap;
	struct hatf_record *rec;
	uint64_t id;

	if (!take_object(s, c, false, &id))
		return false;
	rec = add_record(s, HATF_FREE);
	if (rec == NULL)
		return refuse(s, HATF_NO_MEMORY, NULL);
	rec->address = id + 1;
	heap = paged_map_find(&m->heaps, id);
	if (heap != NULL) {
		rec->heap = *heap;
		paged_map_remove(&m->heaps, id);
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

	if (!take_object(s, c, true, &id))
		return false;
	text_init(&t, buf, sizeof(buf));
	text_str(&t, "HATF promote\n");
	text_line_hex(&t, "address", id + 1);
	text_line_u64(&t, "thread", m->packet.domain);
	text_line_u64(&t, "time", m->time);
	batch_comment(&m->batch, buf, t.used, s->offset);
	return true;
}

/*
 * Decode the description of the process in the first packet; 0 and "" stand for
 * unknown values.
 */
static bool
on_info(struct source *s, struct memtrace_cursor *c)
{
	static const char *const keys[] = { "exe", "host", "runtime" };
	struct memtrace *const m = s->ctx;
	uint64_t rate_bits, word_bits;
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
	if (!sampling_print_rate(rate, buf, sizeof(buf)))
		return refuse(s, HATF_NO_MEMORY, NULL);
	if (!source_header(s, "sample_rate", buf, strlen(buf)) ||
	    !source_header_u64(s, "word_size", m->word_nbytes))
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!memtrace_take_string(c, &text, &n))
			return refuse(s, HATF_BAD_FIELD, keys[i]);
		if (n != 0 && !source_header(s, keys[i], text, n))
			return false;
	}
	if (!memtrace_take(c, 8, &m->pid))
		return refuse(s, HATF_BAD_FIELD, "pid");
	if (m->pid != 0 && !source_header_u64(s, "pid", m->pid))
		return false;
	if (m->packet.version < 2)
		return true;
	if (!memtrace_take_string(c, &text, &n))
		return refuse(s, HATF_BAD_FIELD, "context");
	return n == 0 || source_header(s, "context", text, n);
}

/* Decode the next event of the packet.  Return false if reading has stopped. */
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

	s->offset = input_window_offset(&s->window) + m->used;
	if (!memtrace_take(&c, 4, &head))
		return refuse(s, HATF_BAD_FIELD, "event");
	event = (unsigned)(head >> MEMTRACE_TIME_BITS);
	time = full_time(&m->packet, head & MEMTRACE_TIME_MASK);
	if (time > m->packet.end || time < m->domain->time)
		return refuse(s, HATF_BAD_FIELD, "time");
	m->domain->time = time;
	/*
	 * Times are in order only within a domain, so use the latest time so
	 * far.
	 */
	if (time - m->begin > m->time)
		m->time = time - m->begin;
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

static void
begin_events(struct memtrace *m)
{
	if (!m->domain->has_begun)
		m->domain->time = m->begin;
	m->domain->has_begun = true;
}

/* Begin the next packet, and check that it may follow the previous one. */
static void
next_packet(struct source *s)
{
	struct memtrace *const m = s->ctx;
	enum hatf_status status;

	if (!begin_packet(s))
		return;
	if (m->packet.pid != m->pid) {
		refuse(s, HATF_BAD_FIELD, "pid");
		return;
	}
	status = memtrace_find_domain(&m->stacks, (uint16_t)m->packet.domain,
				      &m->domain);
	if (status != HATF_OK) {
		source_stop(s, status, "domain");
		return;
	}
	if (!is_next(m)) {
		refuse(s, HATF_BAD_FIELD, "alloc_id_begin");
		return;
	}
	if (m->packet.bucket != CACHE_NOWHERE &&
	    !memtrace_cache_matches(m->domain, m->packet.bucket,
				    m->packet.after, m->packet.code)) {
		refuse(s, HATF_BAD_FIELD, "cache_verify");
		return;
	}
	begin_events(m);
}

/*
 * End the packet.  Refuse the packet if the number of its allocations is not
 * the one that its header states.
 */
static void
finish_packet(struct source *s)
{
	struct memtrace *const m = s->ctx;

	if (m->packet.next_id != m->packet.last_id) {
		s->offset = input_window_offset(&s->window);
		refuse(s, HATF_BAD_FIELD, "alloc_id_end");
		return;
	}
	m->domain->next_id = m->packet.last_id;
	end_packet(s);
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct memtrace *const m = s->ctx;

	batch_begin(&m->batch, records, max);
	while (batch_has_room(&m->batch) && s->err.status == HATF_OK) {
		if (m->packet.nbytes == 0)
			next_packet(s);
		else if (m->used == m->packet.nbytes)
			finish_packet(s);
		else
			take_event(s);
	}
	return batch_end(&m->batch, s);
}

/* -------------------------------------------------------- opening, closing */

bool
memtrace_recognize(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= 4 && get_le32(bytes) == MEMTRACE_MAGIC;
}

/* Decode the first packet, which describes the trace. */
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
	if (m->begin > UINT64_MAX / US_NS)
		return refuse(s, HATF_BAD_FIELD, "timestamp_begin");
	if (!memtrace_take(&c, 4, &head) ||
	    head >> MEMTRACE_TIME_BITS != MEMTRACE_INFO)
		return refuse(s, HATF_BAD_FIELD, "trace_info");
	if ((head & MEMTRACE_TIME_MASK) != (m->begin & MEMTRACE_TIME_MASK))
		return refuse(s, HATF_BAD_FIELD, "time");
	if (!source_header(s, "unit", "us", 2) ||
	    (m->begin != 0 &&
	     !source_header_u64(s, "start_time", m->begin * US_NS)) ||
	    !source_header_u64(s, MEMTRACE_KEY_VERSION, m->packet.version) ||
	    !on_info(s, &c))
		return false;
	if (c.next != c.end)
		return refuse(s, HATF_BAD_FIELD, "packet_size");
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
	paged_map_init(&m->heaps);
	status = memtrace_stacks_init(&m->stacks, s);
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
	paged_map_fini(&m->heaps);
	batch_fini(&m->batch);
	free(m);
}

const struct source_ops memtrace_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
