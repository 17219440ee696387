/* SPDX-License-Identifier: MIT */
/*
 * hatf_content.h - part of hatf.h: errors, records, attributes, stacks
 *
 * 'struct hatf_record' is what readers deliver and writers take: the content of
 * a trace, free of widths, interpretations, blocks and compression.  hatf.h
 * says what holds for all functions: failure, threads, ownership, growth.
 */
#ifndef HATF_PUBLIC_CONTENT_H
#define HATF_PUBLIC_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HATF_API __attribute__((visibility("default")))
#else
#define HATF_API
#endif

/* ---------------------------------------------------------------- errors */

/* The result of a call.  Numbers are never reused. */
enum hatf_status {
	HATF_OK = 0,
	HATF_END = 1,	    /* the stream ended after a whole record */
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
	 * all records are whole, but the "HATF end" comment is missing, which
	 * says that the trace is complete
	 */
	HATF_NO_TRAILER = 7,
	HATF_IO = 8, /* a system call failed: see sys_errno */
	HATF_NO_MEMORY = 9,
	HATF_BAD_RECORD = 10,  /* writer: a record that HATF cannot express */
	HATF_LIMIT = 11,       /* a limit of FORMAT "Limits" was exceeded */
	HATF_BAD_COMMENT = 12, /* a comment of ours ("HATF ...") is malformed */
	/* formats other than HATF: the value of 'field' is malformed */
	HATF_BAD_FIELD = 13,
	HATF_BAD_RINGS = 14,   /* a ring file is damaged, or is none */
	HATF_IN_USE = 15,      /* the process that writes the file is alive */
	HATF_OTHER_RINGS = 16, /* the ring file belongs to another trace */
	/* the ring file is older than the last start of the system */
	HATF_OTHER_BOOT = 17,
	/* this build lacks the library for the trace's compression */
	HATF_NO_LIBRARY = 18,
	/* the kind of file is known but cannot be read: 'field' names it */
	HATF_NOT_READ = 19,
	/* an option has an impossible value: 'field' names the option */
	HATF_BAD_OPTION = 20,
};

/*
 * Where and why something failed.  'offset' is that of the first byte of the
 * record at fault in the uncompressed stream; 'record' counts the data records
 * (tags 0 to 10) before it.
 */
struct hatf_error {
	enum hatf_status status;
	int sys_errno;	 /* for HATF_IO, else 0 */
	uint64_t offset; /* bytes */
	/*
	 * bytes of the file itself, compressed or not, that had been consumed;
	 * 0 if unknown
	 */
	uint64_t file_offset;
	uint64_t record;   /* count */
	uint64_t line;	   /* of a text format, from 1; 0: it has no lines */
	const char *field; /* as FORMAT or FORMATS names it; static, or NULL */
	/*
	 * "gzip", "zstd", "lz4", or NULL; static.  If it is not NULL, 'offset'
	 * is an offset into the uncompressed stream, not into the file.
	 */
	const char *compression;
	uint64_t reserved[2]; /* 0 */
};

/* One English phrase for a status; static, never NULL. */
HATF_API const char *hatf_status_text(enum hatf_status status);

/*
 * Describe 'err' in 'buf', NUL-terminated, cut to 'nbytes' bytes: for example
 * "offset 0x1a40, record 812: size: the trace is cut off here".  Returns 'buf'.
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

/*
 * The paper's name of a tag: "alloc", "free", "reallocNoAlloc", ...; static.
 * NULL if there is no such tag.
 */
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

/* Width codes; 0, 1, 2, 4 and 8 stand for themselves, in bytes. */
#define HATF_WIDTH_V1 9
#define HATF_WIDTH_V2 10

enum hatf_metadata_op {
	HATF_SET_FIELD_SIZE = 1,
	HATF_SET_FIELD_INTERPRETATION = 2,
};

/* A metadata record, which a reader delivers with HATF_READER_METADATA. */
struct hatf_metadata {
	uint8_t op;	  /* enum hatf_metadata_op */
	uint8_t field;	  /* enum hatf_field */
	uint8_t argument; /* width code, or enum hatf_interpretation */
	uint64_t value;	  /* default, base or initial value; else 0 */
	uint64_t stride;  /* for HATF_STRIDE, else 0 */
};

