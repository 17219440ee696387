/* SPDX-License-Identifier: MIT */
/*
 * decoder_runs.c - decode runs of heap records; see decoder.c
 *
 * decode_run() and decode_plain_run() have no branch that depends on the
 * contents of a record, except on rare tags.  They do not check the bounds for
 * each field, but stop as soon as the next record could extend beyond the end
 * of the bytes.
 */
#include "hatf/decoder/decoder_runs.h"

#include "hatf/codec/hatf_record.h"

/*
 * Maximum number of records in a run.  It bounds the size of 'struct
 * announcers', which is on the stack.
 */
#define RUN_MAX 1024

static inline void
clear_metadata(struct hatf_record *rec)
{
	memset(&rec->metadata, 0, sizeof(rec->metadata));
}

/*
 * The state of a field during a run, in the form that needs the fewest
 * operations.  If the stored number is 'raw', the value is 'bias' + (raw ^
 * sign).  If the interpretation of the field is delta or stride, each value
 * depends on the previous one, so lane_take() then adds (raw ^ sign) + 'step'
 * to 'bias'.
 */
struct lane {
	uint64_t bias; /* 'origin' of the layout field, minus 'sign' */
	uint64_t sign;
	uint64_t mask;
	uint64_t step;	  /* 'step' of the layout field, minus 'sign' */
	uint64_t follows; /* all bits set for delta and stride, else 0 */
	unsigned shift;
	unsigned nbytes;
};

static inline struct lane
lane_open(const struct layout_field *f)
{
	return (struct lane){
		.bias = f->origin - f->sign,
		.sign = f->sign,
		.mask = f->mask,
		.step = f->step - f->sign,
		.follows = 0 - (uint64_t)f->follows,
		.shift = -8u * f->nbytes & 63,
		.nbytes = f->nbytes,
	};
}

static inline void
lane_close(const struct lane *l, struct layout_field *f)
{
	f->origin = l->bias + l->sign;
}

/*
 * Return the value at 'p' of a field whose 'bias' stays the same during a run.
 */
static inline uint64_t
lane_value(const struct lane *l, const uint8_t *p)
{
	return l->bias + ((get_be64(p) >> l->shift & l->mask) ^ l->sign);
}

/*
 * If all bits of 'there' are set, return the value at 'p', and update 'bias' if
 * 'follows' is set.  If 'there' is 0, the record lacks the field: return 0.
 */
static inline uint64_t
lane_take(struct lane *l, const uint8_t *p, uint64_t there)
{
	const uint64_t raw = (get_be64(p) >> l->shift & l->mask) ^ l->sign;
	const uint64_t value = l->bias + raw;

	l->bias += (raw + l->step) & l->follows & there;
	return value & there;
}

/*
 * The indices, in order, of the reallocs of a run that announce other records.
 */
struct announcers {
	size_t count;
	uint16_t idx[RUN_MAX];
};

/*
 * Count a realloc, which is record number 'n' of a run.  Store 'n' if the
 * realloc announces other records.
 */
static inline void
note_realloc(struct decoder *d, unsigned tag, size_t n, struct announcers *a)
{
	a->idx[a->count] = (uint16_t)n;
	a->count += tag > HATF_REALLOC_NO_ALLOC;
	d->tag_count[tag]++;
}

/*
 * The state of a run, kept in a local variable so that the compiler uses
 * registers.
 */
struct run {
	struct lane size, address, thread, heap, time;
	/* number of records with a size: all tags but 1 */
	size_t sized_count;
	size_t realloc_count; /* number of reallocs: tags 2 to 5 */
};

static inline __attribute__((always_inline)) struct run
run_open(const struct layout_field *f)
{
	return (struct run){
		.size = lane_open(&f[HATF_FIELD_SIZE]),
		.address = lane_open(&f[HATF_FIELD_ADDRESS]),
		.thread = lane_open(&f[HATF_FIELD_THREAD]),
		.heap = lane_open(&f[HATF_FIELD_HEAP]),
		.time = lane_open(&f[HATF_FIELD_TIME]),
	};
}

/*
 * Add the 'n' records of a run, 'nbytes' in total, to the counts of 'd'.  The
 * counts of the reallocs by tag are not changed, because note_realloc() has
 * already counted the reallocs.
 */
static inline __attribute__((always_inline)) void
count_records(struct decoder *d, size_t n, size_t free_count,
	      size_t realloc_count, size_t nbytes)
{
	d->tag_count[HATF_ALLOC] += n - free_count - realloc_count;
	d->tag_count[HATF_FREE] += free_count;
	d->record_count += n;
	d->offset += nbytes;
}

