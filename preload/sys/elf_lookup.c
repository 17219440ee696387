/* SPDX-License-Identifier: MIT */
/* elf_lookup.c - see elf_lookup.h */

#include "preload/sys/elf_lookup.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/sys/elf_dynamic.h"

struct search {
	const char *name;
	uint32_t hash;
	uintptr_t companion;
	bool from_start; /* also search the objects loaded before us */
	bool past_us;	 /* our own object has been seen */
	void *found;
	bool together;
};

static uint32_t
gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name != '\0'; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/* Is the symbol hidden from the loader's own lookup? */
static bool
is_hidden(const Elf64_Sym *s)
{
	const unsigned visibility = ELF64_ST_VISIBILITY(s->st_other);

	return visibility == STV_HIDDEN || visibility == STV_INTERNAL;
}

/*
 * Are the two strings equal?  Do not use strcmp(), which a sanitizer that is
 * not initialized yet may intercept.
 */
static bool
is_same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/*
 * Indices of the first words of a DT_GNU_HASH.  The Bloom filter follows them.
 */
enum {
	BUCKET_COUNT,
	FIRST_SYMBOL,
	BLOOM_COUNT, /* a power of two */
	BLOOM_SHIFT,
	BLOOM_WORDS
};

/*
 * Test the Bloom filter.  If the result is false, the object has no symbol with
 * this hash.  This is the common case, since few objects contain a given name.
 */
static bool
may_have(const uint32_t *table, uint32_t hash)
{
	const uint32_t at = hash / 64 & (table[BLOOM_COUNT] - 1);
	const uint64_t bits = (uint64_t)1 << hash % 64 |
			      (uint64_t)1 << (hash >> table[BLOOM_SHIFT]) % 64;
	uint64_t word;

	memcpy(&word, &table[BLOOM_WORDS + 2 * at], sizeof(word));
	return (word & bits) == bits;
}

/* Is the symbol a definition of the name that other objects can use? */
static bool
is_definition(const struct dynamic *t, const Elf64_Sym *s, const char *name)
{
	return s->st_shndx != SHN_UNDEF &&
	       ELF64_ST_BIND(s->st_info) != STB_LOCAL && !is_hidden(s) &&
	       is_same(t->strings + s->st_name, name);
}

/* Like find_symbol(), for an object that has a DT_GNU_HASH. */
static const Elf64_Sym *
find_by_gnu_hash(const struct dynamic *t, const char *name, uint32_t hash)
{
	const uint32_t bucket_count = t->hash[BUCKET_COUNT];
	const uint32_t first = t->hash[FIRST_SYMBOL];
	const uint32_t *const buckets =
		t->hash + BLOOM_WORDS + 2 * t->hash[BLOOM_COUNT];
	const uint32_t *const chain = buckets + bucket_count;
	uint32_t i;

	if (bucket_count == 0 || !may_have(t->hash, hash))
		return NULL;
	i = buckets[hash % bucket_count];
	if (i < first)
		return NULL;
	for (;; i++) {
		const Elf64_Sym *const s = &t->symbols[i];

		if ((chain[i - first] | 1) == (hash | 1) &&
		    is_definition(t, s, name))
			return s;
		if ((chain[i - first] & 1) != 0)
			return NULL;
	}
}

/* Return the hash of a name in a DT_HASH (ELF specification, "Hash Table"). */
static uint32_t
sysv_hash(const char *name)
{
	uint32_t h = 0;

	for (; *name != '\0'; name++) {
		h = (h << 4) + (unsigned char)*name;
		h ^= (h & 0xf0000000) >> 24;
		h &= 0x0fffffff;
	}
	return h;
}

/* Indices of the first words of a DT_HASH.  The buckets follow them. */
enum {
	SYSV_BUCKET_COUNT,
	SYSV_SYMBOL_COUNT,
	SYSV_BUCKETS
};

/* Like find_symbol(), for an object that has a DT_HASH. */
static const Elf64_Sym *
find_by_sysv_hash(const struct dynamic *t, const char *name)
{
	const uint32_t *const table = t->sysv_hash;
	const uint32_t bucket_count = table[SYSV_BUCKET_COUNT];
	const uint32_t *const chain = table + SYSV_BUCKETS + bucket_count;
	/* A damaged chain may be a cycle, so count the symbols. */
	uint32_t left = table[SYSV_SYMBOL_COUNT];
	uint32_t i;

	if (bucket_count == 0)
		return NULL;
	i = table[SYSV_BUCKETS + sysv_hash(name) % bucket_count];
	for (; i != STN_UNDEF && i < table[SYSV_SYMBOL_COUNT] && left-- != 0;
	     i = chain[i])
		if (is_definition(t, &t->symbols[i], name))
			return &t->symbols[i];
	return NULL;
}

/*
 * Return the object's definition of the name, or NULL.  'hash' is gnu_hash() of
 * the name.
 */
