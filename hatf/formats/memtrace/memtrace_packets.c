/* SPDX-License-Identifier: MIT */
/*
 * memtrace_packets.c - see memtrace_packets.h
 */
#include "hatf/formats/memtrace/memtrace_packets.h"

#include "hatf/containers/rows.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* No event is longer than this, in bytes, without its stack. */
#define EVENT_MAX 50

/*
 * The longest time between the first and the last event of a packet, in
 * microseconds.
 */
#define SPAN_MAX 30000000

/* The longest string in a packet, in bytes; longer strings are truncated. */
#define NAME_MAX_NBYTES 1000

/*
 * PLACE_MAX: the size in bytes of the longest place (line, columns and two
 * names) in a location.  LOCATION_NBYTES: the size of a location without its
 * places.
 */
#define PLACE_MAX	(6 + 2 * (NAME_MAX_NBYTES + 1))
#define LOCATION_NBYTES (4 + 8 + 1)

/* Maximum number of places of a location code: a byte stores their number. */
#define PLACES_MAX 255

/*
 * Location codes must fit into OCaml's integers of 63 bits, so the encoder
 * keeps only the low 61 bits of a code.  A code that the encoder makes is the
 * id of a frame.  If the trace also has codes of its own, the bit CODE_OURS
 * distinguishes the codes of the encoder.
 */
#define CODE_MASK (((uint64_t)1 << 61) - 1)
#define CODE_OURS ((uint64_t)1 << 60)

/*
 * Maximum length of a packet's content in bytes, after the header of version 3.
 * The header of older versions is shorter (memtrace.h).
 */
#define CONTENT_MAX (MEMTRACE_PACKET_MAX - MEMTRACE_HEADER_DOMAIN_NBYTES)

/*
 * From version 3 on, a domain reserves object ids in chunks of 10000, unless
 * the program sets another size.  The ids of a packet must be in one chunk.
 * The encoder does not know where chunks begin, so its packets may have ids of
 * two adjacent chunks.  Our reader does not know either, and refuses only
 * packets with more ids than a chunk can have (is_next() in memtrace_source.c).
 * To stay far below the size of a chunk, the encoder puts at most this many
 * allocations into a packet of version 3.
 */
#define DOMAIN_ALLOCS_MAX 32

/* The number of a domain has 16 bits. */
#define DOMAIN_COUNT 65536

/* ------------------------------------------------------------------- pieces */

/* Append the low 'nbytes' bytes of a number, at most 8. */
static inline void
put(struct memtrace_packet *p, uint64_t n, size_t nbytes)
{
	const uint64_t bytes = htole64(n);

	memcpy(p->bytes + p->used, &bytes, sizeof(bytes));
	p->used += nbytes;
}

static void
put_vint(struct memtrace_packet *p, uint64_t n)
{
	if (n < MEMTRACE_VINT16) {
		put(p, n, 1);
	} else if (n <= UINT16_MAX) {
		put(p, MEMTRACE_VINT16, 1);
		put(p, n, 2);
	} else if (n <= INT32_MAX) {
		put(p, MEMTRACE_VINT32, 1);
		put(p, n, 4);
	} else {
		put(p, MEMTRACE_VINT64, 1);
		put(p, n, 8);
	}
}

/* Append a string, truncated to NAME_MAX_NBYTES, and a NUL. */
static void
put_string(struct memtrace_packet *p, const char *text)
{
	const size_t nbytes = text == NULL ? 0 : strnlen(text, NAME_MAX_NBYTES);

	if (nbytes != 0)
		memcpy(p->bytes + p->used, text, nbytes);
	p->used += nbytes;
	put(p, 0, 1);
}

static void
put_event(struct memtrace_packet *p, unsigned event, uint64_t time)
{
	put(p,
	    (uint64_t)event << MEMTRACE_TIME_BITS | (time & MEMTRACE_TIME_MASK),
	    4);
}

static uint64_t
clamp(uint64_t n, uint64_t max)
{
	return n < max ? n : max;
}

/* ------------------------------------------------------------------ packets */

