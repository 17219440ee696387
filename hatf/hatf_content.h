/* SPDX-License-Identifier: MIT */
/*
 * hatf_content.h - part of hatf.h: errors, records, attributes, stacks
 *
 * Readers return records and writers take records.  Each 'struct hatf_record'
 * is one record of a trace.  Its members 'size' to 'heap' do not depend on how
 * the file encodes the record (widths, interpretations, compression).  hatf.h
 * describes what all functions have in common: failure, threads, ownership,
 * growth.
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

/*
 * The result of a call.  Later versions never change the meaning of a value.
 */
enum hatf_status {
	HATF_OK = 0,
	HATF_END = 1, /* the stream ended after a complete record */
	/* the trace ends inside a record or inside compressed data */
	HATF_TRUNCATED = 2,
	/*
	 * a record has a tag that its format does not have: in HATF, a tag byte
	 * above 11; in XML, an unknown element
	 */
	HATF_BAD_TAG = 3,
	/*
	 * a metadata record has an op, field, width or interpretation that does
	 * not exist, or a width, interpretation or default that the field must
	 * not have
	 */
	HATF_BAD_METADATA = 4,
	HATF_BAD_COMPRESSION = 5, /* the compressed data is damaged */
	HATF_NOT_HATF = 6,	  /* the file is in no known format, or empty */
	/*
	 * all records are complete, but the end of the trace may be missing:
	 * the trace has a header ("HATF 1.0" comment) and lacks the trailer
	 * ("HATF end" comment), or it lacks the mark that ends a trace in the
	 * format of another system
	 */
	HATF_NO_TRAILER = 7,
	HATF_IO = 8, /* a system call failed: see sys_errno */
	HATF_NO_MEMORY = 9,
	HATF_BAD_RECORD = 10, /* hatf_writer_write() cannot write this record */
	/* a limit that FORMAT, FORMATS or RINGS sets was exceeded */
	HATF_LIMIT = 11,
	/*
	 * a comment that this project defines ("HATF ...") is malformed, or
	 * contradicts the trace
	 */
	HATF_BAD_COMMENT = 12,
	/*
	 * in a format other than HATF, the part that 'field' of struct
	 * hatf_error names is malformed
	 */
	HATF_BAD_FIELD = 13,
	HATF_BAD_RINGS = 14, /* the file is not a ring file, or is damaged */
	/*
	 * the process that writes the ring file is alive, or another recovery
	 * uses the file
	 */
	HATF_IN_USE = 15,
	HATF_OTHER_RINGS = 16, /* the ring file belongs to another trace */
	/*
	 * the ring file was written before the last boot of the system, or on
	 * another machine
	 */
	HATF_OTHER_BOOT = 17,
	/* this build lacks the library for the compression of the trace */
	HATF_NO_LIBRARY = 18,
	/*
	 * the kind of file is known, but the library cannot read it: 'field'
	 * names the kind
	 */
	HATF_NOT_READ = 19,
	/*
	 * an option has an impossible value, and 'field' names the option; or
	 * the state of the object does not allow the call (hatf_events.h)
	 */
	HATF_BAD_OPTION = 20,
};

/*
 * Where and why something failed.  'offset' is the offset of the invalid record
 * in the uncompressed stream; 'record' is the number of data records (tags 0 to
 * 10) before this record.
 */
struct hatf_error {
	enum hatf_status status;
	int sys_errno;	 /* errno for HATF_IO, else 0 */
	uint64_t offset; /* offset of the invalid record, in bytes */
	/*
	 * how many bytes of the file, compressed or not, a reader had read or a
	 * writer had written when the error occurred; 0 if unknown
	 */
	uint64_t file_offset;
	uint64_t record; /* number of data records before the invalid record */
	/* Number of the line, from 1, if a text format is read; else 0. */
	uint64_t line;
	/*
	 * Name of the invalid part, as in FORMAT.md, FORMATS.md or RINGS.md;
	 * static, or NULL.  For HATF_BAD_OPTION, it is the name of the option;
	 * for HATF_NOT_READ, the kind of file; for HATF_NO_LIBRARY, the name of
	 * the compression.
	 */
	const char *field;
	/*
	 * Compression of the file that is read: "gzip", "zstd", "lz4", or NULL;
	 * static.  If 'compression' is not NULL, 'offset' is an offset into the
	 * uncompressed stream, not into the file.
	 */
	const char *compression;
	uint64_t reserved[2]; /* always 0 */
};

