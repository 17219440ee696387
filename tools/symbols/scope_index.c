/* SPDX-License-Identifier: MIT */
/*
 * scope_index.c - see scope_index.h
 *
 * scope_index_unit() lists the units of an object once.  When a unit is first
 * needed, find_unit() lists the functions of the unit, and for each function
 * the range that contains all its addresses.  scope_index_functions() searches
 * the body of a function only for an address in this range.
 */
#ifdef HAVE_LIBDW

#include "tools/symbols/scope_index.h"

#include <dwarf.h>
#include <search.h>
#include <stdlib.h>

/*
 * Maximum number of levels: of nested namespaces and types, or of functions
 * that are inlined into each other.
 */
#define DEPTH_MAX 256

/*
 * Maximum number of entries that one search visits.  In damaged data, siblings
 * may form a circle.
 */
#define ENTRIES_MAX ((uint32_t)1 << 24)

struct function {
	Dwarf_Addr low, high; /* range that contains all code of the function */
	Dwarf_Die die;
};

struct unit {
	Dwarf_Off offset; /* offset of the unit's entry */
	struct function *functions;
	size_t count, cap;
};

static int
compare_units(const void *a, const void *b)
{
	const Dwarf_Off x = ((const struct unit *)a)->offset;
	const Dwarf_Off y = ((const struct unit *)b)->offset;

	return x < y ? -1 : x > y;
}

static void
free_unit(void *node)
{
	struct unit *const unit = node;

	free(unit->functions);
	free(unit);
}

void
scope_index_fini(struct scope_index *s)
{
	tdestroy(s->units, free_unit);
	free(s->ranges);
	*s = (struct scope_index){ .ranges = NULL };
}

/* -------------------------------------------------------------------- units */

static int
compare_ranges(const void *a, const void *b)
{
	const struct unit_range *const x = a, *const y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

/* Add the ranges of a unit.  Return false if there is no memory. */
static bool
add_ranges(struct scope_index *s, Dwarf_Die *unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(unit, offset, &base, &low, &high)) > 0) {
		if (s->range_count == s->range_cap) {
			const size_t cap =
				s->range_cap == 0 ? 64 : 2 * s->range_cap;
			struct unit_range *const ranges =
				reallocarray(s->ranges, cap, sizeof(*ranges));

			if (ranges == NULL)
				return false;
			s->ranges = ranges;
			s->range_cap = cap;
		}
		s->ranges[s->range_count++] =
			(struct unit_range){ low, high, unit };
	}
	return true;
}

static const struct unit_range *
find_range(const struct scope_index *s, Dwarf_Addr address)
{
	size_t first = 0, count = s->range_count;

	/* Find the first range that begins after the address. */
	while (count != 0) {
		const size_t half = count / 2;

		if (s->ranges[first + half].low <= address) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	if (first == 0 || address >= s->ranges[first - 1].high)
		return NULL;
	return &s->ranges[first - 1];
}

Dwarf_Die *
scope_index_unit(struct scope_index *s, Dwfl_Module *module, Dwarf_Addr address,
		 Dwarf_Addr *bias_ret)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias_ret);
	const struct unit_range *range;

	if (unit != NULL)
		return unit;
	if (!s->has_ranges) {
		s->has_ranges = true;
		while ((unit = dwfl_module_nextcu(module, unit, &s->bias)) !=
			       NULL &&
		       add_ranges(s, unit))
			continue;
		if (s->range_count != 0)
			qsort(s->ranges, s->range_count, sizeof(*s->ranges),
			      compare_ranges);
	}
	*bias_ret = s->bias;
	range = find_range(s, address - s->bias);
	return range == NULL ? NULL : range->unit;
}

/* ---------------------------------------------------------------- functions */

/*
 * Add a function to the list of its unit, if the function has code.  If there
 * is no memory, leave the function out.
 */