/* Write the packet, unless it is empty, and begin a new one. */
static void
flush_packet(struct memtrace_packets *w, struct memtrace_packet *p)
{
	const bool has_domain = w->version >= 3;
	const size_t header_nbytes = has_domain ? MEMTRACE_HEADER_DOMAIN_NBYTES
						: MEMTRACE_HEADER_NBYTES;
	struct memtrace_packet header;

	header.used = 0;
	if (p->used != 0) {
		put(&header, MEMTRACE_MAGIC, 4);
		put(&header, 8 * (header_nbytes + p->used), 4);
		put(&header, p->begin, 8);
		put(&header, p->end, 8);
		put(&header, 0, 4);
		put(&header, w->version, 2);
		put(&header, w->pid, 8);
		put(&header, w->domain, has_domain ? 2 : 0);
		/*
		 * The value UINT16_MAX tells readers that this packet contains
		 * no cache bucket to check.
		 */
		put(&header, UINT16_MAX, 2);
		put(&header, 0, 2);
		put(&header, 0, 8);
		put(&header, p->first_id, 8);
		put(&header, p->next_id, 8);
		outfile_bytes(w->out, header.bytes, header.used);
		outfile_bytes(w->out, p->bytes, p->used);
	}
	p->used = 0;
	p->first_id = p->next_id;
}

/*
 * Write a packet with the locations, which must precede the events that refer
 * to them.
 */
static void
flush_locations(struct memtrace_packets *w)
{
	w->locations.begin = w->locations.end = w->events.begin;
	w->locations.first_id = w->locations.next_id = w->events.first_id;
	flush_packet(w, &w->locations);
}

void
memtrace_flush(struct memtrace_packets *w)
{
	flush_locations(w);
	flush_packet(w, &w->events);
}

/*
 * Restart the encoding of stacks: empty the cache and forget the previous
 * stack.
 */
static void
reset_coding(struct memtrace_packets *w)
{
	w->epoch++;
	w->stack = 0;
	w->depth = 0;
}

static void
choose_domain(struct memtrace_packets *w, uint64_t domain)
{
	domain %= DOMAIN_COUNT;
	if (w->version < 3 || domain == w->domain)
		return;
	memtrace_flush(w);
	w->next_ids[w->domain] = w->events.next_id;
	w->domain = domain;
	w->events.first_id = w->events.next_id = w->next_ids[w->domain];
	reset_coding(w);
}

/*
 * If an event at this time would make the packet span more than SPAN_MAX, begin
 * a new packet.  Update the times of the packet.
 */
static void
choose_time(struct memtrace_packets *w, uint64_t time)
{
	struct memtrace_packet *const p = &w->events;

	if (p->used != 0 && time - p->begin > SPAN_MAX)
		memtrace_flush(w);
	if (p->used == 0)
		p->begin = time;
	p->end = time;
}

static void
make_room(struct memtrace_packets *w, uint64_t time, size_t nbytes)
{
	if (w->events.used + nbytes <= CONTENT_MAX)
		return;
	memtrace_flush(w);
	choose_time(w, time);
}

/* ---------------------------------------------------------------- locations */

static void
put_place(struct memtrace_packet *p, const struct hatf_frame *f)
{
	static const uint64_t no_table_codes =
		(uint64_t)MEMTRACE_TABLE_COUNT << 38 |
		(uint64_t)MEMTRACE_TABLE_COUNT << 43;
	const uint64_t column = f->column == 0 ? 0 : clamp(f->column - 1, 0xff);
	const uint64_t end =
		f->end_column == 0 ? column : clamp(f->end_column - 1, 0x3ff);

	put(p,
	    clamp(f->line, 0xfffff) | column << 20 | end << 28 | no_table_codes,
	    6);
	put_string(p, f->file != NULL ? f->file : f->object);
	put_string(p, f->function);
}

/*
 * Must a location have a place (function, file, line) for this frame?  Yes if
 * the frame has a function, a file, an object or a line, or if it has no
 * location code.
 */
static bool
is_place(const struct memtrace_packets *w, const struct hatf_frame *f)
{
	return !w->has_codes || f->address == 0 || f->function != NULL ||
	       f->file != NULL || f->object != NULL || f->line != 0;
}

/*
 * Add the location of a code: the places (function, file, line) of its frames.
 * Stop at the first frame that has no place, or whose place might not fit into
 * the packet.
 */
static void
put_location(struct memtrace_packets *w, uint64_t code, const uint64_t *frames,
	     size_t count)
{
	struct memtrace_packet *const p = &w->locations;
	struct hatf_frame f = { .function = NULL };
	size_t count_at;

	if (p->used + LOCATION_NBYTES + count * PLACE_MAX > CONTENT_MAX)
		flush_locations(w);
	put_event(p, MEMTRACE_LOCATION, w->events.begin);
	put(p, code & CODE_MASK, 8);
	count_at = p->used;
	put(p, 0, 1);
	for (size_t i = 0; i < count; i++) {
		if (p->used + PLACE_MAX > CONTENT_MAX)
			break;
		hatf_stacks_get_frame(w->stacks, frames[i], &f);
		if (!is_place(w, &f))
			break;
		put_place(p, &f);
		p->bytes[count_at]++;
	}
}

