/* SPDX-License-Identifier: MIT */
/*
 * hatf.h - read and write traces in HATF, the Heap Allocation Trace Format
 *
 * The one public header of libhatf.  It offers three things:
 *
 *   the currency   'struct hatf_record', one record of HATF content, free of
 *                  widths, interpretations, blocks and compression;
 *   the streams    'hatf_reader' (file, pipe, plain or gzip -> records) and
 *                  'hatf_writer' (records -> file), in HATF and other formats;
 *   the event stage 'hatf_events' (records -> logical heap events with the live
 *                  set, object ids and lifetimes).
 *
 * Below, "FORMAT" cites a heading of FORMAT.md, which specifies HATF; "FORMATS"
 * one of formats/FORMATS.md, which specifies the other formats; and "RINGS" one
 * of rings/RINGS.md, which specifies the ring file.
 * HATF 1.0 itself is appendix A of Chilimbi, Jones, Zorn: "Designing a Trace
 * Format for Heap Allocation Events", ISMM 2000.
 *
 * Thread safety: an object may be used by one thread at a time; different
 * objects may be used by different threads at once.  Nothing here has global
 * state, prints, exits or aborts on bad input.
 */
#ifndef HATF_H
#define HATF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HATF_VERSION "0.1.0"

#if defined(__GNUC__)
#define HATF_API __attribute__((visibility("default")))
#else
#define HATF_API
#endif

/* ---------------------------------------------------------------- errors */

/* What a call came to.  Numbers are never reused. */
enum hatf_status {
	HATF_OK = 0,
	HATF_END = 1,	    /* the stream ended where a record ends */
	HATF_TRUNCATED = 2, /* the stream ends inside a record or member */
	HATF_BAD_TAG = 3,   /* a tag byte above 11 */
	/*
	 * an op, field, width or interpretation that does not exist, or not
	 * for this field
	 */
	HATF_BAD_METADATA = 4,
	HATF_BAD_COMPRESSION = 5, /* compressed data is damaged */
	HATF_NOT_HATF = 6,	  /* the file is in no known format, or empty */
	/*
	 * the records end well, the "HATF end" comment that says the trace is
	 * complete is missing
	 */
	HATF_NO_TRAILER = 7,
	HATF_IO = 8, /* a system call failed: see sys_errno */
	HATF_NO_MEMORY = 9,
	HATF_BAD_RECORD = 10,  /* writer: a record that HATF cannot express */
	HATF_LIMIT = 11,       /* a documented limit was exceeded */
	HATF_BAD_COMMENT = 12, /* a comment of ours ("HATF ...") is malformed */
	/*
	 * formats other than HATF: what stands where 'field' should is not one
	 */
	HATF_BAD_FIELD = 13,
	HATF_BAD_RINGS = 14,   /* a ring file is damaged, or none */
	HATF_IN_USE = 15,      /* the process that writes it is alive */
	HATF_OTHER_RINGS = 16, /* a ring file is not that of this trace */
	HATF_OTHER_BOOT = 17,  /* a ring file is of before the system's start */
	/* the trace is compressed by what this build has no library for */
	HATF_NO_LIBRARY = 18,
	/* a file of a kind that is known but not read: 'field' says which */
	HATF_NOT_READ = 19,
};

/*
 * Where and why something failed.  'offset' counts bytes of the uncompressed
 * stream and is that of the first byte of the record at fault; 'record' counts
 * data records (tags 0 to 10) before it.
 */
struct hatf_error {
	enum hatf_status status;
	int sys_errno;	 /* for HATF_IO, else 0 */
	uint64_t offset; /* bytes */
	/*
	 * bytes into the file itself, compressed or not: how far it had been
	 * consumed; 0 if unknown
	 */
	uint64_t file_offset;
	uint64_t record;   /* count */
	uint64_t line;	   /* of a text format, from 1; 0: it has no lines */
	const char *field; /* as FORMAT or FORMATS names it; static, or NULL */
	/* as in struct hatf_reader_stats: if not NULL, 'offset' is none of the file */
	const char *compression;
};

/* One English phrase for a status; static, never NULL. */
HATF_API const char *hatf_status_text(enum hatf_status status);

/*
 * Describe 'err' in 'buf', NUL-terminated, cut to 'nbytes': for example
 * "offset 0x1a40, record 812: size: the trace ends inside a record".
 * Returns 'buf'.
 */
HATF_API char *hatf_error_text(const struct hatf_error *err, char *buf,
			       size_t nbytes);

/* --------------------------------------------------------------- records */

/* The tags of HATF 1.0 (appendix A); FORMAT "Tags". */
enum hatf_tag {
	HATF_ALLOC = 0,
	HATF_FREE = 1,
	HATF_REALLOC_NO_ALLOC = 2,
	HATF_REALLOC_ALLOC_FREE = 3,
	HATF_REALLOC_ALLOC = 4,
	HATF_REALLOC_FREE = 5,
	HATF_CREATE_HEAP = 6,
	HATF_DESTROY_HEAP = 7,
	HATF_CREATE_THREAD = 8,
	HATF_DESTROY_THREAD = 9,
	HATF_COMMENT = 10,
	HATF_METADATA = 11,
};
#define HATF_TAG_COUNT 12