/* Write the state after 'n' records, 'nbytes' in total, back to 'd'. */
static inline __attribute__((always_inline)) void
run_close(const struct run *run, struct decoder *d, size_t n, size_t nbytes)
{
	struct layout_field *const f = d->layout.field;

	lane_close(&run->size, &f[HATF_FIELD_SIZE]);
	lane_close(&run->address, &f[HATF_FIELD_ADDRESS]);
	lane_close(&run->thread, &f[HATF_FIELD_THREAD]);
	lane_close(&run->heap, &f[HATF_FIELD_HEAP]);
	lane_close(&run->time, &f[HATF_FIELD_TIME]);
	count_records(d, n, n - run->sized_count, run->realloc_count, nbytes);
}

/* Read the thread, heap and time at 'p'. */
static inline __attribute__((always_inline)) void
run_take_tail(struct run *run, const uint8_t *p, struct hatf_record *rec)
{
	rec->thread = lane_take(&run->thread, p, UINT64_MAX);
	p += run->thread.nbytes;
	rec->heap = lane_take(&run->heap, p, UINT64_MAX);
	p += run->heap.nbytes;
	rec->time = lane_take(&run->time, p, UINT64_MAX);
}

/*
 * Return the length of the attributes at 'p'.  With the width v1, the length is
 * stored in the byte before 'p'.
 */
static inline size_t
run_extra_nbytes(const struct decoder *d, const uint8_t *p)
{
	return d->extra_nbytes == DECODER_LENGTH_V1 ? p[-1] : d->extra_nbytes;
}

/* Read the attributes at 'p', and return the position after them. */
static inline __attribute__((always_inline)) const uint8_t *
run_take_attributes(const struct decoder *d, const uint8_t *p,
		    struct hatf_record *rec)
{
	const size_t extra = run_extra_nbytes(d, p);

	rec->attributes = extra != 0 ? p : NULL;
	rec->attributes_nbytes = (uint32_t)extra;
	return p + extra;
}

/*
 * Decode heap records from '*next' on, at most 'max'.  Stop before any other
 * record, or if fewer than DECODER_RUN_RECORD_NBYTES bytes are left.  Move
 * '*next' past the decoded records, and return their number.
 */
static size_t
decode_run(struct decoder *d, const uint8_t **next, const uint8_t *end,
	   struct hatf_record *records, size_t max,
	   struct announcers *announcers)
{
	struct run run = run_open(d->layout.field);
	const size_t free_nbytes = d->fixed_nbytes[HATF_FREE];
	const uint64_t offset = d->offset;
	const uint8_t *const start = *next;
	const uint8_t *const last = end - DECODER_RUN_RECORD_NBYTES;
	const uint8_t *p = start;
	size_t n = 0;

	for (; n < max && p <= last && p[0] <= HATF_REALLOC_FREE; n++) {
		struct hatf_record *const rec = &records[n];
		const unsigned tag = p[0];
		/* All bits set if the tag has a size, else 0. */
		const uint64_t has_size = 0 - (uint64_t)(tag != HATF_FREE);
		const size_t size_nbytes = has_size & run.size.nbytes;
		const uint8_t *q = p + 1 + size_nbytes;

		clear_metadata(rec);
		rec->tag = (uint8_t)tag;
		rec->offset = offset + (uint64_t)(p - start);
		rec->size = lane_take(&run.size, p + 1, has_size);
		rec->old_address = 0;
		p += free_nbytes + size_nbytes;
		if (tag > HATF_FREE) {
			rec->old_address =
				lane_take(&run.address, q, UINT64_MAX);
			q += run.address.nbytes;
			p += run.address.nbytes;
			note_realloc(d, tag, n, announcers);
			run.realloc_count++;
		}
		run.sized_count -= has_size;
		rec->address = lane_take(&run.address, q, UINT64_MAX);
		run_take_tail(&run, q + run.address.nbytes, rec);
		p = run_take_attributes(d, p, rec);
	}
	run_close(&run, d, n, (size_t)(p - start));
	*next = p;
	return n;
}

/*
 * Like decode_run(), but only for layouts in which d->unusual contains no field
 * or, with 'has_time', no field but the time.  A trace of one thread nearly
 * always has such a layout.  The records then differ only in the tag, the size
 * (whose 'bias' stays the same) and the address.  If 'has_time' is set, they
 * also differ in the time, and if 'has_attributes' is set, in the attributes.
 * 'has_time' and 'has_attributes' are constants in each inlined copy.
 */
