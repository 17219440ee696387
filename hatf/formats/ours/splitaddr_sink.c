/* SPDX-License-Identifier: MIT */
/*
 * splitaddr_sink.c - write records as SplitAddr
 *
 * The sink encodes the records without their addresses.  Its planner,
 * plan_without_addresses(), calls the usual planner and then changes the
 * result, so that addresses take no bytes.
 */
#include "hatf/formats/ours/splitaddr.h"

#include "hatf/codec/encoder.h"
#include "hatf/codec/hatf_record.h"

#include <stdlib.h>

/*
 * How many bytes of HATF a group has.  A free may take only one byte, so a
 * group of this length may have nearly ADDRESS_STREAM_MAX addresses.
 */
#define GROUP_NBYTES ((size_t)256 * 1024)

struct splitaddr_sink {
	struct encoder encoder;
	struct place place;
	struct address_stream_writer addresses;
	struct gzip_members pack;
	uint32_t record_count; /* number of records in the group */
	uint8_t *buf;
	void *span; /* memory for the encoder's span */
};

/* Plan like place_span(), but in such a way that addresses take no bytes. */
static size_t
plan_without_addresses(void *context, const struct layout *layout, bool restart,
		       const struct hatf_record *records, size_t n,
		       struct place_change *changes, size_t cap,
		       size_t *count_ret)
{
	static const struct place_change no_address = {
		.before = 0,
		.metadata = { .op = HATF_SET_FIELD_SIZE,
			      .field = HATF_FIELD_ADDRESS,
			      .argument = 0 },
	};
	size_t count;
	size_t kept = 0;

	n = place_span(context, layout, restart, records, n, changes + restart,
		       cap - restart, &count);
	if (restart)
		changes[kept++] = no_address;
	for (size_t i = 0; i < count; i++) {
		const struct place_change *const c = &changes[restart + i];

		if (c->metadata.field != HATF_FIELD_ADDRESS)
			changes[kept++] = *c;
	}
	*count_ret = kept;
	return n;
}

static void
put_group(struct sink *s)
{
	struct splitaddr_sink *const p = s->ctx;
	struct encoder *const e = &p->encoder;
	const bool has_addresses = p->addresses.count != 0;

	encoder_end(e);
	group_put_header(s, p->record_count, 1 + has_addresses);
	group_put_piece(s, &p->pack, SPLITADDR_HATF, SPLITADDR_FORM_HATF, 0,
			e->buf, e->used);
	if (has_addresses)
		address_stream_writer_put(&p->addresses, s, &p->pack,
					  SPLITADDR_ADDRESSES);
	encoder_reset(e);
	p->record_count = 0;
}

static void
put_record(struct splitaddr_sink *p, const struct hatf_record *rec)
{
	struct address_stream_writer *const l = &p->addresses;
	struct hatf_record bare = *rec;

	if (p->record_count == 0)
		encoder_begin_bare(&p->encoder);
	if (hatf_record_is_realloc(rec))
		l->values[l->count++] = rec->old_address;
	if (rec->tag <= HATF_REALLOC_FREE)
		l->values[l->count++] = rec->address;
	bare.address = bare.old_address = 0;
	encoder_put(&p->encoder, &bare);
	p->record_count++;
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct splitaddr_sink *const p = s->ctx;

	for (size_t i = 0; i < n; i++) {
		put_record(p, &records[i]);
		if (p->addresses.count + 2 > ADDRESS_STREAM_MAX ||
		    p->record_count == GROUP_RECORDS_MAX ||
		    encoder_is_full(&p->encoder, GROUP_NBYTES))
			put_group(s);
	}
	return s->out.status;
}

static enum hatf_status
finish(struct sink *s)
{
	const struct splitaddr_sink *const p = s->ctx;

	if (p->record_count != 0)
		put_group(s);
	group_put_header(s, 0, 0);
	return s->out.status;
}

static enum hatf_status
open_sink(struct sink *s)
{
	struct splitaddr_sink *const p = calloc(1, sizeof(*p));
	struct place_planner planner = {
		.plan = plan_without_addresses,
		.records = PLACE_SPAN_RECORDS,
		.changes = 2 * PLACE_SPAN_RECORDS,
	};
	const size_t buf_nbytes = GROUP_NBYTES + encoder_room_nbytes(&planner);

	s->ctx = p;
	if (p == NULL || address_stream_writer_init(&p->addresses) != HATF_OK)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	p->buf = malloc(buf_nbytes);
	p->span = malloc(encoder_memory_nbytes(&planner));
	if (p->buf == NULL || p->span == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	place_init(&p->place);
	planner.context = &p->place;
	encoder_init(&p->encoder, p->buf, buf_nbytes, &planner, p->span);
	outfile_bytes(&s->out, SPLITADDR_MAGIC, GROUP_MAGIC_NBYTES);
	s->offset = GROUP_MAGIC_NBYTES;
	return group_check_level(s);
}

static void
close_sink(struct sink *s)
{
	struct splitaddr_sink *const p = s->ctx;

	if (p == NULL)
		return;
	address_stream_writer_fini(&p->addresses);
	gzip_members_fini(&p->pack);
	free(p->buf);
	free(p->span);
	free(p);
}

const struct sink_ops splitaddr_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
