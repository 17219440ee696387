/* SPDX-License-Identifier: MIT */
/*
 * memtrace_hand.h - hand-made traces of OCaml's Memtrace
 *
 * Builders for packets and events, and readers of the result.
 */
#ifndef TESTS_MEMTRACE_HAND_H
#define TESTS_MEMTRACE_HAND_H

#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

#define BEGIN UINT64_C(1600000000000000)

/* Append a little-endian number. */
static inline void
put(struct hand *h, uint64_t n, unsigned nbytes)
{
	for (; nbytes != 0; nbytes--, n >>= 8)
		hand_put(h, n & 0xff, 1);
}

static inline void
put_string(struct hand *h, const char *text)
{
	hand_bytes(h, text, strlen(text) + 1);
}

static inline void
put_event(struct hand *h, unsigned event, uint64_t time)
{
	put(h, (uint64_t)event << 25 | (time & 0x1ffffff), 4);
}

/* The header fields of a packet of version 3. */
struct packet {
	unsigned pid, domain;
	uint64_t first_id, last_id;
	uint64_t begin, end;	      /* relative to BEGIN */
	unsigned bucket, after, code; /* sample of the cache */
};

/* Append a packet with these events; frees 'events'. */
static inline void
put_any_packet(struct hand *h, const struct packet *p, struct hand *events)
{
	put(h, 0xc1fc1fc1, 4);
	put(h, 8 * (68 + events->used), 4);
	put(h, BEGIN + p->begin, 8);
	put(h, BEGIN + p->end, 8);
	put(h, 0, 4);
	put(h, 3, 2);
	put(h, p->pid, 8);
	put(h, p->domain, 2);
	put(h, p->bucket, 2);
	put(h, p->after, 2);
	put(h, p->code, 8);
	put(h, p->first_id, 8);
	put(h, p->last_id, 8);
	hand_bytes(h, events->bytes, events->used);
	hand_fini(events);
}

/* A packet header for 'count' allocations, without a sample of the cache. */
static inline void
put_packet(struct hand *h, unsigned domain, uint64_t first_id, uint64_t count,
	   struct hand *events)
{
	const struct packet p = { .pid = 77,
				  .domain = domain,
				  .first_id = first_id,
				  .last_id = first_id + count,
				  .end = 1000,
				  .bucket = 0xffff };

	put_any_packet(h, &p, events);
}

/* Define a code without places. */
static inline void
put_code(struct hand *e, uint64_t code)
{
	put_event(e, 1, BEGIN);
	put(e, code, 8);
	put(e, 0, 1);
}

static inline void
put_info(struct hand *h, unsigned word_bits)
{
	struct hand e = { 0 };

	put_event(&e, 0, BEGIN);
	put(&e, UINT64_C(0x3ff0000000000000), 8); /* 1.0 */
	put(&e, word_bits, 1);
	put_string(&e, "a.out");
	put_string(&e, "host");
	put_string(&e, "");
	put(&e, 77, 8);
	put_string(&e, "context");
	put_packet(h, 0, 0, 0, &e);
}

/* Append one frame whose code is not in the cache. */
static inline void
put_miss(struct hand *e, unsigned bucket, uint64_t code)
{
	put(e, bucket << 2 | 3, 2);
	put(e, code, 8);
}

struct reading {
	enum hatf_status status;
	struct hatf_error err;
	char text[2000];
};

static inline void
note(struct reading *r, struct hatf_stacks *stacks,
     const struct hatf_record *rec)
{
	struct hatf_stack stack;
	char buf[100];

	if (hatf_stacks_note(stacks, rec, NULL) != HATF_OK)
		ck_abort_msg("a wrong definition");
	if (rec->tag == HATF_COMMENT)
		return;
	snprintf(buf, sizeof(buf), "%d %s %d %d in %d @%d:", (int)rec->thread,
		 hatf_tag_name(rec->tag), (int)rec->address, (int)rec->size,
		 (int)rec->heap, (int)rec->time);
	strcat(r->text, buf);
	for (uint64_t id = hatf_record_stack(rec);
	     hatf_stacks_get(stacks, id, &stack); id = stack.parent) {
		struct hatf_frame f;

		ck_assert(hatf_stacks_get_frame(stacks, stack.frame, &f));
		snprintf(buf, sizeof(buf), " %d", (int)f.address);
		strcat(r->text, buf);
	}
	strcat(r->text, "\n");
	ck_assert_uint_lt(strlen(r->text), 1500);
}

static inline void
read_bytes(struct reading *r, const uint8_t *bytes, size_t nbytes, size_t max)
{
	const int fd = hand_file(bytes, nbytes);
	struct hatf_record records[8];
	struct hatf_reader *reader;
	struct hatf_stacks *stacks;
	size_t n;

	memset(r, 0, sizeof(*r));
	ck_assert_int_eq(hatf_stacks_open(&stacks), HATF_OK);
	r->status = reader_of_fd(fd, 0, &reader, &r->err);
	if (r->status == HATF_OK) {
		ck_assert_str_eq(hatf_reader_format(reader), "memtrace");
		ck_assert_str_eq(hatf_reader_header(reader, "context"),
				 "context");
		while ((r->status = hatf_reader_read(reader, records, max,
						     &n)) == HATF_OK)
			for (size_t i = 0; i < n; i++)
				note(r, stacks, &records[i]);
		r->err = *hatf_reader_error(reader);
		hatf_reader_close(reader);
	}
	hatf_stacks_close(stacks);
	close(fd);
}

/* Return the final status; stacks may have any depth. */
static inline void
read_to_end(struct hand *h, struct hatf_error *err)
{
	const int fd = hand_file(h->bytes, h->used);
	struct hatf_record records[64];
	struct hatf_reader *reader;
	size_t n;

	ck_assert_int_eq(reader_of_fd(fd, 0, &reader, err), HATF_OK);
	while (hatf_reader_read(reader, records, 64, &n) == HATF_OK)
		continue;
	*err = *hatf_reader_error(reader);
	hatf_reader_close(reader);
	close(fd);
}

#endif /* TESTS_MEMTRACE_HAND_H */
