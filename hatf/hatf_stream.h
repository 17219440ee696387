/* SPDX-License-Identifier: MIT */
/*
 * hatf_stream.h - part of hatf.h: formats, readers, writers
 *
 * A reader turns a file, pipe or descriptor into records.  A writer turns
 * records into a file.  Readers and writers support HATF and other formats.
 * hatf.h describes what all functions have in common: failure, threads,
 * ownership, growth.
 */
#ifndef HATF_PUBLIC_STREAM_H
#define HATF_PUBLIC_STREAM_H

#include "hatf_content.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- formats */

/* Which parts of a HATF trace a format keeps. */
enum {
	HATF_KEEPS_SIZE = 1 << 0,    /* exact sizes in bytes */
	HATF_KEEPS_ADDRESS = 1 << 1, /* addresses of blocks */
	/* Address of the block that a realloc freed or resized. */
	HATF_KEEPS_OLD_ADDRESS = 1 << 2,
	/* A realloc as one action, instead of a free and an alloc. */
	HATF_KEEPS_REALLOC = 1 << 3,
	HATF_KEEPS_THREAD = 1 << 4,
	HATF_KEEPS_TIME = 1 << 5,
	HATF_KEEPS_HEAP = 1 << 6,
	/* the attributes other than STACK, such as the names of threads */
	HATF_KEEPS_ATTRIBUTES = 1 << 7,
	HATF_KEEPS_SITE = 1 << 8,   /* the innermost frame of stacks */
	HATF_KEEPS_STACKS = 1 << 9, /* all frames of stacks */
	/* Functions, files and lines of frames. */
	HATF_KEEPS_SYMBOLS = 1 << 10,
	/* all comments that do not define frames or stacks */
	HATF_KEEPS_COMMENTS = 1 << 11,
};
#define HATF_KEEPS_COUNT 12

/* A format.  All pointers point to static data. */
struct hatf_format {
	/* the caller sets it to the sizeof the struct, see hatf.h */
	size_t struct_nbytes;
	const char *name;
	/* suffix of file names, such as ".hatf"; NULL: none */
	const char *suffix;
	/* more suffixes, ended by a NULL; NULL: there are none */
	const char *const *other_suffixes;
	/*
	 * the system that the format belongs to, and the peculiarities of the
	 * format: a few English phrases
	 */
	const char *about;
	/* HATF_KEEPS_ bits: what traces in this format keep */
	unsigned keeps;
	/*
	 * whether the library can read traces in this format; whether it can
	 * write them
	 */
	bool reads, writes;
	/*
	 * the content of a file does not show that it has this format, so the
	 * caller must name the format to open a reader
	 */
	bool by_name;
	/*
	 * The format belongs to another system, and cannot contain HATF
	 * comments.
	 */
	bool foreign;
};

/*
 * List the formats: store the format with index 'idx', from 0.  Return false
 * and store nothing if no format has this index.
 */
HATF_API bool hatf_format_get(unsigned idx, struct hatf_format *format_ret);

/*
 * Store the format with this name; NULL stands for "hatf".  Return false and
 * store nothing if no format has this name.
 */
HATF_API bool hatf_format_find(const char *name,
			       struct hatf_format *format_ret);

/*
 * Choose a format and a compression for writing by a file name.  Return the
 * name of the format to which the suffix of 'path' belongs, such as "hatf" for
 * ".hatf" or ".hatf.gz" (static).  Return NULL if no format with this suffix
 * can be written with the compression that the name states.  Set
 * '*compression_ret' (static) to
 *
 *   - "gzip", "zstd" or "lz4" if the name ends in ".gz", ".zst" or ".lz4", even
 *     if the rest of the name belongs to no format;
 *   - "gzip" if the name ends in none of these, but the format compresses parts
 *     of the file;
 *   - NULL otherwise.
 *
 * To detect the format of a trace by its content, open the trace and call
 * hatf_reader_format().
 */
HATF_API const char *hatf_format_of_path(const char *path,
					 const char **compression_ret);

/* ----------------------------------------------------------------- files */

