/* SPDX-License-Identifier: MIT */
/*
 * splitaddr_source.c - read records from SplitAddr
 *
 * The source decodes a batch of records, whose addresses are 0, and then sets
 * their addresses in a second loop.
 */
#include "hatf/formats/ours/splitaddr.h"

#include "hatf/decoder/decoder.h"

#include <stdlib.h>

#define BATCH 256

struct splitaddr {
	struct group group;
	struct decoder decoder; /* initialized again for each group */
	/* the part of the HATF piece that is not decoded yet */
	const uint8_t *next, *end;
	struct address_stream addresses;
};

/* How many addresses a record of each tag has. */
static const uint8_t use_count[HATF_TAG_COUNT] = { 1, 1, 2, 2, 2, 2 };

/*
 * Return how many records come before the first bad one.  A record is bad if it
 * has an address that is not 0, or if the stream lacks addresses for it.  Set
 * '*uses_ret' to the number of addresses that the records before the bad one
 * need.
 */
static size_t
count_good(const struct splitaddr *p, const struct hatf_record *rec, size_t n,
	   size_t *uses_ret)
{
	const size_t left = address_stream_left(&p->addresses);
	uint64_t any = 0;
	size_t uses = 0;

	for (size_t i = 0; i < n; i++) {
		uses += use_count[rec[i].tag];
		any |= rec[i].address | rec[i].old_address;
	}
	*uses_ret = uses;
	if (any == 0 && uses <= left)
		return n;
	uses = 0;
	for (size_t i = 0; i < n; i++) {
		*uses_ret = uses;
		uses += use_count[rec[i].tag];
		if ((rec[i].address | rec[i].old_address) != 0 || uses > left)
			return i;
	}
	return n;
}

static size_t
set_addresses(struct source *s, struct hatf_record *rec, size_t n)
{
	struct splitaddr *const p = s->ctx;
	uint64_t addresses[2 * BATCH];
	const uint64_t *next = addresses;
	size_t uses;
	const size_t good = count_good(p, rec, n, &uses);

	address_stream_take(&p->addresses, addresses, uses);
	for (size_t i = 0; i < good; i++) {
		if (rec[i].tag <= HATF_FREE) {
			rec[i].address = *next++;
		} else if (rec[i].tag <= HATF_REALLOC_FREE) {
			rec[i].old_address = *next++;
			rec[i].address = *next++;
		}
	}
	s->offset = good == n ? p->decoder.offset : rec[good].offset;
	if (good < n)
		source_stop(s, HATF_BAD_FIELD, "address");
	return good;
}

/*
 * If the decoder stopped because of an error, or if the piece ends inside a
 * record, stop reading.
 */
static void
check_stop(struct source *s)
{
	const struct splitaddr *const p = s->ctx;
	const struct decoder *const d = &p->decoder;
	const size_t left = (size_t)(p->end - p->next);

	if (s->err.status != HATF_OK)
		return;
	if (d->stop == DECODER_BAD)
		source_stop(s, d->status, d->field);
	else if (d->stop == DECODER_MORE && left != 0)
		source_stop(s, HATF_BAD_FIELD,
			    decoder_cut_field(d, p->next, left));
}

static size_t
take(struct source *s, struct hatf_record *rec, size_t n)
{
	struct splitaddr *const p = s->ctx;

	n = decoder_decode(&p->decoder, &p->next, p->end, rec, n);
	n = set_addresses(s, rec, n);
	check_stop(s);
	return n;
}

static bool
fail(struct source *s, const char *field)
{
	source_stop(s, HATF_BAD_FIELD, field);
	return false;
}

/*
 * Do the records use all addresses of the group, and does the group have as
 * many records as its header states?  If not, the group is invalid; stop with
 * an error.
 */
static bool
end_group(struct source *s)
{
	const struct splitaddr *const p = s->ctx;

	if (address_stream_left(&p->addresses) != 0)
		return fail(s, "address");
	if (p->decoder.record_count != p->group.record_count)
		return fail(s, "records");
	return true;
}

/*
 * Read the next group.  Return false if there is no next group, or if it is
 * invalid.
 */
static bool
begin_group(struct source *s)
{
	struct splitaddr *const p = s->ctx;
	struct group *const g = &p->group;
	const struct piece *const hatf = &g->piece[SPLITADDR_HATF];
	const char *field;

	s->offset = g->end_offset;
	if (!group_read(s, g, SPLITADDR_STREAM_COUNT))
		return false;
	if (hatf->form != SPLITADDR_FORM_HATF)
		return fail(s, "form");
	if (hatf->base != 0)
		return fail(s, "base");
	field = address_stream_load(&p->addresses,
				    &g->piece[SPLITADDR_ADDRESSES]);
	if (field != NULL && field[0] == '\0')
		return source_stop(s, HATF_NO_MEMORY, NULL), false;
	if (field != NULL)
		return fail(s, field);
	decoder_init(&p->decoder, false);
	p->decoder.offset = g->offset;
	p->next = hatf->bytes;
	p->end = hatf->bytes + hatf->nbytes;
	return true;
}

static size_t
read_records(struct source *s, struct hatf_record *records, size_t max)
{
	struct splitaddr *const p = s->ctx;
	size_t n = 0;

	while (n < max && s->err.status == HATF_OK) {
		if (p->next != p->end)
			n += take(s, records + n,
				  max - n < BATCH ? max - n : BATCH);
		else if (n > 0 || !end_group(s) || !begin_group(s))
			/*
			 * Stop, because the records point into the group, which
			 * the next group would replace.
			 */
			break;
	}
	return n;
}

static enum hatf_status
open_source(struct source *s)
{
	struct splitaddr *const p = calloc(1, sizeof(*p));

	s->ctx = p;
	if (p == NULL || group_open(s, &p->group) != HATF_OK)
		return source_stop(s, HATF_NO_MEMORY, NULL);
	return HATF_OK;
}

static void
close_source(struct source *s)
{
	struct splitaddr *const p = s->ctx;

	if (p == NULL)
		return;
	group_fini(&p->group);
	address_stream_fini(&p->addresses);
	free(p);
}

bool
splitaddr_recognize(const uint8_t *bytes, size_t nbytes)
{
	return nbytes >= GROUP_MAGIC_NBYTES &&
	       memcmp(bytes, SPLITADDR_MAGIC, GROUP_MAGIC_NBYTES) == 0;
}

const struct source_ops splitaddr_source = {
	.open = open_source,
	.read = read_records,
	.close = close_source,
};
