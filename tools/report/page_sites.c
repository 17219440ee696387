/* SPDX-License-Identifier: MIT */
/* page_sites.c - see page_sites.h */
#include "tools/report/page_sites.h"

#include "tools/report/page_json.h"
#include "tools/report/page_measures.h"
#include "tools/summary/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of stacks that get their own site.  The changes of their live
 * bytes, and the nodes of their paths, are limited as well.  The sites, the
 * changes and the nodes together take at most 3 MB.
 */
#define SITES_MAX   2000
#define CHANGES_OUT 80000
#define NODES_MAX   80000

/*
 * Maximum number of sites that stacks of little importance share, not counting
 * the site "(small sites)".
 */
#define SMALL_MAX 600

/*
 * Number of bytes that the figures of a site take in the HTML page, and that
 * each change of the site's live bytes takes.
 */
#define SITE_NBYTES   150
#define CHANGE_NBYTES 16

/*
 * The stacks of a shared site have a caller in common.  This caller is one of
 * the SMALL_DEPTH outermost frames.
 */
#define SMALL_DEPTH 4

/* A stack and its importance. */
struct rank {
	uint32_t row;
	uint32_t change_count;
	uint64_t last; /* last point of the page that 'change_count' counts */
	double score;
};

/* Return a new site, all zeros except its path; NULL if there is no memory. */
static struct page_site *
add_site(struct page_sites *s, uint32_t node, uint32_t at)
{
	if (s->count == s->cap) {
		const uint32_t cap = s->cap == 0 ? 256 : 2 * s->cap;
		struct page_site *const rows =
			realloc(s->rows, cap * sizeof(*rows));

		if (rows == NULL) {
			s->no_memory = true;
			return NULL;
		}
		s->rows = rows;
		s->cap = cap;
	}
	s->rows[s->count] = (struct page_site){ .node = node, .at = at };
	return &s->rows[s->count++];
}

/* ------------------------------------------------------------------ ranking */

static int
compare_ranks(const void *a, const void *b)
{
	const struct rank *const x = a;
	const struct rank *const y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->row < y->row ? -1 : 1;
}

/*
 * For each stack, count at how many points of the HTML page's time axis the
 * live bytes of the stack change.
 */
static void
count_changes(const struct page_sites *s, struct rank *by_row)
{
	const struct history *const h = &s->census->history;

	for (uint32_t row = 0; row < s->census->by_stack.count; row++)
		by_row[row] = (struct rank){ .last = UINT64_MAX };
	for (size_t i = 0; i < h->point_count; i++) {
		const uint64_t point = page_sites_point(s, i);

		for (size_t j = 0; j < h->points[i].change_count; j++) {
			struct rank *const r =
				&by_row[h->points[i].changes[j].stack];

			r->change_count += r->last != point;
			r->last = point;
		}
	}
}

/*
 * Return the stacks that have had blocks, the most important first; NULL if
 * there is no memory.
 */
static struct rank *
rank_stacks(const struct page_sites *s, uint32_t *count_ret)
{
	const struct census *const c = s->census;
	const uint32_t count = c->by_stack.count;
	struct rank *const ranks = calloc(count + 1, sizeof(*ranks));
	uint32_t n = 0;

	if (ranks == NULL)
		return NULL;
	count_changes(s, ranks);
	for (uint32_t row = 0; row < count; row++) {
		const struct account *const a = &c->by_stack.rows[row];

		if (a->allocated.count == 0 && a->freed.count == 0 &&
		    a->live.count == 0 && ranks[row].change_count == 0)
			continue;
		ranks[n].change_count = ranks[row].change_count;
		ranks[n].row = row;
		ranks[n++].score = page_score(c, a);
	}
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	*count_ret = n;
	return ranks;
}

/* ------------------------------------------------------------------- paths */

/* Return the id of the frame that names the site of a stack. */
static uint64_t
frame_id_at(const struct page_tree *tree, struct site_names *names, uint64_t id)
{
	struct hatf_stack top = { 0 };

	hatf_stacks_get(tree->stacks, site_names_top(names, id), &top);
	return top.frame;
}

/* Do the sites and the tree take less than 'part' percent of the room? */
static bool
has_room(const struct page_sites *s, const struct page_tree *tree,
	 uint64_t changes, unsigned part)
{
	return tree->nbytes + s->count * (uint64_t)SITE_NBYTES +
		       changes * CHANGE_NBYTES <
	       s->room / 100 * part;
}

static void
add_named(struct page_sites *s, struct page_tree *tree, const char *name)
{
	const uint32_t frame = page_tree_name(tree, name);

	add_site(s, page_tree_leaf(tree, 0, frame), frame);
}

static void
add_stack(struct page_sites *s, struct site_names *names,
	  struct page_tree *tree, uint32_t row)
{
	const uint64_t id = s->census->stack_ids[row];

