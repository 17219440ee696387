/* SPDX-License-Identifier: MIT */
/*
 * profile.c - see profile.h
 *
 * While a program grows, almost every allocation is a new peak.  The profile
 * learns only at the end of the trace which peak was the last.  Saving the
 * counts of all sites at each peak would be too slow.  So a new peak only
 * increments a counter, and a site saves its counts on its first change after a
 * peak.
 *
 * A sum of lifetimes is the sum of the times of frees minus the sum of the
 * times of allocations, so the profile does not have to visit each block.
 */
#include "hatf/formats/profiles/profile.h"

#include "hatf/codec/hatf_record.h"
#include "hatf/formats/common/loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Are the addresses of frames relative to the objects that contain the frames?
 * In logs of glibc's mtrace(), the addresses are relative.
 */
static bool
has_own_addresses(const char *lines)
{
	char source[16] = "";

	return lines != NULL &&
	       text_find(lines, strlen(lines), "source", source,
			 sizeof(source)) > 0 &&
	       strcmp(source, "mtrace") == 0;
}

enum hatf_status
profile_init(struct profile *p, const struct sink *s, bool has_times,
	     bool keeps_site)
{
	*p = (struct profile){ .has_times = has_times,
			       .keeps_site = keeps_site,
			       .sampling = sampling_find(s->options.header) };
	string_table_init(&p->shares, UINT32_MAX, UINT64_MAX);
	modules_init(&p->modules);
	p->has_own_addresses = has_own_addresses(s->options.header);
	ledger_init(&p->ledger);
	u64_map_init(&p->index);
	u64_map_init(&p->threads);
	u64_map_init(&p->entry_map);
	return hatf_stacks_open(&p->stacks);
}

void
profile_fini(struct profile *p)
{
	ledger_fini(&p->ledger);
	u64_map_fini(&p->index);
	u64_map_fini(&p->threads);
	u64_map_fini(&p->entry_map);
	string_table_fini(&p->shares);
	modules_fini(&p->modules);
	free(p->entries);
	hatf_stacks_close(p->stacks);
	free(p->sites);
}

/* -------------------------------------------------------------------- sites */

/* Store the index of a thread, from 0 in the order of first appearance. */
static bool
thread_idx(struct profile *p, uint64_t thread, uint64_t *idx_ret)
{
	const uint64_t next = u64_map_count(&p->threads);
	bool added;
	struct u64_map_entry *const block =
		u64_map_put(&p->threads, thread, &added);

	if (block == NULL)
		return false;
	if (added)
		block->value = next;
	*idx_ret = block->value;
	return true;
}

/*
 * Store the key of a site: an odd number for a stack, an even number for a
 * thread and a size class.
 */
static bool
site_key(struct profile *p, const struct profile_site *site, uint64_t *key_ret)
{
	uint64_t thread;

	if (site->stack != 0) {
		*key_ret = site->stack << 1 | 1;
		return true;
	}
	if (!thread_idx(p, site->thread, &thread))
		return false;
	*key_ret = (thread * SIZE_CLASS_COUNT + site->size_class) << 1;
	return true;
}

static bool
add_site(struct profile *p, const struct profile_site *site)
{
	if (p->site_count == p->site_cap) {
		const size_t cap = p->site_cap == 0 ? 256 : p->site_cap * 2;
		struct profile_site *const sites =
			reallocarray(p->sites, cap, sizeof(*sites));

		if (sites == NULL)
			return false;
		p->sites = sites;
		p->site_cap = cap;
	}
	p->sites[p->site_count++] = *site;
	return true;
}

