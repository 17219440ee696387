/* SPDX-License-Identifier: MIT */
/* narrate_comments.c - see narrate_comments.h */

#include "hatf/rings/narrate_comments.h"
#include "hatf/rings/narrate_time.h"

#include <string.h>

void
narrate_put_comment(struct narrator *n, const struct text *text)
{
	narrate_open_block(n);
	encoder_comment(&n->encoder, text->buf, text->used);
}

void
narrate_put_clock(struct narrator *n, const char *name)
{
	char buf[128];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF clock\n");
	text_line(&text, "clock", name, strlen(name));
	text_line_u64(&text, "time", n->time);
	if (!n->is_stamped && n->step != NARRATE_STEP)
		text_line_u64(&text, "step", n->step);
	narrate_put_comment(n, &text);
}

void
narrate_name(struct narrator *n, uint64_t thread, const uint64_t *name)
{
	char buf[256], string[17] = "";
	struct text text;

	memcpy(string, name, 16);
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF thread\n");
	text_line_u64(&text, "thread", thread);
	text_line(&text, "name", string, strlen(string));
	narrate_put_comment(n, &text);
}

/* Put the comment of a realloc that was in progress during a fork. */
static void
put_open_realloc(struct narrator *n, const struct order_producer *producer,
		 const struct event *ev)
{
	char buf[192];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF realloc\n");
	text_line_u64(&text, "thread", producer->id);
	text_line_u64(&text, "fork", ev->operand[2]);
	text_line_u64(&text, "old", ev->operand[0]);
	if (ev->operand[1] != 0)
		text_line_u64(&text, "address", ev->operand[1]);
	narrate_put_comment(n, &text);
}

void
narrate_put_fork(struct narrator *n, const struct order_producer *producer,
		 const struct event *ev)
{
	const uint64_t ticket = ev->operand[0];
	const bool after = (ev->flags & EVENT_FLAG_FORKED) != 0;
	char buf[192];
	struct text text;

	if (ev->type == EVENT_REALLOC_BEGIN) {
		put_open_realloc(n, producer, ev);
		return;
	}
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF fork\n");
	text_line_u64(&text, "thread", producer->id);
	text_line_u64(&text, "fork", ticket);
	if (after)
		text_line_u64(&text, "forked", 1);
	text_line_u64(&text, "event", n->event_count);
	text_line_u64(&text, "time", n->time);
	narrate_put_comment(n, &text);
	if (after)
		return;
	n->fork[ticket % NARRATE_FORKS_MAX].segment = n->segment;
	n->fork[ticket % NARRATE_FORKS_MAX].event = n->event_count;
	/* release: pairs with the acquire in writer_await_fork(). */
	atomic_store_explicit(&n->fork[ticket % NARRATE_FORKS_MAX].ticket,
			      ticket, memory_order_release);
}

void
narrate_lost(struct narrator *n, const struct order_producer *producer,
	     uint64_t count, uint64_t from, uint64_t to)
{
	char buf[256];
	struct text text;

	/*
	 * Open the block before adding to 'lost_count'.  Otherwise
	 * n->block_lost would include 'count', and narrate_cancel_block() would
	 * not subtract 'count'.
	 */
	narrate_open_block(n);
	n->lost_count += count;
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF lost\n");
	if (producer != NULL)
		text_line_u64(&text, "thread", producer->id);
	text_line_u64(&text, "count", count);
	text_line_u64(&text, "from", narrate_time_at(n, from));
	text_line_u64(&text, "to", narrate_time_at(n, to));
	narrate_put_comment(n, &text);
}

/* The bytes of a text that have not been taken yet. */
struct rest {
	const char *bytes;
	size_t nbytes;
};

/*
 * Take the bytes up to the next zero byte, and skip the zero byte.  If there is
 * no zero byte, take the whole rest.
 */
static struct rest
take(struct rest *from)
{
	const char *const end = memchr(from->bytes, 0, from->nbytes);
	struct rest part = *from;

	if (end == NULL) {
		from->bytes += from->nbytes;
		from->nbytes = 0;
		return part;
	}
	part.nbytes = (size_t)(end - part.bytes);
	from->bytes = end + 1;
	from->nbytes -= part.nbytes + 1;
	return part;
}

