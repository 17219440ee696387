#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if @U@_ZLIB
#include <zlib.h>
#endif

#define NO_FIELD UINT32_MAX
#define MAX_VALUES ((uint64_t)1 << 20)
#define MAX_BYTES ((uint64_t)64 << 20)
#define MAX_WIDTH ((uint64_t)1 << 20)
#define UNFINISHED UINT64_MAX
#define BUF_NBYTES ((size_t)64 << 10)

enum { KIND_NUMBER, KIND_BYTES, KIND_ELEMENT };
enum { ROLE_DATA, ROLE_COMMENT, ROLE_SECTION, ROLE_METADATA };

/* What the DTD says of a field. */
struct field_info {
	uint8_t is_tag, is_bytes, interpretation;
	uint32_t width, width_from, history;
	uint64_t args[2];
};

struct record_info {
	uint64_t tag;
	uint32_t first_field, field_count;
	uint8_t role;
	uint16_t type; /* enum @N@_type, of data */
	const char *name;
};

struct section_info {
	const char *name;
	const struct record_info *records;
	const struct field_info *fields;
	uint32_t record_count, field_count, history_count;
	uint8_t number, is_plain, is_column, has_elements;
};

/* How a field is stored now: see number_of(). */
struct field {
	uint64_t add, keep, sign, mask;
	uint32_t history, width_from, bytes_width;
	uint8_t kind, width, last_width, interpretation, shift;
	uint64_t args[2];
};

/* The fields of a section. */
struct state {
	const struct section_info *info;
	struct field *fields;
	uint64_t *previous;
};

@@TABLES@@
/* ------------------------------------------------------------------- fields */

static void
set_width(struct field *f, unsigned width)
{
	const bool stores = f->interpretation != @U@_DEFAULT &&
			    f->interpretation != @U@_STRIDE &&
			    f->interpretation != @U@_SECTION_STRIDE;
	const bool is_signed = f->interpretation == @U@_BASE_OFFSET ||
			       f->interpretation == @U@_DELTA;

	if (width != 0)
		f->last_width = (uint8_t)width;
	f->width = stores ? (uint8_t)width : 0;
	f->shift = f->width == 0 ? 63 : (uint8_t)(64 - 8 * f->width);
	f->mask = f->width == 0 ? 0 : UINT64_MAX >> f->shift;
	f->sign = is_signed && f->width != 0
			  ? (uint64_t)1 << (8 * f->width - 1)
			  : 0;
	f->keep = f->interpretation == @U@_DELTA ||
				  f->interpretation == @U@_STRIDE
			  ? UINT64_MAX
			  : 0;
	f->add = f->interpretation == @U@_DEFAULT ||
				 f->interpretation == @U@_BASE_OFFSET
			 ? f->args[0]
		 : f->interpretation == @U@_STRIDE ? f->args[1]
						   : 0;
}

static void
set_interpretation(struct state *s, struct field *f, unsigned interpretation,
		   const uint64_t args[2])
{
	f->interpretation = (uint8_t)interpretation;
	f->args[0] = args[0];
	f->args[1] = args[1];
	f->kind = interpretation == @U@_SECTION_STRIDE ? KIND_ELEMENT
						       : KIND_NUMBER;
	set_width(f, f->last_width);
	if (f->keep != 0)
		s->previous[f->history] = args[0];
}

static void
state_close(struct state *s)
{
	free(s->fields);
	free(s->previous);
	s->fields = NULL;
	s->previous = NULL;
}

static bool
state_open(struct state *s, const struct section_info *info)
{
	s->info = info;
	s->fields = calloc(info->field_count + 1, sizeof(*s->fields));
	s->previous = calloc(info->history_count + 1, sizeof(*s->previous));
	if (s->fields == NULL || s->previous == NULL) {
		state_close(s);
		return false;
	}
	for (uint32_t i = 0; i < info->field_count; i++) {
		const struct field_info *const from = &info->fields[i];
		struct field *const f = &s->fields[i];

		f->history = from->history;
		f->width_from = from->width_from;
		f->bytes_width = from->width;
		f->kind = KIND_BYTES;
		f->interpretation = @U@_NONE;
		if (from->is_bytes)
			continue;
		f->last_width = (uint8_t)from->width;
		set_interpretation(s, f, from->interpretation, from->args);
	}
	return true;
}

static const struct section_info *
find_section(uint64_t number)
{
	for (size_t i = 0; i < SECTION_COUNT; i++)
		if (sections[i].number == number)
			return &sections[i];
	return NULL;
}

static const struct record_info *
find_tag(const struct section_info *s, uint64_t tag)
{
	for (uint32_t i = 0; i < s->record_count; i++)
		if (s->records[i].tag == tag)
			return &s->records[i];
	return NULL;
}

static unsigned
argument_count(unsigned property)
{
	return property == @U@_NONE ? 0
	       : property == @U@_STRIDE || property == @U@_SECTION_STRIDE ? 2
									  : 1;
}

/* Carry out a metadata record.  Return NULL, or why it cannot be. */
static const char *
change_field(struct state *s, const struct record_info *record,
	     uint64_t position, unsigned property, const uint64_t args[2])
{
	const struct section_info *other;
	const struct field_info *info;
	struct field *f;

	if (position >= record->field_count ||
	    s->info->fields[record->first_field + position].is_tag)
		return "the record has no such field";
	info = &s->info->fields[record->first_field + position];
	f = &s->fields[record->first_field + position];
	if (property > @U@_SECTION_STRIDE)
		return "there is no such property";
	if (f->kind == KIND_BYTES) {
		if (property > @U@_NONE || args[0] > MAX_WIDTH)
			return "a field of bytes cannot be so";
		f->width_from = property == @U@_NONE ? info->width_from
						     : NO_FIELD;
		f->bytes_width = property == @U@_NONE ? info->width
						      : (uint32_t)args[0];
		return NULL;
	}
	if (property == @U@_WIDTH) {
		if (args[0] > 8)
			return "the width of a number exceeds 8";
		set_width(f, (unsigned)args[0]);
		return NULL;
	}
	if (property == @U@_SECTION_OFFSET || property == @U@_SECTION_STRIDE) {
		other = find_section(args[0]);
		if (other == NULL || other->number == 0)
			return "the section is not defined";
		if (property == @U@_SECTION_STRIDE &&
		    (other == s->info || !other->has_elements))
			return "the section has no numbers";
	}
	set_interpretation(s, f, property, args);
	return NULL;
}