static struct profile_site *
look_up_site(struct profile *p, const struct hatf_record *rec, uint64_t stack)
{
	struct profile_site site = { .stack = stack };
	struct hatf_stack ignored;
	struct u64_map_entry *block;
	uint64_t key;
	bool added;

	if (!hatf_stacks_get(p->stacks, site.stack, &ignored))
		site.stack = 0;
	if (site.stack == 0) {
		site.thread = rec->thread;
		site.size_class = size_class_of(rec->size);
	}
	if (!site_key(p, &site, &key))
		return NULL;
	block = u64_map_put(&p->index, key, &added);
	if (block == NULL)
		return NULL;
	if (added) {
		block->value = p->site_count;
		site.peak_count = p->peak_count;
		if (!add_site(p, &site))
			return NULL;
	}
	return &p->sites[block->value];
}

/* Return the site of a record, or NULL if memory runs out. */
static struct profile_site *
find_site(struct profile *p, const struct hatf_record *rec)
{
	const uint64_t stack =
		rec->attributes_nbytes == 0 ? 0 : hatf_record_stack(rec);
	const unsigned size_class = size_class_of(rec->size);
	size_t *const recent =
		&p->recent[(stack != 0 ? stack
				       : rec->thread * SIZE_CLASS_COUNT +
						 size_class) %
			   PROFILE_RECENT_COUNT];
	struct profile_site *site;

	if (*recent < p->site_count) {
		site = &p->sites[*recent];
		if (site->stack == stack &&
		    (stack != 0 || (site->thread == rec->thread &&
				    site->size_class == size_class)))
			return site;
	}
	site = look_up_site(p, rec, stack);
	if (site != NULL)
		*recent = (size_t)(site - p->sites);
	return site;
}

/* ------------------------------------------------------------------- shares */

/*
 * The site to which a block belongs, and what the block adds to the sums of the
 * site.  The table 'shares' compares the bytes of its entries, so this struct
 * must have no padding.
 */
struct share {
	uint64_t site; /* index of the site in 'sites' */
	/* 1; in a trace of samples, the result of sampling_blocks() */
	uint64_t count;
	/* bytes; in a trace of samples, the number of samples */
	uint64_t amount;
};
_Static_assert(sizeof(struct share) == 24, "padding");

static inline struct share
share_of(const struct profile *p, const struct block *block)
{
	struct share share = { block->object, 1, block->size };

	if (p->sampling.rate != 0)
		memcpy(&share,
		       string_table_get(&p->shares, (uint32_t)block->object),
		       sizeof(share));
	return share;
}

/*
 * Let a block belong to the site at index 'site'.  Return false if memory runs
 * out.
 */
static bool
give_share(struct profile *p, uint64_t site, const struct hatf_record *rec,
	   struct block *block)
{
	struct share share = { .site = site };
	uint32_t number;

	block->object = site;
	if (p->sampling.rate == 0)
		return true;
	share.amount = sampling_count(rec);
	share.count = sampling_blocks(&p->sampling, rec->size, share.amount);
	if (string_table_put(&p->shares, &share, sizeof(share), &number) !=
	    HATF_OK)
		return false;
	block->object = number;
	return true;
}

/* ------------------------------------------------------------------- counts */

/*
 * If there was a global peak since the last change of the site, save the site's
 * counts, because they are still what they were at the peak.  Call this before
 * the counts change.
 */
static void
note_peak(const struct profile *p, struct profile_site *site)
{
	if (site->peak_count == p->peak_count)
		return;
	site->at_peak = site->live;
	site->peak_count = p->peak_count;
}

/* Update the peaks.  Call this after the live blocks of a site have grown. */
static void
note_growth(struct profile *p, struct profile_site *site)
{
	if (site->live.nbytes > site->own_peak.nbytes ||
	    (site->live.nbytes == site->own_peak.nbytes &&
	     site->live.count > site->own_peak.count))
		site->own_peak = site->live;
	if (p->live.nbytes <= p->peak_nbytes)
		return;
	p->peak_nbytes = p->live.nbytes;
	p->peak_time = p->now;
	p->peak_count++;
}

static void
grow(struct profile *p, const struct share *share, uint64_t birth)
{
	struct profile_site *const site = &p->sites[share->site];

	note_peak(p, site);
	site->live.count += share->count;
	site->live.nbytes += share->amount;
	site->live_block_count++;
	site->lifetimes -= birth;
	p->live.count += share->count;
	p->live.nbytes += share->amount;
	note_growth(p, site);
}

