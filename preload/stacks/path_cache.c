/* SPDX-License-Identifier: MIT */
/* path_cache.c - see path_cache.h */

#include "preload/stacks/path_cache.h"

#include <stddef.h>
#include <string.h>

/* Maximum number of entries that a search follows. */
#define PATH_LEVELS 6u

static struct path_entry *
path_entry(struct path_cache *cache, uint64_t key)
{
	return &cache->entries[key % (1u << PATH_ENTRIES_BITS)];
}

static uint64_t
path_key(const struct walk_context *here, const struct walk_outlet *outlet)
{
	return stack_key_add(here->sp, outlet->address);
}

static bool
has_key(const struct path_entry *e, uint64_t key)
{
	return e->tag == (uint32_t)(key >> 32);
}

/*
 * Return the offset in bytes of the word that selects the path at the branch
 * 'e'.
 */
static uint32_t
branch_offset(const struct path_entry *e)
{
	return e->branch * (uint32_t)sizeof(uintptr_t);
}

/* Return the key of the next entry, if the branch 'e' has 'key'. */
static uint64_t
branch_key(uint64_t key, const struct path_entry *e,
	   const struct walk_context *here)
{
	const uintptr_t *const word = (const uintptr_t *)here->sp;

	return stack_key_add(key, path_mark(word[e->branch]));
}

/*
 * Search the table.  Return the place of the only path that can be the stack,
 * or 0 if there is none.
 */
static uint32_t
search(struct path_cache *cache, const struct walk_context *here,
       const struct walk_outlet *outlet, uintptr_t high)
{
	uint64_t key = path_key(here, outlet);

	for (unsigned level = 0; level < PATH_LEVELS; level++) {
		const struct path_entry *const e = path_entry(cache, key);

		if (!has_key(e, key) || branch_offset(e) >= high - here->sp)
			return 0;
		if (e->branch == 0)
			return e->path;
		key = branch_key(key, e, here);
	}
	return 0;
}

/*
 * Store that the path at 'place' has come after the path that was found last.
 */
static void
learn(struct path_cache *cache, uint32_t place)
{
	if (cache->last != 0)
		*path_next(path_at(cache, cache->last), cache->before) =
			(uint16_t)place;
	path_follow(cache, place);
}

/* Forget the path that was found last: the next path has no predecessor. */
static void
forget_last(struct path_cache *cache)
{
	cache->last = cache->before = cache->predicted = 0;
}

uint32_t
path_cache_find(struct path_cache *cache, const struct walk_context *here,
		const struct walk_outlet *outlet, uintptr_t high,
		uint32_t epoch)
{
	const uint32_t place = search(cache, here, outlet, high);
	const struct path *const path = path_at(cache, place);

	if (!path_applies(path, here, high, epoch))
		return 0;
	learn(cache, place);
	return path->node;
}

/*
 * A path that is being built.  When the number of its words is known,
 * make_path() copies the marks to the place after the path's offsets.
 */
struct draft {
	struct path *path;
	/*
	 * A copy of the path's 'sp'.  A signal handler may fork, and the child
	 * finds the path wiped, but not this copy.  So the child, too, reads
	 * only words on the stack.
	 */
	uintptr_t sp;
	uint16_t mark[PATH_WORDS_MAX];
};

/*
 * Add the word at 'slot' to the path, with its present value.  Return false if
 * the path has no room, or if the word is too far from the stack pointer.
 */
static bool
add_word(struct draft *draft, uintptr_t slot)
{
	struct path *const path = draft->path;
	const uintptr_t offset = slot - draft->sp;

	if (path->count == PATH_WORDS_MAX ||
	    offset / sizeof(uintptr_t) > UINT16_MAX)
		return false;
	if (offset > path->reach)
		path->reach = (uint32_t)offset;
	draft->mark[path->count] = path_mark(*(const uintptr_t *)slot);
	path->offset[path->count++] = (uint16_t)(offset / sizeof(uintptr_t));
	return true;
}

/*
 * The frame at 'idx' was found by a frame pointer.  If a frame further in has
 * saved this frame pointer, add the word that holds it.  Otherwise the frame
 * pointer is unchanged since the start of the walk, so set 'takes_bp'.  Return
 * false if the word cannot be added.
 */
