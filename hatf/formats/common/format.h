/* SPDX-License-Identifier: MIT */
/*
 * format.h - the interface between reader, writer and trace formats
 *
 * hatf_reader and hatf_writer do what is the same for all formats.  The reader
 * opens the file, decompresses it, recognizes the format by the first bytes,
 * and checks the records against what our comments say.  The writer removes
 * what the options omit, checks the records, and makes the header and trailer
 * comments.  Each format has a source and a sink:
 *
 *	source	bytes of the window -> records
 *	sink	records -> bytes of the outfile
 *
 * A trace has the same records in each of our formats.  The first record is the
 * header comment ("HATF 1.0"), the last is the trailer comment ("HATF end").
 * Both are records like any other, so a reader of any of these formats sees
 * whether the trace is complete.  If a format 'owns_framing', its source and
 * sink themselves check and make what only HATF has: metadata, trace blocks,
 * and "hatf_bytes" in the trailer.  Foreign formats, those of other systems,
 * have neither header nor trailer; some have another mark for the end of a
 * complete trace.
 *
 * source.c defines the functions source_...(), sink.c the functions sink_...(),
 * and formats.c the table.  Only one thread may use a source or a sink.
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
 * A trace that is being read; the reader owns it.  A format keeps its own state
 * in 'ctx'.
 */
struct source {
	/* the format advances window.next past what it has read */
	struct input_window window;
	unsigned flags; /* the flags of hatf_reader_options */
	bool is_named;	/* the caller has named this format */
	/* the format's own data; NULL before open() */
	void *ctx;
	/*
	 * Length in bytes of the uncompressed trace before the next record; the
	 * format maintains it.  'hatf info' reports the value at the end of the
	 * trace as the size of the trace.
	 */
	uint64_t offset;
	uint64_t line; /* line of the next record in a text format; else 0 */
	/* Maintained by the reader, unless the format has 'owns_framing'. */
	struct tally tally;
	struct framing framing;
	/* Lines for the header of a foreign trace, added by source_header(). */
	char *header;
	size_t header_nbytes;
	/* the status is HATF_OK until source_stop() is called */
	struct hatf_error err;
};

/*
 * How a format is read.  These functions run in the thread that calls the
 * reader.
 */
struct source_ops {
	/*
	 * Prepare to read from the first byte.  Return HATF_OK, or the status
	 * passed to source_stop().
	 */
	enum hatf_status (*open)(struct source *s);
	/*
	 * Read up to 'max' records and return their number.  If the trace ends
	 * after these records, or an error follows them, call source_stop()
	 * before returning; only then may the result be 0.  The reader does not
	 * call read() again after source_stop().
	 *
	 * Set the 'offset' of each record, and set to 0 every field that the
	 * format does not have.  The memory that a record points to must stay
	 * valid until the next call of read().
	 */
	size_t (*read)(struct source *s, struct hatf_record *records,
		       size_t max);
	/*
	 * Free 'ctx', which may be NULL.  If 'close' is NULL, there is nothing
	 * to free.
	 */
	void (*close)(struct source *s);
};

/*
 * Stop reading after the records that the present call of read() returns.  The
 * status is HATF_END, or the error of the record at s->offset; 'field' is a
 * static name or NULL.  Return 'status'.
 */
enum hatf_status source_stop(struct source *s, enum hatf_status status,
			     const char *field);

/*
 * Stop because the input has no more bytes.  The last 'left' bytes in the
 * window are not a complete record.  If reading the input has failed, the
 * status is that of the failure.  Otherwise, the status is HATF_END if 'left'
 * is 0, and HATF_TRUNCATED if 'left' is not 0.  Return the status.
 */
enum hatf_status source_stop_at_end(struct source *s, size_t left,
				    const char *field);

/*
 * Add a line "key=value" to the header.  The value comes from the foreign
 * trace, and the key is one that FORMAT "Header" defines.  Call this before
 * returning the first record, at most once for each key.  A value of more than
 * 8 KiB is truncated.  A line is omitted if the header has no room for it.  If
 * memory runs out, these functions call source_stop() and return false.
 */
bool source_header(struct source *s, const char *key, const char *value,
		   size_t nbytes);
bool source_header_u64(struct source *s, const char *key, uint64_t n);

