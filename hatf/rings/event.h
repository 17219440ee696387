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
 * A realloc whose events need no stamp takes two words, the begin event and the
 * end event.  The end event is the next word of the ring after the begin event:
 *
 *   63         48 47 46                             3 2    0
 *  ┌─────────────┬──┬────────────────────────────────┬──────┐
 *  │ size code   │ 0│ old address, bits 46..3        │ kind │   begin
 *  ├─────────────┼──┼────────────────────────────────┼──────┤
 *  │ size, bytes │ 1│ new address, bits 46..3        │ kind │   end
 *  └─────────────┴──┴────────────────────────────────┴──────┘
 *
 * The size code gives bounds of the old block's size (event_size_code()).
 *
 * Every other event is "wide".  So is an allocation, free or realloc that these
 * short forms cannot hold, because its size is 64 KiB or more, or because an
 * address has more than 48 bits (47 in a realloc) or is not a multiple of 8.  A
 * malloc(0) that returns NULL is wide, too, since a word of 0 is not an event.
 *
 *   31        16 15       8 7      3 2    0
 *  ┌────────────┬──────────┬────────┬──────┐
 *  │ flags      │ words    │ type   │ kind │ , stamp, up to four operands
 *  └────────────┴──────────┴────────┴──────┘
 *
 * 'words' is the length of the whole event.  An event without a stamp has the
 * stamp of the event before it in the same ring, which may be an EVENT_TICK.
 * EVENT_STACK is one word without a stamp; the bits 63 to 32 have the number of
 * the stack.
 *
 * All functions here are pure, so any thread may call them, inside malloc()
 * too.
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

/* Types of wide events.  The comments list the operands of each type. */
enum event_type {
	EVENT_ALLOC, /* operands: address, size, alignment (0: none) */
	EVENT_FREE,  /* operand: address */
	/* operand: old address; the flags are the size code of the old block */
	EVENT_REALLOC_BEGIN,
	EVENT_REALLOC_END, /* operands: old address, new address, size */
	EVENT_TICK,	   /* no operand; the stamp is that of the tick */
	/* operands: parent thread, kernel tid, start routine */
	EVENT_THREAD,
	/* operands: thread, 16 bytes of name in two words */
	EVENT_NAME,
	/*
	 * operand: ticket (preload/process/fork.c).  One such event precedes
	 * the fork, another with EVENT_FLAG_FORKED follows it.
	 */
	EVENT_FORK,
	/*
	 * operands: count of lost events, stamp of the first one.  The event's
	 * own stamp is the stamp of the last lost event
	 */
	EVENT_LOST,
	EVENT_CREATE_HEAP,  /* operands: heap, 16 bytes of name in two words */
	EVENT_DESTROY_HEAP, /* operand: heap */
	/* operands: address, size, heap, alignment (0: none) */
	EVENT_HEAP_ALLOC,
	EVENT_HEAP_FREE, /* operands: address, heap */
	/* operands: old address, new address, size, heap */
	EVENT_HEAP_REALLOC,
	EVENT_MARK,		  /* operands: 32 bytes of text */
	EVENT_HEAP_REALLOC_BEGIN, /* operands: old address, heap */
	EVENT_HEAP_REALLOC_END,	  /* operands: those of EVENT_HEAP_REALLOC */
	/*
	 * operand: number of the new thread.  The thread that owned the ring
	 * has ended, and the new thread produced all events after this one
	 */
	EVENT_HANDOVER,
	/*
	 * no operand.  One word, whose upper half is the number of the call
	 * stack of the events that follow in this ring; 0: no stack.
	 */
	EVENT_STACK,
	/*
	 * operands: a word whose lower half is the number of the stack, and
	 * whose upper half is the number of the caller's stack; the frame
	 * (stack_image.h); the number of the frame
	 */
	EVENT_STACK_NODE,
	/*
	 * operands: number of the object (the program or a library); its
	 * 'begin', 'end' and 'base' as in struct stack_image_object
	 */
	EVENT_OBJECT,
	/*
	 * operands: 32 bytes of a text about the object of the most recent
	 * EVENT_OBJECT.  The whole text is the object's build id in
	 * hexadecimal, a newline, and the object's path
	 */
	EVENT_OBJECT_TEXT,
	/*
	 * operands: 32 bytes of text, which describe an event that the program
	 * itself reports: the name of the event, a byte of 0, a text
	 */
	EVENT_CLIENT,
	/*
	 * operands: 32 bytes of text, which describe a part of a DTD that the
	 * program gave: the DTD's name, the offset of the part, the size of the
	 * DTD, the part itself; a byte of 0 follows each but the last
	 */
	EVENT_CLIENT_DTD,
	EVENT_TYPE_COUNT
};