/*
 * Open a file for reading.  Use this function if 'path' came from a directory
 * or from another file, because an attacker may have chosen the name.  The file
 * must be a regular file outside the kernel's own file systems (procfs, sysfs
 * and similar).  The function never opens any other file, because opening a
 * device may have effects.  The call never waits, and never follows a symbolic
 * link in the last component of 'path'.  Store a descriptor, which the caller
 * closes.  Errors: HATF_IO, whose sys_errno is ELOOP for a symbolic link,
 * EISDIR for a directory, ENOTSUP for any other file that is refused.
 */
HATF_API enum hatf_status hatf_file_open_found(const char *path, int *fd_ret,
					       struct hatf_error *err);

/*
 * Create a file that only its owner may read and write (mode 0600), or truncate
 * an existing file and give it that mode.  Use it for data from traces, which
 * contain command lines and addresses.  If the file exists and is not regular,
 * for example a device, open it and leave it as it is.  Store a descriptor for
 * writing, which the caller closes.  Errors: HATF_IO; 'sys_errno' is EPERM for
 * a regular file of another user.  Such a file is refused, because its owner
 * could read it whatever its mode.
 */
HATF_API enum hatf_status hatf_file_create(const char *path, int *fd_ret,
					   struct hatf_error *err);

/* ---------------------------------------------------------------- reader */

struct hatf_reader;

/* Bits of 'flags' in struct hatf_reader_options. */
enum {
	HATF_READER_METADATA = 1, /* return metadata records, too */
	/*
	 * for "hummingbird", whose traces name each block by a tag: number the
	 * allocations from 1, and return this number, instead of the tag, as
	 * the address of the block
	 */
	HATF_READER_SEQUENCE_TAGS = 2,
	/*
	 * for formats without a guaranteed order ("mtrace", "heaptrack", ...):
	 * count calls that cannot have happened in the order of the trace, see
	 * struct hatf_reader_stats.  This takes memory for each live address.
	 */
	HATF_READER_DISORDER = 4,
	/*
	 * 'path' came from a directory or another file, not from a user, so
	 * open the file as hatf_file_open_found() does
	 */
	HATF_READER_FOUND = 8,
};

#define HATF_READER_JOBS_MAX 64

/*
 * How to read a trace.  If all members after the first are 0, the defaults
 * apply.
 */
struct hatf_reader_options {
	/* the caller sets it to the sizeof the struct, see hatf.h */
	size_t struct_nbytes;
	/*
	 * The format's name, as in struct hatf_format:
	 *
	 *   - NULL: detect the format by the content.
	 *   - A format whose 'by_name' is set: read the file as this format.
	 *     The content does not show the format, so it must be named here.
	 *   - "hatf": read the file as HATF, even if its first records do not
	 *     look like a trace, or look like another format.  An illegal
	 *     record is an error only when it is read.
	 *   - Any other format: detect the format by the content nevertheless,
	 *     so hatf_reader_format() may return another name.
	 */
	const char *format;
	/* descriptor to read from if 'path' is NULL; 0: standard input */
	int fd;
	unsigned flags; /* HATF_READER_ bits, such as HATF_READER_FOUND */
	/*
	 * How many threads decompress later trace blocks of a HATF trace while
	 * the caller works on records of earlier trace blocks: 0 (none) to
	 * HATF_READER_JOBS_MAX.  The threads use only memory of the reader (at
	 * most 2 MiB for each thread, and 2 MiB more), block all signals, and
	 * end with hatf_reader_close().  The reader works without them if no
	 * thread can be created, or if the trace has no parts that can be
	 * decompressed separately.
	 */
	unsigned jobs;
	unsigned reserved; /* always 0 */
};

/*
 * Open the trace at 'path', a file or a pipe; "-" is standard input.  If 'path'
 * is NULL, read from the descriptor options->fd, which stays the caller's and
 * is not closed.  The trace may be in any format that can be read, plain or
 * compressed by gzip, zstd or lz4.  The call reads the header of the trace.
 * 'options' may be NULL, for the defaults; it is used only during the call.
 *
 * Store a reader, which the caller closes.  Errors: HATF_IO; HATF_NO_MEMORY;
 * HATF_NOT_HATF (the file is empty, or does not begin like a trace);
 * HATF_NOT_READ; HATF_NO_LIBRARY; HATF_BAD_OPTION ("struct_nbytes"; "flags": an
 * unknown bit; "jobs": too many; "reserved"; "format": there is no such format,
 * or it can only be written); and, if the first bytes of the trace are damaged:
 * HATF_TRUNCATED, HATF_BAD_COMPRESSION, HATF_LIMIT, HATF_BAD_FIELD,
 * HATF_BAD_COMMENT.
 */