/* A number of the trace. */
static uint64_t
get_number(const uint8_t *bytes, unsigned width, bool is_big)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < width; i++)
		n = n << 8 | bytes[is_big ? i : width - 1 - i];
	return n;
}

static void
set_number(uint8_t *bytes, unsigned width, bool is_big, uint64_t n)
{
	for (unsigned i = 0; i < width; i++, n >>= 8)
		bytes[is_big ? width - 1 - i : i] = (uint8_t)n;
}

/* ------------------------------------------------------------------ sources */

/* The bytes of a section or of the file. */
struct source {
	int fd;
	uint64_t offset, end_offset, end_position;
	uint8_t *buf;
	const uint8_t *next, *end;
#if @U@_ZLIB
	z_stream zlib;
	uint8_t *in;
	bool has_ended;
#endif
	bool is_compressed, has_failed;
};

struct chunk {
	struct chunk *next;
	size_t nbytes;
	uint64_t content[];
};

/* A section that is being read. */
struct cursor {
	struct state state;
	struct source own, *source;
	bool is_open, has_own, is_busy, is_held;
	uint64_t held, skipped_count;
	const struct record_info *by_tag[256];
};

struct @N@_reader {
	int fd;
	bool is_big, is_compressed, is_between, has_failed;
	unsigned int_nbytes;
	uint64_t file_nbytes, start, record_count, expected_count, position;
	uint64_t value_count, byte_count;
	struct {
		uint64_t start, nbytes;
		bool is_listed;
	} index[256];
	struct source outer;
	struct cursor cursors[SECTION_COUNT], columns[SECTION_COUNT];
	struct cursor *current;
	const char *name; /* of the record that is being read */
	struct chunk *chunks;
	size_t left;
	char error[300];
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
fail(struct @N@_reader *r, const char *format, ...)
{
	char text[200];
	va_list args;

	if (r->has_failed)
		return false;
	r->has_failed = true;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(r->error, sizeof(r->error), "offset 0x%llx, record %llu: %s",
		 (unsigned long long)r->position,
		 (unsigned long long)r->record_count, text);
	return false;
}

static void
source_close(struct source *s)
{
#if @U@_ZLIB
	if (s->in != NULL)
		inflateEnd(&s->zlib);
	free(s->in);
#endif
	free(s->buf);
	memset(s, 0, sizeof(*s));
}

static bool
source_open(struct source *s, int fd, uint64_t offset, uint64_t nbytes,
	    bool is_compressed)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->offset = offset;
	s->end_offset = offset + nbytes;
	s->end_position = is_compressed ? 0 : offset;
	s->is_compressed = is_compressed;
	s->buf = malloc(2 * BUF_NBYTES);
	s->next = s->end = s->buf;
	if (s->buf == NULL)
		return false;
#if @U@_ZLIB
	if (is_compressed) {
		s->in = malloc(BUF_NBYTES);
		if (s->in == NULL || inflateInit2(&s->zlib, 31) != Z_OK) {
			free(s->in);
			s->in = NULL;
			source_close(s);
			return false;
		}
	}
#endif
	return true;
}

static size_t
read_file(struct source *s, uint8_t *to, size_t most)
{
	ssize_t n;

	if (s->end_offset - s->offset < most)
		most = (size_t)(s->end_offset - s->offset);
	do
		n = pread(s->fd, to, most, (off_t)s->offset);
	while (n < 0 && errno == EINTR);
	s->has_failed |= n < 0;
	if (n <= 0)
		return 0;
	s->offset += (uint64_t)n;
	return (size_t)n;
}

#if @U@_ZLIB
static size_t
read_compressed(struct source *s, uint8_t *to, size_t most)
{
	int result = Z_OK;

	s->zlib.next_out = to;
	s->zlib.avail_out = (uInt)most;
	while (s->zlib.avail_out == most && !s->has_ended && result == Z_OK) {
		if (s->zlib.avail_in == 0) {
			s->zlib.next_in = s->in;
			s->zlib.avail_in = (uInt)read_file(s, s->in, BUF_NBYTES);
			if (s->zlib.avail_in == 0)
				break;
		}
		result = inflate(&s->zlib, Z_NO_FLUSH);
		s->has_ended = result == Z_STREAM_END;
	}
	s->has_failed |= result != Z_OK && result != Z_STREAM_END;
	return most - s->zlib.avail_out;
}
#endif

/* Make 'nbytes' bytes, at most BUF_NBYTES, available at 'next'. */
static bool
source_fill(struct source *s, size_t nbytes)
{
	size_t kept = (size_t)(s->end - s->next), n;

	memmove(s->buf, s->next, kept);
	s->next = s->buf;
	s->end = s->buf + kept;
	while (kept < nbytes && !s->has_failed) {
#if @U@_ZLIB
		if (s->is_compressed)
			n = read_compressed(s, s->buf + kept, BUF_NBYTES);
		else
#endif
			n = read_file(s, s->buf + kept, BUF_NBYTES);
		if (n == 0)
			return false;
		kept += n;
		s->end = s->buf + kept;
		s->end_position += n;
	}
	return kept >= nbytes;
}

static bool
source_need(struct source *s, size_t nbytes)
{
	return (size_t)(s->end - s->next) >= nbytes || source_fill(s, nbytes);
}

static bool
fail_source(struct @N@_reader *r, const struct source *s)
{
	if (s->has_failed)
		return fail(r, s->is_compressed
				       ? "the compressed data cannot be read"
				       : "the file cannot be read");
	return fail(r, "%s: the trace ends in this record", r->name);
}