/*
 * Find the location code for the frames of a call site.  If the code is new,
 * write its location.  If the code made from 'address' already stands for other
 * frames, make another code.  Return false if memory runs out.
 */
static bool
put_code(struct memtrace_packets *w, uint64_t address, const uint64_t *frames,
	 size_t count, uint64_t *code_ret)
{
	uint64_t code = frames[0];
	struct u64_map_entry *block;
	bool added;

	if (w->has_codes)
		code = address == 0 ? frames[0] | CODE_OURS
				    : address & CODE_MASK;
	block = u64_map_put(&w->written_codes, code, &added);
	if (block != NULL && !added &&
	    (block->value != frames[0] || block->extra != count)) {
		code = frames[0] | CODE_OURS;
		block = u64_map_put(&w->written_codes, code, &added);
	}
	if (block == NULL)
		return false;
	if (added) {
		block->value = frames[0];
		block->extra = count;
		put_location(w, code, frames, count);
	}
	*code_ret = code;
	return true;
}

/* ------------------------------------------------------------------- stacks */

/*
 * Copy the outermost frames of a stack to w->frames, outermost first, at most
 * MEMTRACE_CODES_MAX.  Return how many were copied.
 */
static size_t
gather_frames(struct memtrace_packets *w, uint64_t id)
{
	struct hatf_stack stack;
	size_t depth = 0;
	size_t count;

	for (uint64_t i = id; hatf_stacks_get(w->stacks, i, &stack);
	     i = stack.parent)
		depth++;
	count = depth < MEMTRACE_CODES_MAX ? depth : MEMTRACE_CODES_MAX;
	for (; hatf_stacks_get(w->stacks, id, &stack); id = stack.parent)
		if (depth-- <= count)
			w->frames[depth] = stack.frame;
	return count;
}

static uint64_t
address_of(const struct memtrace_packets *w, uint64_t frame)
{
	struct hatf_frame f;

	return hatf_stacks_get_frame(w->stacks, frame, &f) ? f.address : 0;
}

/*
 * Return how many frames, from the first one on, have the same address, and so
 * share one location code.  Stop before a frame that repeats, because it is a
 * recursive call, and after PLACES_MAX frames.  Store the address in
 * '*address_ret'.  Exception: store 0 and return 1 if the address is unknown,
 * or if the trace is not from Memtrace: the addresses of other traces are not
 * location codes.
 */
static size_t
count_places(const struct memtrace_packets *w, const uint64_t *frames,
	     size_t count, uint64_t *address_ret)
{
	size_t n = 1;

	*address_ret = 0;
	if (!w->has_codes)
		return 1;
	*address_ret = address_of(w, frames[0]);
	if (*address_ret == 0)
		return 1;
	while (n < count && n < PLACES_MAX &&
	       !rows_have_u64(frames, n, frames[n]) &&
	       address_of(w, frames[n]) == *address_ret)
		n++;
	return n;
}

/* Store the codes of a stack in w->codes.  Return false if memory runs out. */
static bool
gather_codes(struct memtrace_packets *w, uint64_t stack, size_t *depth_ret)
{
	const size_t frame_count = gather_frames(w, stack);
	size_t depth = 0;
	size_t n;

	for (size_t i = 0; i < frame_count; i += n) {
		uint64_t address;

		n = count_places(w, w->frames + i, frame_count - i, &address);
		if (!put_code(w, address, w->frames + i, n, &w->codes[depth]))
			return false;
		depth++;
	}
	*depth_ret = depth;
	return true;
}

/*
 * Encode a location code in 2 bytes if the cache has the code, otherwise in 10
 * bytes.  Return the number of bytes.
 */
static size_t
code_frame(struct memtrace_packets *w, uint8_t *bytes, uint64_t code)
{
	const uint64_t hash = code * UINT64_C(0x9e3779b97f4a7c15) >> 50;
	struct memtrace_slot *const slot = &w->slots[hash];
	const bool is_hit = slot->epoch == w->epoch && slot->code == code;
	const unsigned word =
		(unsigned)hash << 2 | (is_hit ? MEMTRACE_HIT_0 : MEMTRACE_MISS);

	bytes[0] = (uint8_t)word;
	bytes[1] = (uint8_t)(word >> 8);
	if (is_hit)
		return 2;
	*slot = (struct memtrace_slot){ code, w->epoch };
	for (unsigned i = 0; i < 8; i++)
		bytes[2 + i] = (uint8_t)(code >> 8 * i);
	return 10;
}

