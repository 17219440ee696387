/* SPDX-License-Identifier: MIT */
/*
 * hummingbird.c - the text traces of "Are Mallocs Free of Fragmentation?"
 * (FORMATS "hummingbird")
 *
 * 	Allocate 0x55d0c0 24
 * 	Free 0x55d0c0
 *
 * The paper shows these two kinds of line, but no complete trace, and says that
 * a tag matches a Free with its Allocate.  The source therefore accepts any
 * word as a tag (a name for the block), accepts "allocate" and "free" in any
 * letter case, and skips blank lines and comment lines.  The sink writes a
 * realloc as a Free and then an Allocate.  If it wrote the Allocate first, and
 * the block stayed in place, two live blocks would have the same address, and
 * thus the same tag.
 */
#include "hatf/formats/common/calls.h"
#include "hatf/formats/common/loss.h"
#include "hatf/formats/common/textio.h"

#include <stdlib.h>
#include <strings.h>

/*
 * The address that stands for the tag 0, because in HATF an address of 0 marks
 * a failed call.  On Linux, no program has a block at this address.
 */
#define ZERO_ADDRESS ((uint64_t)1 << 63)

/* ---------------------------------------------------------------- reading */

struct hummingbird {
	/*
	 * maps the tag_address() of a tag to the number of the live block that
	 * has this tag
	 */
	struct u64_map tags;
	uint64_t alloc_count; /* the highest number given to a block so far */
};

static const char allocate_word[] = "allocate";
static const char free_word[] = "free";

