/* SPDX-License-Identifier: MIT */
/* stack_check.c - see stack_check.h */
#include "tools/check/stack_check.h"

#include <stdio.h>

bool
stack_check_begin(struct stack_check *d, const struct hatf_reader *reader)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	d->stacks = NULL;
	hatf_reader_get_stats(reader, &stats);
	/*
	 * If another producer wrote this HATF trace, check nothing, because the
	 * comments in the trace have no defined meaning.
	 */
	if (!stats.ours && !stats.foreign)
		return true;
	return hatf_stacks_open(&d->stacks) == HATF_OK;
}

void
stack_check_end(struct stack_check *d)
{
	hatf_stacks_close(d->stacks);
	d->stacks = NULL;
}

/*
 * Return the tag and the attributes of the event's first record, which may
 * define a stack or refer to one.
 */
static struct hatf_record
first_record(const struct hatf_event *e)
{
	return (struct hatf_record){
		.tag = e->tag,
		.attributes = e->attributes,
		.attributes_nbytes = e->attributes_nbytes,
	};
}

uint64_t
stack_check_stack_id(const struct hatf_event *e)
{
	const struct hatf_record rec = first_record(e);

	return hatf_record_stack(&rec);
}

/*
 * Pass the comment 'e' to hatf_stacks_note(), and return the text of a fault,
 * or NULL.  If hatf_stacks_note() refuses the comment, the comment is a
 * definition, and the word after "HATF " says what the comment defines.
 */
static const char *
note(struct stack_check *d, const struct hatf_event *e, bool *has_memory_ret)
{
	const struct hatf_record rec = first_record(e);

	switch (hatf_stacks_note(d->stacks, &rec, NULL)) {
	case HATF_OK:
		return NULL;
	case HATF_LIMIT:
		return "more frames, stacks or names than a reader accepts";
	case HATF_BAD_COMMENT:
		snprintf(d->text, sizeof(d->text), "definition of a %.5s: %s",
			 (const char *)e->attributes + sizeof("HATF ") - 1,
			 hatf_stacks_fault(d->stacks));
		return d->text;
	default:
		*has_memory_ret = false;
		return NULL;
	}
}

bool
stack_check_event(struct stack_check *d, const struct hatf_event *e,
		  const char **fault_ret)
{
	struct hatf_stack stack;
	bool has_memory = true;
	uint64_t id;

	*fault_ret = NULL;
	if (d->stacks == NULL || e->attributes_nbytes == 0)
		return true;
	if (e->kind == HATF_EVENT_COMMENT) {
		*fault_ret = note(d, e, &has_memory);
		return has_memory;
	}
	id = stack_check_stack_id(e);
	if (id != 0 && !hatf_stacks_get(d->stacks, id, &stack))
		*fault_ret = "the call's stack is not defined";
	return true;
}
