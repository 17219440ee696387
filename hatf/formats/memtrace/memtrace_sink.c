/* SPDX-License-Identifier: MIT */
/*
 * memtrace_sink.c - convert records to a trace of OCaml's Memtrace (FORMATS
 * "memtrace")
 *
 * If the trace is not a trace of samples, the sink writes the sampling rate 1,
 * and for each block as many samples as the block has words.  If Memtrace wrote
 * the trace, the sink reproduces its domains, object ids, location codes and
 * promotions.
 *
 * Memory is O(live blocks + distinct stacks).
 */
#include "hatf/codec/hatf_record.h"
#include "hatf/formats/common/format.h"
#include "hatf/formats/common/ledger.h"
#include "hatf/formats/common/loss.h"
#include "hatf/formats/common/sampling.h"
#include "hatf/formats/common/textio.h"
#include "hatf/formats/memtrace/memtrace_packets.h"

#include <stdlib.h>

/*
 * First line of the comment that stands for a promotion (FORMATS "memtrace").
 */
#define PROMOTE_KIND "HATF promote\n"

/*
 * The highest object id that the sink takes from an address, and the highest
 * time since the start of the trace, in microseconds.  Both fit into OCaml's
 * signed integers of 63 bits.
 */
#define ID_MAX	 (((uint64_t)1 << 61) - 1)
#define TIME_MAX (((uint64_t)1 << 62) - 1)

/*
 * The sink truncates texts from the header of the trace to this many bytes.
 */
#define HEADER_MAX_NBYTES 1000

struct memtrace {
	struct ledger ledger;
	struct hatf_stacks *stacks;
	struct sampling sampling;
	/*
	 * true: Memtrace recorded the trace, so addresses are object ids plus 1
	 */
	bool is_memtrace;
	uint64_t start; /* start of the trace, in microseconds since 1970 */
	/* units of the trace's time per us; 0: assume 1 us per unit */
	uint64_t us_units;
	/* time of the previous event, in microseconds since 1970 */
	uint64_t time;
	struct memtrace_packets packets;
};

/* ------------------------------------------------------------------- events */

static uint64_t
clamp(uint64_t n, uint64_t max)
{
	return n < max ? n : max;
}

/*
 * Return a record's time in microseconds since 1970; the result never
 * decreases.
 */
static uint64_t
find_time(struct memtrace *m, uint64_t record_time)
{
	const uint64_t since =
		m->us_units == 0 ? record_time : record_time / m->us_units;
	const uint64_t time = m->start + clamp(since, TIME_MAX);

	if (time > m->time)
		m->time = time;
	return m->time;
}

/*
 * Return how many samples to write for a block.  If the input is not a sampled
 * trace, write one sample for each word of the block, and at least one.
 */
static uint64_t
sample_count(const struct memtrace *m, const struct hatf_record *rec,
	     uint64_t words)
{
	if (m->sampling.rate != 0)
		return sampling_count(rec);
	return words == 0 ? 1 : words;
}

/*
 * If Memtrace recorded the trace, return the object id of the block at
 * 'address'.  Otherwise, or if the id exceeds ID_MAX, return UINT64_MAX:
 * memtrace_put_alloc() then chooses an id.
 */
static uint64_t
id_of(const struct memtrace *m, uint64_t address)
{
	return m->is_memtrace && address - 1 <= ID_MAX ? address - 1
						       : UINT64_MAX;
}

static void
put_alloc(struct sink *s, const struct hatf_record *rec,
	  struct ledger_entry *entry)
{
	struct memtrace *const m = s->ctx;
	const uint64_t word_nbytes = m->sampling.word_nbytes;
	/*
	 * Limit the size, because readers refuse a size of 2^63 bytes or more.
	 */
	const uint64_t words =
		clamp(rec->size / word_nbytes + (rec->size % word_nbytes != 0),
		      UINT64_MAX / 2 / word_nbytes);
	const struct memtrace_block b = {
		.words = words,
		.sample_count = sample_count(m, rec, words),
		.area = clamp(rec->heap, MEMTRACE_EXTERNAL),
		.stack = hatf_record_stack(rec),
	};

	if (!memtrace_put_alloc(&m->packets, find_time(m, rec->time),
				rec->thread, id_of(m, rec->address), &b,
				&entry->block.object) ||
	    !ledger_keep(&m->ledger, rec, entry))
		sink_fail(s, HATF_NO_MEMORY, NULL);
}

static void
put_collect(struct sink *s, const struct hatf_record *rec, uint64_t id)
{
	struct memtrace *const m = s->ctx;

	memtrace_put_collect(&m->packets, find_time(m, rec->time), rec->thread,
			     id);
}

/*
 * Write the promotion from which memtrace_source.c made this comment, if the
 * comment has all values of a promotion.
 */
