/* SPDX-License-Identifier: MIT */
/*
 * paged_map.c - see paged_map.h
 */
#include "hatf/formats/common/paged_map.h"

#include <stdlib.h>

_Static_assert(NUMBERED_COUNT == 32, "'used' has a bit for each");

static uint64_t
page_number(uint64_t number)
{
	return number / NUMBERED_COUNT;
}

static uint32_t
bit(uint64_t number)
{
	return (uint32_t)1 << number % NUMBERED_COUNT;
}

/* The page that a set of pages holds. */
static struct numbered_page *
page_of(const struct u64_map_entry *block)
{
	return (struct numbered_page *)(uintptr_t)block->value;
}

void
numbered_init(struct numbered *n)
{
	u64_map_init(&n->pages);
	n->last = NULL;
}

void
numbered_fini(struct numbered *n)
{
	for (size_t i = 0; i < n->pages.slot_count; i++)
		if (n->pages.keys[i] != 0)
			free(page_of(&n->pages.entries[i]));
	if (n->pages.has_zero)
		free(page_of(&n->pages.zero));
	u64_map_fini(&n->pages);
	n->last = NULL;
}

/* The page where 'number' has its place; NULL if there is none. */
static struct numbered_page *
find_page(struct numbered *n, uint64_t number)
{
	const struct u64_map_entry *block;

	if (n->last != NULL && n->last->number == page_number(number))
		return n->last;
	block = u64_map_find(&n->pages, page_number(number));
	return block == NULL ? NULL : page_of(block);
}

static void
drop_page(struct numbered *n, struct numbered_page *page)
{
	u64_map_remove(&n->pages, u64_map_find(&n->pages, page->number));
	free(page);
}

static struct numbered_page *
make_page(struct numbered *n, uint64_t number)
{
	struct numbered_page *const page = malloc(sizeof(*page));
	struct u64_map_entry *block;
	bool added;

	if (page == NULL)
		return NULL;
	block = u64_map_put(&n->pages, page_number(number), &added);
	if (block == NULL) {
		free(page);
		return NULL;
	}
	block->value = (uintptr_t)page;
	page->number = page_number(number);
	page->used = 0;
	return page;
}

bool
numbered_put(struct numbered *n, uint64_t number, uint64_t value)
{
	struct numbered_page *page = find_page(n, number);

	if (page == NULL)
		page = make_page(n, number);
	if (page == NULL)
		return false;
	if (n->last != page && n->last != NULL && n->last->used == 0)
		drop_page(n, n->last);
	n->last = page;
	page->used |= bit(number);
	page->values[number % NUMBERED_COUNT] = value;
	return true;
}

uint64_t *
numbered_find(struct numbered *n, uint64_t number)
{
	struct numbered_page *const page = find_page(n, number);

	return page != NULL && (page->used & bit(number)) != 0
		       ? &page->values[number % NUMBERED_COUNT]
		       : NULL;
}

void
numbered_remove(struct numbered *n, uint64_t number)
{
	struct numbered_page *const page = find_page(n, number);

	page->used &= ~bit(number);
	if (page->used == 0 && page != n->last)
		drop_page(n, page);
}
