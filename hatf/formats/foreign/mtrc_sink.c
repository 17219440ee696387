/* SPDX-License-Identifier: MIT */
/*
 * mtrc_sink.c - records into mpatrol's tracing files
 *
 * A block's allocation index is its number among the allocations, which a realloc
 * does not change; where the trace comes from mpatrol, comments tell which numbers were
 * left out.  Names go through the tables as mpatrol's own do, so what it has written
 * comes out as it was, byte for byte.
 */
#include "hatf/formats/foreign/mtrc.h"

#include "hatf/codec/bytes.h"
#include "hatf/codec/hatf_record.h"
#include "hatf/formats/common/calls.h"
#include "hatf/formats/common/loss.h"
#include "hatf/formats/common/textio.h"

#include <stdlib.h>

/* What mptrace has room for. */
#define CACHE_COUNT	32
#define NAME_MAX_NBYTES 1023

#define NUMBER_NBYTES 10
#define RECORD_NBYTES (1 + 5 * NUMBER_NBYTES + 2 * (1 + NAME_MAX_NBYTES + 1))

/* The highest index that a comment may choose: any number may follow it. */
#define INDEX_MAX ((uint64_t)1 << 62)

/* Stacks whose places are remembered: a power of 2. */
#define SITE_COUNT 256

/*
 * The names that the reader's table has.  Those of a trace are the same text only
 * if they are at the same address.
 */
struct cache {
	const char *names[CACHE_COUNT]; /* by their place less 1 */
	uint64_t used[CACHE_COUNT];	/* when last, by 'clock' */
	uint64_t clock;
	size_t count;
};

/* Where a call was. */
struct site {
	uint64_t stack; /* id; 0: none, and all else is unknown */
	const char *function, *file;
	uint64_t line;
	/* Where the names were in the tables; they may have left since. */
	uint8_t function_place, file_place;
};

struct mtrc {
	struct calls calls;
	uint64_t free_index;  /* of the last block, if it was freed; 0: none */
	uint64_t reuse_index; /* of the next alloc; 0: the next number */
	struct hatf_stacks *stacks;
	bool has_sites;
	struct cache functions, files;
	struct site unknown;
	struct site sites[SITE_COUNT];
};

static uint8_t *
put_number(uint8_t *p, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*p++ = (uint8_t)(n | 0x80);
	*p++ = (uint8_t)n;
	return p;
}

/*
 * Give a name that has no place one that is free, or else that of the least recently
 * used one, as mpatrol does.
 */
static uint8_t
find_place(struct cache *cache, const char *name, bool *is_new_ret)
{
	size_t oldest = 0;
	size_t i = 0;

	while (i < cache->count && cache->names[i] != name) {
		if (cache->used[i] < cache->used[oldest])
			oldest = i;
		i++;
	}
	*is_new_ret = i == cache->count;
	if (*is_new_ret && i == CACHE_COUNT)
		i = oldest;
	else if (*is_new_ret)
		cache->count++;
	cache->names[i] = name;
	return (uint8_t)i;
}

/* Write a name; '*place' is where it may be. */
static uint8_t *
put_name(struct sink *s, uint8_t *p, struct cache *cache, const char *name,
	 uint8_t *place)
{
	bool is_new = false;
	size_t nbytes;

	if (name == NULL) {
		*p++ = 0;
		return p;
	}
	if (cache->names[*place] != name)
		*place = find_place(cache, name, &is_new);
	cache->used[*place] = ++cache->clock;
	*p++ = (uint8_t)(*place + 1) | (is_new ? MTRC_NAME_NEW : 0);
	if (!is_new)
		return p;
	nbytes = strnlen(name, NAME_MAX_NBYTES);
	if (name[nbytes] != '\0')
		loss_count(s, SINK_LOSS_NAME);
	memcpy(p, name, nbytes);
	p[nbytes] = '\0';
	return p + nbytes + 1;
}