/* ------------------------------------------------------------------- values */

/* Allocate memory for the record that is being read. */
static void *
reader_get(struct @N@_reader *r, size_t nbytes)
{
	const size_t rounded = (nbytes + 7) / 8 * 8;
	struct chunk *c = r->chunks;
	uint8_t *p;

	if (c == NULL || rounded > r->left) {
		const size_t size = rounded > 4096 ? rounded : 4096;

		c = malloc(sizeof(*c) + size);
		if (c == NULL) {
			fail(r, "no memory");
			return NULL;
		}
		c->next = r->chunks;
		c->nbytes = size;
		r->chunks = c;
		r->left = size;
	}
	p = (uint8_t *)c->content + (c->nbytes - r->left);
	r->left -= rounded;
	return p;
}

/* Free the memory of the last record, but for one chunk. */
static void
reader_forget(struct @N@_reader *r)
{
	while (r->chunks != NULL && r->chunks->next != NULL) {
		struct chunk *const next = r->chunks->next;

		free(r->chunks);
		r->chunks = next;
	}
	r->left = r->chunks != NULL ? r->chunks->nbytes : 0;
	r->value_count = r->byte_count = 0;
}

/* The formula of all interpretations. */
static inline uint64_t
number_of(const struct state *s, const struct field *f, uint64_t stored)
{
	return f->add + (f->keep & s->previous[f->history]) +
	       ((stored ^ f->sign) - f->sign);
}

static bool
read_stored_slow(struct @N@_reader *r, struct source *s, unsigned width,
		 uint64_t *n_ret)
{
	*n_ret = 0;
	if (!source_need(s, width))
		return fail_source(r, s);
	*n_ret = get_number(s->next, width, r->is_big);
	s->next += width;
	return true;
}

static bool read_element(struct @N@_reader *r, const struct field *f,
			 uint64_t *n_ret);

