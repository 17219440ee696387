/* SPDX-License-Identifier: MIT */
/*
 * hatf_stream.h - part of hatf.h: formats, readers, writers
 *
 * A reader turns a file, pipe or descriptor into records, a writer turns
 * records into a file, in HATF and in other formats.  hatf.h says what holds
 * for all functions: failure, threads, ownership, growth.
 */
#ifndef HATF_PUBLIC_STREAM_H
#define HATF_PUBLIC_STREAM_H

#include "hatf_content.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- formats */

/* What traces in a format keep of a HATF trace. */
enum {
	HATF_KEEPS_SIZE = 1 << 0,	 /* to the byte */
	HATF_KEEPS_ADDRESS = 1 << 1,	 /* of blocks */
	HATF_KEEPS_OLD_ADDRESS = 1 << 2, /* of the block that a realloc ended */
	HATF_KEEPS_REALLOC = 1 << 3, /* as such, not as a free and an alloc */
	HATF_KEEPS_THREAD = 1 << 4,
	HATF_KEEPS_TIME = 1 << 5,
	HATF_KEEPS_HEAP = 1 << 6,
	/* all but STACK: alignment, names of threads, ... */
	HATF_KEEPS_ATTRIBUTES = 1 << 7,
	HATF_KEEPS_SITE = 1 << 8,      /* the innermost frame of stacks */
	HATF_KEEPS_STACKS = 1 << 9,    /* all frames */
	HATF_KEEPS_SYMBOLS = 1 << 10,  /* functions, files and lines of them */
	HATF_KEEPS_COMMENTS = 1 << 11, /* all others */
};
#define HATF_KEEPS_COUNT 12

/* A format.  All pointers are to static data. */
struct hatf_format {
	size_t struct_nbytes; /* set by the caller, see hatf.h */
	const char *name;
	const char *suffix; /* of file names, ".hatf"; NULL: none */
	/* more suffixes, up to a NULL; NULL: there are none */
	const char *const *other_suffixes;
	/*
	 * the system that the format belongs to, and its peculiarities: a few
	 * English phrases
	 */
	const char *about;
	unsigned keeps;	    /* HATF_KEEPS_ bits */
	bool reads, writes; /* there is a reader, a writer for it */
	/* its content does not show it: readers must be told its name */
	bool by_name;
	bool foreign; /* another system's: it has no comments of ours */
};

/*
 * List the formats: store the idx-th, from 0.  False, and nothing is stored, if
 * there are not so many.
 */
HATF_API bool hatf_format_get(unsigned idx, struct hatf_format *format_ret);

/*
 * Look a format up: store the one that is called 'name'; NULL stands for
 * "hatf".  False, and nothing is stored, if there is none.
 */
HATF_API bool hatf_format_find(const char *name,
			       struct hatf_format *format_ret);

/*
 * Choose a format by a file name, to write it: the name of the format that the
 * end of 'path' stands for, such as "hatf" for ".hatf" or ".hatf.gz"; static;
 * NULL if there is none.  '*compression_ret' becomes "gzip", "zstd" or "lz4"
 * (static) if the name ends in ".gz", ".zst" or ".lz4", even if the rest tells
 * no format; "gzip" if the format is one that compresses parts of the file;
 * else NULL.
 *
 * To detect the format of a trace by its content, open it and call
 * hatf_reader_format().
 */
HATF_API const char *hatf_format_of_path(const char *path,
					 const char **compression_ret);

/* ----------------------------------------------------------------- files */

/*
 * Open a file for reading whose name came from a directory or from another
 * file, which somebody else may have written.  It must be a regular file, and
 * in no file system of the kernel's own (procfs, sysfs and their like);
 * anything else is not even opened, so that no device notices.  The call never
 * waits, and never follows a symbolic link in the last component of 'path'.
 * Stores a descriptor, which the caller closes.  Errors: HATF_IO, whose
 * sys_errno is ELOOP for a symbolic link, EISDIR for a directory, ENOTSUP for
 * anything else that is refused.
 */
HATF_API enum hatf_status hatf_file_open_found(const char *path, int *fd_ret,
					       struct hatf_error *err);

/*
 * Make a file that only its owner may read and write (mode 0600), or empty the
 * one that exists and give it that mode.  For data from a trace, which has
 * command lines and addresses.  A file that is not regular is opened as it is.
 * Stores a descriptor to write to, which the caller closes.  Errors: HATF_IO,
 * whose sys_errno is EPERM for a regular file of another user, who could read
 * it whatever its mode.
 */