static void
add_function(struct unit *unit, Dwarf_Die *die)
{
	struct function function = { .low = ~(Dwarf_Addr)0, .die = *die };
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		if (low < function.low)
			function.low = low;
		if (high > function.high)
			function.high = high;
	}
	if (function.high == 0)
		return;
	if (unit->count == unit->cap) {
		const size_t cap = unit->cap == 0 ? 64 : 2 * unit->cap;
		struct function *const functions =
			reallocarray(unit->functions, cap, sizeof(*functions));

		if (functions == NULL)
			return;
		unit->functions = functions;
		unit->cap = cap;
	}
	unit->functions[unit->count++] = function;
}

static bool
may_have_functions(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		return true;
	default:
		return false;
	}
}

/*
 * List the functions below the entry 'top'.  'path' contains the current entry
 * of each level.
 */
static void
list_functions(struct unit *unit, Dwarf_Die *top)
{
	Dwarf_Die path[DEPTH_MAX], next;
	uint32_t left = ENTRIES_MAX;
	int depth = 0;

	if (dwarf_child(top, &path[0]) != 0)
		return;
	while (depth >= 0 && left-- != 0) {
		Dwarf_Die *const die = &path[depth];

		if (dwarf_tag(die) == DW_TAG_subprogram)
			add_function(unit, die);
		if (depth + 1 < DEPTH_MAX && may_have_functions(die) &&
		    dwarf_child(die, &path[depth + 1]) == 0) {
			depth++;
			continue;
		}
		while (depth >= 0 && dwarf_siblingof(&path[depth], &next) != 0)
			depth--;
		if (depth >= 0)
			path[depth] = next;
	}
}

/*
 * Return the functions of a unit.  If they are not listed yet, list them.
 * Return NULL if there is no memory.
 */
static struct unit *
find_unit(struct scope_index *s, Dwarf_Die *die)
{
	const struct unit key = { .offset = dwarf_dieoffset(die) };
	struct unit **const found = tfind(&key, &s->units, compare_units);
	struct unit *unit;

	if (found != NULL)
		return *found;
	unit = calloc(1, sizeof(*unit));
	if (unit == NULL)
		return NULL;
	unit->offset = key.offset;
	if (tsearch(unit, &s->units, compare_units) == NULL) {
		free(unit);
		return NULL;
	}
	list_functions(unit, die);
	return unit;
}

/*
 * Replace '*die' by its child that contains the address.  The child is a block
 * or an inlined function.  Return false if there is no such child.
 */
static bool
enter(Dwarf_Die *die, Dwarf_Addr address)
{
	uint32_t left = ENTRIES_MAX;
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		const int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_inlined_subroutine ||
		     tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		     tag == DW_TAG_catch_block) &&
		    dwarf_haspc(&child, address) > 0) {
			*die = child;
			return true;
		}
	} while (left-- != 0 && dwarf_siblingof(&child, &child) == 0);
	return false;
}

/*
 * Store in 'scopes' the functions around an address, the innermost first.
 * 'function' is the outermost one, which contains the code.  Return the number
 * of functions, at most 'max'.
 */
static size_t
descend(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *scopes, size_t max)
{
	Dwarf_Die path[DEPTH_MAX], die = *function;
	size_t count = 0, n = 0;

	path[count++] = die;
	for (int depth = 0;
	     depth < 4 * DEPTH_MAX && count < DEPTH_MAX && enter(&die, address);
	     depth++)
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			path[count++] = die;
	while (count > 0 && n < max)
		scopes[n++] = path[--count];
	return n;
}

size_t
scope_index_functions(struct scope_index *s, Dwarf_Die *unit,
		      Dwarf_Addr address, Dwarf_Die *scopes, size_t max)
{
	struct unit *const known = find_unit(s, unit);

	for (size_t i = 0; known != NULL && i < known->count; i++) {
		struct function *const function = &known->functions[i];

		if (address >= function->low && address < function->high &&
		    dwarf_haspc(&function->die, address) > 0)
			return descend(&function->die, address, scopes, max);
	}
	return 0;
}

#else

/* Declare something, because ISO C forbids an empty file. */
extern int scope_index_without_libdw;

#endif