/* "alloc", "free", "reallocNoAlloc", ... as in the paper; NULL if no tag. */
HATF_API const char *hatf_tag_name(unsigned tag);

/* Fields, in the numbering of the metadata records. */
enum hatf_field {
	HATF_FIELD_SIZE = 0,
	HATF_FIELD_ADDRESS = 1,
	HATF_FIELD_TIME = 2,
	HATF_FIELD_THREAD = 3,
	HATF_FIELD_HEAP = 4,
	HATF_FIELD_ATTRIBUTES = 5,
};
#define HATF_FIELD_COUNT 6

enum hatf_interpretation {
	HATF_NONE = 0,
	HATF_DEFAULT = 1,
	HATF_BASE_OFFSET = 2,
	HATF_DELTA = 3,
	HATF_STRIDE = 4,
};

/* Width codes; 0, 1, 2, 4 and 8 stand for themselves. */
#define HATF_WIDTH_V1 9
#define HATF_WIDTH_V2 10

enum hatf_metadata_op {
	HATF_SET_FIELD_SIZE = 1,
	HATF_SET_FIELD_INTERPRETATION = 2,
};

/* A metadata record, as hatf_reader delivers it on request. */
struct hatf_metadata {
	uint8_t op;	  /* enum hatf_metadata_op */
	uint8_t field;	  /* enum hatf_field */
	uint8_t argument; /* width code, or enum hatf_interpretation */
	uint64_t value;	  /* default, base or initial value; else 0 */
	uint64_t stride;  /* for HATF_STRIDE, else 0 */
};

/*
 * One record.  Fields that a tag does not have are 0.  'attributes' holds the
 * attribute bytes, or the text of a comment (not NUL-terminated); what a reader
 * delivers stays valid until the next call on that reader.
 */
struct hatf_record {
	uint8_t tag;		    /* enum hatf_tag */
	uint32_t attributes_nbytes; /* 0 to 65535 */
	const uint8_t *attributes;
	uint64_t size;	      /* bytes asked for */
	uint64_t address;     /* alloc, free; a realloc's new address */
	uint64_t old_address; /* a realloc's, else 0 */
	uint64_t time;	      /* in the unit that the header names */
	uint64_t thread;
	uint64_t heap;
	/*
	 * reader: of the record's first byte in the uncompressed stream;
	 * ignored by writers
	 */
	uint64_t offset;
	struct hatf_metadata metadata; /* for HATF_METADATA, else all 0 */
};

/* ------------------------------------------------------------ attributes */

/*
 * Attribute bytes are a sequence of items, FORMAT "Attributes": a key byte
 * whose two top bits say what follows (0: nothing, 1: ULEB128, 2: ULEB128
 * length and bytes; 3 is reserved), so that unknown items can be stepped over.
 */
enum hatf_attr {
	HATF_ATTR_ZEROED = 0x01,    /* calloc */
	HATF_ATTR_CARRIED = 0x02,   /* it was there when the trace began */
	HATF_ATTR_ALIGNMENT = 0x41, /* bytes, as asked for */
	HATF_ATTR_PARENT = 0x42,    /* createThread: thread that created it */
	HATF_ATTR_TID = 0x43,	    /* createThread: kernel thread id */
	HATF_ATTR_START = 0x44,	    /* createThread: address of its function */
	HATF_ATTR_STACK = 0x45,	    /* alloc, free, realloc: the call's stack */
	HATF_ATTR_SAMPLES = 0x46,   /* alloc: it was chosen so many times */
	HATF_ATTR_NAME = 0x81,	    /* createThread: name */
};

/* One item: 'value' for ULEB128 kinds, 'text'/'text_nbytes' for byte kinds. */
struct hatf_attr_item {
	uint8_t key;
	uint64_t value;
	const uint8_t *text;
	size_t text_nbytes;
};

/*
 * Step through attribute bytes.  '*next' starts as the attribute bytes, 'end'
 * is one past the last.  Returns false at the end and, with '*next' left where
 * the trouble is (so '*next' != 'end'), on malformed bytes.
 */
HATF_API bool hatf_attr_next(const uint8_t **next, const uint8_t *end,
			     struct hatf_attr_item *item_ret);

/*
 * Append an item to 'buf' of 'cap' bytes of which '*used' are taken.  Returns
 * false and changes nothing if it does not fit.
 */
HATF_API bool hatf_attr_put(uint8_t *buf, size_t cap, size_t *used,
			    const struct hatf_attr_item *item);

/* ---------------------------------------------------------------- stacks */

