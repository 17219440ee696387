/* SPDX-License-Identifier: MIT */
/*
 * format.h - what a trace format is: a row of the table that reader and writer use
 *
 * hatf_reader and hatf_writer are the same for all formats.  The reader opens the
 * file, undoes gzip, picks the format by the first bytes, and holds the claims of
 * our comments against the records; the writer drops what is to be left out,
 * checks the records, and makes the header and trailer comments.  In between is a
 * format's own part:
 *
 *	source	bytes of the window -> records
 *	sink	records -> bytes of the outfile
 *
 * A trace of ours is the same in every format of ours: the header comment ("HATF 1.0")
 * is its first record and the trailer ("HATF end") its last, both records like
 * any other; so each format can tell whether a trace is complete.  What only HATF
 * has (metadata, blocks, "hatf_bytes" in the trailer) is made and checked by the
 * formats with 'frames' themselves.  Formats of other systems, 'foreign' ones, have
 * neither header nor trailer: they know in their own way how a trace ends.
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
 * A trace that is being read.  Belongs to the reader; what a format needs beyond
 * it hangs on 'ctx'.
 */
struct source {
	struct window window; /* the format moves window.next */
	unsigned flags;	      /* of hatf_reader_open() */
	bool is_named;	      /* the caller has named this format */
	void *ctx;	      /* the format's own, NULL before open() */
	/*
	 * Bytes of the uncompressed trace before the next record.  The format
	 * keeps it; it is what info calls the size of the trace.
	 */
	uint64_t offset;
	uint64_t line; /* the next record's, in a text format; else 0 */
	/* Counted by the reader, unless the format 'frames'. */
	struct tally tally;
	struct framing framing;
	/* What a foreign trace has of a header, see source_header(). */
	char *header;
	size_t header_nbytes;
	/* HATF_OK until source_stop() is called. */
	struct hatf_error err;
};

struct source_ops {
	/*
	 * Prepare to read from the first byte on.  Returns HATF_OK, or what
	 * source_stop() was called with.
	 */
	enum hatf_status (*open)(struct source *s);
	/*
	 * Read up to 'max' records and return how many.  Where reading ends
	 * behind them, for good or bad, source_stop() has been called; it
	 * returns 0 only then, and is not called again.  'offset' of each
	 * record is set, fields that it does not have are 0, and what it
	 * points to stays valid until the next call.
	 */
	size_t (*read)(struct source *s, struct hatf_record *records,
		       size_t max);
	/* Free 'ctx', which may be NULL.  NULL: there is nothing. */
	void (*close)(struct source *s);
};

/*
 * Reading ends behind the records that are about to be returned: HATF_END, or the
 * error of the record at s->offset, 'field' being a static name or NULL.
 * Returns 'status'.
 */
enum hatf_status source_stop(struct source *s, enum hatf_status status,
			     const char *field);

/*
 * The window has no more bytes, and 'left' of them belong to a record that is not
 * whole: stop with what that means.
 */
enum hatf_status source_stop_at_end(struct source *s, size_t left,
				    const char *field);

/*
 * A foreign trace says something that a header of ours has a key for (FORMAT
 * "Header"): to be called before the first record is returned, once for a key.  A
 * value that no header has room for is cut.  False if there is no memory, and
 * source_stop() has been called.
 */
bool source_header(struct source *s, const char *key, const char *value,
		   size_t nbytes);
bool source_header_u64(struct source *s, const char *key, uint64_t n);

/*
 * A foreign trace may refer again and again to one definition, so its tables
 * may grow by far more than the file does.  May they hold the frames, stacks
 * and names of 'stacks' and 'nbytes' bytes more, after as much of the file as
 * has been read (FORMAT "Limits")?
 */
bool source_may_keep(const struct source *s, const struct hatf_stacks *stacks,
		     uint64_t nbytes);

/* ---------------------------------------------------------------- writing */

/* What a sink can leave out of a record, see loss.h. */
enum sink_loss {
	SINK_LOSS_FREE,	  /* the end of a block that no record has told of */
	SINK_LOSS_FAILED, /* a call that failed */
	SINK_LOSS_PLACE,  /* a call's place that has no names */
	SINK_LOSS_NAME,	  /* the end of a long name */
	SINK_LOSS_DEFINITION, /* of a stack, which is wrong */
};
#define SINK_LOSS_COUNT 5