/*
 * The result of code_stack(), which encodes a stack as a difference from the
 * previous stack.  The first 'common' codes of both stacks are equal; the
 * 'count' codes after them take 'nbytes' bytes.  code_stack() omits innermost
 * frames that do not fit into the packet.
 */
struct backtrace {
	size_t common, count, nbytes;
};

static bool
code_stack(struct memtrace_packets *w, uint64_t stack, struct backtrace *b)
{
	size_t depth;

	*b = (struct backtrace){ .common = w->depth };
	if (stack == w->stack)
		return true;
	if (!gather_codes(w, stack, &depth))
		return false;
	b->common = 0;
	while (b->common < depth && b->common < w->depth &&
	       w->codes[b->common] == w->last_codes[b->common])
		b->common++;
	w->depth = b->common;
	while (w->depth < depth && b->nbytes + EVENT_MAX + 10 <= CONTENT_MAX) {
		const uint64_t code = w->codes[w->depth];

		b->nbytes += code_frame(w, w->coded_stack + b->nbytes, code);
		b->count++;
		w->last_codes[w->depth++] = code;
	}
	w->stack = stack;
	return true;
}

/* ------------------------------------------------------------------- events */

bool
memtrace_put_alloc(struct memtrace_packets *w, uint64_t time, uint64_t domain,
		   uint64_t id, const struct memtrace_block *block,
		   uint64_t *id_ret)
{
	struct memtrace_packet *const p = &w->events;
	struct backtrace b;

	choose_domain(w, domain);
	if (w->version >= 3 && p->next_id - p->first_id == DOMAIN_ALLOCS_MAX)
		memtrace_flush(w);
	/*
	 * If the object's id does not follow the previous object's id, begin a
	 * new packet, because the ids of a packet must be consecutive.
	 */
	if (id != UINT64_MAX && id != p->next_id) {
		memtrace_flush(w);
		p->first_id = p->next_id = id;
	}
	choose_time(w, time);
	if (!code_stack(w, block->stack, &b))
		return false;
	make_room(w, time, EVENT_MAX + b.nbytes);
	put_event(p, MEMTRACE_ALLOC, time);
	put_vint(p, block->words);
	put_vint(p, block->sample_count);
	put(p, block->area, 1);
	put_vint(p, b.common);
	put(p, b.count, 2);
	memcpy(p->bytes + p->used, w->coded_stack, b.nbytes);
	p->used += b.nbytes;
	*id_ret = p->next_id++;
	return true;
}

static void
put_object(struct memtrace_packets *w, unsigned event, uint64_t time,
	   uint64_t id)
{
	choose_time(w, time);
	make_room(w, time, EVENT_MAX);
	put_event(&w->events, event, time);
	put_vint(&w->events, w->events.next_id - 1 - id);
}

void
memtrace_put_collect(struct memtrace_packets *w, uint64_t time, uint64_t domain,
		     uint64_t id)
{
	choose_domain(w, domain);
	put_object(w, MEMTRACE_COLLECT, time, id);
}

void
memtrace_put_promote(struct memtrace_packets *w, uint64_t time, uint64_t domain,
		     uint64_t id)
{
	choose_domain(w, domain);
	/*
	 * Omit a promotion of an object that is not allocated yet, because
	 * readers refuse such a promotion.
	 */
	if (id < w->events.next_id)
		put_object(w, MEMTRACE_PROMOTE, time, id);
}

/* -------------------------------------------------------- beginning and end */

bool
memtrace_packets_init(struct memtrace_packets *w)
{
	u64_map_init(&w->written_codes);
	w->epoch = 1;
	if (w->version < 3)
		return true;
	w->next_ids = calloc(DOMAIN_COUNT, sizeof(*w->next_ids));
	return w->next_ids != NULL;
}

void
memtrace_packets_fini(struct memtrace_packets *w)
{
	u64_map_fini(&w->written_codes);
	free(w->next_ids);
}

void
memtrace_put_info(struct memtrace_packets *w, const struct memtrace_info *info)
{
	struct memtrace_packet *const p = &w->events;
	uint64_t bits;

	memcpy(&bits, &info->rate, sizeof(bits));
	p->begin = p->end = info->start;
	put_event(p, MEMTRACE_INFO, info->start);
	put(p, bits, 8);
	put(p, info->word_bits, 1);
	put_string(p, info->exe);
	put_string(p, info->host);
	put_string(p, info->runtime);
	put(p, w->pid, 8);
	put_string(p, info->context);
	flush_packet(w, p);
}
