/* SPDX-License-Identifier: MIT */
/* metatf.c - see metatf.h */
#include "hatf/formats/metatf/metatf.h"

#include "hatf/formats/metatf/event_text.h"

#include <string.h>

#define DTD(symbol, file)                                \
	__asm__(".pushsection .rodata\n"                 \
		".global " symbol "\n"                   \
		".hidden " symbol "\n" symbol ":\n"      \
		".incbin \"hatf/metatf/dtd/" file "\"\n" \
		".byte 0\n"                              \
		".popsection\n")

DTD("metatf_hatf_text", "hatf.dtd");
DTD("metatf_splitaddr_text", "hatf_splitaddr.dtd");
DTD("metatf_split_text", "hatf_split.dtd");

extern const char metatf_hatf_text[];
extern const char metatf_splitaddr_text[];
extern const char metatf_split_text[];

const struct metatf_dtd metatf_hatf_dtd = { "hatf.dtd", metatf_hatf_text };
const struct metatf_dtd metatf_splitaddr_dtd = { "hatf_splitaddr.dtd",
						 metatf_splitaddr_text };
const struct metatf_dtd metatf_split_dtd = { "hatf_split.dtd",
					     metatf_split_text };

static uint8_t
tag_of(const struct schema_record *r)
{
	static const struct {
		const char *name;
		uint8_t tag;
	} tags[] = {
		{ "alloc", HATF_ALLOC },
		{ "free", HATF_FREE },
		{ "realloc", METATF_ANY_REALLOC },
		{ "reallocNoAlloc", HATF_REALLOC_NO_ALLOC },
		{ "reallocAllocFree", HATF_REALLOC_ALLOC_FREE },
		{ "reallocAlloc", HATF_REALLOC_ALLOC },
		{ "reallocFree", HATF_REALLOC_FREE },
		{ "createHeap", HATF_CREATE_HEAP },
		{ "destroyHeap", HATF_DESTROY_HEAP },
		{ "createThread", HATF_CREATE_THREAD },
		{ "destroyThread", HATF_DESTROY_THREAD },
		{ "comment", HATF_COMMENT },
		{ "remark", HATF_COMMENT },
	};

	if (r->role != ROLE_DATA && r->role != ROLE_COMMENT)
		return METATF_NO_TAG;
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (strcmp(tags[i].name, r->name) == 0)
			return tags[i].tag;
	return event_text_shape(r) != EVENT_SHAPE_NONE ? METATF_EVENT
						       : METATF_NO_TAG;
}

static bool
is_realloc(uint8_t tag)
{
	return tag == METATF_ANY_REALLOC ||
	       (tag >= HATF_REALLOC_NO_ALLOC && tag <= HATF_REALLOC_FREE);
}

static enum metatf_role
role_of(const struct schema_field *f)
{
	static const struct {
		const char *name;
		enum metatf_role role;
	} roles[] = {
		{ "size", METATF_SIZE }, { "address", METATF_ADDRESS },
		{ "time", METATF_TIME }, { "thread", METATF_THREAD },
		{ "heap", METATF_HEAP },
	};

	if (f->is_bytes)
		return METATF_BYTES;
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(roles[i].name, f->name) == 0)
			return roles[i].role;
	return METATF_OTHER;
}

uint32_t
metatf_single_count(const struct schema_record *r)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->step_count; i++) {
		if (r->steps[i].kind == STEP_REPEAT)
			break;
		count += r->steps[i].kind == STEP_FIELD;
	}
	return count;
}

struct metatf_map
metatf_map_record(const struct schema_record *r)
{
	struct metatf_map map = { .tag = tag_of(r) };
	const uint32_t single_count = metatf_single_count(r);
	const uint32_t count =
		single_count < METATF_FIELDS ? single_count : METATF_FIELDS;
	unsigned seen = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct schema_field *const f = &r->fields[i];
		enum metatf_role role = role_of(f);

		if (role == METATF_ADDRESS && is_realloc(map.tag) &&
		    !(seen & 1u << METATF_OLD_ADDRESS))
			role = METATF_OLD_ADDRESS;
		/*
		 * Ignore a second field with this role, because a HATF record
		 * has only one such field.
		 */
		if (seen & 1u << role)
			continue;
		if (role != METATF_OTHER)
			seen |= 1u << role;
		map.roles[i] = (uint8_t)role;
		if (role == METATF_BYTES && f->width_from < count)
			map.roles[f->width_from] = METATF_NBYTES;
	}
	return map;
}
