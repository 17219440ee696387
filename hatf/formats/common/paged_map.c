/* SPDX-License-Identifier: MIT */
/*
 * paged_map.c - see paged_map.h
 */
#include "hatf/formats/common/paged_map.h"

#include <stdlib.h>

_Static_assert(PAGED_MAP_PAGE_SLOTS == 32, "'used' must have one bit per slot");

static uint64_t
page_number(uint64_t number)
{
	return number / PAGED_MAP_PAGE_SLOTS;
}

static uint32_t
bit(uint64_t number)
{
	return (uint32_t)1 << number % PAGED_MAP_PAGE_SLOTS;
}

/* Return the page whose address is in the entry. */
static struct paged_map_page *
page_of(const struct u64_map_entry *block)
{
	return (struct paged_map_page *)(uintptr_t)block->value;
}

void
paged_map_init(struct paged_map *m)
{
	u64_map_init(&m->pages);
	m->last = NULL;
}

void
paged_map_fini(struct paged_map *m)
{
	for (size_t i = 0; i < m->pages.slot_count; i++)
		if (m->pages.keys[i] != 0)
			free(page_of(&m->pages.entries[i]));
	if (m->pages.has_zero)
		free(page_of(&m->pages.zero));
	u64_map_fini(&m->pages);
	m->last = NULL;
}

/* Return the page for 'number', or NULL if there is none. */
static struct paged_map_page *
find_page(struct paged_map *m, uint64_t number)
{
	const struct u64_map_entry *block;

	if (m->last != NULL && m->last->number == page_number(number))
		return m->last;
	block = u64_map_find(&m->pages, page_number(number));
	return block == NULL ? NULL : page_of(block);
}

static void
drop_page(struct paged_map *m, struct paged_map_page *page)
{
	u64_map_remove(&m->pages, u64_map_find(&m->pages, page->number));
	free(page);
}

static struct paged_map_page *
make_page(struct paged_map *m, uint64_t number)
{
	struct paged_map_page *const page = malloc(sizeof(*page));
	struct u64_map_entry *block;
	bool added;

	if (page == NULL)
		return NULL;
	block = u64_map_put(&m->pages, page_number(number), &added);
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
paged_map_put(struct paged_map *m, uint64_t number, uint64_t value)
{
	struct paged_map_page *page = find_page(m, number);

	if (page == NULL)
		page = make_page(m, number);
	if (page == NULL)
		return false;
	if (m->last != page && m->last != NULL && m->last->used == 0)
		drop_page(m, m->last);
	m->last = page;
	page->used |= bit(number);
	page->values[number % PAGED_MAP_PAGE_SLOTS] = value;
	return true;
}

uint64_t *
paged_map_find(struct paged_map *m, uint64_t number)
{
	struct paged_map_page *const page = find_page(m, number);

	return page != NULL && (page->used & bit(number)) != 0
		       ? &page->values[number % PAGED_MAP_PAGE_SLOTS]
		       : NULL;
}

void
paged_map_remove(struct paged_map *m, uint64_t number)
{
	struct paged_map_page *const page = find_page(m, number);

	page->used &= ~bit(number);
	if (page->used == 0 && page != m->last)
		drop_page(m, page);
}
