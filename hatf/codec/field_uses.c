/* SPDX-License-Identifier: MIT */
/*
 * field_uses.c - see field_uses.h
 *
 * Nearly all sizes, offsets and differences of addresses fit in 32 bits.  So
 * field_uses_scan() has two passes: the first pass only subtracts, and the
 * second pass computes the classes of four uses at a time.  If a number does
 * not fit in 32 bits, the second pass computes one class at a time.
 */
#include "hatf/codec/field_uses.h"

#include "hatf/codec/hatf_record.h"

typedef uint32_t vector __attribute__((vector_size(16)));
typedef int32_t vector_signed __attribute__((vector_size(16)));
#ifndef __x86_64__
typedef uint8_t vector_bytes __attribute__((vector_size(4)));
#endif

static bool
has_field(const struct hatf_record *rec, unsigned field)
{
	return layout_tag_fields(rec->tag) >> field & 1;
}

uint64_t
field_uses_value(const struct hatf_record *rec, unsigned field)
{
	return field == HATF_FIELD_ADDRESS && hatf_record_is_realloc(rec)
		       ? rec->old_address
		       : hatf_record_number(rec, field);
}

uint64_t
field_uses_first(const struct field_uses *u, unsigned field)
{
	for (size_t i = 0; i < u->record_count; i++)
		if (has_field(&u->records[i], field))
			return field_uses_value(&u->records[i], field);
	return 0;
}

uint64_t
field_uses_previous(const struct field_uses *u, unsigned field)
{
	return u->restart ? field_uses_first(u, field)
			  : u->layout->field[field].origin;
}

static inline uint8_t
size_class(uint64_t size)
{
	return (uint8_t)((size > UINT8_MAX) + (size > UINT16_MAX) +
			 (size > UINT32_MAX));
}

static inline uint8_t
address_class(uint64_t difference, uint64_t offset)
{
	return (uint8_t)(5 * field_uses_delta_class(difference) +
			 field_uses_delta_class(offset));
}

/*
 * Like field_uses_delta_class(), but for four 32-bit numbers at a time.  A
 * comparison of vectors gives -1 for true.
 */
static inline vector
delta_classes(vector difference)
{
	const vector folded =
		difference << 1 ^ (vector)((vector_signed)difference >> 31);

	return (vector)(3 + (folded == 0) + (folded >> 8 == 0) +
			(folded >> 16 == 0));
}

/* OR the classes of four uses into the bits that the first pass has set. */
static inline void
merge_classes(uint8_t *classes, vector found)
{
	uint32_t known, new;

#ifdef __x86_64__
	__m128i packed = _mm_packs_epi32((__m128i)found, (__m128i)found);

	packed = _mm_packus_epi16(packed, packed);
	new = (uint32_t)_mm_cvtsi128_si32(packed);
#else
	const vector_bytes packed =
		__builtin_convertvector(found, vector_bytes);

	memcpy(&new, &packed, sizeof(new));
#endif
	memcpy(&known, classes, sizeof(known));
	known |= new;
	memcpy(classes, &known, sizeof(known));
}

static void
classify_addresses(struct field_uses *u)
{
	const size_t count = u->count;

	for (size_t i = 0; i < count; i += 4) {
		vector difference, offset;

		memcpy(&difference, &u->difference[i], sizeof(difference));
		memcpy(&offset, &u->offset[i], sizeof(offset));
		merge_classes(&u->address_class[i],
			      5 * delta_classes(difference) +
				      delta_classes(offset));
	}
}

static void
classify_sizes(struct field_uses *u)
{
	const size_t count = u->count;

	for (size_t i = 0; i < count; i += 4) {
		vector size;

		memcpy(&size, &u->size[i], sizeof(size));
		merge_classes(&u->size_class[i], (vector)(2 + (size >> 8 == 0) +
							  (size >> 16 == 0)));
	}
}

/*
 * Classify the sizes one at a time, because one of them does not fit in 32
 * bits.
 */
static void
reclassify_sizes(struct field_uses *u)
{
	for (size_t i = 0; i < u->count; i++)
		if (u->size_class[i] != FIELD_CLASS_UNUSED)
			u->size_class[i] |=
				size_class(u->records[u->record[i]].size);
}

void
field_uses_rebase(struct field_uses *u, uint64_t base)
{
	uint64_t address = field_uses_previous(u, HATF_FIELD_ADDRESS);
	size_t use = 0;

	for (size_t i = 0; i < u->record_count; i++) {
		const struct hatf_record *const rec = &u->records[i];
		uint8_t tied = 0;

		if (rec->tag > HATF_REALLOC_FREE)
			continue;
		if (hatf_record_is_realloc(rec)) {
			u->address_class[use++] =
				address_class(rec->old_address - address,
					      rec->old_address - base);
			address = rec->old_address;
			tied = TRELLIS_TIED;
		}
		u->address_class[use++] = address_class(rec->address - address,
							rec->address - base) |
					  tied;
		address = rec->address;
	}
}

/*
 * The state that the first pass of field_uses_scan() keeps between two records.
 */
struct pass {
	uint64_t base, address, size;
	/*
	 * 'any_size' is the OR of all sizes.  'any_address' is the OR of all
	 * differences and offsets of addresses, each plus 2^31 because they are
	 * signed.  An OR exceeds UINT32_MAX if and only if one of its numbers
	 * does not fit in 32 bits.
	 */
	uint64_t any_address, any_size;
	size_t use;
};