	s->site_of[row] = s->count;
	if (row == STACK_NONE)
		add_named(s, tree, "(no call stack)");
	else if (row == STACK_INHERITED)
		add_named(s, tree, "(inherited from the parent process)");
	else
		add_site(s, page_tree_node(tree, id),
			 page_tree_frame(tree, frame_id_at(tree, names, id)));
}

/*
 * In a stack, find the innermost frame that has a node.  From this node, go
 * outwards until the path from the root to the node has at most SMALL_DEPTH
 * frames, and return the node reached.  Return 0 if no frame has a node.
 */
static uint32_t
caller_of(const struct page_tree *tree, uint64_t id)
{
	struct hatf_stack stack;
	uint32_t node = PAGE_NONE, outer;
	unsigned depth = 0;

	while (id != 0 && (node = page_tree_find(tree, id)) == PAGE_NONE)
		id = hatf_stacks_get(tree->stacks, id, &stack) ? stack.parent
							       : 0;
	if (node == PAGE_NONE)
		return 0;
	for (outer = node; outer != 0; outer = tree->parent.rows[outer])
		depth++;
	for (; depth > SMALL_DEPTH; depth--)
		node = tree->parent.rows[node];
	return node;
}

/* The sites that stacks of little importance share. */
struct small {
	/* key: node of the caller << 32 | frame of the site */
	struct id_rows keys;
	struct page_rows sites; /* the site of each key, by its row in 'keys' */
	uint32_t name;		/* the frame "(other paths)" */
	uint32_t rest;		/* the site "(small sites)", or PAGE_NONE */
	uint64_t changes;	/* number of changes of all sites */
};

/*
 * Return the shared site for this caller and frame; add it if it is new.  If
 * there are too many shared sites already, return "(small sites)" instead.
 */
static uint32_t
share_site(struct page_sites *s, struct page_tree *tree, struct small *small,
	   uint32_t caller, uint64_t frame_id)
{
	uint32_t at = page_tree_find_frame(tree, frame_id);
	uint64_t key = (uint64_t)caller << 32 | at;
	const uint32_t row = at == PAGE_NONE ? ID_ROWS_NONE
					     : id_rows_find(&small->keys, key);

	if (row != ID_ROWS_NONE)
		return small->sites.rows[row];
	/*
	 * Return before page_tree_frame(), because a frame that no site uses
	 * must not take room on the page.
	 */
	if (small->sites.count >= SMALL_MAX ||
	    !has_room(s, tree, small->changes, 90)) {
		if (small->rest == PAGE_NONE) {
			small->rest = s->count;
			add_named(s, tree, "(small sites)");
		}
		return small->rest;
	}
	at = page_tree_frame(tree, frame_id);
	key = (uint64_t)caller << 32 | at;
	if (id_rows_add(&small->keys, key) == ID_ROWS_NONE ||
	    !page_rows_add(&small->sites, s->count))
		s->no_memory = true;
	add_site(s,
		 page_tree_leaf(tree, page_tree_leaf(tree, caller, small->name),
				at),
		 at);
	return s->count - 1;
}

/*
 * Assign shared sites to the stacks of 'ranks' from index 'first' on: one site
 * for each pair of a caller near main() and a frame that names a site.  The
 * census's rows below STACK_FIRST, such as STACK_NONE, are not stacks; each
 * gets a site of its own.
 */
static void
add_small(struct page_sites *s, struct site_names *names,
	  struct page_tree *tree, const struct rank *ranks, uint32_t first,
	  uint32_t count, uint32_t changes)
{
	struct small small = {
		.changes = changes,
		.name = page_tree_name(tree, "(other paths)"),
		.rest = PAGE_NONE,
	};

	for (uint32_t i = first; i < count && !s->no_memory; i++) {
		const uint32_t row = ranks[i].row;
		const uint64_t id = s->census->stack_ids[row];

		if (row < STACK_FIRST)
			add_stack(s, names, tree, row);
		else
			s->site_of[row] =
				share_site(s, tree, &small, caller_of(tree, id),
					   frame_id_at(tree, names, id));
		small.changes += ranks[i].change_count;
	}
	id_rows_free(&small.keys);
	free(small.sites.rows);
}

/*
 * Like rank_stacks(), but first choose the width of the points on the time axis
 * of the HTML page.  Begin with the width of the points in the history, and
 * double it until the SITES_MAX most important stacks have at most CHANGES_OUT
 * changes, or until at most POINTS_MAX points are left.
 */
