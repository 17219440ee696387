/* SPDX-License-Identifier: MIT */
/*
 * pprof.c - a heap profile for pprof (FORMATS "pprof")
 *
 * The sink writes a 'Profile' of pprof's profile.proto, with one sample per
 * allocation site.  A sample says how many objects and bytes the site
 * allocated, and how many of them are live at the end and at the peak.
 */
#include "hatf/containers/rows.h"
#include "hatf/containers/string_table.h"
#include "hatf/formats/common/call_address.h"
#include "hatf/formats/common/textio.h"
#include "hatf/formats/profiles/profile.h"
#include "hatf/formats/profiles/protobuf.h"

#include <stdlib.h>

/* The field numbers of profile.proto, for each of its messages. */
enum {
	PB_PROFILE_SAMPLE_TYPE = 1,
	PB_PROFILE_SAMPLE = 2,
	PB_PROFILE_MAPPING = 3,
	PB_PROFILE_LOCATION = 4,
	PB_PROFILE_FUNCTION = 5,
	PB_PROFILE_STRING_TABLE = 6,
	PB_PROFILE_TIME_NANOS = 9,
	PB_PROFILE_DURATION_NANOS = 10,
	PB_PROFILE_PERIOD_TYPE = 11,
	PB_PROFILE_PERIOD = 12,
	PB_PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	PB_VALUE_TYPE_TYPE = 1,
	PB_VALUE_TYPE_UNIT = 2,
	PB_SAMPLE_LOCATION_ID = 1,
	PB_SAMPLE_VALUE = 2,
	PB_MAPPING_ID = 1,
	PB_MAPPING_MEMORY_START = 2,
	PB_MAPPING_MEMORY_LIMIT = 3,
	PB_MAPPING_FILE_OFFSET = 4,
	PB_MAPPING_FILENAME = 5,
	PB_MAPPING_BUILD_ID = 6,
	PB_MAPPING_HAS_FUNCTIONS = 7,
	PB_MAPPING_HAS_FILENAMES = 8,
	PB_MAPPING_HAS_LINE_NUMBERS = 9,
	PB_MAPPING_HAS_INLINE_FRAMES = 10,
	PB_LOCATION_ID = 1,
	PB_LOCATION_MAPPING_ID = 2,
	PB_LOCATION_ADDRESS = 3,
	PB_LOCATION_LINE = 4,
	PB_LINE_FUNCTION_ID = 1,
	PB_LINE_LINE = 2,
	PB_LINE_COLUMN = 3,
	PB_FUNCTION_ID = 1,
	PB_FUNCTION_NAME = 2,
	PB_FUNCTION_SYSTEM_NAME = 3,
	PB_FUNCTION_FILENAME = 4,
};

/* Mappings begin and end at multiples of this many bytes. */
#define PAGE_NBYTES ((uint64_t)4096)

/*
 * The kinds of names that the frames of a mapping have.  pprof itself looks up
 * names in a mapping only if the profile says that the mapping has neither
 * functions nor files nor lines.
 */
enum names {
	NAMES_FUNCTION = 1,
	NAMES_FILE = 2,
	NAMES_LINE = 4,
	NAMES_MISSING = 8, /* some frame has neither function nor file */
};

/*
 * Maximum number of functions at one address; compilers rarely inline deeper.
 */
#define INLINED_MAX 64

/*
 * The tables of strings, functions, mappings and locations need no limits of
 * their own, because the limits on names, frames and stacks of a trace also
 * limit these tables.
 */
#define STRING_MAX	  UINT32_MAX
#define STRING_NBYTES_MAX UINT64_MAX

struct pprof {
	struct profile profile;
	/* string n has index n in the profile; index 0 is "" */
	struct string_table strings;
	/* pairs of string indices: name and file */
	struct string_table functions;
	struct string_table mappings; /* the bytes of each struct mapping */
	/*
	 * Each location is an array of indices in profile.entries, innermost
	 * first.
	 */
	struct string_table locations;
	/*
	 * rows of uint8_t: the bits of 'enum names' for mapping n, in row n - 1
	 */
	struct rows names;
	uint64_t start_ns; /* start of the trace in ns since 1970; 0: unknown */
	/*
	 * Path of the program, and the first word of its command line; "" if
	 * unknown.
	 */
	char exe[PROFILE_NAME_MAX], command[PROFILE_NAME_MAX];
	struct protobuf outer, inner, lines, line;
	/*
	 * Nanoseconds per unit of the trace's time; 0: the trace has no times.
	 */
	uint64_t unit_ns;
	enum hatf_status status;
};