/*
 * Where calls came from, FORMAT "Stacks".  A stack is a frame and the stack of its
 * caller, so that stacks which begin alike share what they have in common; a source
 * location alone is a stack of one frame.  Frames and stacks have ids from 1 on; 0
 * is none.  Comments define them, and the attribute STACK of a record refers to
 * them.
 *
 * One object is for writing, where each frame and stack gets an id when it first
 * comes up, or for reading, where the ids are those of the trace.  Memory is
 * O(distinct frames and stacks), of which there may be no more than these:
 */
#define HATF_FRAMES_MAX	     ((uint32_t)1 << 22)
#define HATF_STACKS_MAX	     ((uint32_t)1 << 24)
#define HATF_FRAME_TEXTS_MAX ((uint64_t)1 << 28) /* bytes of all names */

/* A place in the code.  NULL or 0: not known. */
struct hatf_frame {
	const char *function, *file; /* as in the source; NUL-terminated */
	const char *object;	     /* path of the program or library */
	uint64_t line, column;	     /* from 1 */
	uint64_t end_column; /* of what is behind the place, if below 2^32 */
	uint64_t address;    /* of the code, in the process */
};

struct hatf_stack {
	uint64_t parent; /* id of the caller's stack; 0: the outermost */
	uint64_t frame;	 /* id */
};

struct hatf_stacks;

/* Errors: HATF_NO_MEMORY. */
HATF_API enum hatf_status hatf_stacks_open(struct hatf_stacks **stacks_ret);
HATF_API void
hatf_stacks_close(struct hatf_stacks *stacks); /* NULL is allowed */

/*
 * Writing: the id of a frame, and of a stack, whose parent and frame must have
 * been added before (a parent of 0 is none).  Whatever is equal has the same id.
 * Empty names are none.  Errors: HATF_NO_MEMORY; HATF_LIMIT.
 */
HATF_API enum hatf_status hatf_stacks_add_frame(struct hatf_stacks *stacks,
						const struct hatf_frame *frame,
						uint64_t *id_ret);
HATF_API enum hatf_status hatf_stacks_add(struct hatf_stacks *stacks,
					  uint64_t parent, uint64_t frame,
					  uint64_t *id_ret);

/*
 * Writing: the text of the comment that defines what has been added and has not
 * been told of yet, into 'buf'.  Returns its length, or 0 if there is no such
 * thing.  To be called until then before a record that refers to what was added.
 * 'cap' is to be HATF_DEFINITION_MAX; a name that does not fit is left out.
 */
#define HATF_DEFINITION_MAX 65535
HATF_API size_t hatf_stacks_next(struct hatf_stacks *stacks, char *buf,
				 size_t cap);

/*
 * Reading: take note of a record, which matters only if it is a comment that
 * defines a frame or stack.  Errors: HATF_BAD_COMMENT (a number is missing or
 * malformed, an id is 0 or has been defined before, a parent or frame has not);
 * HATF_LIMIT; HATF_NO_MEMORY.  '*field_ret' is then the key at fault (static) or
 * NULL, the record is ignored, and the caller may go on: the reader of a part of a
 * trace will.
 */
HATF_API enum hatf_status hatf_stacks_note(struct hatf_stacks *stacks,
					   const struct hatf_record *rec,
					   const char **field_ret);

/*
 * After a HATF_BAD_COMMENT of hatf_stacks_note(): what is wrong with the definition,
 * as an English phrase such as "its id has been defined before"; static.
 */
HATF_API const char *hatf_stacks_fault(const struct hatf_stacks *stacks);

/* The id of the stack that the record refers to; 0: none. */
HATF_API uint64_t hatf_record_stack(const struct hatf_record *rec);

/*
 * What an id stands for; false if it is not defined, and then nothing is known of
 * it.  Going from parent to parent comes to an end; how many there are is not
 * bounded.  Names stay valid until the object is closed.
 */
HATF_API bool hatf_stacks_get(const struct hatf_stacks *stacks, uint64_t id,
			      struct hatf_stack *stack_ret);
HATF_API bool hatf_stacks_get_frame(const struct hatf_stacks *stacks,
				    uint64_t id, struct hatf_frame *frame_ret);

/* Defined so far. */
HATF_API uint64_t hatf_stacks_count(const struct hatf_stacks *stacks);
HATF_API uint64_t hatf_stacks_frame_count(const struct hatf_stacks *stacks);

/* Bytes of memory that the names of all frames take. */
HATF_API uint64_t hatf_stacks_name_nbytes(const struct hatf_stacks *stacks);

/* ---------------------------------------------------------------- reader */

struct hatf_reader;

enum {
	HATF_READ_METADATA = 1, /* deliver metadata records too */
	/*
	 * "hummingbird": the address of a block is the number of its
	 * allocation, from 1, in place of its tag
	 */
	HATF_READ_SEQUENCE_TAGS = 2,
	/*
	 * formats that do not promise an order ("mtrace", "heaptrack", ...):
	 * count what cannot have happened so, see struct hatf_reader_stats;
	 * takes memory for each live address
	 */
	HATF_READ_DISORDER = 4,
	/* a directory or another file gave 'path', no user: open it like
	 * hatf_open_found() */
	HATF_READ_FOUND = 8,
};

