/* SPDX-License-Identifier: MIT */
/*
 * disorder.c - see disorder.h
 *
 * Allocs and frees change the live set, including those that a realloc
 * announces (FORMAT "Realloc").  The realloc record itself is only checked
 * against the live set, with one exception: if a realloc keeps the address of a
 * block that is not live, the block is added.  If a realloc is a violation, the
 * free that it announces is not counted as another one.
 */
#include "hatf/formats/common/disorder.h"

void
disorder_init(struct disorder *d)
{
	*d = (struct disorder){ .count = 0 };
	block_set_init(&d->live);
}

void
disorder_fini(struct disorder *d)
{
	block_set_fini(&d->live);
}

static void
count(struct disorder *d, enum hatf_violation what,
      const struct hatf_record *rec, uint64_t number)
{
	if (d->count++ != 0)
		return;
	d->what = what;
	d->record = number;
	d->offset = rec->offset;
}

/* The live set stores only addresses, so every block has this value. */
static const struct block unknown;

/*
 * Add rec->address to the live set; if it is there already, count a violation.
 * Return false if memory runs out.
 */
static bool
note_alloc(struct disorder *d, const struct hatf_record *rec, uint64_t number)
{
	bool added;

	if (rec->address == 0)
		return true;
	if (!block_set_put(&d->live, rec->address, &unknown, &added, NULL))
		return false;
	if (!added)
		count(d, HATF_VIOLATION_ALLOC_LIVE, rec, number);
	return true;
}

static void
note_free(struct disorder *d, const struct hatf_record *rec, uint64_t number)
{
	struct block old;

	if (!block_set_take(&d->live, rec->address, &old) &&
	    rec->address != 0 &&
	    !(d->announces_free && d->old_address == rec->address))
		count(d, HATF_VIOLATION_FREE_UNKNOWN, rec, number);
	d->announces_free = false;
}

/*
 * If the old block of a realloc is not live, count a violation; if the realloc
 * does not move this block, also add the block to the live set.  Return false
 * if memory runs out.
 */
static bool
note_realloc(struct disorder *d, const struct hatf_record *rec, uint64_t number)
{
	struct block ignored;
	bool added;

	d->announces_free = rec->tag == HATF_REALLOC_ALLOC_FREE ||
			    rec->tag == HATF_REALLOC_FREE;
	d->old_address = rec->old_address;
	if (rec->old_address == 0 ||
	    block_set_find(&d->live, rec->old_address, &ignored))
		return true;
	count(d, HATF_VIOLATION_REALLOC_UNKNOWN, rec, number);
	return rec->tag != HATF_REALLOC_NO_ALLOC || rec->address == 0 ||
	       block_set_put(&d->live, rec->address, &unknown, &added, NULL);
}

bool
disorder_note(struct disorder *d, const struct hatf_record *rec,
	      uint64_t number)
{
	switch (rec->tag) {
	case HATF_ALLOC:
		return note_alloc(d, rec, number);
	case HATF_FREE:
		note_free(d, rec, number);
		return true;
	case HATF_REALLOC_NO_ALLOC:
	case HATF_REALLOC_ALLOC_FREE:
	case HATF_REALLOC_ALLOC:
	case HATF_REALLOC_FREE:
		return note_realloc(d, rec, number);
	default:
		return true;
	}
}
