/* SPDX-License-Identifier: MIT */
/* path_cache.c - see path_cache.h */

#include "preload/stacks/path_cache.h"

#include <stddef.h>
#include <string.h>

/* Maximum number of entries that a search follows. */
#define PATH_LEVELS 6u

/* Number of entries that may have the same key; a power of 2. */
#define PATH_WAYS 2u

/* Return the first of the entries that may have this key. */
static struct path_entry *
entries_of(struct path_cache *cache, uint64_t key)
{
	return &cache->entries[key % (1u << PATH_ENTRIES_BITS) &
			       ~(PATH_WAYS - 1)];
}

/* Return the entry that has this key, or NULL. */
static struct path_entry *
find_entry(struct path_cache *cache, uint64_t key)
{
	struct path_entry *const e = entries_of(cache, key);

	for (unsigned i = 0; i < PATH_WAYS; i++)
		if (e[i].tag == (uint32_t)(key >> 32))
			return &e[i];
	return NULL;
}

static uint64_t
path_key(const struct walk_context *here, const struct walk_outlet *outlet)
{
	return stack_key_add(here->sp, outlet->address);
}

/*
 * Return the key of the entry that follows the branch 'e', whose key is 'key'.
 */
static uint64_t
branch_key(uint64_t key, const struct path_entry *e,
	   const struct walk_context *here)
{
	const uintptr_t *const word = (const uintptr_t *)here->sp;

	return stack_key_add(key, path_mark(word[e->branch]));
}

/*
 * Search the table.  Return the place of the only path that can belong to the
 * present stack, or 0 if there is none.
 */
