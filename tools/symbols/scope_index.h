/* SPDX-License-Identifier: MIT */
/*
 * scope_index.h - find the unit and the functions at an address
 *
 * The functions of elfutils do not suffice.  dwfl_module_addrdie() needs a
 * section .debug_aranges, which clang does not write.  dwarf_getscopes()
 * searches the whole unit for each address.  It does not look into namespaces,
 * modules and types, because these have no addresses; but clang, rustc and
 * compilers of D define functions in them.
 *
 * This module is compiled only if libdw is available.  Only one thread may use
 * a 'struct scope_index'.
 */
#ifndef SCOPE_INDEX_H
#define SCOPE_INDEX_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>

/* A range of addresses with code of a compilation unit. */
struct unit_range {
	Dwarf_Addr low, high;
	Dwarf_Die *unit;
};

/* The index of an object; starts as all zeros. */
struct scope_index {
	bool has_ranges;
	struct unit_range *ranges; /* sorted by 'low' */
	size_t range_count, range_cap;
	Dwarf_Addr bias; /* address in the module minus address in 'ranges' */
	/* tree of units with their functions, see tsearch(3) */
	void *units;
};

void scope_index_fini(struct scope_index *s);

/*
 * Return the compilation unit that contains the code at an address of the
 * module, or NULL.  Set '*bias_ret' to the number to subtract from an address
 * of the module to get an address of the unit.
 */
Dwarf_Die *scope_index_unit(struct scope_index *s, Dwfl_Module *module,
			    Dwarf_Addr address, Dwarf_Addr *bias_ret);

/*
 * Store in 'scopes' the functions around an address of a unit, the innermost
 * first: the inlined ones, then the function that contains the code.  Return
 * their number, at most 'max'; 0 if none was found.
 */
size_t scope_index_functions(struct scope_index *s, Dwarf_Die *unit,
			     Dwarf_Addr address, Dwarf_Die *scopes, size_t max);

#endif /* SCOPE_INDEX_H */
