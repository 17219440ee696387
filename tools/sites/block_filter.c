/* SPDX-License-Identifier: MIT */
/* block_filter.c - see block_filter.h */
#include "tools/sites/block_filter.h"

#include "hatf/frames/function_name.h"
#include "tools/sites/pair_set.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Size of a text that is compared with a pattern: a path, its line or offset if
 * there is one, and the NUL.  A longer text is cut.
 */
#define NAME_NBYTES 8192

struct block_filter {
	const struct block_filter_options *options;
	struct stack_view *view;
	struct pair_set blocks; /* heap and address of each chosen live block */
	/* threads whose names match, as pairs of 0 and thread number + 1 */
	struct pair_set threads;
	uint8_t *judged; /* an enum judgement for each site, by its number */
	uint32_t judged_cap;
	/*
	 * About the most recent realloc: is its alloc still to come, is its
	 * free still to come, and is the realloc itself chosen?
	 */
	bool is_alloc_announced, is_free_announced, is_realloc_kept;
	struct hatf_record realloc;
	bool has_failed, has_seen_stack, has_seen_alloc;
	/* Has the filter judged an allocation?  Has it chosen one? */
	bool has_judged, has_chosen;
	bool has_excluded; /* has a pattern of 'not_site' matched a site? */
};

enum judgement {
	NOT_JUDGED,
	CHOSEN,
	NOT_CHOSEN
};

bool
block_filter_is_needed(const struct block_filter_options *o)
{
	return o->site.count + o->not_site.count + o->module.count +
		       o->thread.count !=
	       0;
}

struct block_filter *
block_filter_open(const struct block_filter_options *options,
		  struct stack_view *view)
{
	struct block_filter *const f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->options = options;
	f->view = view;
	return f;
}

void
block_filter_close(struct block_filter *f)
{
	if (f == NULL)
		return;
	pair_set_fini(&f->blocks);
	pair_set_fini(&f->threads);
	free(f->judged);
	free(f);
}

bool
block_filter_has_failed(const struct block_filter *f)
{
	return f->has_failed;
}

bool
block_filter_has_sites(const struct block_filter *f)
{
	const struct block_filter_options *const o = f->options;

	return o->site.count + o->not_site.count + o->module.count != 0;
}

bool
block_filter_lacks_stacks(const struct block_filter *f)
{
	return block_filter_has_sites(f) && f->has_seen_alloc &&
	       !f->has_seen_stack;
}

bool
block_filter_has_no_match(const struct block_filter *f)
{
	return f->has_judged && !f->has_chosen;
}

bool
block_filter_excludes_nothing(const struct block_filter *f)
{
	return f->options->not_site.count != 0 && f->has_seen_stack &&
	       !f->has_excluded;
}

/* ----------------------------------------------------------------- patterns */

static bool
matches(const struct block_filter_patterns *patterns, const char *name)
{
	for (unsigned i = 0; i < patterns->count; i++)
		if (fnmatch(patterns->texts[i], name, 0) == 0)
			return true;
	return false;
}

/*
 * Does one of the patterns match 'path' followed by 'rest', with or without the
 * folders of 'path'?
 */
static bool
matches_path(const struct block_filter_patterns *patterns, const char *path,
	     const char *rest)
{
	const char *const slash = strrchr(path, '/');
	char name[NAME_NBYTES];

	snprintf(name, sizeof(name), "%s%s", path, rest);
	if (matches(patterns, name))
		return true;
	if (slash == NULL)
		return false;
	snprintf(name, sizeof(name), "%s%s", slash + 1, rest);
	return matches(patterns, name);
}

static bool
matches_function(const struct block_filter_patterns *patterns,
		 const char *function)
{
	for (unsigned i = 0; i < patterns->count; i++)
		if (function_name_matches(patterns->texts[i], function))
			return true;
	return false;
}

static bool
matches_site(const struct block_filter_patterns *patterns,
	     const struct hatf_frame *frame)
{
	char rest[32];

	if (frame->function != NULL &&
	    matches_function(patterns, frame->function))
		return true;
	if (frame->file != NULL) {
		snprintf(rest, sizeof(rest), ":%" PRIu64, frame->line);
		if (matches_path(patterns, frame->file, rest))
			return true;
	}
	if (frame->object == NULL)
		return false;
	snprintf(rest, sizeof(rest), "+0x%" PRIx64, frame->offset);
	return matches_path(patterns, frame->object, rest);
}

static bool
is_site_chosen(struct block_filter *f, uint32_t site)
{
	const struct block_filter_options *const o = f->options;
	const struct hatf_frame frame = stack_view_site_frame(f->view, site);

	if (o->site.count != 0 && !matches_site(&o->site, &frame))
		return false;
	if (o->module.count != 0 &&
	    (frame.object == NULL ||
	     !matches_path(&o->module, frame.object, "")))
		return false;
	if (o->not_site.count == 0 || !matches_site(&o->not_site, &frame))
		return true;
	f->has_excluded = true;
	return false;
}

