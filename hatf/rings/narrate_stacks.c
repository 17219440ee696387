/* SPDX-License-Identifier: MIT */
/* narrate_stacks.c - see narrate_stacks.h */

#include "hatf/rings/narrate_stacks.h"

#include <string.h>

#include "hatf/rings/narrate_comments.h"

/* Maximum number of stacks that one round of narrate_define_stack() defines. */
#define CHAIN_MAX 64u

/* Set the bit of 'id'.  Return true if it was set before. */
static bool
test_and_set(uint64_t *bits, uint32_t id)
{
	const uint64_t bit = (uint64_t)1 << (id & 63);
	const bool was_set = (bits[id / 64] & bit) != 0;

	bits[id / 64] |= bit;
	return was_set;
}

static bool
is_set(const uint64_t *bits, uint32_t id)
{
	return (bits[id / 64] >> (id & 63) & 1) != 0;
}

static void
put_object(struct narrator *n, const struct stack_image_object *object)
{
	char buf[4 * sizeof(object->path) + 256], hex[STACK_IMAGE_HEX_NBYTES];
	const size_t hex_nbytes = stack_image_build_id(object, hex);
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF object\n");
	text_line(&text, "object", object->path,
		  strnlen(object->path, sizeof(object->path)));
	text_line_hex(&text, "address", object->begin);
	text_line_u64(&text, "size", object->end - object->begin);
	text_line_hex(&text, "base", object->base);
	if (hex_nbytes != 0)
		text_line(&text, "build_id", hex, hex_nbytes);
	narrate_put_comment(n, &text);
}

/*
 * Return the name of a frame that stands for missing frames (enum stack_mark),
 * or NULL for any other frame.
 */
static const char *
mark_name(uint64_t frame)
{
	switch (frame) {
	case STACK_MARK_CUT:
		return "[cut off]";
	case STACK_MARK_LOST:
		return "[unknown caller]";
	default:
		return NULL;
	}
}

static void
put_frame(struct narrator *n, uint32_t id, uint64_t frame)
{
	const char *const name = mark_name(frame);
	static const char generated[] = "[generated code]";
	char buf[128];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF frame\n");
	text_line_u64(&text, "frame", id);
	if (name != NULL)
		text_line(&text, "function", name, strlen(name));
	else
		text_line_hex(&text, "address", stack_frame_address(frame));
	/*
	 * A frame in no object is in generated code.  Say so, because otherwise
	 * a reader would assume a library that was once mapped at the frame's
	 * address.
	 */
	if (name == NULL && stack_frame_object(frame) == 0)
		text_line(&text, "object", generated, sizeof(generated) - 1);
	narrate_put_comment(n, &text);
}

static void
put_stack(struct narrator *n, uint32_t id, uint32_t parent, uint32_t frame)
{
	char buf[128];
	struct text text;

	text_init(&text, buf, sizeof(buf));
	text_str(&text, "HATF stack\n");
	text_line_u64(&text, "stack", id);
	if (parent != 0)
		text_line_u64(&text, "parent", parent);
	text_line_u64(&text, "frame", frame);
	narrate_put_comment(n, &text);
}

void
narrate_use_stacks(struct narrator *n, struct narrate_stacks *s)
{
	n->stacks = s;
	encoder_use_column(&n->encoder, &s->column);
}

/* Define one stack.  The stack of its caller must have a definition. */
static void
define_node(struct narrator *n, uint32_t id)
{
	struct narrate_stacks *const s = n->stacks;
	const struct stack_image_node *const node = s->node(id);
	const uint32_t object = stack_frame_object(node->frame);

	if (object != 0 && object < STACK_IMAGE_OBJECTS_MAX &&
	    !test_and_set(s->objects, object))
		put_object(n, s->object(object));
	if (!test_and_set(s->frames, node->frame_id))
		put_frame(n, node->frame_id, node->frame);
	put_stack(n, id, node->parent, node->frame_id);
}

bool
narrate_is_defined(const struct narrate_stacks *s, uint32_t id)
{
	return id == 0 || s->node == NULL ||
	       (id < STACK_IMAGE_NODES_MAX && is_set(s->nodes, id));
}

