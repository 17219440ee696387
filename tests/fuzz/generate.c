/* SPDX-License-Identifier: MIT */
/*
 * generate.c - see generate.h
 *
 * The low four bits of an instruction choose what it does.  The upper four
 * ('how') choose which fields are given with a record, and the arguments of
 * other instructions:
 *
 *	0-9	a record of this tag
 *	10	a comment, text in the input
 *	11	repeat the last records, with other addresses and times
 *	12	set a part of the state to 8 bytes of the input
 *	13	a record with long attributes, or a long comment
 *	14	many equal records
 *	15	a comment that begins like one of ours
 */
#include "generate.h"

#include <string.h>

#define RECENT 16

/* Bits of 'how' for tags 0 to 9. */
#define HOW_TIME       1u
#define HOW_THREAD     2u
#define HOW_SIZE       4u
#define HOW_ATTRIBUTES 8u

struct machine {
	const uint8_t *next, *end;
	struct generated *out;
	size_t max;
	uint64_t attributes_max;
	uint64_t address[RECENT];
	unsigned newest; /* index into 'address' */
	uint64_t size, time, thread, heap;
};

/* Take a number of the input; bytes after its end are 0. */
static uint64_t
take(struct machine *m, unsigned nbytes)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < nbytes; i++) {
		n <<= 8;
		if (m->next < m->end)
			n |= *m->next++;
	}
	return n;
}

/* Take a number of 1, 2, 4 or 8 bytes, signed. */
static uint64_t
take_signed(struct machine *m, unsigned code)
{
	switch (code % 4) {
	case 0:
		return (uint64_t)(int8_t)take(m, 1);
	case 1:
		return (uint64_t)(int16_t)take(m, 2);
	case 2:
		return (uint64_t)(int32_t)take(m, 4);
	default:
		return take(m, 8);
	}
}

static const uint8_t *
pattern(void)
{
	static uint8_t bytes[UINT16_MAX];

	if (bytes[1] == 0)
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(i ^ i >> 8);
	return bytes;
}

static void
put(struct machine *m, const struct hatf_record *r)
{
	struct generated *const out = m->out;

	if (out->n == m->max ||
	    r->attributes_nbytes > m->attributes_max - out->attributes_nbytes)
		return;
	out->attributes_nbytes += r->attributes_nbytes;
	out->records[out->n++] = *r;
}

/* An address: a recent one, or one near the newest, or any. */
static uint64_t
next_address(struct machine *m)
{
	const unsigned code = (unsigned)take(m, 1);
	const uint64_t step = code & 4 ? 16 : 1;

	if (code < 128)
		return m->address[code % RECENT];

	const uint64_t a = m->address[m->newest] + step * take_signed(m, code);

	m->newest = (m->newest + 1) % RECENT;
	return m->address[m->newest] = a;
}

static void
set_attributes(struct machine *m, struct hatf_record *r)
{
	const size_t left = (size_t)(m->end - m->next);
	const uint64_t want = take(m, 1);

	r->attributes = m->next;
	r->attributes_nbytes = (uint32_t)(want < left ? want : left);
	if (left == 0)
		r->attributes_nbytes = 0;
	else if (want > left - 1)
		r->attributes_nbytes = (uint32_t)(left - 1);
	m->next += r->attributes_nbytes;
	/* Stacks are frequent: one byte of the input is the number of one. */
	if (want == 0xff && left > 1) {
		static const uint8_t items[][2] = {
			{ HATF_ATTR_STACK, 1 },
			{ HATF_ATTR_STACK, 2 },
			{ HATF_ATTR_STACK, 3 },
			{ HATF_ATTR_STACK, 90 },
		};

		m->next = r->attributes + 1;
		r->attributes = items[r->attributes[0] % 4];
		r->attributes_nbytes = 2;
	}
}

static void
put_record(struct machine *m, unsigned tag, unsigned how)
{
	struct hatf_record r = { .tag = (uint8_t)tag };

	if (how & HOW_SIZE)
		m->size = take_signed(m, (unsigned)take(m, 1));
	if (how & HOW_TIME)
		m->time += take_signed(m, (unsigned)take(m, 1));
	if (how & HOW_THREAD)
		m->thread = take(m, 1);
	if (tag <= HATF_REALLOC_FREE) {
		r.size = tag == HATF_FREE ? 0 : m->size;
		if (tag >= HATF_REALLOC_NO_ALLOC)
			r.old_address = next_address(m);
		r.address = next_address(m);
	}
	if (tag <= HATF_DESTROY_HEAP)
		r.heap = m->heap;
	r.thread = m->thread;
	r.time = m->time;
	if (how & HOW_ATTRIBUTES)
		set_attributes(m, &r);
	put(m, &r);
}

static void
put_comment(struct machine *m)
{
	struct hatf_record r = { .tag = HATF_COMMENT };

	set_attributes(m, &r);
	put(m, &r);
}