/*
 * So many threads, 0 (the default) to HATF_READ_JOBS_MAX, that inflate the blocks of
 * a compressed HATF trace while the caller works on the records before them.  They
 * are the reader's own, touch only its memory (1 MiB and that of two more blocks
 * each), block all signals, and end with hatf_reader_close().  Where they cannot
 * be had or are of no use, reading goes on without them.
 */
#define HATF_READ_JOBS_MAX 64
#define HATF_READ_JOBS(n) \
	((unsigned)((n) < HATF_READ_JOBS_MAX ? (n) : HATF_READ_JOBS_MAX) << 8)

/*
 * Open 'path' ("-" is standard input; a pipe will do), in any of the formats of
 * hatf_format_get() that can be read, plain or compressed by gzip, zstd or lz4, told apart by content.  'flags' is 0 or
 * any of the flags above and HATF_READ_JOBS(n).  On success stores a reader, to
 * be closed by the caller.  Errors: HATF_IO, HATF_NO_MEMORY, HATF_NOT_HATF (empty,
 * or the first bytes are no trace), HATF_NO_LIBRARY, with '*err' filled in if it is not NULL.
 */
HATF_API enum hatf_status hatf_reader_open(const char *path, unsigned flags,
					   struct hatf_reader **reader_ret,
					   struct hatf_error *err);

/*
 * Open for reading a file in a directory that somebody else can write to.  It
 * must be regular, and none that the kernel makes up (procfs, sysfs and their
 * like); all others are not even opened, so no device notices.  Never waits,
 * and never follows a symbolic link in the last place.  Returns a descriptor,
 * or -1 with errno: ELOOP for a symbolic link, EISDIR, or ENOTSUP for anything
 * else.
 */
HATF_API int hatf_open_found(const char *path);

/* Like hatf_reader_open(), but takes a descriptor; it stays the caller's. */
HATF_API enum hatf_status hatf_reader_open_fd(int fd, unsigned flags,
					      struct hatf_reader **reader_ret,
					      struct hatf_error *err);

/*
 * Read up to 'max' records into 'records'; '*n_ret' tells how many.  HATF_OK
 * comes with at least one record.  At the end of the stream the result is
 * HATF_END with none, or HATF_NO_TRAILER if the trace is one of ours (it began
 * with a "HATF 1.0" comment) and does not say that it is complete.  On an error,
 * the records before it are delivered first, and the error is sticky: each later
 * call repeats it.
 */
HATF_API enum hatf_status hatf_reader_read(struct hatf_reader *reader,
					   struct hatf_record *records,
					   size_t max, size_t *n_ret);

/*
 * Like the two above, but the caller knows the format, by its name: the only
 * way to open a trace in one that its content cannot tell ('by_name' in struct
 * hatf_format).  With "hatf" every legal stream is read, even if its first
 * records are so strange that it would not be recognised (HATF_NOT_HATF), or be
 * taken for another format; an illegal record is an error when it is read.  All
 * other formats are recognised by the trace's content whatever name is given,
 * so hatf_reader_format() may name another one.  NULL: by content.  More
 * errors:  HATF_LIMIT, with 'field' "format": there is no such format, or it
 * can only be written.
 */
HATF_API enum hatf_status
hatf_reader_open_as(const char *path, const char *format, unsigned flags,
		    struct hatf_reader **reader_ret, struct hatf_error *err);
HATF_API enum hatf_status
hatf_reader_open_fd_as(int fd, const char *format, unsigned flags,
		       struct hatf_reader **reader_ret, struct hatf_error *err);

/* The name of the format that the trace is in; static. */
HATF_API const char *hatf_reader_format(const struct hatf_reader *reader);

/* The error of the last call that did not return HATF_OK or HATF_END. */
HATF_API const struct hatf_error *
hatf_reader_error(const struct hatf_reader *reader);

/*
 * The value of 'key' in the header comment ("HATF 1.0") or, once it has been
 * read, in the trailer ("HATF end"); NUL-terminated and unescaped; NULL if there
 * is none.  Stays valid until the reader is closed (header) or until the next
 * read (trailer).  The header is read by hatf_reader_open().
 */
HATF_API const char *hatf_reader_header(const struct hatf_reader *reader,
					const char *key);
HATF_API const char *hatf_reader_trailer(const struct hatf_reader *reader,
					 const char *key);

/*
 * What a trace in the format of another system says that belongs in a header: lines
 * for hatf_writer_options.header, "" if it says nothing.  NULL if the trace is in a
 * format of ours, which has a header comment or none.  Valid until the reader is
 * closed.
 */
HATF_API const char *hatf_reader_header_lines(const struct hatf_reader *reader);

/*
 * The part of all words that were allocated which have been looked at: 1, or less of
 * a trace of samples (FORMATS "memtrace"), which has the blocks only in which one of
 * them lies.
 */
HATF_API double hatf_reader_sample_rate(const struct hatf_reader *reader);