/* Write the contents of 'outer' to the file, and empty 'outer'. */
static void
write_outer(struct sink *s)
{
	struct pprof *const p = s->ctx;

	outfile_bytes(&s->out, p->outer.buf, p->outer.used);
	p->outer.used = 0;
	if (p->outer.failed && p->status == HATF_OK)
		p->status = HATF_NO_MEMORY;
}

/* -------------------------------------------------------------- the content */

/*
 * Return the number of the table's entry that has these bytes; the first entry
 * has number 1.  If there is no such entry, add it.  If that fails, set
 * p->status and return 0.
 */
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

/*
 * Return the index of a text in the string table; 0 for NULL.  Replace invalid
 * UTF-8 by '?', and truncate the text to PROFILE_NAME_MAX bytes.
 */
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
	protobuf_put_number(&p->inner, PB_VALUE_TYPE_TYPE, string_of(p, type));
	protobuf_put_number(&p->inner, PB_VALUE_TYPE_UNIT, string_of(p, unit));
	protobuf_put_message(&p->outer, field, &p->inner);
}

/*
 * Return the profile's period: how many allocated bytes one sample of the trace
 * stands for, or 1 if the trace is not a trace of samples.
 */
static uint64_t
period_of(const struct pprof *p)
{
	const struct sampling *const sampling = &p->profile.sampling;

	return sampling->rate == 0 ? 1 : sampling_scale_nbytes(sampling, 1);
}

/*
 * Write the types of the values in a sample.  pprof first shows the values of
 * the default type.
 */