void
narrate_define_stack(struct narrator *n, uint32_t id)
{
	struct narrate_stacks *const s = n->stacks;
	uint32_t chain[CHAIN_MAX], count, next;

	if (s == NULL || s->node == NULL || id >= STACK_IMAGE_NODES_MAX)
		return;
	/*
	 * Define the callers first, beginning with the outermost.  A chain of
	 * more than CHAIN_MAX callers takes several rounds.
	 */
	while (id != 0 && !is_set(s->nodes, id)) {
		count = 0;
		for (next = id; next != 0 && !is_set(s->nodes, next);
		     next = s->node(next)->parent)
			chain[count++ % CHAIN_MAX] = next;
		for (uint32_t i = 0; i < count && i < CHAIN_MAX; i++) {
			const uint32_t outer =
				chain[(count - 1 - i) % CHAIN_MAX];

			test_and_set(s->nodes, outer);
			define_node(n, outer);
		}
	}
}

/* Define an object after its whole text, "BUILD-ID\nPATH", has arrived. */
static void
put_named_object(struct narrator *n)
{
	struct narrate_stacks *const s = n->stacks;
	struct stack_image_object *const object = &s->unnamed;
	const char *const end = memchr(s->text, '\n', s->text_nbytes);
	uint32_t digits;

	if (end == NULL)
		return;
	digits = (uint32_t)(end - s->text);
	object->build_id_nbytes = digits / 2;
	for (uint32_t i = 0; i < digits && i < 40; i++) {
		const char c = s->text[i];
		const unsigned digit = c >= 'a' ? (unsigned)(c - 'a') + 10
						: (unsigned)(c - '0');

		object->build_id[i / 2] =
			(uint8_t)(object->build_id[i / 2] << 4 | (digit & 15));
	}
	memset(object->path, 0, sizeof(object->path));
	memcpy(object->path, end + 1,
	       strnlen(end + 1,
		       s->text_nbytes - digits - 1 < sizeof(object->path) - 1
			       ? s->text_nbytes - digits - 1
			       : sizeof(object->path) - 1));
	put_object(n, object);
}

static void
add_text(struct narrator *n, const struct event *ev)
{
	struct narrate_stacks *const s = n->stacks;
	const size_t nbytes = sizeof(ev->operand);

	if (nbytes <= sizeof(s->text) - s->text_nbytes) {
		memcpy(s->text + s->text_nbytes, ev->operand, nbytes);
		s->text_nbytes += (uint32_t)nbytes;
	}
	if ((ev->flags & EVENT_FLAG_MORE) != 0)
		return;
	put_named_object(n);
	/*
	 * Forget the text.  In a damaged ring file, another text may follow
	 * without a new EVENT_OBJECT.  If the old text stayed, that text would
	 * define the same object again.
	 */
	s->text_nbytes = 0;
}

void
narrate_put_definition(struct narrator *n, const struct event *ev)
{
	struct narrate_stacks *const s = n->stacks;

	if (s == NULL)
		return;
	/*
	 * Put the definition into the trace now.  If the process is killed
	 * later, events in other rings may need the definition, and by then no
	 * ring may contain it any more.
	 */
	if (s->node != NULL) {
		if (ev->type == EVENT_STACK_NODE)
			narrate_define_stack(n, (uint32_t)ev->operand[0]);
		return;
	}
	switch (ev->type) {
	case EVENT_OBJECT:
		s->unnamed = (struct stack_image_object){
			.begin = ev->operand[1],
			.end = ev->operand[2],
			.base = ev->operand[3],
		};
		s->text_nbytes = 0;
		break;
	case EVENT_OBJECT_TEXT:
		add_text(n, ev);
		break;
	default:
		put_frame(n, (uint32_t)ev->operand[2], ev->operand[1]);
		put_stack(n, (uint32_t)ev->operand[0],
			  (uint32_t)(ev->operand[0] >> 32),
			  (uint32_t)ev->operand[2]);
	}
}

/*
 * Clear all bits.  Do not write to words that are 0 already, so that pages that
 * were never written take no memory.
 */
static void
clear(uint64_t *bits, size_t words)
{
	for (size_t i = 0; i < words; i++)
		if (bits[i] != 0)
			bits[i] = 0;
}

void
narrate_forget_stacks(struct narrator *n)
{
	struct narrate_stacks *const s = n->stacks;

	if (s == NULL || s->node == NULL)
		return;
	clear(s->nodes, NARRATE_STACKS_WORDS(STACK_IMAGE_NODES_MAX));
	clear(s->frames, NARRATE_STACKS_WORDS(STACK_IMAGE_NODES_MAX));
	clear(s->objects, NARRATE_STACKS_WORDS(STACK_IMAGE_OBJECTS_MAX));
}