/* What has been read so far. */
struct hatf_reader_stats {
	uint64_t file_nbytes;		       /* consumed of the file */
	uint64_t hatf_nbytes;		       /* of the uncompressed stream */
	uint64_t record_count[HATF_TAG_COUNT]; /* by tag, metadata too */
	uint64_t block_count;		       /* "HATF block" comments */
	uint64_t lost_count; /* events, by the "HATF lost" comments */
	bool compressed;
	const char *compression; /* "gzip", "zstd", "lz4", or NULL; static */
	bool ours;		 /* began with a "HATF 1.0" comment */
	bool foreign;		 /* the format is another system's */
	/*
	 * the last comment is a trailer that says so; for a trace that is not
	 * ours: the end was reached without an error
	 */
	bool complete;
	/*
	 * With HATF_READ_DISORDER: allocs of a live address, and frees and
	 * reallocs of one that is not; of the first one what it is (NULL: there
	 * is none; static), the number of its record, from 0, and the offset of
	 * that in the uncompressed stream
	 */
	uint64_t disorder_count;
	const char *disorder;
	uint64_t disorder_record, disorder_offset;
};
HATF_API void hatf_reader_get_stats(const struct hatf_reader *reader,
				    struct hatf_reader_stats *stats_ret);

/* Free the reader; NULL is allowed. */
HATF_API void hatf_reader_close(struct hatf_reader *reader);

/* ---------------------------------------------------------------- writer */

struct hatf_writer;

/* The n-th format's name, from 0; NULL if there are not so many. */
HATF_API const char *hatf_format_name(unsigned idx);

/* What traces in a format keep of HATF's. */
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

struct hatf_format {
	const char *name;
	const char *suffix; /* of file names, ".hatf"; NULL: none */
	/* others, which stand for it too, up to a NULL; NULL: there are none */
	const char *const *other_suffixes;
	bool reads, writes; /* there is a reader, a writer for it */
	bool by_name;	    /* see hatf_reader_open_as() */
	bool foreign;	    /* another system's: no comments of ours */
	unsigned keeps;	    /* HATF_KEEPS_ bits */
	/* whose it is, and what is peculiar to it: some phrases of English */
	const char *about;
};

/* Like hatf_format_name(), but all of it; static texts.  False: not so many. */
HATF_API bool hatf_format_get(unsigned idx, struct hatf_format *format_ret);

/*
 * The format that a file name stands for by its end, ".hatf" or ".hatf.gz" for
 * "hatf", or NULL; static.  '*compression_ret' becomes "gzip", "zstd" or "lz4" (static)
 * if the name ends in ".gz", ".zst" or ".lz4", even if the rest tells no format;
 * "gzip" if the format is one that compresses parts of the file; else NULL.
 */
HATF_API const char *hatf_format_of_path(const char *path,
					 const char **compression_ret);

/*
 * The n-th way of placing metadata, from 0; NULL if there are not so many.  The
 * first is "online", the recorder's; then come the techniques of the paper's section
 * 3.3, then "optimum", the fewest bytes that HATF 1.0 can have, and last "smallest",
 * which compresses each block in a few of these ways and keeps the smallest; of a
 * plain trace it is the optimum.  All but "online" hold back 32768 records, take up to 64 MiB of memory,
 * and some microseconds a record.
 */
HATF_API const char *hatf_placement_name(unsigned idx);

/*
 * What a writer may leave out: the field in all records, or, for the comments,
 * whole records.  Without threads and heaps, the records of their creation and
 * destruction are left out too.  Comments that define frames and stacks go with the
 * attributes that refer to them, not with the others.
 */
enum {
	HATF_DROP_TIME = 1 << HATF_FIELD_TIME,
	HATF_DROP_THREAD = 1 << HATF_FIELD_THREAD,
	HATF_DROP_HEAP = 1 << HATF_FIELD_HEAP,
	HATF_DROP_ATTRIBUTES = 1 << HATF_FIELD_ATTRIBUTES,
	HATF_DROP_COMMENTS = 1 << HATF_FIELD_COUNT,
};

/* How to write.  All zero is a sensible default: HATF, gzip, 256 KiB a block. */
struct hatf_writer_options {
	bool plain; /* no compression */
	/*
	 * 0: the default, 10 or 6; "hatf": 1 (fast, as the recorder does) to
	 * 12 (small), of which 4 to 9 are zlib's; other formats: that of the
	 * library that compresses, 1 to 9
	 */
	int level;
	bool bare;	 /* the records alone: no header, blocks, trailer */
	bool incomplete; /* as with hatf_writer_set_incomplete() */
	unsigned drop;	 /* HATF_DROP_ bits */
	/*
	 * further lines "key=value\n" for the header comment, values escaped;
	 * NULL for none
	 */
	const char *header;
	const char *format; /* hatf_format_name(); NULL: "hatf" */
	/*
	 * "hummingbird": tags are numbers of allocations, from 1, and not
	 * addresses
	 */
	bool sequence_tags;
	/*
	 * HATF only, how metadata is placed: hatf_placement_name(); NULL:
	 * "online"
	 */
	const char *placement;
	/*
	 * unless 'plain', and for formats that are not "hatf", "split" or
	 * "splitaddr": "gzip" (as NULL), "zstd" or "lz4"
	 */
	const char *compression;
};