static const Elf64_Sym *
find_symbol(const struct dynamic *t, const char *name, uint32_t hash)
{
	if (t->hash != NULL)
		return find_by_gnu_hash(t, name, hash);
	return t->sysv_hash != NULL ? find_by_sysv_hash(t, name) : NULL;
}

/* Can find_symbol() find names in the object? */
static bool
has_names(const struct dynamic *t)
{
	return t->hash != NULL || t->sysv_hash != NULL;
}

/* Upper bound of the size in bytes of our ELF header and program headers. */
#define OWN_HEADERS_NBYTES 2048u

/*
 * Number of slots in the cache of tables_of().  The page that contains an
 * object's program headers selects the slot.
 */
#define REMEMBERED_MAX 16u

/*
 * Return the tables of an object, or NULL if find_symbol() can find no name in
 * it.  Cache them: an entry is valid until an object is loaded or unloaded.
 * The caller runs inside dl_iterate_phdr(3), whose lock admits one thread at a
 * time.
 */
static const struct dynamic *
tables_of(const struct dl_phdr_info *info)
{
	static struct known {
		const Elf64_Phdr *headers;
		uint64_t changes;
		struct dynamic tables;
		bool has_names;
	} known[REMEMBERED_MAX];
	struct known *const k =
		&known[((uintptr_t)info->dlpi_phdr >> 12) % REMEMBERED_MAX];
	const uint64_t changes = info->dlpi_adds + info->dlpi_subs;

	if (k->headers != info->dlpi_phdr || k->changes != changes) {
		k->headers = info->dlpi_phdr;
		k->changes = changes;
		k->has_names = elf_dynamic_read(info, &k->tables) &&
			       has_names(&k->tables);
	}
	return k->has_names ? &k->tables : NULL;
}

/* The ELF header of our own object, which the linker defines. */
extern const char own_start[] __asm__("__ehdr_start")
	__attribute__((visibility("hidden")));

/*
 * Is this our own object?  Its program headers are close behind its ELF header.
 */
static bool
is_us(const struct dl_phdr_info *info)
{
	return (uintptr_t)info->dlpi_phdr - (uintptr_t)own_start <
	       OWN_HEADERS_NBYTES;
}

/* Return the function that the object defines by this name, or NULL. */
static void *
definition_in(const struct dl_phdr_info *info, const char *name, uint32_t hash)
{
	const struct dynamic *const tables = tables_of(info);
	const Elf64_Sym *symbol;

	if (tables == NULL)
		return NULL;
	symbol = find_symbol(tables, name, hash);
	return symbol != NULL ? (void *)(info->dlpi_addr + symbol->st_value)
			      : NULL;
}

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct search *const s = context;

	(void)nbytes;
	if (!s->past_us) {
		s->past_us = is_us(info);
		if (s->past_us || !s->from_start)
			return 0;
	}
	s->found = definition_in(info, s->name, s->hash);
	if (s->found == NULL)
		return 0;
	s->together = elf_dynamic_has(info, PT_LOAD, s->companion);
	return 1;
}

void *
elf_lookup_function(const char *name, const void *companion, bool *together_ret)
{
	struct search s = {
		.name = name,
		.hash = gnu_hash(name),
		.companion = (uintptr_t)companion,
	};

	dl_iterate_phdr(visit, &s);
	*together_ret = s.together;
	return s.found;
}

/*
 * Is 's' a function of the default version, to which new programs are linked?
 * The answer is no for an IFUNC, whose value is the address of its resolver.
 */
static bool
is_plain(const struct dynamic *t, const Elf64_Sym *s)
{
	/* This bit marks a version that only old programs use. */
	const Elf64_Half hidden = 0x8000;

	return ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
	       (t->versions == NULL ||
		(t->versions[s - t->symbols] & hidden) == 0);
}

struct next {
	struct elf_lookup_next *wanted;
	size_t n;
	bool past_us;
};

static int
visit_next(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct next *const c = context;
	const struct dynamic *tables;

	(void)nbytes;
	if (!c->past_us) {
		c->past_us = is_us(info);
		return 0;
	}
	tables = tables_of(info);
	/*
	 * If the object has no table of hashes, end the search, since only the
	 * loader can look up a name in this object.
	 */
	if (tables == NULL)
		return 1;
	for (size_t i = 0; i < c->n; i++) {
		struct elf_lookup_next *const w = &c->wanted[i];
		const Elf64_Sym *const s =
			w->is_settled ? NULL
				      : find_symbol(tables, w->name, w->hash);

		if (s == NULL)
			continue;
		w->is_settled = true;
		if (is_plain(tables, s))
			w->found = (void *)(info->dlpi_addr + s->st_value);
	}
	return 0;
}

