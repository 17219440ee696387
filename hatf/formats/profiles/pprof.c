/* SPDX-License-Identifier: MIT */
/*
 * pprof.c - a heap profile that pprof shows (FORMATS "Profiles")
 *
 * A 'Profile' of pprof's profile.proto, with a sample for each site: how many objects
 * and bytes it allocated, and of these, how many are live at the end.
 *
 * The encoder is written by hand: of protocol buffers it takes varints, and bytes with
 * their length, in sixty lines that run over the data once.  protobuf-c would add a
 * library to what every user of libhatf links and a compiler to what builds it, and
 * needs the whole profile as objects in memory before the first byte is written.
 * The messages are so small that one buffer holds each: only the samples, locations,
 * functions, mappings and strings of the outermost message come in great number, and
 * those are independent of each other.
 */
#include "hatf/containers/string_table.h"
#include "hatf/formats/common/textio.h"
#include "hatf/formats/profiles/profile.h"

#include <stdlib.h>

/* The numbers of fields in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILE_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,
	LINE_COLUMN = 3,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

/* How a field's value is encoded. */
enum {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2
};

/* Varints take no more. */
#define VARINT_MAX 10

/* What pieces of objects in memory are made of. */
#define PAGE_NBYTES ((uint64_t)4096)

/* More than a profile can have that has been read from a trace. */
#define STRING_MAX	  UINT32_MAX
#define STRING_NBYTES_MAX UINT64_MAX

/* A message that is being put together; 'failed' if there was no memory. */
struct message {
	uint8_t *buf;
	size_t used, cap;
	bool failed;
};

struct pprof {
	struct profile profile;
	/* number n is place n of the table; 0 is "" */
	struct string_table strings;
	struct string_table functions; /* by name and file, as bytes */
	struct string_table mappings;  /* struct mapping, as bytes */
	uint8_t *nameless;	       /* mapping n has such frames: at n - 1 */
	size_t nameless_cap;
	uint64_t start_ns; /* since 1970; 0: not known */
	/* The program's path, or "", and then what it was called by, or "". */
	char exe[PROFILE_NAME_MAX], called[PROFILE_NAME_MAX];
	struct message outer, inner, line;
	uint64_t unit_ns; /* of the trace's times; 0: none */
	enum hatf_status status;
};

/* -------------------------------------------------------------- the encoder */

static bool
reserve(struct message *m, size_t nbytes)
{
	size_t cap = m->cap == 0 ? 256 : m->cap;
	uint8_t *buf;

	if (nbytes <= m->cap - m->used)
		return true;
	while (cap - m->used < nbytes)
		cap *= 2;
	buf = realloc(m->buf, cap);
	if (buf == NULL) {
		m->failed = true;
		return false;
	}
	m->buf = buf;
	m->cap = cap;
	return true;
}

static void
put_varint(struct message *m, uint64_t n)
{
	if (!reserve(m, VARINT_MAX))
		return;
	for (; n >= 0x80; n >>= 7)
		m->buf[m->used++] = (uint8_t)(n | 0x80);
	m->buf[m->used++] = (uint8_t)n;
}

/* A number; 0 is what a field has that is not there. */
static void
put_number(struct message *m, unsigned field, uint64_t n)
{
	if (n == 0)
		return;
	put_varint(m, field << 3 | WIRE_VARINT);
	put_varint(m, n);
}

static void
put_bytes(struct message *m, unsigned field, const void *bytes, size_t nbytes)
{
	put_varint(m, field << 3 | WIRE_BYTES);
	put_varint(m, nbytes);
	if (nbytes == 0 || !reserve(m, nbytes))
		return;
	memcpy(m->buf + m->used, bytes, nbytes);
	m->used += nbytes;
}

/* A message in a message, which is then empty. */
static void
put_message(struct message *m, unsigned field, struct message *part)
{
	put_bytes(m, field, part->buf, part->used);
	m->failed |= part->failed;
	part->used = 0;
}

/* What 'outer' has is written, and it is empty. */
static void
write_outer(struct sink *s)
{
	struct pprof *const p = s->ctx;

	outfile_bytes(&s->out, p->outer.buf, p->outer.used);
	p->outer.used = 0;
	if (p->outer.failed && p->status == HATF_OK)
		p->status = HATF_NO_MEMORY;
}