/*
 * Make a file that only its owner may read and write (mode 0600), or empty the
 * one that is there and give it that mode.  For data from a trace, which has
 * command lines and addresses.  Returns a descriptor to write to, or -1 with
 * errno; EPERM: a regular file of another user, who could read it whatever its
 * mode.  A file that is not regular is opened as it is.
 */
HATF_API int hatf_create_file(const char *path);

/*
 * Make a trace at 'path' ("-" is standard output) as hatf_create_file() makes a
 * file.  'options' may be NULL.  Errors: HATF_IO, HATF_NO_MEMORY, HATF_LIMIT
 * (header too long; no such level, placement or compression; no such format, or
 * it can only be read: the error's 'field' says which), HATF_NO_LIBRARY (for
 * the compression).
 */
HATF_API enum hatf_status
hatf_writer_open(const char *path, const struct hatf_writer_options *options,
		 struct hatf_writer **writer_ret, struct hatf_error *err);

/* Like hatf_writer_open(), but takes a descriptor; it stays the caller's. */
HATF_API enum hatf_status
hatf_writer_open_fd(int fd, const struct hatf_writer_options *options,
		    struct hatf_writer **writer_ret, struct hatf_error *err);

/*
 * Append records.  HATF_COMMENT is allowed, HATF_METADATA is not (the writer
 * places its own); comments of our own framing ("HATF block", "HATF sum", "HATF
 * end", "HATF 1.0") are dropped, since the writer makes its own (unless
 * 'bare'); of the last "HATF end", it takes over how the program ended and what
 * the recording cost.  Errors: HATF_IO; HATF_NO_MEMORY; HATF_BAD_RECORD: no
 * such tag, too many attributes, or, unless 'bare', a "HATF lost" comment
 * without a count; sticky.
 */
HATF_API enum hatf_status hatf_writer_write(struct hatf_writer *writer,
					    const struct hatf_record *records,
					    size_t n);

/*
 * What is written comes from a trace that turned out not to be complete: the
 * trailer is to say so.
 */
HATF_API void hatf_writer_set_incomplete(struct hatf_writer *writer);

/*
 * What the format has left out, though it keeps the like of it (struct
 * hatf_format): frees of blocks that it has no name for, say.
 */
struct hatf_loss {
	const char *text; /* what: a plural, static */
	uint64_t count;	  /* how often so far; may be 0 */
};

/* Stores the idx-th kind of loss, from 0.  False if there are not so many. */
HATF_API bool hatf_writer_get_loss(const struct hatf_writer *writer,
				   unsigned idx, struct hatf_loss *loss_ret);

HATF_API const struct hatf_error *
hatf_writer_error(const struct hatf_writer *writer);

/*
 * Write what is left and a trailer, close the file and free the writer.  The
 * result is that of the whole trace.  NULL is allowed and gives HATF_OK.
 */
HATF_API enum hatf_status hatf_writer_close(struct hatf_writer *writer,
					    struct hatf_error *err);

/* ----------------------------------------------------------- event stage */

/* A logical event: what the program did, whatever records it took. */
enum hatf_event_kind {
	HATF_EVENT_ALLOC, /* malloc and friends; address 0: it failed; see also
			     'carried' */
	HATF_EVENT_FREE,
	HATF_EVENT_REALLOC, /* every realloc, also failed and in-place ones */
	HATF_EVENT_THREAD_CREATE,
	HATF_EVENT_THREAD_DESTROY,
	HATF_EVENT_HEAP_CREATE,
	HATF_EVENT_HEAP_DESTROY,
	HATF_EVENT_COMMENT,
};

/* What is wrong with an event; 0 is "nothing". */
enum hatf_violation {
	HATF_VIOLATION_NONE = 0,
	HATF_VIOLATION_ALLOC_LIVE = 1,	    /* address handed out while live */
	HATF_VIOLATION_FREE_UNKNOWN = 2,    /* free of what is not live */
	HATF_VIOLATION_REALLOC_UNKNOWN = 3, /* realloc of what is not live */
	HATF_VIOLATION_TIME = 4,	    /* time went back */
	/*
	 * created twice, destroyed without having been created, or an event of
	 * a thread that does not exist
	 */
	HATF_VIOLATION_THREAD = 5,
	HATF_VIOLATION_HEAP = 6, /* likewise for heaps */
	/* a realloc's announced alloc and free do not match it */
	HATF_VIOLATION_PAIRING = 7,
};
HATF_API const char *hatf_violation_text(enum hatf_violation violation);