static struct rank *
rank_and_widen(struct page_sites *s, uint32_t *count_ret)
{
	const struct history *const h = &s->census->history;

	s->point_shift = h->point_shift;
	for (;; s->point_shift++) {
		struct rank *const ranks = rank_stacks(s, count_ret);
		uint64_t changes = 0;

		if (ranks == NULL)
			return NULL;
		for (uint32_t i = 0; i < *count_ret && i < SITES_MAX; i++)
			changes += ranks[i].change_count;
		if (changes <= CHANGES_OUT || h->point_count == 0 ||
		    page_sites_point(s, h->point_count - 1) < POINTS_MAX)
			return ranks;
		free(ranks);
	}
}

static void
choose_stacks(struct page_sites *s, struct site_names *names,
	      struct page_tree *tree)
{
	uint32_t count = 0, i, changes = 0;
	struct rank *const ranks = rank_and_widen(s, &count);

	if (ranks == NULL) {
		s->no_memory = true;
		return;
	}
	for (i = 0; i < count && i < SITES_MAX && !s->no_memory; i++) {
		changes += ranks[i].change_count;
		if (changes > CHANGES_OUT || tree->parent.count > NODES_MAX ||
		    !has_room(s, tree, changes, 70))
			break;
		add_stack(s, names, tree, ranks[i].row);
	}
	if (i < count)
		add_small(s, names, tree, ranks, i, count, changes);
	for (i = 0; i < count && !s->no_memory; i++) {
		const uint32_t row = ranks[i].row;

		account_sum(&s->rows[s->site_of[row]].sum,
			    &s->census->by_stack.rows[row], s->census->epoch);
	}
	free(ranks);
}

/* ------------------------------------------------------------------- curves */

static void
note_change(struct page_sites *s, struct page_site *site, uint32_t point,
	    int64_t nbytes, int64_t count)
{
	if (site->change_count != 0) {
		struct page_change *const last =
			&site->changes[site->change_count - 1];

		if (last->point == point) {
			last->nbytes += nbytes;
			last->count += count;
			return;
		}
	}
	if (site->change_count == site->change_cap) {
		const uint32_t cap =
			site->change_cap == 0 ? 8 : 2 * site->change_cap;
		struct page_change *const grown =
			realloc(site->changes, cap * sizeof(*grown));

		if (grown == NULL) {
			s->no_memory = true;
			return;
		}
		site->changes = grown;
		site->change_cap = cap;
	}
	site->changes[site->change_count++] =
		(struct page_change){ point, nbytes, count };
}

/*
 * From the live bytes of each stack at each point of the history, compute the
 * changes of the live bytes of each site.
 */
static void
find_curves(struct page_sites *s)
{
	const struct history *const h = &s->census->history;
	uint32_t point = 0;
	struct amount *const last =
		calloc(s->census->by_stack.count + 1, sizeof(*last));

	s->no_memory = s->no_memory || last == NULL;
	for (size_t i = 0; i < h->point_count && !s->no_memory; i++) {
		point += i != 0 &&
			 page_sites_point(s, i - 1) != page_sites_point(s, i);
		for (size_t j = 0; j < h->points[i].change_count; j++) {
			const struct change *const c = &h->points[i].changes[j];
			struct amount *const a = &last[c->stack];

			if (s->site_of[c->stack] == PAGE_NONE)
				continue;
			note_change(s, &s->rows[s->site_of[c->stack]], point,
				    (int64_t)(c->nbytes - a->nbytes),
				    (int64_t)(c->count - a->count));
			*a = (struct amount){ c->count, c->nbytes };
		}
	}
	free(last);
}

/* ------------------------------------------------------- threads and sizes */

/* Name the size class that ends at 'end', such as "blocks of up to 32 MiB". */
static void
name_size(uint64_t end, char size[64])
{
	static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	unsigned unit = 0;

	if (end == UINT64_MAX) {
		snprintf(size, 64, "larger blocks");
		return;
	}
	for (; end >= 1024; unit++)
		end /= 1024;
	snprintf(size, 64, "blocks of up to %llu %s", (unsigned long long)end,
		 units[unit]);
}

static void
name_lane(const struct page_threads *threads, const struct lane *lane,
	  char thread[64], char size[64])
{
	const uint32_t row = threads->row_of[lane->thread];

	if (threads->has_rest && row == threads->count - 1)
		snprintf(thread, 64, "(other threads)");
	else
		snprintf(thread, 64, "thread %llu",
			 (unsigned long long)threads->census
				 ->threads[lane->thread]
				 .id);
	name_size(census_class_end(lane->size_class), size);
}

/*
 * Make a site for each pair of a thread and a size class that has had blocks.
 * The path of the site is a node for the thread and, below it, a node for the
 * size class.
 */
static void
choose_lanes(struct page_sites *s, const struct page_threads *threads,
	     struct page_tree *tree)
{
	const struct census *const c = s->census;
	const uint32_t cells = threads->count * CLASS_COUNT;
	uint32_t *const site_of = malloc((cells + 1) * sizeof(*site_of));
	uint32_t nodes[PAGE_THREADS_MAX], sizes[CLASS_COUNT];
	char thread[64], size[64];