HATF_API enum hatf_status hatf_file_create(const char *path, int *fd_ret,
					   struct hatf_error *err);

/* ---------------------------------------------------------------- reader */

struct hatf_reader;

/* Bits of hatf_reader_options.flags. */
enum {
	HATF_READER_METADATA = 1, /* deliver metadata records too */
	/*
	 * "hummingbird": the address of a block is the number of its
	 * allocation, from 1, instead of its tag
	 */
	HATF_READER_SEQUENCE_TAGS = 2,
	/*
	 * formats that do not promise an order ("mtrace", "heaptrack", ...):
	 * count calls that cannot have happened in this order, see struct
	 * hatf_reader_stats; takes memory for each live address
	 */
	HATF_READER_DISORDER = 4,
	/*
	 * 'path' came from a directory or another file, not from a user: open
	 * it like hatf_file_open_found()
	 */
	HATF_READER_FOUND = 8,
};

#define HATF_READER_JOBS_MAX 64

/* How to read.  All 0 but the first member is the default. */
struct hatf_reader_options {
	size_t struct_nbytes; /* set by the caller, see hatf.h */
	/*
	 * The format's name, as in struct hatf_format.  NULL: the content shows
	 * it.  A format that is 'by_name' can be read only so.  With "hatf"
	 * every legal stream is read, even one whose first records look like no
	 * trace or like another format; an illegal record is an error when it
	 * is read.  All other formats are detected by content whatever is given
	 * here, and hatf_reader_format() may then differ from it.
	 */
	const char *format;
	int fd; /* read from it if the path is NULL; 0: standard input */
	unsigned flags; /* HATF_READER_ bits */
	/*
	 * How many threads inflate the blocks of a compressed HATF trace while
	 * the caller works on the records before them: 0 (none) to
	 * HATF_READER_JOBS_MAX.  They belong to the reader, touch only its
	 * memory (1 MiB and two more blocks each), block all signals, and end
	 * with hatf_reader_close().  Where threads cannot be had or cannot
	 * help, the reader continues without them.
	 */
	unsigned jobs;
	unsigned reserved; /* 0 */
};

/*
 * Open the trace at 'path': a file or a pipe; "-" is standard input; NULL is
 * the descriptor options->fd, which stays the caller's and is not closed.  The
 * trace may be in any format that can be read, plain or compressed by gzip,
 * zstd or lz4.  Reads its header.  'options' may be NULL, for the defaults; it
 * is used during the call only.
 *
 * Stores a reader, which the caller closes.  Errors: HATF_IO; HATF_NO_MEMORY;
 * HATF_NOT_HATF (the file is empty, or its first bytes are no trace);
 * HATF_NOT_READ; HATF_NO_LIBRARY; HATF_BAD_OPTION ("struct_nbytes"; "flags":
 * an unknown bit; "jobs": too many; "reserved"; "format": there is no such
 * format, or it can only be written); and those of a damaged trace, where its
 * first bytes are damaged: HATF_TRUNCATED, HATF_BAD_COMPRESSION, HATF_LIMIT,
 * HATF_BAD_FIELD, HATF_BAD_COMMENT.
 */
HATF_API enum hatf_status
hatf_reader_open(const char *path, const struct hatf_reader_options *options,
		 struct hatf_reader **reader_ret, struct hatf_error *err);

/*
 * Read up to 'max' records into 'records' and store in '*n_ret' how many.
 * HATF_OK comes with at least one record.  At the end of the stream the result
 * is HATF_END with none, or HATF_NO_TRAILER if the trace is one of ours (it
 * began with a "HATF 1.0" comment) and does not say that it is complete.  On an
 * error, the records before it are delivered first; the error is sticky: each
 * later call repeats it.
 *
 * Errors: HATF_NO_TRAILER, HATF_TRUNCATED, HATF_BAD_TAG, HATF_BAD_METADATA,
 * HATF_BAD_COMPRESSION, HATF_BAD_COMMENT, HATF_BAD_FIELD, HATF_LIMIT, HATF_IO,
 * HATF_NO_MEMORY; hatf_reader_error() has the place.
 */
