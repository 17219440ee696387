/* SPDX-License-Identifier: MIT */
/* expand.c - see expand.h */
#include "tools/symbols/expand.h"

#include "tools/symbols/comment.h"

#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

/*
 * Frames and stacks with ids from this number on come from 'hatf symbolize',
 * from this run or an earlier one.
 */
#define FIRST_NEW_ID ((uint64_t)1 << 48)

/*
 * Maximum number of ids that one run adds.  No run needs more, because a trace
 * has at most 2^24 stacks and 2^22 frames, and each of them is replaced by at
 * most SYMBOL_LOOKUP_NAMES_MAX stacks or frames.
 */
#define NEW_IDS_MAX ((uint64_t)1 << 32)

/* Records per batch. */
#define BATCH 512

static const char frame_kind[] = "HATF frame\n";
static const char stack_kind[] = "HATF stack\n";
static const char object_kind[] = "HATF object\n";

/* A part of an object that is mapped into memory. */
struct piece {
	uint64_t address, nbytes, base;
	int object; /* number of the object in the lookup */
};

/* The ids that stand for one frame. */
struct frame {
	uint64_t id;
	/*
	 * Id of the first frame that was added around this frame.  The ids of
	 * the other added frames follow, outwards.
	 */
	uint64_t first_outer;
	uint32_t outer_count;
};

struct expand {
	struct symbol_lookup *lookup;
	/* a later piece replaces earlier ones at the same addresses */
	struct piece *pieces;
	size_t piece_count, piece_cap;
	void *frames; /* tree of struct frame, see tsearch(3) */
	void *stacks; /* tree of uint64_t: ids of defined stacks */
	uint64_t next_frame, next_stack;
	/* the addresses of frames are addresses in the files of objects */
	bool has_file_addresses;
	struct expand_counts counts;
	struct comment comment;
	char path[PATH_MAX];
};