/* A trace that is being written.  Belongs to the writer. */
struct sink {
	struct outfile out;
	const char *path; /* NULL: a descriptor; ends with open() */
	/* As the caller gave them; 'header' ends with open(). */
	struct hatf_writer_options options;
	/* Bytes of the uncompressed trace before the next record; kept by
	 * formats that 'pack', the outfile knows it for others. */
	uint64_t offset;
	void *ctx; /* the format's own, NULL before open() */
	/* Counted by the writer, unless the format 'frames'. */
	struct tally tally;
	uint64_t lost_count; /* by the "HATF lost" comments */
	uint64_t losses[SINK_LOSS_COUNT];
	uint64_t last_time;
	/* Of the last trailer among the records, which is not written. */
	struct lines trailer;
	struct hatf_error err;
};

struct sink_ops {
	/*
	 * Check the options and allocate; there is no file yet, so nothing may
	 * go to 'out' but OUTFILE_ROOM_MAX bytes, a magic number, say.  Returns
	 * HATF_OK, or what sink_fail() was called with.  NULL: nothing to do.
	 */
	enum hatf_status (*open)(struct sink *s);
	/*
	 * Write records: tags 0 to 10, attributes of at most 65535 bytes, fields
	 * that are left out 0.  Returns HATF_OK, or what sink_fail() was called
	 * with; what fails in 'out' is the writer's business.
	 */
	enum hatf_status (*write)(struct sink *s,
				  const struct hatf_record *records, size_t n);
	/*
	 * Put what is left into 'out'; no call follows but close().  NULL:
	 * nothing is left.
	 */
	enum hatf_status (*finish)(struct sink *s);
	/* Free 'ctx', which may be NULL.  NULL: there is nothing. */
	void (*close)(struct sink *s);
};

/* Keep an error of the record that comes next; returns 'status'. */
enum hatf_status sink_fail(struct sink *s, enum hatf_status status,
			   const char *field);

/*
 * Count records that are being written.  The writer calls this, but for formats that
 * 'frame': those call it themselves, and add the comments that they make to
 * tally.record_count.
 */
void sink_count(struct sink *s, const struct hatf_record *records, size_t n);

/* The text of the header comment; false if it does not fit. */
bool sink_header(const struct sink *s, struct text *t);

/*
 * The text of the trailer comment, which is to come next.  A buffer of
 * SINK_TRAILER_MAX bytes has room for it, one more number and a sum.
 */
#define SINK_TRAILER_MAX 1024
void sink_trailer(const struct sink *s, struct text *t);

/* ------------------------------------------------------------------ table */

/* As many of the first bytes as recognise() is given, if there are as many: an XML
 * declaration, a comment and a document type fit. */
#define FORMAT_PREFIX_NBYTES 512

struct format {
	const char *name;
	const char *suffix; /* of file names, without ".gz"; NULL: none */
	const char *const *other_suffixes; /* up to a NULL; NULL: none */
	unsigned keeps;			   /* HATF_KEEPS_ bits */
	const char *about;		   /* as in struct hatf_format */
	/*
	 * The format is another system's and has no place for our comments: the
	 * source delivers no header and trailer, and tells by HATF_NO_TRAILER if
	 * the trace lacks its end; the sink gets none, and finds in
	 * options.header what the header would have said (in open() only).
	 */
	bool foreign;
	/* Its traces cannot be told by their first bytes: only who names the
	 * format gets it. */
	bool by_name;
	/* It does not promise that calls are in an order in which they can have
	 * happened, nor that there is none missing. */
	bool disorderly;
	/* Its sink compresses on its own: 'out' is to be plain. */
	bool compresses;
	/* ... parts of the file, which is to be no gzip file, whatever its name. */
	bool compresses_parts;
	/*
	 * The source counts the records and checks their comments itself; the
	 * sink counts, and makes header and trailer itself.
	 */
	bool owns_framing;
	/*
	 * Do these bytes, the first of the uncompressed file, begin a trace in
	 * this format?  NULL: the format that it must be if it is no other, or
	 * one 'by_name'.
	 */
	bool (*recognise)(const uint8_t *bytes, size_t nbytes);
	const struct source_ops *source; /* NULL: it can only be written */
	const struct sink_ops *sink;	 /* NULL: it can only be read */
};

/* The format with this name ("hatf" for NULL), or NULL. */
const struct format *format_find(const char *name);

/* The n-th format, from 0, or NULL. */
const struct format *format_at(unsigned idx);

/* The format of a trace that begins with these bytes. */
const struct format *format_recognise(const uint8_t *bytes, size_t nbytes);

/* The rows: one file (or two) of this folder each. */
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

bool mtrc_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops mtrc_source;
extern const struct sink_ops mtrc_sink;
bool mptrace_recognise(const uint8_t *bytes, size_t nbytes);
extern const struct source_ops mptrace_source;
extern const struct sink_ops mptrace_sink;

#endif /* HATF_FORMAT_H */
