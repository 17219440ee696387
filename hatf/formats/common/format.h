/* SPDX-License-Identifier: MIT */
/*
 * format.h - the interface between reader, writer and trace formats
 *
 * hatf_reader and hatf_writer work alike for all formats.  The reader opens the
 * file, decompresses it, picks the format by the first bytes, and checks the
 * records against the claims in our comments.  The writer removes what the
 * caller drops, checks the records, and makes the header and trailer comments.
 * Each format supplies the part in between:
 *
 *	source	bytes of the window -> records
 *	sink	records -> bytes of the outfile
 *
 * A trace in one of our formats has the same records in each: the first is the
 * header comment ("HATF 1.0"), the last the trailer comment ("HATF end").  Both
 * are records like any other, so completeness is visible in each format.
 * Formats with 'owns_framing' make and check by themselves what only HATF has:
 * metadata, blocks, and "hatf_bytes" in the trailer.  Foreign formats, those of
 * other systems, have neither header nor trailer; each has its own mark of
 * completeness or none.
 *
 * source.c defines the functions source_...(), sink.c those called sink_...(),
 * and formats.c the table.  One thread uses a source or a sink.
 */
#ifndef HATF_FORMAT_H
#define HATF_FORMAT_H

#include "hatf/codec/comment_text.h"
#include "hatf/formats/common/framing.h"
#include "hatf/formats/common/tally.h"
#include "hatf/hatf.h"
#include "hatf/io/comment_lines.h"
#include "hatf/io/input_window.h"
#include "hatf/io/outfile.h"

/* ---------------------------------------------------------------- reading */

/*
 * A trace being read, owned by the reader.  A format keeps its own state in
 * 'ctx'.
 */
struct source {
	struct input_window window; /* the format advances window.next */
	unsigned flags;		    /* as given to hatf_reader_open() */
	bool is_named;		    /* the caller has named this format */
	void *ctx;		    /* the format's own; NULL before open() */
	/*
	 * Bytes of the uncompressed trace before the next record, maintained by
	 * the format.  'hatf info' reports the last value as the size of the
	 * trace.
	 */
	uint64_t offset;
	uint64_t line; /* line of the next record in a text format; else 0 */
	/* Maintained by the reader, unless the format 'owns_framing'. */
	struct tally tally;
	struct framing framing;
	/* Header lines of a foreign trace, see source_header(). */
	char *header;
	size_t header_nbytes;
	/* HATF_OK until source_stop() is called. */
	struct hatf_error err;
};

/* How a format is read.  The reader calls these from its own thread. */
struct source_ops {
	/*
	 * Prepare to read from the first byte.  Returns HATF_OK, or the status
	 * passed to source_stop().
	 */
	enum hatf_status (*open)(struct source *s);
	/*
	 * Read up to 'max' records and return their number.  Where reading ends
	 * after these records, at the end or with an error, call source_stop()
	 * first; only then may the result be 0.  It is not called again after
	 * that.
	 *
	 * Each record has its 'offset', and 0 in every field that the format
	 * does not have.  Memory that a record points to stays valid until the
	 * next call.
	 */
	size_t (*read)(struct source *s, struct hatf_record *records,
		       size_t max);
	/* Free 'ctx', which may be NULL.  NULL: nothing to free. */
	void (*close)(struct source *s);
};

/*
 * Stop reading after the records that this call of read() returns.  The status
 * is HATF_END, or the error of the record at s->offset; 'field' is a static
 * name or NULL.  Returns 'status'.
 */
enum hatf_status source_stop(struct source *s, enum hatf_status status,
			     const char *field);

/*
 * Stop because the window has no more bytes.  'left' bytes remain, of an
 * incomplete record: HATF_TRUNCATED unless 'left' is 0, or the error of the
 * input.  Returns the status.
 */
enum hatf_status source_stop_at_end(struct source *s, size_t left,
				    const char *field);

/*
 * Add a line to the header: a foreign trace states a fact for which our header
 * has a key (FORMAT "Header").  Call this before returning the first record, at
 * most once for each key.  A value longer than a header allows is truncated.
 * Returns false after source_stop() if memory is short.
 */