static inline bool
read_number(struct @N@_reader *r, struct cursor *c, const struct field *f,
	    uint64_t *n_ret)
{
	struct source *const s = c->source;
	uint64_t stored;

	if (f->kind != KIND_NUMBER)
		return read_element(r, f, n_ret);
	if ((size_t)(s->end - s->next) >= 8) {
		const uint8_t *const p = s->next;
		const uint64_t little =
			(uint64_t)p[0] | (uint64_t)p[1] << 8 |
			(uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
			(uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 |
			(uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
		const uint64_t big =
			(uint64_t)p[7] | (uint64_t)p[6] << 8 |
			(uint64_t)p[5] << 16 | (uint64_t)p[4] << 24 |
			(uint64_t)p[3] << 32 | (uint64_t)p[2] << 40 |
			(uint64_t)p[1] << 48 | (uint64_t)p[0] << 56;

		stored = (r->is_big ? big >> f->shift : little) & f->mask;
		s->next += f->width;
	} else if (!read_stored_slow(r, s, f->width, &stored)) {
		return false;
	}
	*n_ret = number_of(&c->state, f, stored);
	c->state.previous[f->history] = *n_ret;
	return true;
}

/* Read bytes piece by piece: a length without the bytes takes no memory. */
static bool
read_bytes(struct @N@_reader *r, struct cursor *c, uint64_t nbytes,
	   struct @N@_bytes *bytes)
{
	struct source *const s = c->source;
	uint8_t *to = NULL, *bigger;
	size_t done = 0, room = 0;

	bytes->bytes = (const uint8_t *)"";
	bytes->nbytes = (size_t)nbytes;
	if (nbytes == 0)
		return true;
	if (nbytes > MAX_BYTES - r->byte_count)
		return fail(r, "%s: too many bytes", r->name);
	r->byte_count += nbytes;
	while (done < nbytes) {
		size_t n = (size_t)nbytes - done;

		if (!source_need(s, 1))
			return fail_source(r, s);
		if ((size_t)(s->end - s->next) < n)
			n = (size_t)(s->end - s->next);
		if (done + n > room) {
			room = done == 0 ? n : 2 * (done + n);
			if (room > nbytes)
				room = (size_t)nbytes;
			bigger = reader_get(r, room);
			if (bigger == NULL)
				return false;
			if (done != 0)
				memcpy(bigger, to, done);
			to = bigger;
		}
		memcpy(to + done, s->next, n);
		s->next += n;
		done += n;
	}
	bytes->bytes = to;
	return true;
}

/* The width of bytes, unless another field tells it. */
static inline uint64_t
width_of(const struct field *f, uint64_t told)
{
	return f->width_from != NO_FIELD ? told : f->bytes_width;
}

static inline bool
check_count(struct @N@_reader *r, uint64_t count)
{
	if (count > MAX_VALUES - r->value_count)
		return fail(r, "%s: too many values", r->name);
	r->value_count += count;
	return true;
}

static inline bool
check_value(struct @N@_reader *r, const char *field, uint64_t got,
	    uint64_t want)
{
	return got == want ||
	       fail(r, "%s: field %s is %llu, not %llu", r->name, field,
		    (unsigned long long)got, (unsigned long long)want);
}

/* ------------------------------------------------------------------ writing */

/* A section that is being written. */
struct part {
	struct state state;
	FILE *file;
	uint8_t *buf;
	size_t used, capacity, start; /* 'start': of this record */
	/* How many numbers the last stride skips, now and before the record. */
	uint64_t skipped_count, skipped_before;
	uint64_t nbytes;	      /* in the file */
	bool is_open;
#if @U@_ZLIB
	z_stream zlib;
	bool has_zlib;
#endif
};

struct undo {
	struct part *part;
	uint32_t history;
	uint64_t previous;
};

struct @N@_writer {
	int fd;
	unsigned flags;
	struct part parts[SECTION_COUNT];
	uint64_t record_count;
	struct undo *undos;
	size_t undo_count, undo_capacity;
	/* The field that cannot say its value, if there is one. */
	struct part *misfit_part;
	const struct record_info *misfit_record;
	uint32_t misfit_field;
	uint64_t misfit, misfit_told;
	unsigned repair_count; /* of this record */
	bool has_failed;
	char error[300];
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
refuse(struct @N@_writer *w, const char *format, ...)
{
	va_list args;

	if (w->has_failed)
		return false;
	w->has_failed = true;
	va_start(args, format);
	vsnprintf(w->error, sizeof(w->error), format, args);
	va_end(args);
	return false;
}

/* Return room for 'nbytes' bytes.  NULL: failed. */
static uint8_t *
part_room(struct @N@_writer *w, struct part *p, size_t nbytes)
{
	size_t capacity = p->capacity == 0 ? 2 * BUF_NBYTES : p->capacity;
	uint8_t *bigger;

	while (capacity - p->used < nbytes)
		capacity *= 2;
	if (capacity != p->capacity) {
		bigger = realloc(p->buf, capacity);
		if (bigger == NULL) {
			refuse(w, "no memory");
			return NULL;
		}
		p->buf = bigger;
		p->capacity = capacity;
	}
	return p->buf + p->used;
}

static bool
part_number(struct @N@_writer *w, struct part *p, unsigned width, uint64_t n)
{
	uint8_t *const room = part_room(w, p, 8);

	if (room == NULL)
		return false;
	set_number(room, width, w->flags & @U@_BIG_ENDIAN, n);
	p->used += width;
	return true;
}

static bool
note_undo(struct @N@_writer *w, struct part *p, uint32_t history)
{
	if (w->undo_count == w->undo_capacity) {
		const size_t capacity =
			w->undo_capacity == 0 ? 64 : 2 * w->undo_capacity;
		struct undo *const bigger =
			realloc(w->undos, capacity * sizeof(*bigger));

		if (bigger == NULL)
			return refuse(w, "no memory");
		w->undos = bigger;
		w->undo_capacity = capacity;
	}
	w->undos[w->undo_count].part = p;
	w->undos[w->undo_count].history = history;
	w->undos[w->undo_count++].previous = p->state.previous[history];
	return true;
}

static bool put_element(struct @N@_writer *w, const struct field *f,
			uint64_t n);

/* Write a number.  False: failed, or a misfit. */
static inline bool
put_number(struct @N@_writer *w, struct part *p,
	   const struct record_info *record, uint32_t position, uint64_t n)
{
	struct field *const f =
		&p->state.fields[record->first_field + position];
	const uint64_t stored =
		n - f->add - (f->keep & p->state.previous[f->history]);

	if (f->kind != KIND_NUMBER) {
		if (put_element(w, f, n))
			return true;
		/* A section without tags cannot change: leave it. */
		if (w->misfit_part == NULL ||
		    !w->misfit_part->state.info->is_plain)
			return false;
		w->misfit_part = p;
		w->misfit_record = record;
		w->misfit_field = position;
		w->misfit = n;
		return false;
	}
	if (((stored + f->sign) & ~f->mask) != 0) {
		w->misfit_part = p;
		w->misfit_record = record;
		w->misfit_field = position;
		w->misfit = n;
		return false;
	}
	if (!note_undo(w, p, f->history) ||
	    !part_number(w, p, f->width, stored))
		return false;
	p->state.previous[f->history] = n;
	return true;
}

/* Write bytes; 'told' is what the field says that tells their number. */
static inline bool
put_bytes(struct @N@_writer *w, struct part *p,
	  const struct record_info *record, uint32_t position, uint64_t told,
	  const struct @N@_bytes *bytes)
{
	const struct field *const f =
		&p->state.fields[record->first_field + position];
	const uint64_t width = width_of(f, told);
	uint8_t *room;

	if (bytes->nbytes != width) {
		w->misfit_part = p;
		w->misfit_record = record;
		w->misfit_field = position;
		w->misfit = bytes->nbytes;
		w->misfit_told = told;
		return false;
	}
	room = part_room(w, p, bytes->nbytes);
	if (room == NULL)
		return false;
	if (width != 0)
		memcpy(room, bytes->bytes, bytes->nbytes);
	p->used += bytes->nbytes;
	return true;
}

static bool
put_tag(struct @N@_writer *w, struct part *p, const struct record_info *record)
{
	return part_number(w, p, TAG_WIDTH, record->tag);
}

/* ------------------------------------------------------------------ records */

@@RECORDS@@
/* ------------------------------------------------------------- the reader */

static bool
read_plain(struct @N@_reader *r, struct cursor *c, unsigned width,
	   uint64_t *n_ret)
{
	return read_stored_slow(r, c->source, width, n_ret);
}

static bool
read_tag(struct @N@_reader *r, struct cursor *c,
	 const struct record_info **record_ret)
{
	uint64_t tag;

	r->name = "record";
	*record_ret = &c->state.info->records[0];
	if (c->state.info->is_plain)
		return true;
	if (!read_plain(r, c, TAG_WIDTH, &tag))
		return false;
	*record_ret = tag < 256 ? c->by_tag[tag] : find_tag(c->state.info, tag);
	if (*record_ret == NULL)
		return fail(r, "no record of section %s has tag %llu",
			    c->state.info->number == 0 ? "global"
						       : c->state.info->name,
			    (unsigned long long)tag);
	r->name = (*record_ret)->name;
	return true;
}

static bool
read_metadata(struct @N@_reader *r, struct cursor *c)
{
	uint64_t tag, position, property, args[2] = { 0, 0 };
	const struct record_info *record;
	const char *why;

	if (!read_plain(r, c, TAG_WIDTH, &tag) ||
	    !read_plain(r, c, 1, &position) || !read_plain(r, c, 1, &property))
		return false;
	if (property > @U@_SECTION_STRIDE)
		return fail(r, "metadata: there is no property %u",
			    (unsigned)property);
	for (unsigned i = 0; i < argument_count((unsigned)property); i++) {
		if (!read_plain(r, c, r->int_nbytes, &args[i]))
			return false;
		if (i == 1 && r->int_nbytes == 4)
			args[i] = (uint64_t)(int64_t)(int32_t)args[i];
	}
	record = find_tag(c->state.info, tag);
	if (record == NULL || record->role != ROLE_DATA)
		return fail(r, "metadata: no data record has tag %llu",
			    (unsigned long long)tag);
	why = change_field(&c->state, record, position, (unsigned)property,
			   args);
	return why == NULL || fail(r, "metadata for %s, field %u: %s",
				   record->name, (unsigned)position, why);
}

static bool
read_comment(struct @N@_reader *r, struct cursor *c, struct @N@_comment *x)
{
	uint64_t nbytes;

	return read_plain(r, c, 1, &nbytes) &&
	       read_bytes(r, c, nbytes, &x->text);
}

static void
cursor_close(struct cursor *c)
{
	if (c->has_own)
		source_close(&c->own);
	state_close(&c->state);
	memset(c, 0, sizeof(*c));
}

/* Begin to read a section from its own place, or from the file as it goes. */
static bool
cursor_open(struct @N@_reader *r, struct cursor *c,
	    const struct section_info *info)
{
	if (!state_open(&c->state, info))
		return fail(r, "no memory");
	c->is_open = true;
	c->source = &r->outer;
	for (uint32_t i = info->record_count; i-- != 0;)
		if (info->records[i].tag < 256)
			c->by_tag[info->records[i].tag] = &info->records[i];
	if (info->number == 0 || !r->index[info->number].is_listed)
		return true;
	if (!source_open(&c->own, r->fd, r->index[info->number].start,
			 r->index[info->number].nbytes, r->is_compressed))
		return fail(r, "no memory");
	c->has_own = true;
	c->source = &c->own;
	return true;
}

static bool
next_element(struct @N@_reader *r, struct cursor *c, uint64_t *n_ret)
{
	const struct record_info *const data = &c->state.info->records[0];
	const uint32_t position = c->state.info->fields[0].is_tag;
	const struct record_info *record;
	struct @N@_comment comment;

	for (;;) {
		if (!source_need(c->source, 1))
			return fail(r, "section %s has no more numbers",
				    c->state.info->name);
		if (!read_tag(r, c, &record))
			return false;
		if (record == data)
			return read_number(r, c,
					   &c->state.fields[data->first_field +
							    position],
					   n_ret);
		if (record->role == ROLE_METADATA ? !read_metadata(r, c)
		    : record->role == ROLE_COMMENT
			    ? !read_comment(r, c, &comment)
			    : !fail(r, "a section record inside a section"))
			return false;
	}
}

static bool
read_element(struct @N@_reader *r, const struct field *f, uint64_t *n_ret)
{
	const struct section_info *const info = find_section(f->args[0]);
	struct cursor *const c = &r->columns[info - sections];
	const char *const name = r->name;

	if (!r->index[info->number].is_listed)
		return fail(r, "the header does not list section %s",
			    info->name);
	if (!c->is_open && !cursor_open(r, c, info))
		return false;
	if (c->is_busy)
		return fail(r, "section %s takes numbers from itself",
			    info->name);
	c->is_busy = true;
	for (; !c->is_held && c->skipped_count != 0; c->skipped_count--)
		if (!next_element(r, c, n_ret))
			return false;
	if (c->is_held)
		*n_ret = c->held;
	else if (!next_element(r, c, n_ret))
		return false;
	c->is_held = f->args[1] == 0;
	c->held = *n_ret;
	c->skipped_count = c->is_held ? 0 : f->args[1] - 1;
	c->is_busy = false;
	r->name = name;
	return true;
}

static bool
enter_section(struct @N@_reader *r, uint64_t number)
{
	const struct section_info *const info = find_section(number);
	struct cursor *c;

	if (info == NULL || number == 0)
		return fail(r, "section %u is not defined", (unsigned)number);
	c = &r->cursors[info - sections];
	if (c->is_open)
		return fail(r, "section %s comes twice", info->name);
	if (!r->index[number].is_listed && (info->is_plain || r->is_compressed))
		return fail(r, "the header does not list section %s",
			    info->name);
	if (r->index[number].is_listed &&
	    r->index[number].start !=
		    r->outer.end_position -
			    (uint64_t)(r->outer.end - r->outer.next))
		return fail(r, "section %s does not start where the header "
			       "says",
			    info->name);
	if (!cursor_open(r, c, info))
		return false;
	r->current = c;
	r->is_between = false;
	return true;
}

/* Leave the section if it has ended, or others take its numbers. */
static bool
leave_sections(struct @N@_reader *r)
{
	struct cursor *c = r->current;
	uint64_t end;

	while (c->has_own &&
	       (c->state.info->is_column ||
		r->columns[c->state.info - sections].is_open ||
		(!source_need(c->source, 1) && !c->source->has_failed))) {
		end = r->index[c->state.info->number].start +
		      r->index[c->state.info->number].nbytes;
		source_close(&c->own);
		c->has_own = false;
		c = r->current = &r->cursors[0];
		r->is_between = true;
		source_close(&r->outer);
		if (!source_open(&r->outer, r->fd, end, r->file_nbytes - end,
				 false))
			return fail(r, "no memory");
	}
	return true;
}

bool
@N@_reader_next(struct @N@_reader *r, struct @N@_record *record)
{
	const struct record_info *info;
	struct cursor *c;
	uint64_t number;

	while (!r->has_failed && leave_sections(r)) {
		c = r->current;
		r->position = c->source->end_position -
			      (uint64_t)(c->source->end - c->source->next);
		reader_forget(r);
		if (!source_need(c->source, 1)) {
			if (c->source->has_failed)
				fail_source(r, c->source);
			else if (r->expected_count != UNFINISHED &&
				 r->expected_count != r->record_count)
				fail(r, "the header says %llu records",
				     (unsigned long long)r->expected_count);
			return false;
		}
		if (!read_tag(r, c, &info))
			return false;
		if (r->is_between && info->role != ROLE_SECTION &&
		    info->role != ROLE_COMMENT)
			return fail(r, "expected a section record after a "
				       "section");
		record->section = (enum @N@_section)c->state.info->number;
		record->offset = r->position;
		switch (info->role) {
		case ROLE_METADATA:
			if (!read_metadata(r, c))
				return false;
			break;
		case ROLE_SECTION:
			if (!read_plain(r, c, 1, &number) ||
			    !enter_section(r, number))
				return false;
			break;
		case ROLE_COMMENT:
			record->type = @U@_TYPE_COMMENT;
			return read_comment(r, c, &record->u.comment);
		default:
			record->type = (enum @N@_type)info->type;
			if (!read_data(r, c, info, record))
				return false;
			r->record_count++;
			return true;
		}
	}
	return false;
}

/* Read the header.  False: it is none, or is damaged. */
static bool
read_header(struct @N@_reader *r)
{
	uint8_t b[16 + 3 * 8 + 255 + 256 * 24];
	const ssize_t got = pread(r->fd, b, sizeof(b), 0);
	const size_t nbytes = got > 0 ? (size_t)got : 0;
	uint64_t count, number;
	size_t at, n;

	if (nbytes < 16 || memcmp(b, "\177MTF", 4) != 0 || b[4] < 1 ||
	    b[4] > 2 || b[5] < 1 || b[5] > 2 || b[7] > 1)
		return false;
	for (unsigned i = 8; i < 16; i++)
		if (b[i] != 0)
			return false;
	n = r->int_nbytes = b[4] == 1 ? 4 : 8;
	r->is_big = b[5] == 2;
	r->is_compressed = b[7] == 1;
	at = 16 + 3 * n + b[6];
	if (nbytes < at)
		return false;
	count = get_number(b + 16, (unsigned)n, r->is_big);
	r->start = get_number(b + 16 + n, (unsigned)n, r->is_big);
	r->expected_count = get_number(b + 16 + 2 * n, (unsigned)n, r->is_big);
	if (n == 4 && r->expected_count == UINT32_MAX)
		r->expected_count = UNFINISHED;
	if (count > 256 || count > (nbytes - at) / (3 * n) ||
	    r->start > r->file_nbytes)
		return false;
	for (; count != 0; count--, at += 3 * n) {
		number = get_number(b + at, (unsigned)n, r->is_big);
		if (number > 255 || r->index[number].is_listed)
			return false;
		r->index[number].is_listed = true;
		r->index[number].start =
			get_number(b + at + n, (unsigned)n, r->is_big);
		r->index[number].nbytes =
			get_number(b + at + 2 * n, (unsigned)n, r->is_big);
		if (r->index[number].start > r->file_nbytes ||
		    r->index[number].nbytes >
			    r->file_nbytes - r->index[number].start)
			return false;
	}
	return @U@_ZLIB || !r->is_compressed;
}

struct @N@_reader *
@N@_reader_open(const char *path)
{
	struct @N@_reader *const r = calloc(1, sizeof(*r));
	struct stat st;

	if (r == NULL)
		return NULL;
	r->current = &r->cursors[0];
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st) != 0) {
		@N@_reader_close(r);
		return NULL;
	}
	r->file_nbytes = (uint64_t)st.st_size;
	if (!read_header(r)) {
		@N@_reader_close(r);
		errno = EINVAL;
		return NULL;
	}
	if (!source_open(&r->outer, r->fd, r->start, r->file_nbytes - r->start,
			 false) ||
	    !cursor_open(r, &r->cursors[0], &sections[0])) {
		@N@_reader_close(r);
		errno = ENOMEM;
		return NULL;
	}
	return r;
}

void
@N@_reader_close(struct @N@_reader *r)
{
	const int saved_errno = errno;

	if (r == NULL)
		return;
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		cursor_close(&r->cursors[i]);
		cursor_close(&r->columns[i]);
	}
	source_close(&r->outer);
	reader_forget(r);
	free(r->chunks);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
	errno = saved_errno;
}

const char *
@N@_reader_error(const struct @N@_reader *r)
{
	return r->has_failed ? r->error : NULL;
}

bool
@N@_reader_is_complete(const struct @N@_reader *r)
{
	return r->expected_count != UNFINISHED;
}

/* ------------------------------------------------------------- the writer */

/* Write 'nbytes' bytes of the buffer of a part to its file. */
static void
part_write(struct @N@_writer *w, struct part *p, const uint8_t *bytes,
	   size_t nbytes)
{
	if (nbytes != 0 && fwrite(bytes, 1, nbytes, p->file) != nbytes)
		refuse(w, "%s", strerror(errno));
	p->nbytes += nbytes;
}

/* Empty the buffer of a part; 'is_end': there is no more. */
static void
part_flush(struct @N@_writer *w, struct part *p, bool is_end)
{
#if @U@_ZLIB
	uint8_t out[4096];

	if (p->has_zlib) {
		p->zlib.next_in = p->buf;
		p->zlib.avail_in = (uInt)p->used;
		do {
			p->zlib.next_out = out;
			p->zlib.avail_out = sizeof(out);
			deflate(&p->zlib, is_end ? Z_FINISH : Z_NO_FLUSH);
			part_write(w, p, out,
				   sizeof(out) - p->zlib.avail_out);
		} while (p->zlib.avail_out == 0);
		p->used = 0;
		return;
	}
#endif
	(void)is_end;
	part_write(w, p, p->buf, p->used);
	p->used = 0;
}

/* Return the part of a section, opened.  NULL: failed. */
static struct part *
part_of(struct @N@_writer *w, uint64_t number)
{
	const struct section_info *const info = find_section(number);
	struct part *const p = info != NULL ? &w->parts[info - sections] : NULL;

	if (w->has_failed)
		return NULL;
	if (p == NULL) {
		refuse(w, "there is no section %u", (unsigned)number);
		return NULL;
	}
	if (p->is_open)
		return p;
	p->file = tmpfile();
	if (p->file == NULL || !state_open(&p->state, info)) {
		refuse(w, "%s", strerror(errno));
		return NULL;
	}
#if @U@_ZLIB
	if ((w->flags & @U@_COMPRESSED) != 0 && number != 0) {
		p->has_zlib = deflateInit2(&p->zlib, 9, Z_DEFLATED, 31, 9,
					   Z_DEFAULT_STRATEGY) == Z_OK;
		if (!p->has_zlib) {
			refuse(w, "no memory");
			return NULL;
		}
	}
#endif
	p->is_open = true;
	return part_room(w, p, 1) != NULL ? p : NULL;
}

static const struct record_info *
predefined(const struct section_info *s, unsigned role)
{
	for (uint32_t i = s->record_count; i-- != 0;)
		if (s->records[i].role == role)
			return &s->records[i];
	return NULL;
}

static bool
put_metadata(struct @N@_writer *w, struct part *p,
	     const struct record_info *record, uint64_t position,
	     unsigned property, const uint64_t args[2])
{
	const struct record_info *const metadata =
		predefined(p->state.info, ROLE_METADATA);
	const unsigned width = (w->flags & @U@_32_BIT) != 0 ? 4 : 8;
	const char *why;

	if (metadata == NULL || position > 255)
		return refuse(w, "%s: no metadata record can name field %u",
			      record->name, (unsigned)position);
	why = change_field(&p->state, record, position, property, args);
	if (why != NULL)
		return refuse(w, "metadata for %s, field %u: %s", record->name,
			      (unsigned)position, why);
	if (!put_tag(w, p, metadata) || !put_tag(w, p, record) ||
	    !part_number(w, p, 1, position) || !part_number(w, p, 1, property))
		return false;
	for (unsigned i = 0; i < argument_count(property); i++) {
		if (width == 4 &&
		    args[i] != (i == 1 ? (uint64_t)(int64_t)(int32_t)args[i]
				       : (uint32_t)args[i]))
			return refuse(w, "metadata for %s: the class has 32 "
					 "bits",
				      record->name);
		if (!part_number(w, p, width, args[i]))
			return false;
	}
	return true;
}

/* From here on, what is written can be taken back. */
static void
start_record(struct @N@_writer *w)
{
	w->undo_count = 0;
	w->misfit_part = NULL;
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		w->parts[i].start = w->parts[i].used;
		w->parts[i].skipped_before = w->parts[i].skipped_count;
	}
}

