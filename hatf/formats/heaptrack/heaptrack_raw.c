/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_raw.c - lines of heaptrack's raw files; see heaptrack.h
 */
#include "hatf/formats/common/textio.h"
#include "hatf/formats/heaptrack/heaptrack.h"

/* x NAME: of the program */
const char *
heaptrack_on_exe(struct source *s, struct fields f)
{
	struct heaptrack *const h = s->ctx;
	struct fields string;

	if (!fields_string(&f, h->is_sized, true, &string))
		return "exe";
	if (heaptrack_add_name(s, &string, &h->exe))
		heaptrack_tell_header(s, TOLD_EXE, string.next,
				      (size_t)(string.end - string.next));
	return NULL;
}

/*
 * OFFSET SIZE, a piece of an object, behind its name and base.  A file lies in memory
 * as it is on disk, from 'first' on: as a rule, which is all that can be told here.
 */
static const char *
take_piece(struct source *s, struct fields *f, struct module *piece,
	   uint64_t *first)
{
	struct heaptrack *const h = s->ctx;
	enum hatf_status status;
	uint64_t offset, size;

	if (!fields_number(f, &offset) || !fields_number(f, &size) ||
	    __builtin_add_overflow(piece->base, offset, &piece->start) ||
	    __builtin_add_overflow(piece->start, size, &piece->end))
		return "module";
	if (*first > offset)
		*first = offset;
	piece->offset = offset - *first;
	status = modules_add(&h->modules, piece);
	if (status != HATF_OK)
		source_stop(s, status, "module");
	return NULL;
}

/* m NAME BASE [OFFSET SIZE]...; or m -: there are no objects any more */
const char *
heaptrack_on_module(struct source *s, struct fields f)
{
	struct heaptrack *const h = s->ctx;
	const char *fault = NULL;
	struct module piece = { .base = 0 };
	uint64_t first = UINT64_MAX;
	struct fields string;
	uint32_t number;
	size_t nbytes;

	if (!fields_string(&f, h->is_sized, false, &string))
		return "module";
	nbytes = (size_t)(string.end - string.next);
	if (nbytes == 1 && string.next[0] == '-') {
		modules_clear(&h->modules);
		return NULL;
	}
	if (!fields_number(&f, &piece.base))
		return "module";
	if (!heaptrack_add_name(s, &string, &number))
		return NULL;
	/* The program itself. */
	if (nbytes == 1 && string.next[0] == 'x' && h->exe != 0)
		number = h->exe;
	piece.object = heaptrack_name(h, number);
	while (f.next != f.end && s->err.status == HATF_OK && fault == NULL)
		fault = take_piece(s, &f, &piece, &first);
	return fault;
}

/* Tell of a piece before the first frame that is in it. */
static bool
tell_piece(struct source *s, const struct module *piece)
{
	struct heaptrack *const h = s->ctx;
	const size_t count = h->told_modules.mappings.count;
	const enum hatf_status status = modules_add(&h->told_modules, piece);
	char buf[NOTE_TEXT_MAX];
	struct text t;

	if (status == HATF_NO_MEMORY)
		return heaptrack_refuse(s, status);
	/* There are more than anybody wants to know, or it is known. */
	if (status != HATF_OK || h->told_modules.mappings.count == count)
		return true;
	text_init(&t, buf, sizeof(buf));
	modules_describe(piece, &t);
	if (t.full)
		return true;
	h->has_record = true;
	return batch_comment(&h->batch, buf, t.used, s->offset) ||
	       heaptrack_refuse(s, HATF_NO_MEMORY);
}

/* The frame of an address, in the object that is there. */
static bool
find_frame(struct source *s, uint64_t address, uint64_t *id_ret)
{
	struct heaptrack *const h = s->ctx;
	const struct module *const piece = modules_find(&h->modules, address);
	struct hatf_frame frame = { .address = address };
	struct u64_map_entry *block;
	bool added;

	block = u64_map_put(&h->known_ips, address, &added);
	if (block == NULL)
		return heaptrack_refuse(s, HATF_NO_MEMORY);
	if (added) {
		if (piece != NULL)
			frame.object = piece->object;
		if ((piece != NULL && !tell_piece(s, piece)) ||
		    !heaptrack_add_frame(s, &frame, &block->value))
			return false;
	}
	*id_ret = block->value;
	return true;
}

/* t IP PARENT */
const char *
heaptrack_on_raw_trace(struct source *s, uint64_t address, uint64_t stack)
{
	struct heaptrack *const h = s->ctx;
	uint64_t frame = 0;

	if (address != 0 && (!find_frame(s, address, &frame) ||
			     !heaptrack_add_stack(s, frame, &stack)))
		return NULL;
	heaptrack_add_u64(s, &h->traces, stack);
	return NULL;
}