/*
 * May the tables of a foreign trace be as large as this: the frames, stacks and
 * names in 'stacks', and 'nbytes' bytes in all other tables?  The limit depends
 * on how much of the file has been read (FORMATS "Limits").  Without the limit,
 * a small file that refers to the same definitions many times could fill the
 * memory.
 */
bool source_may_keep(const struct source *s, const struct hatf_stacks *stacks,
		     uint64_t nbytes);

/* ---------------------------------------------------------------- writing */

/* What a sink omits, by reason (see loss.h). */
enum sink_loss {
	SINK_LOSS_FREE,	      /* a free of a block that no record allocated */
	SINK_LOSS_FAILED,     /* a failed call */
	SINK_LOSS_PLACE,      /* a call site without names */
	SINK_LOSS_NAME,	      /* the end of a long name */
	SINK_LOSS_DEFINITION, /* a malformed definition of a stack */
};
#define SINK_LOSS_COUNT 5

/* A trace that is being written; the writer owns it. */
struct sink {
	struct outfile out;
	/*
	 * Path of the file during open(), NULL afterwards.  Also NULL if the
	 * caller gave a descriptor or "-".
	 */
	const char *path;
	/* The options of the caller; 'header' is invalid after open(). */
	struct hatf_writer_options options;
	/*
	 * Length in bytes of the uncompressed trace before the next record.
	 * Formats that compress maintain this length.  For other formats, the
	 * outfile counts the bytes.
	 */
	uint64_t offset;
	void *ctx; /* the format's own data; NULL before open() */
	/* Maintained by the writer, unless the format has 'owns_framing'. */
	struct tally tally;
	/* number of lost events, as the "HATF lost" comments report them */
	uint64_t lost_count;
	uint64_t losses[SINK_LOSS_COUNT];
	uint64_t last_time;
	/*
	 * Lines of the last trailer that the caller passed.  The writer does
	 * not write that trailer, but makes one of its own.
	 */
	struct comment_lines trailer;
	struct hatf_error err;
};

/*
 * How a format is written.  These functions run in the thread that calls the
 * writer.
 */
struct sink_ops {
	/*
	 * Check the options and allocate memory.  The file does not exist yet,
	 * so 'out' takes at most OUTFILE_ROOM_MAX bytes, for example a magic
	 * number.  Return HATF_OK, or the status passed to sink_fail().  If
	 * 'open' is NULL, there is nothing to do.
	 */
	enum hatf_status (*open)(struct sink *s);
	/*
	 * Write records.  They have tags 0 to 10, attributes of at most 65535
	 * bytes, and 0 in the fields that the options omit.  Return HATF_OK, or
	 * the status passed to sink_fail().  The writer checks 'out' for
	 * errors.
	 */
	enum hatf_status (*write)(struct sink *s,
				  const struct hatf_record *records, size_t n);
	/*
	 * Write to 'out' what is not written yet.  After finish(), the writer
	 * calls only close().  If 'finish' is NULL, nothing is left.
	 */
	enum hatf_status (*finish)(struct sink *s);
	/*
	 * Free 'ctx', which may be NULL.  If 'close' is NULL, there is nothing
	 * to free.
	 */
	void (*close)(struct sink *s);
};

/*
 * Set s->err to an error in the next record; 'field' is a static name or NULL.
 * Return 'status'.
 */
enum hatf_status sink_fail(struct sink *s, enum hatf_status status,
			   const char *field);

/*
 * Count records as written.  The writer calls this function, unless the format
 * has 'owns_framing'; such a format calls it itself, and adds its own comments
 * to tally.record_count.
 */
void sink_count(struct sink *s, const struct hatf_record *records, size_t n);

/* Append the text of the header comment.  Return false if it does not fit. */
bool sink_header(const struct sink *s, struct text *t);

/*
 * Append the text of the trailer comment.  The text states the number of
 * records so far, so this comment must be the next record that the caller
 * writes.  SINK_TRAILER_MAX bytes have room for the text and for what the sink
 * of HATF adds to the text: a line with a number, and a checksum.
 */
#define SINK_TRAILER_MAX 1024
void sink_trailer(const struct sink *s, struct text *t);

/* ------------------------------------------------------------------ table */

/*
 * format_recognize() passes at most this many of the first bytes to
 * recognize(), which is enough for an XML declaration, a comment and a document
 * type.
 */
#define FORMAT_PREFIX_NBYTES 512