/*
 * One record.  Fields that a tag does not have are 0.  'attributes' points to
 * the attribute bytes, or to the text of a comment (not NUL-terminated); the
 * bytes that a reader delivers stay valid until the next call on that reader.
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
	 * reader: offset of the record's first byte in the uncompressed
	 * stream; writers ignore it
	 */
	uint64_t offset;
	struct hatf_metadata metadata; /* for HATF_METADATA, else all 0 */
};

/* ------------------------------------------------------------ attributes */

/*
 * Attribute bytes are a sequence of items, FORMAT "Attributes": a key byte
 * whose two top bits say what follows (0: nothing, 1: ULEB128, 2: ULEB128
 * length and bytes; 3 is reserved).  So a reader can skip items that it does
 * not know.
 */
enum hatf_attr {
	HATF_ATTR_ZEROED = 0x01,    /* calloc */
	HATF_ATTR_CARRIED = 0x02,   /* it was live when the trace began */
	HATF_ATTR_ALIGNMENT = 0x41, /* bytes, as asked for */
	HATF_ATTR_PARENT = 0x42,    /* createThread: thread that created it */
	HATF_ATTR_TID = 0x43,	    /* createThread: kernel thread id */
	HATF_ATTR_START = 0x44,	    /* createThread: address of its function */
	HATF_ATTR_STACK = 0x45,	    /* alloc, free, realloc: the call's stack */
	HATF_ATTR_SAMPLES = 0x46,   /* alloc: how often it was sampled */
	HATF_ATTR_NAME = 0x81,	    /* createThread: name */
};

/* One item: 'value' of ULEB128 kinds, else 'text' and 'text_nbytes'. */
struct hatf_attr_item {
	uint8_t key;
	uint64_t value;
	const uint8_t *text; /* points into the attribute bytes */
	size_t text_nbytes;
};

/*
 * Step through attribute bytes.  '*next' begins as the first attribute byte,
 * 'end' is one past the last.  Returns false at the end, where '*next' is
 * 'end', and before malformed bytes, to which '*next' then points.
 */
HATF_API bool hatf_attr_next(const uint8_t **next, const uint8_t *end,
			     struct hatf_attr_item *item_ret);

/*
 * Append an item to 'buf', which has 'cap' bytes, of which '*used' are taken.
 * Returns false and changes nothing if the item does not fit.
 */
HATF_API bool hatf_attr_put(uint8_t *buf, size_t cap, size_t *used,
			    const struct hatf_attr_item *item);

/* ---------------------------------------------------------------- stacks */

/*
 * Where calls came from, FORMAT "Stacks".  A stack is a frame and the stack of
 * its caller, so that stacks share the outer frames that they have in common; a
 * source location alone is a stack of one frame.  Frames and stacks have ids
 * from 1; id 0 means none.  Comments define them, and the attribute STACK of a
 * record refers to them.
 *
 * One object serves either a writer, where a frame or stack gets its id when it
 * is first added, or a reader, where the ids are those of the trace.  It takes
 * memory for each distinct frame and stack, up to these limits:
 */
#define HATF_FRAMES_MAX	     ((uint32_t)1 << 22)
#define HATF_STACKS_MAX	     ((uint32_t)1 << 24)
#define HATF_FRAME_TEXTS_MAX ((uint64_t)1 << 28) /* bytes of all names */

/*
 * A place in the code.  NULL or 0: unknown.  When a trace is read, an object
 * that the frame does not name is the one that was mapped at its address
 * (comments of kind 'object').
 */
struct hatf_frame {
	const char *function, *file; /* as in the source; NUL-terminated */
	const char *object;	     /* path of the program or library */
	uint64_t line, column;	     /* from 1 */
	uint64_t end_column; /* first column after the place; below 2^32 */
	uint64_t address;    /* where the call returns to, in the process */
	/* The address in the object's file.  Writing: ignored. */
	uint64_t offset;
	uint64_t reserved; /* 0 */
};

struct hatf_stack {
	uint64_t parent; /* id of the caller's stack; 0: the outermost */
	uint64_t frame;	 /* id */
};

