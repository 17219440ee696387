/* SPDX-License-Identifier: MIT */
/*
 * formats.c - the table of formats, see format.h
 */
#include "hatf/base/sized.h"
#include "hatf/formats/common/format.h"

/* HATF_KEEPS_ bits of a format that keeps every field and every comment. */
#define KEEPS_ALL                                                        \
	(HATF_KEEPS_SIZE | HATF_KEEPS_ADDRESS | HATF_KEEPS_OLD_ADDRESS | \
	 HATF_KEEPS_REALLOC | HATF_KEEPS_THREAD | HATF_KEEPS_TIME |      \
	 HATF_KEEPS_HEAP | HATF_KEEPS_ATTRIBUTES | HATF_KEEPS_SITE |     \
	 HATF_KEEPS_STACKS | HATF_KEEPS_SYMBOLS | HATF_KEEPS_COMMENTS)

/* Further suffixes of file names, for the formats that have some. */
static const char *const json_suffixes[] = { ".jsonl", ".ndjson", NULL };
static const char *const dhat_suffixes[] = { ".dhat.json", NULL };
static const char *const pprof_suffixes[] = { ".pprof", NULL };
static const char *const folded_suffixes[] = { ".folded.txt", ".collapsed",
					       NULL };
static const char *const memtrace_suffixes[] = { ".memtrace", NULL };