static void
repeat(struct machine *m, unsigned how)
{
	const size_t most = 1 + take(m, 1) % 32;
	const size_t count = most < m->out->n ? most : m->out->n;
	const size_t times = take(m, how & 1 ? 2 : 1) % 1024;
	const uint64_t step = take_signed(m, how >> 1 & 1);
	const uint64_t tick = take_signed(m, how >> 2 & 1);

	for (size_t i = 0; i < times * count; i++) {
		/* 'put' leaves attributes in place that are stored already. */
		struct hatf_record r = m->out->records[m->out->n - count];
		const size_t before = m->out->n;

		if (r.tag <= HATF_REALLOC_FREE)
			r.address += step;
		if (r.tag < HATF_COMMENT)
			r.time = m->time += tick;
		if (how & 8 && r.size != 0)
			r.size += step;
		put(m, &r);
		if (m->out->n == before)
			return;
	}
}

static void
set_state(struct machine *m, unsigned how)
{
	uint64_t *const parts[] = { &m->size, &m->address[m->newest], &m->time,
				    &m->thread, &m->heap };
	uint64_t *const part = parts[how / 2 % 5];

	*part = how & 1 ? take(m, 8) : take(m, 1);
}

static void
put_long(struct machine *m, unsigned how)
{
	const struct hatf_record r = {
		.tag = how & 1 ? HATF_COMMENT : HATF_FREE,
		.address = how & 1 ? 0 : m->address[m->newest],
		.time = how & 1 ? 0 : m->time,
		.thread = how & 1 ? 0 : m->thread,
		.heap = how & 1 ? 0 : m->heap,
		.attributes = pattern(),
		.attributes_nbytes = (uint32_t)take(m, 2),
	};

	put(m, &r);
}

static void
put_many(struct machine *m, unsigned how)
{
	const struct hatf_record r = {
		.tag = how & 1 ? HATF_ALLOC : HATF_FREE,
		.size = how & 1 ? m->size : 0,
		.address = m->address[m->newest],
		.time = m->time,
		.thread = m->thread,
		.heap = m->heap,
		.attributes = pattern(),
		.attributes_nbytes = how >> 1,
	};

	for (uint64_t left = take(m, 2) % 1024; left > 0; left--)
		put(m, &r);
}

static void
put_ours(struct machine *m, unsigned how)
{
	static const char *const texts[] = {
		"HATF 1.0\nproducer=x\n",
		"HATF block\nblock=0\nrecord=0\nevent=0\ntime=0\nbytes=1\n",
		"HATF end\ncomplete=1\nlost=0\n",
		"HATF lost\nthread=1\ncount=3\nfrom=1\nto=2\n",
		"HATF thread\nthread=1\nname=\\x0a\\\n",
		"HATF clock\nclock=us\ntime=1\n",
		"HATF fork\nthread=0\nevent=1\ntime=0\n",
		"HATF lost\ncount=18446744073709551615\n",
	};
	const char *const text = texts[how % 8];
	const struct hatf_record r = {
		.tag = HATF_COMMENT,
		.attributes = (const uint8_t *)text,
		/* Truncate at times. */
		.attributes_nbytes =
			(uint32_t)(how & 8 ? take(m, 1) % strlen(text)
					   : strlen(text)),
	};

	put(m, &r);
}

static void
step(struct machine *m)
{
	const unsigned op = (unsigned)take(m, 1);
	const unsigned how = op >> 4;

	switch (op & 15) {
	case 10:
		put_comment(m);
		break;
	case 11:
		repeat(m, how);
		break;
	case 12:
		set_state(m, how);
		break;
	case 13:
		put_long(m, how);
		break;
	case 14:
		put_many(m, how);
		break;
	case 15:
		put_ours(m, how);
		break;
	default:
		put_record(m, op & 15, how);
		break;
	}
}

void
generate(const uint8_t *data, size_t nbytes, size_t max,
	 uint64_t attributes_max, struct generated *out)
{
	struct machine m = {
		.next = data,
		.end = data + nbytes,
		.out = out,
		.max = max,
		.attributes_max = attributes_max,
		.size = 24,
		.address = { 0, 0x5555555592a0, 0x7ffff7a00010 },
		.newest = 1,
	};

	out->n = 0;
	out->attributes_nbytes = 0;
	while (m.next < m.end && out->n < max)
		step(&m);
}

bool
generate_is_framing(const struct hatf_record *r)
{
	static const char *const kinds[] = { "HATF 1.0", "HATF block",
					     "HATF sum", "HATF end",
					     "HATF stacks" };

	for (size_t i = 0; i < 5 && r->tag == HATF_COMMENT; i++) {
		const size_t nbytes = strlen(kinds[i]);

		if (r->attributes_nbytes >= nbytes &&
		    memcmp(r->attributes, kinds[i], nbytes) == 0 &&
		    (r->attributes_nbytes == nbytes ||
		     r->attributes[nbytes] == '\n'))
			return true;
	}
	return false;
}