HATF_API enum hatf_status
hatf_reader_open(const char *path, const struct hatf_reader_options *options,
		 struct hatf_reader **reader_ret, struct hatf_error *err);

/*
 * Read up to 'max' records into 'records' and store in '*n_ret' how many.  With
 * HATF_OK, there is at least one record, unless 'max' is 0.  At the end of the
 * stream, store no record and return HATF_END.  Return HATF_NO_TRAILER instead
 * if the first record was a "HATF 1.0" comment and the trailer is missing, or
 * if a trace of another system lacks the mark that must end it.  Records before
 * an error are returned before the error.  An error is sticky: each later call
 * returns it again.
 *
 * Errors: HATF_NO_TRAILER, HATF_TRUNCATED, HATF_BAD_TAG, HATF_BAD_METADATA,
 * HATF_BAD_COMPRESSION, HATF_BAD_COMMENT, HATF_BAD_FIELD, HATF_LIMIT, HATF_IO,
 * HATF_NO_MEMORY; hatf_reader_error() returns the place of the error.
 */
HATF_API enum hatf_status hatf_reader_read(struct hatf_reader *reader,
					   struct hatf_record *records,
					   size_t max, size_t *n_ret);

/* Return the name of the trace's format; static. */
HATF_API const char *hatf_reader_format(const struct hatf_reader *reader);

/*
 * After hatf_reader_read() has returned an error, return the place and the
 * reason of the error.  After HATF_END, return a struct with the status
 * HATF_OK.  The struct is valid until the reader is closed.
 */
HATF_API const struct hatf_error *
hatf_reader_error(const struct hatf_reader *reader);

/*
 * hatf_reader_header() returns the value of 'key' in the header comment ("HATF
 * 1.0") or, for a trace of another system, in the lines of
 * hatf_reader_header_lines().  hatf_reader_trailer() returns the value of 'key'
 * in the trailer ("HATF end"), if the trailer is the last record that the
 * reader has read.  Both return NULL if there is no such key.  A value is
 * NUL-terminated and unescaped.  FORMAT "Header" and "Trailer" list the keys.
 * A value of the header is valid until the reader is closed, a value of the
 * trailer until the next read.
 */
HATF_API const char *hatf_reader_header(const struct hatf_reader *reader,
					const char *key);
HATF_API const char *hatf_reader_trailer(const struct hatf_reader *reader,
					 const char *key);

/*
 * For a trace in the format of another system, return "key=value" lines that
 * describe the trace, for 'header' of struct hatf_writer_options; "" if there
 * are none.  Return NULL if the format is one of this project.  The text is
 * valid until the reader is closed.
 */
HATF_API const char *hatf_reader_header_lines(const struct hatf_reader *reader);

/*
 * Return the fraction of allocated words that were sampled.  It is 1 for a
 * trace of all blocks, and less for a trace of samples (FORMATS "memtrace"),
 * which has only the blocks with a sampled word.
 */
HATF_API double hatf_reader_sample_rate(const struct hatf_reader *reader);