static void
begin_record(struct @N@_writer *w)
{
	w->repair_count = 0;
	start_record(w);
}

/*
 * A record could not be written: take it back.  If a field could not say its
 * value, make it able to and return true: the caller tries again.
 */
static bool
repair_record(struct @N@_writer *w)
{
	static const uint64_t none[2] = { 0, 0 };
	struct part *const p = w->misfit_part;
	uint64_t width[2] = { 1, 0 };
	const struct field *f;

	if (p == NULL || w->has_failed)
		return false;
	while (w->undo_count != 0) {
		const struct undo *const u = &w->undos[--w->undo_count];

		u->part->state.previous[u->history] = u->previous;
	}
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		w->parts[i].used = w->parts[i].start;
		w->parts[i].skipped_count = w->parts[i].skipped_before;
	}
	f = &p->state.fields[w->misfit_record->first_field + w->misfit_field];
	while (width[0] < 8 && w->misfit >> (8 * width[0]) != 0)
		width[0] *= 2;
	if (p->state.info->is_plain || ++w->repair_count > 10000)
		return refuse(w, "%s: %llu does not fit its field",
			      w->misfit_record->name,
			      (unsigned long long)w->misfit);
	if (f->kind == KIND_BYTES) {
		width[0] = w->misfit;
		if (!put_metadata(w, p, w->misfit_record, w->misfit_field,
				  f->width_from == NO_FIELD &&
						  w->misfit == w->misfit_told
					  ? @U@_NONE
					  : @U@_WIDTH,
				  width))
			return false;
		start_record(w);
		return true;
	}
	if (f->interpretation != @U@_NONE &&
	    f->interpretation != @U@_SECTION_OFFSET &&
	    !put_metadata(w, p, w->misfit_record, w->misfit_field, @U@_NONE,
			  none))
		return false;
	if (f->width < width[0] &&
	    !put_metadata(w, p, w->misfit_record, w->misfit_field, @U@_WIDTH,
			  width))
		return false;
	start_record(w);
	return true;
}

