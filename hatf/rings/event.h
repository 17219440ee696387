/* SPDX-License-Identifier: MIT */
/*
 * event.h - the encoding of events as 64-bit words in a ring
 *
 * The three low bits of an event's first word are its kind.  The two frequent
 * events, malloc and free, take one word, or two with a time stamp:
 *
 *   63         48 47                                3 2    0
 *  ┌─────────────┬───────────────────────────────────┬──────┐
 *  │ size, bytes │ address, bits 47..3               │ kind │   alloc, calloc
 *  ├─────────────┼───────────────────────────────────┼──────┤
 *  │      0      │ address, bits 47..3               │ kind │   free
 *  └─────────────┴───────────────────────────────────┴──────┘
 *  followed by a word with the stamp if the kind is one of the ..._STAMPED
 *
 * A realloc in tick mode takes two words, a begin and an end.  The end is the
 * next word of the ring after its begin:
 *
 *   63         48 47 46                             3 2    0
 *  ┌─────────────┬──┬────────────────────────────────┬──────┐
 *  │ size code   │ 0│ old address, bits 46..3        │ kind │   begin
 *  ├─────────────┼──┼────────────────────────────────┼──────┤
 *  │ size, bytes │ 1│ new address, bits 46..3        │ kind │   end
 *  └─────────────┴──┴────────────────────────────────┴──────┘
 *
 * The size code says how large the old block is at most.
 *
 * Every other event is "wide".  So is an allocation, free or realloc that the
 * short form cannot hold: a size of 64 KiB or more, an address of more than 48
 * bits (47 in a realloc), or an address that is not a multiple of 8.
 *
 *   31        16 15       8 7      3 2    0
 *  ┌────────────┬──────────┬────────┬──────┐
 *  │ flags      │ words    │ type   │ kind │ , stamp, up to four operands
 *  └────────────┴──────────┴────────┴──────┘
 *
 * 'words' is the length of the whole event.  An event without a stamp has the
 * stamp of the last EVENT_TICK before it in the same ring.  EVENT_STACK is one
 * word, without a stamp, and has its number in the bits 63 to 32.
 *
 * All functions here are pure: any thread may call them, inside malloc() too.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EVENT_KIND_ALLOC = 0,
	EVENT_KIND_FREE = 1,
	EVENT_KIND_ALLOC_STAMPED = 2,
	EVENT_KIND_FREE_STAMPED = 3,
	EVENT_KIND_WIDE = 4,
	EVENT_KIND_CALLOC = 5,
	EVENT_KIND_CALLOC_STAMPED = 6,
	EVENT_KIND_REALLOC = 7,
};
#define EVENT_KIND_MASK 7ull

/* Types of wide events, and their operands. */
enum event_type {
	EVENT_ALLOC,	     /* address, size, alignment (0: none) */
	EVENT_FREE,	     /* address */
	EVENT_REALLOC_BEGIN, /* old address; the flags are its size code */
	EVENT_REALLOC_END,   /* old address, new address, size */
	EVENT_TICK,	     /* none; the stamp is the tick */
	EVENT_THREAD,	     /* parent, kernel tid, start routine */
	EVENT_NAME,	     /* thread, 16 bytes of name in two words */
	EVENT_FORK,	    /* ticket (preload/process/fork.c); one event before
				the fork, one with EVENT_FLAG_FORKED after */
	EVENT_LOST,	    /* count, stamp of the first lost event; the stamp
				is that of the last one */
	EVENT_CREATE_HEAP,  /* heap, 16 bytes of name in two words */
	EVENT_DESTROY_HEAP, /* heap */
	EVENT_HEAP_ALLOC,   /* address, size, heap, alignment (0: none) */
	EVENT_HEAP_FREE,    /* address, heap */
	EVENT_HEAP_REALLOC, /* old address, new address, size, heap */
	EVENT_MARK,	    /* 32 bytes of text */
	EVENT_HEAP_REALLOC_BEGIN, /* old address, heap */
	EVENT_HEAP_REALLOC_END,	  /* as EVENT_HEAP_REALLOC */
	EVENT_HANDOVER, /* new thread: the ring's thread has ended, and the
			   new one produced all events after this one */
	EVENT_STACK,	/* none; one word, whose upper half is the number of the
			call stack of the ring's next events; 0: none */
	EVENT_STACK_NODE,  /* number and, in the upper half, its caller's; frame
			       (stack_image.h); number of the frame */
	EVENT_OBJECT,	   /* number, begin, end, base */
	EVENT_OBJECT_TEXT, /* 32 bytes of the last object's build id in hex, a
			       newline and its path */
	EVENT_TYPE_COUNT
};