static const uint8_t *
skip_blanks(const uint8_t *p, const uint8_t *end)
{
	while (p != end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* Read the next word before 'end'.  Return an empty word if there is none. */
static struct textio_cell
next_word(uint8_t **next, uint8_t *end)
{
	struct textio_cell word;

	while (*next != end && (**next == ' ' || **next == '\t'))
		++*next;
	word.start = *next;
	while (*next != end && **next != ' ' && **next != '\t')
		++*next;
	word.end = *next;
	return word;
}

static bool
is_word(const struct textio_cell *word, const char *text)
{
	const size_t nbytes = strlen(text);

	return (size_t)(word->end - word->start) == nbytes &&
	       strncasecmp((const char *)word->start, text, nbytes) == 0;
}

/*
 * Parse a number.  Refuse a decimal number with leading zeros, so that "1" and
 * "01" are two different tags.
 */
static bool
is_number(const struct textio_cell *word, uint64_t *n_ret)
{
	const ptrdiff_t nbytes = word->end - word->start;
	uint8_t *next = word->start;

	if (nbytes > 1 && next[0] == '0' && next[1] != 'x')
		return false;
	return textio_number(&next, n_ret) && next == word->end;
}

/*
 * Return the address that stands for a tag.  If the tag is a number, the
 * address is that number, or ZERO_ADDRESS for 0.  Otherwise the address is the
 * FNV-1a hash of the tag, with the top bit set so that it differs from the
 * addresses of real blocks.
 */
static uint64_t
tag_address(const struct textio_cell *word)
{
	uint64_t n;

	if (is_number(word, &n))
		return n != 0 ? n : ZERO_ADDRESS;
	n = 0xcbf29ce484222325;
	for (const uint8_t *p = word->start; p != word->end; p++)
		n = (n ^ *p) * 0x100000001b3;
	return n | (uint64_t)1 << 63;
}

/*
 * Replace the address of the record, which is the tag_address() of the tag, by
 * the number of the block's allocation.  Return false if memory runs out.
 */
static bool
number_tag(struct hummingbird *h, struct hatf_record *rec)
{
	struct u64_map_entry *block;
	bool added;

	if (rec->tag == HATF_FREE) {
		block = u64_map_find(&h->tags, rec->address);
		/* If no live block has the tag, use a new number. */
		rec->address = block != NULL ? block->value : ++h->alloc_count;
		if (block != NULL)
			u64_map_remove(&h->tags, block);
		return true;
	}
	block = u64_map_put(&h->tags, rec->address, &added);
	if (block == NULL)
		return false;
	rec->address = block->value = ++h->alloc_count;
	return true;
}

static const char *
parse_line(struct source *s, struct textio_cell line, struct hatf_record *rec,
	   bool *is_record_ret)
{
	uint8_t *next = line.start;
	struct textio_cell word = next_word(&next, line.end);

	if (word.start == word.end || *word.start == '#') {
		*is_record_ret = false;
		return NULL;
	}
	if (is_word(&word, free_word))
		rec->tag = HATF_FREE;
	else if (!is_word(&word, allocate_word))
		return "operation";
	word = next_word(&next, line.end);
	if (word.start == word.end)
		return "tag";
	rec->address = tag_address(&word);
	if (rec->tag == HATF_ALLOC) {
		word = next_word(&next, line.end);
		if (!is_number(&word, &rec->size))
			return "size";
	}
	if (skip_blanks(next, line.end) != line.end)
		return "line";
	if ((s->flags & HATF_READER_SEQUENCE_TAGS) &&
	    !number_tag(s->ctx, rec)) {
		source_stop(s, HATF_NO_MEMORY, NULL);
		return "tag";
	}
	return NULL;
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	return textio_read(s, parse_line, records, max);
}

/*
 * Is the line a call?  Ordinary text may begin with the word "free", so check
 * the whole line, unless the buffer ends within it.
 */
static bool
is_call(const uint8_t *p, const uint8_t *end)
{
	uint8_t line[FORMAT_PREFIX_NBYTES + 1];
	const uint8_t *const newline = memchr(p, '\n', (size_t)(end - p));
	const size_t nbytes = (size_t)((newline == NULL ? end : newline) - p);
	uint8_t *next = line, *const line_end = line + nbytes;
	struct textio_cell word;
	uint64_t size;
	bool allocates;

	if (nbytes > FORMAT_PREFIX_NBYTES)
		return false;
	memcpy(line, p, nbytes);
	*line_end = '\n';
	word = next_word(&next, line_end);
	allocates = is_word(&word, allocate_word);
	if (next == line_end || (!allocates && !is_word(&word, free_word)))
		return false;
	/*
	 * If the buffer ends within the line, decide by the first word alone.
	 */
	if (newline == NULL)
		return true;
	word = next_word(&next, line_end);
	if (word.start == word.end)
		return false;
	if (allocates) {
		word = next_word(&next, line_end);
		if (!is_number(&word, &size))
			return false;
	}
	while (next != line_end &&
	       (*next == ' ' || *next == '\t' || *next == '\r'))
		next++;
	return next == line_end;
}

bool
hummingbird_recognize(const uint8_t *bytes, size_t nbytes)
{
	const uint8_t *const end = bytes + nbytes;
	const uint8_t *p = bytes;

	/* Skip blank lines and comment lines. */
	while ((p = skip_blanks(p, end)) != end &&
	       (*p == '\n' || *p == '\r' || *p == '#')) {
		if (*p == '#')
			p = memchr(p, '\n', (size_t)(end - p));
		if (p == NULL)
			return false;
		p++;
	}
	return is_call(p, end);
}

static enum hatf_status
open_source(struct source *s)
{
	const enum hatf_status status =
		textio_open(s, sizeof(struct hummingbird));

	if (status != HATF_OK)
		return status;
	u64_map_init(&((struct hummingbird *)s->ctx)->tags);
	return source_header(s, "unit", "none", 4) ? HATF_OK : s->err.status;
}

static void
close_source(struct source *s)
{
	struct hummingbird *const h = s->ctx;

	if (h != NULL)
		u64_map_fini(&h->tags);
	free(h);
}

/* ---------------------------------------------------------------- writing */

/* Upper bound of the length of the lines of one call, in bytes. */
#define LINES_NBYTES 100

static uint8_t *
put_tag(uint8_t *p, const struct sink *s, uint64_t address, uint64_t number)
{
	if (s->options.sequence_tags)
		return textio_put_u64(p, number);
	return textio_put_hex(p, address != ZERO_ADDRESS ? address : 0);
}

static void
put_call(struct sink *s, const struct call *call)
{
	const bool frees =
		call->kind == LEDGER_FREE || call->kind == LEDGER_REALLOC;
	const bool allocates =
		call->kind == LEDGER_ALLOC || call->kind == LEDGER_REALLOC;
	uint8_t *const start = outfile_room(&s->out, LINES_NBYTES);
	uint8_t *p = start;

	if (call->kind == LEDGER_FAILED)
		loss_count(s, SINK_LOSS_FAILED);
	/*
	 * If the tags are numbers of blocks, omit the free of a block that no
	 * record allocated, because such a block has no number.
	 */
	if (frees && !(s->options.sequence_tags && call->old_number == 0)) {
		p = textio_put_bytes(p, "Free ", 5);
		p = put_tag(p, s, call->old_address, call->old_number);
		*p++ = '\n';
	} else if (frees) {
		loss_count(s, SINK_LOSS_FREE);
	}
	if (allocates) {
		p = textio_put_bytes(p, "Allocate ", 9);
		p = put_tag(p, s, call->address, call->number);
		*p++ = ' ';
		p = textio_put_u64(p, call->size);
		*p++ = '\n';
	}
	outfile_advance(&s->out, (size_t)(p - start));
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	return calls_write(s->ctx, s, records, n, put_call);
}

const struct source_ops hummingbird_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};

const struct sink_ops hummingbird_sink = {
	.open = calls_open,
	.write = write_records,
	.close = calls_close,
};