/* What a frame is apart from the program's own code; bits. */
enum {
	HATF_FRAME_ALLOCATOR = 1, /* an allocator, or the recorder */
	/* a standard container, Rust's alloc and core, operator new, ... */
	HATF_FRAME_STD = 2,
	HATF_FRAME_NEW = 4, /* operator new */
};

/*
 * Judge a frame by its function and its object: HATF_FRAME_ bits, 0 for the
 * program's own code.  The innermost frame without bits is the site of an
 * allocation.
 */
HATF_API unsigned hatf_frame_hidden(const struct hatf_frame *frame);

struct hatf_stacks;

/* Make an empty object.  Errors: HATF_NO_MEMORY. */
HATF_API enum hatf_status hatf_stacks_open(struct hatf_stacks **stacks_ret);

/* Free the object and the names of its frames; NULL is allowed. */
HATF_API void hatf_stacks_close(struct hatf_stacks *stacks);

/*
 * Writing: store the id of a frame, or of a stack.  The parent and the frame of
 * a stack must have been added before; a parent of 0 is none.  Equal frames
 * have the same id, and so have equal stacks.  The names are copied; an empty
 * name is stored as NULL.  Errors: HATF_NO_MEMORY, HATF_LIMIT.
 */
HATF_API enum hatf_status hatf_stacks_add_frame(struct hatf_stacks *stacks,
						const struct hatf_frame *frame,
						uint64_t *id_ret);
HATF_API enum hatf_status hatf_stacks_add(struct hatf_stacks *stacks,
					  uint64_t parent, uint64_t frame,
					  uint64_t *id_ret);

/*
 * Writing: put the text of the next comment into 'buf', of 'cap' bytes, which
 * must be HATF_DEFINITION_MAX.  Each comment defines one frame or stack that
 * was added and not defined yet; a name that does not fit is left out.  Returns
 * the length of the text in bytes, or 0 if everything is defined.  Write these
 * comments before the record that refers to what was added.
 */
#define HATF_DEFINITION_MAX 65535
HATF_API size_t hatf_stacks_next(struct hatf_stacks *stacks, char *buf,
				 size_t cap);

/*
 * Reading: learn from a record.  Only comments that define a frame, a stack or
 * an object matter.  Errors: HATF_BAD_COMMENT (a number is missing or
 * malformed, an id is 0 or defined already, a parent or frame is not defined),
 * HATF_LIMIT, HATF_NO_MEMORY.  The error's 'field' is then the key at fault or
 * NULL, its 'offset' that of the record, and the record is ignored.  The caller
 * may continue, for example when it reads only a part of a trace.
 */
HATF_API enum hatf_status hatf_stacks_note(struct hatf_stacks *stacks,
					   const struct hatf_record *rec,
					   struct hatf_error *err);

/*
 * After hatf_stacks_note() returned HATF_BAD_COMMENT: what is wrong with the
 * definition, an English phrase such as "its id has been defined otherwise
 * before"; static.
 */
HATF_API const char *hatf_stacks_fault(const struct hatf_stacks *stacks);

/* The id of the stack that the record refers to; 0: none. */
HATF_API uint64_t hatf_record_stack(const struct hatf_record *rec);

/*
 * Store what an id stands for; false if it is not defined, and then nothing is
 * stored.  Following the parents of a stack always ends, after any number of
 * steps.  Names stay valid until the object is closed.
 */
HATF_API bool hatf_stacks_get(const struct hatf_stacks *stacks, uint64_t id,
			      struct hatf_stack *stack_ret);
HATF_API bool hatf_stacks_get_frame(const struct hatf_stacks *stacks,
				    uint64_t id, struct hatf_frame *frame_ret);

/* How many stacks, and how many frames, are defined so far. */
HATF_API uint64_t hatf_stacks_count(const struct hatf_stacks *stacks);
HATF_API uint64_t hatf_stacks_frame_count(const struct hatf_stacks *stacks);

/* Bytes of memory that the names of all frames take. */
HATF_API uint64_t hatf_stacks_name_nbytes(const struct hatf_stacks *stacks);

#ifdef __cplusplus
}
#endif

#endif /* HATF_PUBLIC_CONTENT_H */