static bool
end_record(struct @N@_writer *w, const struct part *p)
{
	if (w->has_failed)
		return false;
	w->record_count += !p->state.info->is_column;
	for (size_t i = 0; i < SECTION_COUNT; i++)
		if (w->parts[i].used > BUF_NBYTES)
			part_flush(w, &w->parts[i], false);
	return !w->has_failed;
}

/*
 * Append a number to the section that a field takes it from.  A stride above 1
 * skips numbers: any will do.
 */
static bool
put_element(struct @N@_writer *w, const struct field *f, uint64_t n)
{
	struct part *const p = part_of(w, f->args[0]);
	const struct record_info *record;
	uint32_t position;

	if (p == NULL)
		return false;
	if (f->args[1] == 0 || f->args[1] > MAX_VALUES)
		return refuse(w, "stride %llu cannot be written",
			      (unsigned long long)f->args[1]);
	record = &p->state.info->records[0];
	position = p->state.info->fields[0].is_tag;
	for (uint64_t i = 0; i <= p->skipped_count; i++)
		if ((position != 0 && !put_tag(w, p, record)) ||
		    !put_number(w, p, record, position, n))
			return false;
	p->skipped_count = f->args[1] - 1;
	return true;
}

bool
@N@_put_comment(struct @N@_writer *w, enum @N@_section section,
		const char *text, size_t nbytes)
{
	struct part *const p = part_of(w, section);
	const struct record_info *const comment =
		p != NULL ? predefined(p->state.info, ROLE_COMMENT) : NULL;
	uint8_t *room;

	if (comment == NULL || nbytes > 255)
		return refuse(w, "the section cannot have this comment");
	if (!put_tag(w, p, comment) || !part_number(w, p, 1, nbytes))
		return false;
	room = part_room(w, p, 255);
	if (room == NULL)
		return false;
	memcpy(room, text, nbytes);
	p->used += nbytes;
	return true;
}