/* set in an allocation by calloc() */
#define EVENT_FLAG_ZEROED 1u
/* set in the end of a realloc that only freed the block */
#define EVENT_FLAG_FREED 2u
/* set in a piece of a text: the next piece continues the text */
#define EVENT_FLAG_MORE	  8u
#define EVENT_FLAG_FORKED 4u  /* set in EVENT_FORK: fork() has returned */
#define EVENT_FLAG_FIELDS 16u /* set in EVENT_CLIENT: the text holds fields */
/* set in EVENT_TICK: events use the tick for at most two milliseconds */
#define EVENT_FLAG_BRIEF 32u

/*
 * The text of an EVENT_MARK, EVENT_CLIENT or EVENT_CLIENT_DTD is split into
 * several events, its pieces.  The pieces follow each other in the ring, have
 * one stamp, and are published together.  So no other event gets between them.
 * The flags of a piece also say how many of its 32 bytes belong to the text.
 * (The pieces of an EVENT_OBJECT_TEXT are published one by one, and have no
 * such count: zeros fill the last piece.)
 */
#define EVENT_PIECE_NBYTES 32u
/* the flags from this bit on say how many bytes of the piece are text */
#define EVENT_PIECE_SHIFT 8
/* maximum length, in bytes, of a text that is split into pieces */
#define EVENT_TEXT_NBYTES 1024u

#define EVENT_WORDS_MAX	  6
#define EVENT_ALLOC_WORDS 5 /* length of a wide EVENT_ALLOC in words */

/*
 * EVENT_ADDRESS_EXTRA_BITS: the bits that must be 0 in the address of an alloc
 * or free in the short form.  EVENT_REALLOC_EXTRA_BITS: the bits that must be 0
 * in each address of a realloc in the short form.
 */
#define EVENT_ADDRESS_EXTRA_BITS 0xffff000000000007ull
#define EVENT_REALLOC_EXTRA_BITS 0xffff800000000007ull
/* set in the end event of a realloc, clear in the begin event */
#define EVENT_REALLOC_IS_END (1ull << 47)
#define EVENT_SIZE_SHIFT     48
/* bits of a user-space address on x86-64 */
#define EVENT_ADDRESS_BITS 47
#define EVENT_SIZE_LIMIT   (1ull << (64 - EVENT_SIZE_SHIFT))

/*
 * Return the size code of a block of 'nbytes' bytes.  The code has a number m
 * in its upper 12 bits and an exponent e in its lower 4 bits.  It stands for
 * m * 16 * 4^e bytes: 'nbytes' rounded up, for example 112 for a block of 100
 * bytes (m = 7, e = 0).  Return 0 (unknown) for 0 bytes, or for 2^47 or more.
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

/* Return the size that a size code stands for; 0: unknown. */
static inline uint64_t
event_coded_nbytes(unsigned code)
{
	return (uint64_t)(code >> 4 & 0xfff) << (4 + 2 * (code & 15));
}

/*
 * Return the smallest size that has this size code; 0: the size is unknown.
 * event_coded_nbytes() returns the largest size that has this size code.
 */
static inline uint64_t
event_coded_nbytes_min(unsigned code)
{
	const uint64_t most = event_coded_nbytes(code);

	return most == 0 ? 0 : most - (1ull << (4 + 2 * (code & 15))) + 1;
}

static inline uint64_t
event_wide(enum event_type type, unsigned words, unsigned flags)
{
	return EVENT_KIND_WIDE | (uint64_t)type << 3 | (uint64_t)words << 8 |
	       (uint64_t)flags << 16;
}

/* Return the word that sets the call stack of the next events of a ring. */
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

/* Return the number of the stack that 'word', made by event_stack(), sets. */
static inline uint32_t
event_stack_of(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* Return the length in words of a valid event with this first word. */
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

/*
 * Return the number of operands of a wide event.  The whole event is two words
 * longer than its operands, but EVENT_STACK is one word.
 */
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
		[EVENT_CLIENT] = 4,
		[EVENT_CLIENT_DTD] = 4,
	};

	return count[type];
}

/* An event after decoding. */
struct event {
	enum event_type type;
	unsigned flags;
	unsigned words; /* length in words of the encoded event */
	/* the event has no stamp of its own, or it has the stamp of a tick */
	bool by_tick;
	/* 'stamp' is the stamp of a tick with EVENT_FLAG_BRIEF */
	bool by_brief_tick;
	uint64_t stamp;
	uint64_t operand[4];
};

#endif /* EVENT_H */
