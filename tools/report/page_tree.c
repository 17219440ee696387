/* SPDX-License-Identifier: MIT */
/* page_tree.c - see page_tree.h */
#include "tools/report/page_tree.h"

#include "tools/report/page_json.h"
#include "tools/ui/cut.h"

#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of nodes that one call of page_tree_node() adds.  If a path
 * needs more, the frames near main() are omitted.
 */
#define DEPTH_MAX 4096

/* Bytes on the page for the numbers of one frame, and for those of one node. */
#define FRAME_NBYTES 32
#define NODE_NBYTES  14

bool
page_rows_add(struct page_rows *r, uint32_t value)
{
	if (r->count == r->cap) {
		const uint32_t cap = r->cap == 0 ? 64 : 2 * r->cap;
		uint32_t *const rows = realloc(r->rows, cap * sizeof(*rows));

		if (rows == NULL)
			return false;
		r->rows = rows;
		r->cap = cap;
	}
	r->rows[r->count++] = value;
	return true;
}

static void
add(struct page_tree *t, struct page_rows *r, uint32_t value)
{
	if (!page_rows_add(r, value))
		t->no_memory = true;
}

/* ------------------------------------------------------------------ strings */

/*
 * Maximum length of a text in bytes, with the NUL; a longer text loses its
 * middle.  Some names of C++ templates are longer.
 */
#define TEXT_NBYTES 504

static char *
copy_text(const char *text)
{
	char buf[TEXT_NBYTES];
	struct cut c;

	cut_begin(&c, buf, sizeof(buf));
	cut_bytes(&c, text, strlen(text));
	return strdup(cut_end(&c));
}

/* Return the slot of a text, or the free slot where it belongs. */
static size_t
seek_text(const struct page_tree *t, const char *text)
{
	size_t i = seeded_hash_text(&t->hash, text) & (t->slot_count - 1);

	while (t->slots[i] != 0 && strcmp(t->texts[t->slots[i] - 1], text) != 0)
		i = (i + 1) & (t->slot_count - 1);
	return i;
}

static bool
grow_texts(struct page_tree *t)
{
	const uint32_t cap = t->text_cap == 0 ? 64 : 2 * t->text_cap;
	char **const texts = realloc(t->texts, cap * sizeof(*texts));
	uint32_t *slots;

	if (texts == NULL)
		return false;
	if (t->text_cap == 0)
		seeded_hash_init(&t->hash);
	t->texts = texts;
	slots = calloc(2 * (size_t)cap, sizeof(*slots));
	if (slots == NULL)
		return false;
	free(t->slots);
	t->slots = slots;
	t->slot_count = 2 * (size_t)cap;
	t->text_cap = cap;
	for (uint32_t i = 0; i < t->text_count; i++)
		t->slots[seek_text(t, t->texts[i])] = i + 1;
	return true;
}

uint32_t
page_tree_text(struct page_tree *t, const char *text)
{
	char *const copy = copy_text(text != NULL ? text : "");
	size_t slot;

	if (copy == NULL || (t->text_count == t->text_cap && !grow_texts(t))) {
		t->no_memory = true;
		free(copy);
		return 0;
	}
	slot = seek_text(t, copy);
	if (t->slots[slot] != 0) {
		free(copy);
		return t->slots[slot] - 1;
	}
	t->texts[t->text_count++] = copy;
	t->nbytes += page_text_nbytes(copy);
	t->slots[slot] = t->text_count;
	return t->text_count - 1;
}

/* ------------------------------------------------------------------- frames */

static uint32_t
add_frame(struct page_tree *t, const char *function, const char *module,
	  const char *file, uint64_t line)
{
	add(t, &t->function, page_tree_text(t, function));
	add(t, &t->module, page_tree_text(t, module));
	add(t, &t->file, page_tree_text(t, file));
	add(t, &t->line, line < PAGE_NONE ? (uint32_t)line : 0);
	t->nbytes += FRAME_NBYTES;
	return t->no_memory ? 0 : t->line.count - 1;
}

uint32_t
page_tree_name(struct page_tree *t, const char *name)
{
	return add_frame(t, name, NULL, NULL, 0);
}

uint32_t
page_tree_find_frame(const struct page_tree *t, uint64_t frame_id)
{
	const uint32_t row = id_rows_find(&t->frame_ids, frame_id);

	return row == ID_ROWS_NONE ? PAGE_NONE : t->frame_of_id.rows[row];
}