static uint32_t
search(struct path_cache *cache, const struct walk_context *here,
       const struct walk_outlet *outlet, uintptr_t high)
{
	uint64_t key = path_key(here, outlet);

	for (unsigned level = 0; level < PATH_LEVELS; level++) {
		const struct path_entry *const e = find_entry(cache, key);

		if (e == NULL ||
		    e->branch >= (high - here->sp) / sizeof(uintptr_t))
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

/*
 * Drop all paths.  A stack that had a path gets a new one as soon as a walk
 * meets it again, because 'times' of its struct path_met is kept.
 */
static void
empty(struct path_cache *cache)
{
	memset(cache->entries, 0, sizeof(cache->entries));
	/*
	 * Do not write to unused structs, because a write to an untouched page
	 * would make the kernel allocate this page.
	 */
	for (uint32_t i = 0; i < 1u << PATH_MET_BITS; i++)
		if (cache->met[i].path != 0)
			cache->met[i].path = 0;
	forget_last(cache);
	cache->used = 0;
}

/* If a new epoch has begun, drop the paths of the old one. */
static void
enter_epoch(struct path_cache *cache, uint32_t epoch)
{
	if (cache->epoch == epoch)
		return;
	if (cache->used != 0)
		empty(cache);
	cache->epoch = epoch;
}

uint32_t
path_cache_find(struct path_cache *cache, const struct walk_context *here,
		const struct walk_outlet *outlet, uintptr_t high,
		uint32_t epoch)
{
	const struct path *path;
	uint32_t place;

	enter_epoch(cache, epoch);
	place = search(cache, here, outlet, high);
	path = path_at(cache, place);
	if (!path_applies(path, here, high))
		return 0;
	learn(cache, place);
	return path->node;
}

/* Return the step that leads to the word 'i'. */
static uint32_t
step_at(const struct path *path, uint32_t i)
{
	uint16_t step;

	if (!path->is_wide)
		return path->step[i];
	memcpy(&step, &path->step[i * sizeof(step)], sizeof(step));
	return step;
}

uint64_t
path_sum_wide(const struct path *path, const struct walk_context *here)
{
	const uintptr_t *word = (const uintptr_t *)here->sp;
	uint64_t sum = path->takes_bp ? here->bp : 1;

	for (uint32_t i = 0; i < path->count; i++)
		sum = sum * PATH_FACTOR + *(word += step_at(path, i));
	return sum;
}

/*
 * The words of a path that is being built, by their offsets in units of 8
 * bytes.  This struct is on the thread's stack.  If a signal handler forks,
 * the path is wiped in the child, but this struct is not.  So the child, too,
 * reads only words on the stack.
 */
struct draft {
	uintptr_t sp; /* the stack pointer at the start of the walk */
	bool takes_bp;
	uint32_t count;
	uint16_t offset[PATH_WORDS_MAX]; /* in increasing order */
};

/*
 * Add the word at 'slot'.  Return false if there is no room, or if the word is
 * too far from the stack pointer.
 */
static bool
add_word(struct draft *draft, uintptr_t slot)
{
	const uintptr_t offset = (slot - draft->sp) / sizeof(uintptr_t);
	uint32_t i = draft->count;

	while (i > 0 && draft->offset[i - 1] > offset)
		i--;
	if (i > 0 && draft->offset[i - 1] == offset)
		return true;
	if (draft->count == PATH_WORDS_MAX || offset > UINT16_MAX)
		return false;
	memmove(&draft->offset[i + 1], &draft->offset[i],
		(draft->count - i) * sizeof(draft->offset[0]));
	draft->offset[i] = (uint16_t)offset;
	draft->count++;
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
	draft->takes_bp = true;
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
	for (unsigned i = 0; i < WALK_EXIT_FRAMES; i++)
		if (!add_word(draft, draft->sp + exit->hidden_slot[i]))
			return false;
	return true;
}

static uint32_t
lines_of(size_t nbytes)
{
	return (uint32_t)((nbytes + PATH_LINE_NBYTES - 1) / PATH_LINE_NBYTES);
}

/* Return the number of lines that a path with 'count' words takes. */
static uint32_t
path_nlines(uint32_t count, bool is_wide)
{
	const size_t nsteps =
		(count + PATH_GROUP - 1) / PATH_GROUP * PATH_GROUP;
	const uint32_t path = lines_of(offsetof(struct path, step) +
				       (is_wide ? 2 : 1) * nsteps);
	const uint32_t marks = (count + PATH_LINE_MARKS - 1) / PATH_LINE_MARKS;

	return path > marks ? path : marks;
}

static bool
needs_wide_steps(const struct draft *draft)
{
	for (uint32_t i = 0, last = 0; i < draft->count; i++) {
		if (draft->offset[i] - last > UINT8_MAX)
			return true;
		last = draft->offset[i];
	}
	return false;
}

/* Write the steps and the marks of a path.  path->is_wide is already set. */
static void
write_words(struct path *path, const struct draft *draft, uint16_t *mark)
{
	const uintptr_t *const word = (const uintptr_t *)draft->sp;
	uint16_t last = 0;

	for (uint32_t i = 0; i < draft->count; i++) {
		const uint16_t step = (uint16_t)(draft->offset[i] - last);

		if (path->is_wide)
			memcpy(&path->step[i * sizeof(step)], &step,
			       sizeof(step));
		else
			path->step[i] = (uint8_t)step;
		last = draft->offset[i];
		mark[i] = path_mark(word[last]);
	}
	for (uint32_t i = draft->count; !path->is_wide && i % PATH_GROUP != 0;
	     i++)
		path->step[i] = 0;
}

/*
 * Make the path of the stack that '*walk' has found, at the end of the pool.
 * Return NULL if the stack cannot be kept as a path.
 */
static struct path *
make_path(struct path_cache *cache, const struct walk *walk,
	  const struct walk_context *here, const struct walk_outlet *outlet)
{
	struct draft draft = { .sp = here->sp };
	struct path *path;

	/*
	 * If the walk's innermost frame is not 'outlet', the frame 'outlet'
	 * lies in hidden code, and the exit lacks this frame.  The path would
	 * lack it, too.
	 */
	if (walk->place[walk->count - 1].slot != outlet->slot ||
	    !add_hidden(&draft, walk_last_exit(walk)) ||
	    !add_frames(&draft, walk))
		return NULL;
	if (cache->used + path_nlines(PATH_WORDS_MAX, true) > PATH_POOL_LINES)
		empty(cache);
	if (cache->used == 0)
		cache->used = 1;
	path = path_at(cache, cache->used);
	*path = (struct path){
		.check = path_check(here->sp, outlet->address),
		.reach = draft.offset[draft.count - 1],
		.first = (uint16_t)((outlet->slot - here->sp) /
				    sizeof(uintptr_t)),
		.count = (uint8_t)draft.count,
		.takes_bp = draft.takes_bp,
		.is_wide = needs_wide_steps(&draft),
	};
	write_words(path, &draft, path_marks(cache, cache->used));
	path->sum = path_sum(path, here);
	/* If a fork has wiped the path, it lacks words. */
	return path->count == draft.count ? path : NULL;
}

/* A word in which two paths, a and b, differ. */
struct difference {
	uint16_t offset; /* in units of 8 bytes; 0: there is no such word */
	uint16_t a_mark, b_mark;
};

/* A word of a path. */
struct place {
	const struct path *path;
	const uint16_t *marks;
	uint32_t idx, offset;
};

/* Begin with the first word of the path at 'place'. */
static struct place
first_word(struct path_cache *cache, uint32_t place)
{
	const struct path *const path = path_at(cache, place);

	return (struct place){ path, path_marks(cache, place), 0,
			       step_at(path, 0) };
}

static void
next_word(struct place *at)
{
	if (++at->idx < at->path->count)
		at->offset += step_at(at->path, at->idx);
}

/*
 * Compare the paths at two places.  Find the first offset at which both paths
 * have a word, but with different marks.
 */
static struct difference
first_difference(struct path_cache *cache, uint32_t a_place, uint32_t b_place)
{
	struct place a = first_word(cache, a_place);
	struct place b = first_word(cache, b_place);

	while (a.idx < a.path->count && b.idx < b.path->count) {
		const uint32_t offset = b.offset;

		if (a.offset == offset && a.marks[a.idx] != b.marks[b.idx])
			return (struct difference){ (uint16_t)offset,
						    a.marks[a.idx],
						    b.marks[b.idx] };
		if (a.offset >= offset)
			next_word(&b);
		if (a.offset <= offset)
			next_word(&a);
	}
	return (struct difference){ .offset = 0 };
}

/*
 * Make a search for this key find the path at 'place'.  If no entry for the key
 * is free, overwrite the entry that was set the longest time ago.
 */
static void
set_entry(struct path_cache *cache, uint64_t key, uint32_t place)
{
	struct path_entry *const e = entries_of(cache, key);
	struct path_entry *const old = find_entry(cache, key);
	unsigned last = PATH_WAYS - 1;

	if (old != NULL)
		last = (unsigned)(old - e);
	memmove(e + 1, e, last * sizeof(*e));
	*e = (struct path_entry){
		.tag = (uint32_t)(key >> 32),
		.path = (uint16_t)place,
	};
}

/*
 * Turn the entry 'e', which has this key, into a branch for two paths: its own,
 * and the path at 'place'.  'at' is the first word in which the two paths
 * differ.
 */
static void
split(struct path_cache *cache, struct path_entry *e, uint64_t key,
      struct difference at, uint32_t place)
{
	const uint32_t old = e->path;

	e->branch = at.offset;
	/*
	 * Setting an entry may overwrite another one.  Set the entry of the new
	 * path last, so that it is not overwritten.
	 */
	set_entry(cache, stack_key_add(key, at.a_mark), old);
	set_entry(cache, stack_key_add(key, at.b_mark), place);
}

static void
insert(struct path_cache *cache, uint32_t place,
       const struct walk_context *here, const struct walk_outlet *outlet)
{
	uint64_t key = path_key(here, outlet);

	for (unsigned level = 0; level < PATH_LEVELS; level++) {
		struct path_entry *const e = find_entry(cache, key);
		struct difference at;

		if (e == NULL || path_at(cache, e->path)->check !=
					 path_at(cache, place)->check)
			break;
		at = first_difference(cache, e->path, place);
		if (at.offset == 0)
			break;
		if (e->branch == 0 || at.offset < e->branch) {
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
     uint32_t node)
{
	struct path *const path = make_path(cache, walk, here, outlet);
	const uint32_t place = cache->used;

	if (path == NULL)
		return 0;
	path->node = node;
	cache->used += path_nlines(path->count, path->is_wide);
	return place;
}

/*
 * Is 'path' the path of the stack that '*walk' has found?  Compare only words
 * up to the outermost return address, since the stack may end there.
 */
static bool
is_path_of(const struct path *path, const struct walk *walk,
	   const struct walk_context *here, uint32_t node)
{
	return path->node == node &&
	       path_applies(path, here,
			    walk->place[0].slot + sizeof(uintptr_t));
}

/* Count that a walk has met the stack 'node'.  Return the stack's path_met. */
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
	struct path_met *met;
	uint32_t place = 0;

	enter_epoch(cache, epoch);
	met = meet(cache, node);
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
		    !is_path_of(path_at(cache, place), walk, here, node))
			place = keep(cache, walk, here, outlet, node);
		if (place != 0)
			insert(cache, place, here, outlet);
	}
	met->path = (uint16_t)place;
	if (place != 0)
		learn(cache, place);
	else
		forget_last(cache);
}
