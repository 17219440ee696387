/* SPDX-License-Identifier: MIT */
/* stored.c - see stored.h */
#include "tools/measure/stored.h"

#include <string.h>

void
stored_init(struct stored *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned f = 0; f < HATF_FIELD_COUNT; f++)
		s->interpretation[f] = HATF_DEFAULT;
	s->interpretation[HATF_FIELD_SIZE] = HATF_NONE;
	s->interpretation[HATF_FIELD_ADDRESS] = HATF_NONE;
	s->width[HATF_FIELD_SIZE] = s->last[HATF_FIELD_SIZE] = 4;
	s->width[HATF_FIELD_ADDRESS] = s->last[HATF_FIELD_ADDRESS] = 4;
}

static bool
stores_nothing(const struct stored *s, unsigned field)
{
	return s->interpretation[field] == HATF_DEFAULT ||
	       s->interpretation[field] == HATF_STRIDE;
}

uint64_t
stored_note(struct stored *s, const struct hatf_metadata *m)
{
	const unsigned f = m->field;

	if (m->op == HATF_SET_FIELD_SIZE) {
		s->width[f] = stores_nothing(s, f) ? 0 : m->argument;
		if (m->argument != 0)
			s->last[f] = m->argument;
		return 4;
	}
	s->interpretation[f] = m->argument;
	s->value[f] = m->value;
	s->width[f] = stores_nothing(s, f) ? 0 : s->last[f];
	if (m->argument == HATF_NONE)
		return 4;
	return m->argument == HATF_STRIDE ? 20 : 12;
}

unsigned
stored_count(enum hatf_tag tag, enum hatf_field field)
{
	const bool is_block = tag <= HATF_REALLOC_FREE;
	const bool is_realloc = is_block && tag >= HATF_REALLOC_NO_ALLOC;

	switch (field) {
	case HATF_FIELD_SIZE:
		return tag == HATF_ALLOC || is_realloc;
	case HATF_FIELD_ADDRESS:
		return is_block ? 1u + is_realloc : 0;
	case HATF_FIELD_HEAP:
		return tag <= HATF_DESTROY_HEAP;
	default:
		return 1;
	}
}

uint64_t
stored_nbytes(const struct stored *s, enum hatf_field field,
	      const struct hatf_record *rec)
{
	switch (s->width[field]) {
	case HATF_WIDTH_V1:
		return 1 + (uint64_t)rec->attributes_nbytes;
	case HATF_WIDTH_V2:
		return 2 + (uint64_t)rec->attributes_nbytes;
	default:
		return s->width[field];
	}
}
