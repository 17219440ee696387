/* SPDX-License-Identifier: MIT */
/*
 * symbol_index.c - see symbol_index.h
 *
 * libdwfl chooses among the symbols whose range contains the address: among the
 * global ones or, if there are none, the local ones.  It looks at them in the
 * order of the symbol table.  A symbol replaces the choice so far
 *
 *   - if it begins later,
 *   - if its binding is stronger, or
 *   - if it begins at the same address, is shorter, and its binding is equal.
 *
 * If no range contains the address, libdwfl chooses among the symbols without a
 * size, which are labels of assembly code.  It takes the last label before the
 * address on two conditions: the label is in the section of the address, and no
 * symbol that begins before the address ends after the label.  libdwfl rarely
 * takes a label.  So this file only finds out whether libdwfl may take one, and
 * then asks libdwfl for the label.
 */
#ifdef HAVE_LIBDW

#include "tools/symbols/symbol_index.h"

#include <stdint.h>
#include <stdlib.h>

/* If more than this number of symbols contain an address, ask libdwfl. */
#define CANDIDATES_MAX 64u

struct index_symbol {
	GElf_Addr low, high; /* equal for a symbol without a size */
	/* the largest 'high' of this symbol and of all before it */
	GElf_Addr reach;
	/*
	 * index of the last symbol without a size, among this symbol and all
	 * before it; unused if 'has_label' is false
	 */
	size_t label;
	bool has_label;
	uint8_t strength; /* result of strength_of() */
	int number;	  /* index for dwfl_module_getsym_info() */
};

void
symbol_index_fini(struct symbol_index *s)
{
	free(s->symbols);
	*s = (struct symbol_index){ .symbols = NULL };
}

static uint8_t
strength_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	case STB_LOCAL:
		return 1;
	default:
		return 0;
	}
}

/* Can libdwfl return this symbol? */
static bool
counts(const char *name, const GElf_Sym *symbol)
{
	const unsigned type = GELF_ST_TYPE(symbol->st_info);

	return name != NULL && name[0] != '\0' &&
	       symbol->st_shndx != SHN_UNDEF && type != STT_SECTION &&
	       type != STT_FILE && type != STT_TLS;
}

static int
compare(const void *a, const void *b)
{
	const struct index_symbol *const x = a, *const y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Set 'reach', 'label' and 'has_label' of each symbol. */
static void
sum_up(struct symbol_index *s)
{
	struct index_symbol before = { .has_label = false };

	for (size_t i = 0; i < s->count; i++) {
		struct index_symbol *const here = &s->symbols[i];

		here->reach =
			here->high > before.reach ? here->high : before.reach;
		here->has_label = before.has_label || here->low == here->high;
		here->label = here->low == here->high ? i : before.label;
		before = *here;
	}
}

/* List the symbols.  If there is no memory, the index stays empty. */
static void
build(struct symbol_index *s, Dwfl_Module *module)
{
	const int count = dwfl_module_getsymtab(module);

	s->is_built = true;
	s->first_global = dwfl_module_getsymtab_first_global(module);
	if (count <= 1 || s->first_global < 0)
		return;
	s->symbols = calloc((size_t)count, sizeof(*s->symbols));
	if (s->symbols == NULL)
		return;
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr low;
		const char *const name = dwfl_module_getsym_info(
			module, i, &symbol, &low, NULL, NULL, NULL);

		if (counts(name, &symbol))
			s->symbols[s->count++] = (struct index_symbol){
				.low = low,
				.high = low + symbol.st_size,
				.strength = strength_of(&symbol),
				.number = i,
			};
	}
	qsort(s->symbols, s->count, sizeof(*s->symbols), compare);
	sum_up(s);
}