/*
 * Make room in 'judged' for the judgement on a site.  Return false if there is
 * no memory.
 */
static bool
make_judgement_room(struct block_filter *f, uint32_t site)
{
	const uint32_t cap = 2 * site + 64;
	uint8_t *grown;

	if (site < f->judged_cap)
		return true;
	grown = realloc(f->judged, cap);
	if (grown == NULL)
		return false;
	memset(grown + f->judged_cap, NOT_JUDGED, cap - f->judged_cap);
	f->judged = grown;
	f->judged_cap = cap;
	return true;
}

/*
 * Return whether the patterns of sites and modules choose the stack of an
 * allocation.
 */
static bool
is_stack_chosen(struct block_filter *f, const struct hatf_record *rec)
{
	const struct block_filter_options *const o = f->options;
	const uint64_t stack = hatf_record_stack(rec);
	uint32_t site;

	if (!block_filter_has_sites(f))
		return true;
	site = stack == 0 ? 0 : stack_view_site(f->view, stack);
	f->has_seen_alloc = true;
	if (site == 0)
		return o->site.count + o->module.count == 0;
	f->has_seen_stack = true;
	if (!make_judgement_room(f, site)) {
		f->has_failed = true;
		return false;
	}
	if (f->judged[site] == NOT_JUDGED)
		f->judged[site] = is_site_chosen(f, site) ? CHOSEN : NOT_CHOSEN;
	return f->judged[site] == CHOSEN;
}

/* ------------------------------------------------------------------ threads */

static struct pair
thread_pair(uint64_t thread)
{
	/*
	 * The sum does not overflow, because callers exclude the number 2^64 -
	 * 1.
	 */
	return (struct pair){ 0, thread + 1 };
}

static void
name_thread(struct block_filter *f, uint64_t thread, const char *name)
{
	if (thread == UINT64_MAX)
		return;
	if (!matches(&f->options->thread, name))
		pair_set_remove(&f->threads, thread_pair(thread));
	else if (!pair_set_add(&f->threads, thread_pair(thread)))
		f->has_failed = true;
}

/*
 * If the attributes of a createThread name the thread, note whether the name
 * matches a pattern.
 */
static void
note_thread(struct block_filter *f, const struct hatf_record *rec)
{
	const uint8_t *next = rec->attributes;
	const uint8_t *const end = next + rec->attributes_nbytes;
	struct hatf_attr_item item;
	char name[256];

	while (rec->attributes_nbytes != 0 && hatf_attr_next(&next, end, &item))
		if (item.key == HATF_ATTR_NAME &&
		    item.text_nbytes < sizeof(name)) {
			memcpy(name, item.text, item.text_nbytes);
			name[item.text_nbytes] = '\0';
			name_thread(f, rec->thread, name);
		}
}

/*
 * If the record is a comment "HATF thread", which renames a thread, note
 * whether the new name matches a pattern.
 */
static void
note_thread_comment(struct block_filter *f, const struct hatf_record *rec)
{
	static const char kind[] = "HATF thread\nthread=";
	static const char key[] = "\nname=";
	char text[512];
	char *name, *end;
	uint64_t thread;

	if (rec->attributes_nbytes < sizeof(kind) ||
	    rec->attributes_nbytes >= sizeof(text) ||
	    memcmp(rec->attributes, kind, sizeof(kind) - 1) != 0)
		return;
	memcpy(text, rec->attributes, rec->attributes_nbytes);
	text[rec->attributes_nbytes] = '\0';
	thread = strtoull(text + sizeof(kind) - 1, &end, 10);
	name = strstr(text, key);
	if (*end != '\n' || name == NULL)
		return;
	name += sizeof(key) - 1;
	name[strcspn(name, "\n")] = '\0';
	name_thread(f, thread, name);
}

/*
 * Find the thread that a comment "HATF event" names.  Return false if the
 * record is another comment.
 */
static bool
find_event_thread(const struct hatf_record *rec, uint64_t *thread_ret)
{
	static const char kind[] = "HATF event\nthread=";
	char text[sizeof(kind) + 24] = "";
	char *end;

	if (rec->attributes_nbytes < sizeof(kind) ||
	    memcmp(rec->attributes, kind, sizeof(kind) - 1) != 0)
		return false;
	memcpy(text, rec->attributes,
	       rec->attributes_nbytes < sizeof(text) - 1
		       ? rec->attributes_nbytes
		       : sizeof(text) - 1);
	*thread_ret = strtoull(text + sizeof(kind) - 1, &end, 10);
	return *end == '\n';
}