bool source_header(struct source *s, const char *key, const char *value,
		   size_t nbytes);
bool source_header_u64(struct source *s, const char *key, uint64_t n);

/*
 * Return true if the tables of a foreign trace may grow to the frames, stacks
 * and names in 'stacks' plus 'nbytes' bytes, given the size of the file read so
 * far (FORMATS "Limits").  Without this limit a small file that refers to the
 * same definitions again and again could fill the memory.
 */
bool source_may_keep(const struct source *s, const struct hatf_stacks *stacks,
		     uint64_t nbytes);

/* ---------------------------------------------------------------- writing */

/* Reasons for which a sink leaves something out, see loss.h. */
enum sink_loss {
	SINK_LOSS_FREE,	      /* free of a block that was not recorded */
	SINK_LOSS_FAILED,     /* failed call */
	SINK_LOSS_PLACE,      /* call site without names */
	SINK_LOSS_NAME,	      /* end of a long name */
	SINK_LOSS_DEFINITION, /* malformed definition of a stack */
};
#define SINK_LOSS_COUNT 5

/* A trace being written, owned by the writer. */
struct sink {
	struct outfile out;
	const char *path; /* NULL: a descriptor; invalid after open() */
	/* As given by the caller; 'header' is invalid after open(). */
	struct hatf_writer_options options;
	/*
	 * Bytes of the uncompressed trace before the next record.  Maintained
	 * by formats that compress; for others, the outfile counts them.
	 */
	uint64_t offset;
	void *ctx; /* the format's own; NULL before open() */
	/* Maintained by the writer, unless the format 'owns_framing'. */
	struct tally tally;
	uint64_t lost_count; /* sum of the "HATF lost" comments */
	uint64_t losses[SINK_LOSS_COUNT];
	uint64_t last_time;
	/*
	 * Lines of the last trailer among the records; that record is not
	 * written.
	 */
	struct comment_lines trailer;
	struct hatf_error err;
};

/* How a format is written.  The writer calls these from its own thread. */
struct sink_ops {
	/*
	 * Check the options and allocate.  The file does not exist yet, so
	 * 'out' takes at most OUTFILE_ROOM_MAX bytes: a magic number, for
	 * example.  Returns HATF_OK, or the status passed to sink_fail().
	 * NULL: nothing to do.
	 */
	enum hatf_status (*open)(struct sink *s);
	/*
	 * Write records.  They have tags 0 to 10, attributes of at most 65535
	 * bytes, and 0 in dropped fields.  Returns HATF_OK, or the status
	 * passed to sink_fail().  The writer checks 'out' for errors.
	 */
	enum hatf_status (*write)(struct sink *s,
				  const struct hatf_record *records, size_t n);
	/*
	 * Write the rest to 'out'.  Only close() follows.  NULL: nothing to
	 * write.
	 */
	enum hatf_status (*finish)(struct sink *s);
	/* Free 'ctx', which may be NULL.  NULL: nothing to free. */
	void (*close)(struct sink *s);
};

/*
 * Set s->err for the next record, with 'field' static or NULL.  Returns
 * 'status'.
 */
enum hatf_status sink_fail(struct sink *s, enum hatf_status status,
			   const char *field);

/*
 * Count records as written.  The writer calls this, except for formats that own
 * the framing: those call it themselves, and add their own comments to
 * tally.record_count.
 */
void sink_count(struct sink *s, const struct hatf_record *records, size_t n);

/* Append the text of the header comment.  Returns false if it does not fit. */
bool sink_header(const struct sink *s, struct text *t);

/*
 * Append the text of the trailer comment, which must be written next.  A buffer
 * of SINK_TRAILER_MAX bytes has room for it, one more number and a sum.
 */
#define SINK_TRAILER_MAX 1024
void sink_trailer(const struct sink *s, struct text *t);

/* ------------------------------------------------------------------ table */

/*
 * recognise() gets at most this many first bytes: enough for an XML
 * declaration, a comment and a document type.
 */
#define FORMAT_PREFIX_NBYTES 512