/* Where the record's call was. */
static struct site *
find_site(struct mtrc *m, const struct hatf_record *rec)
{
	const uint64_t id =
		rec->attributes_nbytes == 0 ? 0 : hatf_record_stack(rec);
	struct site *const site = &m->sites[id % SITE_COUNT];
	struct hatf_frame frame;
	struct hatf_stack stack;

	if (id == 0)
		return &m->unknown;
	if (site->stack == id)
		return site;
	if (!hatf_stacks_get(m->stacks, id, &stack) ||
	    !hatf_stacks_get_frame(m->stacks, stack.frame, &frame))
		return &m->unknown;
	*site = (struct site){ .stack = id,
			       .function = frame.function,
			       .file = frame.file,
			       .line = frame.line };
	return site;
}

static uint8_t *
put_site(struct sink *s, uint8_t *p, const struct hatf_record *rec)
{
	struct mtrc *const m = s->ctx;
	struct site *site;

	if (!m->has_sites)
		return p;
	site = find_site(m, rec);
	if (site->stack != 0 && site->function == NULL && site->file == NULL)
		loss_count(s, SINK_LOSS_PLACE);
	p = put_number(p, rec->thread);
	p = put_name(s, p, &m->functions, site->function,
		     &site->function_place);
	p = put_name(s, p, &m->files, site->file, &site->file_place);
	return put_number(p, site->line);
}

static void
put_block(struct sink *s, const struct call *call, uint8_t letter)
{
	uint8_t *const start = outfile_room(&s->out, RECORD_NBYTES);
	struct mtrc *const m = s->ctx;
	uint8_t *p = start;

	m->free_index = 0;
	*p++ = letter;
	p = put_number(p, call->number);
	p = put_number(p, call->address);
	p = put_number(p, call->size);
	p = put_site(s, p, call->rec);
	outfile_advance(&s->out, (size_t)(p - start));
}

static void
put_free(struct sink *s, const struct call *call)
{
	uint8_t *const start = outfile_room(&s->out, RECORD_NBYTES);
	struct mtrc *const m = s->ctx;
	uint8_t *p = start;

	m->free_index = call->old_number;
	*p++ = MTRC_FREE;
	p = put_number(p, call->old_number);
	p = put_site(s, p, call->rec);
	outfile_advance(&s->out, (size_t)(p - start));
}

/* A block that no record has told of has no index, and cannot be freed. */
static void
put_call(struct sink *s, const struct call *call)
{
	if (call->kind == LEDGER_FAILED)
		loss_count(s, SINK_LOSS_FAILED);
	else if (call->old_number == 0 &&
		 (call->kind == LEDGER_FREE || call->kind == LEDGER_REALLOC))
		loss_count(s, SINK_LOSS_FREE);
	if (call->kind == LEDGER_ALLOC ||
	    (call->kind == LEDGER_REALLOC && call->old_number == 0))
		put_block(s, call, MTRC_ALLOC);
	else if (call->kind == LEDGER_REALLOC)
		put_block(s, call, MTRC_REALLOC);
	else if (call->kind == LEDGER_FREE && call->old_number != 0)
		put_free(s, call);
}

/* -------------------------------------------------------------- comments */

/* What the source has made of memory that the system gave becomes that again. */
static void
put_system(struct sink *s, const struct hatf_record *rec)
{
	const char *const text = (const char *)rec->attributes;
	uint8_t *const start = outfile_room(&s->out, RECORD_NBYTES);
	uint8_t *p = start;
	uint64_t address, size;
	char use[16] = "";

	text_find(text, rec->attributes_nbytes, "use", use, sizeof(use));
	if (!textio_find_number(rec, "address", &address) ||
	    !text_find_u64(text, rec->attributes_nbytes, "size", &size))
		return;
	if (strcmp(use, "heap") == 0)
		*p++ = MTRC_HEAP;
	else if (strcmp(use, "internal") == 0)
		*p++ = MTRC_INTERNAL;
	else
		return;
	p = put_number(p, address);
	p = put_number(p, size);
	outfile_advance(&s->out, (size_t)(p - start));
}

/*
 * The index of the next alloc.  No two live blocks may have the same one: it is above
 * all others or, where a version without places has written a realloc as a free and
 * an alloc, that of the block which has just been freed.
 */
static void
take_index(struct mtrc *m, const struct hatf_record *rec)
{
	uint64_t index;

	m->reuse_index = 0;
	if (!text_find_u64((const char *)rec->attributes,
			   rec->attributes_nbytes, "index", &index))
		return;
	if (index > m->calls.alloc_count && index <= INDEX_MAX)
		m->calls.alloc_count = index - 1;
	else if (index == m->free_index && !m->has_sites)
		m->reuse_index = index;
}