static bool
is_thread_chosen(const struct block_filter *f, uint64_t thread)
{
	char name[sizeof("thread 18446744073709551615")];
	const char *const number = name + strlen("thread ");

	if (f->options->thread.count == 0)
		return true;
	snprintf(name, sizeof(name), "thread %" PRIu64, thread);
	return matches(&f->options->thread, name) ||
	       matches(&f->options->thread, number) ||
	       (thread != UINT64_MAX &&
		pair_set_has(&f->threads, thread_pair(thread)));
}

/* ------------------------------------------------------------------- blocks */

/* Return whether the filter chooses the block that this record allocates. */
static bool
choose(struct block_filter *f, const struct hatf_record *rec)
{
	const bool is_chosen =
		is_thread_chosen(f, rec->thread) && is_stack_chosen(f, rec);

	f->has_judged = true;
	f->has_chosen |= is_chosen;
	return is_chosen;
}

/*
 * Note that there is a new block at this address, and whether the block is
 * chosen.
 */
static void
begin_block(struct block_filter *f, const struct hatf_record *rec,
	    bool is_chosen)
{
	const struct pair block = { rec->heap, rec->address };

	if (rec->address == 0)
		return;
	if (!is_chosen)
		pair_set_remove(&f->blocks, block);
	else if (!pair_set_add(&f->blocks, block))
		f->has_failed = true;
}

/* Note the end of a block.  Return true if the block was chosen. */
static bool
end_block(struct block_filter *f, uint64_t heap, uint64_t address)
{
	return address != 0 &&
	       pair_set_remove(&f->blocks, (struct pair){ heap, address });
}

/*
 * Is the record the alloc or the free that belongs to the most recent realloc?
 * If so, note that this alloc or free has come.
 */
static bool
is_announced(struct block_filter *f, const struct hatf_record *rec)
{
	if (rec->thread != f->realloc.thread)
		return false;
	if (rec->tag == HATF_ALLOC && f->is_alloc_announced &&
	    rec->address == f->realloc.address) {
		f->is_alloc_announced = false;
		return true;
	}
	if (rec->tag == HATF_FREE && f->is_free_announced &&
	    rec->address == f->realloc.old_address) {
		f->is_free_announced = false;
		return true;
	}
	return false;
}

static bool
keeps_realloc(struct block_filter *f, const struct hatf_record *rec)
{
	switch (rec->tag) {
	case HATF_REALLOC_ALLOC_FREE:
		f->is_realloc_kept = end_block(f, rec->heap, rec->old_address);
		begin_block(f, rec, f->is_realloc_kept);
		break;
	case HATF_REALLOC_ALLOC:
		f->is_realloc_kept = choose(f, rec);
		begin_block(f, rec, f->is_realloc_kept);
		break;
	case HATF_REALLOC_FREE:
		f->is_realloc_kept = end_block(f, rec->heap, rec->old_address);
		break;
	default:
		/*
		 * The realloc resized the block in place, or failed.  A realloc
		 * of NULL that failed is like a malloc() that failed: its
		 * thread and its stack decide whether it is chosen.
		 */
		f->is_realloc_kept =
			rec->old_address == 0
				? choose(f, rec)
				: pair_set_has(
					  &f->blocks,
					  (struct pair){ rec->heap,
							 rec->old_address });
	}
	return f->is_realloc_kept;
}

/*
 * Return whether the record of an alloc, free or realloc (tags 0 to 5) is
 * chosen, and note which blocks begin and end.
 */
static bool
keeps_call(struct block_filter *f, const struct hatf_record *rec)
{
	bool is_kept;

	if (is_announced(f, rec))
		return f->is_realloc_kept;
	f->realloc = *rec;
	f->is_alloc_announced = rec->tag == HATF_REALLOC_ALLOC_FREE ||
				rec->tag == HATF_REALLOC_ALLOC;
	f->is_free_announced = rec->tag == HATF_REALLOC_ALLOC_FREE ||
			       rec->tag == HATF_REALLOC_FREE;
	if (rec->tag == HATF_FREE)
		return end_block(f, rec->heap, rec->address);
	if (rec->tag != HATF_ALLOC)
		return keeps_realloc(f, rec);
	is_kept = choose(f, rec);
	begin_block(f, rec, is_kept);
	return is_kept;
}

bool
block_filter_keeps(struct block_filter *f, const struct hatf_record *rec)
{
	uint64_t thread;

	if (rec->tag <= HATF_REALLOC_FREE)
		return keeps_call(f, rec);
	if (rec->tag != HATF_COMMENT)
		f->is_alloc_announced = f->is_free_announced = false;
	if (f->options->thread.count == 0)
		return true;
	if (rec->tag == HATF_CREATE_THREAD)
		note_thread(f, rec);
	else if (rec->tag == HATF_COMMENT && find_event_thread(rec, &thread))
		return is_thread_chosen(f, thread);
	else if (rec->tag == HATF_COMMENT)
		note_thread_comment(f, rec);
	return true;
}
