/* SPDX-License-Identifier: MIT */
/*
 * mptrace_source.c - convert to records the text form of HATF that mpatrol's
 * mptrace writes
 *
 * For every realloc, even in place, mptrace writes the tag "realloc, alloc and
 * free".  It omits the alloc and free records that this tag announces.  The
 * source accepts files with and without these records.
 */
#include "hatf/formats/foreign/mptrace.h"

#include "hatf/codec/hatf_record.h"
#include "hatf/codec/pairing.h"
#include "hatf/formats/common/batch.h"
#include "hatf/formats/common/textio.h"

#include <stdlib.h>

const struct mptrace_line mptrace_lines[MPTRACE_LINE_COUNT] = {
	{ "Tracename", "tracename" },
	{ "Author", "author" },
	{ "Date", "date" },
	{ "DTDURL", "dtd" },
	{ "Description", "description" },
};

struct mptrace {
	struct batch batch;
	struct pairing pairing;
	bool has_begun; /* the source has read a record */
};

bool
mptrace_recognize(const uint8_t *bytes, size_t nbytes)
{
	static const char first[] = "## Tracename:";

	return nbytes >= MPTRACE_MARK_NBYTES &&
	       memcmp(bytes, MPTRACE_MARK, MPTRACE_MARK_NBYTES) == 0 &&
	       memmem(bytes, nbytes, first, sizeof(first) - 1) != NULL;
}

/*
 * Parse a number.  Blanks must precede it, and a blank or the end of the line
 * must follow.
 */
static bool
next_number(uint8_t **next, uint64_t *n_ret)
{
	uint8_t *p = *next;

	while (*p == ' ' || *p == '\t')
		p++;
	if (p == *next || !textio_number(&p, n_ret))
		return false;
	*next = p;
	return *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
}

/* Parse the numbers after the tag.  Return NULL, or the malformed field. */
static const char *
take_numbers(uint8_t *p, const uint8_t *end, unsigned tag,
	     struct hatf_record *rec)
{
	if (tag != MPTRACE_FREE && !next_number(&p, &rec->size))
		return "size";
	if (tag >= MPTRACE_REALLOC_FIRST && !next_number(&p, &rec->old_address))
		return "old_address";
	if (!next_number(&p, &rec->address))
		return "address";
	while (*p == ' ' || *p == '\t')
		p++;
	return p == end ? NULL : "line";
}

/* Return the HATF tag that corresponds to a tag of mptrace. */
static unsigned
hatf_tag(unsigned tag, const struct hatf_record *rec)
{
	if (tag >= MPTRACE_REALLOC_FIRST && rec->old_address == rec->address)
		return HATF_REALLOC_NO_ALLOC;
	return tag - MPTRACE_ALLOC;
}

/*
 * If the name of a line "## Name: value" is known, put the value into the
 * header.  Return false if the source has stopped.
 */
static bool
take_header_line(struct source *s, const struct textio_cell *line)
{
	const char *const text =
		(const char *)line->start + MPTRACE_MARK_NBYTES;
	const size_t nbytes =
		(size_t)(line->end - line->start) - MPTRACE_MARK_NBYTES;

	for (unsigned i = 0; i < MPTRACE_LINE_COUNT; i++) {
		const size_t length = strlen(mptrace_lines[i].name);
		size_t start = length + 1;

		if (nbytes < start || text[length] != ':' ||
		    memcmp(text, mptrace_lines[i].name, length) != 0)
			continue;
		if (start < nbytes && text[start] == ' ')
			start++;
		return source_header(s, mptrace_lines[i].key, text + start,
				     nbytes - start);
	}
	return true;
}

static const char *
parse_line(struct source *s, struct textio_cell line, struct hatf_record *rec,
	   bool *is_record_ret)
{
	struct mptrace *const m = s->ctx;
	uint8_t *p = line.start;
	const char *field;
	uint64_t tag;

	if (p == line.end || *p == '#') {
		*is_record_ret = false;
		if (!m->has_begun &&
		    (size_t)(line.end - p) >= MPTRACE_MARK_NBYTES)
			take_header_line(s, &line);
		return NULL;
	}
	if (!textio_number(&p, &tag) || tag < MPTRACE_ALLOC ||
	    tag > MPTRACE_REALLOC_FREE)
		return "tag";
	field = take_numbers(p, line.end, (unsigned)tag, rec);
	rec->tag = (uint8_t)hatf_tag((unsigned)tag, rec);
	m->has_begun = true;
	return field;
}

static void
add_record(struct mptrace *m, const struct hatf_record *rec)
{
	struct hatf_record *added;

	/*
	 * Skip an alloc or free that a realloc announced, because
	 * batch_realloc() has added it with the realloc.
	 */
	if (pairing_role(&m->pairing, rec) == PAIRING_PART)
		return;
	if (hatf_record_is_realloc(rec)) {
		batch_realloc(&m->batch, rec, rec->tag == HATF_REALLOC_FREE);
		return;
	}
	added = batch_add(&m->batch, rec->tag);
	if (added != NULL)
		*added = *rec;
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct mptrace *const m = s->ctx;
	struct hatf_record rec;

	batch_begin(&m->batch, records, max);
	while (batch_has_room(&m->batch) &&
	       textio_read(s, parse_line, &rec, 1) != 0)
		add_record(m, &rec);
	return batch_end(&m->batch, s);
}

static enum hatf_status
open_source(struct source *s)
{
	const enum hatf_status status = textio_open(s, sizeof(struct mptrace));

	if (status != HATF_OK || source_header(s, "unit", "none", 4))
		return status;
	return s->err.status;
}

static void
close_source(struct source *s)
{
	struct mptrace *const m = s->ctx;

	if (m != NULL)
		batch_fini(&m->batch);
	free(m);
}

const struct source_ops mptrace_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
