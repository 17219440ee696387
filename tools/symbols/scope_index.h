/* SPDX-License-Identifier: MIT */
/*
 * scope_index.h - units and functions by address, where libdw finds none
 *
 * dwfl_module_addrdie() of libdwfl needs a section .debug_aranges, which clang
 * does not write.  dwarf_getscopes() of libdw does not look into namespaces,
 * modules and types, since these have no addresses; but clang and rustc define
 * functions there, and so do compilers of D.
 *
 * Only a build with libdw has this.  One thread uses a 'struct scope_index'.
 */
#ifndef SCOPE_INDEX_H
#define SCOPE_INDEX_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

/* A piece of the code of a compilation unit. */
struct unit_range {
	Dwarf_Addr low, high;
	Dwarf_Die *unit;
};

/* What is known of an object; zeros: nothing. */
struct scope_index {
	bool has_ranges;
	struct unit_range *ranges; /* sorted by 'low' */
	size_t range_count, range_cap;
	Dwarf_Addr bias; /* of the ranges */
	void *units;	 /* functions by unit, a tree, see tsearch(3) */
};

void scope_index_fini(struct scope_index *s);

/*
 * Return the compilation unit that has the code at an address of the module, or
 * NULL.  '*bias_ret' is what the module's addresses have more than the unit's.
 */
Dwarf_Die *scope_index_unit(struct scope_index *s, Dwfl_Module *module,
			    Dwarf_Addr address, Dwarf_Addr *bias_ret);

/*
 * Store in 'scopes' the functions around an address of a unit, the innermost
 * first: inlined ones, and the one that they were inlined into.  Return their
 * number, at most 'max'; 0: none was found.
 */
size_t scope_index_functions(struct scope_index *s, Dwarf_Die *unit,
			     Dwarf_Addr address, Dwarf_Die *scopes, size_t max);

#endif /* SCOPE_INDEX_H */