/* Return an English phrase for a status; static, never NULL. */
HATF_API const char *hatf_status_text(enum hatf_status status);

/*
 * Describe 'err' in 'buf', in at most 'nbytes' bytes including the NUL: for
 * example "offset 0x1a40, record 812: size: the trace is truncated".  Return
 * 'buf'.
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
 * Return the name that the paper gives a tag: "alloc", "free",
 * "reallocNoAlloc", ...; static.  Return NULL if there is no such tag.
 */
HATF_API const char *hatf_tag_name(unsigned tag);

/* The fields of a record, and the numbers that stand for them in metadata. */
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

/* Width codes.  The other codes, 0, 1, 2, 4 and 8, are widths in bytes. */
#define HATF_WIDTH_V1 9
#define HATF_WIDTH_V2 10

enum hatf_metadata_op {
	HATF_SET_FIELD_SIZE = 1,
	HATF_SET_FIELD_INTERPRETATION = 2,
};

/*
 * A metadata record.  A reader returns metadata records only with
 * HATF_READER_METADATA.
 */
struct hatf_metadata {
	uint8_t op;	  /* an enum hatf_metadata_op */
	uint8_t field;	  /* an enum hatf_field */
	uint8_t argument; /* a width code, or an enum hatf_interpretation */
	uint64_t value;	  /* default, base or initial value; else 0 */
	uint64_t stride;  /* the stride for HATF_STRIDE, else 0 */
};

/*
 * One record.  Fields that records of this tag do not have are 0.  'attributes'
 * points to the attribute bytes, or to the text of a comment, which is not
 * NUL-terminated.  The bytes that a reader returns stay valid until the next
 * call for this reader.
 */
struct hatf_record {
	uint8_t tag;		    /* an enum hatf_tag */
	uint32_t attributes_nbytes; /* number of attribute bytes, 0 to 65535 */
	const uint8_t *attributes;
	uint64_t size; /* bytes that the program asked for */
	/* The address of an alloc or free; the new address of a realloc. */
	uint64_t address;
	uint64_t old_address; /* old address of a realloc, else 0 */
	uint64_t time;	      /* time in the unit that the header names */
	uint64_t thread;
	uint64_t heap;
	/*
	 * Set by a reader: offset of the record's first byte in the
	 * uncompressed stream.  Writers ignore it.
	 */
	uint64_t offset;
	/* set if the tag is HATF_METADATA, else all 0 */
	struct hatf_metadata metadata;
};

/* ------------------------------------------------------------ attributes */

/*
 * Attribute bytes are a sequence of items (FORMAT "Attributes").  An item
 * begins with a key byte, whose two top bits say what follows (0: nothing, 1:
 * ULEB128, 2: ULEB128 length and bytes; 3 is reserved).  So a reader can skip
 * items that it does not know.
 */
enum hatf_attr {
	/* the block is from calloc() or a similar call, which zeroed it */
	HATF_ATTR_ZEROED = 0x01,
	/* the block, thread or heap existed when the trace began */
	HATF_ATTR_CARRIED = 0x02,
	/* alignment in bytes that the program asked for */
	HATF_ATTR_ALIGNMENT = 0x41,
	/* createThread: number of the thread that created the new thread */
	HATF_ATTR_PARENT = 0x42,
	HATF_ATTR_TID = 0x43, /* createThread: the kernel's id of the thread */
	/* createThread: address of the thread's start function */
	HATF_ATTR_START = 0x44,
	/* alloc, free, realloc: id of the call's stack */
	HATF_ATTR_STACK = 0x45,
	/* alloc: how often the block was sampled, if more than once */
	HATF_ATTR_SAMPLES = 0x46,
	/* createThread, createHeap: name of the thread or heap */
	HATF_ATTR_NAME = 0x81,
};