static void
put_promote(struct memtrace *m, const struct hatf_record *rec)
{
	const char *const text = (const char *)rec->attributes;
	const size_t nbytes = rec->attributes_nbytes;
	uint64_t address, thread, time;

	if (textio_find_number(rec, "address", &address) &&
	    text_find_u64(text, nbytes, "thread", &thread) &&
	    text_find_u64(text, nbytes, "time", &time) &&
	    id_of(m, address) != UINT64_MAX)
		memtrace_put_promote(&m->packets, find_time(m, time), thread,
				     address - 1);
}

static void
put_comment(struct sink *s, const struct hatf_record *rec)
{
	struct memtrace *const m = s->ctx;

	if (hatf_record_comment_starts(rec, PROMOTE_KIND))
		put_promote(m, rec);
	/*
	 * A malformed definition is no error: loss_note_stack() counts and
	 * ignores it.
	 */
	else
		loss_note_stack(s, m->stacks, rec);
}

struct destruction {
	struct sink *s;
	const struct hatf_record *rec;
};

static void
put_free(void *ctx, uint64_t address, const struct block *block)
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

	return ledger_destroy(&m->ledger, rec->heap, put_free, &d);
}

static void
put_record(struct sink *s, const struct hatf_record *rec)
{
	struct memtrace *const m = s->ctx;
	struct ledger_entry entry;

	if (rec->tag == HATF_COMMENT) {
		put_comment(s, rec);
		return;
	}
	if (!ledger_enter(&m->ledger, rec, &entry)) {
		sink_fail(s, HATF_NO_MEMORY, NULL);
		return;
	}
	if (rec->tag == HATF_DESTROY_HEAP && !put_destruction(s, rec))
		sink_fail(s, HATF_NO_MEMORY, NULL);
	loss_count_call(s, rec, &entry);
	if (entry.kind == LEDGER_NONE || entry.kind == LEDGER_FAILED)
		return;
	if (entry.known)
		put_collect(s, rec, entry.old.object);
	if (entry.replaced)
		put_collect(s, rec, entry.lost.object);
	if (entry.lives)
		put_alloc(s, rec, &entry);
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

/* Return the value of a header line as a number; 0 if there is no such line. */
static uint64_t
find_number(const char *lines, const char *key)
{
	uint64_t n = 0;

	text_find_u64(lines, strlen(lines), key, &n);
	return n;
}

static const char *
find_text(const char *lines, const char *key, char *buf)
{
	buf[0] = '\0';
	text_find(lines, strlen(lines), key, buf, HEADER_MAX_NBYTES + 1);
	return buf;
}

/* Write the first packet, which describes the trace. */
static void
put_info(struct memtrace *m, const char *lines)
{
	char exe[HEADER_MAX_NBYTES + 1], host[HEADER_MAX_NBYTES + 1];
	char runtime[HEADER_MAX_NBYTES + 1], context[HEADER_MAX_NBYTES + 1];
	const struct memtrace_info info = {
		.rate = m->sampling.rate == 0 ? 1 : m->sampling.rate,
		.word_bits = 8 * m->sampling.word_nbytes,
		.start = m->start,
		.exe = find_text(lines, "exe", exe),
		.host = find_text(lines, "host", host),
		.runtime = find_text(lines, "runtime", runtime),
		.context = find_text(lines, "context", context),
	};

	memtrace_put_info(&m->packets, &info);
}

static enum hatf_status
open_sink(struct sink *s)
{
	const char *const lines =
		s->options.header == NULL ? "" : s->options.header;
	struct memtrace *const m = calloc(1, sizeof(*m));
	char word[16] = "";
	enum hatf_status status;

	if (m == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = m;
	ledger_init(&m->ledger);
	status = hatf_stacks_open(&m->stacks);
	if (status != HATF_OK)
		return sink_fail(s, status, NULL);
	m->sampling = sampling_find(lines);
	text_find(lines, strlen(lines), "unit", word, sizeof(word));
	m->us_units = strcmp(word, "ns") == 0 ? 1000 : 0;
	text_find(lines, strlen(lines), "source", word, sizeof(word));
	m->is_memtrace = strcmp(word, "memtrace") == 0;
	m->time = m->start = find_number(lines, "start_time") / 1000;
	m->packets.out = &s->out;
	m->packets.stacks = m->stacks;
	m->packets.has_codes = m->is_memtrace;
	m->packets.pid = find_number(lines, "pid");
	m->packets.version =
		m->is_memtrace && find_number(lines, MEMTRACE_KEY_VERSION) == 3
			? 3
			: 2;
	if (!memtrace_packets_init(&m->packets))
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	put_info(m, lines);
	return HATF_OK;
}

static enum hatf_status
finish_sink(struct sink *s)
{
	struct memtrace *const m = s->ctx;

	memtrace_flush(&m->packets);
	return HATF_OK;
}

static void
close_sink(struct sink *s)
{
	struct memtrace *const m = s->ctx;

	if (m == NULL)
		return;
	ledger_fini(&m->ledger);
	memtrace_packets_fini(&m->packets);
	hatf_stacks_close(m->stacks);
	free(m);
}

const struct sink_ops memtrace_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish_sink,
	.close = close_sink,
};
