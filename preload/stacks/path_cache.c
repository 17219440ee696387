/* SPDX-License-Identifier: MIT */
/* path_cache.c - see path_cache.h */

#include "preload/stacks/path_cache.h"

#include <stddef.h>
#include <string.h>

/*
 * A path that is being built.  When the path is complete, make_path() copies
 * the offsets to the place after the path's values.
 */
struct draft {
	struct path *path;
	uint32_t offset[PATH_WORDS_MAX];
};

/*
 * Add the word at 'slot' to the path, with its present value.  Return false if
 * the path has no room, or if the word is too far from the path's first word.
 */
static bool
add_word(struct draft *draft, uintptr_t slot)
{
	struct path *const path = draft->path;
	const uintptr_t offset = slot - path->slot;

	if (path->count == PATH_WORDS_MAX || offset > UINT32_MAX)
		return false;
	if (offset > path->reach)
		path->reach = (uint32_t)offset;
	draft->offset[path->count] = (uint32_t)offset;
	path->value[path->count++] = *(const uintptr_t *)slot;
	return true;
}

/*
 * The frame at 'idx' was found by a frame pointer.  If a frame further in has
 * saved this frame pointer, add the word that holds it.  Otherwise the frame
 * pointer is unchanged since the first visible frame, so set 'takes_bp'.
 * Return false if the word cannot be added.
 */
static bool
add_frame_pointer(struct draft *draft, const struct walk *walk, uint32_t idx)
{
	for (uint32_t i = idx + 1; i + 1 < walk->count; i++)
		if (walk->frame[i].bp_slot != WALK_BP_KEPT)
			return walk->frame[i].bp_slot >= draft->path->slot &&
			       add_word(draft, walk->frame[i].bp_slot);
	draft->path->takes_bp = true;
	return true;
}

/*
 * Add the words of all frames to the path.  Return false if comparing words of
 * memory cannot prove that the stack is the same, or if there are too many
 * words.
 */
static bool
add_frames(struct draft *draft, const struct walk *walk)
{
	for (uint32_t i = walk->count; i-- > 0;) {
		const struct walk_frame *const f = &walk->frame[i];

		if (f->bp_slot == WALK_BY_ROW ||
		    (f->is_by_bp && !add_frame_pointer(draft, walk, i)) ||
		    walk->place[i].slot < draft->path->slot ||
		    !add_word(draft, walk->place[i].slot))
			return false;
	}
	return true;
}

#define PATH_NBYTES_MAX        \
	(sizeof(struct path) + \
	 PATH_WORDS_MAX * (sizeof(uintptr_t) + sizeof(uint32_t)))

/*
 * Make the path of the stack that '*walk' has found, at the end of the pool.
 * Return NULL if the stack cannot be kept as a path.
 */
static struct path *
make_path(struct path_cache *cache, const struct walk *walk,
	  const struct walk_outlet *outlet)
{
	struct draft draft;

	/*
	 * If the pool has too little room for the longest path, empty the
	 * cache.  Stacks that are in use will soon be added again.
	 */
	if (cache->used + PATH_NBYTES_MAX / 8 + 1 > PATH_POOL_WORDS) {
		memset(cache->entries, 0, sizeof(cache->entries));
		cache->used = 0;
	}
	draft.path = (struct path *)&cache->pool[cache->used];
	*draft.path = (struct path){
		.slot = outlet->slot,
		.bp = outlet->bp,
	};
	if (!add_frames(&draft, walk))
		return NULL;
	memcpy(&draft.path->value[draft.path->count], draft.offset,
	       draft.path->count * sizeof(draft.offset[0]));
	return draft.path;
}

static uint32_t
path_nwords(const struct path *path)
{
	return (uint32_t)(sizeof(*path) / 8 + path->count +
			  (path->count + 1u) / 2);
}

/*
 * Return the index of the first word whose value differs between two paths.
 * Return the length of the shorter path if there is none.
 */
static uint32_t
first_difference(const struct path *a, const struct path *b)
{
	const uint32_t *const a_offset = path_offsets(a);
	const uint32_t *const b_offset = path_offsets(b);
	const uint32_t n = a->count < b->count ? a->count : b->count;
	uint32_t i = 0;

	while (i < n && a_offset[i] == b_offset[i] &&
	       a->value[i] == b->value[i])
		i++;
	/*
	 * If the offsets differ after equal words, one of the paths is from
	 * code that was replaced.  Do not report this as a difference.
	 */
	return i < n && a_offset[i] == b_offset[i] ? i : n;
}

static void
set_entry(struct path_cache *cache, uint64_t key, uint32_t place)
{
	*path_entry(cache, key) = (struct path_entry){
		.key = key,
		.path = place,
	};
}

/*
 * Turn the entry 'e' into a branch for two paths: its own, and the path at
 * 'place'.  The first word in which the two paths differ has the index 'at'.
 */
static void
split(struct path_cache *cache, struct path_entry *e, uint32_t at,
      uint32_t place)
{
	const struct path *const a = path_at(cache, e->path);
	const struct path *const b = path_at(cache, place);
	const uint64_t key = e->key;
	const uint32_t a_place = e->path;

	e->branch = path_offsets(b)[at];
	/*
	 * If the entries of the two paths have the same place in the table, the
	 * entry that is set last replaces the other.  Set the entry of the new
	 * path last, so that this entry stays.
	 */
	set_entry(cache, path_key(key, a->value[at]), a_place);
	set_entry(cache, path_key(key, b->value[at]), place);
}

static void
insert(struct path_cache *cache, uint32_t place, uint64_t key)
{
	const struct path *const path = path_at(cache, place);

	for (unsigned level = 0; level < PATH_LEVELS; level++) {
		struct path_entry *const e = path_entry(cache, key);
		const struct path *const old = path_at(cache, e->path);
		uint32_t at;

		if (e->key != key || old->slot != path->slot ||
		    old->epoch != path->epoch)
			break;
		at = first_difference(old, path);
		/*
		 * The first word is part of the key already, so two paths
		 * cannot differ in it.
		 */
		if (at == 0 || at >= path->count || at >= old->count)
			break;
		if (e->branch == 0 || path_offsets(path)[at] < e->branch) {
			split(cache, e, at, place);
			return;
		}
		key = path_key(key,
			       *(const uintptr_t *)(path->slot + e->branch));
	}
	set_entry(cache, key, place);
}

/*
 * Return whether the stack with the hash 'key' has been met before.  If not,
 * remember the hash.  (Each entry of 'seen' holds one hash.  A later stack
 * whose hash belongs in the same entry replaces it.)
 */
static bool
was_seen(struct path_cache *cache, uint64_t key)
{
	uint32_t *const seen = &cache->seen[key >> (64 - PATH_SEEN_BITS)];

	if (*seen == (uint32_t)key)
		return true;
	*seen = (uint32_t)key;
	return false;
}

void
path_cache_add(struct path_cache *cache, const struct walk *walk,
	       const struct walk_outlet *outlet, uint32_t node, uint32_t epoch)
{
	const uint64_t key = path_key(outlet->slot, outlet->address);
	const uint64_t stack_key = walk->frame[walk->count - 1].key;
	struct path *path;

	if (walk->end != WALK_OUTERMOST ||
	    !was_seen(cache, path_key(stack_key, outlet->slot)))
		return;
	path = make_path(cache, walk, outlet);
	if (path == NULL)
		return;
	path->node = node;
	path->epoch = epoch;
	insert(cache, cache->used, key);
	cache->used += path_nwords(path);
}