/* Figures about what a reader has read so far. */
struct hatf_reader_stats {
	/* the caller sets it to the sizeof the struct, see hatf.h */
	size_t struct_nbytes;
	uint64_t file_nbytes; /* bytes of the file that were read */
	/* bytes of the uncompressed stream that were read */
	uint64_t hatf_nbytes;
	/* number of records of each tag, including metadata */
	uint64_t record_count[HATF_TAG_COUNT];
	/* Number of "HATF block" comments; 0 in formats other than HATF. */
	uint64_t block_count;
	/* Number of lost events that the "HATF lost" comments report. */
	uint64_t lost_count;
	/* compression of the file: "gzip", "zstd", "lz4", or NULL; static */
	const char *compression;
	/*
	 * With HATF_READER_DISORDER: the number of allocs of an address where a
	 * block is live, plus the number of frees and reallocs of an address
	 * where no block is live.  It is 0 if the recording began later than
	 * the process.  The next three members describe the first record that
	 * is counted: 'disorder' is a phrase for what is wrong (static; NULL:
	 * no record is counted), 'disorder_record' the record's number, from 0,
	 * and 'disorder_offset' its offset in the uncompressed stream.
	 */
	uint64_t disorder_count;
	const char *disorder;
	uint64_t disorder_record, disorder_offset;
	bool compressed;
	bool ours;    /* the first record is a "HATF 1.0" comment */
	bool foreign; /* the format belongs to another system */
	/*
	 * The last record read is a trailer that says that the trace is
	 * complete and lost no event, and no "HATF lost" comment reports a lost
	 * event.  For a trace that does not begin with our header, 'complete'
	 * only means that the reader reached the end without an error.
	 */
	bool complete;
	uint8_t reserved[4]; /* always 0 */
};
HATF_API void hatf_reader_get_stats(const struct hatf_reader *reader,
				    struct hatf_reader_stats *stats_ret);

/* Free the reader.  'reader' may be NULL. */
HATF_API void hatf_reader_close(struct hatf_reader *reader);

/* ---------------------------------------------------------------- writer */

struct hatf_writer;

/*
 * A placement is a way to choose the metadata of a trace.  Return the name of
 * placement number 'idx', from 0 (static), or NULL if there is none.  The first
 * is "online", which the recorder uses.  Then come the techniques of the
 * paper's section 3.3, and "optimum", which gives the fewest bytes that HATF
 * 1.0 can have before compression.  The last is "smallest", which compresses
 * each trace block with a few of these placements and keeps the smallest
 * result; without compression it equals "optimum".  All placements but "online"
 * buffer 32768 records, take some microseconds per record, and reserve about
 * 128 MiB of address space, of which a real trace uses about a tenth.
 */
HATF_API const char *hatf_writer_placement(unsigned idx);

/*
 * What a writer may omit: one field of all records or, with HATF_DROP_COMMENTS,
 * the comments.  If threads or heaps are omitted, so are the records that
 * create and destroy them.  The comments that define frames and stacks are kept
 * as long as the attributes, which refer to them: HATF_DROP_ATTRIBUTES omits
 * these comments, and HATF_DROP_COMMENTS does not.
 */
enum {
	HATF_DROP_TIME = 1 << HATF_FIELD_TIME,
	HATF_DROP_THREAD = 1 << HATF_FIELD_THREAD,
	HATF_DROP_HEAP = 1 << HATF_FIELD_HEAP,
	HATF_DROP_ATTRIBUTES = 1 << HATF_FIELD_ATTRIBUTES,
	HATF_DROP_COMMENTS = 1 << HATF_FIELD_COUNT,
};

/*
 * How to write a trace.  If all members after the first are 0, the writer
 * writes HATF with gzip and 256 KiB per trace block.
 */
struct hatf_writer_options {
	/* the caller sets it to the sizeof the struct, see hatf.h */
	size_t struct_nbytes;
	const char *format; /* name as in struct hatf_format; NULL: "hatf" */
	/*
	 * "gzip" (NULL means the same), "zstd" or "lz4"; ignored if 'plain' is
	 * set.  The formats "hatf", "split", "splitaddr" and those of Meta-TF
	 * compress by themselves, and accept only "gzip"
	 */
	const char *compression;
	/*
	 * name of a placement (hatf_writer_placement()); NULL: "online"; only
	 * the format "hatf" has placements, and other formats ignore the name
	 */
	const char *placement;
	/*
	 * additional lines "key=value\n" for the header comment, with escaped
	 * values; NULL: none
	 */
	const char *header;
	int fd; /* descriptor to write to if 'path' is NULL */
	/*
	 * Level of compression; 0: the default.  "hatf": 1 (fast, as in the
	 * recorder) to 12 (small), default 10; 4 to 9 are zlib's levels.  Other
	 * formats: a level of the compression library, 1 to 9; the default is 6
	 * for gzip (9 in the formats of Meta-TF), and the library's own for
	 * zstd and lz4
	 */
	int level;
	unsigned drop; /* HATF_DROP_ bits: what to omit */
	bool plain;    /* do not compress */
	/*
	 * write the records alone: no header, block comments, checksums or
	 * trailer; formats of other systems ignore this
	 */
	bool bare;
	/* the trace is incomplete, see hatf_writer_set_incomplete() */
	bool incomplete;
	/*
	 * for "hummingbird": write the number of each block's allocation, from
	 * 1, as the tag of the block, instead of the block's address
	 */
	bool sequence_tags;
};