struct hatf_event {
	enum hatf_event_kind kind;
	enum hatf_violation violation; /* the first one found */
	uint8_t tag;		       /* of its first record */
	uint64_t record;	       /* number of its first record, from 0 */
	uint64_t offset;	       /* of its first record */
	uint64_t time, thread, heap;
	uint64_t address;     /* the new block; 0: none */
	uint64_t size;	      /* bytes asked for */
	uint64_t old_address; /* the block that died or was resized */
	uint64_t old_size;    /* its size; 0 if unknown */
	/*
	 * id of the object concerned, from 1 in order of allocation; a realloc
	 * keeps it, also when the block moves; 0: no object
	 */
	uint64_t object;
	uint64_t birth_time;  /* when the object was allocated */
	uint64_t birth_event; /* number of the event that allocated it */
	/*
	 * a free or realloc of a block that a forked child has from its parent,
	 * or a process from before its trace began; 'object' and the birth are
	 * then 0, unless a realloc made it known, and 'old_size' is 0 if the
	 * parent's trace has not been read
	 */
	bool inherited;
	/*
	 * the object lived when the trace began, which says so: an alloc is then
	 * no event of this trace, and birth_time and birth_event are those of the
	 * trace's beginning
	 */
	bool carried;
	const uint8_t *attributes; /* of the first record; as in hatf_record */
	uint32_t attributes_nbytes;
};

struct hatf_events;

/*
 * An event stage over 'reader', which stays the caller's and must outlive it.
 * Memory is O(live objects).  Errors: HATF_NO_MEMORY.
 */
HATF_API enum hatf_status hatf_events_open(struct hatf_reader *reader,
					   struct hatf_events **events_ret);

/* What is known of the blocks that a forked child has from its parent. */
enum hatf_heritage {
	HATF_HERITAGE_NONE = 0,	   /* it is no such child */
	HATF_HERITAGE_EXACT = 1,   /* all: they are live from the start */
	HATF_HERITAGE_UNKNOWN = 2, /* nobody asked */
	/* the trace does not say exactly when it forked (FORMAT "Header") */
	HATF_HERITAGE_INEXACT = 3,
	HATF_HERITAGE_MISSING = 4, /* the trace of an ancestor was not found */
	/*
	 * the trace of an ancestor is damaged, ends before the fork or has lost
	 * events
	 */
	HATF_HERITAGE_DAMAGED = 5,
};
/* One English phrase; static, never NULL. */
HATF_API const char *hatf_heritage_text(enum hatf_heritage heritage);

/*
 * Before the first event of a forked child is read: read its parent's trace up
 * to the fork, that of the parent's parent before, and so on, so that the
 * inherited blocks are live from the start.  From then on a free of what is not
 * live is a violation as in any trace.  A parent's trace is looked for beside
 * 'path', which is where the child's trace is (NULL or "-": not known; then in
 * the working directory), and where the child's header says, if that is an
 * absolute path and the file there is of the owner of the child's.  Files are
 * opened as by hatf_open_found(), and at most HATF_ANCESTORS_MAX of them.  What
 * has been found is in '*heritage_ret'; unless it is HATF_HERITAGE_EXACT, the
 * first free of each unknown address is taken for one of an inherited block, as
 * without this call.  Memory is O(live objects).  Errors: HATF_NO_MEMORY.
 */
#define HATF_ANCESTORS_MAX 64
HATF_API enum hatf_status hatf_events_inherit(struct hatf_events *events,
					      const char *path,
					      enum hatf_heritage *heritage_ret);

/*
 * Read up to 'max' events; results as for hatf_reader_read() (the reader holds
 * the error), and HATF_NO_MEMORY.  An event with a violation is delivered like
 * any other, and what follows is judged as if the program was right (the block
 * is live from its latest alloc on).
 */
HATF_API enum hatf_status hatf_events_read(struct hatf_events *events,
					   struct hatf_event *out, size_t max,
					   size_t *n_ret);

struct hatf_events_stats {
	uint64_t event_count; /* alloc, free, realloc */
	uint64_t live_count, live_nbytes;
	uint64_t peak_live_count, peak_live_nbytes; /* each at its own peak */
	uint64_t thread_count; /* that ever existed, the initial one too */
	uint64_t first_time, last_time;
	uint64_t inherited_count; /* frees and reallocs of inherited blocks */
	/* after hatf_events_inherit(): at the fork, and of these still live */
	uint64_t start_live_count, start_live_nbytes;
	uint64_t inherited_live_count, inherited_live_nbytes;
	enum hatf_heritage heritage;
	uint64_t violation_count;
	/* Blocks that lived when the trace began, as far as it says so. */
	uint64_t carried_count, carried_nbytes;
};
HATF_API void hatf_events_get_stats(const struct hatf_events *events,
				    struct hatf_events_stats *stats_ret);

/* An object that is live after the events read so far. */
struct hatf_live {
	uint64_t address, size, heap;
	uint64_t object; /* id; the rest is as in hatf_event */
	uint64_t birth_time, birth_event;
	bool carried;
};

/*
 * Call 'visit' for each live object, in no particular order, until it returns
 * false.  It must not use 'events'.  Returns whether it was called for all.
 */
