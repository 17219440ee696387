/* SPDX-License-Identifier: MIT */
/*
 * gperftools.h - internals of the source for gperftools malloc traces
 *
 * gperftools_events.c decodes numbers and the events of one thread.
 * gperftools_queue.c sorts the threads by the time of their next event.
 * gperftools_source.c reads the file and merges the threads' events.
 *
 * Not thread-safe: only the thread that reads the source may call these
 * functions.
 */
#ifndef GPERFTOOLS_H
#define GPERFTOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest encoded number, in bytes. */
#define GPERFTOOLS_NUMBER_MAX 9

/* The low 10 bits of a time in the file are the number of the CPU. */
#define GPERFTOOLS_CPU_MASK ((uint64_t)1023)

/* Event types, which gperftools_type_of() returns. */
enum gperftools_type {
	GPERFTOOLS_MALLOC = 0x00,
	GPERFTOOLS_FREE = 0x01,
	GPERFTOOLS_TOKENS = 0x02,
	GPERFTOOLS_BUFFER = 0x03,
	GPERFTOOLS_FREE_SIZED = 0x04,
	GPERFTOOLS_THREAD_END = 0x07,
	GPERFTOOLS_END = 0x0f,
	GPERFTOOLS_REALLOC = 0x17,
	GPERFTOOLS_MEMALIGN = 0x1f,
	GPERFTOOLS_BARRIER = 0x27,
};

/* A buffer of encoded events of one thread, in the list of that thread. */
struct gperftools_buffer {
	struct gperftools_buffer *next;
	uint64_t time; /* time when the recorder flushed the buffer, in ns */
	/* offset of the buffer's first byte in the file */
	uint64_t offset;
	size_t nbytes;
	uint8_t bytes[];
};

/* The decoded next event of a thread. */
struct gperftools_event {
	enum gperftools_type type;
	/* token (block number) of the block that this event frees */
	uint64_t token;
	uint64_t new_token, nbytes, alignment;
	uint64_t offset;
};

struct gperftools_thread {
	uint64_t id;
	uint64_t time;
	/*
	 * 'words' is the latest size in an event of the thread, in words.
	 * 'token' is the latest token that an event of the thread freed.  The
	 * next size and the next freed token are encoded as differences from
	 * these values.  'next_token' is the token of the next block that the
	 * thread allocates.
	 */
	uint64_t words, token, next_token;
	struct gperftools_buffer *first, *last;
	/* next byte to decode, in the buffer 'first' */
	const uint8_t *next;
	/* the next event; valid if 'has_event' is set */
	struct gperftools_event event;
	bool has_event, has_ended;
	uint64_t end_time;
	/* The next thread that waits for the same token as this thread. */
	struct gperftools_thread *next_blocked;
};

/*
 * Decode the number at '*next' and advance '*next' past it.  If the number is
 * truncated by 'end', return false and change nothing.
 */
bool gperftools_take_number(const uint8_t **next, const uint8_t *end,
			    uint64_t *n_ret);

/*
 * gperftools_type_of() returns the type that the first number of an event
 * contains.  gperftools_argument_of() returns the argument, which is in the
 * bits above the type.
 */
enum gperftools_type gperftools_type_of(uint64_t first);
uint64_t gperftools_argument_of(uint64_t first);

/*
 * Decode the event at t->next into t->event, and advance t->next.  If the event
 * only sets the time and the token for later events, set '*is_event_ret' to
 * false.  Return NULL, or the name of the malformed field (a static string).
 */
const char *gperftools_decode(struct gperftools_thread *t, const uint8_t *end,
			      bool *is_event_ret);

/*
 * A min-heap of the runnable threads (those that have a decoded event and are
 * not blocked), ordered by time, then by id.
 */
struct gperftools_queue {
	struct gperftools_thread **threads;
	size_t count, cap;
};

/* Add 't', whose 'has_event' must be set.  Return false if memory runs out. */
bool gperftools_queue_add(struct gperftools_queue *q,
			  struct gperftools_thread *t);

/*
 * Restore the order.  The caller has moved the first thread on to its next
 * event.
 */
void gperftools_queue_update_first(struct gperftools_queue *q);

/* Remove the first thread from the queue. */
void gperftools_queue_drop_first(struct gperftools_queue *q);

#endif /* GPERFTOOLS_H */