void
elf_lookup_next(struct elf_lookup_next *wanted, size_t n,
		int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *),
			       void *))
{
	struct next c = { .wanted = wanted, .n = n };

	for (size_t i = 0; i < n; i++)
		wanted[i].hash = gnu_hash(wanted[i].name);
	iterate(visit_next, &c);
}

bool
elf_lookup_is_first(const char *name, const void *address)
{
	struct search s = {
		.name = name,
		.hash = gnu_hash(name),
		.from_start = true,
	};

	dl_iterate_phdr(visit, &s);
	return s.found == address;
}

struct sum {
	const char *name;
	uint32_t hash;
	struct elf_lookup_all all;
	bool past_us;
};

static int
visit_all(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct sum *const s = context;
	void *found;

	(void)nbytes;
	if (is_us(info)) {
		s->past_us = true;
		return 0;
	}
	found = definition_in(info, s->name, s->hash);
	if (found == NULL)
		return 0;
	if (s->all.first == NULL)
		s->all.first = found;
	if (s->all.next == NULL && s->past_us)
		s->all.next = found;
	s->all.count++;
	return 0;
}

struct elf_lookup_all
elf_lookup_all(const char *name)
{
	struct sum s = { .name = name, .hash = gnu_hash(name) };

	dl_iterate_phdr(visit_all, &s);
	return s.all;
}

/* What elf_lookup_own() knows about our own object. */
struct own {
	struct dynamic tables;
	uintptr_t base;
	/*
	 * A filter for the names that our object defines.  It has one bit for
	 * each hash of a name's first three bytes.  For most names that our
	 * object does not define, the bit is not set.
	 */
	uint64_t beginnings[64];
};

/*
 * Return the number of the bit for this name, computed from its first three
 * bytes.
 */
static unsigned
beginning(const char *name)
{
	unsigned h = (unsigned char)name[0];

	if (h != 0) {
		h = h * 33 + (unsigned char)name[1];
		if (name[1] != '\0')
			h = h * 33 + (unsigned char)name[2];
	}
	return h % 4096;
}

static void
note_beginnings(struct own *own)
{
	const struct dynamic *const t = &own->tables;
	const uint32_t bucket_count = t->hash[BUCKET_COUNT];
	const uint32_t *const buckets =
		t->hash + BLOOM_WORDS + 2 * t->hash[BLOOM_COUNT];
	const uint32_t *const chain = buckets + bucket_count;

	for (uint32_t b = 0; b < bucket_count; b++) {
		uint32_t i = buckets[b];

		if (i < t->hash[FIRST_SYMBOL])
			continue;
		do {
			const unsigned bit =
				beginning(t->strings + t->symbols[i].st_name);

			own->beginnings[bit / 64] |= (uint64_t)1 << bit % 64;
		} while ((chain[i++ - t->hash[FIRST_SYMBOL]] & 1) == 0);
	}
}

static int
visit_own(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct own *const own = context;

	(void)nbytes;
	if (!is_us(info))
		return 0;
	own->base = info->dlpi_addr;
	if (elf_dynamic_read(info, &own->tables) && own->tables.hash != NULL)
		note_beginnings(own);
	return 1;
}

void *
elf_lookup_own(const char *name)
{
	static struct own own;
	const unsigned bit = beginning(name);
	const Elf64_Sym *symbol;

	if (own.tables.hash == NULL)
		dl_iterate_phdr(visit_own, &own);
	if (own.tables.hash == NULL ||
	    (own.beginnings[bit / 64] >> bit % 64 & 1) == 0)
		return NULL;
	symbol = find_symbol(&own.tables, name, gnu_hash(name));
	return symbol != NULL ? (void *)(own.base + symbol->st_value) : NULL;
}

bool
elf_lookup_defines(const struct dynamic *dynamic, const char *name)
{
	return find_symbol(dynamic, name, gnu_hash(name)) != NULL;
}

struct owner {
	uintptr_t address;
	const char *name;
};

static int
visit_owner(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct owner *const o = context;

	(void)nbytes;
	if (!elf_dynamic_has(info, PT_LOAD, o->address))
		return 0;
	o->name = info->dlpi_name;
	return 1;
}

const char *
elf_lookup_object(const void *address)
{
	struct owner o = { .address = (uintptr_t)address };

	dl_iterate_phdr(visit_owner, &o);
	return o.name;
}

struct beside {
	uintptr_t address;
	const char *name;
	bool is_defined;
};

static int
visit_beside(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct beside *const b = context;

	(void)nbytes;
	if (!elf_dynamic_has(info, PT_LOAD, b->address))
		return 0;
	b->is_defined = definition_in(info, b->name, gnu_hash(b->name)) != NULL;
	return 1;
}

bool
elf_lookup_beside(const void *address, const char *name)
{
	struct beside b = { .address = (uintptr_t)address, .name = name };

	dl_iterate_phdr(visit_beside, &b);
	return b.is_defined;
}