static void
write_types(struct sink *s)
{
	struct pprof *const p = s->ctx;
	uint64_t ns;

	put_value_type(p, PB_PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
	put_value_type(p, PB_PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
	put_value_type(p, PB_PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
	put_value_type(p, PB_PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
	put_value_type(p, PB_PROFILE_SAMPLE_TYPE, "peak_objects", "count");
	put_value_type(p, PB_PROFILE_SAMPLE_TYPE, "peak_space", "bytes");
	put_value_type(p, PB_PROFILE_PERIOD_TYPE, "space", "bytes");
	protobuf_put_number(&p->outer, PB_PROFILE_PERIOD, period_of(p));
	protobuf_put_number(&p->outer, PB_PROFILE_DEFAULT_SAMPLE_TYPE,
			    string_of(p, "inuse_space"));
	protobuf_put_number(&p->outer, PB_PROFILE_TIME_NANOS, p->start_ns);
	if (!__builtin_mul_overflow(p->profile.now, p->unit_ns, &ns) &&
	    ns <= INT64_MAX)
		protobuf_put_number(&p->outer, PB_PROFILE_DURATION_NANOS, ns);
	write_outer(s);
}

/*
 * Limit a number to INT64_MAX, since profile.proto stores it as int64_t.  No
 * trace of a real program has larger numbers.
 */
static uint64_t
int64_of(uint64_t n)
{
	return n <= INT64_MAX ? n : INT64_MAX;
}

/*
 * Are 'inner' and its caller at the same address of the same object?  If so,
 * the compiler has inlined 'inner' into this caller.
 */
static bool
is_inlined(const struct hatf_frame *inner, const struct hatf_frame *caller)
{
	if (inner->address == 0 || inner->address != caller->address)
		return false;
	if (inner->object == NULL || caller->object == NULL)
		return inner->object == caller->object;
	return strcmp(inner->object, caller->object) == 0;
}

/*
 * A stack has 'count' entries, innermost first.  Return how many entries at its
 * start form one location.  Stop before an entry that this location has
 * already, since that entry is a recursive call.
 */
static size_t
location_length(const struct pprof *p, const uint64_t *indices, size_t count)
{
	const struct profile *const profile = &p->profile;
	const struct hatf_frame inner =
		profile_frame(profile, &profile->entries[indices[0]]);
	size_t length = 1;

	for (; length < count && length < INLINED_MAX; length++) {
		const uint64_t idx = indices[length];
		const struct hatf_frame caller =
			profile_frame(profile, &profile->entries[idx]);

		if (!is_inlined(&inner, &caller) ||
		    rows_have_u64(indices, (uint32_t)length, idx))
			break;
	}
	return length;
}

/* Append the ids of a stack's locations to 'line'. */
static void
put_locations(struct pprof *p, const uint64_t *indices, size_t count)
{
	while (count != 0) {
		const size_t length = location_length(p, indices, count);

		protobuf_put_varint(&p->line,
				    number_of(p, &p->locations, indices,
					      length * sizeof(*indices)));
		indices += length;
		count -= length;
	}
}

static enum hatf_status
write_sample(struct sink *s, const struct profile_site *site)
{
	struct pprof *const p = s->ctx;
	const uint64_t values[] = { site->total.count,	 site->total.nbytes,
				    site->live.count,	 site->live.nbytes,
				    site->at_peak.count, site->at_peak.nbytes };
	uint64_t *indices;
	size_t count;
	const enum hatf_status status =
		profile_stack(&p->profile, site, &indices, &count);

	if (status != HATF_OK)
		return status;
	put_locations(p, indices, count);
	free(indices);
	protobuf_put_message(&p->inner, PB_SAMPLE_LOCATION_ID, &p->line);
	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		protobuf_put_varint(&p->line, int64_of(values[i]));
	protobuf_put_message(&p->inner, PB_SAMPLE_VALUE, &p->line);
	protobuf_put_message(&p->outer, PB_PROFILE_SAMPLE, &p->inner);
	write_outer(s);
	return HATF_OK;
}

/* Return the id of a function.  If the function is new, write it. */
static uint64_t
function_of(struct pprof *p, const char *name, const char *file)
{
	const uint64_t key[2] = { string_of(p, name), string_of(p, file) };
	const uint32_t before = p->functions.count;
	const uint64_t id = number_of(p, &p->functions, key, sizeof(key));

	if (p->functions.count == before)
		return id;
	protobuf_put_number(&p->inner, PB_FUNCTION_ID, id);
	protobuf_put_number(&p->inner, PB_FUNCTION_NAME, key[0]);
	protobuf_put_number(&p->inner, PB_FUNCTION_SYSTEM_NAME, key[0]);
	protobuf_put_number(&p->inner, PB_FUNCTION_FILENAME, key[1]);
	protobuf_put_message(&p->outer, PB_PROFILE_FUNCTION, &p->inner);
	return id;
}

/*
 * A mapping of an object.  The table 'mappings' compares the bytes of its
 * entries, so this struct must have no padding.  'start', 'limit' and 'offset'
 * are 0 if the address of the mapping is unknown, or if addresses are relative
 * to the object.  If these members are 0, pprof takes addresses as relative to
 * the object.
 */
struct mapping {
	uint64_t object, build_id; /* indices of strings */
	uint64_t start, limit, offset;
};
_Static_assert(sizeof(struct mapping) == 40, "padding");

/* Return the id of a frame's mapping; 0 if it has none. */
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

/*
 * Add the kinds of names that 'frame' has to the kinds of its mapping.  Return
 * false if memory runs out.
 */
static bool
note_names(struct pprof *p, uint64_t mapping, const struct hatf_frame *frame)
{
	unsigned names = 0;
	uint8_t *row;

	if (frame->function != NULL)
		names |= NAMES_FUNCTION;
	if (frame->file != NULL)
		names |= NAMES_FILE;
	if (frame->line != 0)
		names |= NAMES_LINE;
	if (frame->function == NULL && frame->file == NULL)
		names |= NAMES_MISSING;
	while (p->names.count < mapping) {
		row = rows_add(&p->names, sizeof(*row));
		if (row == NULL)
			return false;
		*row = 0;
	}
	row = p->names.rows;
	row[mapping - 1] |= (uint8_t)names;
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
	return p->command[0] != '\0' &&
	       strcmp(base_name(object), base_name(p->command)) == 0;
}

/*
 * Add the mappings of all frames or, if 'all' is false, only the mappings of
 * the program's executable file.  Return false if memory runs out.
 */
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
		if (mapping != 0 && !note_names(p, mapping, &frame))
			return false;
	}
	return true;
}

/*
 * Write which kinds of names a mapping has.  If any of its frames has no name,
 * write that the mapping has no names, so that pprof looks up all names itself.
 */
static void
put_names(struct pprof *p, uint32_t mapping)
{
	const uint8_t *const rows = p->names.rows;
	unsigned names = mapping <= p->names.count ? rows[mapping - 1] : 0;

	if (names & NAMES_MISSING)
		names = 0;
	protobuf_put_number(&p->inner, PB_MAPPING_HAS_FUNCTIONS,
			    (names & NAMES_FUNCTION) != 0);
	protobuf_put_number(&p->inner, PB_MAPPING_HAS_FILENAMES,
			    (names & NAMES_FILE) != 0);
	protobuf_put_number(&p->inner, PB_MAPPING_HAS_LINE_NUMBERS,
			    (names & NAMES_LINE) != 0);
	/*
	 * If the mapping has line numbers, write that it also has inlined
	 * functions, because a tool that finds line numbers also finds inlined
	 * functions.
	 */
	protobuf_put_number(&p->inner, PB_MAPPING_HAS_INLINE_FRAMES,
			    (names & NAMES_LINE) != 0);
}

/*
 * Write the mappings.  The mappings of the program's executable file come
 * first, because pprof shows the first mapping as the profiled binary.
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
		struct mapping m;

		memcpy(&m, string_table_get(&p->mappings, id), sizeof(m));
		protobuf_put_number(&p->inner, PB_MAPPING_ID, id);
		protobuf_put_number(&p->inner, PB_MAPPING_MEMORY_START,
				    m.start);
		protobuf_put_number(&p->inner, PB_MAPPING_MEMORY_LIMIT,
				    m.limit);
		protobuf_put_number(&p->inner, PB_MAPPING_FILE_OFFSET,
				    m.offset);
		protobuf_put_number(&p->inner, PB_MAPPING_FILENAME, m.object);
		protobuf_put_number(&p->inner, PB_MAPPING_BUILD_ID, m.build_id);
		put_names(p, id);
		protobuf_put_message(&p->outer, PB_PROFILE_MAPPING, &p->inner);
		write_outer(s);
	}
	return true;
}

/*
 * Append a line to a location.  The line always has a function, because
 * profile_name() returns a name for every entry.
 */
static void
put_line(struct pprof *p, const struct profile_entry *e,
	 const struct hatf_frame *frame)
{
	char buf[PROFILE_NAME_MAX];
	const uint64_t function =
		function_of(p, profile_name(&p->profile, e, buf), frame->file);

	protobuf_put_number(&p->line, PB_LINE_FUNCTION_ID, function);
	protobuf_put_number(&p->line, PB_LINE_LINE, int64_of(frame->line));
	protobuf_put_number(&p->line, PB_LINE_COLUMN, int64_of(frame->column));
	protobuf_put_message(&p->lines, PB_LOCATION_LINE, &p->line);
}

/*
 * Return the address of the call instruction of a frame: the address in memory.
 * But if the trace has no mapping of the frame's object, and 'frame->offset' is
 * known, return the address in the file of the object.
 */
static uint64_t
location_address(const struct pprof *p, const struct hatf_frame *frame)
{
	if (frame->offset != 0 && profile_module(&p->profile, frame) == NULL)
		return call_address_of(frame->offset);
	return call_address_of(frame->address);
}

/*
 * Write location 'id', with a line for each of its functions.  Encode the lines
 * first, because writing a new function overwrites 'inner'.
 */
static void
write_location(struct sink *s, uint32_t id)
{
	struct pprof *const p = s->ctx;
	const struct profile *const profile = &p->profile;
	const struct string_table_row *const row = &p->locations.rows[id - 1];
	struct hatf_frame frame = { .address = 0 };

	for (uint32_t i = 0; i < row->nbytes; i += sizeof(uint64_t)) {
		uint64_t idx;

		memcpy(&idx, row->bytes + i, sizeof(idx));
		frame = profile_frame(profile, &profile->entries[idx]);
		put_line(p, &profile->entries[idx], &frame);
	}
	protobuf_put_number(&p->inner, PB_LOCATION_ID, id);
	protobuf_put_number(&p->inner, PB_LOCATION_MAPPING_ID,
			    mapping_of(p, &frame));
	protobuf_put_number(&p->inner, PB_LOCATION_ADDRESS,
			    location_address(p, &frame));
	protobuf_append(&p->inner, &p->lines);
	protobuf_put_message(&p->outer, PB_PROFILE_LOCATION, &p->inner);
	write_outer(s);
}

static void
write_strings(struct sink *s)
{
	struct pprof *const p = s->ctx;

	protobuf_put_bytes(&p->outer, PB_PROFILE_STRING_TABLE, "", 0);
	for (uint32_t i = 1; i <= p->strings.count; i++) {
		const char *const text = string_table_get(&p->strings, i);

		protobuf_put_bytes(&p->outer, PB_PROFILE_STRING_TABLE, text,
				   strlen(text));
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
	for (uint32_t id = 1; id <= p->locations.count; id++)
		write_location(s, id);
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
	string_table_init(&p->locations, STRING_MAX, STRING_NBYTES_MAX);
	if (lines != NULL) {
		text_find(lines, strlen(lines), "exe", p->exe, sizeof(p->exe));
		text_find(lines, strlen(lines), "command", p->command,
			  sizeof(p->command));
		text_find_u64(lines, strlen(lines), "start_time", &p->start_ns);
		if (p->start_ns > INT64_MAX)
			p->start_ns = 0;
		/* Keep only the first word. */
		p->command[strcspn(p->command, " ")] = '\0';
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
	string_table_fini(&p->locations);
	free(p->names.rows);
	free(p->outer.buf);
	free(p->inner.buf);
	free(p->lines.buf);
	free(p->line.buf);
	free(p);
}

const struct sink_ops pprof_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