static const struct format formats[] = {
	{ .name = "binary",
	  .about = "the HATF paper's Simple Binary: in a section, all numbers "
		   "have one width",
	  .suffix = ".bin",
	  .keeps = KEEPS_ALL,
	  .recognize = binary_recognize,
	  .source = &binary_source,
	  .sink = &binary_sink },
	{ .name = "split",
	  .about = "the HATF paper's Split Stream: each field in a stream of "
		   "its own",
	  .suffix = ".split",
	  .keeps = KEEPS_ALL,
	  .compresses = true,
	  .compresses_parts = true,
	  .recognize = split_recognize,
	  .source = &split_source,
	  .sink = &split_sink },
	{ .name = "splitaddr",
	  .about = "the HATF paper's SplitAddr: addresses in a stream of their "
		   "own",
	  .suffix = ".splitaddr",
	  .keeps = KEEPS_ALL,
	  .compresses = true,
	  .compresses_parts = true,
	  .recognize = splitaddr_recognize,
	  .source = &splitaddr_source,
	  .sink = &splitaddr_sink },
	{ .name = "metatf-splitaddr",
	  .about = "Meta-TF with the addresses in a section of their own",
	  .suffix = ".splitaddr.mtf",
	  .keeps = KEEPS_ALL,
	  .compresses = true,
	  .compresses_parts = true,
	  .recognize = metatf_splitaddr_recognize,
	  .source = &metatf_source,
	  .sink = &metatf_splitaddr_sink },
	{ .name = "metatf-split",
	  .about = "Meta-TF with sizes, addresses, times and threads in "
		   "sections of their own",
	  .suffix = ".split.mtf",
	  .keeps = KEEPS_ALL,
	  .compresses = true,
	  .compresses_parts = true,
	  .recognize = metatf_split_recognize,
	  .source = &metatf_source,
	  .sink = &metatf_split_sink },
	{ .name = "metatf",
	  .about = "Meta-TF with its DTD; can be read if its records have the "
		   "names that HATF uses",
	  .suffix = ".mtf",
	  .keeps = KEEPS_ALL,
	  .compresses = true,
	  .compresses_parts = true,
	  .recognize = metatf_recognize,
	  .source = &metatf_source,
	  .sink = &metatf_sink },
	{ .name = "ascii",
	  .about = "one record per line, as numbers, for awk",
	  .suffix = ".ascii",
	  .keeps = KEEPS_ALL,
	  .recognize = ascii_recognize,
	  .source = &ascii_source,
	  .sink = &ascii_sink },
	{ .name = "csv",
	  .about = "one record per row, with a header row, for spreadsheets",
	  .suffix = ".csv",
	  .keeps = KEEPS_ALL,
	  .recognize = csv_recognize,
	  .source = &csv_source,
	  .sink = &csv_sink },
	{ .name = "json",
	  .about = "JSON lines (RFC 8259): one object per record, for jq",
	  .suffix = ".json",
	  .other_suffixes = json_suffixes,
	  .keeps = KEEPS_ALL,
	  .recognize = json_recognize,
	  .source = &json_source,
	  .sink = &json_sink },
	{ .name = "xml",
	  .about = "XML 1.0, valid according to hatf.dtd",
	  .suffix = ".xml",
	  .keeps = KEEPS_ALL,
	  .recognize = xml_recognize,
	  .source = &xml_source,
	  .sink = &xml_sink },
	{ .name = "hummingbird",
	  .about = "lines \"Allocate\" and \"Free\" of the paper \"Are Mallocs "
		   "Free of Fragmentation?\" (USENIX 2001); keeps addresses, "
		   "except with --tags sequence",
	  .suffix = ".hummingbird",
	  .keeps = HATF_KEEPS_SIZE | HATF_KEEPS_ADDRESS,
	  .foreign = true,
	  .disorderly = true,
	  .recognize = hummingbird_recognize,
	  .source = &hummingbird_source,
	  .sink = &hummingbird_sink },
	{ .name = "mtrace",
	  .about = "log of glibc's mtrace(3), for the mtrace script; without "
		   "the offsets after names of functions, such as \"+0x1a\"",
	  .suffix = ".mtrace",
	  .keeps = HATF_KEEPS_SIZE | HATF_KEEPS_ADDRESS |
		   HATF_KEEPS_OLD_ADDRESS | HATF_KEEPS_REALLOC |
		   HATF_KEEPS_SITE,
	  .foreign = true,
	  .disorderly = true,
	  .recognize = mtrace_recognize,
	  .source = &mtrace_source,
	  .sink = &mtrace_sink },
	{ .name = "android",
	  .about = "text of Android's record_allocs and memory_replay, with or "
		   "without times; keeps the attributes \"zeroed\" and "
		   "\"alignment\"",
	  .suffix = ".android",
	  .keeps = HATF_KEEPS_SIZE | HATF_KEEPS_ADDRESS |
		   HATF_KEEPS_OLD_ADDRESS | HATF_KEEPS_REALLOC |
		   HATF_KEEPS_THREAD | HATF_KEEPS_TIME,
	  .foreign = true,
	  .disorderly = true,
	  .recognize = android_recognize,
	  .source = &android_source,
	  .sink = &android_sink },
	{ .name = "folded",
	  .about = "folded stacks for flamegraph.pl and similar tools: "
		   "the bytes allocated by each call stack",
	  .suffix = ".folded",
	  .other_suffixes = folded_suffixes,
	  .keeps = HATF_KEEPS_STACKS | HATF_KEEPS_SITE,
	  .foreign = true,
	  .sink = &folded_sink },
	{ .name = "dhat",
	  .about = "JSON of valgrind's DHAT, version 2, for dh_view.html: "
		   "sums for each call stack",
	  .suffix = ".dhat",
	  .other_suffixes = dhat_suffixes,
	  .keeps = HATF_KEEPS_STACKS | HATF_KEEPS_SITE | HATF_KEEPS_SYMBOLS,
	  .foreign = true,
	  .sink = &dhat_sink },
	{ .name = "pprof",
	  .about = "heap profile of pprof (profile.proto): sums for each "
		   "call stack",
	  .suffix = ".pb",
	  .other_suffixes = pprof_suffixes,
	  .keeps = HATF_KEEPS_STACKS | HATF_KEEPS_SITE | HATF_KEEPS_SYMBOLS,
	  .foreign = true,
	  .sink = &pprof_sink },
	{ .name = "heaptrack",
	  .about =
		  "heaptrack 1.0 to 1.6 (file versions 0 to 3), raw and "
		  "interpreted; written for heaptrack_print and heaptrack_gui; "
		  "times in ms",
	  .suffix = ".heaptrack",
	  .keeps = HATF_KEEPS_SIZE | HATF_KEEPS_TIME | HATF_KEEPS_SITE |
		   HATF_KEEPS_STACKS | HATF_KEEPS_SYMBOLS,
	  .foreign = true,
	  .disorderly = true,
	  .recognize = heaptrack_recognize,
	  .source = &heaptrack_source,
	  .sink = &heaptrack_sink },
	{ .name = "memtrace",
	  .about = "OCaml's Memtrace (CTF, versions 1 to 3): samples, sizes in "
		   "words",
	  .suffix = ".ctf",
	  .other_suffixes = memtrace_suffixes,
	  .keeps = HATF_KEEPS_TIME | HATF_KEEPS_SITE | HATF_KEEPS_STACKS |
		   HATF_KEEPS_SYMBOLS,
	  .foreign = true,
	  .recognize = memtrace_recognize,
	  .source = &memtrace_source,
	  .sink = &memtrace_sink },
	{ .name = "gperftools",
	  .about = "raw malloc trace of github.com/alk/gperftools: it has "
		   "tokens in place of addresses, and sizes rounded up to a "
		   "multiple of 8 bytes",
	  .keeps = HATF_KEEPS_REALLOC | HATF_KEEPS_THREAD | HATF_KEEPS_TIME,
	  .foreign = true,
	  .disorderly = true,
	  .recognize = gperftools_recognize,
	  .source = &gperftools_source },
	{ .name = "mtrc",
	  .about = "tracing file of mpatrol (up to version 1.5), for its tool "
		   "mptrace; 32 or 64 bits, either byte order",
	  .suffix = ".mtrc",
	  .keeps = HATF_KEEPS_SIZE | HATF_KEEPS_ADDRESS |
		   HATF_KEEPS_OLD_ADDRESS | HATF_KEEPS_REALLOC |
		   HATF_KEEPS_THREAD | HATF_KEEPS_SITE | HATF_KEEPS_SYMBOLS,
	  .foreign = true,
	  .disorderly = true,
	  .recognize = mtrc_recognize,
	  .source = &mtrc_source,
	  .sink = &mtrc_sink },
	{ .name = "mptrace",
	  .about = "HATF as text (Meta-TF 1.2) in the form that mpatrol's "
		   "mptrace --hatf-file writes",
	  .suffix = ".mptrace",
	  .keeps = HATF_KEEPS_SIZE | HATF_KEEPS_ADDRESS |
		   HATF_KEEPS_OLD_ADDRESS | HATF_KEEPS_REALLOC,
	  .foreign = true,
	  .recognize = mptrace_recognize,
	  .source = &mptrace_source,
	  .sink = &mptrace_sink },
	/*
	 * This row must be the last, because a stream that no other format
	 * recognizes is either HATF or not a trace.
	 */
	{ .name = "hatf",
	  .about = "HATF 1.0 (Chilimbi, Jones, Zorn, ISMM 2000), in gzip "
		   "blocks",
	  .suffix = ".hatf",
	  .keeps = KEEPS_ALL,
	  .compresses = true,
	  .owns_framing = true,
	  .recognize = NULL,
	  .source = &hatf_source,
	  .sink = &hatf_sink },
};
#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const struct format *
format_find(const char *name)
{
	for (size_t i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(formats[i].name, name == NULL ? "hatf" : name) == 0)
			return &formats[i];
	return NULL;
}

