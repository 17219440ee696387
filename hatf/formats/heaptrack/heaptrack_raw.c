/* SPDX-License-Identifier: MIT */
/*
 * heaptrack_raw.c - lines of heaptrack's raw files; see heaptrack.h
 */
#include "hatf/formats/common/call_address.h"
#include "hatf/formats/common/textio.h"
#include "hatf/formats/heaptrack/heaptrack.h"

/* Parse a line "x NAME".  NAME is the path of the program. */
const char *
heaptrack_on_exe(struct source *s, struct heaptrack_fields f)
{
	struct heaptrack *const h = s->ctx;
	struct heaptrack_fields string;

	if (!heaptrack_take_string(&f, h->has_string_lengths, true, &string))
		return "exe";
	if (heaptrack_add_name(s, &string, &h->exe))
		heaptrack_put_header(s, HEAPTRACK_HEADER_EXE, string.next,
				     (size_t)(string.end - string.next));
	return NULL;
}

/*
 * Parse OFFSET SIZE, a piece (mapped range) of an object, and add the piece to
 * h->modules.  The name and base of the object are in 'piece'.  '*first' is the
 * lowest OFFSET so far.  The trace does not say where in the object's file a
 * piece begins.  Assume that the distances between pieces are the same in the
 * object's file as in memory, which is usually true.
 */
static const char *
take_piece(struct source *s, struct heaptrack_fields *f, struct module *piece,
	   uint64_t *first)
{
	struct heaptrack *const h = s->ctx;
	enum hatf_status status;
	uint64_t offset, size;

	if (!heaptrack_take_number(f, &offset) ||
	    !heaptrack_take_number(f, &size) ||
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

/*
 * Parse a line "m NAME BASE [OFFSET SIZE]...", which describes an object that
 * is mapped in memory, or a line "m -", which removes all objects.
 */
const char *
heaptrack_on_module(struct source *s, struct heaptrack_fields f)
{
	struct heaptrack *const h = s->ctx;
	const char *fault = NULL;
	struct module piece = { .base = 0 };
	uint64_t first = UINT64_MAX;
	struct heaptrack_fields string;
	uint32_t number;
	size_t nbytes;

	if (!heaptrack_take_string(&f, h->has_string_lengths, false, &string))
		return "module";
	nbytes = (size_t)(string.end - string.next);
	if (nbytes == 1 && string.next[0] == '-') {
		modules_clear(&h->modules);
		return NULL;
	}
	if (!heaptrack_take_number(&f, &piece.base))
		return "module";
	if (!heaptrack_add_name(s, &string, &number))
		return NULL;
	/* The name "x" stands for the program. */
	if (nbytes == 1 && string.next[0] == 'x' && h->exe != 0)
		number = h->exe;
	piece.object = heaptrack_name(h, number);
	while (f.next != f.end && s->err.status == HATF_OK && fault == NULL)
		fault = take_piece(s, &f, &piece, &first);
	return fault;
}

/*
 * Call this before adding a frame that is in 'piece'.  If no comment describes
 * the piece yet, add a comment that does.
 */
static bool
add_piece(struct source *s, const struct module *piece)
{
	struct heaptrack *const h = s->ctx;
	const size_t count = h->written_modules.mappings.count;
	const enum hatf_status status = modules_add(&h->written_modules, piece);
	char buf[HEAPTRACK_NOTE_MAX];
	struct text t;

	if (status == HATF_NO_MEMORY)
		return heaptrack_fail(s, status);
	/*
	 * Add no comment if the table of pieces is full, or already contains
	 * this piece.
	 */
	if (status != HATF_OK || h->written_modules.mappings.count == count)
		return true;
	text_init(&t, buf, sizeof(buf));
	modules_describe(piece, &t);
	if (t.full)
		return true;
	h->has_record = true;
	return batch_comment(&h->batch, buf, t.used, s->offset) ||
	       heaptrack_fail(s, HATF_NO_MEMORY);
}

/*
 * Find the frame of a call at an address.  If no frame has this address yet,
 * add a frame with the object that is now mapped at the address.
 */
static bool
find_frame(struct source *s, uint64_t address, uint64_t *id_ret)
{
	struct heaptrack *const h = s->ctx;
	const struct module *const piece = modules_find(&h->modules, address);
	struct hatf_frame frame = { .address = return_address_of(address) };
	struct u64_map_entry *block;
	bool added;

	block = u64_map_put(&h->known_ips, address, &added);
	if (block == NULL)
		return heaptrack_fail(s, HATF_NO_MEMORY);
	if (added) {
		if (piece != NULL)
			frame.object = piece->object;
		if ((piece != NULL && !add_piece(s, piece)) ||
		    !heaptrack_add_frame(s, &frame, &block->value))
			return false;
	}
	*id_ret = block->value;
	return true;
}

/*
 * Parse a line "t IP PARENT".  'address' is IP, and 'stack' is the stack of
 * trace number PARENT.
 */
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