static uint64_t
birth_of(const struct profile *p, const struct block *block)
{
	return p->has_times ? block->birth_time : block->birth_event;
}

static void
shrink(struct profile *p, const struct block *block)
{
	const struct share share = share_of(p, block);
	struct profile_site *const site = &p->sites[share.site];

	note_peak(p, site);
	site->live.count -= share.count;
	site->live.nbytes -= share.amount;
	site->live_block_count--;
	site->lifetimes += p->now;
	p->live.count -= share.count;
	p->live.nbytes -= share.amount;
}

static void
count_alloc(struct profile *p, const struct share *share)
{
	struct profile_site *const site = &p->sites[share->site];

	site->total.count += share->count;
	site->total.nbytes += share->amount;
	site->block_count++;
}

/*
 * Count a new block at the site of the record.  Exception: after a realloc, if
 * reallocs keep the site, count the new block at the site of the old block.
 */
static bool
begin_block(struct profile *p, const struct hatf_record *rec,
	    struct ledger_entry *entry)
{
	struct block *const block = &entry->block;
	struct share share;
	uint64_t site_idx;

	if (p->keeps_site && entry->known) {
		site_idx = share_of(p, &entry->old).site;
	} else {
		const struct profile_site *const site = find_site(p, rec);

		if (site == NULL)
			return false;
		site_idx = (uint64_t)(site - p->sites);
		block->birth_time = rec->time;
		block->birth_event = p->ledger.call_count & BLOCK_EVENT_MAX;
	}
	if (!give_share(p, site_idx, rec, block) ||
	    !ledger_keep(&p->ledger, rec, entry))
		return false;
	share = share_of(p, block);
	count_alloc(p, &share);
	grow(p, &share, birth_of(p, block));
	return true;
}

/*
 * Count a call.  If reallocs keep the site, a block lives on after a realloc,
 * but shrink() and grow() have added its age to the sum of lifetimes.  Subtract
 * this age again, because the end of the block's life adds the whole lifetime.
 */
static bool
count_entry(struct profile *p, const struct hatf_record *rec,
	    struct ledger_entry *entry)
{
	if (entry->replaced)
		shrink(p, &entry->lost);
	if (entry->known)
		shrink(p, &entry->old);
	if (!entry->lives)
		return true;
	if (!begin_block(p, rec, entry))
		return false;
	if (p->keeps_site && entry->known)
		p->sites[share_of(p, &entry->old).site].lifetimes +=
			birth_of(p, &entry->block) - p->now;
	return true;
}

static void
count_lost_block(void *ctx, uint64_t address, const struct block *block)
{
	(void)address;
	shrink(ctx, block);
}

static bool
count_record(struct profile *p, const struct hatf_record *rec)
{
	struct ledger_entry entry;

	if (p->has_times && rec->time > p->now)
		p->now = rec->time;
	if (rec->tag == HATF_DESTROY_HEAP)
		return ledger_destroy(&p->ledger, rec->heap, count_lost_block,
				      p);
	if (!ledger_enter(&p->ledger, rec, &entry))
		return false;
	if (!p->has_times)
		p->now = p->ledger.call_count;
	return entry.kind == LEDGER_NONE || entry.kind == LEDGER_FAILED ||
	       count_entry(p, rec, &entry);
}

/*
 * If a comment states a later time, use it as the present time, because a
 * program may run on without allocations.
 */
static void
note_time(struct profile *p, const struct hatf_record *rec)
{
	static const char *const kinds[] = { "HATF time\n",
					     "HATF system\nuse=resident\n" };
	const char *const text = (const char *)rec->attributes;
	uint64_t time;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (p->has_times && hatf_record_comment_starts(rec, kinds[i]) &&
		    text_find_u64(text, rec->attributes_nbytes, "time",
				  &time) &&
		    time > p->now)
			p->now = time;
}