	s->no_memory = site_of == NULL;
	if (site_of == NULL)
		return;
	memset(site_of, 0xff, cells * sizeof(*site_of));
	memset(nodes, 0xff, sizeof(nodes));
	memset(sizes, 0xff, sizeof(sizes));
	for (uint32_t i = 0; i < c->by_lane.count && !s->no_memory; i++) {
		const struct lane *const lane = &c->lanes[i];
		const uint32_t row = threads->row_of[lane->thread];
		uint32_t *const site =
			&site_of[row * CLASS_COUNT + lane->size_class];
		uint32_t *const frame = &sizes[lane->size_class];

		name_lane(threads, lane, thread, size);
		if (nodes[row] == PAGE_NONE)
			nodes[row] = page_tree_leaf(
				tree, 0, page_tree_name(tree, thread));
		if (*frame == PAGE_NONE)
			*frame = page_tree_name(tree, size);
		if (*site == PAGE_NONE) {
			*site = s->count;
			add_site(s, page_tree_leaf(tree, nodes[row], *frame),
				 *frame);
		}
		if (!s->no_memory)
			account_sum(&s->rows[*site].sum, &c->by_lane.rows[i],
				    c->epoch);
	}
	free(site_of);
}

bool
page_sites_make(struct page_sites *s, const struct census *c,
		struct site_names *names, const struct page_threads *threads,
		struct page_tree *tree, uint64_t room)
{
	*s = (struct page_sites){ .census = c,
				  .room = room,
				  .of_stacks = groups_has_stacks(c),
				  .point_shift = c->history.point_shift };
	if (!s->of_stacks) {
		choose_lanes(s, threads, tree);
		return !s->no_memory && !tree->no_memory;
	}
	s->site_of = malloc((c->by_stack.count + 1) * sizeof(*s->site_of));
	if (s->site_of == NULL)
		return false;
	memset(s->site_of, 0xff, c->by_stack.count * sizeof(*s->site_of));
	choose_stacks(s, names, tree);
	if (!s->no_memory)
		find_curves(s);
	return !s->no_memory && !tree->no_memory;
}

void
page_sites_free(struct page_sites *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		free(s->rows[i].changes);
	free(s->rows);
	free(s->site_of);
}

/* ------------------------------------------------------------------ writing */

static const struct account *
site_account(const void *ctx, uint32_t row)
{
	const struct page_sites *const s = ctx;

	return &s->rows[row].sum;
}

static void
write_live(const struct page_sites *s, struct out *o)
{
	page_put_key(o, false, "live");
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t next = 0;

		out_str(o, i == 0 ? "[[" : "],[");
		for (uint32_t j = 0; j < s->rows[i].change_count; j++) {
			const struct page_change *const c =
				&s->rows[i].changes[j];

			if (c->nbytes == 0 && c->count == 0)
				continue;
			out_printf(o,
				   next == 0 ? "%u,%lld,%lld" : ",%u,%lld,%lld",
				   c->point - next, (long long)c->nbytes,
				   (long long)c->count);
			next = c->point + 1;
		}
	}
	out_str(o, s->count == 0 ? "[]" : "]]");
}

/* Write the mean lifetimes of freed blocks, in microseconds or in events. */
static void
write_lives(const struct page_sites *s, struct out *o)
{
	const struct census *const c = s->census;
	const double us = c->has_times ? (double)c->unit_ns / 1000 : 1;

	page_put_key(o, false, "life");
	out_str(o, "[");
	for (uint32_t i = 0; i < s->count; i++) {
		const struct account *const a = &s->rows[i].sum;
		const uint64_t sum =
			c->has_times ? a->lifetime_time : a->lifetime_events;

		if (i != 0)
			out_str(o, ",");
		if (a->freed.count == 0)
			out_str(o, "-1");
		else
			out_printf(o, "%.1f",
				   (double)sum * us / (double)a->freed.count);
	}
	out_str(o, "]");
}

static void
write_paths(const struct page_sites *s, struct out *o)
{
	static const char *const keys[] = { "node", "at" };

	for (size_t k = 0; k < 2; k++) {
		page_put_key(o, false, keys[k]);
		out_str(o, "[");
		for (uint32_t i = 0; i < s->count; i++) {
			if (i != 0)
				out_str(o, ",");
			out_u64(o, k == 0 ? s->rows[i].node : s->rows[i].at);
		}
		out_str(o, "]");
	}
}

void
page_sites_write(const struct page_sites *s, struct out *o)
{
	page_put_key(o, false, "sites");
	out_str(o, "{\"count\":");
	out_u64(o, s->count);
	write_paths(s, o);
	page_put_measures(o, s->census, site_account, s, s->count);
	write_lives(s, o);
	if (s->of_stacks)
		write_live(s, o);
	out_str(o, "}");
}