static int
compare_ids(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t
largest_id(const char *path)
{
	static struct hatf_record records[BATCH];
	struct hatf_reader *reader;
	uint64_t id = 0;
	size_t n;

	if (hatf_reader_open(path, NULL, &reader, NULL) != HATF_OK)
		return 0;
	while (hatf_reader_read(reader, records, BATCH, &n) == HATF_OK)
		for (size_t i = 0; i < n; i++)
			if (comment_is(&records[i], frame_kind))
				id = larger(id, comment_number(&records[i],
							       "frame"));
			else if (comment_is(&records[i], stack_kind))
				id = larger(id, comment_number(&records[i],
							       "stack"));
	hatf_reader_close(reader);
	return id;
}

bool
expand_find_new_id(const char *path, uint64_t *id_ret)
{
	struct stat st;
	uint64_t id;

	if (strcmp(path, "-") == 0 ||
	    (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
		/*
		 * Use a random multiple of NEW_IDS_MAX, so that the new ids are
		 * hardly ever equal to ids that an earlier run has added to
		 * this trace.
		 */
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			return false;
		*id_ret = FIRST_NEW_ID + (id >> 33) * NEW_IDS_MAX;
		return true;
	}
	id = largest_id(path);
	*id_ret = larger(FIRST_NEW_ID, id + 1);
	return id < UINT64_MAX - NEW_IDS_MAX;
}

struct expand *
expand_open(struct symbol_lookup *lookup, uint64_t new_id)
{
	struct expand *const e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->lookup = lookup;
	e->next_frame = e->next_stack = new_id;
	return e;
}

void
expand_close(struct expand *e)
{
	if (e == NULL)
		return;
	tdestroy(e->frames, free);
	tdestroy(e->stacks, free);
	free(e->pieces);
	free(e);
}

void
expand_get_counts(const struct expand *e, struct expand_counts *ret)
{
	*ret = e->counts;
}

void
expand_note_source(struct expand *e, const struct hatf_reader *reader)
{
	static const char mtrace[] = "mtrace";
	const char *const source = hatf_reader_header(reader, "source");

	e->has_file_addresses =
		strcmp(hatf_reader_format(reader), mtrace) == 0 ||
		(source != NULL && strcmp(source, mtrace) == 0);
}

/*
 * Insert a copy of 'node', unless the tree has a node with the same id.  'node'
 * has 'nbytes' bytes and begins with its id.  Set '*is_new_ret' to whether the
 * copy was inserted.  Return the node in the tree; NULL if there is no memory.
 */
static void *
insert(void **tree, const void *node, size_t nbytes, bool *is_new_ret)
{
	void *copy = malloc(nbytes);
	void **found;

	if (copy == NULL)
		return NULL;
	memcpy(copy, node, nbytes);
	found = tsearch(copy, tree, compare_ids);
	*is_new_ret = found != NULL && *found == copy;
	if (!*is_new_ret)
		free(copy);
	return found != NULL ? *found : NULL;
}

static enum hatf_status
note_object(struct expand *e, const struct hatf_record *rec)
{
	char build_id[2 * 64 + 1] = "";
	struct piece *pieces;

	if (comment_value(rec, "object", e->path, sizeof(e->path)) <= 0)
		return HATF_OK;
	comment_value(rec, "build_id", build_id, sizeof(build_id));
	if (e->piece_count == e->piece_cap) {
		const size_t cap = e->piece_cap == 0 ? 64 : 2 * e->piece_cap;

		pieces = reallocarray(e->pieces, cap, sizeof(*pieces));
		if (pieces == NULL)
			return HATF_NO_MEMORY;
		e->pieces = pieces;
		e->piece_cap = cap;
	}
	e->pieces[e->piece_count] = (struct piece){
		.address = comment_number(rec, "address"),
		.nbytes = comment_number(rec, "size"),
		.base = comment_number(rec, "base"),
		.object = symbol_lookup_object(e->lookup, e->path, build_id),
	};
	if (e->pieces[e->piece_count].object < 0)
		return HATF_NO_MEMORY;
	e->piece_count++;
	return HATF_OK;
}

static const struct piece *
find_piece(const struct expand *e, uint64_t address)
{
	for (size_t i = e->piece_count; i > 0; i--)
		if (address - e->pieces[i - 1].address <
		    e->pieces[i - 1].nbytes)
			return &e->pieces[i - 1];
	return NULL;
}

static enum hatf_status
write_comment(struct expand *e, struct hatf_writer *writer)
{
	const struct hatf_record rec = comment_record(&e->comment);

	return hatf_writer_write(writer, &rec, 1);
}

/*
 * Write the definition of a frame.  'address' and 'object' come from the
 * trace's definition.
 */
static enum hatf_status
write_frame(struct expand *e, struct hatf_writer *writer, uint64_t id,
	    const struct symbol_lookup_name *name, uint64_t address,
	    const char *object)
{
	struct comment *const c = &e->comment;

	comment_begin(c, frame_kind);
	comment_put_number(c, "frame", id);
	if (name->line != 0)
		comment_put_number(c, "line", name->line);
	if (name->column != 0)
		comment_put_number(c, "column", name->column);
	comment_put_address(c, "address", address);
	if (name->function != NULL)
		comment_put(c, "function", name->function);
	if (name->file != NULL)
		comment_put(c, "file", name->file);
	if (object[0] != '\0')
		comment_put(c, "object", object);
	return write_comment(e, writer);
}

/*
 * Find the object of a frame with the address '*address'.  Return the number of
 * the object, and change '*address' to the address in the object's file.
 * Return a negative number if the object is unknown.
 */
static int
find_object(struct expand *e, const struct hatf_record *rec, uint64_t *address)
{
	const struct piece *const piece = find_piece(e, *address);

	if (piece != NULL) {
		*address -= piece->base;
		return piece->object;
	}
	if (!e->has_file_addresses ||
	    comment_value(rec, "object", e->path, sizeof(e->path)) <= 0)
		return -1;
	return symbol_lookup_object(e->lookup, e->path, "");
}

/*
 * Find the functions of a frame, and return their number; 0 if nothing is
 * known.  Count the frame only if its address was looked up.
 */
static size_t
look_up(struct expand *e, const struct hatf_record *rec, uint64_t address,
	struct symbol_lookup_name *names)
{
	char file[2], name[2];
	int object;

	/*
	 * Skip a frame without an address.  Also skip a frame that already has
	 * a source file, which an earlier run, or the program that wrote the
	 * trace, has found.
	 */
	if (address == 0 || comment_value(rec, "file", file, sizeof(file)) > 0)
		return 0;
	/*
	 * Skip generated code, because an object may have been mapped at this
	 * address earlier.
	 */
	if (comment_value(rec, "object", name, sizeof(name)) > 0 &&
	    name[0] == '[')
		return 0;
	object = find_object(e, rec, &address);
	if (object < 0)
		return 0;
	e->counts.frames++;
	/*
	 * Subtract 1 to look up the call instruction: 'address' is a return
	 * address, which may belong to the next line.
	 */
	return symbol_lookup_find(e->lookup, object, address - 1, names);
}

static enum hatf_status
expand_frame(struct expand *e, const struct hatf_record *rec,
	     struct hatf_writer *writer)
{
	const uint64_t address = comment_number(rec, "address");
	struct frame frame = { .id = comment_number(rec, "frame") };
	struct symbol_lookup_name names[SYMBOL_LOOKUP_NAMES_MAX];
	enum hatf_status status;
	bool is_new;
	size_t n;

	if (frame.id == 0 || frame.id >= FIRST_NEW_ID)
		return hatf_writer_write(writer, rec, 1);
	if (tfind(&frame, &e->frames, compare_ids) != NULL)
		return HATF_OK; /* the trace defined this frame before */
	n = look_up(e, rec, address, names);
	if (n > 1) {
		frame.first_outer = e->next_frame;
		frame.outer_count = (uint32_t)n - 1;
	}
	if (insert(&e->frames, &frame, sizeof(frame), &is_new) == NULL)
		return HATF_NO_MEMORY;
	if (n == 0)
		return hatf_writer_write(writer, rec, 1);
	e->counts.named += names[n - 1].function != NULL;
	e->counts.located += names[0].file != NULL;
	e->counts.inlined += n - 1;
	if (comment_value(rec, "object", e->path, sizeof(e->path)) < 0)
		e->path[0] = '\0';
	status = write_frame(e, writer, frame.id, &names[0], address, e->path);
	for (size_t i = 1; i < n && status == HATF_OK; i++)
		status = write_frame(e, writer, e->next_frame++, &names[i],
				     address, e->path);
	return status;
}

static enum hatf_status
write_stack(struct expand *e, struct hatf_writer *writer, uint64_t id,
	    uint64_t parent, uint64_t frame)
{
	struct comment *const c = &e->comment;

	comment_begin(c, stack_kind);
	comment_put_number(c, "stack", id);
	if (parent != 0)
		comment_put_number(c, "parent", parent);
	comment_put_number(c, "frame", frame);
	return write_comment(e, writer);
}

static enum hatf_status
expand_stack(struct expand *e, const struct hatf_record *rec,
	     struct hatf_writer *writer)
{
	const uint64_t id = comment_number(rec, "stack");
	const uint64_t frame_id = comment_number(rec, "frame");
	uint64_t parent = comment_number(rec, "parent");
	enum hatf_status status = HATF_OK;
	const struct frame *const *found;
	bool is_new;

	if (insert(&e->stacks, &id, sizeof(id), &is_new) == NULL)
		return HATF_NO_MEMORY;
	if (!is_new)
		return HATF_OK;
	found = tfind(&frame_id, &e->frames, compare_ids);
	if (found == NULL || (*found)->outer_count == 0)
		return hatf_writer_write(writer, rec, 1);
	for (uint32_t i = (*found)->outer_count; i > 0 && status == HATF_OK;
	     i--) {
		status = write_stack(e, writer, e->next_stack, parent,
				     (*found)->first_outer + i - 1);
		parent = e->next_stack++;
	}
	return status == HATF_OK ? write_stack(e, writer, id, parent, frame_id)
				 : status;
}

enum hatf_status
expand_write(struct expand *e, const struct hatf_record *rec,
	     struct hatf_writer *writer)
{
	enum hatf_status status = HATF_OK;

	if (__builtin_expect(rec->tag != HATF_COMMENT, 1))
		return hatf_writer_write(writer, rec, 1);
	if (comment_is(rec, frame_kind))
		return expand_frame(e, rec, writer);
	if (comment_is(rec, stack_kind))
		return expand_stack(e, rec, writer);
	if (comment_is(rec, object_kind))
		status = note_object(e, rec);
	return status == HATF_OK ? hatf_writer_write(writer, rec, 1) : status;
}