HATF_API enum hatf_status hatf_reader_read(struct hatf_reader *reader,
					   struct hatf_record *records,
					   size_t max, size_t *n_ret);

/* The name of the format that the trace is in; static. */
HATF_API const char *hatf_reader_format(const struct hatf_reader *reader);

/*
 * The error of the last call that did not return HATF_OK or HATF_END; its
 * status is HATF_OK if there was none.  Valid until the reader is closed.
 */
HATF_API const struct hatf_error *
hatf_reader_error(const struct hatf_reader *reader);

/*
 * The value of 'key' in the header comment ("HATF 1.0") or, once the reader has
 * read it, in the trailer ("HATF end"); NUL-terminated and unescaped; NULL if
 * there is none.  FORMAT "Header" and "Trailer" list the keys.  Valid until the
 * reader is closed (header) or until the next read (trailer).
 */
HATF_API const char *hatf_reader_header(const struct hatf_reader *reader,
					const char *key);
HATF_API const char *hatf_reader_trailer(const struct hatf_reader *reader,
					 const char *key);

/*
 * What a trace in the format of another system says that belongs in a header:
 * lines for hatf_writer_options.header, "" if it says nothing.  NULL if the
 * format is one of ours.  Valid until the reader is closed.
 */
HATF_API const char *hatf_reader_header_lines(const struct hatf_reader *reader);

/*
 * The fraction of allocated words that were sampled: 1, or less for a trace of
 * samples (FORMATS "memtrace"), which has only the blocks with a sampled word.
 */
HATF_API double hatf_reader_sample_rate(const struct hatf_reader *reader);

/* What a reader has read so far. */
struct hatf_reader_stats {
	size_t struct_nbytes; /* set by the caller, see hatf.h */
	uint64_t file_nbytes; /* consumed of the file */
	uint64_t hatf_nbytes; /* of the uncompressed stream */
	uint64_t record_count[HATF_TAG_COUNT]; /* by tag, metadata too */
	uint64_t block_count;		       /* "HATF block" comments */
	uint64_t lost_count;	 /* events, by the "HATF lost" comments */
	const char *compression; /* "gzip", "zstd", "lz4", or NULL; static */
	/*
	 * With HATF_READER_DISORDER: how many allocs have a live address, and
	 * frees and reallocs one that is not live.  Of the first such record: a
	 * phrase that says what is wrong (static; NULL: there is none), its
	 * number, from 0, and its offset in the uncompressed stream.
	 */
	uint64_t disorder_count;
	const char *disorder;
	uint64_t disorder_record, disorder_offset;
	bool compressed;
	bool ours;    /* began with a "HATF 1.0" comment */
	bool foreign; /* the format is another system's */
	/*
	 * the last comment is a trailer that says so; for a trace that is not
	 * ours: the reader reached the end without an error
	 */
	bool complete;
	uint8_t reserved[4]; /* 0 */
};
HATF_API void hatf_reader_get_stats(const struct hatf_reader *reader,
				    struct hatf_reader_stats *stats_ret);

/* Free the reader; NULL is allowed. */
HATF_API void hatf_reader_close(struct hatf_reader *reader);

/* ---------------------------------------------------------------- writer */

struct hatf_writer;

/*
 * The name of the idx-th way to place metadata, from 0; static; NULL if there
 * are not so many.  The first is "online", the recorder's; then come the
 * techniques of the paper's section 3.3, then "optimum", the fewest bytes that
 * HATF 1.0 can have, and last "smallest", which compresses each block in a few
 * of these ways and keeps the smallest; of a plain trace it is the optimum.
 * All but "online" hold back 32768 records, take up to 64 MiB of memory, and
 * some microseconds a record.
 */
HATF_API const char *hatf_writer_placement(unsigned idx);

/*
 * What a writer may leave out: the field in all records, or, for the comments,
 * whole records.  Without threads or heaps, the records that create and destroy
 * them are left out too.  Comments that define frames and stacks are dropped
 * with the attributes, which refer to them, and not with the other comments.
 */
enum {
	HATF_DROP_TIME = 1 << HATF_FIELD_TIME,
	HATF_DROP_THREAD = 1 << HATF_FIELD_THREAD,
	HATF_DROP_HEAP = 1 << HATF_FIELD_HEAP,
	HATF_DROP_ATTRIBUTES = 1 << HATF_FIELD_ATTRIBUTES,
	HATF_DROP_COMMENTS = 1 << HATF_FIELD_COUNT,
};