static bool
add_frame_pointer(struct draft *draft, const struct walk *walk, uint32_t idx)
{
	const struct walk_exit *const exit = walk_last_exit(walk);

	for (uint32_t i = idx + 1; i + 1 < walk->count; i++)
		if (walk->frame[i].bp_slot != WALK_BP_KEPT)
			return walk->frame[i].bp_slot >= draft->sp &&
			       add_word(draft, walk->frame[i].bp_slot);
	if (exit->bp != 0)
		return add_word(draft, draft->sp + exit->bp);
	draft->path->takes_bp = true;
	return true;
}

/*
 * Add the words of all visible frames, innermost first.  Return false if
 * comparing words of memory cannot prove that the stack is the same, or if
 * there are too many words.
 */
static bool
add_frames(struct draft *draft, const struct walk *walk)
{
	for (uint32_t i = walk->count; i-- > 0;) {
		const struct walk_frame *const f = &walk->frame[i];

		if (f->bp_slot == WALK_BY_ROW ||
		    (f->is_by_bp && !add_frame_pointer(draft, walk, i)) ||
		    walk->place[i].slot < draft->sp ||
		    !add_word(draft, walk->place[i].slot))
			return false;
	}
	return true;
}

/* Add the return addresses in the recorder's own code. */
static bool
add_hidden(struct draft *draft, const struct walk_exit *exit)
{
	for (unsigned i = 0; i < WALK_EXIT_FRAMES; i++) {
		/* The last elements may repeat the first one. */
		if (i != 0 && exit->hidden_slot[i] == exit->hidden_slot[0])
			continue;
		if (!add_word(draft, draft->sp + exit->hidden_slot[i]))
			return false;
	}
	return true;
}

static uint32_t
path_nlines(uint32_t count)
{
	const size_t nbytes = offsetof(struct path, offset) +
			      (path_noffsets(count) + count) * sizeof(uint16_t);

	return (uint32_t)((nbytes + PATH_LINE_NBYTES - 1) / PATH_LINE_NBYTES);
}

/*
 * Drop all paths.  A stack that comes again gets a new path at once, because
 * its count of walks stays.
 */
static void
empty(struct path_cache *cache)
{
	memset(cache->entries, 0, sizeof(cache->entries));
	/* Do not write to pages that are not in use. */
	for (uint32_t i = 0; i < 1u << PATH_MET_BITS; i++)
		if (cache->met[i].path != 0)
			cache->met[i].path = 0;
	forget_last(cache);
	cache->used = 0;
}

/*
 * Make the path of the stack that '*walk' has found, at the end of the pool.
 * Return NULL if the stack cannot be kept as a path.
 */
static struct path *
make_path(struct path_cache *cache, const struct walk *walk,
	  const struct walk_context *here, const struct walk_outlet *outlet)
{
	struct draft draft;

	/*
	 * If the frame 'outlet' is hidden after all, the walk has more hidden
	 * frames than the exit.  The path would lack these frames.
	 */
	if (walk->place[walk->count - 1].slot != outlet->slot)
		return NULL;

	if (cache->used + path_nlines(PATH_WORDS_MAX) > PATH_POOL_LINES)
		empty(cache);
	if (cache->used == 0)
		cache->used = 1;
	draft.path = path_at(cache, cache->used);
	draft.sp = here->sp;
	*draft.path = (struct path){
		.sp = here->sp,
		.first = (uint32_t)outlet->address,
	};
	if (!add_frames(&draft, walk) ||
	    !add_hidden(&draft, walk_last_exit(walk)))
		return NULL;
	for (uint32_t i = draft.path->count;
	     i < path_noffsets(draft.path->count); i++)
		draft.path->offset[i] = draft.path->offset[0];
	memcpy(path_marks(draft.path), draft.mark,
	       draft.path->count * sizeof(draft.mark[0]));
	draft.path->sum = path_sum(draft.path, here);
	return draft.path;
}

/*
 * Return the index of the first word in which two paths differ.  Return the
 * length of the shorter path if there is none.
 */
static uint32_t
first_difference(struct path *a, struct path *b)
{
	const uint16_t *const a_mark = path_marks(a);
	const uint16_t *const b_mark = path_marks(b);
	const uint32_t n = a->count < b->count ? a->count : b->count;
	uint32_t i = 0;

	while (i < n && a->offset[i] == b->offset[i] && a_mark[i] == b_mark[i])
		i++;
	/*
	 * If the offsets differ after equal words, two words have the same mark
	 * by chance, or one of the paths is from code that was replaced.  Do
	 * not report this as a difference.
	 */
	return i < n && a->offset[i] == b->offset[i] ? i : n;
}