/* ----------------------------------------------------------- what it encodes */

/* The place of bytes in a table, from 1; 0 if an error is noted. */
static uint64_t
number_of(struct pprof *p, struct string_table *names, const void *bytes,
	  size_t nbytes)
{
	uint32_t number = 0;
	const enum hatf_status status =
		string_table_put(names, bytes, nbytes, &number);

	if (status != HATF_OK && p->status == HATF_OK)
		p->status = status;
	return number;
}

/* The place of a text, which must be UTF-8, in the table of strings. */
static uint64_t
string_of(struct pprof *p, const char *text)
{
	char clean[PROFILE_NAME_MAX];
	size_t used = 0, left;

	if (text == NULL || *text == '\0')
		return 0;
	left = strnlen(text, sizeof(clean));
	while (left != 0) {
		const size_t n = textio_utf8((const uint8_t *)text, left);
		const size_t step = n == 0 ? 1 : n;

		if (n == 0)
			clean[used] = '?';
		else
			memcpy(clean + used, text, n);
		used += step;
		text += step;
		left -= step;
	}
	return number_of(p, &p->strings, clean, used);
}

static void
put_value_type(struct pprof *p, unsigned field, const char *type,
	       const char *unit)
{
	put_number(&p->inner, VALUE_TYPE_TYPE, string_of(p, type));
	put_number(&p->inner, VALUE_TYPE_UNIT, string_of(p, unit));
	put_message(&p->outer, field, &p->inner);
}

/* Of how many bytes one was looked at: all are counted, or else estimated. */
static uint64_t
period_of(const struct pprof *p)
{
	const struct sampling *const sampling = &p->profile.sampling;

	return sampling->rate == 0 ? 1 : sampling_scale_nbytes(sampling, 1);
}

