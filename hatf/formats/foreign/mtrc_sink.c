/* SPDX-License-Identifier: MIT */
/*
 * mtrc_sink.c - convert records to mpatrol's tracing files
 *
 * The allocation index of a block is the highest index so far plus 1, unless a
 * comment before the alloc gives another index.  If mpatrol wrote the trace,
 * some allocs have such a comment.  A realloc keeps the index.  The sink
 * assigns names to entries of the name table as mpatrol does, so it reproduces,
 * byte for byte, a file that mpatrol wrote.
 */
#include "hatf/formats/foreign/mtrc.h"

#include "hatf/codec/bytes.h"
#include "hatf/codec/hatf_record.h"
#include "hatf/formats/common/calls.h"
#include "hatf/formats/common/loss.h"
#include "hatf/formats/common/textio.h"

#include <stdlib.h>

/*
 * Limits of mptrace: the number of entries of a name table, and the number of
 * bytes of a name.
 */
#define CACHE_COUNT	32
#define NAME_MAX_NBYTES 1023

#define NUMBER_NBYTES 10
#define RECORD_NBYTES (1 + 5 * NUMBER_NBYTES + 2 * (1 + NAME_MAX_NBYTES + 1))

/*
 * The highest index that a comment may set.  The limit leaves room for later
 * indices.
 */
#define INDEX_MAX ((uint64_t)1 << 62)

/*
 * The number of stacks whose places (function, file, line) are cached; a power
 * of 2.
 */
#define SITE_COUNT 256

/*
 * The name table that a reader of the file will have at this point.
 * find_slot() and put_name() compare names by address, because equal names of a
 * trace share one string.
 */
struct cache {
	/* the name of each index; names[0] has the index 1 */
	const char *names[CACHE_COUNT];
	/* the value of 'clock' when each name was last used */
	uint64_t used[CACHE_COUNT];
	uint64_t clock;
	size_t count;
};

/* The place of a call: function, file and line. */
struct site {
	/*
	 * id of the stack; 0: the entry is unused, or this is 'unknown' of
	 * struct mtrc
	 */
	uint64_t stack;
	const char *function, *file;
	uint64_t line;
	/*
	 * The slots of the names when the sink last wrote them: indices of
	 * 'names' of struct cache.  Since then, other names may have taken
	 * these slots.
	 */
	uint8_t function_slot, file_slot;
};

struct mtrc {
	struct calls calls;
	/*
	 * index of the block that the previous record freed; 0: it freed none
	 */
	uint64_t freed_index;
	/* index for the next alloc, from a comment; 0: use a new index */
	uint64_t reuse_index;
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
 * Return the slot of a name in cache->names.  A new name gets a free slot, or
 * replaces the least recently used name, as in mpatrol.
 */
static uint8_t
find_slot(struct cache *cache, const char *name, bool *is_new_ret)
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

/*
 * Write the index of a name, and the name itself if it is new.  '*slot' is the
 * slot that the name had when it was last written.  If the name is no longer in
 * this slot, update '*slot'.
 */
static uint8_t *
put_name(struct sink *s, uint8_t *p, struct cache *cache, const char *name,
	 uint8_t *slot)
{
	bool is_new = false;
	size_t nbytes;

	if (name == NULL) {
		*p++ = 0;
		return p;
	}
	if (cache->names[*slot] != name)
		*slot = find_slot(cache, name, &is_new);
	cache->used[*slot] = ++cache->clock;
	*p++ = (uint8_t)(*slot + 1) | (is_new ? MTRC_NAME_NEW : 0);
	if (!is_new)
		return p;
	nbytes = strnlen(name, NAME_MAX_NBYTES);
	if (name[nbytes] != '\0')
		loss_count(s, SINK_LOSS_NAME);
	memcpy(p, name, nbytes);
	p[nbytes] = '\0';
	return p + nbytes + 1;
}

/* Find the place of the record's call. */
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
	p = put_name(s, p, &m->functions, site->function, &site->function_slot);
	p = put_name(s, p, &m->files, site->file, &site->file_slot);
	return put_number(p, site->line);
}

static void
put_block(struct sink *s, const struct call *call, uint8_t letter)
{
	uint8_t *const start = outfile_room(&s->out, RECORD_NBYTES);
	struct mtrc *const m = s->ctx;
	uint8_t *p = start;

	m->freed_index = 0;
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

	m->freed_index = call->old_number;
	*p++ = MTRC_FREE;
	p = put_number(p, call->old_number);
	p = put_site(s, p, call->rec);
	outfile_advance(&s->out, (size_t)(p - start));
}

/*
 * Write a call.  If no record allocated the block, the block has no index, so
 * omit its free, and write its realloc as an alloc.
 */
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

/*
 * If a comment describes memory from the system, write the H or I record from
 * which mtrc_source.c made the comment.
 */
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
 * Set the index of the next alloc from a comment.  Two live blocks must not
 * have the same index, so accept only an index above all earlier ones.
 * Exception: in files of versions without places, mpatrol writes a realloc as a
 * free and an alloc with the same index.  For these versions, also accept the
 * index of the block that the previous record freed.
 */
static void
choose_index(struct mtrc *m, const struct hatf_record *rec)
{
	uint64_t index;

	m->reuse_index = 0;
	if (!text_find_u64((const char *)rec->attributes,
			   rec->attributes_nbytes, "index", &index))
		return;
	if (index > m->calls.alloc_count && index <= INDEX_MAX)
		m->calls.alloc_count = index - 1;
	else if (index == m->freed_index && !m->has_sites)
		m->reuse_index = index;
}

static enum hatf_status
put_comment(struct sink *s, const struct hatf_record *rec)
{
	struct mtrc *const m = s->ctx;

	if (hatf_record_comment_starts(rec, MTRC_SYSTEM_KIND))
		put_system(s, rec);
	else if (hatf_record_comment_starts(rec, MTRC_INDEX_KIND))
		choose_index(m, rec);
	/*
	 * A malformed definition is no error: loss_note_stack() counts and
	 * ignores it.  The sink then writes no place for calls that refer to
	 * the definition.
	 */
	return loss_note_stack(s, m->stacks, rec);
}

/*
 * Write 'rec', which follows a comment from which choose_index() has set
 * m->reuse_index.  If 'rec' is an alloc, its block gets this index.
 */
static enum hatf_status
write_reused(struct sink *s, const struct hatf_record *rec)
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
			status = write_reused(s, records);
			run = 1;
		} else if (run != 0) {
			status = calls_write(&m->calls, s, records, run,
					     put_call);
		} else {
			status = put_comment(s, records);
			run = 1;
		}
		records += run;
		n -= run;
	}
	return status;
}

/* ---------------------------------------------------- beginning and end */

/* Write a word of the header. */
static void
put_word(struct sink *s, uint64_t n, unsigned nbytes, bool big)
{
	uint8_t *const p = outfile_room(&s->out, nbytes);

	for (unsigned i = 0; i < nbytes; i++)
		p[i] = (uint8_t)(n >> 8 * (big ? nbytes - 1 - i : i));
	outfile_advance(&s->out, nbytes);
}

/*
 * Write the header.  If mpatrol wrote the trace, use the version of its file,
 * and the word size and byte order of its machine.  Otherwise use MTRC_VERSION,
 * 64 bits and little-endian.
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
	/*
	 * mptrace treats a file without a trailer as truncated, so omit the
	 * trailer of an incomplete trace.
	 */
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