#define EVENT_FLAG_ZEROED 1u /* EVENT_ALLOC, EVENT_HEAP_ALLOC: calloc */
#define EVENT_FLAG_FREED  2u /* end of a realloc: it only freed the block */
#define EVENT_FLAG_MORE	  8u /* of a text: the next one continues it */
#define EVENT_FLAG_FORKED 4u /* EVENT_FORK: fork() has returned */

#define EVENT_WORDS_MAX	  6
#define EVENT_ALLOC_WORDS 5 /* length of a wide EVENT_ALLOC */

/* An address with one of these bits does not fit the short form. */
#define EVENT_ADDRESS_EXTRA_BITS 0xffff000000000007ull
#define EVENT_REALLOC_EXTRA_BITS 0xffff800000000007ull
#define EVENT_REALLOC_IS_END	 (1ull << 47) /* it is the end */
#define EVENT_SIZE_SHIFT	 48
#define EVENT_ADDRESS_BITS	 47 /* of a program on Linux */
#define EVENT_SIZE_LIMIT	 (1ull << (64 - EVENT_SIZE_SHIFT))

/*
 * The size code of a block of at most 'nbytes' bytes: in 12 bits a number, in 4
 * bits by how many powers of four it exceeds 16 bytes.  Rounds up.  0: unknown.
 */
static inline unsigned
event_size_code(uint64_t nbytes)
{
	uint64_t shift = 4;
	unsigned code;

	if (nbytes >> EVENT_ADDRESS_BITS != 0)
		return 0;
	while ((nbytes + (1ull << shift) - 1) >> shift >= 1u << 12)
		shift += 2;
	code = (unsigned)((nbytes + (1ull << shift) - 1) >> shift);
	return code << 4 | (unsigned)(shift - 4) / 2;
}

/* The size of a size code; 0: unknown. */
static inline uint64_t
event_coded_nbytes(unsigned code)
{
	return (uint64_t)(code >> 4 & 0xfff) << (4 + 2 * (code & 15));
}

static inline uint64_t
event_wide(enum event_type type, unsigned words, unsigned flags)
{
	return EVENT_KIND_WIDE | (uint64_t)type << 3 | (uint64_t)words << 8 |
	       (uint64_t)flags << 16;
}

/* The stack of the next events of a ring. */
static inline uint64_t
event_stack(uint32_t stack)
{
	return event_wide(EVENT_STACK, 1, 0) | (uint64_t)stack << 32;
}

static inline bool
event_is_stack(uint64_t word)
{
	return (uint32_t)word == (uint32_t)event_wide(EVENT_STACK, 1, 0);
}

/* Number of words of a valid event, by its first word. */
static inline unsigned
event_word_count(uint64_t word)
{
	switch (word & EVENT_KIND_MASK) {
	case EVENT_KIND_WIDE:
		return (unsigned)(word >> 8 & 255);
	case EVENT_KIND_ALLOC_STAMPED:
	case EVENT_KIND_FREE_STAMPED:
	case EVENT_KIND_CALLOC_STAMPED:
		return 2;
	default:
		return 1;
	}
}

/* Number of operands of a wide event, whose length is two words more. */
static inline unsigned
event_operand_count(enum event_type type)
{
	static const unsigned char count[EVENT_TYPE_COUNT] = {
		[EVENT_ALLOC] = 3,
		[EVENT_FREE] = 1,
		[EVENT_REALLOC_BEGIN] = 1,
		[EVENT_REALLOC_END] = 3,
		[EVENT_TICK] = 0,
		[EVENT_THREAD] = 3,
		[EVENT_NAME] = 3,
		[EVENT_FORK] = 1,
		[EVENT_LOST] = 2,
		[EVENT_CREATE_HEAP] = 3,
		[EVENT_DESTROY_HEAP] = 1,
		[EVENT_HEAP_ALLOC] = 4,
		[EVENT_HEAP_FREE] = 2,
		[EVENT_HEAP_REALLOC] = 4,
		[EVENT_MARK] = 4,
		[EVENT_HEAP_REALLOC_BEGIN] = 2,
		[EVENT_HEAP_REALLOC_END] = 4,
		[EVENT_HANDOVER] = 1,
		[EVENT_STACK_NODE] = 3,
		[EVENT_OBJECT] = 4,
		[EVENT_OBJECT_TEXT] = 4,
	};

	return count[type];
}

/* The decoded form of an event. */
struct event {
	enum event_type type;
	unsigned flags;
	unsigned words; /* that it took */
	bool by_tick;	/* the stamp is that of a tick */
	uint64_t stamp;
	uint64_t operand[4];
};

#endif /* EVENT_H */