static void
put_rest(struct text *text, const char *key, struct rest value)
{
	text_line(text, key, value.bytes, value.nbytes);
}

/* Maximum length of a comment with a text; an escaped byte takes four bytes. */
#define TEXT_COMMENT_NBYTES (4 * EVENT_TEXT_NBYTES + 256)

void
narrate_dtd(struct narrator *n, const char *part, size_t nbytes)
{
	struct rest left = { part, nbytes };
	char buf[TEXT_COMMENT_NBYTES];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF dtd\n");
	put_rest(&text, "dtd", take(&left));
	put_rest(&text, "offset", take(&left));
	put_rest(&text, "size", take(&left));
	put_rest(&text, "text", left);
	narrate_put_comment(n, &text);
}

/*
 * Put the comment of a mark, or of an event that the program reported.  All
 * pieces of the text must be in n->pieces.
 */
static void
put_pieces(struct narrator *n, const struct order_producer *producer,
	   const struct event *ev)
{
	const bool is_mark = ev->type == EVENT_MARK;
	struct rest left = { n->pieces, n->pieces_nbytes };
	char buf[TEXT_COMMENT_NBYTES];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, is_mark ? "HATF mark\n" : "HATF event\n");
	text_line_u64(&text, "thread", producer->id);
	text_line_u64(&text, "time", n->time);
	if (!is_mark)
		put_rest(&text, "name", take(&left));
	put_rest(&text,
		 (ev->flags & EVENT_FLAG_FIELDS) != 0 ? "fields" : "text",
		 left);
	narrate_put_comment(n, &text);
}

void
narrate_put_piece(struct narrator *n, const struct order_producer *producer,
		  const struct event *ev)
{
	size_t nbytes = ev->flags >> EVENT_PIECE_SHIFT;

	/* Do not trust 'nbytes', because a ring file may contain any number. */
	if (nbytes > EVENT_PIECE_NBYTES)
		nbytes = EVENT_PIECE_NBYTES;
	if (nbytes > sizeof(n->pieces) - n->pieces_nbytes)
		nbytes = sizeof(n->pieces) - n->pieces_nbytes;
	memcpy(n->pieces + n->pieces_nbytes, ev->operand, nbytes);
	n->pieces_nbytes += (uint32_t)nbytes;
	if ((ev->flags & EVENT_FLAG_MORE) != 0)
		return;
	if (ev->type == EVENT_CLIENT_DTD)
		narrate_dtd(n, n->pieces, n->pieces_nbytes);
	else
		put_pieces(n, producer, ev);
	n->pieces_nbytes = 0;
}

void
narrate_trailer(struct narrator *n, const struct narrate_trailer *end)
{
	char buf[NARRATE_TRAILER_NBYTES];
	struct text text;

	narrate_open_block(n);
	encoder_end_column(&n->encoder);
	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF end\n");
	text_line_u64(&text, "complete",
		      n->lost_count == 0 && !end->is_early &&
			      !end->is_incomplete && end->missed == NULL);
	text_line(&text, "end", end->name, strlen(end->name));
	if (end->error != NULL)
		text_line(&text, "error", end->error, strlen(end->error));
	if (end->missed != NULL)
		text_line(&text, "missed", end->missed, strlen(end->missed));
	text_line_u64(&text, "events", n->event_count);
	text_line_u64(&text, "records", encoder_data_records(&n->encoder));
	text_line_u64(&text, "lost", n->lost_count);
	text_line_u64(&text, "threads", end->threads);
	text_line_u64(&text, "waits", end->waits);
	text_line_u64(&text, "wait_ns", end->wait_ns);
	text_line_u64(&text, "time", n->time);
	text_line_u64(&text, "hatf_bytes",
		      n->encoder.stream_nbytes + n->encoder.used);
	text_line_u64(&text, "cpu_ns", end->cpu_ns);
	if (end->is_recovered)
		text_line_u64(&text, "recovered", end->recovered);
	encoder_trailer(&n->encoder, &text);
}
