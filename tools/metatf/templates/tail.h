/* ------------------------------------------------------------------ reading */

struct @N@_reader;

/*
 * Open a trace.  NULL: errno tells why; EINVAL: the file is no Meta-TF trace,
 * or its header is damaged.  A reader is used by one thread at a time.
 */
struct @N@_reader *@N@_reader_open(const char *path);
void @N@_reader_close(struct @N@_reader *r);

/*
 * Read the next record.  All its memory is the reader's and valid until the
 * next call.  False: the end, or @N@_reader_error() is not NULL.
 */
bool @N@_reader_next(struct @N@_reader *r, struct @N@_record *record);

/* Return what is wrong with the trace, and where; or NULL. */
const char *@N@_reader_error(const struct @N@_reader *r);

/* Did the writer come to its end?  False: the trace may lack records. */
bool @N@_reader_is_complete(const struct @N@_reader *r);

/* ------------------------------------------------------------------ writing */

struct @N@_writer;

enum @N@_flags {
	@U@_BIG_ENDIAN = 1, /* the default is little-endian */
	@U@_32_BIT = 2,	    /* the default is class 2, 64-bit */
	@U@_COMPRESSED = 4  /* needs @U@_ZLIB */
};

/*
 * Begin a trace in a new file.  The file has its content once
 * @N@_writer_close() has returned true.  NULL: errno tells why.  A writer is
 * used by one thread at a time.
 */
struct @N@_writer *@N@_writer_open(const char *path, unsigned flags);

/*
 * End the trace.  False: something could not be written, now or before; then
 * '*why', unless 'why' is NULL, tells what, until the thread's next call.
 */
bool @N@_writer_close(struct @N@_writer *w, const char **why);

/* Return what stopped the writer, or NULL. */
const char *@N@_writer_error(const struct @N@_writer *w);

/* Write a comment into a section. */
bool @N@_put_comment(struct @N@_writer *w, enum @N@_section section,
		     const char *text, size_t nbytes);

/*
 * Write a metadata record: from here on, the field at a position of a record,
 * from 0, its tag, has another width or interpretation.  A writer that calls
 * this saves space; one that does not writes correct traces, too, because the
 * functions below widen a field where a value needs it.
 */
bool @N@_set(struct @N@_writer *w, enum @N@_section section,
	     enum @N@_type record, unsigned position,
	     enum @N@_property property, uint64_t first, uint64_t second);

/*
 * Write a record.  Fields whose value the DTD gives are not looked at.  False:
 * @N@_writer_error() tells why.
 */