/* A row in the table of formats. */
struct format {
	const char *name;
	/* suffix of file names, without ".gz"; NULL: none */
	const char *suffix;
	/* more suffixes, ended by NULL; or NULL: none */
	const char *const *other_suffixes;
	/* HATF_KEEPS_ bits: what the format keeps. */
	unsigned keeps;
	const char *about; /* the text of 'about' in struct hatf_format */
	/*
	 * The format belongs to another system and cannot contain our comments.
	 * Its source returns neither header nor trailer, and stops with
	 * HATF_NO_TRAILER if the end of the trace is missing.  Its sink gets
	 * neither; during open(), options.header has the lines that the header
	 * would have.
	 */
	bool foreign;
	/*
	 * The first bytes do not show the format, so the caller must name it.
	 */
	bool by_name;
	/*
	 * Calls in a trace may be in an impossible order, and some may be
	 * missing.
	 */
	bool disorderly;
	/*
	 * The sink compresses its output itself, so the writer does not
	 * compress 'out'.
	 */
	bool compresses;
	/*
	 * The sink compresses parts of the file.  The file itself is not a gzip
	 * file, even if its name ends in ".gz".
	 */
	bool compresses_parts;
	/*
	 * The source itself counts the records and checks our comments; the
	 * sink itself counts the records, and makes the header and the trailer.
	 */
	bool owns_framing;
	/*
	 * Do these first bytes of the uncompressed file begin a trace in this
	 * format?  'recognize' is NULL if the format is 'by_name' or cannot be
	 * read.  It is also NULL for "hatf", the format that is assumed if no
	 * other format recognizes the bytes.
	 */
	bool (*recognize)(const uint8_t *bytes, size_t nbytes);
	/* NULL: the format can only be written */
	const struct source_ops *source;
	const struct sink_ops *sink; /* NULL: the format can only be read */
};

/*
 * Return the format with this name (NULL: "hatf"), or NULL if there is none.
 * The table is constant; any thread may use it.
 */
const struct format *format_find(const char *name);

/*
 * Return the format at index 'idx', from 0; NULL if the table has no such
 * index.
 */
const struct format *format_at(unsigned idx);

/*
 * Return the format of a trace that begins with these bytes; "hatf" if no other
 * format recognizes them.
 */
const struct format *format_recognize(const uint8_t *bytes, size_t nbytes);

/*
 * The sources and sinks of the formats.  They are defined in the folders ours,
 * text, foreign, heaptrack, memtrace, metatf and profiles of hatf/formats.
 */
extern const struct source_ops hatf_source;
extern const struct sink_ops hatf_sink;
bool binary_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops binary_source;
extern const struct sink_ops binary_sink;
bool split_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops split_source;
extern const struct sink_ops split_sink;
bool splitaddr_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops splitaddr_source;
extern const struct sink_ops splitaddr_sink;
extern const struct source_ops ascii_source;
extern const struct sink_ops ascii_sink;
bool ascii_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops csv_source;
extern const struct sink_ops csv_sink;
bool csv_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops xml_source;
extern const struct sink_ops xml_sink;
bool xml_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops json_source;
extern const struct sink_ops json_sink;
bool json_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops hummingbird_source;
extern const struct sink_ops hummingbird_sink;
bool hummingbird_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops mtrace_source;
extern const struct sink_ops mtrace_sink;
bool mtrace_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops android_source;
extern const struct sink_ops android_sink;
bool android_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct sink_ops folded_sink;
extern const struct sink_ops dhat_sink;
extern const struct sink_ops pprof_sink;
extern const struct source_ops heaptrack_source;
extern const struct sink_ops heaptrack_sink;
bool heaptrack_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops memtrace_source;
extern const struct sink_ops memtrace_sink;
bool memtrace_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops gperftools_source;
bool gperftools_recognize(const uint8_t *bytes, size_t nbytes);

bool metatf_recognize(const uint8_t *bytes, size_t nbytes);
bool metatf_splitaddr_recognize(const uint8_t *bytes, size_t nbytes);
bool metatf_split_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops metatf_source;
extern const struct sink_ops metatf_sink;
extern const struct sink_ops metatf_splitaddr_sink;
extern const struct sink_ops metatf_split_sink;
bool mtrc_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops mtrc_source;
extern const struct sink_ops mtrc_sink;
bool mptrace_recognize(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops mptrace_source;
extern const struct sink_ops mptrace_sink;

#endif /* HATF_FORMAT_H */