/* Return how many symbols begin at the address or before it. */
static size_t
count_before(const struct symbol_index *s, GElf_Addr address)
{
	size_t first = 0, count = s->count;

	while (count != 0) {
		const size_t half = count / 2;

		if (s->symbols[first + half].low <= address) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first;
}

/*
 * Does libdwfl prefer 'next' to 'best', a symbol that is earlier in the symbol
 * table?
 */
static bool
is_better(const struct index_symbol *next, const struct index_symbol *best)
{
	const GElf_Addr size = next->high - next->low;
	const GElf_Addr best_size = best->high - best->low;

	if (best->low < next->low || next->strength > best->strength)
		return true;
	return best->low == next->low && best_size > size &&
	       next->strength >= best->strength;
}

/*
 * Return the best of the global candidates or, if 'is_global' is false, of the
 * local ones; NULL if there is none.  The candidates must be in the order of
 * the symbol table.
 */
static const struct index_symbol *
choose(const struct index_symbol *const *candidates, size_t n, int first_global,
       bool is_global)
{
	const struct index_symbol *best = NULL;

	for (size_t i = 0; i < n; i++)
		if ((candidates[i]->number >= first_global) == is_global &&
		    (best == NULL || is_better(candidates[i], best)))
			best = candidates[i];
	return best;
}

/*
 * Store the symbols that contain the address, in the order of the symbol table,
 * and return their number; CANDIDATES_MAX + 1: there are too many.  'end' is
 * the result of count_before().
 */
static size_t
collect(const struct symbol_index *s, GElf_Addr address, size_t end,
	const struct index_symbol *candidates[CANDIDATES_MAX])
{
	size_t n = 0;

	for (size_t i = end; i > 0 && s->symbols[i - 1].reach > address; i--) {
		const struct index_symbol *const found = &s->symbols[i - 1];
		size_t at = n;

		if (found->high <= address)
			continue;
		if (n == CANDIDATES_MAX)
			return n + 1;
		for (; at > 0 && candidates[at - 1]->number > found->number;
		     at--)
			candidates[at] = candidates[at - 1];
		candidates[at] = found;
		n++;
	}
	return n;
}

/* Ask libdwfl for the name of the symbol at the address. */
static const char *
ask(Dwfl_Module *module, GElf_Addr address)
{
	GElf_Off offset;
	GElf_Sym symbol;

	return dwfl_module_addrinfo(module, address, &offset, &symbol, NULL,
				    NULL, NULL);
}

/*
 * Return the last symbol without a size at the address or before it; NULL if
 * there is none.  'end' is the result of count_before().
 */
static const struct index_symbol *
last_label(const struct symbol_index *s, size_t end)
{
	return end != 0 && s->symbols[end - 1].has_label
		       ? &s->symbols[s->symbols[end - 1].label]
		       : NULL;
}

/* Is the address in the section of symbol 'number'? */
static bool
is_in_its_section(Dwfl_Module *module, int number, GElf_Addr address)
{
	GElf_Sym symbol;
	GElf_Addr low, bias;
	GElf_Word section;
	GElf_Shdr header;
	Elf *elf;

	return dwfl_module_getsym_info(module, number, &symbol, &low, &section,
				       &elf, &bias) != NULL &&
	       gelf_getshdr(elf_getscn(elf, section), &header) != NULL &&
	       address - bias - header.sh_addr < header.sh_size;
}

const char *
symbol_index_find(struct symbol_index *s, Dwfl_Module *module,
		  GElf_Addr address)
{
	const struct index_symbol *candidates[CANDIDATES_MAX] = { NULL };
	const struct index_symbol *best, *label;
	size_t end, n;
	GElf_Sym symbol;
	GElf_Addr low;

	if (!s->is_built)
		build(s, module);
	if (s->count == 0)
		return ask(module, address);
	end = count_before(s, address);
	n = collect(s, address, end, candidates);
	if (n > CANDIDATES_MAX)
		return ask(module, address);
	best = choose(candidates, n, s->first_global, true);
	label = last_label(s, end);
	/* libdwfl prefers a global label at the address to local symbols. */
	if (best == NULL && label != NULL && label->low == address)
		return ask(module, address);
	if (best == NULL)
		best = choose(candidates, n, s->first_global, false);
	if (best != NULL)
		return dwfl_module_getsym_info(module, best->number, &symbol,
					       &low, NULL, NULL, NULL);
	if (label == NULL || label->low < s->symbols[end - 1].reach)
		return NULL;
	/* Try each label at this address, because there may be several. */
	for (size_t i = s->symbols[end - 1].label + 1;
	     i > 0 && s->symbols[i - 1].low == label->low; i--)
		if (is_in_its_section(module, s->symbols[i - 1].number,
				      address))
			return ask(module, address);
	return NULL;
}

#else

/* Declare something, because ISO C forbids an empty file. */
extern int symbol_index_without_libdw;

#endif