enum hatf_status
profile_write(struct profile *p, struct sink *s,
	      const struct hatf_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct hatf_record *const rec = &records[i];
		enum hatf_status status;

		ledger_look_ahead(&p->ledger, records, n, i);
		if (rec->tag != HATF_COMMENT) {
			status =
				count_record(p, rec) ? HATF_OK : HATF_NO_MEMORY;
		} else {
			status = loss_note_stack(s, p->stacks, rec);
			if (status == HATF_OK)
				status = modules_note(&p->modules, rec);
			note_time(p, rec);
		}
		if (status != HATF_OK)
			return sink_fail(s, status, NULL);
	}
	return HATF_OK;
}

static void
scale_sum(const struct profile *p, struct profile_sum *sum)
{
	sum->count = sampling_scale_blocks(&p->sampling, sum->count);
	sum->nbytes = sampling_scale_nbytes(&p->sampling, sum->nbytes);
}

/*
 * Estimate a site's totals from its samples.  Assume that the blocks that were
 * not sampled lived as long as the sampled blocks.
 */
static void
scale_site(const struct profile *p, struct profile_site *site)
{
	double lifetimes = (double)site->lifetimes;

	scale_sum(p, &site->total);
	scale_sum(p, &site->live);
	scale_sum(p, &site->own_peak);
	scale_sum(p, &site->at_peak);
	if (site->block_count != 0)
		lifetimes = lifetimes * (double)site->total.count /
			    (double)site->block_count;
	site->lifetimes = lifetimes < 0x1p63 ? (uint64_t)lifetimes : INT64_MAX;
}

void
profile_end(struct profile *p)
{
	for (size_t i = 0; i < p->site_count; i++) {
		struct profile_site *const site = &p->sites[i];

		note_peak(p, site);
		site->lifetimes += site->live_block_count * p->now;
		if (p->sampling.rate != 0)
			scale_site(p, site);
	}
}

/* ------------------------------------------------------------------- stacks */

/*
 * Store the index of an entry.  If the entry is new, add it.  'key' identifies
 * the entry among the entries of its kind.
 */
static bool
entry_idx(struct profile *p, const struct profile_entry *entry, uint64_t key,
	  uint64_t *idx_ret)
{
	bool added;
	struct u64_map_entry *const block = u64_map_put(
		&p->entry_map, (key << 2 | entry->kind) + 1, &added);

	if (block == NULL)
		return false;
	if (added && p->entry_count == p->entry_cap) {
		const size_t cap = p->entry_cap == 0 ? 256 : p->entry_cap * 2;
		struct profile_entry *const entries =
			reallocarray(p->entries, cap, sizeof(*entries));

		if (entries == NULL)
			return false;
		p->entries = entries;
		p->entry_cap = cap;
	}
	if (added) {
		block->value = p->entry_count;
		p->entries[p->entry_count++] = *entry;
	}
	*idx_ret = block->value;
	return true;
}

/*
 * Add the two entries that stand for a missing stack: the size class and the
 * thread.
 */
static bool
add_stand_ins(struct profile *p, const struct profile_site *site,
	      uint64_t indices[2])
{
	const uint64_t idx = (uint64_t)(site - p->sites);
	const struct profile_entry size = { PROFILE_CLASS, idx };
	const struct profile_entry thread = { PROFILE_THREAD, idx };
	uint64_t key;

	return thread_idx(p, site->thread, &key) &&
	       entry_idx(p, &size, site->size_class, &indices[0]) &&
	       entry_idx(p, &thread, key, &indices[1]);
}

static bool
add_frames(struct profile *p, const struct profile_site *site,
	   uint64_t *indices)
{
	struct hatf_stack stack;

	for (uint64_t id = site->stack; hatf_stacks_get(p->stacks, id, &stack);
	     id = stack.parent) {
		const struct profile_entry frame = { PROFILE_FRAME,
						     stack.frame };

		if (!entry_idx(p, &frame, stack.frame, indices++))
			return false;
	}
	return true;
}