static enum hatf_status
take_comment(struct sink *s, const struct hatf_record *rec)
{
	struct mtrc *const m = s->ctx;

	if (hatf_record_comment_starts(rec, MTRC_SYSTEM_KIND))
		put_system(s, rec);
	else if (hatf_record_comment_starts(rec, MTRC_INDEX_KIND))
		take_index(m, rec);
	/* A definition that is none leaves a call without a place. */
	return loss_note_stack(s, m->stacks, rec);
}

/* The record that a comment has chosen an index for. */
static enum hatf_status
write_reuse(struct sink *s, const struct hatf_record *rec)
{
	struct mtrc *const m = s->ctx;
	const uint64_t highest = m->calls.alloc_count;
	enum hatf_status status;

	m->calls.alloc_count = m->reuse_index - 1;
	m->reuse_index = 0;
	status = calls_write(&m->calls, s, rec, 1, put_call);
	m->calls.alloc_count = highest;
	return status;
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct mtrc *const m = s->ctx;
	enum hatf_status status = HATF_OK;

	while (n != 0 && status == HATF_OK) {
		size_t run = 0;

		while (run < n && records[run].tag != HATF_COMMENT)
			run++;
		if (run != 0 && m->reuse_index != 0) {
			status = write_reuse(s, records);
			run = 1;
		} else if (run != 0) {
			status = calls_write(&m->calls, s, records, run,
					     put_call);
		} else {
			status = take_comment(s, records);
			run = 1;
		}
		records += run;
		n -= run;
	}
	return status;
}

/* ---------------------------------------------------- beginning and end */

/* A word of the header. */
static void
put_word(struct sink *s, uint64_t n, unsigned nbytes, bool big)
{
	uint8_t *const p = outfile_room(&s->out, nbytes);

	for (unsigned i = 0; i < nbytes; i++)
		p[i] = (uint8_t)(n >> 8 * (big ? nbytes - 1 - i : i));
	outfile_advance(&s->out, nbytes);
}

/*
 * What the machine was like that wrote the trace, if mpatrol did, or else what most
 * machines are like that will read it.
 */
static void
put_header(struct sink *s)
{
	const char *const lines =
		s->options.header == NULL ? "" : s->options.header;
	const size_t nbytes = strlen(lines);
	struct mtrc *const m = s->ctx;
	uint64_t version, word;
	char order[8] = "";
	bool big;

	text_find(lines, nbytes, MTRC_KEY_ORDER, order, sizeof(order));
	big = strcmp(order, "big") == 0;
	if (!text_find_u64(lines, nbytes, MTRC_KEY_WORD, &word) || word != 32)
		word = 64;
	if (!text_find_u64(lines, nbytes, MTRC_KEY_VERSION, &version) ||
	    version == 0 || version > MTRC_VERSION_MAX)
		version = MTRC_VERSION;
	m->has_sites = version >= MTRC_VERSION_SITES;
	outfile_bytes(&s->out, MTRC_MAGIC, MTRC_MAGIC_NBYTES);
	put_word(s, 1, (unsigned)word / 8, big);
	put_word(s, version, (unsigned)word / 8, big);
}

static enum hatf_status
open_sink(struct sink *s)
{
	struct mtrc *const m = s->ctx = calloc(1, sizeof(*m));

	if (m == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	calls_init(&m->calls);
	m->calls.keeps_numbers = true;
	if (hatf_stacks_open(&m->stacks) != HATF_OK)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	put_header(s);
	return HATF_OK;
}

static enum hatf_status
finish(struct sink *s)
{
	/* Without a trailer a trace is one that was cut off. */
	if (!s->options.incomplete)
		outfile_bytes(&s->out, MTRC_MAGIC, MTRC_MAGIC_NBYTES);
	return s->out.status;
}

static void
close_sink(struct sink *s)
{
	struct mtrc *const m = s->ctx;

	if (m == NULL)
		return;
	calls_fini(&m->calls);
	hatf_stacks_close(m->stacks);
	free(m);
}

const struct sink_ops mtrc_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
