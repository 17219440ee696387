/* SPDX-License-Identifier: MIT */
/*
 * gperftools.h - the pieces of the source of gperftools' malloc traces
 *
 * gperftools_events.c decodes numbers and one thread's events,
 * gperftools_queue.c keeps the threads in the order of their next events,
 * gperftools_source.c reads the file and merges the threads.  One thread of the
 * reader uses all of it.
 */
#ifndef GPERFTOOLS_H
#define GPERFTOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest number, in bytes. */
#define GPERFTOOLS_NUMBER_MAX 9

/* The low bits of a time are the processor's number. */
#define GPERFTOOLS_CPU_MASK ((uint64_t)1023)

/* Types of events, as gperftools_type_of() finds them. */
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

/* Bytes of one thread's events. */
struct gperftools_buffer {
	struct gperftools_buffer *next;
	uint64_t time;	 /* when it was taken */
	uint64_t offset; /* of its first byte */
	size_t nbytes;
	uint8_t bytes[];
};

/* What a thread does next. */
struct gperftools_event {
	enum gperftools_type type;
	uint64_t token; /* freed */
	uint64_t new_token, nbytes, alignment;
	uint64_t offset;
};

struct gperftools_thread {
	uint64_t id;
	uint64_t time;
	/* The last values, to which the next ones are differences. */
	uint64_t words, token, next_token;
	struct gperftools_buffer *first, *last;
	const uint8_t *next;	       /* in 'first' */
	struct gperftools_event event; /* if 'has_event' */
	bool has_event, has_ended;
	uint64_t end_time;
	struct gperftools_thread
		*next_blocked; /* that sleeps for the same token */
};

/*
 * Take the number at '*next' and move '*next' past it.  False: the number ends
 * after 'end', and nothing has changed.
 */
bool gperftools_take_number(const uint8_t **next, const uint8_t *end,
			    uint64_t *n_ret);

/* The type that the first number of an event has, and the number above the
 * type. */
enum gperftools_type gperftools_type_of(uint64_t first);
uint64_t gperftools_argument_of(uint64_t first);

/*
 * Decode the event of 't' at t->next into t->event.  '*is_event_ret' is false
 * if it only says how to read the ones after it.  Returns NULL, or the field
 * that is malformed (static).
 */
const char *gperftools_decode(struct gperftools_thread *t, const uint8_t *end,
			      bool *is_event_ret);

/* The threads that have a next event: a heap, the least time first. */
struct gperftools_queue {
	struct gperftools_thread **threads;
	size_t count, cap;
};

/* Add 't', which has an event.  False: no memory. */
bool gperftools_queue_add(struct gperftools_queue *q,
			  struct gperftools_thread *t);

/* The first thread has another event now. */
void gperftools_queue_update_first(struct gperftools_queue *q);

/* Remove the first thread. */
void gperftools_queue_drop_first(struct gperftools_queue *q);

#endif /* GPERFTOOLS_H */