const struct format *
format_at(unsigned idx)
{
	return idx < FORMAT_COUNT ? &formats[idx] : NULL;
}

/* Can a stream that begins with these bytes be in format 'f'? */
static bool
may_be(const struct format *f, const uint8_t *bytes, size_t nbytes)
{
	return f->source != NULL && !f->by_name &&
	       (f->recognize == NULL || f->recognize(bytes, nbytes));
}

const struct format *
format_recognize(const uint8_t *bytes, size_t nbytes)
{
	size_t i = 0;

	/*
	 * Look at no more than FORMAT_PREFIX_NBYTES bytes.  The number of bytes
	 * in the caller's buffer depends on the compression of the file, which
	 * must not affect the result.
	 */
	if (nbytes > FORMAT_PREFIX_NBYTES)
		nbytes = FORMAT_PREFIX_NBYTES;
	/* The loop ends, because the last row accepts any bytes. */
	while (!may_be(&formats[i], bytes, nbytes))
		i++;
	return &formats[i];
}

/* Does 'path' end in 'suffix', with something before it? */
static bool
has_suffix(const char *path, size_t path_nbytes, const char *suffix)
{
	const size_t nbytes = strlen(suffix);

	return path_nbytes > nbytes &&
	       memcmp(path + path_nbytes - nbytes, suffix, nbytes) == 0;
}