/* A row of the table of formats. */
struct format {
	const char *name;
	const char *suffix; /* of file names, without ".gz"; NULL: none */
	const char *const *other_suffixes; /* ends with NULL; or NULL: none */
	unsigned keeps;			   /* HATF_KEEPS_ bits */
	const char *about;		   /* as in struct hatf_format */
	/*
	 * The format belongs to another system and has no place for our
	 * comments.  The source delivers neither header nor trailer, and stops
	 * with HATF_NO_TRAILER if the trace lacks its end.  The sink gets
	 * neither; during open(), options.header has the lines that the header
	 * would have.
	 */
	bool foreign;
	/*
	 * The first bytes do not identify the format: used only where the
	 * caller names it.
	 */
	bool by_name;
	/* Calls may be in an impossible order, and some may be missing. */
	bool disorderly;
	/* The sink compresses by itself; 'out' must be uncompressed. */
	bool compresses;
	/*
	 * The sink compresses parts of the file.  The file itself is not a gzip
	 * file, whatever its name.
	 */
	bool compresses_parts;
	/*
	 * The source counts the records and checks their comments itself.  The
	 * sink counts records and makes header and trailer itself.
	 */
	bool owns_framing;
	/*
	 * Return true if these first bytes of the uncompressed file begin a
	 * trace in this format.  NULL: the format is 'by_name', or is the one
	 * that remains when no other recognises the bytes.
	 */
	bool (*recognise)(const uint8_t *bytes, size_t nbytes);
	/* NULL: the format can only be written */
	const struct source_ops *source;
	const struct sink_ops *sink; /* NULL: the format can only be read */
};

/*
 * Return the format with this name (NULL: "hatf"), or NULL if there is none.
 * The table is constant; any thread may use it.
 */
const struct format *format_find(const char *name);

/* Return the format at index 'idx', from 0, or NULL past the last. */
const struct format *format_at(unsigned idx);

/* Return the format of a trace that begins with these bytes. */
const struct format *format_recognise(const uint8_t *bytes, size_t nbytes);

/*
 * The formats, each in one or two files of ours, text, foreign, heaptrack,
 * memtrace and profiles.
 */
extern const struct source_ops hatf_source;
extern const struct sink_ops hatf_sink;
bool binary_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops binary_source;
extern const struct sink_ops binary_sink;
bool split_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops split_source;
extern const struct sink_ops split_sink;
bool splitaddr_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops splitaddr_source;
extern const struct sink_ops splitaddr_sink;
extern const struct source_ops ascii_source;
extern const struct sink_ops ascii_sink;
bool ascii_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops csv_source;
extern const struct sink_ops csv_sink;
bool csv_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops xml_source;
extern const struct sink_ops xml_sink;
bool xml_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops json_source;
extern const struct sink_ops json_sink;
bool json_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops hummingbird_source;
extern const struct sink_ops hummingbird_sink;
bool hummingbird_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops mtrace_source;
extern const struct sink_ops mtrace_sink;
bool mtrace_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops android_source;
extern const struct sink_ops android_sink;
bool android_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct sink_ops folded_sink;
extern const struct sink_ops dhat_sink;
extern const struct sink_ops pprof_sink;
extern const struct source_ops heaptrack_source;
extern const struct sink_ops heaptrack_sink;
bool heaptrack_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops memtrace_source;
extern const struct sink_ops memtrace_sink;
bool memtrace_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops gperftools_source;
bool gperftools_recognise(const uint8_t *bytes, size_t nbytes);

bool metatf_recognise(const uint8_t *bytes, size_t nbytes);
bool metatf_splitaddr_recognise(const uint8_t *bytes, size_t nbytes);
bool metatf_split_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops metatf_source;
extern const struct sink_ops metatf_sink;
extern const struct sink_ops metatf_splitaddr_sink;
extern const struct sink_ops metatf_split_sink;
bool mtrc_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops mtrc_source;
extern const struct sink_ops mtrc_sink;
bool mptrace_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops mptrace_source;
extern const struct sink_ops mptrace_sink;

#endif /* HATF_FORMAT_H */