bool
@N@_set(struct @N@_writer *w, enum @N@_section section, enum @N@_type record,
	unsigned position, enum @N@_property property, uint64_t first,
	uint64_t second)
{
	const uint64_t args[2] = { first, second };
	struct part *const p = part_of(w, section);

	if (p == NULL)
		return false;
	for (uint32_t i = 0; i < p->state.info->record_count; i++) {
		const struct record_info *const r = &p->state.info->records[i];

		if (r->role == ROLE_DATA && r->type == record)
			return put_metadata(w, p, r, position, property, args);
	}
	return refuse(w, "the section has no such record");
}

struct @N@_writer *
@N@_writer_open(const char *path, unsigned flags)
{
	struct @N@_writer *w;

	if ((flags & @U@_COMPRESSED) != 0 && !@U@_ZLIB) {
		errno = ENOTSUP;
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->flags = flags;
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (w->fd >= 0)
		return w;
	free(w);
	return NULL;
}

const char *
@N@_writer_error(const struct @N@_writer *w)
{
	return w->has_failed ? w->error : NULL;
}

static void
write_out(struct @N@_writer *w, const uint8_t *bytes, size_t nbytes)
{
	while (nbytes != 0 && !w->has_failed) {
		const ssize_t n = write(w->fd, bytes, nbytes);

		if (n < 0 && errno != EINTR)
			refuse(w, "%s", strerror(errno));
		if (n > 0) {
			bytes += n;
			nbytes -= (size_t)n;
		}
	}
}

/* Write the header: the DTD follows it as section 0, then the other parts. */
static void
write_header(struct @N@_writer *w)
{
	const bool is_big = (w->flags & @U@_BIG_ENDIAN) != 0;
	const unsigned n = (w->flags & @U@_32_BIT) != 0 ? 4 : 8;
	const bool has_dtd = (w->flags & @U@_COMPRESSED) == 0;
	const uint64_t dtd_nbytes = has_dtd ? sizeof(dtd_text) - 1 : 0;
	uint8_t b[16 + 3 * 8 + 255 + 256 * 24] = { 0x7f, 'M', 'T', 'F' };
	uint64_t count = has_dtd, at, offset;

	for (size_t i = 1; i < SECTION_COUNT; i++)
		count += w->parts[i].is_open;
	b[4] = n == 4 ? 1 : 2;
	b[5] = is_big ? 2 : 1;
	b[6] = sizeof(dtd_name) - 1;
	b[7] = !has_dtd;
	at = 16 + 3 * n;
	memcpy(b + at, dtd_name, sizeof(dtd_name) - 1);
	at += sizeof(dtd_name) - 1;
	offset = at + count * 3 * n;
	if (has_dtd) {
		set_number(b + at + n, n, is_big, offset);
		set_number(b + at + 2 * n, n, is_big, dtd_nbytes);
		at += 3 * n;
		offset += dtd_nbytes;
	}
	set_number(b + 16, n, is_big, count);
	set_number(b + 16 + n, n, is_big, offset);
	set_number(b + 16 + 2 * n, n, is_big, w->record_count);
	offset += w->parts[0].nbytes;
	for (size_t i = 1; i < SECTION_COUNT; i++) {
		if (!w->parts[i].is_open)
			continue;
		offset += TAG_WIDTH + 1;
		set_number(b + at, n, is_big, sections[i].number);
		set_number(b + at + n, n, is_big, offset);
		set_number(b + at + 2 * n, n, is_big, w->parts[i].nbytes);
		at += 3 * n;
		offset += w->parts[i].nbytes;
	}
	if (n == 4 && offset > UINT32_MAX)
		refuse(w, "the trace exceeds 4 GiB");
	write_out(w, b, (size_t)at);
	write_out(w, (const uint8_t *)dtd_text, (size_t)dtd_nbytes);
}

static void
write_part(struct @N@_writer *w, size_t idx)
{
	struct part *const p = &w->parts[idx];
	const struct record_info *const section =
		predefined(&sections[0], ROLE_SECTION);
	uint8_t head[8];
	size_t n;

	if (!p->is_open)
		return;
	if (idx != 0) {
		set_number(head, TAG_WIDTH, w->flags & @U@_BIG_ENDIAN,
			   section->tag);
		head[TAG_WIDTH] = sections[idx].number;
		write_out(w, head, TAG_WIDTH + 1);
	}
	rewind(p->file);
	while (!w->has_failed &&
	       (n = fread(p->buf, 1, p->capacity, p->file)) != 0)
		write_out(w, p->buf, n);
	if (ferror(p->file))
		refuse(w, "a temporary file cannot be read");
}

bool
@N@_writer_close(struct @N@_writer *w, const char **why)
{
	static _Thread_local char text[300];
	bool ok;

	if (w == NULL)
		return true;
	for (size_t i = 0; i < SECTION_COUNT; i++)
		if (w->parts[i].is_open) {
			part_flush(w, &w->parts[i], true);
			if (fflush(w->parts[i].file) != 0)
				refuse(w, "%s", strerror(errno));
		}
	if (!w->has_failed)
		write_header(w);
	for (size_t i = 0; i < SECTION_COUNT && !w->has_failed; i++)
		write_part(w, i);
	if (close(w->fd) != 0)
		refuse(w, "%s", strerror(errno));
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		struct part *const p = &w->parts[i];

#if @U@_ZLIB
		if (p->has_zlib)
			deflateEnd(&p->zlib);
#endif
		if (p->file != NULL)
			fclose(p->file);
		state_close(&p->state);
		free(p->buf);
	}
	free(w->undos);
	ok = !w->has_failed;
	memcpy(text, w->error, sizeof(text));
	if (why != NULL)
		*why = ok ? NULL : text;
	free(w);
	return ok;
}