/*
 * One item.  If a number follows the key, the item has 'value'; if bytes
 * follow, it has 'text' and 'text_nbytes'.
 */
struct hatf_attr_item {
	uint8_t key;
	uint64_t value;
	/* the text, in the attribute bytes; not NUL-terminated */
	const uint8_t *text;
	size_t text_nbytes;
};

/*
 * Store the next item of attribute bytes, and advance '*next' past this item.
 * Before the first call, '*next' must point to the first attribute byte; 'end'
 * is one past the last attribute byte.  Return false and store nothing if there
 * is no further item; '*next' is then 'end', or points to malformed bytes.
 */
HATF_API bool hatf_attr_next(const uint8_t **next, const uint8_t *end,
			     struct hatf_attr_item *item_ret);

/*
 * Append an item to 'buf' of 'cap' bytes, of which '*used' are in use.  Return
 * false and change nothing if the item does not fit, or if its key has the
 * reserved top bits.
 */
HATF_API bool hatf_attr_put(uint8_t *buf, size_t cap, size_t *used,
			    const struct hatf_attr_item *item);

/* ---------------------------------------------------------------- stacks */

/*
 * Stacks say where calls came from (FORMAT "Stacks").  A stack consists of a
 * frame and the caller's stack, so stacks with the same outer frames share the
 * memory for these frames.  If only the source location of a call is known, its
 * stack is one frame.  Frames and stacks have ids from 1; id 0 means none.
 * Comment records define frames and stacks; the attribute STACK of a record is
 * the id of a stack.
 *
 * A 'struct hatf_stacks' serves a writer or a reader.  For a writer, a frame or
 * stack gets its id when it is first added.  For a reader, the ids are those of
 * the trace.  The struct takes memory for each frame and stack that has an id,
 * up to these limits:
 */
#define HATF_FRAMES_MAX ((uint32_t)1 << 22)
#define HATF_STACKS_MAX ((uint32_t)1 << 24)
/* Maximum number of bytes of all distinct names in frames, including NULs. */
#define HATF_FRAME_TEXTS_MAX ((uint64_t)1 << 28)

/*
 * A place in the code.  A member is NULL or 0 if it is unknown.  If the
 * definition of a frame in a trace names no object, 'object' is the program or
 * library that was mapped at the frame's address when the frame was defined.
 * The "HATF object" comments of the trace say what was mapped where.
 */
struct hatf_frame {
	/* names as in the source code; NUL-terminated */
	const char *function, *file;
	const char *object; /* path of the program or library */
	/* numbers of the line and the column, both from 1 */
	uint64_t line, column;
	uint64_t end_column; /* first column after the expression; below 2^32 */
	/* The return address, in the memory of the process. */
	uint64_t address;
	/*
	 * Address in the object's file: the return address minus the load bias
	 * of the object; 0 if unknown.  hatf_stacks_add_frame() ignores this
	 * member.
	 */
	uint64_t offset;
	uint64_t reserved; /* always 0 */
};

struct hatf_stack {
	uint64_t parent; /* id of the caller's stack; 0: there is no caller */
	uint64_t frame;	 /* id of the frame */
};

/* Bits for frames that are not the program's own code. */
enum {
	HATF_FRAME_ALLOCATOR = 1, /* code of an allocator or of the recorder */
	/*
	 * code of a standard library of C, C++ or Rust, such as strdup() or
	 * operator new
	 */
	HATF_FRAME_STD = 2,
	HATF_FRAME_NEW = 4,	/* operator new or operator new[] */
	HATF_FRAME_MISSING = 8, /* stands for missing frames */
};

/*
 * Decide by the function and the object of a frame whether the frame is the
 * program's own code.  Return 0 if it is, else HATF_FRAME_ bits.  The site of
 * an allocation is the innermost frame that is the program's own code.
 */
HATF_API unsigned hatf_frame_hidden(const struct hatf_frame *frame);