static inline void
use_address(struct field_uses *u, struct pass *p, uint64_t address,
	    uint8_t tied, size_t record)
{
	const uint64_t difference = address - p->address;
	const uint64_t offset = address - p->base;

	u->difference[p->use] = (uint32_t)difference;
	u->offset[p->use] = (uint32_t)offset;
	u->address_class[p->use] = tied;
	u->record[p->use++] = (uint16_t)record;
	p->address = address;
	p->any_address |= (difference + (UINT64_C(1) << 31)) |
			  (offset + (UINT64_C(1) << 31));
}

/*
 * Store, for the second pass, the size of a record, and whether this size
 * differs from the previous size.  Do not branch, because a processor cannot
 * predict which record has a size.
 */
static inline void
use_size(struct field_uses *u, struct pass *p, const struct hatf_record *rec)
{
	const uint64_t unused = 0 - (uint64_t)(rec->tag == HATF_FREE);
	const uint64_t difference = rec->size ^ p->size;
	const unsigned changed =
		(unsigned)(difference != 0) * FIELD_CLASS_CHANGED;

	u->size[p->use] = (uint32_t)rec->size;
	u->size_class[p->use] =
		(uint8_t)(changed | (unused & FIELD_CLASS_UNUSED));
	p->size ^= difference & ~unused;
	p->any_size |= rec->size;
}

static void
first_pass(struct field_uses *u, struct pass *p)
{
	const uint64_t time = field_uses_previous(u, HATF_FIELD_TIME);
	const uint64_t thread = field_uses_previous(u, HATF_FIELD_THREAD);
	const uint64_t heap = field_uses_previous(u, HATF_FIELD_HEAP);
	/*
	 * Use local variables, which stay in registers.  In memory, each update
	 * would have to wait until the previous update is stored.
	 */
	uint64_t times = 0, threads = 0, heaps = 0;
	uint32_t attributes = 0;
	struct pass now = *p;

	for (size_t i = 0; i < u->record_count; i++) {
		const struct hatf_record *const rec = &u->records[i];
		const unsigned tag = rec->tag;
		uint8_t tied = 0;

		if (__builtin_expect(tag == HATF_COMMENT, 0))
			continue;
		times |= rec->time ^ time;
		threads |= rec->thread ^ thread;
		heaps |= rec->heap ^ heap;
		attributes |= rec->attributes_nbytes;
		if (__builtin_expect(tag > HATF_REALLOC_FREE, 0))
			continue;
		use_size(u, &now, rec);
		if (tag > HATF_FREE) {
			use_address(u, &now, rec->old_address, 0, i);
			u->size[now.use] = 0;
			u->size_class[now.use] = FIELD_CLASS_UNUSED;
			tied = TRELLIS_TIED;
		}
		use_address(u, &now, rec->address, tied, i);
	}
	*p = now;
	u->time = times;
	u->thread = threads;
	u->heap = heaps;
	u->attributes = attributes;
}

void
field_uses_scan(struct field_uses *u, const struct hatf_record *records,
		size_t n, const struct layout *layout, bool restart,
		uint64_t base)
{
	struct pass p = { .base = base };

	u->records = records;
	u->record_count = n;
	u->layout = layout;
	u->restart = restart;
	p.address = field_uses_previous(u, HATF_FIELD_ADDRESS);
	p.size = field_uses_previous(u, HATF_FIELD_SIZE);
	first_pass(u, &p);
	u->count = p.use;
	if (p.any_size <= UINT32_MAX)
		classify_sizes(u);
	else
		reclassify_sizes(u);
	if (p.any_address <= UINT32_MAX)
		classify_addresses(u);
	else
		field_uses_rebase(u, base);
}

/* Classify the uses of time, thread or heap. */
static void
classify_differences(struct field_uses *u, unsigned field)
{
	uint64_t previous = field_uses_previous(u, field);

	for (size_t i = 0; i < u->record_count; i++) {
		const struct hatf_record *const rec = &u->records[i];
		const uint64_t value = field_uses_value(rec, field);

		u->field_class[i] = FIELD_CLASS_UNUSED;
		if (!has_field(rec, field))
			continue;
		u->field_class[i] =
			(uint8_t)field_uses_delta_class(value - previous);
		previous = value;
	}
}

static void
classify_attributes(struct field_uses *u)
{
	static const uint8_t exact[] = {
		0,
		1,
		2,
		FIELD_CLASS_SHORT,
		3,
		FIELD_CLASS_SHORT,
		FIELD_CLASS_SHORT,
		FIELD_CLASS_SHORT,
		4,
	};

	for (size_t i = 0; i < u->record_count; i++) {
		const uint32_t nbytes = u->records[i].attributes_nbytes;

		if (u->records[i].tag == HATF_COMMENT)
			u->field_class[i] = FIELD_CLASS_UNUSED;
		else if (nbytes < sizeof(exact))
			u->field_class[i] = exact[nbytes];
		else
			u->field_class[i] = nbytes <= UINT8_MAX
						    ? FIELD_CLASS_SHORT
						    : FIELD_CLASS_LONG;
	}
}

void
field_uses_classify(struct field_uses *u, unsigned field)
{
	if (field == HATF_FIELD_ATTRIBUTES)
		classify_attributes(u);
	else
		classify_differences(u, field);
}