HATF_API bool
hatf_events_visit_live(const struct hatf_events *events,
		       bool (*visit)(void *ctx, const struct hatf_live *live),
		       void *ctx);

/*
 * Keep the live objects in the order of their addresses, too, from here on, for the
 * two functions below.  It takes half a byte for each 4096 addresses with objects,
 * where these lie side by side.  HATF_OK or HATF_NO_MEMORY.
 */
HATF_API enum hatf_status hatf_events_keep_order(struct hatf_events *events);

/*
 * The last live object of 'heap' before 'address', or the first one behind it that
 * begins at 'last' at the latest, is copied to '*live_ret'; false if there is none, or
 * if 'last' is less than 'address'.  Only after
 * hatf_events_keep_order().  The state is that after all events that were read: read
 * them one by one to look at each.
 */
HATF_API bool hatf_events_live_before(struct hatf_events *events, uint64_t heap,
				      uint64_t address,
				      struct hatf_live *live_ret);
HATF_API bool hatf_events_live_behind(struct hatf_events *events, uint64_t heap,
				      uint64_t address, uint64_t last,
				      struct hatf_live *live_ret);

/* Free the stage, not the reader; NULL is allowed. */
HATF_API void hatf_events_close(struct hatf_events *events);

/* -------------------------------------------------------------- recovery */

/*
 * A process that is killed, or ends by a system call that its tracer does not
 * see, leaves its trace without the last events and without a trailer, and
 * beside it a ring file (RINGS.md), which has the rest.
 */

#define HATF_RECOVER_DRY_RUN 1u /* change nothing, say what would be done */
/*
 * Take a ring file of before the system's last start, or of another machine, and
 * take what is left of a damaged one.  The trace is then not called complete.
 */
#define HATF_RECOVER_FORCE 2u
/*
 * What the caller knows of the process, as its parent: it ended by a system
 * call of its own, past libc; or by a signal.  The trailer says so.
 */
#define HATF_RECOVER_EXITED 4u
#define HATF_RECOVER_KILLED 8u

/* A ring file has the name of its first trace, and this. */
#define HATF_RINGS_SUFFIX ".rings"

struct hatf_recovery {
	char trace[4096];     /* path of the trace, NUL-terminated; or "" */
	uint64_t pid;	      /* of the process; 0: unknown */
	bool had_trailer;     /* it had nothing to recover */
	bool complete;	      /* every event is in the trace */
	uint64_t event_count; /* logical events in the trace now */
	uint64_t recovered;   /* of these come from the rings */
	uint64_t cut_nbytes;  /* of the file, of a block cut off */
	uint64_t gap_nbytes;  /* that were in the file, and are not there */
	uint64_t lost_count;  /* events that the trace says are missing */
};

/*
 * Find the ring file that belongs to 'trace' and copy its path, NUL-terminated.
 * It is beside the trace, or where the trace says that it is, if that is an
 * absolute path and the file there is of the trace's owner.  For root it is
 * only beside the trace: whoever wrote the trace may have written its owner's
 * name into the rest, too.  Files are opened as by hatf_open_found().  False if
 * there is none, or its path does not fit.
 */
HATF_API bool hatf_find_rings(const char *trace, char *path, size_t nbytes);

/* What a ring file says of itself. */
struct hatf_rings {
	char trace[4096]; /* its trace's path when that was made; "": unknown */
	uint64_t pid;	  /* of the process */
	bool in_use;	  /* by the process, which is alive, or by a recovery */
};

/* Look at the ring file at 'rings'.  Errors: HATF_BAD_RINGS, HATF_IO,
 * HATF_NO_MEMORY. */
HATF_API enum hatf_status hatf_look_at_rings(const char *rings,
					     struct hatf_rings *rings_ret,
					     struct hatf_error *err);

/*
 * Complete a trace from the ring file at 'rings': cut off a block that was not
 * written whole, append every event that the rings have and the trace has not,
 * and a trailer that says so; then remove the ring file.  Of a trace that is
 * shorter than it was (power loss, a copy cut off) the whole blocks are kept,
 * and all events after them are counted as lost.  'trace' is the path of the
 * trace; NULL: the one that the ring file names, beside it or where it was, or
 * the one beside it with its name.  May be interrupted and called again.
 *
 * The directories of 'rings' and 'trace' are followed as they are given; files
 * are opened as by hatf_open_found().  Nothing is written or removed but what
 * was checked before, in the directories in which it was found, whatever their
 * names come to mean meanwhile.
 *
 * '*recovery_ret' is filled in as far as known, on errors too.  Errors: HATF_IO
 * (of the trace if its name is there and 'file_offset' is 0, else of the ring
 * file), HATF_NO_MEMORY, HATF_LIMIT, and the last four of enum hatf_status; the
 * trace is as it was then, except after HATF_IO while it was being written.
 */
HATF_API enum hatf_status hatf_recover(const char *rings, const char *trace,
				       unsigned flags,
				       struct hatf_recovery *recovery_ret,
				       struct hatf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HATF_H */