enum hatf_status
profile_stack(struct profile *p, const struct profile_site *site,
	      uint64_t **indices_ret, size_t *count_ret)
{
	struct hatf_stack stack;
	size_t count = 0;
	uint64_t *indices;

	for (uint64_t id = site->stack; hatf_stacks_get(p->stacks, id, &stack);
	     id = stack.parent)
		count++;
	if (count > PROFILE_FRAMES_MAX - p->frame_count)
		return HATF_LIMIT;
	p->frame_count += count;
	indices = calloc(count + 2, sizeof(*indices));
	if (indices == NULL)
		return HATF_NO_MEMORY;
	*indices_ret = indices;
	*count_ret = count == 0 ? 2 : count;
	if (count == 0 ? add_stand_ins(p, site, indices)
		       : add_frames(p, site, indices))
		return HATF_OK;
	free(indices);
	return HATF_NO_MEMORY;
}

const struct module *
profile_module(const struct profile *p, const struct hatf_frame *frame)
{
	const struct module *const module =
		frame->object == NULL
			? NULL
			: modules_find(&p->modules, frame->address);

	return module != NULL && strcmp(module->object, frame->object) == 0
		       ? module
		       : NULL;
}

bool
profile_offset(const struct profile *p, const struct hatf_frame *frame,
	       uint64_t *offset_ret)
{
	/*
	 * Use 'offset', which comes from the definition of the frame.  Do not
	 * look for the mapping at the address, because another object may be
	 * mapped there now.
	 */
	*offset_ret = frame->offset != 0 ? frame->offset : frame->address;
	return frame->offset != 0 ||
	       (p->has_own_addresses && frame->object != NULL);
}

static void
name_frame(const struct profile *p, const struct hatf_frame *frame, char *buf)
{
	uint64_t offset;

	if (frame->function != NULL)
		snprintf(buf, PROFILE_NAME_MAX, "%s", frame->function);
	else if (frame->file != NULL && frame->line == 0)
		snprintf(buf, PROFILE_NAME_MAX, "%s", frame->file);
	else if (frame->file != NULL)
		snprintf(buf, PROFILE_NAME_MAX, "%s:%" PRIu64, frame->file,
			 frame->line);
	else if (profile_offset(p, frame, &offset))
		snprintf(buf, PROFILE_NAME_MAX, "%s+0x%" PRIx64, frame->object,
			 offset);
	else if (frame->object != NULL)
		snprintf(buf, PROFILE_NAME_MAX, "0x%" PRIx64 " (%s)",
			 frame->address, frame->object);
	else
		snprintf(buf, PROFILE_NAME_MAX, "0x%" PRIx64, frame->address);
}

struct hatf_frame
profile_frame(const struct profile *p, const struct profile_entry *entry)
{
	struct hatf_frame frame = { .function = NULL };

	if (entry->kind == PROFILE_FRAME)
		hatf_stacks_get_frame(p->stacks, entry->id, &frame);
	return frame;
}

const char *
profile_name(const struct profile *p, const struct profile_entry *entry,
	     char *buf)
{
	const struct hatf_frame frame = profile_frame(p, entry);

	if (entry->kind == PROFILE_FRAME)
		name_frame(p, &frame, buf);
	else if (entry->kind == PROFILE_CLASS)
		size_class_name(p->sites[entry->id].size_class, buf,
				PROFILE_NAME_MAX);
	else
		snprintf(buf, PROFILE_NAME_MAX, "thread %" PRIu64,
			 p->sites[entry->id].thread);
	return buf;
}

const char *
profile_unit(const struct sink *s)
{
	const char *const lines = s->options.header;
	char unit[8] = "";

	if (lines == NULL || (s->options.drop & HATF_DROP_TIME) ||
	    text_find(lines, strlen(lines), "unit", unit, sizeof(unit)) < 0)
		return NULL;
	return strcmp(unit, "ns") == 0	 ? "ns"
	       : strcmp(unit, "us") == 0 ? "us"
					 : NULL;
}
