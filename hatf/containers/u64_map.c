/* SPDX-License-Identifier: MIT */
/*
 * u64_map.c - see u64_map.h
 *
 * A removal moves later keys back within their run (a sequence of used slots),
 * and leaves no tombstone.  The length of a search therefore depends on the
 * current content of the map only, not on its history.
 *
 * The slot where a search begins (home slot) is not the low bits of the hash,
 * but the hash scaled to the table size.  So any table size works, and the keys
 * have nearly the order of their hashes.  A resize therefore reads the old
 * table and writes the new one nearly in order.
 */
#include "hatf/containers/u64_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

void
u64_map_seed_init(struct u64_map_seed *seed)
{
	uint64_t *const n = seed->numbers;

	if (getrandom(n, sizeof(seed->numbers), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(seed->numbers)) {
		struct timespec now;

		/*
		 * While the system boots, the kernel may have no random numbers
		 * yet.  In this case, make the seed from the time and an
		 * address.
		 */
		clock_gettime(CLOCK_MONOTONIC, &now);
		n[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15;
		n[1] = (uint64_t)(uintptr_t)seed ^ n[0] << 21;
		n[2] = (uint64_t)now.tv_sec ^ n[0] << 7;
	}
	/*
	 * A factor of 0, or one with few bits set, would not mix the bits, so
	 * set the highest and the lowest bit of both factors.
	 */
	n[1] |= 0x8000000000000001;
	n[2] |= 0x8000000000000001;
}

void
u64_map_init(struct u64_map *map)
{
	*map = (struct u64_map){ 0 };
	u64_map_seed_init(&map->seed);
}

void
u64_map_fini(struct u64_map *map)
{
	free(map->entries);
	map->entries = NULL;
	map->keys = NULL;
	map->slot_count = map->used = 0;
	map->has_zero = false;
}

size_t
u64_map_count(const struct u64_map *map)
{
	return map->used + map->has_zero;
}

static inline size_t
after(const struct u64_map *map, size_t slot)
{
	return slot + 1 == map->slot_count ? 0 : slot + 1;
}

/* Return the slot of 'key', or the free slot where it belongs. */
static inline size_t
seek(const struct u64_map *map, uint64_t key)
{
	size_t slot = u64_map_home(map, key);

	while (map->keys[slot] != key && map->keys[slot] != 0)
		slot = after(map, slot);
	return slot;
}

struct u64_map_entry *
u64_map_find(struct u64_map *map, uint64_t key)
{
	if (key == 0)
		return map->has_zero ? &map->zero : NULL;
	if (map->used == 0)
		return NULL;

	const size_t slot = seek(map, key);

	return map->keys[slot] == key ? &map->entries[slot] : NULL;
}

/*
 * A table of at least this many bytes asks for huge pages.  With small pages,
 * most look-ups would miss the TLB, because they are scattered over the table.
 */
#define HUGE_NBYTES	  ((size_t)2 << 20)
#define CACHE_LINE_NBYTES 64

/*
 * Allocate 'slot_count' slots, all free.  Return false if there is no memory.
 */
static bool
allocate(struct u64_map *map, size_t slot_count)
{
	const size_t slot_nbytes = sizeof(*map->entries) + sizeof(*map->keys);
	size_t nbytes, align = CACHE_LINE_NBYTES;

	if (__builtin_mul_overflow(slot_count, slot_nbytes, &nbytes) ||
	    nbytes > SIZE_MAX - HUGE_NBYTES)
		return false;
	if (nbytes >= HUGE_NBYTES)
		align = HUGE_NBYTES;
	nbytes = (nbytes + align - 1) & ~(align - 1);
	map->entries = aligned_alloc(align, nbytes);
	if (map->entries == NULL)
		return false;
	if (align == HUGE_NBYTES)
		madvise(map->entries, nbytes, MADV_HUGEPAGE);
	map->keys = (uint64_t *)(map->entries + slot_count);
	memset(map->keys, 0, slot_count * sizeof(*map->keys));
	map->slot_count = slot_count;
	return true;
}

/*
 * Move all entries to a table of 'slot_count' slots.  Return false if there is
 * no memory.
 */
static bool
resize(struct u64_map *map, size_t slot_count)
{
	struct u64_map other = *map;

	if (!allocate(&other, slot_count))
		return false;
	for (size_t i = 0; i < map->slot_count; i++) {
		if (map->keys[i] == 0)
			continue;

		const size_t slot = seek(&other, map->keys[i]);

		other.keys[slot] = map->keys[i];
		other.entries[slot] = map->entries[i];
	}
	free(map->entries);
	*map = other;
	return true;
}

/*
 * Ensure that, after one more key is added, a quarter of the slots are still
 * free.  Return false if there is no memory.
 */
static bool
make_room(struct u64_map *map)
{
	if (map->used < map->slot_count - map->slot_count / 4)
		return true;
	return resize(map, map->slot_count == 0
				   ? U64_MAP_MIN_SLOTS
				   : map->slot_count + map->slot_count / 2);
}

struct u64_map_entry *
u64_map_put(struct u64_map *map, uint64_t key, bool *added_ret)
{
	struct u64_map_entry *entry = &map->zero;

	if (key == 0) {
		*added_ret = !map->has_zero;
		map->has_zero = true;
	} else {
		if (!make_room(map))
			return NULL;

		const size_t slot = seek(map, key);

		*added_ret = map->keys[slot] == 0;
		map->used += *added_ret;
		map->keys[slot] = key;
		entry = &map->entries[slot];
	}
	if (*added_ret)
		*entry = (struct u64_map_entry){ 0 };
	return entry;
}

/*
 * Remove the key in slot 'hole'.  Fill the slot with the first later key of the
 * run that may move there.  Then fill the slot that this key has left in the
 * same way, and so on.  Free the last slot, for which there is no such key.
 */
static void
close_hole(struct u64_map *map, size_t hole)
{
	size_t slot = hole;

	for (;;) {
		slot = after(map, slot);
		if (map->keys[slot] == 0)
			break;

		const size_t home = u64_map_home(map, map->keys[slot]);

		if (!u64_map_stays(home, hole, slot)) {
			map->keys[hole] = map->keys[slot];
			map->entries[hole] = map->entries[slot];
			hole = slot;
		}
	}
	map->keys[hole] = 0;
}

void
u64_map_remove(struct u64_map *map, struct u64_map_entry *entry)
{
	if (entry == &map->zero) {
		map->has_zero = false;
		return;
	}
	close_hole(map, (size_t)(entry - map->entries));
	map->used--;
	/* If there is no memory for a smaller table, keep the large one. */
	if (map->used < map->slot_count / 4 &&
	    map->slot_count > U64_MAP_MIN_SLOTS)
		resize(map, map->slot_count / 2 > U64_MAP_MIN_SLOTS
				    ? map->slot_count / 2
				    : U64_MAP_MIN_SLOTS);
}
