/* SPDX-License-Identifier: MIT */
/* mtf_cursor.c - see mtf_cursor.h */
#include "hatf/metatf/trace/mtf_cursor.h"

#include <errno.h>
#include <stdlib.h>

bool
reader_no_memory(struct mtf_reader *r)
{
	return mtf_fail(&r->err, MTF_NOWHERE, MTF_NOWHERE, "no memory");
}

bool
reader_fail_source(struct mtf_reader *r, const struct byte_source *s)
{
	const char *const name = r->type != NULL ? r->type->name : "record";

	if (s->has_failed)
		return FAIL(r, "%s",
			    s->failure != NULL ? s->failure : strerror(errno));
	return FAIL(r, "%.60s: the trace ends inside this record", name);
}

void
cursor_close(struct cursor *c)
{
	if (c->has_own)
		byte_source_fini(&c->own);
	for (uint32_t i = 0;
	     c->plans != NULL && i < c->state.section->record_count; i++)
		record_plan_fini(&c->plans[i]);
	free(c->plans);
	section_state_fini(&c->state);
	*c = (struct cursor){ 0 };
}

bool
cursor_open(struct mtf_reader *r, struct cursor *c,
	    const struct schema_section *section,
	    const struct mtf_section_entry *entry)
{
	if (!section_state_init(&c->state, section))
		return reader_no_memory(r);
	c->plans = calloc(section->record_count + 1, sizeof(*c->plans));
	if (c->plans == NULL) {
		section_state_fini(&c->state);
		return reader_no_memory(r);
	}
	c->is_open = true;
	c->source = &r->outer;
	for (uint32_t i = section->record_count; i-- != 0;)
		if (section->records[i].tag <= UINT8_MAX)
			c->by_tag[section->records[i].tag] =
				&section->records[i];
	if (entry == NULL)
		return true;
	if (!byte_source_init(&c->own, r->fd, entry->start, entry->nbytes,
			      r->header->is_compressed))
		return reader_no_memory(r);
	c->has_own = true;
	c->source = &c->own;
	return true;
}

bool
cursor_is_at_end(const struct cursor *c)
{
	return !byte_source_need(c->source, 1) && !c->source->has_failed;
}

bool
reader_read_tag(struct mtf_reader *r, struct cursor *c)
{
	uint64_t tag = 0;

	r->type = NULL;
	if (c->state.section->is_plain) {
		r->type = &c->state.section->records[0];
		return true;
	}
	if (!reader_read_stored(r, c->source, r->schema->tag_width, &tag))
		return false;
	r->type = tag <= UINT8_MAX ? c->by_tag[tag]
				   : schema_record(c->state.section, tag);
	return r->type != NULL ||
	       FAIL(r, "no record of section '%.60s' has tag %llu",
		    c->state.section->number == SCHEMA_GLOBAL
			    ? "global"
			    : c->state.section->name,
		    (unsigned long long)tag);
}
