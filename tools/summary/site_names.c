/* SPDX-License-Identifier: MIT */
/* site_names.c - see site_names.h */
#include "tools/summary/site_names.h"

#include "tools/ui/cut.h"

#include <stdlib.h>
#include <string.h>

struct site_names {
	const struct hatf_stacks *stacks;
	struct stack_view *view;
	char buf[STACK_VIEW_TEXT_NBYTES];
};

struct site_names *
site_names_open(const struct hatf_stacks *stacks,
		const struct stack_view_options *options)
{
	struct site_names *const names = calloc(1, sizeof(*names));

	if (names == NULL)
		return NULL;
	names->stacks = stacks;
	names->view = stack_view_open(stacks, options);
	if (names->view == NULL) {
		free(names);
		return NULL;
	}
	return names;
}

void
site_names_close(struct site_names *names)
{
	if (names == NULL)
		return;
	stack_view_close(names->view);
	free(names);
}

void
site_names_report_wrappers(const struct site_names *names, const char *path)
{
	stack_view_report_wrappers(names->view, path);
}

uint64_t
site_names_top(struct site_names *names, uint64_t stack)
{
	return stack_view_top(names->view, stack);
}

bool
site_names_hides(const struct site_names *names, const struct hatf_frame *frame)
{
	return stack_view_hides(stack_view_options(names->view), frame);
}

const char *
site_names_frame(struct site_names *names, uint64_t frame)
{
	struct hatf_frame f = { 0 };

	hatf_stacks_get_frame(names->stacks, frame, &f);
	return stack_view_frame_text(&f, names->buf);
}

void
site_names_walk(struct site_names *names, uint64_t stack,
		void (*tell)(void *ctx, const char *frame), void *ctx)
{
	struct hatf_stack at;

	stack = site_names_top(names, stack);
	for (unsigned n = 0;
	     n < SITE_FRAMES_MAX && hatf_stacks_get(names->stacks, stack, &at);
	     n++) {
		tell(ctx, site_names_frame(names, at.frame));
		stack = stack_view_caller(names->view, stack);
	}
}

uint64_t
site_names_caller(const struct site_names *names, uint64_t stack)
{
	return stack_view_caller(names->view, stack);
}

const char *
site_names_get(struct site_names *names, uint64_t stack, enum site_part part)
{
	const uint32_t site = stack_view_site(names->view, stack);
	const char *text;
	struct hatf_frame f;
	struct cut c;

	/*
	 * Every stack of a census is defined, so a stack without a site means
	 * that there is no memory.
	 */
	if (site == 0)
		return NULL;
	if (part == SITE_PLACE)
		return stack_view_site_name(names->view, site);
	f = stack_view_site_frame(names->view, site);
	if (part == SITE_FUNCTION)
		text = f.function;
	else
		text = part == SITE_FILE ? f.file : f.object;
	if (text == NULL)
		text = "[unknown]";
	cut_begin(&c, names->buf, sizeof(names->buf));
	cut_escaped(&c, text, strlen(text));
	return cut_end(&c);
}