struct hatf_stacks;

/* Make a struct without frames and stacks.  Errors: HATF_NO_MEMORY. */
HATF_API enum hatf_status hatf_stacks_open(struct hatf_stacks **stacks_ret);

/* Free the struct and the names of its frames.  'stacks' may be NULL. */
HATF_API void hatf_stacks_close(struct hatf_stacks *stacks);

/*
 * For writing: add a frame or a stack, and store its id.  The parent and the
 * frame of a stack must have been added before; parent 0 means no caller.
 * Equal frames get the same id, and so do equal stacks.  The names are copied;
 * an empty name is stored as NULL.  Errors: HATF_NO_MEMORY, HATF_LIMIT.
 */
HATF_API enum hatf_status hatf_stacks_add_frame(struct hatf_stacks *stacks,
						const struct hatf_frame *frame,
						uint64_t *id_ret);
HATF_API enum hatf_status hatf_stacks_add(struct hatf_stacks *stacks,
					  uint64_t parent, uint64_t frame,
					  uint64_t *id_ret);

/*
 * For writing: store in 'buf' the text of a comment that defines the next frame
 * or stack that has been added, but not yet defined.  'cap', the size of 'buf',
 * must be HATF_DEFINITION_MAX.  A name that does not fit is omitted.  Return
 * the length of the text in bytes, or 0 if nothing is left to define.  Write
 * each comment before the first record that refers to its frame or stack.
 */
#define HATF_DEFINITION_MAX 65535
HATF_API size_t hatf_stacks_next(struct hatf_stacks *stacks, char *buf,
				 size_t cap);

/*
 * For reading: remember the definition that a record contains.  Only comments
 * of the kinds "HATF frame", "HATF stack" and "HATF object" (a mapped program
 * or library) have an effect.  Errors: HATF_NO_MEMORY; HATF_LIMIT;
 * HATF_BAD_COMMENT if the definition of a frame or stack has one of these
 * faults:
 *
 *   - a number is malformed;
 *   - the id is missing, or has another definition already;
 *   - a stack has no frame, or its frame or parent has not been defined.
 *
 * After HATF_BAD_COMMENT, the record has no effect.  'field' of the error is
 * then the invalid key, and 'offset' is the offset of the record.  The caller
 * may continue, for example when it reads only a part of a trace.  A "HATF
 * object" comment that is malformed or exceeds a limit is ignored without an
 * error.
 */
HATF_API enum hatf_status hatf_stacks_note(struct hatf_stacks *stacks,
					   const struct hatf_record *rec,
					   struct hatf_error *err);

/*
 * After hatf_stacks_note() returned HATF_BAD_COMMENT, return an English phrase
 * for what is wrong with the definition; static.
 */
HATF_API const char *hatf_stacks_fault(const struct hatf_stacks *stacks);

/* Return the id of the call stack of the record; 0: it has none. */
HATF_API uint64_t hatf_record_stack(const struct hatf_record *rec);

/*
 * Store the stack or frame with this id.  Return false and store nothing if the
 * id is not defined.  A walk along the parents of a stack always ends, but may
 * take many steps.  Names stay valid until hatf_stacks_close().
 */
HATF_API bool hatf_stacks_get(const struct hatf_stacks *stacks, uint64_t id,
			      struct hatf_stack *stack_ret);
HATF_API bool hatf_stacks_get_frame(const struct hatf_stacks *stacks,
				    uint64_t id, struct hatf_frame *frame_ret);

/*
 * hatf_stacks_count() returns how many stacks were added or defined so far,
 * hatf_stacks_frame_count() how many frames.
 */
HATF_API uint64_t hatf_stacks_count(const struct hatf_stacks *stacks);
HATF_API uint64_t hatf_stacks_frame_count(const struct hatf_stacks *stacks);

/* Return how many bytes of memory the names of all frames take. */
HATF_API uint64_t hatf_stacks_name_nbytes(const struct hatf_stacks *stacks);

#ifdef __cplusplus
}
#endif

#endif /* HATF_PUBLIC_CONTENT_H */