static inline __attribute__((always_inline)) size_t
decode_plain_run(struct decoder *d, const uint8_t **next, const uint8_t *end,
		 struct hatf_record *records, size_t max,
		 struct announcers *announcers, const bool has_time,
		 const bool has_attributes)
{
	struct layout_field *const f = d->layout.field;
	struct lane size = lane_open(&f[HATF_FIELD_SIZE]);
	struct lane address = lane_open(&f[HATF_FIELD_ADDRESS]);
	struct lane time = lane_open(&f[HATF_FIELD_TIME]);
	const uint64_t offset = d->offset - (uintptr_t)*next;
	const uint8_t *const last = end - DECODER_RUN_RECORD_NBYTES;
	const size_t length_nbytes = d->extra_nbytes == DECODER_LENGTH_V1;
	const uint8_t *p = *next;
	size_t n = 0, free_count = 0, realloc_count = 0;

	for (; n < max && p <= last; n++) {
		struct hatf_record *const rec = &records[n];
		const uint64_t tag = p[0];
		/*
		 * all bits set for an alloc and (see below) for a realloc, 0
		 * for a free
		 */
		uint64_t is_alloc = tag - 1;
		const uint8_t *q;

		if (tag > HATF_FREE) {
			if (tag > HATF_REALLOC_FREE)
				break;
			is_alloc = UINT64_MAX;
		}
		*rec = d->blank;
		rec->tag = (uint8_t)tag;
		rec->offset = offset + (uintptr_t)p;
		rec->size = lane_value(&size, p + 1) & is_alloc;
		q = p + 1 + (is_alloc & size.nbytes);
		if (tag > HATF_FREE) {
			rec->old_address = lane_take(&address, q, UINT64_MAX);
			q += address.nbytes;
			note_realloc(d, (unsigned)tag, n, announcers);
			realloc_count++;
		}
		free_count += is_alloc + 1;
		rec->address = lane_take(&address, q, UINT64_MAX);
		p = q + address.nbytes;
		if (has_time) {
			rec->time = lane_take(&time, p, UINT64_MAX);
			p += time.nbytes;
		}
		if (has_attributes)
			p = run_take_attributes(d, p + length_nbytes, rec);
	}
	if (has_time)
		lane_close(&time, &f[HATF_FIELD_TIME]);
	lane_close(&address, &f[HATF_FIELD_ADDRESS]);
	count_records(d, n, free_count, realloc_count, (size_t)(p - *next));
	*next = p;
	return n;
}

/*
 * From 'rec' on, step over records as long as a record that a realloc announced
 * is still expected.  Subtract the announced records from d->event_count,
 * because count_run() adds all records to it.  Return the first record that is
 * not stepped over.
 */
static const struct hatf_record *
count_parts(struct decoder *d, const struct hatf_record *rec,
	    const struct hatf_record *end)
{
	struct pairing *const pair = &d->pairing;

	for (; rec != end && (pair->alloc_expected || pair->free_expected);
	     rec++)
		d->event_count -= pairing_role(pair, rec) == PAIRING_PART;
	return rec;
}

/*
 * Is 'rec' a realloc of tag 3, followed by the alloc and then the free that it
 * announces?
 */
static inline bool
is_whole_realloc(const struct hatf_record *rec, const struct hatf_record *end)
{
	return end - rec > 2 && rec[0].tag == HATF_REALLOC_ALLOC_FREE &&
	       rec[1].tag == HATF_ALLOC && rec[1].address == rec[0].address &&
	       rec[1].thread == rec[0].thread && rec[2].tag == HATF_FREE &&
	       rec[2].address == rec[0].old_address &&
	       rec[2].thread == rec[0].thread;
}

/*
 * Return how many of the first records of a run are carried blocks (blocks that
 * were live when the trace began).  Carried blocks are not events, and they
 * precede all events, so the result is 0 if the trace already had an event.
 */
static inline size_t
count_carried(const struct decoder *d, const struct hatf_record *records,
	      size_t n)
{
	size_t count = 0;

	if (d->event_count == 0)
		while (count < n && hatf_record_is_carried(&records[count]))
			count++;
	return count;
}

/*
 * Count the logical events of a run: all records except carried records and
 * the records that a realloc announced.
 */
static inline void
count_run(struct decoder *d, const struct hatf_record *records, size_t n,
	  const struct announcers *announcers)
{
	const struct hatf_record *const end = records + n;
	const struct hatf_record *next = count_parts(d, records, end);

	d->event_count += n - count_carried(d, records, n);
	for (size_t k = 0; k < announcers->count; k++) {
		const struct hatf_record *const rec =
			&records[announcers->idx[k]];

		/* Skip a realloc that count_parts() has already processed. */
		if (rec < next)
			continue;
		if (is_whole_realloc(rec, end)) {
			d->event_count -= 2;
			continue;
		}
		pairing_role(&d->pairing, rec);
		next = count_parts(d, rec + 1, end);
	}
}

size_t
decoder_decode_run(struct decoder *d, const uint8_t **next, const uint8_t *end,
		   struct hatf_record *records, size_t max)
{
	struct announcers announcers;
	size_t n;

	announcers.count = 0;
	if (max > RUN_MAX)
		max = RUN_MAX;
	if (d->unusual == 0 && d->extra_nbytes == 0)
		n = decode_plain_run(d, next, end, records, max, &announcers,
				     false, false);
	else if (d->unusual == 0)
		n = decode_plain_run(d, next, end, records, max, &announcers,
				     false, true);
	else if (d->unusual == 1u << HATF_FIELD_TIME)
		n = decode_plain_run(d, next, end, records, max, &announcers,
				     true, true);
	else
		n = decode_run(d, next, end, records, max, &announcers);
	count_run(d, records, n, &announcers);
	return n;
}