uint32_t
page_tree_frame(struct page_tree *t, uint64_t frame_id)
{
	uint32_t row = id_rows_find(&t->frame_ids, frame_id);
	struct hatf_frame f = { 0 };

	if (row != ID_ROWS_NONE)
		return t->frame_of_id.rows[row];
	hatf_stacks_get_frame(t->stacks, frame_id, &f);
	/* If the function is unknown, use a name such as "module+0xoffset". */
	row = add_frame(t,
			f.function != NULL
				? f.function
				: site_names_frame(t->names, frame_id),
			f.object, f.file, f.line);
	if (id_rows_add(&t->frame_ids, frame_id) == ID_ROWS_NONE)
		t->no_memory = true;
	else
		add(t, &t->frame_of_id, row);
	return row;
}

/* -------------------------------------------------------------------- nodes */

uint32_t
page_tree_leaf(struct page_tree *t, uint32_t parent, uint32_t frame)
{
	add(t, &t->parent, parent);
	add(t, &t->frame, frame);
	t->nbytes += NODE_NBYTES;
	return t->no_memory ? 0 : t->frame.count - 1;
}

uint32_t
page_tree_find(const struct page_tree *t, uint64_t stack_id)
{
	const uint32_t row = id_rows_find(&t->stack_ids, stack_id);

	return row == ID_ROWS_NONE ? PAGE_NONE : t->node_of_id.rows[row];
}

static uint32_t
add_node(struct page_tree *t, uint32_t parent, uint64_t stack_id)
{
	struct hatf_stack stack = { 0 };
	uint32_t node;

	hatf_stacks_get(t->stacks, stack_id, &stack);
	node = page_tree_leaf(t, parent, page_tree_frame(t, stack.frame));
	if (id_rows_add(&t->stack_ids, stack_id) == ID_ROWS_NONE)
		t->no_memory = true;
	else
		add(t, &t->node_of_id, node);
	return node;
}

uint32_t
page_tree_node(struct page_tree *t, uint64_t stack_id)
{
	uint64_t path[DEPTH_MAX];
	unsigned depth = 0;
	uint32_t node = 0;

	/*
	 * From the innermost frame outwards, find a caller that has a node.
	 * Then add the missing nodes, from there inwards.
	 */
	for (uint64_t id = stack_id; id != 0 && depth < DEPTH_MAX;) {
		const uint32_t known = page_tree_find(t, id);

		if (known != PAGE_NONE) {
			node = known;
			break;
		}
		path[depth++] = id;
		id = site_names_caller(t->names, id);
	}
	while (depth > 0 && !t->no_memory)
		node = add_node(t, node, path[--depth]);
	return node;
}

/* -------------------------------------------------------------------- whole */

void
page_tree_begin(struct page_tree *t, const struct hatf_stacks *stacks,
		struct site_names *names)
{
	*t = (struct page_tree){ .stacks = stacks, .names = names };
	page_tree_text(t, "");
	page_tree_leaf(t, PAGE_NONE, PAGE_NONE);
}

void
page_tree_free(struct page_tree *t)
{
	for (uint32_t i = 0; i < t->text_count; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t->slots);
	free(t->function.rows);
	free(t->module.rows);
	free(t->file.rows);
	free(t->line.rows);
	free(t->frame_of_id.rows);
	free(t->parent.rows);
	free(t->frame.rows);
	free(t->node_of_id.rows);
	id_rows_free(&t->frame_ids);
	id_rows_free(&t->stack_ids);
}

void
page_tree_write(const struct page_tree *t, struct out *o)
{
	page_put_key(o, false, "strings");
	for (uint32_t i = 0; i < t->text_count; i++) {
		out_str(o, i == 0 ? "[" : ",");
		page_put_text(o, t->texts[i]);
	}
	out_str(o, "]");
	page_put_key(o, false, "frames");
	out_str(o, "{\"count\":");
	out_u64(o, t->line.count);
	page_put_column(o, "function", t->function.rows, t->function.count);
	page_put_column(o, "module", t->module.rows, t->module.count);
	page_put_column(o, "file", t->file.rows, t->file.count);
	page_put_column(o, "line", t->line.rows, t->line.count);
	out_str(o, "}");
	page_put_key(o, false, "nodes");
	out_str(o, "{\"count\":");
	out_u64(o, t->parent.count);
	page_put_column(o, "parent", t->parent.rows, t->parent.count);
	page_put_column(o, "frame", t->frame.rows, t->frame.count);
	out_str(o, "}");
}