/* What the profile is of; pprof shows the default first. */
static void
write_types(struct sink *s)
{
	struct pprof *const p = s->ctx;
	uint64_t ns;

	put_value_type(p, PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
	put_value_type(p, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
	put_value_type(p, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
	put_value_type(p, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
	put_value_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
	put_number(&p->outer, PROFILE_PERIOD, period_of(p));
	put_number(&p->outer, PROFILE_DEFAULT_SAMPLE_TYPE,
		   string_of(p, "inuse_space"));
	put_number(&p->outer, PROFILE_TIME_NANOS, p->start_ns);
	if (!__builtin_mul_overflow(p->profile.now, p->unit_ns, &ns) &&
	    ns <= INT64_MAX)
		put_number(&p->outer, PROFILE_DURATION_NANOS, ns);
	write_outer(s);
}

/* Sums of sizes that no memory has do not fit what pprof has for them. */
static uint64_t
int64_of(uint64_t n)
{
	return n <= INT64_MAX ? n : INT64_MAX;
}

static enum hatf_status
write_sample(struct sink *s, const struct profile_site *site)
{
	struct pprof *const p = s->ctx;
	const uint64_t values[] = { site->total.count, site->total.nbytes,
				    site->live.count, site->live.nbytes };
	uint64_t *places;
	size_t count;
	const enum hatf_status status =
		profile_stack(&p->profile, site, &places, &count);

	if (status != HATF_OK)
		return status;
	for (size_t i = 0; i < count; i++)
		put_varint(&p->line, places[i] + 1);
	free(places);
	put_message(&p->inner, SAMPLE_LOCATION_ID, &p->line);
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		put_varint(&p->line, int64_of(values[i]));
	put_message(&p->inner, SAMPLE_VALUE, &p->line);
	put_message(&p->outer, PROFILE_SAMPLE, &p->inner);
	write_outer(s);
	return HATF_OK;
}

/* The id of a function, which is written when it is new. */
static uint64_t
function_of(struct pprof *p, const char *name, const char *file)
{
	const uint64_t key[2] = { string_of(p, name), string_of(p, file) };
	const uint32_t before = p->functions.count;
	const uint64_t id = number_of(p, &p->functions, key, sizeof(key));

	if (p->functions.count == before)
		return id;
	put_number(&p->inner, FUNCTION_ID, id);
	put_number(&p->inner, FUNCTION_NAME, key[0]);
	put_number(&p->inner, FUNCTION_SYSTEM_NAME, key[0]);
	put_number(&p->inner, FUNCTION_FILENAME, key[1]);
	put_message(&p->outer, PROFILE_FUNCTION, &p->inner);
	return id;
}

/*
 * A piece of an object in memory: a string of 'mappings', so without padding.  Where it
 * is in memory is 0 if it is not known, or if addresses are the object's own: pprof
 * takes them to be that then.
 */
struct mapping {
	uint64_t object, build_id; /* strings */
	uint64_t start, limit, offset;
};
_Static_assert(sizeof(struct mapping) == 40, "padding");

/* The id of a frame's mapping, 0 for none. */
static uint64_t
mapping_of(struct pprof *p, const struct hatf_frame *frame)
{
	const struct module *const module = profile_module(&p->profile, frame);
	struct mapping mapping = { .object = string_of(p, frame->object) };

	if (mapping.object == 0)
		return 0;
	if (module != NULL) {
		mapping.build_id = string_of(p, module->build_id);
		mapping.start = module->start & ~(PAGE_NBYTES - 1);
		mapping.limit =
			(module->end + PAGE_NBYTES - 1) & ~(PAGE_NBYTES - 1);
		mapping.offset =
			module->offset - (module->start - mapping.start);
	}
	return number_of(p, &p->mappings, &mapping, sizeof(mapping));
}

/* Is there no more of a frame than where it is? */
static bool
is_nameless(const struct hatf_frame *frame)
{
	return frame->function == NULL && frame->file == NULL;
}

/* Take note that pprof is to look for names in a mapping. */
static bool
note_nameless(struct pprof *p, uint64_t mapping)
{
	uint8_t *nameless;

	if (mapping > p->nameless_cap) {
		nameless = realloc(p->nameless, 2 * mapping);
		if (nameless == NULL)
			return false;
		memset(nameless + p->nameless_cap, 0,
		       2 * mapping - p->nameless_cap);
		p->nameless = nameless;
		p->nameless_cap = 2 * mapping;
	}
	p->nameless[mapping - 1] = 1;
	return true;
}

static const char *
base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static bool
is_program(const struct pprof *p, const char *object)
{
	if (p->exe[0] != '\0')
		return strcmp(object, p->exe) == 0;
	return p->called[0] != '\0' &&
	       strcmp(base_name(object), base_name(p->called)) == 0;
}

/* Find out which mappings there are; of the program itself, or of all. */
static bool
find_mappings(struct pprof *p, bool all)
{
	for (size_t i = 0; i < p->profile.entry_count; i++) {
		const struct hatf_frame frame =
			profile_frame(&p->profile, &p->profile.entries[i]);
		uint64_t mapping;

		if (frame.object == NULL ||
		    (!all && !is_program(p, frame.object)))
			continue;
		mapping = mapping_of(p, &frame);
		if (mapping != 0 && is_nameless(&frame) &&
		    !note_nameless(p, mapping))
			return false;
	}
	return true;
}

/*
 * The program comes first, for pprof shows the first one as what was profiled.  pprof
 * looks for names where a mapping is said to have none, and else keeps those that
 * there are; if it finds none, too.
 */
static bool
write_mappings(struct sink *s)
{
	struct pprof *const p = s->ctx;

	const struct mapping program = { .object = string_of(p, p->exe) };

	if (!find_mappings(p, false))
		return false;
	if (p->mappings.count == 0 && p->exe[0] != '\0')
		number_of(p, &p->mappings, &program, sizeof(program));
	if (!find_mappings(p, true))
		return false;
	for (uint32_t id = 1; id <= p->mappings.count; id++) {
		const bool has_names =
			id > p->nameless_cap || p->nameless[id - 1] == 0;
		struct mapping m;

		memcpy(&m, string_table_get(&p->mappings, id), sizeof(m));
		put_number(&p->inner, MAPPING_ID, id);
		put_number(&p->inner, MAPPING_MEMORY_START, m.start);
		put_number(&p->inner, MAPPING_MEMORY_LIMIT, m.limit);
		put_number(&p->inner, MAPPING_FILE_OFFSET, m.offset);
		put_number(&p->inner, MAPPING_FILENAME, m.object);
		put_number(&p->inner, MAPPING_BUILD_ID, m.build_id);
		put_number(&p->inner, MAPPING_HAS_FUNCTIONS, has_names);
		put_number(&p->inner, MAPPING_HAS_FILENAMES, has_names);
		put_number(&p->inner, MAPPING_HAS_LINE_NUMBERS, has_names);
		put_message(&p->outer, PROFILE_MAPPING, &p->inner);
		write_outer(s);
	}
	return true;
}

/* A location is an entry of the profile: all have a name. */
static void
write_location(struct sink *s, size_t idx)
{
	struct pprof *const p = s->ctx;
	const struct profile_entry *const e = &p->profile.entries[idx];
	const struct hatf_frame frame = profile_frame(&p->profile, e);
	char buf[PROFILE_NAME_MAX];
	const uint64_t function =
		function_of(p, profile_name(&p->profile, e, buf), frame.file);
	const uint64_t mapping = mapping_of(p, &frame);

	put_number(&p->line, LINE_FUNCTION_ID, function);
	put_number(&p->line, LINE_LINE, int64_of(frame.line));
	put_number(&p->line, LINE_COLUMN, int64_of(frame.column));
	put_number(&p->inner, LOCATION_ID, idx + 1);
	put_number(&p->inner, LOCATION_MAPPING_ID, mapping);
	put_number(&p->inner, LOCATION_ADDRESS, frame.address);
	put_message(&p->inner, LOCATION_LINE, &p->line);
	put_message(&p->outer, PROFILE_LOCATION, &p->inner);
	write_outer(s);
}

static void
write_strings(struct sink *s)
{
	struct pprof *const p = s->ctx;

	put_bytes(&p->outer, PROFILE_STRING_TABLE, "", 0);
	for (uint32_t i = 1; i <= p->strings.count; i++) {
		const char *const text = string_table_get(&p->strings, i);

		put_bytes(&p->outer, PROFILE_STRING_TABLE, text, strlen(text));
		write_outer(s);
	}
	write_outer(s);
}

static enum hatf_status
finish(struct sink *s)
{
	struct pprof *const p = s->ctx;

	profile_end(&p->profile);
	write_types(s);
	for (size_t i = 0; i < p->profile.site_count; i++) {
		const enum hatf_status status =
			write_sample(s, &p->profile.sites[i]);

		if (status != HATF_OK)
			return sink_fail(s, status, "stack");
	}
	if (!write_mappings(s))
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	for (size_t i = 0; i < p->profile.entry_count; i++)
		write_location(s, i);
	write_strings(s);
	return p->status == HATF_OK ? HATF_OK : sink_fail(s, p->status, NULL);
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct pprof *const p = s->ctx;

	return profile_write(&p->profile, s, records, n);
}

static enum hatf_status
open_sink(struct sink *s)
{
	const char *const lines = s->options.header;
	const char *const unit = profile_unit(s);
	struct pprof *const p = calloc(1, sizeof(*p));
	enum hatf_status status;

	if (p == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = p;
	string_table_init(&p->strings, STRING_MAX, STRING_NBYTES_MAX);
	string_table_init(&p->functions, STRING_MAX, STRING_NBYTES_MAX);
	string_table_init(&p->mappings, STRING_MAX, STRING_NBYTES_MAX);
	if (lines != NULL) {
		text_find(lines, strlen(lines), "exe", p->exe, sizeof(p->exe));
		text_find(lines, strlen(lines), "command", p->called,
			  sizeof(p->called));
		text_find_u64(lines, strlen(lines), "start_time", &p->start_ns);
		if (p->start_ns > INT64_MAX)
			p->start_ns = 0;
		/* Its first word. */
		p->called[strcspn(p->called, " ")] = '\0';
	}
	if (unit != NULL)
		p->unit_ns = strcmp(unit, "ns") == 0 ? 1 : 1000;
	status = profile_init(&p->profile, s, unit != NULL, false);
	return status == HATF_OK ? HATF_OK : sink_fail(s, status, NULL);
}

static void
close_sink(struct sink *s)
{
	struct pprof *const p = s->ctx;

	if (p == NULL)
		return;
	profile_fini(&p->profile);
	string_table_fini(&p->strings);
	string_table_fini(&p->functions);
	string_table_fini(&p->mappings);
	free(p->nameless);
	free(p->outer.buf);
	free(p->inner.buf);
	free(p->line.buf);
	free(p);
}

const struct sink_ops pprof_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
