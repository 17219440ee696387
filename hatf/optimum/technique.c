/* SPDX-License-Identifier: MIT */
/*
 * technique.c - see technique.h
 */
#include "hatf/optimum/technique.h"

#include "hatf/hatf.h"

#include <string.h>

#define WIDE (TECHNIQUE_WIDTH_4 | TECHNIQUE_WIDTH_8)

#define NAIVE_SIZE .none = WIDE
#define SMALL_SIZE .none = TECHNIQUE_WIDTH_1 | TECHNIQUE_WIDTH_2 | WIDE

#define NAIVE_ADDRESS .none = WIDE, .base_offset = WIDE
/* Addresses are plain numbers, without a base. */
#define LITERAL_ADDRESS .none = WIDE
#define BASES(widths) \
	.none = WIDE, .base_offset = (widths) | WIDE, .any_base = true

#define ANYTHING                                                     \
	{                                                            \
		.none = TECHNIQUE_WIDTH_ALL,                         \
		.base_offset = TECHNIQUE_WIDTH_ALL,                  \
		.delta = TECHNIQUE_WIDTH_ALL, .default_value = true, \
		.stride = true, .any_base = true,                    \
	}

static const struct technique techniques[] = {
	{
		.name = "literal",
		.size = { NAIVE_SIZE },
		.address = { LITERAL_ADDRESS },
		.other = { .constant = true },
	},
	{
		.name = "naive",
		.size = { NAIVE_SIZE },
		.address = { NAIVE_ADDRESS },
		.other = { .constant = true },
	},
	{
		.name = "small-size",
		.size = { SMALL_SIZE },
		.address = { NAIVE_ADDRESS },
		.other = { .constant = true },
	},
	{
		.name = "same-size",
		.size = { NAIVE_SIZE, .default_value = true },
		.address = { NAIVE_ADDRESS },
		.other = { .constant = true },
	},
	{
		.name = "combined-size",
		.size = { SMALL_SIZE, .default_value = true },
		.address = { NAIVE_ADDRESS },
		.other = { .constant = true },
	},
	{
		.name = "base-offset-1",
		.size = { NAIVE_SIZE },
		.address = { BASES(TECHNIQUE_WIDTH_1) },
		.other = { .constant = true },
	},
	{
		.name = "base-offset-2",
		.size = { NAIVE_SIZE },
		.address = { BASES(TECHNIQUE_WIDTH_2) },
		.other = { .constant = true },
	},
	{
		.name = "best-base-offset",
		.size = { NAIVE_SIZE },
		.address = { BASES(TECHNIQUE_WIDTH_1 | TECHNIQUE_WIDTH_2) },
		.other = { .constant = true },
	},
	{
		.name = "stride",
		.size = { NAIVE_SIZE },
		.address = { NAIVE_ADDRESS, .stride = true },
		.other = { .constant = true },
	},
	{
		.name = "best",
		.size = { SMALL_SIZE, .default_value = true },
		.address = { BASES(TECHNIQUE_WIDTH_1 | TECHNIQUE_WIDTH_2),
			     .stride = true },
		.other = { .constant = true },
	},
	{
		.name = "optimum",
		.size = ANYTHING,
		.address = ANYTHING,
		.other = ANYTHING,
		.any_attributes = true,
	},
};

#define TECHNIQUE_COUNT (sizeof(techniques) / sizeof(techniques[0]))

const struct technique *
technique_find(const char *name)
{
	for (size_t i = 0; i < TECHNIQUE_COUNT; i++)
		if (strcmp(techniques[i].name, name) == 0)
			return &techniques[i];
	return NULL;
}

const char *
hatf_writer_placement(unsigned idx)
{
	if (idx == 0)
		return "online";
	if (idx == TECHNIQUE_COUNT + 1)
		return TECHNIQUE_SMALLEST;
	return idx <= TECHNIQUE_COUNT ? techniques[idx - 1].name : NULL;
}