/* How to write.  All 0 but the first member: HATF, gzip, 256 KiB a block. */
struct hatf_writer_options {
	size_t struct_nbytes; /* set by the caller, see hatf.h */
	const char *format;   /* as in struct hatf_format; NULL: "hatf" */
	/*
	 * unless 'plain', and for formats that are not "hatf", "split" or
	 * "splitaddr": "gzip" (as NULL), "zstd" or "lz4"
	 */
	const char *compression;
	/* HATF only: hatf_writer_placement(); NULL: "online" */
	const char *placement;
	/*
	 * further lines "key=value\n" for the header comment, values escaped;
	 * NULL: none
	 */
	const char *header;
	int fd; /* write to it if the path is NULL */
	/*
	 * 0: the default, 10 or 6; "hatf": 1 (fast, as the recorder does) to
	 * 12 (small), of which 4 to 9 are zlib's; other formats: that of the
	 * library that compresses, 1 to 9
	 */
	int level;
	unsigned drop; /* HATF_DROP_ bits */
	bool plain;    /* no compression */
	bool bare;     /* the records alone: no header, blocks, trailer */
	/* as if hatf_writer_set_incomplete() was called */
	bool incomplete;
	/*
	 * "hummingbird": tags are numbers of allocations, from 1, and not
	 * addresses
	 */
	bool sequence_tags;
};

/*
 * Make a trace at 'path' as hatf_file_create() makes a file; "-" is standard
 * output; NULL is the descriptor options->fd, which stays the caller's and is
 * not closed.  'options' may be NULL, for the defaults, unless 'path' is; it is
 * used during the call only.
 *
 * Stores a writer, which the caller closes.  Errors: HATF_IO; HATF_NO_MEMORY;
 * HATF_LIMIT ("header": too long); HATF_BAD_OPTION ("struct_nbytes"; "drop": an
 * unknown bit; "level", "placement", "compression": the format has none such;
 * "format": there is no such format, or it can only be read); HATF_NO_LIBRARY
 * (for the compression).
 */
HATF_API enum hatf_status
hatf_writer_open(const char *path, const struct hatf_writer_options *options,
		 struct hatf_writer **writer_ret, struct hatf_error *err);

/*
 * Append 'n' records; they are copied.  HATF_COMMENT is allowed, HATF_METADATA
 * is not: the writer places metadata itself.  Unless 'bare', comments of our
 * own framing ("HATF block", "HATF sum", "HATF end", "HATF 1.0") are dropped,
 * since the writer makes its own; from the last "HATF end" it takes over how
 * the program ended and what the recording cost.
 *
 * Errors, all sticky: HATF_IO; HATF_NO_MEMORY; HATF_LIMIT; HATF_BAD_RECORD (no
 * such tag, too many attributes, or, unless 'bare', a "HATF lost" comment
 * without a count); hatf_writer_error() has the place.
 */
HATF_API enum hatf_status hatf_writer_write(struct hatf_writer *writer,
					    const struct hatf_record *records,
					    size_t n);

/*
 * Let the trailer say that the trace is incomplete: the records come from a
 * trace that turned out not to be complete.
 */
HATF_API void hatf_writer_set_incomplete(struct hatf_writer *writer);

/*
 * What the writer has left out, though the format keeps its kind (struct
 * hatf_format): frees of blocks that the format has no name for, for example.
 */
struct hatf_loss {
	const char *text; /* what: a plural, static */
	uint64_t count;	  /* how often so far; may be 0 */
};

/* Store the idx-th kind of loss, from 0.  False if there are not so many. */
HATF_API bool hatf_writer_get_loss(const struct hatf_writer *writer,
				   unsigned idx, struct hatf_loss *loss_ret);

/*
 * The first error of the writer; its status is HATF_OK if there was none.
 * Valid until the writer is closed.
 */
HATF_API const struct hatf_error *
hatf_writer_error(const struct hatf_writer *writer);

/*
 * Write what is left and a trailer, close the file and free the writer, on
 * errors too.  The result is that of the whole trace: HATF_OK or the first
 * error of hatf_writer_write() or of this call.  NULL is allowed and gives
 * HATF_OK.
 */
HATF_API enum hatf_status hatf_writer_close(struct hatf_writer *writer,
					    struct hatf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HATF_PUBLIC_STREAM_H */