/*
 * Create a trace at 'path', as hatf_file_create() does; "-" is standard output.
 * If 'path' is NULL, write to the descriptor options->fd, which the caller
 * closes.  Otherwise 'options' may be NULL, for the defaults.  The call uses
 * 'options' only until it returns.
 *
 * Store a writer, which the caller closes.  Errors: HATF_IO; HATF_NO_MEMORY;
 * HATF_LIMIT ("header": too long); HATF_BAD_OPTION ("struct_nbytes"; "drop": an
 * unknown bit; "level", "compression": not for this format; "placement": there
 * is no such placement; "format": there is no such format, or it can only be
 * read); HATF_NO_LIBRARY (for the compression).
 */
HATF_API enum hatf_status
hatf_writer_open(const char *path, const struct hatf_writer_options *options,
		 struct hatf_writer **writer_ret, struct hatf_error *err);

/*
 * Append 'n' records; they are copied.  HATF_COMMENT is allowed, HATF_METADATA
 * is not, because the writer places metadata itself.  Unless 'bare' is set, the
 * comments "HATF block", "HATF sum", "HATF end" and "HATF 1.0" are dropped,
 * since the writer makes its own.  The writer's own trailer repeats what the
 * last dropped "HATF end" says about how the program ended and what the
 * recording cost.  "HATF stacks" comments are always dropped, because a reader
 * has added their stacks to the attributes of the records.
 *
 * Errors, all sticky: HATF_IO; HATF_NO_MEMORY; HATF_LIMIT; HATF_BAD_RECORD (the
 * tag is unknown or HATF_METADATA; more than 65535 attribute bytes; a "HATF
 * lost" comment without a valid count, unless 'bare' is set or the format
 * belongs to another system).  hatf_writer_error() returns the place of the
 * error.
 */
HATF_API enum hatf_status hatf_writer_write(struct hatf_writer *writer,
					    const struct hatf_record *records,
					    size_t n);

/*
 * Let the trailer say that the trace is incomplete.  Call this if the records
 * come from an incomplete trace.
 */
HATF_API void hatf_writer_set_incomplete(struct hatf_writer *writer);

/*
 * Content that the writer had to omit in some records, although the format
 * usually keeps such content ('keeps' of struct hatf_format).  For example, a
 * format may be unable to express a free of a block that no record allocated.
 */
struct hatf_loss {
	const char *text; /* what was omitted: a plural noun; static */
	uint64_t count;	  /* how many were omitted so far; may be 0 */
};

/*
 * Store the kind of loss with index 'idx', from 0.  Return false if there is
 * none.
 */
HATF_API bool hatf_writer_get_loss(const struct hatf_writer *writer,
				   unsigned idx, struct hatf_loss *loss_ret);

/*
 * Return the first error of the writer; its status is HATF_OK if there was
 * none.  The result is valid until the writer is closed.
 */
HATF_API const struct hatf_error *
hatf_writer_error(const struct hatf_writer *writer);

/*
 * Write what is buffered, and the trailer if traces in this format have one.
 * Write nothing more after an error.  Close the file if the writer opened it,
 * and free the writer, even after an error.  Return the status of the whole
 * trace: HATF_OK, or the first error of hatf_writer_write() or of this call.
 * 'writer' may be NULL; the result is then HATF_OK.
 */
HATF_API enum hatf_status hatf_writer_close(struct hatf_writer *writer,
					    struct hatf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HATF_PUBLIC_STREAM_H */