/*
 * Fill in the public description of format 'f'.  Return false if 'f' is NULL.
 */
static bool
give(const struct format *f, struct hatf_format *format_ret)
{
	if (f == NULL)
		return false;

	const struct hatf_format format = {
		.name = f->name,
		.suffix = f->suffix,
		.other_suffixes = f->other_suffixes,
		.about = f->about,
		.keeps = f->keeps,
		.reads = f->source != NULL,
		.writes = f->sink != NULL,
		.by_name = f->by_name,
		.foreign = f->foreign,
	};

	sized_give(format_ret, &format, sizeof(format));
	return true;
}

bool
hatf_format_get(unsigned idx, struct hatf_format *format_ret)
{
	return give(format_at(idx), format_ret);
}

bool
hatf_format_find(const char *name, struct hatf_format *format_ret)
{
	return give(format_find(name), format_ret);
}

/*
 * Of the suffixes of format 'f', find the longest one with which the path ends.
 * Return its length; 0 if the path ends with none of them.
 */
static size_t
suffix_nbytes(const struct format *f, const char *path, size_t path_nbytes)
{
	const char *const *other = f->other_suffixes;
	size_t nbytes = 0;

	if (f->suffix != NULL && has_suffix(path, path_nbytes, f->suffix))
		nbytes = strlen(f->suffix);
	for (; other != NULL && *other != NULL; other++)
		if (strlen(*other) > nbytes &&
		    has_suffix(path, path_nbytes, *other))
			nbytes = strlen(*other);
	return nbytes;
}

/*
 * Return the compression that the suffix of the path names, or NULL.
 * '*nbytes_ret' is the length of the path without this suffix.
 */
static const char *
compression_of(const char *path, size_t path_nbytes, size_t *nbytes_ret)
{
	static const struct {
		const char *suffix, *compression;
	} endings[] = { { ".gz", "gzip" },
			{ ".zst", "zstd" },
			{ ".lz4", "lz4" } };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (has_suffix(path, path_nbytes, endings[i].suffix)) {
			*nbytes_ret = path_nbytes - strlen(endings[i].suffix);
			return endings[i].compression;
		}
	*nbytes_ret = path_nbytes;
	return NULL;
}

/* Can a file in this format have this compression (NULL: none)? */
static bool
supports_compression(const struct format *f, const char *compression)
{
	if (compression == NULL)
		return true;
	return !f->compresses_parts &&
	       (!f->compresses || strcmp(compression, "gzip") == 0);
}

const char *
hatf_format_of_path(const char *path, const char **compression_ret)
{
	const struct format *format = NULL;
	size_t path_nbytes, longest = 0;

	*compression_ret = compression_of(path, strlen(path), &path_nbytes);
	for (size_t i = 0; i < FORMAT_COUNT; i++) {
		const struct format *const f = &formats[i];
		const size_t nbytes = suffix_nbytes(f, path, path_nbytes);

		/*
		 * Prefer the longest suffix, because ".dhat.json" also ends in
		 * ".json".
		 */
		if (nbytes <= longest || f->sink == NULL ||
		    !supports_compression(f, *compression_ret))
			continue;
		longest = nbytes;
		format = f;
	}
	if (format == NULL)
		return NULL;
	if (format->compresses_parts)
		*compression_ret = "gzip";
	return format->name;
}