static void
set_entry(struct path_cache *cache, uint64_t key, uint32_t place)
{
	*path_entry(cache, key) = (struct path_entry){
		.tag = (uint32_t)(key >> 32),
		.path = (uint16_t)place,
	};
}

/*
 * Turn the entry 'e', which has this key, into a branch for two paths: its own,
 * and the path at 'place'.  The first word in which the two paths differ has
 * the index 'at'.
 */
static void
split(struct path_cache *cache, struct path_entry *e, uint64_t key, uint32_t at,
      uint32_t place)
{
	struct path *const a = path_at(cache, e->path);
	struct path *const b = path_at(cache, place);
	const uint32_t a_place = e->path;

	e->branch = b->offset[at];
	/*
	 * If the entries of the two paths have the same place in the table, the
	 * entry that is set last replaces the other.  Set the entry of the new
	 * path last, so that this entry stays.
	 */
	set_entry(cache, stack_key_add(key, path_marks(a)[at]), a_place);
	set_entry(cache, stack_key_add(key, path_marks(b)[at]), place);
}

static void
insert(struct path_cache *cache, uint32_t place,
       const struct walk_context *here, const struct walk_outlet *outlet)
{
	uint64_t key = path_key(here, outlet);
	struct path *const path = path_at(cache, place);

	for (unsigned level = 0; level < PATH_LEVELS; level++) {
		struct path_entry *const e = path_entry(cache, key);
		struct path *const old = path_at(cache, e->path);
		uint32_t at;

		if (!has_key(e, key) || old->sp != path->sp ||
		    old->epoch != path->epoch)
			break;
		at = first_difference(old, path);
		/*
		 * The first word is part of the key already, so two paths
		 * cannot differ in it.
		 */
		if (at == 0 || at >= path->count || at >= old->count)
			break;
		if (e->branch == 0 || path->offset[at] < e->branch) {
			split(cache, e, key, at, place);
			return;
		}
		key = branch_key(key, e, here);
	}
	set_entry(cache, key, place);
}

/*
 * Make the path of the stack 'node'.  Return its place, or 0 if it cannot be
 * kept.
 */
static uint32_t
keep(struct path_cache *cache, const struct walk *walk,
     const struct walk_context *here, const struct walk_outlet *outlet,
     uint32_t node, uint32_t epoch)
{
	struct path *const path = make_path(cache, walk, here, outlet);
	const uint32_t place = cache->used;

	if (path == NULL)
		return 0;
	path->node = node;
	path->epoch = epoch;
	cache->used += path_nlines(path->count);
	return place;
}

/*
 * Is 'path' the path of the stack that '*walk' has found?  Compare only words
 * up to the outermost return address, since the stack may end there.
 */
static bool
is_path_of(const struct path *path, const struct walk *walk,
	   const struct walk_context *here, uint32_t node, uint32_t epoch)
{
	return path->node == node &&
	       path_applies(path, here, walk->place[0].slot + 1, epoch);
}

/* Count that a walk has met the stack 'node'.  Return the stack's entry. */
static struct path_met *
meet(struct path_cache *cache, uint32_t node)
{
	struct path_met *const met = &cache->met[node % (1u << PATH_MET_BITS)];

	if (met->node != node)
		*met = (struct path_met){ .node = node };
	if (met->times < PATH_TIMES)
		met->times++;
	return met;
}

void
path_cache_add(struct path_cache *cache, const struct walk *walk,
	       const struct walk_context *here,
	       const struct walk_outlet *outlet, uint32_t node, uint32_t epoch)
{
	struct path_met *const met = meet(cache, node);
	uint32_t place = 0;

	/*
	 * If a signal handler that interrupted a search has forked, the child's
	 * cache is empty, but 'last' may still be a place in the parent's
	 * cache.
	 */
	if (cache->last >= cache->used)
		forget_last(cache);
	if (walk->end == WALK_OUTERMOST && met->times == PATH_TIMES) {
		place = met->path;
		if (place == 0 ||
		    !is_path_of(path_at(cache, place), walk, here, node, epoch))
			place = keep(cache, walk, here, outlet, node, epoch);
		if (place != 0)
			insert(cache, place, here, outlet);
	}
	met->path = (uint16_t)place;
	if (place != 0)
		learn(cache, place);
	else
		forget_last(cache);
}
