/* SPDX-License-Identifier: MIT */
/* site_options.c - see site_options.h */
#include "tools/sites/site_options.h"

#include "hatf/codec/comment_text.h"
#include "hatf/codec/hatf_record.h"
#include "hatf/frames/hidden_frames.h"
#include "tools/ui/message.h"

/* The beginning of a comment that defines a stack (FORMAT.md, "Stacks"). */
static const char stack_kind[] = "HATF stack\n";

static bool
add_pattern(struct block_filter_patterns *patterns, const char *option,
	    const char *text)
{
	if (patterns->count == BLOCK_FILTER_PATTERNS_MAX) {
		message_print("%s: more than %d patterns", option,
			      BLOCK_FILTER_PATTERNS_MAX);
		return false;
	}
	patterns->texts[patterns->count++] = text;
	return true;
}

bool
site_options_take(struct site_options *o, unsigned option, const char *value)
{
	switch (option) {
	case SITE_OPTION_SITE:
		return add_pattern(&o->filter.site, "--site", value);
	case SITE_OPTION_NOT_SITE:
		return add_pattern(&o->filter.not_site, "--not-site", value);
	case SITE_OPTION_MODULE:
		return add_pattern(&o->filter.module, "--module", value);
	case SITE_OPTION_THREAD:
		return add_pattern(&o->filter.thread, "--thread", value);
	case SITE_OPTION_RAW_STACKS:
		o->view.is_raw = true;
		return true;
	default:
		o->view.fold_std = true;
		return true;
	}
}

bool
site_choice_open(struct site_choice *c, const struct site_options *options)
{
	*c = (struct site_choice){ .stacks = NULL };
	if (hatf_stacks_open(&c->stacks) == HATF_OK)
		c->view = stack_view_open(c->stacks, &options->view);
	if (c->view != NULL && block_filter_is_needed(&options->filter))
		c->filter = block_filter_open(&options->filter, c->view);
	if (c->view != NULL &&
	    (c->filter != NULL || !block_filter_is_needed(&options->filter)))
		return true;
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}

void
site_choice_close(struct site_choice *c)
{
	block_filter_close(c->filter);
	stack_view_close(c->view);
	hatf_stacks_close(c->stacks);
}

bool
site_choice_keeps(struct site_choice *c, const struct hatf_record *rec)
{
	/*
	 * Ignore a bad definition, because 'hatf verify' reports it.  The frame
	 * or stack that it should define stays unknown.
	 */
	if (rec->tag == HATF_COMMENT)
		hatf_stacks_note(c->stacks, rec, NULL);
	return c->filter == NULL || block_filter_keeps(c->filter, rec);
}

/*
 * Read the decimal value of 'key' in a definition; return false if there is
 * none.
 */
static bool
find_number(const struct hatf_record *rec, const char *key, uint64_t *n_ret)
{
	return text_find_u64((const char *)rec->attributes,
			     rec->attributes_nbytes, key, n_ret);
}

/*
 * Does the innermost frame of 'stack' belong to the recorder?  If so, set
 * '*caller_ret' to the stack without this frame.
 */
static bool
is_in_recorder(const struct hatf_stacks *stacks, uint64_t stack,
	       uint64_t *caller_ret)
{
	struct hatf_stack at;
	struct hatf_frame frame;

	if (!hatf_stacks_get(stacks, stack, &at) ||
	    !hatf_stacks_get_frame(stacks, at.frame, &frame) ||
	    !hidden_frames_is_recorder(&frame))
		return false;
	*caller_ret = at.parent;
	return true;
}

/*
 * Leave out at most one frame.  If several frames in a row belong to the
 * recorder, earlier calls have left out the others: the definition of a parent
 * comes before those of its children.
 */
void
site_choice_show_caller(const struct site_choice *c, struct hatf_record *rec,
			uint8_t *buf)
{
	uint64_t id, parent, frame;
	struct text text;

	if (stack_view_options(c->view)->is_raw ||
	    !hatf_record_comment_starts(rec, stack_kind) ||
	    !find_number(rec, "stack", &id) ||
	    !find_number(rec, "parent", &parent) ||
	    !find_number(rec, "frame", &frame) ||
	    !is_in_recorder(c->stacks, parent, &parent))
		return;
	text_init(&text, (char *)buf, SITE_CHOICE_COMMENT_NBYTES);
	text_str(&text, stack_kind);
	text_line_u64(&text, "stack", id);
	text_line_u64(&text, "parent", parent);
	text_line_u64(&text, "frame", frame);
	rec->attributes = buf;
	rec->attributes_nbytes = (uint32_t)text.used;
}

void
site_choice_show(struct site_choice *c, struct hatf_record *rec, uint8_t *buf,
		 size_t cap)
{
	const uint64_t stack = hatf_record_stack(rec);
	const uint64_t top = stack == 0 ? 0 : stack_view_top(c->view, stack);
	const uint8_t *next = rec->attributes;
	const uint8_t *end;
	struct hatf_attr_item item;
	size_t used = 0;

	if (top == 0 || top == stack)
		return;
	end = next + rec->attributes_nbytes;
	while (hatf_attr_next(&next, end, &item)) {
		if (item.key == HATF_ATTR_STACK)
			item.value = top;
		if (!hatf_attr_put(buf, cap, &used, &item))
			return;
	}
	rec->attributes = buf;
	rec->attributes_nbytes = (uint32_t)used;
}

/*
 * Return the text of a message about the filter; NULL: there is nothing to say.
 */
static const char *
remark(const struct site_choice *c)
{
	const bool folds_std = stack_view_options(c->view)->fold_std;

	if (block_filter_lacks_stacks(c->filter))
		return "the trace has no call stacks, so no site is known";
	if (block_filter_has_no_match(c->filter))
		return folds_std || !block_filter_has_sites(c->filter)
			       ? "no block matches"
			       : "no block matches" SITE_OPTIONS_FOLD_HINT;
	if (block_filter_excludes_nothing(c->filter))
		return folds_std ? "--not-site leaves out no block"
				 : "--not-site leaves out no "
				   "block" SITE_OPTIONS_FOLD_HINT;
	return NULL;
}

bool
site_choice_report(const struct site_choice *c, const char *path)
{
	const char *text;

	if (c->filter == NULL)
		return true;
	if (block_filter_has_failed(c->filter)) {
		message_print("%s: %s: the output lacks blocks",
			      message_path(path),
			      hatf_status_text(HATF_NO_MEMORY));
		return false;
	}
	text = remark(c);
	if (text != NULL)
		message_print("%s: %s", message_path(path), text);
	return true;
}
