#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Compile with -D@U@_ZLIB=1 and link with -lz to read and write traces whose
 * sections are compressed.
 */
#ifndef @U@_ZLIB
#define @U@_ZLIB 0
#endif

/* Bytes.  The reader's are valid until the next record is read. */
struct @N@_bytes {
	const uint8_t *bytes;
	size_t nbytes;
};

/* What metadata can change: the width, or the interpretation. */
enum @N@_property {
	@U@_WIDTH,
	@U@_NONE,
	@U@_BASE_OFFSET,
	@U@_DELTA,
	@U@_DEFAULT,
	@U@_SECTION_OFFSET,
	@U@_STRIDE,
	@U@_SECTION_STRIDE
};

/* A comment; the writer takes at most 255 bytes. */
struct @N@_comment {
	struct @N@_bytes text;
};
