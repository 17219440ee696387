/* SPDX-License-Identifier: MIT */
/*
 * mini.h - a decoder of HATF 1.0 that shares no code with the library
 *
 * It is written from appendix A and FORMAT.md alone, slow and plain, to check
 * the output of the encoder and the writer.  It decodes a whole stream in
 * memory and fails the running test on anything illegal.  Unless it is lenient,
 * it also fails on what a writer must never write: a width under default.
 */
#ifndef TESTS_MINI_H
#define TESTS_MINI_H

#include "hatf/hatf.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * An assertion for loops.  Check's own assertions write to a file each time,
 * whether they hold or not, which takes a hundred times as long as the code
 * under test.  A program that is not a unit test defines its own.
 */
#ifndef mini_check
#include "tests/unit/support/checks.h"
#define mini_check(condition)                                     \
	do {                                                      \
		if (!(condition))                                 \
			ck_abort_msg("not true: %s", #condition); \
	} while (0)
#endif

struct mini_field {
	unsigned width, last, interpretation; /* codes */
	uint64_t argument, stride, previous;
};

/* The column of stacks that the records are being taken from. */
struct mini_column {
	const uint8_t *next, *end; /* next == NULL: none */
	bool frees;
	uint64_t run;
	uint32_t stored[65536], stored_count;
	uint32_t t[1 << 14], u[1 << 12], history[16][3];
	/* The announced records that may still come. */
	bool alloc_announced, free_announced;
	struct hatf_record realloc;
	uint8_t attributes[65536 + 8];
};

struct mini {
	const uint8_t *start, *next, *end;
	struct mini_field field[6];
	uint64_t metadata_count, metadata_nbytes;
	bool metadata_wanted; /* deliver metadata too */
	bool lenient;
	bool has_header; /* a test may set it for a block without the header */
	struct mini_column column;
};

static inline void
mini_init(struct mini *m, const uint8_t *buf, size_t nbytes)
{
	memset(m, 0, sizeof(*m));
	m->start = m->next = buf;
	m->end = buf + nbytes;
	for (unsigned i = 0; i < 6; i++) {
		if (i < 2)
			m->field[i].width = m->field[i].last = 4;
		else
			m->field[i].interpretation = 1;
	}
}

static inline uint64_t
mini_take(struct mini *m, unsigned nbytes)
{
	uint64_t n = 0;

	mini_check((size_t)(m->end - m->next) >= nbytes);
	while (nbytes-- > 0)
		n = n << 8 | *m->next++;
	return n;
}

static inline void
mini_metadata(struct mini *m, struct hatf_metadata *out)
{
	out->op = (uint8_t)mini_take(m, 1);
	out->field = (uint8_t)mini_take(m, 1);
	out->argument = (uint8_t)mini_take(m, 1);
	mini_check(out->field < 6);

	struct mini_field *const f = &m->field[out->field];

	if (out->op == 1) {
		mini_check(out->argument <= 2 || out->argument == 4 ||
			   out->argument == 8 ||
			   (out->field == 5 &&
			    (out->argument == 9 || out->argument == 10)));
		if (out->argument != 0)
			f->last = out->argument;
		if (f->interpretation != 1 && f->interpretation != 4)
			f->width = out->argument;
		else
			mini_check(m->lenient);
		return;
	}
	mini_check(out->op == 2);
	mini_check(out->argument <= (out->field == 5 ? 1 : 4));
	if (out->argument != 0)
		out->value = mini_take(m, 8);
	if (out->argument == 4)
		out->stride = mini_take(m, 8);
	if (out->field == 5)
		mini_check(out->value == 0);
	f->interpretation = out->argument;
	f->argument = f->previous = out->value;
	f->stride = out->stride;
	f->width = out->argument == 1 || out->argument == 4 ? 0 : f->last;
}

static inline uint64_t
mini_number(struct mini *m, unsigned field)
{
	struct mini_field *const f = &m->field[field];
	const uint64_t raw = mini_take(m, f->width);
	int64_t offset;

	switch (f->width) {
	case 1:
		offset = (int8_t)raw;
		break;
	case 2:
		offset = (int16_t)raw;
		break;
	case 4:
		offset = (int32_t)raw;
		break;
	default:
		offset = (int64_t)raw;
		break;
	}
	switch (f->interpretation) {
	case 0:
		f->previous = raw;
		break;
	case 1:
		f->previous = f->argument;
		break;
	case 2:
		f->previous = f->argument + (uint64_t)offset;
		break;
	case 3:
		f->previous += (uint64_t)offset;
		break;
	default:
		f->previous += f->stride;
		break;
	}
	return f->previous;
}

static inline void
mini_bytes(struct mini *m, struct hatf_record *r, unsigned nbytes)
{
	mini_check((size_t)(m->end - m->next) >= nbytes);
	r->attributes = m->next;
	r->attributes_nbytes = nbytes;
	m->next += nbytes;
}

static inline void
mini_attributes(struct mini *m, struct hatf_record *r)
{
	const unsigned width = m->field[5].width;

	if (width == 9)
		mini_bytes(m, r, (unsigned)mini_take(m, 1));
	else if (width == 10)
		mini_bytes(m, r, (unsigned)mini_take(m, 2));
	else
		mini_bytes(m, r, width);
}

static inline uint64_t
mini_uleb(struct mini_column *c)
{
	uint64_t n = 0;
	unsigned shift = 0;

	do {
		mini_check(c->next != c->end && shift < 35);
		n |= (uint64_t)(*c->next & 127) << shift;
		shift += 7;
	} while (*c->next++ >= 128);
	mini_check(n < UINT64_C(1) << 32);
	return n;
}

/* Note what a comment says of columns. */
static inline void
mini_comment(struct mini *m, const struct hatf_record *r)
{
	static const char header[] = "HATF 1.0", block[] = "HATF block\n";
	static const char stacks[] = "HATF stacks\n";
	struct mini_column *const c = &m->column;

	if (r->offset == 0 && r->attributes_nbytes > 8 &&
	    memcmp(r->attributes, header, 8) == 0)
		m->has_header = true;
	if (!m->has_header)
		return;
	if (r->attributes_nbytes > 11 && memcmp(r->attributes, block, 11) == 0)
		c->next = NULL;
	if (r->attributes_nbytes < 12 || memcmp(r->attributes, stacks, 12) != 0)
		return;
	memset(c, 0, offsetof(struct mini_column, attributes));
	mini_check(r->attributes_nbytes > 12 && r->attributes[12] <= 1);
	c->frees = r->attributes[12] == 1;
	c->next = r->attributes + 13;
	c->end = r->attributes + r->attributes_nbytes;
	c->run = mini_uleb(c);
}

/* Is it a record that the column has a value for? */
static inline bool
mini_has_value(struct mini_column *c, const struct hatf_record *r)
{
	if (r->thread == c->realloc.thread) {
		if (r->tag == 0 && c->alloc_announced &&
		    r->address == c->realloc.address) {
			c->alloc_announced = false;
			return false;
		}
		if (r->tag == 1 && c->free_announced &&
		    r->address == c->realloc.old_address) {
			c->free_announced = false;
			return false;
		}
	}
	c->realloc = *r;
	c->alloc_announced = r->tag == 3 || r->tag == 4;
	c->free_announced = r->tag == 3 || r->tag == 5;
	return r->tag <= 5 && (r->tag != 1 || c->frees);
}

static inline uint32_t
mini_entry(struct mini_column *c)
{
	const uint64_t code = mini_uleb(c);
	uint64_t d;
	uint32_t value;

	if (code == 0)
		return 0;
	if (code >= 2) {
		mini_check(code - 2 < c->stored_count);
		return c->stored[code - 2];
	}
	d = mini_uleb(c);
	value = c->stored_count == 0 ? 0 : c->stored[c->stored_count - 1];
	value = (uint32_t)(d % 2 == 0 ? value + d / 2 : value - (d + 1) / 2);
	mini_check(value != 0 && c->stored_count < 65536);
	c->stored[c->stored_count++] = value;
	return value;
}

/* Give the record the stack that the column has for it. */
static inline void
mini_stack(struct mini_column *c, struct hatf_record *r)
{
	uint32_t *const h = c->history[r->thread % 16];
	uint32_t i, k, value;
	unsigned nbytes = r->attributes_nbytes;

	if (c->next == NULL || !mini_has_value(c, r))
		return;
	if (c->run == 0 && c->next == c->end) {
		c->next = NULL;
		return;
	}
	i = (0x9e3779b1u * h[0] ^ 0x85ebca77u * h[1] ^ 0xc2b2ae3du * h[2]) >>
	    18;
	k = (0x9e3779b1u * h[0]) >> 20;
	if (c->run > 0) {
		c->run--;
		value = c->t[i] != 0 ? c->t[i] : c->u[k];
	} else {
		value = mini_entry(c);
		c->run = mini_uleb(c);
	}
	c->t[i] = c->u[k] = value;
	h[2] = h[1];
	h[1] = h[0];
	h[0] = value;
	if (value == 0)
		return;
	if (nbytes != 0)
		memcpy(c->attributes, r->attributes, nbytes);
	c->attributes[nbytes++] = 0x45;
	for (; value >= 128; value >>= 7)
		c->attributes[nbytes++] = (uint8_t)(value | 128);
	c->attributes[nbytes++] = (uint8_t)value;
	r->attributes = c->attributes;
	r->attributes_nbytes = nbytes;
}

/*
 * Read the next record; return false at the end.  Its attributes are valid
 * until the next call.
 */
static inline bool
mini_read(struct mini *m, struct hatf_record *r)
{
again:
	if (m->next == m->end)
		return false;
	memset(r, 0, sizeof(*r));
	r->offset = (uint64_t)(m->next - m->start);
	r->tag = (uint8_t)mini_take(m, 1);
	mini_check(r->tag <= 11);
	if (r->tag == 11) {
		mini_metadata(m, &r->metadata);
		m->metadata_count++;
		m->metadata_nbytes +=
			(uint64_t)(m->next - m->start) - r->offset;
		if (m->metadata_wanted)
			return true;
		goto again;
	}
	if (r->tag == 10) {
		mini_bytes(m, r, (unsigned)mini_take(m, 2));
		mini_comment(m, r);
		return true;
	}
	if (r->tag == 6 || r->tag == 7)
		r->heap = mini_number(m, 4);
	if (r->tag == 0 || (r->tag >= 2 && r->tag <= 5))
		r->size = mini_number(m, 0);
	if (r->tag >= 2 && r->tag <= 5)
		r->old_address = mini_number(m, 1);
	if (r->tag <= 5)
		r->address = mini_number(m, 1);
	r->thread = mini_number(m, 3);
	if (r->tag <= 5)
		r->heap = mini_number(m, 4);
	r->time = mini_number(m, 2);
	mini_attributes(m, r);
	mini_stack(&m->column, r);
	return true;
}

/* Require that both records are the same, except for 'offset'. */
static inline void
mini_assert_same(const struct hatf_record *a, const struct hatf_record *b)
{
	mini_check(a->tag == b->tag);
	mini_check(a->size == b->size);
	mini_check(a->address == b->address);
	mini_check(a->old_address == b->old_address);
	mini_check(a->time == b->time);
	mini_check(a->thread == b->thread);
	mini_check(a->heap == b->heap);
	mini_check(a->attributes_nbytes == b->attributes_nbytes);
	if (a->attributes_nbytes != 0)
		mini_check(memcmp(a->attributes, b->attributes,
				  a->attributes_nbytes) == 0);
}

/* xorshift: the same numbers on every machine. */
static inline uint64_t
mini_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#endif /* TESTS_MINI_H */
